"""Kernel theory, what one-hot networks learn inside: the units that solve equivalence, and similarities of cells.

A rich network on transitive equivalence ends with four types of hidden unit: two that fire when both items are of one
class and vote for "same", and two that fire when they are of different classes and vote against.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows
from recombine.lab.papers.kernel_theory.experiments.onehot import train, trained_outputs
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.onehot import one_hot
from recombine.measures.outputs.scores import fitted_line, margin, sign_accuracy

#: Type of unit -> signs of its input weights for items of the first and second class, first slot and second; readout.
UNIT_TYPES = {
    "both of class 1": ((1, -1, 1, -1), 1),
    "both of class 2": ((-1, 1, -1, 1), 1),
    "class 1, class 2": ((1, -1, -1, 1), -1),
    "class 2, class 1": ((-1, 1, 1, -1), -1),
}
OTHER = "other"
#: Units weaker than this share of the strongest, |input weights| times |readout|, do nothing that could be seen.
ACTIVE_STRENGTH_SHARE = 0.05
#: Steps of the distribution of similarities that are kept.
LEVELS = np.linspace(0, 1, 41)


def equivalence_units(unit: Unit) -> Rows:
    """Return which types of unit solve transitive equivalence: a row per network and type, ``other`` last."""
    task = tasks.transitive_equivalence([2, 2], [1, 1])
    trained = train(task, unit, unit.setting["loss"])
    outputs = trained_outputs(task, trained)
    unseen = task.target[task.test], outputs[:, task.test]
    accuracy, sure = sign_accuracy(*unseen), margin(*unseen)
    weights, readouts = (trained.parameters[name].double().cpu().numpy() for name in ("weight0", "weight1"))
    rows: Rows = []
    for index, seed in enumerate(unit.seeds):
        about = {"sigma": unit.setting["sigma"], "width": unit.setting["width"], "seed": seed}
        about |= {"accuracy": float(accuracy[index]), "margin": float(sure[index])}
        rows += [about | row for row in types_of_units(weights[index], readouts[index, 0])]
    return rows


def types_of_units(weights: FloatArray, readout: FloatArray) -> Rows:
    """Return the active units of a network on four items in two classes, sorted into types: a row per type.

    Parameters
    ----------
    weights : float array of shape (H, 8)
        Input weights: four items in the first slot, two per class, then in the second.
    readout : float array of shape (H,)

    Examples
    --------
    >>> rows = types_of_units(np.array([[1, 1, -1, -1, 1, 1, -1, -1.0], [1, 1, -1, -1, 1, -1, 1, -1]]), np.ones(2))
    >>> [(row["type"], row["units"], row["share"]) for row in rows if row["units"]]
    [('both of class 1', 1, 0.5), ('other', 1, 0.5)]
    """
    lengths = np.linalg.norm(weights, axis=1)
    strength = lengths * np.abs(readout)
    active = strength > ACTIVE_STRENGTH_SHARE * strength.max()
    shape = weights[active] / lengths[active, None]
    kinds = _types(shape, np.sign(readout[active]))
    rows = []
    for name in (*UNIT_TYPES, OTHER):
        chosen = kinds == name
        share = float(strength[active][chosen].sum() / strength[active].sum())
        means = shape[chosen].mean(axis=0) if chosen.any() else np.full(8, np.nan)
        within, across = _differences(shape[chosen])
        row = {"type": name, "units": int(chosen.sum()), "active": int(active.sum()), "share": share}
        row |= {"within a class": within, "from opposite": across}
        rows.append(row | {f"input {number}": float(value) for number, value in enumerate(means)})
    return rows


def _types(shape: FloatArray, votes: FloatArray) -> Any:
    kinds = np.full(len(shape), OTHER, dtype=object)
    for name, (signs, vote) in UNIT_TYPES.items():
        fits: BoolArray = (np.sign(shape) == np.repeat(signs, 2)).all(axis=1) & (votes == vote)
        kinds[fits] = name
    return kinds


def _differences(shape: FloatArray) -> tuple[float, float]:
    """Largest difference of the input weights of a class's two items, and largest sum of weights across classes."""
    if not len(shape):
        return float("nan"), float("nan")
    items = shape.reshape(-1, 2, 2, 2)  # unit, slot, class, item
    means = items.mean(axis=3)
    return float(np.ptp(items, axis=3).max()), float(np.abs(means.sum(axis=2)).max())


def feature_similarity(unit: Unit) -> Rows:
    """Return how similar hidden features of cells that share an item are, before and after training on sums.

    0 is the similarity of cells that share nothing, 1 of a cell with itself; a kernel has S(1;2) for every pair. Rows
    are steps of the distribution over pairs.
    """
    task = tasks.symbolic_addition(anchors=[4])
    inputs = one_hot(task.cells, task.sizes)
    trained = train(task, unit)
    layers = {"before": _initial(unit, inputs.shape[1]), "after": trained.parameters}
    rows: Rows = []
    for when, parameters in layers.items():
        weights, biases = (parameters[name].double().cpu().numpy() for name in ("weight0", "bias0"))
        for index, seed in enumerate(unit.seeds):
            hidden = np.maximum(inputs @ weights[index].T + biases[index], 0)
            steps = np.quantile(similarities(hidden, task.cells), LEVELS)
            about = {
                "sigma": unit.setting["sigma"],
                "seed": seed,
                "when": when,
                "train loss": float(trained.loss[index]),
            }
            rows += [
                {**about, "level": float(level), "similarity": float(value)}
                for level, value in zip(LEVELS, steps, strict=True)
            ]
    return rows


def similarities(hidden: FloatArray, cells: Any) -> FloatArray:
    """Return the inner products of features (N, H) of cells (N, 2) that share one item, on the scale of salience.

    Examples
    --------
    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> similarities(np.concatenate([np.eye(2)[cells[:, 0]], np.eye(2)[cells[:, 1]]], axis=1), cells).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    gram = hidden @ hidden.T
    shared = (cells[:, None] == cells[None]).sum(axis=2)
    distinct, identical = gram[shared == 0].mean(), gram[shared == 2].mean()
    pairs: FloatArray = gram[np.triu(shared == 1)]
    return np.asarray((pairs - distinct) / (identical - distinct))


def _initial(unit: Unit, inputs: int) -> Any:
    from recombine.lab.nets.architectures.mlp import MLP
    from recombine.lab.nets.ensemble.ensemble import Ensemble

    network = MLP(inputs, (unit.setting["width"],))
    return Ensemble(network, seeds=list(unit.seeds), scale=unit.setting["sigma"]).initial()[0]


def anchors_addition(unit: Unit) -> Rows:
    """Return the slope on unseen sums of networks trained with a set of anchors: a row per network."""
    setting = unit.setting
    task = tasks.symbolic_addition(anchors=setting["anchors"])
    trained = train(task, unit)
    slopes, _ = fitted_line(task.target[task.test], trained_outputs(task, trained)[:, task.test])
    about = {"set": setting["set"], "p": len(setting["anchors"]), "sigma": setting["sigma"]}
    return [
        {**about, "seed": seed, "train loss": float(trained.loss[index]), "slope": float(slopes[index])}
        for index, seed in enumerate(unit.seeds)
    ]
