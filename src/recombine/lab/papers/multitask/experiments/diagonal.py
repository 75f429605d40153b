"""Multi-task learning and pretraining, diagonal linear networks trained by gradient descent, next to their prediction.

Networks of one seed and number of samples share their inputs and train as columns of one matrix. Where gradient descent
would take too long, gradient flow is integrated instead. Torch is imported when a unit runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.multitask.experiments.theory import Rows, Start, nested_starts, nested_tasks
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.teachers import LinearTeachers, linear_teachers, sphere_inputs
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.penalties import pretrained_weights
from recombine.theory.diagonal.stiff_flow import FlowEnd, stiff_flow

if TYPE_CHECKING:
    from recombine.lab.nets.by_hand.diagonal_training import TrainedDiagonal

#: Samples of the auxiliary task, enough to determine it.
AUXILIARY_SAMPLES = 1024
#: Samples up to which multi-task networks get a prediction.
MAX_CONE_SAMPLES = 128
#: A loss within this of its end has settled.
SETTLED_SHARE = 0.05
#: One network: what it is, its teachers, its method, and its weights at the start.
Case = tuple[dict[str, Any], LinearTeachers, str, Start]


def overlap_networks(unit: Unit) -> Rows:
    """Train on tasks that share features: one row per network, with final and best test loss and the prediction."""
    return [row for seed in unit.seeds for row in _trained(unit, seed, _overlap_cases(unit.setting, seed))]


def _overlap_cases(setting: Any, seed: int) -> list[Case]:
    return [
        ({"overlap": shared}, linear_teachers(seed, shared=shared), method, {})
        for shared in setting["overlaps"]
        for method in setting["methods"]
    ]


def nested_networks(unit: Unit) -> Rows:
    """Train on main tasks of k features, known or new, from rescaled weights: one row per network."""
    return [row for seed in unit.seeds for row in _trained(unit, seed, _nested_cases(unit.setting, seed))]


def _nested_cases(setting: Any, seed: int) -> list[Case]:
    tasks = nested_tasks(seed, setting["active"], setting["places"], setting.get("dimension", 1000))
    return [
        ({"active": active, "place": location, "scaling": scaling}, pair, method, start)
        for active, location, pair in tasks
        for method, scaling, start in nested_starts(setting["scalings"], mtl=True)
        if method in setting["methods"]
    ]


def nested_flow(unit: Unit) -> Rows:
    """Integrate gradient flow of pretrained networks from rescaled weights until it has ended: one row per network."""
    n, inputs, rows = unit.setting["n"], unit.setting["dimension"], []
    for seed in unit.seeds:
        X = sphere_inputs(seed, "main inputs", n, inputs)
        for about, pair, method, start in _nested_cases(unit.setting, seed):
            end = stiff_flow(X, X @ pair.main, start_of(pair, method, **start), precision=unit.setting["precision"])
            losses = np.sum((end.path - pair.main) ** 2, axis=1)
            rows.append(
                {"n": n, "dimension": inputs, **about, "method": method, "seed": seed, "power": pair.power}
                | {"train loss": float(np.mean((X @ (end.value - pair.main)) ** 2)), "residual": end.residual}
                | {"loss": float(losses[-1]), "theory": _theory(X, pair, method, start)}
                | {"time": float(end.times[-1]), "settled": _settled(end, losses), "drift": end.drift}
                | {"steps": len(end.times) - 1}
            )
    return rows


def _settled(end: FlowEnd, losses: FloatArray) -> float:
    """Return the time from which on the test loss is as good as its end."""
    unsettled = np.flatnonzero(np.abs(losses - losses[-1]) > SETTLED_SHARE * losses[-1])
    return float(end.times[unsettled[-1] + 1]) if len(unsettled) else 0.0


def _trained(unit: Unit, seed: int, cases: list[Case]) -> Rows:
    """Train all networks of one seed, those with one output together and multi-task ones together."""
    n, rows = unit.setting["n"], []
    X = sphere_inputs(seed, "main inputs", n, 1000)
    for joint in sorted({method == "mtl" for _, _, method, _ in cases}):
        chosen = [case for case in cases if (case[2] == "mtl") == joint]
        trained = _run(unit, seed, X, chosen, joint)
        for row, (about, pair, method, start) in enumerate(chosen):
            theory = _theory(X, pair, method, start)
            rows.append(
                {"n": n, **about, "method": method, "seed": seed, "power": pair.power}
                | {"train loss": float(trained.loss[row]), "stopped": bool(trained.stopped[row])}
                | {"steps": int(trained.steps[row]), "rate": float(trained.rate[row])}
                | {"loss": float(trained.test[row]), "best": float(trained.best[row]), "theory": theory}
            )
    return rows


def _theory(X: FloatArray, pair: LinearTeachers, method: str, start: Start) -> float:
    """Return the predicted test loss; NaN for cone programs of many samples, which take longer than the training."""
    if method == "mtl" and len(X) > MAX_CONE_SAMPLES:
        return float("nan")
    return predict(X, pair.main, method=method, auxiliary=pair.auxiliary, **start).test_loss


def _run(unit: Unit, seed: int, X: FloatArray, cases: list[Case], joint: bool) -> TrainedDiagonal:
    from recombine.lab.nets.by_hand.diagonal import Schedule, multi_task, single_task
    from recombine.lab.nets.by_hand.diagonal_training import train_diagonal

    setting = unit.setting
    backend: dict[str, Any] = {"dtype": setting.get("dtype", "float32"), "device": unit.device}
    teachers = np.stack([pair.main for _, pair, _, _ in cases], axis=1)
    if joint:
        X1 = sphere_inputs(seed, "auxiliary inputs", AUXILIARY_SAMPLES, 1000)
        columns: Any = multi_task(X, teachers, X1, cases[0][1].auxiliary, alpha=1e-3, **backend)
    else:
        starts = zip(*(start_of(pair, method, **start) for _, pair, method, start in cases), strict=True)
        up, down = (np.stack(sides, axis=1) for sides in starts)
        columns = single_task(X, teachers, (up, down), **backend)
    steps = setting["mtl steps" if joint else "steps"]
    return train_diagonal(columns, Schedule(setting["rate"], steps, setting["stop"]))


def start_of(
    pair: LinearTeachers, method: str, *, alpha: float = 1e-3, scaling: float = 1.0, gamma: float = 1e-3
) -> tuple[FloatArray, FloatArray]:
    """Return up and down (D,) of a network at the start of its main task: pretrained to the auxiliary one, or not."""
    from recombine.lab.nets.by_hand.diagonal import reduce_weights

    auxiliary = np.zeros_like(pair.auxiliary) if method == "stl" else pair.auxiliary
    plus, minus = (scaling * weights for weights in pretrained_weights(auxiliary, alpha))
    up, down = reduce_weights(plus, minus, gamma, gamma)
    return up, down
