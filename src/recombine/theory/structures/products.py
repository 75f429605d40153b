"""Which products of numbers, one per level and of either sign, follow from seen products.

Sizes multiply as logarithms add, so a product's size follows where its sum does. Signs and zeros may leave it open: if
only its square is a product of seen ones, then all seen products stay as they are when some levels change sign, and
this one changes too: signs follow where a cell's row is a sum of seen rows modulo 2. A seen zero says that one of its
levels is zero, and nothing about the sizes of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import contains, distinct
from recombine.theory.identification.identify import Identification, identify
from recombine.verdicts import Verdict


@dataclass(frozen=True, eq=False)
class SeenProducts:
    """Seen ``cells`` (N, C), each once, and whether the product of each is zero, (N,).

    Examples
    --------
    >>> cells = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    >>> seen = SeenProducts.of(cells, np.array([6.0, 10.0, 15.0, 1.0]))
    >>> seen.sign_follows(np.array([[0, 0, 0]])), seen.size_follows(np.array([[0, 0, 0]]))
    (array([False]), array([ True]))
    """

    cells: IntArray
    zero: BoolArray

    @classmethod
    def of(cls, cells: IntArray, y: FloatArray) -> SeenProducts:
        """Return those of measurements (N,) of ``cells`` (N, C): a product is zero where all of them are."""
        rows, which = distinct(cells)
        return cls(rows, np.bincount(which, y != 0) == 0)

    @property
    def all_follow(self) -> bool:
        """Whether every cell whose sum follows has a product that does, whatever the cell."""
        return not len(self._zeros) and not self._flips.any()

    def sign_follows(self, cells: IntArray) -> BoolArray:
        """Say which of ``cells`` (N, C), whose sizes follow, have the same sign in all models, or are zero."""
        if not self._flips.any():
            return np.ones(len(cells), dtype=bool)
        flipped = np.bitwise_xor.reduce(self._flips[np.minimum(cells, self._sizes - 1) + self._starts], axis=1)
        return np.asarray((flipped == 0) | self._vanish(cells))

    def size_follows(self, cells: IntArray) -> BoolArray:
        """Say which of ``cells`` (N, C), whose sums follow, have the same size in all models."""
        if not len(self._zeros):
            return np.ones(len(cells), dtype=bool)
        if not len(self._nonzero):
            return self._vanish(cells)
        return np.asarray((self._nonzero_engine.verdicts_of(cells) <= Verdict.DETERMINED) | self._vanish(cells))

    @cached_property
    def _sizes(self) -> IntArray:
        return np.asarray(self.cells.max(axis=0) + 1)

    @cached_property
    def _starts(self) -> IntArray:
        """Where the columns of each factor begin, (C,)."""
        return np.cumsum(self._sizes) - self._sizes

    @cached_property
    def _nonzero(self) -> IntArray:
        """Seen cells whose product is not zero; all of them where no numbers give the zeros, which noise made then."""
        cells = self.cells[~self.zero]
        return cells if self._blamed(cells).any(axis=1).all() else self.cells

    def _blamed(self, cells: IntArray) -> BoolArray:
        """Say which levels of the cells that are zero may be zero, (Z, C): those without a product that is not."""
        used = np.zeros(int(self._sizes.sum()), dtype=bool)
        used[(cells + self._starts).ravel()] = True
        return np.asarray(~used[self.cells[self.zero] + self._starts])

    @cached_property
    def _zeros(self) -> IntArray:
        """Seen cells that are zero, with -1 for levels that are not, (Z, C)."""
        if len(self._nonzero) == len(self.cells):
            return self.cells[:0]
        return distinct(np.where(self._blamed(self._nonzero), self.cells[self.zero], -1) + 1)[0] - 1

    @cached_property
    def _nonzero_engine(self) -> Identification:
        return identify(self._nonzero, sizes=self._sizes.tolist())

    def _vanish(self, cells: IntArray) -> BoolArray:
        """Say which cells are zero in all models: they have all levels of which one seen zero has to be."""
        answer, zeros = np.zeros(len(cells), dtype=bool), self._zeros
        for pattern in distinct((zeros >= 0).astype(np.int64))[0].astype(bool):
            alike = zeros[((zeros >= 0) == pattern).all(axis=1)]
            answer |= contains(alike[:, pattern], cells[:, pattern])
        return answer

    @cached_property
    def _flips(self) -> npt.NDArray[np.uint64]:
        """Changes of sign by level that no seen product shows, 64 drawn at random, a bit each, (F,).

        A product whose sign is open shows in each of them with a chance of one half.
        """
        columns = self._nonzero + self._starts
        flips = np.zeros(int(self._sizes.sum()), dtype=np.uint64)
        if columns.shape[1] < 3 or not len(columns):  # paths of a graph: every sum has weights 1 and -1
            return flips
        enough = _largest_rank(columns)
        basis = _basis(columns, enough)
        if len(basis) == enough:
            return flips
        free = np.setdiff1d(columns, list(basis))
        flips[free] = np.random.default_rng(0).integers(0, 2**64, size=len(free), dtype=np.uint64)
        for pivot in sorted(basis, reverse=True):
            # Its ones, from the lowest on, which is the pivot itself.
            ones = [column for column, digit in enumerate(reversed(bin(basis[pivot])[2:])) if digit == "1"]
            flips[pivot] = np.bitwise_xor.reduce(flips[ones[1:]], initial=np.uint64(0))
        return flips


def _largest_rank(columns: IntArray) -> int:
    """Return the most rank that rows (N, C) can have: in each connected part a level per factor, but one, is free."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    width, factors = int(columns.max(initial=-1)) + 1, int(columns.shape[1])
    links = (columns[:, :1].repeat(factors - 1, axis=1).ravel(), columns[:, 1:].ravel())
    graph = coo_array((np.ones(len(links[0]), dtype=np.int8), links), shape=(width, width))
    components = connected_components(graph, directed=False)[1]
    levels = np.unique(columns)
    return len(levels) - (factors - 1) * len(np.unique(components[levels]))


def _basis(columns: IntArray, enough: int) -> dict[int, int]:
    """Return rows modulo 2 that span those with ones at ``columns`` (N, C), as bits, by their lowest bit."""
    # A row for every level first: together they have nearly the full rank, and few others are looked at.
    order = np.concatenate([np.unique(column, return_index=True)[1] for column in columns.T])
    order = np.concatenate([order, np.random.default_rng(0).permutation(len(columns))])
    basis: dict[int, int] = {}
    for row in columns[order].tolist():
        if len(basis) == enough:
            break
        bits = sum(1 << column for column in row)
        while bits:
            pivot = (bits & -bits).bit_length() - 1
            if pivot not in basis:
                basis[pivot] = bits
                break
            bits ^= basis[pivot]
    return basis
