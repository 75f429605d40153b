"""Columns to counts, and information in bits from these: what a factor tells about a prediction, or beyond a stratum.

Estimates from counts are biased upwards, corrected or not: `independence` sets them against their null.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import distinct, mixed_radix
from recombine.errors import InputError

#: Floating-point columns with more distinct values than this are measurements and are cut into bins.
MAX_DISTINCT_VALUES = 20
#: A table of counts is filled directly up to this many entries per row of data; beyond, rows are sorted.
MAX_ENTRIES_PER_ROW = 4


def bin_edges(values: FloatArray, bins: int) -> FloatArray:
    """Return where to cut ``values`` (N,) into bins of about equal counts: at most ``bins`` - 1 increasing points.

    A value that fills more than a bin takes several: there are then fewer bins, but never one only unless all values
    are equal.

    Examples
    --------
    >>> bin_edges(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist(), bin_edges(np.array([0.0, 5.0, 5.0, 5.0]), 2).tolist()
    ([2.5], [0.0])
    """
    if bins < 2:
        raise InputError(f"{bins} bins cannot show a dependence; use at least 2")
    # As many bins as values already part all that differ; more would only take memory.
    bins = min(bins, max(len(values), 2))
    points = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    points = points[points < values.max()]
    below = values[values < values.max()]
    return points if len(points) or not len(below) else np.array([below.max()])


@record
class Contingency:
    """How often each (stratum, prediction, factor) occurs: the occupied entries only.

    Attributes
    ----------
    stratum, prediction, factor : int arrays of shape (M,)
        Codes without gaps, sorted by stratum.
    counts : int array of shape (M,)

    Examples
    --------
    >>> table = Contingency.of([0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0])
    >>> table.rows, table.counts.tolist(), table.freedom.tolist()
    (4, [1, 1, 2], [1])
    """

    stratum: IntArray
    prediction: IntArray
    factor: IntArray
    counts: IntArray

    @classmethod
    def of(
        cls,
        prediction: npt.ArrayLike,
        factor: npt.ArrayLike,
        stratum: npt.ArrayLike,
        counts: npt.ArrayLike | None = None,
    ) -> Contingency:
        """Count the rows of three coded columns (N,); with ``counts`` (N,) a row stands for that many."""
        columns = [np.asarray(column, dtype=np.int64) for column in (stratum, prediction, factor)]
        weights = None if counts is None else np.asarray(counts)
        if len({column.shape for column in ([*columns] if weights is None else [*columns, weights])}) > 1:
            lengths = ", ".join(str(len(column)) for column in columns[1:] + columns[:1])
            more = "" if weights is None else f" and counts {len(weights)}"
            raise InputError(f"prediction, factor and given have {lengths} rows{more}; give one value per row in each")
        occupied, numbers = _counted(np.stack(columns, axis=1), weights)
        dense = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in occupied.T]
        return cls(dense[0], dense[1], dense[2], numbers)

    @property
    def rows(self) -> int:
        """Number of rows N that were counted."""
        return int(self.counts.sum())

    @cached_property
    def predictions(self) -> tuple[IntArray, IntArray, IntArray]:
        """Stratum, prediction and count of each pair of them that occurs, sorted by stratum."""
        return _margin(self.stratum, self.prediction, self.counts)

    @cached_property
    def factors(self) -> tuple[IntArray, IntArray, IntArray]:
        """Stratum, factor and count of each pair of them that occurs, sorted by stratum."""
        return _margin(self.stratum, self.factor, self.counts)

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of each stratum, shape (S,)."""
        return np.bincount(self.stratum, weights=self.counts).astype(np.int64)

    @cached_property
    def freedom(self) -> IntArray:
        """Degrees of freedom of each stratum: (predictions - 1)(levels - 1), shape (S,)."""
        return (np.bincount(self.predictions[0]) - 1) * (np.bincount(self.factors[0]) - 1)

    @property
    def varied(self) -> BoolArray:
        """Whether the factor has two levels or more in a stratum, shape (S,): elsewhere nothing can be told."""
        return np.bincount(self.factors[0]) > 1

    def information(self, *, corrected: bool = True) -> float:
        """Return I(prediction; factor | stratum) in bits: c log c of entries, less both margins, plus strata, by rows.

        Examples
        --------
        >>> Contingency.of([0, 1], [0, 1], [0, 0], counts=[500, 500]).information(corrected=False)
        1.0
        """
        pairs, levels = self.predictions[2], self.factors[2]
        gain = count_logs(self.counts) - count_logs(pairs) - count_logs(levels) + count_logs(self.sizes)
        if corrected:
            gain += (len(pairs) + len(levels) - len(self.counts) - len(self.sizes)) / (2 * math.log(2))
        return gain / self.rows

    @property
    def entropy(self) -> float:
        """H(prediction | stratum) in bits (plug-in); exactly 0 where each stratum has one prediction.

        Examples
        --------
        >>> Contingency.of([0, 1, 1], [0, 0, 0], [0, 0, 1], counts=[2, 2, 4]).entropy
        0.5
        """
        if len(self.predictions[2]) == len(self.sizes):
            return 0.0
        return (count_logs(self.sizes) - count_logs(self.predictions[2])) / self.rows


def count_logs(counts: IntArray) -> float:
    """Return the sum of c log2 c over ``counts`` (M,), all at least 1.

    Examples
    --------
    >>> count_logs(np.array([1, 2, 4]))
    10.0
    """
    return float((counts * np.log2(counts)).sum())


def _margin(first: IntArray, second: IntArray, counts: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    pairs, numbers = _counted(np.stack([first, second], axis=1), counts)
    return pairs[:, 0], pairs[:, 1], numbers


def _counted(cells: IntArray, counts: npt.NDArray[Any] | None) -> tuple[IntArray, IntArray]:
    """Distinct rows of ``cells`` (N, C), sorted, and how often each occurs."""
    sizes = tuple(int(size) for size in cells.max(axis=0) + 1)
    if product_size(sizes) > max(MAX_ENTRIES_PER_ROW * len(cells), 1_000_000):
        occupied, inverse = distinct(cells)
        return occupied, np.bincount(inverse, weights=counts).astype(np.int64)
    table = np.bincount(mixed_radix(cells, sizes), weights=counts)
    ids = np.flatnonzero(table)
    return np.stack(np.unravel_index(ids, sizes), axis=1).astype(np.int64), table[ids].astype(np.int64)
