"""Conjunctions where some factors lie on a scale: a cell is a weighted sum of columns, one for each of its knots.

Columns keep their numbers: those of a level that is no knot belong to no cell. A subset of factors with scales gives a
cell one entry for every choice of one knot per such factor, whose weight is the product of the knots' weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions, Subset, sparse_rows
from recombine.cells.possible import Possible
from recombine.cells.scales import Scale
from recombine.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Which knot of each factor with a scale an entry belongs to: (factor, slot) pairs.
Picks = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class ScaledConjunctions(Conjunctions):
    """The additive model of one order where some factors lie on a `Scale`.

    ``scales`` holds one for each factor, None where levels are labels. Interchangeable factors share theirs.

    Examples
    --------
    >>> from recombine.cells.scales import place_levels
    >>> dose = place_levels("ordered", [0, 10, 20], [True, False, True])
    >>> model = ScaledConjunctions((2, 3), scales=(None, dose))
    >>> model.incidence(np.array([[1, 1]])).toarray().tolist(), model.rank
    ([[0.0, 1.0, 0.5, 0.0, 0.5]], 3)
    """

    scales: tuple[Scale | None, ...] = field(default=())

    @cached_property
    def curves(self) -> dict[int, Scale]:
        """The scales by factor, without those of labels."""
        return {factor: scale for factor, scale in enumerate(self.scales) if scale is not None}

    @property
    def saturated(self) -> bool:
        """Whether nothing follows from anything else: never where levels share a curve."""
        return False

    @cached_property
    def labelled(self) -> Conjunctions:
        """The same model without scales, every level a label."""
        return Conjunctions(self.sizes, self.order, self.symmetric, self.following)

    @cached_property
    def rank(self) -> int:
        """Rank of all cells of the full product of the free factors."""
        return self.rank_of([np.ones(size, dtype=bool) for size in self.sizes])

    def rank_of(self, present: Sequence[BoolArray]) -> int:
        """Return the rank of all cells made of levels that are ``present``, one mask per factor; knots count."""
        masks = [mask if scale is None else mask[scale.knots] for mask, scale in zip(present, self.scales, strict=True)]
        sizes = tuple(int(mask.sum()) for mask in masks)
        return Conjunctions(sizes, self.order, self.symmetric, self.following).rank

    def part(self, factors: Sequence[int], order: int) -> ScaledConjunctions:
        """Return the model of one order on the factors ``factors`` alone."""
        plain = super().part(factors, order)
        scales = tuple(self.scales[factor] for factor in factors)
        return ScaledConjunctions(plain.sizes, plain.order, plain.symmetric, scales=scales)

    def plain(self, cells: IntArray) -> bool:
        """Say whether every level of ``cells`` (N, C) is a label or a knot, so that all weights are 1."""
        return not any(scale.between[cells[:, factor]].any() for factor, scale in self.curves.items())

    def beyond(self, cells: IntArray) -> BoolArray:
        """Say which ``cells`` (N, C) hold a level outside the seen range, (N,)."""
        outside = np.zeros(len(cells), dtype=bool)
        for factor, scale in self.curves.items():
            outside |= scale.beyond[cells[:, factor]]
        return outside

    def present(self, seen: IntArray) -> list[BoolArray]:
        """Say for each factor which levels ``seen`` (N, C) tells of: labels that occur, and levels whose knots do."""
        masks = []
        for factor, (size, scale) in enumerate(zip(self.sizes, self.scales, strict=True)):
            group = next((group for group in self.symmetric if factor in group), (factor,))
            occurs = np.bincount(seen[:, list(group)].reshape(-1), minlength=size) > 0
            if scale is not None:
                used = scale.weights != 0
                knots = np.zeros(size, dtype=bool)
                knots[scale.slots[occurs][used[occurs]]] = True
                occurs = (knots[scale.slots] | ~used).all(axis=1) & ~scale.beyond
            masks.append(occurs)
        return masks

    def entries(self, cells: IntArray) -> Iterator[tuple[IntArray, Picks]]:
        """Yield the entries of the rows of ``cells`` (N, C): column numbers (N,), and which knots they belong to."""
        for subset in self.subsets:
            curved = [factor for factor in subset if factor in self.curves]
            for choice in itertools.product(*(range(self.curves[factor].slots.shape[1]) for factor in curved)):
                picks = tuple(zip(curved, choice, strict=True))
                yield self._block(subset, self._at_knots(cells, subset, dict(picks))), picks

    def _at_knots(self, cells: IntArray, subset: Subset, picks: dict[int, int]) -> IntArray:
        columns = [
            self.curves[factor].slots[cells[:, factor], picks[factor]] if factor in picks else cells[:, factor]
            for factor in subset
        ]
        return np.stack(columns, axis=1)

    def weights(self, cells: IntArray, picks: Picks) -> FloatArray:
        """Return the weights of one entry of the rows of ``cells`` (N, C), shape (N,)."""
        total = np.ones(len(cells))
        for factor, slot in picks:
            total = total * self.curves[factor].weights[cells[:, factor], slot]
        return total

    def fractions(self, cells: IntArray) -> list[dict[int, Fraction]]:
        """Return the rows of ``cells`` (N, C) exactly: column number -> weight, for each cell."""
        rows: list[dict[int, Fraction]] = [{} for _ in cells]
        curves = self.curves.items()
        shares = [{factor: scale.shares(cell[factor]) for factor, scale in curves} for cell in cells.tolist()]
        for ids, picks in self.entries(cells):
            for row, column, mine in zip(rows, ids.tolist(), shares, strict=True):
                weight = Fraction(1)
                for factor, slot in picks:
                    weight *= mine[factor][slot]
                row[column] = row.get(column, Fraction(0)) + weight
        return [{column: weight for column, weight in row.items() if weight} for row in rows]

    def occurring(self, cells: IntArray) -> IntArray:
        """Return the numbers of the columns that some of ``cells`` (N, C) have, ascending."""
        return np.unique(np.concatenate([ids[self.weights(cells, picks) != 0] for ids, picks in self.entries(cells)]))

    def incidence(self, cells: IntArray) -> csr_array:
        """Return the sparse matrix of weights, shape (N, F)."""
        entries = [(ids, self.weights(cells, picks)) for ids, picks in self.entries(cells)]
        ids, weights = (np.stack(blocks, axis=1) for blocks in zip(*entries, strict=True))
        matrix = sparse_rows(ids, self.columns, weights)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix

    def values(self, table: npt.NDArray[Any], cells: IntArray) -> npt.NDArray[Any]:
        """Return the model's value at each cell: ``table`` (F,) or (F, r) of column values -> (N,) or (N, r)."""
        total = np.zeros((len(cells), *table.shape[1:]))
        for ids, picks in self.entries(cells):
            weights = self.weights(cells, picks)
            total += table[ids] * (weights if table.ndim == 1 else weights[:, None])
        return total


class FactorShape(TypedDict, total=False):
    """What is known of the factors beside the seen cells, as `recombine.identify` takes it."""

    sizes: Sequence[int] | None
    symmetric: Sequence[Subset]
    possible: Possible | None
    scales: Sequence[Scale | None]


def additive_model(
    sizes: Sequence[int],
    order: int = 1,
    symmetric: Sequence[Subset] = (),
    following: Sequence[int] = (),
    scales: Sequence[Scale | None] = (),
) -> Conjunctions:
    """Return the additive model of one order, with scales where some level is no label of its own.

    Examples
    --------
    >>> type(additive_model((2, 3))).__name__
    'Conjunctions'
    """
    shape = tuple(sizes), order, tuple(symmetric), tuple(following)
    if not any(scale is not None and scale.between.any() for scale in scales):
        return Conjunctions(*shape)
    for factor, scale in enumerate(scales):
        if scale is not None and len(scale.places) != sizes[factor]:
            raise InputError(f"the scale of factor {factor} has {len(scale.places)} levels, not {sizes[factor]}")
    if len(scales) != len(shape[0]):
        raise InputError(f"there are {len(scales)} scales for {len(shape[0])} factors; give one each, None for labels")
    return ScaledConjunctions(*shape, tuple(scales))
