"""The smallest designs: one factor decides, the other is irrelevant and only partly varied."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray
from recombine.cells.conjunctions import every_cell
from recombine.lab.tasks.task import Task

FACTORS = ("relevant", "irrelevant")


def invariance() -> Task:
    """Two levels by two: the first factor decides, the second is only ever seen at its first level.

    Examples
    --------
    >>> task = invariance()
    >>> task.cells[task.test].tolist(), task.target[task.test].tolist()
    ([[0, 1], [1, 1]], [-1.0, 1.0])
    """
    return _task("invariance", np.array([True, False, True, False]))


def partial_exposure() -> Task:
    """Two levels by two: the first factor decides, and every cell but the last is seen.

    Examples
    --------
    >>> task = partial_exposure()
    >>> task.cells[task.test].tolist(), task.target[task.test].tolist()
    ([[1, 1]], [1.0])
    """
    return _task("partial exposure", np.array([True, True, True, False]))


def _task(name: str, train: BoolArray) -> Task:
    cells = every_cell((2, 2))
    return Task(name, cells, train, np.where(cells[:, 0] == 0, -1.0, 1.0), FACTORS)
