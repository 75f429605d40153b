"""Transitive ordering: which of two items comes first, learned from close pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.cells.conjunctions import every_cell
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.tasks.task import Task


def transitive_ordering(n: int = 7, distances: Sequence[int] = (1,)) -> Task:
    """Say +1 if the first item ranks below the second and -1 if above; identical pairs do not occur.

    Parameters
    ----------
    n : int
        Number of items, ranked by their number.
    distances : sequence of int
        Differences in rank that are seen, each from 1 to n - 1.

    Examples
    --------
    >>> transitive_ordering(7)
    Task('transitive ordering': first x second of sizes 7 x 7, 12 seen, 30 unseen)
    """
    size = whole(n, "n", at_least=2)
    seen = [whole(gap, f"distances[{index}]", at_least=1, at_most=size - 1) for index, gap in enumerate(distances)]
    if not seen:
        raise InputError("distances is empty; name at least one difference in rank that is seen")
    pairs = every_cell((size, size))
    cells = pairs[pairs[:, 0] != pairs[:, 1]]
    gap = cells[:, 1] - cells[:, 0]
    return Task("transitive ordering", cells, np.isin(np.abs(gap), seen), np.sign(gap), ("first", "second"))
