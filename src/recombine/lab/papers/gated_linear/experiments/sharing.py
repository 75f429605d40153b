"""Gated linear networks whose filters are shared over places: where their flow ends, and what their weights cost.

An input has P patches of k numbers, each unit h a filter w_hc for each context c of a patch and one readout v_h, so
that f(x) = sum_h v_h sum_p <w_hc, x_p> with c = c_h(x_p). With s_hc(x) the sum of the patches of x in context c of unit
h and zeta_hc = v_h w_hc this is sum_hc <zeta_hc, s_hc(x)>. The least half square of the parameters is then the sum over
units of the norm of all their filters together, whatever the number of places.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.runs.experiment import Unit
from recombine.theory.gated.flow import INTEGRATOR_TOLERANCES, MAX_MARGIN
from recombine.theory.gated.polynomial import own_margin

Rows = list[dict[str, Any]]

#: Contexts of a unit: the two sides of its plane.
CONTEXTS = 2
#: Inputs on which functions are compared.
FRESH_INPUTS = 1000
#: A flow that has not reached the largest margin by this rescaled time is read where it is.
LAST_TIME = 400.0


def sharing(unit: Unit) -> Rows:
    """Limit of a drawn problem by a bound and by search, with filters shared and not, and the end of a flow: a row.

    The setting has "samples", "places", "inputs" of a patch, "units" and "starts" of a search. "bound" is the dual
    value of the group norm, below which nothing separates; "shared" is the least half square of the parameters of the
    network that shares its filters, "unshared" of one with filters of each place. "ratio" is the group norm at the end
    of the flow over its margin. "like shared" and "like unshared" are correlations of the flow's outputs on fresh
    inputs with those of either limit.

    Examples
    --------
    >>> setting = {"samples": 4, "places": 2, "inputs": 2, "units": 2, "starts": 3, "seeds": [100]}
    >>> row = sharing(Unit("sharing", 1, setting))[0]
    >>> abs(row["shared"] / row["bound"] - 1) < 1e-5, row["like shared"] > row["like unshared"]
    (True, True)
    """
    return [_row_of_problem(unit.setting, seed) for seed in unit.seeds]


def _row_of_problem(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    units, inputs, places = setting["units"], setting["inputs"], setting["places"]
    generator = np.random.default_rng([seed, 28])
    gates = generator.normal(size=(units, inputs))
    patches = generator.normal(size=(setting["samples"] + FRESH_INPUTS, places, inputs))
    by_place = patches_by_context(patches, gates)
    summed, apart = by_place.sum(axis=1), np.moveaxis(by_place, 1, 2).reshape(len(patches), units, -1, inputs)
    summed, fresh_summed = np.split(summed, [setting["samples"]])
    apart, fresh_apart = np.split(apart, [setting["samples"]])
    teacher = generator.normal(size=summed.shape[1:])
    signs = np.where(np.tensordot(summed, teacher, axes=3) > 0, 1.0, -1.0)
    signed = signs[:, None, None, None] * summed
    shared_cost, shared_zeta = _least(summed, signs, setting["starts"], seed)
    unshared_cost, unshared_zeta = _least(apart, signs, setting["starts"], seed)
    zeta, margin = _end_of_flow(signed, generator.normal(scale=0.1, size=units * (CONTEXTS * inputs + 1)))
    outputs = np.tensordot(fresh_summed, zeta, axes=3)
    return {
        "seed": seed,
        "bound": dual_bound(signed),
        "shared": shared_cost,
        "unshared": unshared_cost,
        "ratio": float(np.sqrt((zeta**2).sum(axis=(1, 2))).sum() / margin),
        "margin": margin,
        "like shared": float(np.corrcoef(outputs, np.tensordot(fresh_summed, shared_zeta, axes=3))[0, 1]),
        "like unshared": float(np.corrcoef(outputs, np.tensordot(fresh_apart, unshared_zeta, axes=3))[0, 1]),
    }


def patches_by_context(patches: FloatArray, gates: FloatArray) -> FloatArray:
    """Return patches (n, P, k) where they are in a context of a unit, else zeros: (n, P, H, 2, k) by gates (H, k).

    Examples
    --------
    >>> patches_by_context(np.array([[[2.0], [-1.0]]]), np.array([[1.0]]))[0, :, 0, :, 0].tolist()
    [[0.0, 2.0], [-1.0, 0.0]]
    """
    on = np.einsum("npk,hk->nph", patches, gates) > 0
    uses = np.stack([~on, on], axis=-1)
    return np.where(uses[..., None], patches[:, :, None, None, :], 0.0)


def dual_bound(signed: FloatArray) -> float:
    """Return the largest sum of duals a >= 0 with |sum_i a_i y_i s_h(x_i)| <= 1 for every unit; y s is (n, H, C, k).

    By weak duality no weights with margins of one have a smaller group norm, wherever the search for duals ends.

    Examples
    --------
    >>> round(dual_bound(np.array([[[[3.0, 4.0]]], [[[6.0, 8.0]]]])), 6)
    0.2
    """
    from scipy.optimize import minimize

    features = signed.reshape(*signed.shape[:2], -1)

    def slack(duals: FloatArray) -> FloatArray:
        return np.asarray(1 - (np.tensordot(duals, features, axes=1) ** 2).sum(axis=1))

    search: Any = minimize
    answer = search(
        lambda duals: -duals.sum(),
        np.zeros(len(signed)),
        method="SLSQP",
        jac=lambda duals: -np.ones(len(duals)),
        bounds=[(0, None)] * len(signed),
        constraints={"type": "ineq", "fun": slack},
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    duals = np.maximum(answer.x, 0)
    # Rescaled to satisfy every constraint, the value is a bound even where the search stopped early.
    largest = np.sqrt((np.tensordot(duals, features, axes=1) ** 2).sum(axis=1)).max()
    return float(duals.sum() / max(largest, 1.0))


def _least(features: FloatArray, signs: FloatArray, starts: int, seed: int) -> tuple[float, FloatArray]:
    """Return half the least squared parameters of a network on features (n, H, M, k), and its zeta (H, M, k)."""
    shape = features.shape[1:]
    flat = features.reshape(len(features), -1)
    answer = own_margin(
        partial(_products, shape=shape),
        flat,
        signs,
        np.zeros(len(flat), dtype=np.int64),
        parameters=flat.shape[1] + shape[0],
        starts=starts,
        seed=seed,
    )
    return answer.value, answer.weights.reshape(shape)


def _products(theta: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Readout times filters, as the one row of weights on features, (1, H M k)."""
    filters, readout = theta[: -shape[0]].reshape(shape), theta[-shape[0] :]
    return np.asarray((readout[:, None, None] * filters).reshape(1, -1))


def _end_of_flow(signed: FloatArray, start: FloatArray) -> tuple[FloatArray, float]:
    """Follow the flow on log sum exp(-y f) to the largest margin that can be followed: zeta (H, C, k) and margin."""
    from scipy.integrate import solve_ivp

    units, shape = signed.shape[1], signed.shape[1:]

    def margins(state: FloatArray) -> FloatArray:
        return np.asarray(np.tensordot(signed, _products(state, shape).reshape(shape), axes=3))

    def velocity(_: float, state: FloatArray) -> FloatArray:
        filters, readout = state[:-units].reshape(shape), state[-units:]
        values = margins(state)
        chance = np.exp(values.min() - values)
        pull = np.tensordot(chance / chance.sum(), signed, axes=1)
        return np.concatenate([(readout[:, None, None] * pull).ravel(), (filters * pull).sum(axis=(1, 2))])

    def room(_: float, state: FloatArray) -> float:
        return float(MAX_MARGIN - margins(state).min())

    room.terminal = True  # type: ignore[attr-defined]
    relative, absolute = INTEGRATOR_TOLERANCES
    span = (0.0, LAST_TIME)
    answer: Any = solve_ivp(velocity, span, start, method="LSODA", events=room, rtol=relative, atol=absolute)
    state = answer.y[:, -1]
    return _products(state, shape).reshape(shape), float(margins(state).min())
