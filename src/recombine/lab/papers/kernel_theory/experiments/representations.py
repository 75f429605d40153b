"""Kernel theory, inputs that follow no overlaps exactly: images drawn for items, averaged; and items of dispersed sets.

By symmetry, kernel regression averaged over random images for items is a sum on the unseen cells of an anchor set:
permutations of the items that are no anchors keep the set, so that no unseen cell can be told from another.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows, fitted_values, two_factor
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task

#: Tasks whose models are averaged: two anchor sets, and one that no permutation of items keeps.
AVERAGED = {
    "one anchor": tasks.symbolic_addition(anchors=[4]),
    "two anchors": tasks.symbolic_addition(anchors=[0, 8]),
    "dispersed": tasks.dispersed_addition(seed=1),
}
ASSIGNMENTS_COUNTED = (1, 4, 16, 64, 256, 1024)
ROUNDING_RIDGE = 1e-6


def random_assignments(unit: Unit) -> Rows:
    """Interaction on unseen cells of predictions averaged over images drawn for items: one row per task and number."""
    from sklearn.datasets import load_digits

    pool = load_digits().data - load_digits().data.mean(axis=0)
    task, rows = AVERAGED[unit.setting["task"]], []
    counted = [count for count in ASSIGNMENTS_COUNTED if count <= unit.setting["assignments"]]
    for seed in unit.seeds:
        rng = np.random.default_rng(seed)
        total = np.zeros(len(task.cells))
        for number in range(1, counted[-1] + 1):
            items = [pool[rng.choice(len(pool), size, replace=False)] for size in task.sizes]
            total += _predicted(task, np.hstack([items[slot][task.cells[:, slot]] for slot in (0, 1)]))
            if number in counted:
                about = {"task": unit.setting["task"], "seed": seed, "assignments": number}
                rows.append({**about, "interaction": _not_a_sum(task, total / number)})
    return rows


def _predicted(task: Task, inputs: FloatArray) -> FloatArray:
    """Regression with the kernel of a wide layer of random ReLU units."""
    lengths = np.linalg.norm(inputs, axis=1)
    product = np.outer(lengths, lengths)
    angle = np.arccos(np.clip(inputs @ inputs.T / product, -1, 1))
    kernel = product / product.mean() * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
    seen = kernel[np.ix_(task.train, task.train)]
    answer: FloatArray = kernel[:, task.train] @ np.linalg.solve(
        seen + ROUNDING_RIDGE * np.eye(len(seen)), task.target[task.train]
    )
    return answer


def _item_values(task: Task, answer: FloatArray) -> tuple[FloatArray, float]:
    """Fit unseen answers by a value per item of either slot; return those of the first, and the share left over."""
    cells, unseen = task.cells[task.test], answer[task.test]
    columns = np.hstack([np.eye(size)[cells[:, slot]] for slot, size in enumerate(task.sizes)])
    values = np.linalg.lstsq(columns, unseen, rcond=None)[0]
    residuals = unseen - columns @ values
    return values[: task.sizes[0]] - values[: task.sizes[0]].mean(), float(
        residuals @ residuals / np.sum((unseen - unseen.mean()) ** 2)
    )


def _not_a_sum(task: Task, answer: FloatArray) -> float:
    """Return the standard deviation of what is no sum on unseen cells, over that of the answers there."""
    return float(_item_values(task, answer)[1] ** 0.5)


def dispersed_items(unit: Unit) -> Rows:
    """What items are worth in unseen sums of dispersed sets: slope against their true worth and scatter around it."""
    kernel, rows = two_factor(unit.setting["salience"]), []
    for seed in unit.seeds:
        task = tasks.dispersed_addition(seed=seed)
        values, _ = _item_values(task, fitted_values(task, kernel))
        worth = np.arange(task.sizes[0]) - (task.sizes[0] - 1) / 2
        slope = float(values @ worth / (worth @ worth))
        scatter = float(np.std(values - slope * worth))
        rows.append({"salience": unit.setting["salience"], "seed": seed, "slope": slope, "scatter": scatter})
    return rows
