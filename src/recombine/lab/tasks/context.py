"""Context dependence: a context says which of two features decides the answer; shows the shortcut bias."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.conjunctions import every_cell
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.tasks.task import Task

FACTORS = ("context", "feature 1", "feature 2")


def context_dependence(left_out: int = 3, *, items: int = 3, rules: Sequence[int] = (0, 1)) -> Task:
    """Answer by the feature the context points at; incongruent blocks are left out (CD-k).

    Each feature has ``2 * items`` levels: the first half answers -1, the second half +1. Cells whose first feature is
    one of the first ``left_out`` negative levels and whose second feature is one of the first ``left_out`` positive
    levels are unseen in every context. With ``left_out == items`` context alone predicts two thirds of the seen answers
    and is wrong on every unseen one.

    Parameters
    ----------
    left_out : int
        The k of CD-k, from 1 to ``items``.
    items : int
        Levels per answer and feature (N).
    rules : sequence of int
        For each context the feature that decides: 0 or 1.

    Examples
    --------
    >>> context_dependence(left_out=3)
    Task('CD-3': context x feature 1 x feature 2 of sizes 2 x 6 x 6, 54 seen, 18 unseen)
    >>> int(context_dependence(left_out=1).test.sum())
    2
    """
    size = whole(items, "items", at_least=1)
    k = whole(left_out, "left_out", at_least=1, at_most=size)
    cells = _grid(rules, size)
    unseen = (cells[:, 1] < k) & (cells[:, 2] >= size) & (cells[:, 2] < size + k)
    return _task(f"CD-{k}", cells, ~unseen, rules, size)


def stimulus_composition(contexts: int = 2) -> Task:
    """Leave out every incongruent block of one kind, in the smallest designs that have one.

    Parameters
    ----------
    contexts : {2, 4}
        2: two levels per feature, 6 seen and 2 unseen cells. 4: two contexts for each rule, four levels per feature,
        48 seen and 16 unseen cells.

    Examples
    --------
    >>> stimulus_composition()
    Task('stimulus composition': context x feature 1 x feature 2 of sizes 2 x 2 x 2, 6 seen, 2 unseen)
    >>> int(stimulus_composition(contexts=4).test.sum())
    16
    """
    if contexts not in (2, 4):
        raise InputError(f"contexts is {contexts!r}; stimulus composition is defined for 2 or 4 contexts")
    items = contexts // 2
    rules = (0, 1) if contexts == 2 else (0, 0, 1, 1)
    block = context_dependence(items, items=items, rules=rules)
    return Task("stimulus composition", block.cells, block.train, block.target, block.factors)


def context_substitution() -> Task:
    """Four contexts, two for each rule; one of each pair never meets two levels of either feature.

    Contexts 0 and 2 are unseen wherever feature 1 or feature 2 is at level 0 or 3; contexts 1 and 3, which follow the
    same rules, are seen with everything. No sum of seen conjunctions gets all unseen cells right.

    Examples
    --------
    >>> context_substitution()
    Task('context substitution': context x feature 1 x feature 2 of sizes 4 x 6 x 6, 104 seen, 40 unseen)
    """
    rules = (0, 0, 1, 1)
    cells = _grid(rules, 3)
    spared = np.isin(cells[:, 1:], (0, 3)).any(axis=1)
    unseen = np.isin(cells[:, 0], (0, 2)) & spared
    return _task("context substitution", cells, ~unseen, rules, 3)


def _grid(rules: Sequence[int], items: int) -> IntArray:
    if len(rules) < 1 or any(rule not in (0, 1) for rule in rules):
        raise InputError(f"rules is {rules!r}; give 0 (feature 1 decides) or 1 (feature 2 decides) for each context")
    return every_cell((len(rules), 2 * items, 2 * items))


def _task(name: str, cells: IntArray, train: BoolArray, rules: Sequence[int], items: int) -> Task:
    deciding = np.asarray(rules, dtype=np.int64)[cells[:, 0]]
    level = np.take_along_axis(cells[:, 1:], deciding[:, None], axis=1)[:, 0]
    return Task(name, cells, train, np.where(level < items, -1.0, 1.0), FACTORS)
