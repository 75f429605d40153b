"""Transitive equivalence: do two items belong to one class? No sum of seen conjunctions can tell on unseen pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.conjunctions import contains, every_cell
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.tasks.task import Task

FACTORS = ("first", "second")


def transitive_equivalence(classes: Sequence[int] = (2, 2), anchors: Sequence[int] = (1, 1)) -> Task:
    """Say +1 if two items share a class and -1 if not, after seeing the pairs that contain an anchor.

    Parameters
    ----------
    classes : sequence of int
        Number of items in each class; items are numbered class after class.
    anchors : sequence of int
        How many items of each class, counted from its first, are seen with every partner in either slot.

    Returns
    -------
    Task
        Unseen are the pairs of two non-anchors, identical pairs included.

    Examples
    --------
    >>> transitive_equivalence([2, 2], [1, 1])
    Task('transitive equivalence': first x second of sizes 4 x 4, 12 seen, 4 unseen)
    """
    counts = [whole(size, f"classes[{index}]", at_least=1) for index, size in enumerate(classes)]
    if len(counts) < 2 or len(anchors) != len(counts):
        raise InputError(
            f"classes {list(classes)} and anchors {list(anchors)} do not match; "
            "give at least two classes and one anchor count for each"
        )
    anchor_counts = [
        whole(count, f"anchors[{index}]", at_least=0, at_most=size)
        for index, (count, size) in enumerate(zip(anchors, counts, strict=True))
    ]
    anchor = np.concatenate([np.arange(size) < count for size, count in zip(counts, anchor_counts, strict=True)])
    cells = every_cell((len(anchor), len(anchor)))
    return _task("transitive equivalence", cells, anchor[cells[:, 0]] | anchor[cells[:, 1]], counts)


def six_item_equivalence() -> Task:
    """The paper's drawn example: items A-F in classes ABC and DEF, eight pairs left out.

    Unseen are AC, CD, AF and DF in both orders, so that neither anchors nor non-anchors form a block.

    Examples
    --------
    >>> six_item_equivalence()
    Task('six-item equivalence': first x second of sizes 6 x 6, 28 seen, 8 unseen)
    """
    cells = every_cell((6, 6))
    pairs = np.array([["ABCDEF".index(letter) for letter in pair] for pair in ("AC", "CD", "AF", "DF")])
    unseen = contains(np.vstack([pairs, pairs[:, ::-1]]), cells)
    return _task("six-item equivalence", cells, ~unseen, [3, 3])


def _task(name: str, cells: IntArray, train: BoolArray, counts: Sequence[int]) -> Task:
    membership = np.repeat(np.arange(len(counts)), counts)
    same = membership[cells[:, 0]] == membership[cells[:, 1]]
    return Task(name, cells, train, np.where(same, 1.0, -1.0), FACTORS)
