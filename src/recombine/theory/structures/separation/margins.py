"""Hierarchical models by their margins: which effects of levels, and of pairs of levels, a cell's sum is made of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from recombine.cells.arrays import IntArray, product_size
from recombine.cells.conjunctions import Subset, mixed_radix, subsets
from recombine.errors import InputError


@dataclass(frozen=True)
class Margins:
    """A sum with one term per margin: a subset of the factors whose levels have a value together.

    Smaller subsets of a margin are in it already, so ``[(0, 1), (2,)]`` is the model of all three main effects and the
    interaction of the first two factors (log-linear models write it [AB][C]).

    Parameters
    ----------
    sizes : tuple of int
        Number of levels of each of the C factors.
    subsets : tuple of tuple of int
        The S margins; none inside another.

    Examples
    --------
    >>> model = Margins((2, 3, 2), ((0, 1), (2,)))
    >>> model.subsets, model.columns
    (((0, 1), (2,)), 8)
    >>> model.ids(np.array([[1, 2, 0]])).tolist()
    [[5, 6]]
    """

    sizes: tuple[int, ...]
    subsets: tuple[Subset, ...]

    @classmethod
    def of_order(cls, sizes: Sequence[int], order: int = 1) -> Margins:
        """Return the model with all interactions of up to ``order`` factors."""
        if not 1 <= order <= len(sizes):
            raise InputError(f"order {order} does not fit {len(sizes)} factors; choose one from 1 to {len(sizes)}")
        return cls(tuple(sizes), tuple(subsets(len(sizes), order)))

    @cached_property
    def block_sizes(self) -> tuple[int, ...]:
        """Number of combinations of levels in each margin, (S,)."""
        return tuple(product_size([self.sizes[factor] for factor in subset]) for subset in self.subsets)

    @property
    def columns(self) -> int:
        """Number of values F that the model has, one per combination of levels in a margin."""
        return sum(self.block_sizes)

    def coded(self, cells: IntArray) -> IntArray:
        """Return the cells with one column per margin instead of one per factor, (N, C) -> (N, S).

        In these columns the model is one of main effects alone.
        """
        levels = [mixed_radix(cells[:, list(subset)], [self.sizes[f] for f in subset]) for subset in self.subsets]
        return np.stack(levels, axis=1)

    def ids(self, cells: IntArray) -> IntArray:
        """Return the numbers of the values that each cell's sum is made of, (N, C) -> (N, S)."""
        return np.asarray(self.coded(cells) + np.cumsum([0, *self.block_sizes[:-1]]), dtype=np.int64)

    def incidence(self, cells: IntArray) -> csr_array:
        """Return the integer matrix of 0 and 1 with a row per cell, (N, F)."""
        ids = self.ids(cells)
        pointers = np.arange(0, ids.size + 1, ids.shape[1])
        return csr_array(
            (np.ones(ids.size, dtype=np.int64), ids.reshape(-1), pointers), shape=(len(cells), self.columns)
        )

    def terms(self) -> Iterator[Subset]:
        """Yield the subsets of factors with effects of their own: every non-empty part of a margin, smallest first."""
        terms = {factors for subset in self.subsets for factors in _parts(subset)}
        yield from sorted(terms, key=lambda factors: (len(factors), factors))


def _parts(subset: Subset) -> Iterator[Subset]:
    for size in range(1, len(subset) + 1):
        yield from itertools.combinations(subset, size)
