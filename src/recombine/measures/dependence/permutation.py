"""Tables under the null hypothesis: the factor shuffled among the rows of each stratum.

Shuffling keeps both margins of every stratum, and the counts that result are a chain of hypergeometric draws. They are
drawn as counts, so the cost goes with the number of entries and not with the number of rows; only strata that are
sparse (more entries than rows, roughly) are shuffled row by row, where that is cheaper. Both are the same distribution.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.measures.dependence.contingency import Contingency

#: Cost of one hypergeometric draw in units of shuffling one row, and of looking at a stratum on its own.
DRAW_COST, STRATUM_COST = 3, 4
#: Numbers that are held at a time.
MAX_SHUFFLED_ENTRIES = 2_000_000

Generator = np.random.Generator


def null_sums(table: Contingency, permutations: int, generator: Generator) -> tuple[FloatArray, IntArray]:
    """Return sum(c log2 c) over the entries, and the number of occupied entries, of shuffled tables.

    Entries of strata in which prediction or factor is constant do not change, so they are left out: take them from
    the table itself. Both results have shape (permutations,).
    """
    free = table.freedom > 0
    sparse = free & (DRAW_COST * table.freedom > table.sizes + STRATUM_COST)
    total, occupied = np.zeros(permutations), np.zeros(permutations, dtype=np.int64)
    logs = _count_logs(int(table.sizes.max()))
    for chunk in _chunks(table, np.flatnonzero(free & ~sparse), permutations):
        _draw(table, chunk, logs, generator, total, occupied)
    for stratum in np.flatnonzero(sparse):
        _shuffle(table, int(stratum), logs, generator, total, occupied)
    return total, occupied


def changeable_entries(table: Contingency) -> BoolArray:
    """Say which entries of the table a shuffle can change, shape (M,)."""
    free: BoolArray = table.freedom > 0
    return free[table.stratum]


def _count_logs(largest: int) -> FloatArray:
    """Return c log2 c for c from 0 to ``largest``."""
    numbers = np.arange(largest + 1, dtype=np.float64)
    return numbers * np.log2(np.maximum(numbers, 1.0))


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
    table: Contingency, strata: IntArray, logs: FloatArray, generator: Generator, total: FloatArray, occupied: IntArray
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
    table: Contingency, stratum: int, logs: FloatArray, generator: Generator, total: FloatArray, occupied: IntArray
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
