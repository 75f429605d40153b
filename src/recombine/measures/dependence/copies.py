"""Levels whose rows repeat those of another level, exactly or nearly, in part, or in another unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import distinct

#: Pairs of a test row and a training cell that are looked at, of each factor; beyond, rows of each level are drawn.
MAX_PAIRS_LOOKED_AT = 400_000
#: Distances, as a share of outcomes or of their spread, that are rounding of the machine.
MACHINE_SHARE = 1e-9
#: Share of all outcomes that lie between two that agree, at the most.
MAX_SHARE_BETWEEN = 0.05
#: Points between which outcomes are taken to be spread evenly.
POINTS_OF_DISTRIBUTION = 21
#: Cells that two levels share where one may be the other in another unit, which two of them tell already.
MIN_CELLS_AFFINE = 5
#: Different outcomes that are copied, at the least.
MIN_ROWS_COPIED = 5
#: Pairs of levels that are looked at closely.
MAX_PAIRS_TRIED = 100
#: Pairs as close that chance may make, of all of a factor.
MAX_COPIES_BY_CHANCE = 0.01


@dataclass(frozen=True)
class _Mark:
    """A share of a level's rows that a copy has; it has more of them, and they are closer, than any pair beside it."""

    share: float
    times_closer: float
    times_more: float


WHOLE, HALF, OTHER_UNIT = _Mark(1.0, 4.0, 2.0), _Mark(0.4, 10.0, 3.0), _Mark(1.0, 100.0, 2.0)


@dataclass(frozen=True, eq=False)
class SideRows:
    """Rows of one side of a split: their cells (N, C) and outcomes (N,)."""

    cells: IntArray
    outcome: FloatArray


@dataclass(frozen=True, eq=False)
class LikelyCopy:
    """A level of the test that repeats an ``original`` of training: outcome = slope * original + offset."""

    level: int
    original: int
    agree: int  #: Rows (of another unit: cells) that agree,
    compared: int  #: of so many in the same cells of the other factors,
    chance: float  #: Pairs expected to be as close by chance.
    rows: IntArray  #: Test rows that agree.
    slope: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class _Met:
    """Test rows (or cells) beside training cells that differ in one factor only, by pair of levels, the closest first.

    ``spent`` numbers were fitted to each pair.
    """

    pair: IntArray  #: (K,): number of the pair of levels,
    distance: FloatArray  #: (K,)
    row: IntArray  #: (K,): test row.
    value: IntArray  #: (K,): number of its outcome, equal ones alike.
    levels: IntArray  #: (P, 2): level of test and of training.
    spent: int = 0

    @classmethod
    def of(cls, keys: IntArray, size: int, distance: FloatArray, row: IntArray, outcome: FloatArray) -> _Met:
        """Sort what was met; keys are level of test times ``size`` and level of training."""
        names, pair = np.unique(keys, return_inverse=True)
        order = np.lexsort((distance, pair))
        value = np.unique(outcome, return_inverse=True)[1].reshape(-1)
        levels = np.stack(np.divmod(names, size), axis=1)
        return cls(pair.reshape(-1)[order], distance[order], row[order], value[order], levels)

    @cached_property
    def size(self) -> IntArray:
        """How many rows each pair has, (P,)."""
        return np.bincount(self.pair, minlength=len(self.levels))

    @cached_property
    def start(self) -> IntArray:
        """Where those of each pair start, (P,)."""
        return np.asarray(np.cumsum(self.size) - self.size)


@dataclass(frozen=True, eq=False)
class _TrainingCells:
    """Distinct training cells, by context and level, with their rows in the order of outcomes."""

    context: IntArray  #: (M,)
    level: IntArray  #: (M,)
    first: IntArray  #: (M,): where rows start,
    count: IntArray  #: (M,): and how many there are.
    order: IntArray  #: (N,): training rows, sorted.
    outcome: FloatArray  #: (N,): sorted alike.

    @classmethod
    def of(cls, context: IntArray, level: IntArray, outcome: FloatArray, size: int) -> _TrainingCells:
        order = np.lexsort((outcome, level, context))
        keys, first, count = np.unique(context[order] * size + level[order], return_index=True, return_counts=True)
        return cls(*np.divmod(keys, size), first, count, order, outcome[order])

    def beside(self, context: IntArray) -> tuple[IntArray, IntArray]:
        """Return (row, cell) for all training cells in the context of each row (N,)."""
        low, high = (np.searchsorted(self.context, context, side=side) for side in ("left", "right"))
        count = high - low
        row = np.repeat(np.arange(len(context)), count)
        return row, np.arange(len(row)) - np.repeat(np.cumsum(count) - count - low, count)

    def nearest(self, cell: IntArray, wanted: FloatArray) -> IntArray:
        """Return the place among sorted rows of the nearest outcome of each cell (K,)."""
        values = np.unique(self.outcome)
        keys = np.repeat(np.arange(len(self.first)), self.count) * (len(values) + 1)
        keys += np.searchsorted(values, self.outcome)
        above = np.searchsorted(keys, cell * (len(values) + 1) + np.searchsorted(values, wanted))
        last = self.first[cell] + self.count[cell] - 1
        below, above = (np.clip(index, self.first[cell], last) for index in (above - 1, above))
        closer = np.abs(self.outcome[below] - wanted) <= np.abs(self.outcome[above] - wanted)
        return np.where(closer, below, above)


def likely_copies(test: SideRows, train: SideRows, factor: int, seed: int = 0) -> list[LikelyCopy]:
    """Return levels of the test that repeat one of training: all rows or part of them, nearly, or in another unit.

    Two levels are compared in the cells of the other factors that both have. That effects add makes outcomes of all
    levels run in parallel, and kin levels are close, so that a pair is told only where its rows are several times
    closer than those of any pair beside it, and more than the tail over all pairs leaves to chance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cells = np.indices((6, 12)).reshape(2, -1).T
    >>> outcome = rng.normal(size=72)
    >>> outcome[cells[:, 0] == 0] = 2.54 * outcome[cells[:, 0] == 3] + 1
    >>> test = cells[:, 0] < 3
    >>> sides = [SideRows(cells[side], outcome[side]) for side in (test, ~test)]
    >>> [(copy.level, copy.original, round(copy.slope, 6)) for copy in likely_copies(*sides, 0)]
    [(0, 3, 2.54)]
    """
    if not (len(test.cells) and len(train.cells)):
        return []
    both = np.vstack([np.delete(side.cells, factor, axis=1) for side in (test, train)])
    context = distinct(both)[1]
    here, there = context[: len(test.cells)], context[len(test.cells) :]
    level, level_there = test.cells[:, factor], train.cells[:, factor]
    size = int(max(level.max(), level_there.max())) + 1
    cells = _TrainingCells.of(there, level_there, train.outcome, size)
    work = np.bincount(cells.context, minlength=int(context.max()) + 1)[here]
    drawn = _drawn(level, work, seed)
    row, cell = cells.beside(here[drawn])
    row = drawn[row]
    others = cells.level[cell] != level[row]
    row, cell = row[others], cell[others]
    if not len(row):
        return []
    keys = level[row] * size + cells.level[cell]
    met = _Met.of(keys, size, _distances(test.outcome, cells, row, cell), row, test.outcome[row])
    copies = _told(met, (WHOLE, HALF), None)
    _, firsts, inverse = np.unique(
        (here[row] * size + level[row]) * len(cells.first) + cell, return_index=True, return_inverse=True
    )
    inverse = inverse.reshape(-1)
    means = np.bincount(inverse, test.outcome[row]) / np.bincount(inverse)
    original = (np.add.reduceat(cells.outcome, cells.first) / cells.count)[cell[firsts]]
    affine, marks, fits = _in_another_unit(keys[firsts], size, means, original, row[firsts])
    copies += _told(affine, marks, fits)
    step = float(np.diff(np.unique(train.outcome)).min(initial=np.inf))
    copies = _nothing_but_effects(copies, keys[firsts], size, means - original, step)
    best: dict[int, LikelyCopy] = {}
    for copy in copies:
        best.setdefault(copy.level, copy)
    return [best[code] for code in sorted(best)]


def _nothing_but_effects(
    copies: list[LikelyCopy], keys: IntArray, size: int, difference: FloatArray, step: float
) -> list[LikelyCopy]:
    """Return the copies that are closer than a quarter of the other pairs of levels, but for a constant each.

    Where effects add without noise, or outcomes are rounded to a ``step`` as large, two levels may be near by their
    effects alone. ``difference`` (K,) is that of cell means, of the pairs of levels ``keys``.
    """
    others = ~np.isin(keys, [copy.level * size + copy.original for copy in copies])
    _, pair, count = np.unique(keys[others], return_inverse=True, return_counts=True)
    if not (count >= MIN_CELLS_AFFINE).any():
        return copies
    centred = difference[others] - (np.bincount(pair, difference[others]) / count)[pair]
    spread = np.sqrt(np.bincount(pair, centred**2) / np.maximum(count - 1, 1))
    smallest = float(np.quantile(spread[count >= MIN_CELLS_AFFINE], 0.25))
    confirmed = []
    for copy in copies:
        off = np.sort(np.abs(difference[keys == copy.level * size + copy.original]))
        is_whole = copy.slope == 1.0 and copy.offset == 0.0
        reach = float(off[max(0, int(np.ceil(copy.agree / copy.compared * len(off))) - 1)]) if is_whole else 0.0
        confirmed += [copy] if WHOLE.times_closer * max(reach, step) < smallest else []
    return confirmed


def _distances(outcome: FloatArray, cells: _TrainingCells, row: IntArray, cell: IntArray) -> FloatArray:
    """Return which share of all outcomes lies between a row's and the nearest of a cell's, times the cell's rows.

    Equal outcomes of a cell with several rows are as far as the further rows that have that outcome make likely.
    """
    nearest = cells.nearest(cell, outcome[row])
    here, there = _shares(outcome, cells.outcome)
    number, times = np.unique(cells.outcome, return_inverse=True, return_counts=True)[1:]
    ties = (times[number.reshape(-1)] - 1) / len(cells.outcome)
    between = np.abs(there[nearest] - here[row]) * cells.count[cell]
    return np.asarray(np.maximum(between, MACHINE_SHARE) + ties[nearest] * (cells.count[cell] - 1))


def _shares(test: FloatArray, train: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return which share of all outcomes lies below each, (N,) of test and of training, also between them."""
    ends, which = np.unique(
        np.quantile(np.concatenate([test, train]), np.linspace(0, 1, POINTS_OF_DISTRIBUTION)), return_index=True
    )
    below = which / (POINTS_OF_DISTRIBUTION - 1)
    return np.interp(test, ends, below), np.interp(train, ends, below)


def _in_another_unit(
    keys: IntArray, size: int, outcome: FloatArray, original: FloatArray, row: IntArray
) -> tuple[_Met, tuple[_Mark, ...], FloatArray]:
    """Fit each pair of levels by a line; distances are shares of the spread of the test level's cell means."""
    _, pair, count = np.unique(keys, return_inverse=True, return_counts=True)
    pair = pair.reshape(-1)

    def mean(of: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(pair, of, minlength=len(count)) / count)

    x, y = original - mean(original)[pair], outcome - mean(outcome)[pair]
    xx, yy = mean(x * x), mean(y * y)
    enough = (count >= MIN_CELLS_AFFINE) & (xx > 0) & (yy > 0)
    slope = mean(x * y) / np.where(enough, xx, 1.0)
    distance = np.abs(y - slope[pair] * x) / np.sqrt(np.where(enough, yy, 1.0))[pair]
    chosen = enough[pair]
    met = _Met.of(keys[chosen], size, np.maximum(distance, MACHINE_SHARE)[chosen], row[chosen], outcome[chosen])
    offset = mean(outcome) - slope * mean(original)
    return replace(met, spent=2), (OTHER_UNIT,), np.stack([slope, offset], axis=1)[enough]


def _drawn(levels: IntArray, work: IntArray, seed: int) -> IntArray:
    """Return test rows to look at: all, or of each level as many as the work allows."""
    every = np.arange(len(levels))
    if work.sum() <= MAX_PAIRS_LOOKED_AT:
        return every
    order = np.random.default_rng(seed).permutation(every)
    order = order[np.argsort(levels[order], kind="stable")]
    starts = np.searchsorted(levels[order], levels[order])
    turn = np.arange(len(order)) - starts
    order = order[np.lexsort((levels[order], turn))]
    return np.sort(order[: max(1, int(np.searchsorted(np.cumsum(work[order]), MAX_PAIRS_LOOKED_AT)))])


def _told(met: _Met, marks: tuple[_Mark, ...], fits: FloatArray | None) -> list[LikelyCopy]:
    """Return the pairs that are closer than chance allows, those of the smallest chance first."""
    if len(met.levels) < 2:
        return []
    closeness = [_closeness(met, mark, len(marks)) for mark in marks]
    likely = np.any([item.pooled <= MAX_COPIES_BY_CHANCE for item in closeness], axis=0)
    copies = []
    for mark, item in zip(marks, closeness, strict=True):
        far = item.distance > MAX_SHARE_BETWEEN
        few = item.proof + met.spent < MIN_ROWS_COPIED
        tried = np.flatnonzero((item.pooled <= MAX_COPIES_BY_CHANCE) & ~far & ~few)
        for pair in tried[np.argsort(item.pooled[tried], kind="stable")][:MAX_PAIRS_TRIED].tolist():
            chance = _chance(met, item, mark, pair, np.asarray(~likely))
            if chance <= MAX_COPIES_BY_CHANCE:
                rows = np.sort(met.row[met.start[pair] : met.start[pair] + item.agree[pair]])
                fit = (1.0, 0.0) if fits is None else tuple(fits[pair].tolist())
                levels = met.levels[pair].tolist()
                counts = (int(item.agree[pair]), int(met.size[pair]))
                copies.append(LikelyCopy(levels[0], levels[1], *counts, chance, rows, *fit))
    return sorted(copies, key=lambda copy: (copy.chance, copy.original))


@dataclass(frozen=True, eq=False)
class _Closeness:
    """How close the ``agree`` closest rows of each pair of levels are, all (P,)."""

    agree: IntArray
    distance: FloatArray  #: Of the farthest of them.
    proof: IntArray  #: Different outcomes among them: a value that many rows have proves little.
    trials: IntArray  #: So many there would be among all rows.
    pooled: FloatArray  #: Pairs as close expected by chance, if rows of all pairs are alike.


def _closeness(met: _Met, mark: _Mark, tries: int) -> _Closeness:
    from scipy.stats import binom

    pairs, every = len(met.levels), np.sort(met.distance)
    agree = np.maximum(np.ceil(mark.share * met.size).astype(np.int64), 1)
    distance = met.distance[met.start + agree - 1]
    inside = np.arange(len(met.pair)) - met.start[met.pair] < agree[met.pair]
    width = int(met.value.max()) + 1
    values = np.unique(met.pair[inside] * width + met.value[inside]) // width
    proof = np.bincount(values, minlength=pairs) - met.spent
    reach = distance * mark.times_closer
    distances = np.bincount(met.pair[met.distance <= reach[met.pair]], minlength=pairs)
    rate = (np.searchsorted(every, reach, side="right") - distances + 1) / (len(every) - met.size + 1)
    trials = np.maximum(proof, np.round(met.size * proof / agree)).astype(np.int64)
    chance = np.where(proof > 0, binom.sf(proof - 1, np.maximum(trials, 1), np.minimum(rate, 1.0)), 1.0)
    return _Closeness(agree, distance, proof, trials, chance * pairs * tries)


def _chance(met: _Met, item: _Closeness, mark: _Mark, pair: int, beside: BoolArray) -> float:
    """Return how many pairs as close chance makes, by the tail over the pairs ``beside`` it (P,).

    The most rows that one of them has within several times the distance, of as many rows, sets how fast the tail falls.
    """
    from scipy.stats import binom

    pooled, proof = float(item.pooled[pair]), int(item.proof[pair])
    if not beside.any():
        return 1.0
    near = np.bincount(met.pair[met.distance <= item.distance[pair] * mark.times_closer], minlength=len(beside))
    scaled = ((near - met.spent) * np.minimum(1.0, met.size[pair] / met.size))[beside]
    largest = float(scaled.max())
    if largest <= 0:
        return pooled
    if proof < mark.times_more * largest:
        return 1.0
    by_pairs = float((scaled >= largest).mean() ** (proof / largest))
    rate = float(((near - met.spent + 1) / (met.size + 1))[beside].max())
    by_rows = float(binom.sf(proof - 1, item.trials[pair], min(rate, 1.0)))
    return max(pooled, len(beside) * min(by_pairs, by_rows))
