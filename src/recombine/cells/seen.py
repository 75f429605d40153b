"""Is this cell one of the seen ones? The same answer for products of any size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray, product_size
from recombine.cells.conjunctions import MAX_ID, Conjunctions, canonical, column_orders, contains, distinct, mixed_radix

#: Products up to this many cells get one byte per cell.
MAX_MASKED_CELLS = 2**26


class SeenCells:
    """The distinct seen cells, with fast membership.

    ``features`` give the sizes and which factors are interchangeable; ``cells`` (N, C) may be repeated, in any order.

    Examples
    --------
    >>> seen = SeenCells(Conjunctions((2, 2)), np.array([[0, 1], [0, 1], [1, 1]]))
    >>> len(seen), seen.holds(np.array([[0, 0], [0, 1]])).tolist()
    (2, [False, True])
    """

    def __init__(self, features: Conjunctions, cells: IntArray) -> None:
        self.features = features
        self._given = canonical(cells, features.symmetric)
        self._size = product_size(features.sizes)

    @cached_property
    def cells(self) -> IntArray:
        """Distinct canonical cells, sorted, shape (N, C)."""
        if self._mask is None:
            return distinct(self._given)[0]
        return np.stack(np.unravel_index(np.flatnonzero(self._mask), self.features.sizes), axis=1).astype(np.int64)

    @cached_property
    def _mask(self) -> BoolArray | None:
        if self._size > MAX_MASKED_CELLS:
            return None
        mask = np.zeros(self._size, dtype=bool)
        mask[mixed_radix(self._given, self.features.sizes)] = True
        return mask

    @cached_property
    def _ids(self) -> IntArray:
        return np.sort(mixed_radix(self.cells, self.features.sizes))

    def __len__(self) -> int:
        return len(self.cells)

    def holds(self, cells: IntArray) -> BoolArray:
        """Say for each of ``cells`` (N, C) whether it was seen."""
        cells = canonical(cells, self.features.symmetric)
        if self._size > MAX_ID:
            return contains(self.cells, cells)
        ids = mixed_radix(cells, self.features.sizes)
        if self._mask is not None:
            return self._mask[ids]
        index = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.asarray(self._ids[index] == ids)

    def arrangements(self) -> Iterator[IntArray]:
        """Yield the distinct cells once for every order of interchangeable levels."""
        for order in column_orders(len(self.features.sizes), self.features.symmetric):
            yield self.cells[:, order]
