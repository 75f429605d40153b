"""Kernel theory, one-hot networks: does a trained ReLU network do what the kernel of its regime says?

Inputs are one-hot per factor, every seen cell is one sample, batches are full. A scale of 1 with many units leaves the
hidden layer nearly as it was (lazy); a small scale makes it learn features (rich). Torch is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows, Setting
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.lab.worlds.onehot import one_hot
from recombine.measures.outputs.additivity import additivity
from recombine.measures.outputs.contributions import by_kind, conjunction_values
from recombine.measures.outputs.scores import fitted_line, margin, sign_accuracy

ADDITION_SETS = {"extrapolation": [4], "interpolation": [0, 8], "both": [2, 6], "asymmetric": [0]}
#: Runs that ended above this training error are left out of plots and claims, as the paper does.
FITTED_LOSS = 1e-3


def train(task: Task, unit: Unit, loss: str = "mse", record: tuple[int, ...] = ()) -> Any:
    """Train one network per seed on seen cells, as the setting says; outputs at the steps in ``record`` are kept."""
    from recombine.lab.nets.architectures.mlp import MLP
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import SGD, Adam

    setting = unit.setting
    inputs = one_hot(task.cells, task.sizes)
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


def trained_outputs(task: Task, trained: Any) -> FloatArray:
    """Return outputs on all cells, shape (E, N)."""
    outputs: FloatArray = trained.outputs(one_hot(task.cells, task.sizes))[..., 0].double().cpu().numpy()
    return outputs


def onehot_addition(unit: Unit) -> Rows:
    """Slope, offset and additivity on unseen sums, one row per network."""
    task = tasks.symbolic_addition(anchors=ADDITION_SETS[unit.setting["set"]])
    trained = train(task, unit)
    outputs = trained_outputs(task, trained)
    slope, offset = fitted_line(task.target[task.test], outputs[:, task.test])
    columns = {
        "train loss": trained.loss,
        "slope": slope,
        "offset": offset,
        "additivity": additivity(task.cells, task.train, outputs),
        "published additivity": additivity(task.cells, task.train, outputs, published=True),
    }
    return _rows(_about(unit.setting, ("set", "sigma", "width", "depth")), unit.seeds, columns)


def onehot_context(unit: Unit) -> Rows:
    """Accuracy and margin on unseen cells of CD-k, and what each kind of conjunction contributes, a row per network."""
    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    trained = train(task, unit, setting["loss"])
    outputs = trained_outputs(task, trained)
    unseen = task.target[task.test], outputs[:, task.test]
    columns = {
        "train loss": trained.loss,
        "train accuracy": sign_accuracy(task.target[task.train], outputs[:, task.train]),
        "accuracy": sign_accuracy(*unseen),
        "margin": margin(*unseen),
        "relative margin": margin(*unseen) / (outputs * task.target)[:, task.train].min(axis=1),
        **by_kind(conjunction_values(task.cells, task.train, outputs)),
    }
    about = {"task": task.name, **_about(setting, ("loss", "sigma", "width", "depth"))}
    return _rows(about, unit.seeds, columns)


def onehot_equivalence(unit: Unit) -> Rows:
    """Accuracy and margin on pairs of transitive equivalence over training, a row per network and time."""
    setting = unit.setting
    task = tasks.transitive_equivalence([2, 2], [1, 1])
    record = tuple(sorted({round(step) for step in np.linspace(0, setting["steps"], setting["records"])}))
    trained = train(task, unit, setting["loss"], record)
    watched = trained.watched[..., 0].double().cpu().numpy()
    unseen = task.target[task.test], watched[..., task.test]
    columns = {
        "train accuracy": sign_accuracy(task.target[task.train], watched[..., task.train]),
        "accuracy": sign_accuracy(*unseen),
        "margin": margin(*unseen),
    }
    about = _about(setting, ("loss", "sigma", "width", "depth"))
    return [
        {**about, "seed": seed, "step": step, **{name: float(values[time, index]) for name, values in columns.items()}}
        for time, step in enumerate(trained.recorded)
        for index, seed in enumerate(unit.seeds)
    ]


def _rows(about: dict[str, Any], seeds: Sequence[int], columns: Mapping[str, Any]) -> Rows:
    """One row per network: what it is, its seed, and its entry (E,) of each column."""
    return [
        {**about, "seed": seed, **{name: float(values[index]) for name, values in columns.items()}}
        for index, seed in enumerate(seeds)
    ]


def _about(setting: Setting, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: setting.get(name, 1) for name in names}
