"""The seen cells as the solvers want them: levels renumbered, repeated rows merged, places in the product known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.cells.conjunctions import distinct, mixed_radix

#: A table over the whole product is made up to this many cells (128 MB), never beyond.
MAX_TABLE_CELLS = 2**24


@dataclass(frozen=True, eq=False)
class MergedCells:
    """Distinct seen cells in increasing order, and which rows they came from."""

    sizes: tuple[int, ...]
    where: IntArray  #: (N,): distinct cell of each row.
    counts: IntArray  #: (M,): rows of each distinct cell.
    #: (M,): position of each distinct cell in the flattened product; None where the product is too large to number.
    places: IntArray | None
    rows: IntArray | None

    @classmethod
    def of(cls, cells: IntArray) -> MergedCells:
        """Prepare ``cells`` (N, C) with integer levels from 0 up."""
        columns, sizes = zip(*[_renumber(column) for column in cells.T], strict=True)
        codes = np.stack(columns, axis=1)
        if product_size(sizes) <= MAX_TABLE_CELLS:
            return cls._by_table(codes, sizes)
        rows, inverse = distinct(codes)
        return cls(sizes, inverse, np.bincount(inverse), None, rows)

    @classmethod
    def _by_table(cls, codes: IntArray, sizes: tuple[int, ...]) -> MergedCells:
        """Counting into the product beats sorting, and leaves the cells in increasing order."""
        ids = mixed_radix(codes, sizes)
        table = np.bincount(ids, minlength=product_size(sizes))
        occupied = np.flatnonzero(table)
        counts = table[occupied]
        table[occupied] = np.arange(len(occupied))
        return cls(sizes, table[ids], counts, occupied, None)

    @cached_property
    def cells(self) -> IntArray:
        """The distinct cells with renumbered levels, shape (M, C)."""
        if self.rows is not None:
            return self.rows
        assert self.places is not None
        return np.stack(np.unravel_index(self.places, self.sizes), axis=1).astype(np.int64)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def repeated(self) -> bool:
        """Whether some cell has more than one row."""
        return len(self.where) > len(self.counts)

    @property
    def balanced_product(self) -> bool:
        """Whether every cell of the product was seen, each the same number of times."""
        return len(self) == product_size(self.sizes) and bool(self.counts.min() == self.counts.max())

    def average(self, outcome: FloatArray) -> FloatArray:
        """Return the mean of ``outcome`` (N, D) over the rows of each cell, shape (M, D)."""
        sums = [np.bincount(self.where, weights=column, minlength=len(self)) for column in outcome.T]
        return np.stack(sums, axis=1) / self.counts[:, None]


def _renumber(column: IntArray) -> tuple[IntArray, int]:
    """Return the column with its levels numbered 0..n-1 in order, and n."""
    top = int(column.max())
    if top > 4 * len(column) + 1000:
        levels, codes = np.unique(column, return_inverse=True)
        return codes, len(levels)
    present = np.bincount(column, minlength=top + 1) > 0
    if present.all():
        return column, top + 1
    rank = np.cumsum(present) - 1
    return rank[column], int(rank[-1]) + 1
