"""Kernel theory, one-hot networks: does a trained ReLU network do what the kernel of its regime says?

Inputs are one-hot per factor, every seen cell is one sample, batches are full. A scale of 1 with many units leaves the
hidden layer nearly as it was (lazy); a small scale makes it learn features (rich). Torch is imported when a unit runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine import tasks
from recombine.arrays import FloatArray
from recombine.papers.kernel_theory_context import KINDS, kind_of
from recombine.papers.kernel_theory_kernels import Rows, Setting
from recombine.runs.experiment import Unit
from recombine.tasks import Task

ADDITION_SETS = {"extrapolation": [4], "interpolation": [0, 8], "both": [2, 6], "asymmetric": [0]}
#: Runs that ended above this training error are left out of plots and claims, as the paper does.
FITTED = 1e-3


def one_hot(task: Task) -> FloatArray:
    """Return one-hot codes of each factor side by side, shape (N, sum of sizes).

    Examples
    --------
    >>> one_hot(tasks.invariance()).astype(int).tolist()[1]
    [1, 0, 0, 1]
    """
    return np.concatenate([np.eye(size)[task.cells[:, place]] for place, size in enumerate(task.sizes)], axis=1)


def train(task: Task, unit: Unit, loss: str = "mse", record: tuple[int, ...] = ()) -> Any:
    """Train one network a seed on seen cells, as the setting says; outputs at the steps in ``record`` are kept."""
    from recombine.nets.ensemble import Ensemble
    from recombine.nets.mlp import MLP
    from recombine.nets.optimisers import SGD, Adam

    setting = unit.setting
    inputs = one_hot(task)
    network = MLP(inputs.shape[1], (setting["width"],) * setting.get("depth", 1))
    ensemble = Ensemble(network, seeds=list(unit.seeds), scale=setting["sigma"], device=unit.device)
    return ensemble.train(
        inputs[task.train],
        task.target[task.train],
        rate=setting["rate"],
        steps=setting["steps"],
        loss=loss,
        optimiser=Adam() if setting.get("optimiser") == "adam" else SGD(),
        stop=setting.get("stop"),
        record=record,
        watch=inputs if record else None,
    )


def answers(task: Task, trained: Any) -> FloatArray:
    """Return outputs on all cells, shape (E, N)."""
    outputs: FloatArray = trained.outputs(one_hot(task))[..., 0].double().cpu().numpy()
    return outputs


def addition(unit: Unit) -> Rows:
    """Slope, offset and additivity on unseen sums, one row a network."""
    setting = unit.setting
    task = tasks.symbolic_addition(anchors=ADDITION_SETS[setting["set"]])
    trained = train(task, unit)
    rows = []
    for place, (seed, outputs) in enumerate(zip(unit.seeds, answers(task, trained), strict=True)):
        slope, offset = np.polyfit(task.target[task.test], outputs[task.test], 1)
        additive = additivity_unseen(task, outputs)
        rows.append(
            {
                **_about(setting, ("set", "sigma", "width", "depth")),
                "seed": seed,
                "train loss": float(trained.loss[place]),
                "slope": float(slope),
                "offset": float(offset),
                "additivity": additive,
                "published additivity": (1 + additive) / 2,
            }
        )
    return rows


def additivity_unseen(task: Task, outputs: FloatArray) -> float:
    """Share of the variance on unseen pairs that a sum of one value an item explains.

    The published measure averages this with the same share on seen pairs, which is 1 whatever the network does.

    Examples
    --------
    >>> task = tasks.symbolic_addition(anchors=[4])
    >>> round(additivity_unseen(task, task.target + 0.0), 6)
    1.0
    >>> round(additivity_unseen(task, np.prod(task.cells - 4.0, axis=1)), 6)
    0.0
    """
    first, second = (np.unique(task.cells[task.test][:, place]).size for place in (0, 1))
    grid = outputs[task.test].reshape(first, second)
    rest = grid - grid.mean(axis=0) - grid.mean(axis=1, keepdims=True) + grid.mean()
    return float(1 - (rest**2).sum() / ((grid - grid.mean()) ** 2).sum())


def context(unit: Unit) -> Rows:
    """Accuracy and margin on unseen cells of CD-k, and what each kind of conjunction contributes, a row a network."""
    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    trained = train(task, unit, setting["loss"])
    rows = []
    for place, (seed, outputs) in enumerate(zip(unit.seeds, answers(task, trained), strict=True)):
        margin = outputs * task.target
        rows.append(
            {
                "task": task.name,
                **_about(setting, ("loss", "sigma", "width", "depth")),
                "seed": seed,
                "train loss": float(trained.loss[place]),
                "train accuracy": float((margin[task.train] > 0).mean()),
                "accuracy": float((margin[task.test] > 0).mean()),
                "margin": float(margin[task.test].mean()),
                "relative margin": float(margin[task.test].mean() / margin[task.train].min()),
                **_kinds(task, outputs),
            }
        )
    return rows


def _kinds(task: Task, outputs: FloatArray) -> dict[str, float]:
    """Mean size of the coefficient of each kind of conjunction in the smallest weights that give the outputs."""
    from recombine.conjunctions import subsets
    from recombine.theory.additivity import seen_incidence

    family = [subset for order in (1, 2, 3) for subset in subsets(3, order)]
    # A hair of ridge on every weight, none on the constant: the published measure.
    features = np.asarray(seen_incidence(task.cells, task.train, family).toarray())[:, 1:]
    centred, middle = features - features.mean(axis=0), outputs - outputs.mean()
    dual = np.linalg.lstsq(centred @ centred.T + 1e-10 * np.eye(len(outputs)), middle, rcond=1e-12)[0]
    weights = np.abs(centred.T @ dual)
    sizes: dict[str, list[float]] = {kind: [] for kind in KINDS}
    place = 0
    for subset in family:
        seen = np.unique(task.cells[task.train][:, list(subset)], axis=0)
        for row, weight in zip(seen, weights[place : place + len(seen)], strict=True):
            sizes[kind_of(subset, int(row[0]))].append(float(weight))
        place += len(seen)
    return {kind: float(np.mean(values)) for kind, values in sizes.items()}


def equivalence(unit: Unit) -> Rows:
    """Accuracy and margin on pairs of transitive equivalence over training, a row a network and time."""
    setting = unit.setting
    task = tasks.transitive_equivalence([2, 2], [1, 1])
    record = tuple(sorted({round(step) for step in np.linspace(0, setting["steps"], setting["records"])}))
    trained = train(task, unit, setting["loss"], record)
    watched = trained.watched[..., 0].double().cpu().numpy() * task.target
    return [
        {
            **_about(setting, ("loss", "sigma", "width", "depth")),
            "seed": seed,
            "step": step,
            "train accuracy": float((watched[time, place, task.train] > 0).mean()),
            "accuracy": float((watched[time, place, task.test] > 0).mean()),
            "margin": float(watched[time, place, task.test].mean()),
        }
        for time, step in enumerate(trained.recorded)
        for place, seed in enumerate(unit.seeds)
    ]


def _about(setting: Setting, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: setting.get(name, 1) for name in names}
