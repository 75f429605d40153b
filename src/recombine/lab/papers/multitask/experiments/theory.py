"""Multi-task learning and pretraining, theory alone: penalties, small problems that are solved twice, and the grids.

Small problems: P1 has three samples of six inputs and an auxiliary task that used three of them; P2 has that auxiliary
task learned at the same time, from four samples. Grids: 1000 inputs, of which an auxiliary task uses 40.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.teachers import LinearTeachers, linear_teachers, sphere_inputs
from recombine.tables.table import Table
from recombine.theory.diagonal.flow import Weights, decayed_limit, gradient_descent, gradient_flow
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.interpolators import least_l1, least_potential, least_squares_from
from recombine.theory.diagonal.penalties import Potential, group_norm, pretrained_weights
from recombine.theory.diagonal.regimes import finetune_penalty, multitask_penalty
from recombine.theory.diagonal.relu_penalties import rotation_cost

Rows = list[dict[str, Any]]
#: Weights at the start: alpha, scaling and gamma of `predict`.
Start = dict[str, Any]

#: P1 and P2.
INPUTS = np.cos(np.outer(np.arange(1, 4), np.arange(1, 7)))
TARGETS = np.array([1.0, -0.5, 0.25])
AUXILIARY = np.array([1.0, -0.7, 0.0, 0.0, 0.4, 0.0])
FIRST = np.cos(np.outer(np.arange(1, 5), np.arange(1, 7)))
SECOND = np.sin(np.outer(np.arange(1, 4), np.arange(1, 7)) + 1)
TASKS = [(FIRST, FIRST @ AUXILIARY), (SECOND, TARGETS)]

Penalty = Callable[[Any, Any], FloatArray]
PENALTIES: dict[str, Penalty] = {
    "MTL": multitask_penalty,
    "PT+FT, k = B": lambda beta, B: finetune_penalty(beta, B, form="symmetric"),
    "PT+FT, k = B/2": lambda beta, B: finetune_penalty(beta, B),
    "PT+FT, gamma = 0.001": lambda beta, B: finetune_penalty(beta, B, gamma=1e-3, form="symmetric"),
    "ReLU, cosine 1": lambda beta, B: rotation_cost(beta, B, 1.0)[0],
    "ReLU, cosine 0.9": lambda beta, B: rotation_cost(beta, B, 0.9)[0],
    "ReLU, cosine 0": lambda beta, B: rotation_cost(beta, B, 0.0)[0],
}


def penalties(unit: Unit) -> Rows:
    """Order and feature dependence of every penalty by B / beta, as differences of its logarithm: one row per place."""
    step = 1e-4
    ratios = np.logspace(-4, 2, unit.setting["points"])

    def slope(penalty: Penalty, beta: int, B: int) -> FloatArray:
        up, down = (penalty(np.exp(s * beta), ratios * np.exp(s * B)) for s in (step, -step))
        return np.asarray(np.log(up / down) / (2 * step))

    rows: Rows = []
    for name, penalty in PENALTIES.items():
        columns = {"ratio": ratios, "price": penalty(1.0, ratios)}
        columns |= {"order": slope(penalty, 1, 0), "dependence": slope(penalty, 0, 1)}
        rows += [{"penalty": name, **row} for row in Table(columns).rows()]
    return rows


def flow_ends(unit: Unit) -> Rows:
    """Integrate gradient flow on P1 and compare its end with the solvers: one row per start of the weights."""
    rows: Rows = []
    for kind, about, start, potential in chain(_starts(), _summed_paths()):
        end = gradient_flow([(INPUTS, TARGETS)], start)
        # After pretraining, the published formula for the same.
        published = Potential.finetuned(AUXILIARY, **about, form="symmetric") if kind == "PT+FT" else potential
        exact, symmetric = (least_potential(INPUTS, TARGETS, function).value for function in (potential, published))
        rows.append(
            {"kind": kind, "start": ", ".join(f"{name} {value:g}" for name, value in about.items())}
            | {"difference": _apart(end.beta[:, 0], exact), "symmetric difference": _apart(end.beta[:, 0], symmetric)}
            | {"drift": _apart(end.conserved, start.conserved)}
        )
    return rows


def _apart(a: FloatArray, b: FloatArray) -> float:
    return float(np.abs(a - b).max())


def _starts() -> Iterator[tuple[str, dict[str, float], Weights, Potential]]:
    for hidden, readout in ((1.0, 1.0), (0.5, 0.5), (0.1, 0.1), (0.1, 0.5)):
        about = {"hidden": hidden, "readout": readout}
        yield "single task", about, Weights.alike(6, hidden, readout), Potential.single_task(6, hidden, readout)
    for alpha, scaling, gamma in ((1e-3, 1.0, 1e-3), (0.1, 1.0, 0.2), (0.1, 0.3, 0.05), (1e-3, 0.1, 1e-4)):
        about = {"alpha": alpha, "scaling": scaling, "gamma": gamma}
        hidden_weights = scaling * np.stack(pretrained_weights(AUXILIARY, alpha))
        start = Weights(hidden_weights, np.full((2, 6, 1), gamma))
        yield "PT+FT", about, start, Potential.finetuned(AUXILIARY, alpha, scaling, gamma)
    equal = np.stack([np.sqrt(np.abs(AUXILIARY))] * 2)
    symmetric = Potential.finetuned(AUXILIARY, 1e-3, 1.0, 1e-3, form="symmetric")
    yield "two equal paths", {"gamma": 1e-3}, Weights(equal, np.full((2, 6, 1), 1e-3)), symmetric


def _summed_paths() -> Iterator[tuple[str, dict[str, float], Weights, Potential]]:
    """Starts where both paths get the sum of the pretrained ones: the reset that the plotted penalty is for."""
    for alpha, gamma in ((1e-3, 1e-3), (0.2, 0.07)):
        plus, minus = pretrained_weights(AUXILIARY, alpha)
        start = Weights(np.stack([plus + minus] * 2), np.full((2, 6, 1), gamma))
        about = {"alpha": alpha, "gamma": gamma}
        yield "summed paths", about, start, Potential.finetuned(AUXILIARY, alpha, 1.0, gamma, form="summed")


def descent(unit: Unit) -> Rows:
    """How far discrete steps drift from what gradient flow conserves: one row per step size."""
    start = Weights.alike(6, 0.1, 0.5)
    rows: Rows = []
    for rate in unit.setting["rates"]:
        end = gradient_descent([(INPUTS, TARGETS)], start, rate, round(40 / rate))
        rows.append({"rate": rate, "drift": _apart(end.conserved, start.conserved)})
    return rows


def scaling_limits(unit: Unit) -> Rows:
    """P1 by scaling: how far from linear probing, and from weighted basis pursuit, one row per scaling."""
    rows: Rows = []
    for scaling in unit.setting["scalings"]:
        plus, minus = (scaling * weights for weights in pretrained_weights(AUXILIARY, 1e-3))
        probe = least_squares_from(INPUTS, TARGETS, 1e-3 * (plus - minus), plus**2 + minus**2)
        tuned = least_potential(INPUTS, TARGETS, Potential.finetuned(AUXILIARY, 1e-3, scaling, 1e-3))
        together = Potential.finetuned(AUXILIARY, 1e-3, scaling, 1e-3 * scaling)
        prices = np.log(1 / together.k)
        cost = float(prices @ np.abs(least_potential(INPUTS, TARGETS, together).value))
        # Prices are only positive where k is below one.
        lowest_cost = least_l1(INPUTS, TARGETS, prices).objective if prices.min() > 0 else np.nan
        from_probe = _apart(tuned.value, probe.value)
        rows.append({"scaling": scaling, "from probe": from_probe, "over l1": float(cost / lowest_cost - 1)})
    return rows


def group_norms(unit: Unit) -> Rows:
    """Group norm of P2's solution: cone program, vanishing weight decay, flow from smaller and smaller weights."""
    from recombine.theory.diagonal.group_interpolators import least_group_norm

    ends = [("cone program", 0.0, least_group_norm(TASKS).value)]
    ends += [("weight decay", float(seed), decayed_limit(TASKS, seed).beta) for seed in unit.seeds]
    ends += [
        ("gradient flow", alpha, gradient_flow(TASKS, Weights.alike(6, alpha, outputs=2)).beta)
        for alpha in unit.setting["alphas"]
    ]
    return [{"route": route, "start": start, "group norm": float(group_norm(beta))} for route, start, beta in ends]


# ---------------------------------------------------------------------------- the grids

#: Method and form of each prediction; the last, of multi-task learning, takes a cone program.
PREDICTIONS = (
    ("stl", "exact"),
    ("stl probe", "exact"),
    ("pt+ft", "exact"),
    ("pt+ft", "symmetric"),
    ("pt+ft probe", "exact"),
    ("mtl", "exact"),
)


def overlap(unit: Unit) -> Rows:
    """Predicted test loss by samples and overlap of the two tasks' features: one row per prediction."""
    n, rows = unit.setting["n"], []
    predictions = PREDICTIONS if unit.setting["mtl"] else PREDICTIONS[:-1]
    for seed, shared in product(unit.seeds, unit.setting["overlaps"]):
        X, pair = sphere_inputs(seed, "main inputs", n, 1000), linear_teachers(seed, shared=shared)
        for method, form in predictions:
            prediction = predict(X, pair.main, method=method, auxiliary=pair.auxiliary, form=form)
            rows.append(
                {"n": n, "overlap": shared, "method": method, "form": form, "seed": seed}
                | {"loss": prediction.test_loss, "residual": prediction.interpolator.residual}
            )
    return rows


def nested(unit: Unit) -> Rows:
    """Predicted test loss, relative to the targets' power, of main tasks with k features, known or new, by scaling.

    As in the published data, a main coefficient is 1 / k and an auxiliary one 1 / sqrt(40).
    """
    n, rows = unit.setting["n"], []
    for seed in unit.seeds:
        X = sphere_inputs(seed, "main inputs", n, 1000)
        for active, location, pair in nested_tasks(seed, unit.setting["active"], ("inside", "outside")):
            for method, scaling, start in nested_starts(unit.setting["scalings"], unit.setting["mtl"]):
                prediction = predict(X, pair.main, method=method, auxiliary=pair.auxiliary, **start)
                rows.append(
                    {"n": n, "active": active, "place": location, "method": method, "scaling": scaling, "seed": seed}
                    | {"relative loss": prediction.test_loss / pair.power, "residual": prediction.interpolator.residual}
                )
    return rows


def nested_tasks(
    seed: int, active: Sequence[int], locations: Sequence[str], dimension: int = 1000
) -> Iterator[tuple[int, str, LinearTeachers]]:
    """Yield number of features, their place and the teachers of each pair of tasks of the nested grid."""
    for k, location in product(active, locations):
        shared = k if location == "inside" else 0
        yield k, location, linear_teachers(seed, dimension=dimension, main=k, shared=shared, magnitude=1 / k)


def nested_starts(scalings: list[float], mtl: bool) -> list[tuple[str, float, Start]]:
    """Return method, scaling and the weights at the start of each network of the nested grid.

    Readouts are 1e-3 times the scaling. Single-task networks are scaled like pretrained ones, weights from 1e-3 m.

    Examples
    --------
    >>> nested_starts([0.1], mtl=False)[0]
    ('pt+ft', 0.1, {'alpha': 0.001, 'scaling': 0.1, 'gamma': 0.0001})
    """
    starts: list[tuple[str, float, Start]] = [
        (method, m, {"alpha": alpha, "scaling": m, "gamma": 1e-3 * m})
        for m in scalings
        for method, alpha in (("pt+ft", 1e-3), ("stl", 1e-3 * m))
    ]
    return [*starts, *((method, 1.0, {}) for method in ("stl probe", "pt+ft probe", *["mtl"] * mtl))]
