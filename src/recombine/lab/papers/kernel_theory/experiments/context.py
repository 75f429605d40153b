"""Kernel theory, context dependence without a network: the phase diagram, depth, and what the models rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.conjunctions import Subset
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows, network_kernel
from recombine.lab.runs.experiment import Unit
from recombine.measures.outputs.contributions import KINDS, by_kind, conjunction_values
from recombine.theory.kernels.solvers.orbits import Quotient, solve_kernels

LOSSES = ("hinge", "squared")


def simplex(steps: int) -> FloatArray:
    """Return all (s1, s2, s3) with 3 s1 + 3 s2 + s3 = 1 on a triangular lattice, shape (B, 3).

    Examples
    --------
    >>> simplex(2).round(3).tolist()[:3]
    [[0.0, 0.0, 1.0], [0.0, 0.167, 0.5], [0.0, 0.333, 0.0]]
    >>> len(simplex(70))
    2556
    """
    rows, columns = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    inside = rows + columns <= steps
    i, j = rows[inside], columns[inside]
    # Counting in whole steps keeps s3 exactly zero on the edge.
    return np.stack([i / (3 * steps), j / (3 * steps), (steps - i - j) / steps], axis=1)


def kappa(salience: FloatArray) -> FloatArray:
    """Return kernel values by overlap, shape (B, 4), of three-factor saliences (B, 3).

    Examples
    --------
    >>> kappa(np.array([[0.2, 0.1, 0.1]])).round(6).tolist()
    [[0.0, 0.2, 0.5, 1.0]]
    """
    s1, s2, s3 = salience.T
    return np.stack([np.zeros(len(s1)), s1, 2 * s1 + s2, 3 * s1 + 3 * s2 + s3], axis=1)


def phase(unit: Unit) -> Rows:
    """Margin on the unseen cells of CD-k for every kernel of the lattice, under one loss."""
    setting = unit.setting
    points = simplex(setting["steps"])
    task = tasks.context_dependence(setting["left out"])
    solutions = solve_kernels(Quotient.of(task.cells, task.target, task.train), kappa(points), setting["loss"])
    columns = {
        "s1": points[:, 0],
        "s2": points[:, 1],
        "s3": points[:, 2],
        "margin": solutions.margin,
        "accuracy": solutions.accuracy,
        "all support": solutions.support.all(axis=1),
    }
    names = {"task": f"CD-{setting['left out']}", "loss": setting["loss"]}
    plain = {name: values.tolist() for name, values in columns.items()}
    return [{**names, **dict(zip(plain, row, strict=True))} for row in zip(*plain.values(), strict=True)]


def by_depth(unit: Unit) -> Rows:
    """Margin on CD-1, CD-2 and CD-3 of one wide random network by depth, under both losses."""
    setting = unit.setting
    kernels = [network_kernel(setting["activation"], depth, 3) for depth in setting["depths"]]
    points = np.array([kernel.salience for kernel in kernels])
    rows = []
    for left_out in (1, 2, 3):
        task = tasks.context_dependence(left_out)
        quotient = Quotient.of(task.cells, task.target, task.train)
        for loss in LOSSES:
            margins = solve_kernels(quotient, kappa(points), loss).margin  # type: ignore[arg-type]
            rows += [
                {
                    "activation": setting["activation"],
                    "depth": depth,
                    "task": f"CD-{left_out}",
                    "loss": loss,
                    "margin": float(margin),
                    "s1": float(point[0]),
                    "s2": float(point[1]),
                }
                for depth, margin, point in zip(setting["depths"], margins, points, strict=True)
            ]
    return rows


def conjunctions(unit: Unit) -> Rows:
    """Mean size of what each kind of conjunction contributes to a seen cell's output, for one kernel and CD-k.

    Rows of "hinge" and "squared" have the model's own values under either loss. Rows of "labels" have those of the
    smallest weights that give the labels, -1 and +1, which the hard margin predicts on all cells.
    """
    from recombine.theory.kernels.estimators import KernelClassifier

    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    seen, target = task.cells[task.train], task.target[task.train]
    kernel = network_kernel(setting["activation"], setting["depth"], 3)
    rows = []
    for loss in LOSSES:
        model = KernelClassifier(kernel, loss=loss).fit(seen, target)
        fitted = {s: values for order in (1, 2, 3) for s, values in model.conjunction_values(order).items()}
        rows += _sizes(setting, task.name, loss, fitted)
        if loss == "hinge":
            labels = np.sign(model.decision_function(task.cells))
            rows += _sizes(setting, task.name, "labels", conjunction_values(task.cells, task.train, labels))
    return rows


def _sizes(setting: Mapping[str, Any], task: str, loss: str, values: Mapping[Subset, Any]) -> Rows:
    """Mean |f_J| over the seen conjunctions of each kind, and its share of the sum over kinds: a row each."""
    sizes = {kind: float(size) for kind, size in by_kind(values).items()}
    about = {"activation": setting["activation"], "depth": setting["depth"], "task": task, "loss": loss}
    total = sum(sizes.values())
    return [{**about, "kind": kind, "size": sizes[kind], "share": sizes[kind] / total} for kind in KINDS]
