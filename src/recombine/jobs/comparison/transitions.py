"""Cell by cell: from which verdict to which, between two maps of cells whose levels need not be the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import Subset, canonical, distinct
from recombine.jobs.comparison.cell_maps import CellMap
from recombine.jobs.comparison.differences import in_order
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: States of a cell on one side: a verdict, or why there is none.
NOT_LISTED, NO_SUCH_LEVEL = len(Verdict), len(Verdict) + 1
#: States in words.
STATES = (*(verdict.word for verdict in Verdict), "not listed", "no such level")

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Transition:
    """What became of one cell, given by its level of each factor."""

    cell: dict[str, str]
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class Transitions:
    """The cells that either side lists, with their states before and after.

    Attributes
    ----------
    levels : dict of str to tuple of str
        Factor -> levels that either side has.
    cells : int array of shape (N, C)
        Codes into ``levels``.
    before, after : int array of shape (N,)
        Places in `STATES`: the verdict, or that a side does not list the cell (it cannot exist there, or was not asked
        for), or lacks one of its levels.

    Examples
    --------
    >>> side = {"colour": ["blue", "red"], "shape": ["ball", "cube"]}
    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> before = CellMap(cells, np.array([0, 2, 2, 0]))
    >>> after = CellMap(cells, np.array([0, 0, 1, 0]))
    >>> transitions = Transitions.between(before, after, side, side)
    >>> transitions.table
    before        after       cells
    disconnected  seen        1
    disconnected  determined  1
    >>> transitions.gained.sum(), transitions.lost.sum()
    (np.int64(2), np.int64(0))
    """

    levels: dict[str, tuple[str, ...]]
    cells: IntArray = field(repr=False)
    before: IntArray
    after: IntArray

    __repr__ = brief_repr

    @classmethod
    def between(
        cls, before: CellMap, after: CellMap, old: Levels, new: Levels, symmetric: Sequence[Subset] = ()
    ) -> Transitions:
        """Match the cells of two maps by the names of their levels; ``symmetric`` are groups of places of factors."""
        joint = {name: tuple(in_order({*old[name], *new[name]})) for name in in_order(old)}
        renamed = _places(symmetric, list(old), list(joint))
        old_cells, new_cells = (
            canonical(_recoded(cell_map, levels, joint), renamed) for cell_map, levels in ((before, old), (after, new))
        )
        cells, index = distinct(np.vstack([old_cells, new_cells]))
        sides = []
        for positions, cell_map, levels in (
            (index[: len(old_cells)], before, old),
            (index[len(old_cells) :], after, new),
        ):
            state = _unlisted(cells, joint, levels)
            state[positions] = cell_map.codes
            sides.append(state)
        return cls(joint, cells, *sides)

    @cached_property
    def gained(self) -> BoolArray:
        """Cells possible in both tables that became seen or determined, shape (N,)."""
        return np.asarray(_open(self.before) & _known(self.after))

    @cached_property
    def lost(self) -> BoolArray:
        """Cells that were seen or determined and now are neither, though they are still listed, shape (N,)."""
        return np.asarray(_known(self.before) & _open(self.after))

    @cached_property
    def vanished(self) -> BoolArray:
        """Cells that were seen or determined and have a level that is gone, shape (N,)."""
        return np.asarray(_known(self.before) & (self.after == NO_SUCH_LEVEL))

    @property
    def only_before(self) -> BoolArray:
        """Cells that are not listed after, shape (N,): a level is gone, they cannot exist, or were not asked for."""
        return np.asarray(self.after >= NOT_LISTED)

    @property
    def only_after(self) -> BoolArray:
        """Cells that were not listed before, shape (N,)."""
        return np.asarray(self.before >= NOT_LISTED)

    @cached_property
    def changed(self) -> BoolArray:
        """Cells whose state differs, shape (N,)."""
        return np.asarray(self.before != self.after)

    @property
    def table(self) -> Table:
        """One row per pair of states that differ: how many cells went from the one to the other, most first."""
        pairs = self.before[self.changed] * len(STATES) + self.after[self.changed]
        distinct_pairs, counts = np.unique(pairs, return_counts=True)
        order = sorted(zip((-counts).tolist(), distinct_pairs.tolist(), strict=True), key=_both_ways)
        return Table(
            {
                "before": np.array([STATES[pair // len(STATES)] for _, pair in order], dtype=object),
                "after": np.array([STATES[pair % len(STATES)] for _, pair in order], dtype=object),
                "cells": np.array([-count for count, _ in order], dtype=int),
            }
        )

    def listed(self, which: BoolArray, count: int) -> list[Transition]:
        """Return up to ``count`` cells of ``which`` (N,), each with its states before and after."""
        rows = np.flatnonzero(which)[:count]
        return [
            Transition(
                {name: levels[code] for (name, levels), code in zip(self.levels.items(), cell, strict=True)},
                STATES[old],
                STATES[new],
            )
            for cell, old, new in zip(
                self.cells[rows].tolist(), self.before[rows].tolist(), self.after[rows].tolist(), strict=True
            )
        ]


def _both_ways(item: tuple[int, int]) -> tuple[int, int, int, int]:
    """Order pairs by count, then by their states whichever came first, so that the mirror image has the same order."""
    states = sorted(divmod(item[1], len(STATES)))
    return item[0], states[0], states[1], item[1]


def _places(symmetric: Sequence[Subset], old: Sequence[str], joint: Sequence[str]) -> list[Subset]:
    return [tuple(sorted(joint.index(old[position]) for position in group)) for group in symmetric]


def _recoded(cell_map: CellMap, levels: Levels, joint: Mapping[str, Sequence[str]]) -> IntArray:
    """Return a map's cells with the factors and codes of the joint levels, (N, C)."""
    names = list(levels)
    columns = []
    for name, every in joint.items():
        code_of = {label: code for code, label in enumerate(every)}
        codes = np.array([code_of[label] for label in levels[name]], dtype=np.int64)
        columns.append(codes[cell_map.cells[:, names.index(name)]])
    return np.stack(columns, axis=1)


def _unlisted(cells: IntArray, joint: Mapping[str, Sequence[str]], levels: Levels) -> IntArray:
    """Say of each cell why a side that does not list it does not, (N,)."""
    has_levels = np.ones(len(cells), dtype=bool)
    for position, (name, every) in enumerate(joint.items()):
        own_levels = set(levels[name])
        has_levels &= np.array([label in own_levels for label in every], dtype=bool)[cells[:, position]]
    return np.where(has_levels, NOT_LISTED, NO_SUCH_LEVEL)


def _known(states: IntArray) -> BoolArray:
    return np.asarray(states <= Verdict.DETERMINED)


def _open(states: IntArray) -> BoolArray:
    return np.asarray((states > Verdict.DETERMINED) & (states < NOT_LISTED))
