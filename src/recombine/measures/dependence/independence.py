"""Does a prediction depend on a factor beyond the one it should depend on? A test with an effect size and its null.

A model that generalises compositionally has I(prediction; factor j | factor i) = 0 for the factors j it should ignore
(Li et al. 2020, section 3). The null is the same estimate with factor j shuffled among rows of equal factor i.

Shuffling keeps both margins of every stratum, and the counts that result are a chain of hypergeometric draws. They are
drawn as counts, so the cost goes with the number of entries and not with the number of rows; only strata that are
sparse (more entries than rows, roughly) are shuffled row by row, where that is cheaper. Both are the same distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from enum import StrEnum

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.measures.dependence.contingency import Contingency, count_logs

#: Estimates that differ by less (in bits) are ties: sums of logarithms are not exact.
TIE_BITS = 1e-10
#: Cost of one hypergeometric draw in units of shuffling one row, and of looking at a stratum on its own.
DRAW_COST, STRATUM_COST = 3, 4
#: Numbers that are held at a time.
MAX_SHUFFLED_ENTRIES = 2_000_000


class DependenceState(StrEnum):
    """Whether a prediction was found to depend on a factor; ``CANNOT_TELL`` where the factor varies in no row."""

    DEPENDS = "depends"
    NOT_FOUND = "no dependence found"
    CANNOT_TELL = "cannot tell"

    def __repr__(self) -> str:
        return repr(self.value)


@record
class Independence:
    """A test whether a prediction depends on a factor beyond another one. Make one with `independence_test`."""

    estimate: float  #: I(prediction; factor | given) in bits.
    null: FloatArray  #: The same estimate with the factor shuffled among rows of equal ``given``.
    entropy: float  #: H(prediction | given) in bits (plug-in): what the given factor leaves open.
    freedom: int  #: Degrees of freedom: the sum over strata of (predictions - 1)(levels - 1).
    rows: int
    levels: tuple[int, int, int]  #: Different values of prediction, factor and given.
    varied: float  #: Share of the rows at levels of the given factor where the factor varies: only these can tell.
    bins: dict[str, int] = field(default_factory=dict)  #: Into how many bins columns of measurements were cut.

    @property
    def null_mean(self) -> float:
        """What the estimate is on average without any dependence, in bits."""
        return float(self.null.mean())

    @property
    def null_sd(self) -> float:
        """How much that varies, in bits."""
        return float(self.null.std())

    @property
    def excess(self) -> float:
        """The dependence in bits: the estimate minus the mean of its null."""
        return self.estimate - self.null_mean

    @property
    def effect(self) -> float:
        """The dependence as a share of what the given factor leaves open; 0 where it leaves nothing open."""
        return self.excess / self.entropy if self.entropy > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Chance of an estimate at least as large without any dependence: (1 + shuffles that reach it) / (1 + all)."""
        return (1 + int((self.null >= self.estimate - TIE_BITS).sum())) / (1 + len(self.null))

    def threshold(self, level: float = 0.05) -> float:
        """Return the excess in bits from which on the p-value falls below ``level``."""
        return float(np.quantile(self.null, 1 - level) - self.null_mean)

    def verdict(self, level: float = 0.05, p_value: float | None = None) -> DependenceState:
        """Return whether a dependence was found at a ``level``; an adjusted p-value may be passed in."""
        if not self.varied:
            return DependenceState.CANNOT_TELL
        chance = self.p_value if p_value is None else p_value
        return DependenceState.DEPENDS if chance <= level else DependenceState.NOT_FOUND


def independence_of(
    table: Contingency,
    permutations: int,
    generator: np.random.Generator,
    *,
    corrected: bool = True,
    bins: dict[str, int] | None = None,
) -> Independence:
    """Run `independence_test` on counts."""
    estimate = table.information(corrected=corrected)
    total, occupied = null_sums(table, permutations, generator)
    free = changeable_entries(table)
    gain = total - count_logs(table.counts[free])
    if corrected:
        gain -= (occupied - int(free.sum())) / (2 * math.log(2))
    return Independence(
        estimate,
        estimate + gain / table.rows,
        table.entropy,
        int(table.freedom.sum()),
        table.rows,
        (int(table.prediction.max()) + 1, int(table.factor.max()) + 1, len(table.sizes)),
        float(table.sizes[table.varied].sum() / table.rows),
        bins or {},
    )


def null_sums(table: Contingency, permutations: int, generator: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Return sum(c log2 c) over the entries, and the number of occupied entries, of shuffled tables.

    Entries of strata in which prediction or factor is constant do not change, so they are left out: take them from
    the table itself. Both results have shape (permutations,).
    """
    free = table.freedom > 0
    sparse = free & (DRAW_COST * table.freedom > table.sizes + STRATUM_COST)
    total, occupied = np.zeros(permutations), np.zeros(permutations, dtype=np.int64)
    numbers = np.arange(table.sizes.max() + 1, dtype=np.float64)
    logs = numbers * np.log2(np.maximum(numbers, 1.0))  # c log2 c, of 0 too
    for chunk in _chunks(table, np.flatnonzero(free & ~sparse), permutations):
        _draw(table, chunk, logs, generator, total, occupied)
    for stratum in np.flatnonzero(sparse):
        _shuffle(table, int(stratum), logs, generator, total, occupied)
    return total, occupied


def changeable_entries(table: Contingency) -> BoolArray:
    """Say which entries of the table a shuffle can change, shape (M,)."""
    free: BoolArray = table.freedom > 0
    return free[table.stratum]


def _chunks(table: Contingency, strata: IntArray, permutations: int) -> Iterator[IntArray]:
    """Strata in groups of like shape, each small enough to be held."""
    widths = np.bincount(table.predictions[0])[strata]
    strata = strata[np.argsort(widths, kind="stable")]
    limit = max(1, MAX_SHUFFLED_ENTRIES // permutations)
    start = 0
    while start < len(strata):
        widest = np.maximum.accumulate(np.sort(widths)[start:])
        stop = start + max(1, int(np.searchsorted(widest * np.arange(1, len(widest) + 1), limit, side="right")))
        yield strata[start:stop]
        start = stop


def _padded(margin: tuple[IntArray, IntArray, IntArray], strata: IntArray) -> IntArray:
    """Counts of the margin's levels in each of ``strata`` (S,), largest first and filled up with 0: (S, widest)."""
    rank = np.full(int(margin[0].max()) + 1, -1)
    rank[strata] = np.arange(len(strata))
    chosen = rank[margin[0]] >= 0
    row, counts = rank[margin[0][chosen]], margin[2][chosen]
    order = np.lexsort((-counts, row))
    row, counts = row[order], counts[order]
    lengths = np.bincount(row, minlength=len(strata))
    column = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    padded = np.zeros((len(strata), int(lengths.max())), dtype=np.int64)
    padded[row, column] = counts
    return padded


def _draw(
    table: Contingency,
    strata: IntArray,
    logs: FloatArray,
    generator: np.random.Generator,
    total: FloatArray,
    occupied: IntArray,
) -> None:
    """Draw the tables of some strata at once, level of the factor by level, prediction by prediction."""
    predictions, factors = _padded(table.predictions, strata), _padded(table.factors, strata)
    last_prediction = (predictions > 0).sum(axis=1) - 1
    last_factor = (factors > 0).sum(axis=1) - 1
    pool = np.repeat(predictions.T[:, None], len(total), axis=1)  # (K, permutations, S): rows not yet given a level
    for level in range(factors.shape[1]):
        remaining = np.broadcast_to(factors[:, level], pool.shape[1:]).copy()
        behind = pool.sum(axis=0)
        for index, good in enumerate(pool):
            behind -= good
            # The last level takes the rest of every prediction, and the last prediction the rest of every level.
            drawn = np.where(last_factor <= level, good, remaining)
            undecided = (last_factor > level) & (last_prediction > index)
            drawn[:, undecided] = generator.hypergeometric(
                good[:, undecided], behind[:, undecided], remaining[:, undecided]
            )
            remaining -= drawn
            good -= drawn
            total += logs[drawn].sum(axis=1)
            occupied += np.count_nonzero(drawn, axis=1)


def _shuffle(
    table: Contingency,
    stratum: int,
    logs: FloatArray,
    generator: np.random.Generator,
    total: FloatArray,
    occupied: IntArray,
) -> None:
    """Shuffle the rows of one stratum."""
    inside = slice(*np.searchsorted(table.stratum, [stratum, stratum + 1]))
    counts = table.counts[inside]
    levels = [np.unique(codes[inside], return_inverse=True)[1] for codes in (table.prediction, table.factor)]
    prediction, factor = (np.repeat(codes.reshape(-1), counts) for codes in levels)
    entries = (int(prediction.max()) + 1) * (int(factor.max()) + 1)
    step = max(1, MAX_SHUFFLED_ENTRIES // max(len(factor), entries))
    for start in range(0, len(total), step):
        batch = np.arange(len(total))[start : start + step]
        shuffled = generator.permuted(np.tile(factor, (len(batch), 1)), axis=1)
        ids = (batch - start)[:, None] * entries + prediction * (int(factor.max()) + 1) + shuffled
        tables = np.bincount(ids.reshape(-1), minlength=len(batch) * entries).reshape(len(batch), entries)
        total[batch] += logs[tables].sum(axis=1)
        occupied[batch] += np.count_nonzero(tables, axis=1)
