"""Certificates: signed seen cells that add up to an unseen one, checked in integer arithmetic.

If y(b,2) = y(b,1) + y(a,2) - y(a,1) holds for every function that adds at the model's order, then the three seen cells
give the unseen one. Two factors at order 1: a shortest path. Else first a single cube of cells, the shortest relation
there is at any order, then the smallest sum of absolute weights by linear programming.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions, Subset, canonical, distinct
from recombine.cells.scaled import ScaledConjunctions
from recombine.cells.seen import SeenCells
from recombine.errors import SolverError
from recombine.theory.identification.level_graph import is_graph, level_graph, shortest_path
from recombine.theory.identification.signed_sums import Terms, balances, signed_sum
from recombine.writing import printable

#: Labels of each factor's levels, or what writes a cell.
Names = Sequence[Sequence[object]] | Callable[[Sequence[int]], str]

#: Seen cells looked at, over all ways to let several factors change together, in search of a cube.
MAX_CUBE_CELLS_SEARCHED = 5_000_000
#: Weights with a larger denominator are written in decimals.
MAX_DENOMINATOR_WRITTEN = 9_999


@dataclass(frozen=True)
class Certificate:
    """Signed seen cells ``cells`` (m, C), positive ``weights`` (m,) first, whose sum is the ``cell``.

    Examples
    --------
    >>> features = Conjunctions((2, 2))
    >>> seen = SeenCells(features, np.array([[0, 0], [0, 1], [1, 0]]))
    >>> found = certificate(features, seen, np.array([1, 1]))
    >>> found.text([["a", "b"], ["1", "2"]]), found.verified
    ('y(b,2) = y(b,1) + y(a,2) - y(a,1)', True)
    """

    cell: tuple[int, ...]
    cells: IntArray
    weights: tuple[Fraction, ...]
    verified: bool  #: Whether the rows of conjunctions were checked to agree exactly.
    names: Names | None = field(default=None, compare=False, repr=False)  #: How levels are written; None: as codes.

    def __len__(self) -> int:
        return len(self.weights)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return printable(f"Certificate({self})")

    def value(self, outcomes: FloatArray) -> float:
        """Return the cell's value from the ``outcomes`` (m,) of its seen cells."""
        return float(np.dot([float(weight) for weight in self.weights], outcomes))

    def text(self, levels: Names | None = None) -> str:
        """Write the certificate as an equation; ``levels`` names them, one list per factor, or names a whole cell."""
        levels = self.names if levels is None else levels
        terms = [
            _signed(weight) + _named(row, levels) for row, weight in zip(self.cells.tolist(), self.weights, strict=True)
        ]
        return f"{_named(self.cell, levels)} = {' '.join(terms).removeprefix('+ ')}"


def _named(cell: Sequence[int], levels: Names | None) -> str:
    if callable(levels):
        return f"y({levels(cell)})"
    names = [str(levels[factor][level]) if levels else str(level) for factor, level in enumerate(cell)]
    return f"y({','.join(names)})"


def _signed(weight: Fraction) -> str:
    size = written_weight(weight)
    return f"{'-' if weight < 0 else '+'} {size}{' ' if size else ''}"


def written_weight(weight: Fraction) -> str:
    """Write the size of a weight: nothing for 1, a fraction where that can be read, else four digits.

    Examples
    --------
    >>> [written_weight(Fraction(*pair)) for pair in ((-1, 1), (-3, 2), (123_456_789, 987_654_321_000))]
    ['', '3/2', '0.000125']
    """
    if abs(weight) == 1:
        return ""
    return str(abs(weight)) if weight.denominator <= MAX_DENOMINATOR_WRITTEN else f"{abs(float(weight)):.4g}"


def certificate(features: Conjunctions, seen: SeenCells, cell: IntArray) -> Certificate:
    """Return a short certificate of a seen or determined ``cell`` (C,); of others there is none (`SolverError`).

    It is verified exactly. ``verified`` is False only where the design was too large for the linear program and the
    weights are those of least squares in floating point: right to about 1e-8, and many.

    Examples
    --------
    >>> features = Conjunctions((2, 2, 2), order=1)
    >>> seen = SeenCells(features, np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]]))
    >>> print(certificate(features, seen, np.array([1, 1, 0])))
    y(1,1,0) = y(0,1,0) + y(1,0,0) - y(0,0,0)
    """
    if features.following:
        in_full, few = _freed(features, seen)
        short = certificate(features.freed, few, cell[list(features.free)])
        return Certificate(tuple(cell.tolist()), in_full(short.cells), short.weights, short.verified)
    target = canonical(cell[None, :], features.symmetric)[0]
    if seen.holds(target[None, :])[0]:
        return _checked(features, target, {tuple(target.tolist()): Fraction(1)})
    if is_graph(features) and not isinstance(features, ScaledConjunctions):
        terms = _by_path(features, seen.cells, target)
    else:
        terms = cube_terms(features, seen, target) or signed_sum(features, seen.cells, target)
    if not terms:
        raise SolverError(f"no sum of seen cells gives cell {tuple(cell.tolist())}; check that it is determined")
    return _checked(features, target, terms)


def _checked(features: Conjunctions, target: IntArray, terms: Terms) -> Certificate:
    ordered = sorted(((row, weight) for row, weight in terms.items() if weight), key=lambda term: term[1] < 0)
    cells = np.array([row for row, _ in ordered], dtype=np.int64).reshape(-1, len(target))
    weights = tuple(weight for _, weight in ordered)
    return Certificate(tuple(target.tolist()), cells, weights, balances(features, target, terms))


def _by_path(features: Conjunctions, seen: IntArray, target: IntArray) -> Terms:
    """Alternate signs along a shortest path; an odd cycle on each side, at half weight, joins two components."""
    graph = level_graph(features, seen)
    offset = features.sizes[0]
    level1, level2 = int(target[0]), int(target[1])
    walks = [(shortest_path(graph, level1, level2 + offset), Fraction(1))]
    if not walks[0][0] and features.symmetric:
        walks = [(shortest_path(graph, level, level + offset), Fraction(1, 2)) for level in (level1, level2)]
    terms: Terms = defaultdict(Fraction)
    for walk, size in walks:
        for step, pair in enumerate(itertools.pairwise(walk)):
            edge = np.array([sorted(pair)]) - [0, offset]
            terms[tuple(canonical(edge, features.symmetric)[0].tolist())] += size * (-1) ** step
    return terms if all(walk for walk, _ in walks) else {}


def cube_terms(features: Conjunctions, seen: SeenCells, target: IntArray) -> Terms:
    """Look for order + 1 groups of factors with other levels such that all other corners of that cube are seen.

    Such a cube is the shortest certificate there is: at order 1, three cells. Each group is one factor where possible,
    or several that change together. Quick at any size; empty where no such cube is found.
    """
    if features.following:
        in_full, few = _freed(features, seen)
        cube = cube_terms(features.freed, few, target[list(features.free)])
        rows = in_full(np.array(list(cube), dtype=np.int64).reshape(-1, len(features.free)))
        return dict(zip(map(tuple, rows.tolist()), cube.values(), strict=True))
    budget, apart = MAX_CUBE_CELLS_SEARCHED, _Apart(seen, target)
    for groups in _groupings(len(target), features.order + 1):
        # One factor to a group is what most designs have and is always tried.
        budget -= 0 if max(map(len, groups)) == 1 else len(seen)
        if budget < 0:
            break
        flipped = [factor for group in groups for factor in group]
        opposite = apart.opposite(flipped)
        corners = [corner for size in range(1, len(groups)) for corner in itertools.combinations(groups, size)]
        for corner in corners:
            opposite = opposite[seen.holds(_with(target, opposite, sum(corner, ())))] if len(opposite) else opposite
        if len(opposite):
            terms: Terms = defaultdict(Fraction)
            for corner in [*corners, groups]:
                row = canonical(_with(target, opposite[:1], sum(corner, ())), features.symmetric)[0]
                terms[tuple(row.tolist())] += Fraction((-1) ** (len(corner) + 1))
            return terms
    return {}


def _groupings(factors: int, count: int) -> Iterator[tuple[Subset, ...]]:
    """Yield the ways to choose ``count`` disjoint groups of factors, fewest factors first."""
    for size in range(count, factors + 1):
        for chosen in itertools.combinations(range(factors), size):
            yield from _partitions(chosen, count)


def _partitions(members: Subset, count: int) -> Iterator[tuple[Subset, ...]]:
    """Yield the ways to divide ``members`` into ``count`` groups, none empty."""
    if count == 1:
        yield (members,)
        return
    head, tail = members[0], members[1:]
    for size in range(len(members) - count + 1):
        for company in itertools.combinations(tail, size):
            ungrouped = tuple(member for member in tail if member not in company)
            for groups in _partitions(ungrouped, count - 1):
                yield ((head, *company), *groups)


def _freed(features: Conjunctions, seen: SeenCells) -> tuple[Callable[[IntArray], IntArray], SeenCells]:
    """Return the seen cells by their free factors alone, and a function that gives such cells back in full."""
    free = list(features.free)

    def in_full(cells: IntArray) -> IntArray:
        _, inverse = distinct(np.vstack([seen.cells[:, free], cells]))
        row = np.zeros(len(inverse), dtype=np.int64)
        row[inverse[: len(seen)]] = np.arange(len(seen))
        return np.asarray(seen.cells[row[inverse[len(seen) :]]])

    return in_full, SeenCells(features.freed, seen.cells[:, free])


class _Apart:
    """The seen cells, in every order of interchangeable levels, by the factors in which they differ from a target."""

    def __init__(self, seen: SeenCells, target: IntArray) -> None:
        self.cells = np.concatenate(list(seen.arrangements()))
        self.differs = self.cells != target
        self.count = self.differs.sum(axis=1)
        self._rows: dict[int, IntArray] = {}

    def opposite(self, flipped: Sequence[int]) -> IntArray:
        """Return those that differ on all of ``flipped`` and agree elsewhere, (M, C)."""
        many = len(flipped)
        rows = self._rows.setdefault(many, np.flatnonzero(self.count == many))
        return np.asarray(self.cells[rows[self.differs[rows][:, list(flipped)].all(axis=1)]])


def _with(target: IntArray, source: IntArray, factors: Sequence[int]) -> IntArray:
    """The target with ``factors`` taken from each row of ``source``."""
    cells = np.repeat(target[None, :], len(source), axis=0)
    cells[:, list(factors)] = source[:, list(factors)]
    return cells
