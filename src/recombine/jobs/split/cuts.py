"""Cuts: cells without which training falls apart, so that all of them are disconnected although every level is seen.

A cut is made by a function of the model's order: the cells where it is not zero are taken out of training, and since it
vanishes on everything that is left, nothing left determines them. What is tried: two levels that only meet each other,
blocks of levels of two factors that only meet each other, conjunctions that never occur (from order 2 on), and what one
cell of a basis stands for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.cells.threads import one_thread
from recombine.jobs.split.spanning import spanning_cells

#: Pairs of levels and orders of levels that are tried for one cut.
PAIRS_TRIED, ORDERS_TRIED = 24, 8
#: Levels of all cells in all orders together, so that large tables get fewer.
MAX_LEVELS_ORDERED = 2_000_000
#: Waste, as a share of what is asked for, that ends the search.
WASTE_SHARE_ACCEPTED = 0.005
#: Entries of the table of cells by basis that is worked out at most.
MAX_BASIS_ENTRIES = 2_000_000
#: Pairs of levels in cells that are looked at.
MAX_PAIRS_IN_CELLS = 100_000


@dataclass(frozen=True, eq=False)
class Cut:
    """Cells (M,) that go out of training, and which of them keep every level in what is left."""

    out: BoolArray
    usable: BoolArray

    def waste(self, rows: IntArray, aim: int) -> int:
        """Rows that go out beyond ``aim``, which the usable ones reach or not."""
        return int(rows[self.out].sum()) - min(int(rows[self.usable].sum()), aim)

    def reach(self, rows: IntArray) -> int:
        """Rows of the usable cells."""
        return int(rows[self.usable].sum())


def find_cut(
    features: Conjunctions,
    cells: IntArray,
    rows: IntArray,
    aim: int,
    generator: np.random.Generator,
    *,
    at_once: bool = True,
) -> Cut | None:
    """Return the cut of distinct ``cells`` (M, C) that brings ``aim`` of their ``rows`` (M,) with least waste.

    Where none brings as many, one with little waste that comes as near as possible; None where there is no cut at all.
    Such a one is also taken if it wastes nothing and the other would, unless all has to be brought ``at_once``.
    """
    full: Cut | None = None
    partial: Cut | None = None
    for cut in _candidates(features, cells, rows, aim, generator):
        reach = cut.reach(rows)
        if not reach:
            continue
        if reach >= aim:
            full = cut if full is None or cut.waste(rows, aim) < full.waste(rows, aim) else full
            if full.waste(rows, aim) <= WASTE_SHARE_ACCEPTED * aim:
                return full
        elif partial is None or _worth(cut, rows, aim) > _worth(partial, rows, aim):
            partial = cut
    if full is None or at_once or partial is None or partial.waste(rows, aim) or not full.waste(rows, aim):
        return partial if full is None else full
    return partial


def _worth(cut: Cut, rows: IntArray, aim: int) -> float:
    return cut.reach(rows) - 2.0 * cut.waste(rows, aim)


def _candidates(
    features: Conjunctions, cells: IntArray, rows: IntArray, aim: int, generator: np.random.Generator
) -> Iterator[Cut]:
    ids = features.ids(cells)
    if features.order > 1:
        yield from _without_conjunctions(features, cells, ids, rows, aim, generator)
        return
    levels = _Levels(features, cells, ids, rows)
    yield from levels.pairs(aim, generator)
    for _ in range(int(np.clip(MAX_LEVELS_ORDERED // ids.size, 3, ORDERS_TRIED))):
        yield from levels.blocks(aim, generator)
    yield from _by_basis(features, cells, rows, generator)


def cut_of(features: Conjunctions, cells: IntArray, out: BoolArray) -> Cut:
    """Return the cut at which the cells ``out`` (M,) leave training."""
    return Cut(out, out & levels_seen(features, cells, ~out))


def families(features: Conjunctions) -> list[tuple[int, ...]]:
    """Return the factors, interchangeable ones together."""
    paired = {factor for group in features.symmetric for factor in group}
    return [*features.symmetric, *((factor,) for factor in range(len(features.sizes)) if factor not in paired)]


def levels_seen(features: Conjunctions, cells: IntArray, training: BoolArray) -> BoolArray:
    """Say which of ``cells`` (M, C) have all their levels among the ``training`` ones (M,)."""
    complete = np.ones(len(cells), dtype=bool)
    for group in families(features):
        present = np.zeros(features.sizes[group[0]], dtype=bool)
        present[cells[training][:, list(group)]] = True
        complete &= present[cells[:, list(group)]].all(axis=1)
    return complete


def _without_conjunctions(
    features: Conjunctions,
    cells: IntArray,
    ids: IntArray,
    rows: IntArray,
    aim: int,
    generator: np.random.Generator,
) -> Iterator[Cut]:
    """From order 2 on: conjunctions that go out of training whole, taken at random until they hold enough rows."""
    columns, where = np.unique(ids, return_inverse=True)
    where = where.reshape(ids.shape)
    for _ in range(ORDERS_TRIED):
        rank = generator.permutation(len(columns))
        weight = np.zeros(len(columns))
        turn = rank[where].min(axis=1)  # the turn at which a cell goes out
        np.add.at(weight, turn, rows)
        for many in _enough(np.cumsum(weight), aim):
            out = turn <= many
            yield cut_of(features, cells, out)


def _enough(total: FloatArray, aim: int) -> list[int]:
    """Return where a running total is last within the aim, and some places beyond where more is lost on the way."""
    reached = int(np.searchsorted(total, aim))
    beyond = [int(np.searchsorted(total, aim * more)) for more in (1.1, 1.3, 1.7)]
    return sorted({position for position in (reached - 1, reached, *beyond) if 0 <= position < len(total)})


def _by_basis(features: Conjunctions, cells: IntArray, rows: IntArray, generator: np.random.Generator) -> Iterator[Cut]:
    """Cut at each cell of a random basis: out goes what needs this cell, which may be the cell alone."""
    if len(cells) * min(features.columns, len(cells)) > MAX_BASIS_ENTRIES:
        return
    basis = spanning_cells(features, cells, generator.permutation(len(cells)), int(generator.integers(2**31)))
    if basis is None or len(cells) * len(basis) > MAX_BASIS_ENTRIES:
        return
    matrix = features.incidence(cells).toarray()
    with one_thread():
        needed = np.abs(np.linalg.solve(matrix[basis] @ matrix[basis].T, matrix[basis] @ matrix.T)) > 1e-6
    for position in generator.permutation(len(basis)):
        out = needed[position]
        if 2 * out.sum() < len(cells):
            yield cut_of(features, cells, out)


class _Levels:
    """The levels of a table at order 1: their columns, and how many rows each has."""

    def __init__(self, features: Conjunctions, cells: IntArray, ids: IntArray, rows: IntArray) -> None:
        self.features, self.cells, self.ids, self.rows = features, cells, ids, rows
        self.weight = np.zeros(features.columns)
        for slot in range(ids.shape[1]):
            self.weight += np.bincount(ids[:, slot], rows, minlength=features.columns)

    def cut(self, function: IntArray) -> Cut:
        """Return the cut by a function, one whole number per column; levels that would be lost change sides."""
        for _ in range(3):
            out = function[self.ids].sum(axis=1) != 0
            lost = self._lost(out)
            if not len(lost):
                break
            function = function.copy()
            function[lost] = np.where(function[lost] != 0, 0, self._sides(function, lost))
        out = function[self.ids].sum(axis=1) != 0
        return cut_of(self.features, self.cells, out)

    def _lost(self, out: BoolArray) -> IntArray:
        """Columns that only cells have which go ``out``."""
        leaving, staying = (np.bincount(self.ids[side].ravel(), minlength=len(self.weight)) for side in (out, ~out))
        return np.flatnonzero((leaving > 0) & (staying == 0))

    def _sides(self, function: IntArray, lost: IntArray) -> IntArray:
        """What to say of each lost level so that its cells stay: less than nothing where the others say more."""
        total = np.zeros(len(function))
        value = function[self.ids].sum(axis=1)
        for slot in range(self.ids.shape[1]):
            total += np.bincount(self.ids[:, slot], np.sign(value) * self.rows, minlength=len(function))
        return -np.sign(total[lost]).astype(np.int64)

    def pairs(self, aim: int, generator: np.random.Generator) -> Iterator[Cut]:
        """Two levels that only meet each other: of all pairs those whose cut is lightest, nearest the aim, and any."""
        count, width = self.ids.shape[1], self.features.columns
        places = list(itertools.combinations(range(count), 2))
        chosen = generator.permutation(len(self.cells))[: max(MAX_PAIRS_IN_CELLS // len(places), 50)]
        ids = np.sort(self.ids[chosen], axis=1)
        numbers = np.concatenate([ids[:, slot] * width + ids[:, other_slot] for slot, other_slot in places])
        pair_numbers, where = np.unique(numbers, return_inverse=True)
        met = np.bincount(where.reshape(-1), np.tile(self.rows[chosen], len(places)), minlength=len(pair_numbers))
        pairs = np.stack(np.divmod(pair_numbers, width), axis=1)
        pairs, met = pairs[(apart := pairs[:, 0] != pairs[:, 1])], met[apart]
        if not len(pairs):
            return
        met *= len(self.cells) / len(chosen)
        size = self.weight[pairs].sum(axis=1) - 2 * met
        third = PAIRS_TRIED // 3
        enough = np.where(size >= aim, size - aim, np.inf)
        picked = [np.argsort(size)[:third], np.argsort(enough)[:third], generator.permutation(len(pairs))[:third]]
        for position in np.unique(np.concatenate(picked)):
            function = np.zeros(self.features.columns, dtype=np.int64)
            function[pairs[position]] = 1, -1
            yield self.cut(function)

    def blocks(self, aim: int, generator: np.random.Generator) -> Iterator[Cut]:
        """Blocks of two factors' levels that only meet each other, larger and larger until the aim is passed."""
        count = self.ids.shape[1]
        slot, other_slot = generator.permutation(count)[:2]
        rank = self._in_line(int(slot), int(other_slot), generator)
        low, high = 0.0, 0.5
        for _ in range(12):
            middle = (low + high) / 2
            cut = self.cut(self._block(rank, middle))
            yield cut
            low, high = (middle, high) if self.rows[cut.out].sum() < aim else (low, middle)

    def _in_line(self, slot: int, other_slot: int, generator: np.random.Generator) -> dict[int, FloatArray]:
        """Put the levels of two factors into one line, 0 to 1, those that meet near each other."""
        levels, other_levels = self.ids[:, slot], self.ids[:, other_slot]
        alike = self.features.blocks and self._block_of(slot) == self._block_of(other_slot)
        rank = generator.random(self.features.columns)
        rounds = int(generator.integers(4))
        for _ in range(0 if alike else rounds):
            for to, since in ((levels, other_levels), (other_levels, levels)):
                total = np.bincount(to, rank[since] * self.rows, minlength=len(rank))
                mine = np.unique(to)
                mean = total[mine] / np.bincount(to, self.rows, minlength=len(rank))[mine]
                rank[mine] = (np.argsort(np.argsort(mean + 1e-9 * generator.random(len(mine)))) + 0.5) / len(mine)
        if alike:
            mine = generator.permutation(np.unique(np.concatenate([levels, other_levels])))
            sides = {1: mine[::2], -1: mine[1::2]}
        else:
            sides = {1: generator.permutation(np.unique(levels)), -1: generator.permutation(np.unique(other_levels))}
        line = {}
        for sign, mine in sides.items():
            line[sign] = np.full(self.features.columns, np.inf)
            line[sign][mine[np.argsort(rank[mine], kind="stable")]] = np.arange(len(mine)) / max(len(mine), 1)
        return line

    def _block_of(self, slot: int) -> int:
        starts = [columns.start for columns in self.features.blocks.values()]
        return int(np.searchsorted(starts, self.ids[0, slot], side="right"))

    def _block(self, line: dict[int, FloatArray], share: float) -> IntArray:
        function = np.zeros(self.features.columns, dtype=np.int64)
        for sign, rank in line.items():
            # The first level of each side is in the block, however small its share.
            function[(rank < share) | (rank == 0)] = sign
        return function
