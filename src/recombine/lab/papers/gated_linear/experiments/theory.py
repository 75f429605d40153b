"""Gated linear networks, small problems: costs by formula and by brute force, limits by two solvers, and the flow."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.gated_problems import GatedProblem, gated_problem
from recombine.tables.table import Table
from recombine.theory.gated import norms
from recombine.theory.gated.conic import largest_margin_by_cones, least_effective_squares
from recombine.theory.gated.contexts import joint_contexts
from recombine.theory.gated.flow import FlowEndedWarning, flow
from recombine.theory.gated.margin import largest_margin
from recombine.theory.gated.polynomial import representation_cost

Rows = list[dict[str, Any]]

#: Weights whose costs are known to six digits: three units with two contexts, and effective weights in two contexts.
ZETA = np.cos(1 + np.arange(3)[:, None, None] + 2 * np.arange(2)[:, None] + 3 * np.arange(3))
BETA = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))
#: A sample waits while its margin is above the smallest by more than this share of it.
WAITING_SHARE = 0.01
#: Norms whose limits are compared.
NORMS = ("group", "published group", "effective", "zeta", "one-layer", "frozen")


@dataclass(frozen=True, eq=False)
class WeightMap:
    """How parameters (P,) make effective weights, a target for these, and half its least squared norm by formula."""

    represent: Callable[[FloatArray], FloatArray]
    target: FloatArray
    parameters: int
    cost: float


def _joint_weights(zeta: FloatArray) -> FloatArray:
    """Effective weights beta_c = sum_h zeta_{h,c_h} in all joint contexts, shape (C^H, d)."""
    units, contexts, _ = zeta.shape
    every = itertools.product(range(contexts), repeat=units)
    return np.stack([zeta[np.arange(units), list(corner)].sum(axis=0) for corner in every])


def _convolution(theta: FloatArray) -> FloatArray:
    """beta_c[k] = sum_p v_p w_c[p - k]: circular filters w_c, then a readout v of full width."""
    width = BETA.shape[1]
    readout, filters = theta[:width], theta[width:].reshape(2, width)
    shifted = (np.arange(width)[:, None] - np.arange(width)) % width
    effective: FloatArray = np.einsum("p,cpk->ck", readout, filters[:, shifted])
    return effective


ARCHITECTURES = {
    "own contexts": WeightMap(
        lambda theta: _joint_weights(theta[18:, None, None] * theta[:18].reshape(3, 2, 3)),
        _joint_weights(ZETA),
        21,
        norms.least_group_cost(ZETA)[0],
    ),
    "shared contexts": WeightMap(
        lambda theta: np.einsum("h,hcd->cd", theta[:3], theta[3:].reshape(3, 2, 5)),
        BETA,
        33,
        norms.shared_contexts_cost(BETA),
    ),
    "gated readout": WeightMap(
        lambda theta: theta[:4].reshape(2, 2) @ theta[4:].reshape(2, 5), BETA, 14, norms.gated_readout_cost(BETA)
    ),
    "convolution": WeightMap(_convolution, BETA, 15, norms.convolution_cost(BETA)),
    "chain of three": WeightMap(
        lambda theta: theta[0] * theta[1] * theta[2:], BETA[0, :3], 5, norms.chain_cost(BETA[:1, :3], 3)
    ),
}


def direct_cost(architecture: WeightMap, seed: int) -> float:
    """Minimise half the squared parameters that represent the target, from a random start.

    Examples
    --------
    >>> round(direct_cost(ARCHITECTURES["chain of three"], seed=0), 5)
    1.77161
    """
    return representation_cost(architecture.represent, architecture.target, architecture.parameters, seed=seed)


def costs(unit: Unit) -> Rows:
    """Cost of one architecture's weights by formula and by minimising over its parameters: one row per seed.

    Examples
    --------
    >>> rows = costs(Unit("costs", 1, {"architecture": "chain of three", "seeds": [0]}))
    >>> abs(rows[0]["formula"] - rows[0]["direct"]) < 1e-5
    True
    """
    name = unit.setting["architecture"]
    chosen = ARCHITECTURES[name]
    return [
        {"architecture": name, "seed": seed, "formula": chosen.cost, "direct": direct_cost(chosen, seed)}
        for seed in unit.seeds
    ]


def small_limits(unit: Unit) -> Rows:
    """Limits of a small problem under every norm, by our solver and by the conic one: one row per norm.

    "value" and "conic" are costs as usually written (for the effective norm, summed over all joint contexts; there
    "conic" minimises that sum itself, without our kernel); "bound" is the dual value, which proves that nothing is
    better; "least unit", "least place" (which one it is) and "support" describe the solution.

    Examples
    --------
    >>> rows = small_limits(Unit("limits", 1, {"problem": "toy"}))
    >>> [row["norm"] for row in rows][:2], round(rows[0]["value"], 6)
    (['group', 'published group'], 7.665719)
    """
    problem = gated_problem(unit.setting["problem"])
    rows = []
    for norm in NORMS:
        ids = problem.gates if norm == "frozen" else problem.ids
        ours = largest_margin(problem.X, problem.y, ids, contexts=2, norm=norm, tolerance=1e-11)
        factor = 2.0 ** problem.ids.shape[1] if norm == "effective" else 1.0
        degree = 1 if ours.value == ours.norm else 2
        if norm == "effective":
            # From its definition, not from our kernel.
            conic = least_effective_squares(problem.X, problem.y, ids, contexts=2)
        else:
            conic = largest_margin_by_cones(problem.X, problem.y, ids, contexts=2, norm=norm).value
        rows.append(
            {
                "problem": problem.name,
                "norm": norm,
                "value": factor * ours.value,
                "bound": factor * ours.bounds[0] ** degree,
                "conic": conic,
                "gap": ours.gap,
                "least unit": float(ours.group_norms.min()),
                "least place": int(ours.group_norms.argmin()),
                "support": len(ours.support),
            }
        )
    return rows


def flows(unit: Unit) -> Rows:
    """Networks along the rescaled flow: one row per seed and time.

    The setting has "problem", "sharing" (whether all units use the joint contexts), "scale" of first weights, "times"
    and "seeds". "ratio" is the norm of the limit over the margin (group norm, or the plain one when sharing), "cosine"
    that of effective weights with the limit's, and "waiting" how many support vectors of the limit have margins so far
    above the smallest that they do not act yet.

    Examples
    --------
    >>> setting = {"problem": "toy", "sharing": False, "scale": 1.0, "times": [0, 30], "seeds": [0]}
    >>> [round(row["ratio"], 1) for row in flows(Unit("flow", 1, setting))][1:]
    [8.2]
    """
    setting = unit.setting
    problem, sharing = gated_problem(setting["problem"]), setting["sharing"]
    ids = np.tile(joint_contexts(problem.ids)[:, None], (1, 3)) if sharing else problem.ids
    contexts = int(ids.max()) + 1
    # With shared contexts, the flow should end at the limit of one layer.
    norm, limit_ids = ("one-layer", ids[:, :1]) if sharing else ("group", ids)
    best = largest_margin(problem.X, problem.y, limit_ids, contexts=contexts, norm=norm, tolerance=1e-11)
    goal = best.zeta.reshape(-1, contexts, problem.X.shape[1])
    about = {"problem": problem.name, "sharing": sharing, "scale": setting["scale"], "optimum": best.norm}
    start = {"scale": setting["scale"], "times": setting["times"]}
    rows: Rows = []
    for seed in unit.seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FlowEndedWarning)
            path = flow(problem.X, problem.y, ids, contexts=contexts, seed=seed, **start).reached
        weights = path.zeta.sum(axis=1, keepdims=True) if sharing else path.zeta
        size = np.linalg.norm(weights, axis=(2, 3)).sum(axis=1)
        columns = {"tau": path.times, "margin": path.margin, "ratio": size / path.margin}
        columns |= {"half square": path.half_square, "drift": path.drift, "cosine": _cosines(weights, goal)}
        columns["waiting"] = _waiting(path.zeta[:, np.arange(ids.shape[1]), ids], problem, best.support)
        rows += [about | {"seed": seed} | row for row in Table(columns).rows()]
    return rows


def _waiting(acting: FloatArray, problem: GatedProblem, support: IntArray) -> FloatArray:
    """Count support vectors with margins more than 1% above the smallest; weights that act (T, n, H, d)."""
    margins = np.einsum("tnhd,nd,n->tn", acting, problem.X, problem.y)
    smallest = margins.min(axis=1, keepdims=True)
    waits = margins[:, support] > smallest + WAITING_SHARE * np.abs(smallest)
    return np.asarray(waits.sum(axis=1), dtype=np.float64)


def _cosines(paths: FloatArray, goal: FloatArray) -> FloatArray:
    """Cosine of effective weights (T, H, C, d) along a path with those of the goal (H, C, d)."""
    along = np.stack([_joint_weights(zeta).ravel() for zeta in paths])
    end = _joint_weights(goal).ravel()
    cosines: FloatArray = along @ end / (np.linalg.norm(along, axis=1) * np.linalg.norm(end))
    return cosines
