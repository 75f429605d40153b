"""Which cells can exist: the full product of all levels, or what nesting and structural zeros leave of it.

Whatever is left is kept as a product again, of parts. A part is a list of combinations of some factors: all levels of
one factor, each plant with the one treatment it had, or a list of whole cells. So products of any size are counted,
drawn from and asked about without being written out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, product_size
from recombine.cells.conjunctions import Subset, canonical, contains, distinct, every_cell


def follows(cells: IntArray, child: int, parent: int) -> bool:
    """Say whether each level of factor ``child`` goes with one level of factor ``parent`` in ``cells`` (N, C)."""
    return broken_at(cells, child, parent) is None


def broken_at(cells: IntArray, child: int, parent: int) -> int | None:
    """Return a level of factor ``child`` that goes with two levels of factor ``parent``, None if there is none."""
    only = np.full(int(cells[:, child].max(initial=0)) + 1, -1)
    only[cells[:, child]] = cells[:, parent]
    wrong = cells[only[cells[:, child]] != cells[:, parent], child]
    return int(wrong[0]) if len(wrong) else None


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations of some factors that can exist, whatever the levels of the other factors are.

    Examples
    --------
    >>> Combinations((0, 1), np.array([[0], [1], [2]]), twins=True).count
    6
    """

    places: tuple[int, ...]  #: The factors.
    #: Distinct combinations; of interchangeable factors the levels, shape (n, 1), any of which may stand anywhere.
    table: IntArray
    twins: bool = False  #: Whether the factors are interchangeable.

    @property
    def count(self) -> int:
        """Number of combinations, unordered among interchangeable factors."""
        return math.comb(len(self.table) + len(self.places) - 1, len(self.places)) if self.twins else len(self.table)

    @property
    def span(self) -> int:
        """Number of combinations before twins are taken together."""
        return product_size([len(self.table)] * len(self.places)) if self.twins else len(self.table)

    @cached_property
    def rows(self) -> IntArray:
        """The combinations written out, shape (count, len(places))."""
        if not self.twins:
            return self.table
        ordered = self.table[:, 0][every_cell([len(self.table)] * len(self.places))]
        return ordered[(np.diff(ordered, axis=1) >= 0).all(axis=1)]

    def column(self, factor: int) -> IntArray:
        """Return the levels of the factor at ``factor`` over the table, shape (n,)."""
        return self.table[:, 0] if self.twins else self.table[:, self.places.index(factor)]

    def known(self, present: Sequence[BoolArray]) -> Combinations:
        """Return the combinations of levels that are ``present``, one mask per factor of the design."""
        factors = self.places[:1] if self.twins else self.places
        masks = [present[factor][self.table[:, column]] for column, factor in enumerate(factors)]
        return Combinations(self.places, self.table[np.logical_and.reduce(masks)], self.twins)

    def draw(self, number: int, generator: np.random.Generator) -> IntArray:
        """Draw combinations uniformly, shape (number, len(places))."""
        if not self.twins:
            return self.table[generator.integers(0, len(self.table), size=number)]
        return self.table[:, 0][_random_multisets(len(self.table), len(self.places), number, generator)]


def _random_multisets(levels: int, members: int, number: int, generator: np.random.Generator) -> IntArray:
    """Draw uniform multisets: sorted distinct numbers below levels + members - 1, less their positions."""
    drawn = np.sort(generator.integers(0, levels + members - 1, size=(number, members)), axis=1)
    while len(clash := np.flatnonzero((np.diff(drawn, axis=1) == 0).any(axis=1))):
        drawn[clash] = np.sort(generator.integers(0, levels + members - 1, size=(len(clash), members)), axis=1)
    return drawn - np.arange(members)


@dataclass(frozen=True, eq=False)
class Possible:
    """The cells that can exist, as a product of parts; build the full product with `Possible.product`.

    ``sizes`` are the numbers of levels of each factor, ``symmetric`` the groups of interchangeable factors. Every
    factor is in one of the ``parts``.

    Examples
    --------
    >>> everything = Possible.product((4, 2, 3))
    >>> everything.count, everything.whole
    (24, True)
    >>> plants = Combinations((0, 1), np.array([[0, 0], [1, 0], [2, 1], [3, 1]]))
    >>> nested = Possible((4, 2, 3), (), (plants, everything.parts[2]))
    >>> nested.count, nested.holds(np.array([[0, 0, 2], [0, 1, 2]])).tolist()
    (12, [True, False])
    """

    sizes: tuple[int, ...]
    symmetric: tuple[Subset, ...]
    parts: tuple[Combinations, ...]

    @classmethod
    def product(cls, sizes: Sequence[int], symmetric: Sequence[Subset] = ()) -> Possible:
        """Return the full product of ``sizes`` levels."""
        grouped = {factor for group in symmetric for factor in group}
        groups = sorted([*map(tuple, symmetric), *((factor,) for factor in range(len(sizes)) if factor not in grouped)])
        combinations = (Combinations(group, np.arange(sizes[group[0]])[:, None], len(group) > 1) for group in groups)
        return cls(tuple(sizes), tuple(symmetric), tuple(combinations))

    @property
    def whole(self) -> bool:
        """Whether every cell of the full product can exist."""
        return all(
            (each.twins or len(each.places) == 1) and len(each.table) == self.sizes[each.places[0]]
            for each in self.parts
        )

    @property
    def count(self) -> int:
        """Number of cells that can exist (unordered inside symmetric groups)."""
        return math.prod(combinations.count for combinations in self.parts)

    @property
    def span(self) -> int:
        """Number of cells to write out in order to list them: symmetric ones in every order."""
        return math.prod(combinations.span for combinations in self.parts)

    def known(self, present: Sequence[BoolArray]) -> Possible:
        """Return the cells made of levels that are ``present``, one mask per factor."""
        return Possible(self.sizes, self.symmetric, tuple(combinations.known(present) for combinations in self.parts))

    def holds(self, cells: IntArray) -> BoolArray:
        """Say for each of ``cells`` (N, C) whether it can exist."""
        answer = np.ones(len(cells), dtype=bool)
        if self.whole:
            return answer
        ordered = canonical(cells, self.symmetric)
        for combinations in self.parts:
            if combinations.twins:
                answer &= np.isin(ordered[:, list(combinations.places)], combinations.table[:, 0]).all(axis=1)
            else:
                answer &= contains(combinations.table, ordered[:, list(combinations.places)])
        return answer

    def cells(self) -> IntArray:
        """Return all cells that can exist, sorted, shape (N, C); ask for `span` first."""
        if self.whole and not self.symmetric:
            return every_cell(self.sizes)
        grid = np.indices([combinations.count for combinations in self.parts]).reshape(len(self.parts), -1)
        cells = np.empty((grid.shape[1], len(self.sizes)), dtype=np.int64)
        for combinations, rows in zip(self.parts, grid, strict=True):
            cells[:, list(combinations.places)] = combinations.rows[rows]
        return distinct(canonical(cells, self.symmetric))[0]

    def draw(self, number: int, generator: np.random.Generator) -> IntArray:
        """Draw cells uniformly, shape (number, C)."""
        cells = np.empty((number, len(self.sizes)), dtype=np.int64)
        for combinations in self.parts:
            cells[:, list(combinations.places)] = combinations.draw(number, generator)
        return cells

    def ways(self, subset: Subset) -> int:
        """Return how many combinations of levels of the factors in ``subset`` can exist."""
        total = 1
        for index in {self._part_of[factor] for factor in subset}:
            combinations = self.parts[index]
            chosen = [factor for factor in subset if factor in combinations.places]
            if combinations.twins:
                total *= math.comb(len(combinations.table) + len(chosen) - 1, len(chosen))
            elif len(combinations.places) == 1:
                total *= len(combinations.table)
            else:
                columns = [combinations.places.index(factor) for factor in chosen]
                total *= len(distinct(combinations.table[:, columns])[0])
        return total

    @cached_property
    def _part_of(self) -> dict[int, int]:
        """The number of the part of each factor."""
        return {factor: index for index, combinations in enumerate(self.parts) for factor in combinations.places}

    def behind(self, first: int, second: int) -> FloatArray:
        """Return how many cells hold each pair of levels of two factors, shape (sizes[first], sizes[second]).

        Symmetric cells are counted in every order.
        """
        total = np.ones((self.sizes[first], self.sizes[second]))
        for combinations in self.parts:
            inside = [factor for factor in (first, second) if factor in combinations.places]
            if len(inside) == 2 and not combinations.twins:
                pairs = np.zeros_like(total)
                np.add.at(pairs, (combinations.column(first), combinations.column(second)), 1.0)
                total *= pairs
                continue
            for factor in inside:
                levels = np.bincount(combinations.column(factor), minlength=self.sizes[factor]).astype(float)
                total *= levels[:, None] if factor == first else levels
            if combinations.twins:
                total *= float(len(combinations.table)) ** (len(combinations.places) - len(inside))
            elif not inside:
                total *= float(len(combinations.table))
        return total

    @cached_property
    def following(self) -> tuple[int, ...]:
        """Places of factors whose level follows from another factor's in every cell, so that they add no effect.

        Of two factors that name the same thing the first is kept.
        """
        redundant: set[int] = set()
        for combinations in self.parts:
            for factor in () if combinations.twins else reversed(combinations.places):
                places = enumerate(combinations.places)
                rivals = [at for at, rival in places if rival != factor and rival not in redundant]
                if any(follows(combinations.table, at, combinations.places.index(factor)) for at in rivals):
                    redundant.add(factor)
        return tuple(sorted(redundant))
