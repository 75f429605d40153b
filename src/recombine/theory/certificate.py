"""Certificates: signed seen cells that add up to an unseen one, checked in integer arithmetic.

If y(b,2) = y(b,1) + y(a,2) - y(a,1) holds for every function that adds at the model's order, then the three seen cells
give the unseen one. Two factors at order 1: a shortest path. Else first a single cube of cells, the shortest relation
there is at any order, then the smallest sum of absolute weights by linear programming.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recombine.arrays import FloatArray, IntArray
from recombine.conjunctions import Conjunctions, canonical
from recombine.errors import SolverError
from recombine.theory.components import is_graph, level_graph, shortest_path
from recombine.theory.membership import SeenCells

#: Sizes of the pools of nearby cells that the linear program sees before it sees all of them.
POOLS = (400, 2_000, 8_000, 20_000)

#: Weights of a vertex are ratios of small determinants; denominators above this are not tried.
LARGEST_DENOMINATOR = 720

Terms = dict[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class Certificate:
    """Signed seen cells whose sum is the cell.

    Attributes
    ----------
    cell : tuple of int
        The cell that is given by the sum.
    cells : IntArray, (m, C)
        Seen cells, positive weights first.
    weights : tuple of Fraction, (m,)
        Their weights.
    verified : bool
        Whether the rows of conjunctions were checked to agree exactly.

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
    verified: bool

    def __len__(self) -> int:
        return len(self.weights)

    def __str__(self) -> str:
        return self.text()

    def value(self, outcomes: FloatArray) -> float:
        """Return the cell's value from the ``outcomes`` (m,) of its seen cells."""
        return float(np.dot([float(weight) for weight in self.weights], outcomes))

    def text(self, levels: Sequence[Sequence[object]] | None = None) -> str:
        """Write the certificate as an equation, with level names where ``levels`` gives them (one list a factor)."""
        terms = [
            _signed(weight) + _named(row, levels) for row, weight in zip(self.cells.tolist(), self.weights, strict=True)
        ]
        return f"{_named(self.cell, levels)} = {' '.join(terms).removeprefix('+ ')}"


def _named(cell: Iterable[int], levels: Sequence[Sequence[object]] | None) -> str:
    names = [str(levels[factor][level]) if levels else str(level) for factor, level in enumerate(cell)]
    return f"y({','.join(names)})"


def _signed(weight: Fraction) -> str:
    size = "" if abs(weight) == 1 else f"{abs(weight)} "
    return f"{'-' if weight < 0 else '+'} {size}"


def certificate(features: Conjunctions, seen: SeenCells, cell: IntArray) -> Certificate:
    """Return a short certificate of a determined ``cell`` (C,).

    Parameters
    ----------
    features : Conjunctions
        The additive model.
    seen : SeenCells
        The seen cells.
    cell : IntArray, (C,)
        A seen or determined cell.

    Returns
    -------
    Certificate
        Verified exactly; ``verified`` is False only if the weights could not be turned into fractions.

    Raises
    ------
    SolverError
        If no sum of seen cells was found, as for a cell that is not determined.
    """
    target = canonical(cell[None, :], features.symmetric)[0]
    if seen.holds(target[None, :])[0]:
        return _checked(features, target, {tuple(target.tolist()): Fraction(1)})
    if is_graph(features):
        terms = _by_path(features, seen.cells, target)
    else:
        terms = _by_cube(features, seen, target) or _by_program(features, seen.cells, target)
    if not terms:
        raise SolverError(f"no sum of seen cells gives cell {tuple(cell.tolist())}; check that it is determined")
    return _checked(features, target, terms)


def _checked(features: Conjunctions, target: IntArray, terms: Terms) -> Certificate:
    kept = sorted(((row, weight) for row, weight in terms.items() if weight), key=lambda term: term[1] < 0)
    cells = np.array([row for row, _ in kept], dtype=np.int64).reshape(-1, len(target))
    weights = tuple(weight for _, weight in kept)
    balance: dict[int, Fraction] = defaultdict(Fraction)
    for ids, weight in zip(features.ids(cells).tolist(), weights, strict=True):
        for column in ids:
            balance[column] += weight
    for column in features.ids(target[None, :])[0].tolist():
        balance[column] -= 1
    return Certificate(tuple(target.tolist()), cells, weights, not any(balance.values()))


def _by_path(features: Conjunctions, seen: IntArray, target: IntArray) -> Terms:
    """Alternate signs along a shortest path; an odd cycle on each side, at half weight, joins two components."""
    graph = level_graph(features, seen)
    first = features.sizes[0]
    left, right = int(target[0]), int(target[1])
    walks = [(shortest_path(graph, left, right + first), Fraction(1))]
    if not walks[0][0] and features.symmetric:
        walks = [(shortest_path(graph, level, level + first), Fraction(1, 2)) for level in (left, right)]
    terms: Terms = defaultdict(Fraction)
    for walk, size in walks:
        for step, pair in enumerate(itertools.pairwise(walk)):
            edge = np.array([sorted(pair)]) - [0, first]
            terms[tuple(canonical(edge, features.symmetric)[0].tolist())] += size * (-1) ** step
    return terms if all(walk for walk, _ in walks) else {}


def _by_cube(features: Conjunctions, seen: SeenCells, target: IntArray) -> Terms:
    """Look for order + 1 factors and other levels of theirs such that all other corners of that cube are seen."""
    for flipped in itertools.combinations(range(len(target)), features.order + 1):
        kept = [factor for factor in range(len(target)) if factor not in flipped]
        opposite = _opposite(seen, target, kept, flipped)
        corners = [corner for size in range(1, len(flipped)) for corner in itertools.combinations(flipped, size)]
        for corner in corners:
            opposite = opposite[seen.holds(_with(target, opposite, corner))]
        if len(opposite):
            terms: Terms = defaultdict(Fraction)
            for corner in [*corners, flipped]:
                row = canonical(_with(target, opposite[:1], corner), features.symmetric)[0]
                terms[tuple(row.tolist())] += Fraction((-1) ** (len(corner) + 1))
            return terms
    return {}


def _opposite(seen: SeenCells, target: IntArray, kept: Sequence[int], flipped: Sequence[int]) -> IntArray:
    """Seen cells that agree with the target on ``kept`` and differ from it on all of ``flipped``."""
    found = [
        cells[(cells[:, kept] == target[kept]).all(axis=1) & (cells[:, flipped] != target[list(flipped)]).all(axis=1)]
        for cells in seen.arrangements()
    ]
    return np.concatenate(found)


def _with(target: IntArray, other: IntArray, factors: Sequence[int]) -> IntArray:
    """The target with ``factors`` taken from each row of ``other``."""
    cells = np.repeat(target[None, :], len(other), axis=0)
    cells[:, list(factors)] = other[:, list(factors)]
    return cells


def _nearest_first(features: Conjunctions, seen: IntArray, target: IntArray) -> IntArray:
    """Order the seen cells by how many steps of shared conjunctions lead from the target to their conjunctions."""
    columns, ids = np.unique(features.ids(np.vstack([target, seen])), return_inverse=True)
    ids = ids.reshape(len(seen) + 1, -1)
    distance = np.full(len(columns), len(columns))
    distance[ids[0]] = 0
    while True:
        reach = distance[ids[1:]].min(axis=1) + 1
        nearer = distance.copy()
        for block in range(ids.shape[1]):
            np.minimum.at(nearer, ids[1:, block], reach)
        if np.array_equal(nearer, distance):
            break
        distance = nearer
    shared = (seen == target).sum(axis=1)
    return np.lexsort((-shared, distance[ids[1:]].sum(axis=1)))


def _pools(number: int) -> Iterator[int]:
    yield from (size for size in POOLS if size < number)
    yield min(number, POOLS[-1]) if number <= POOLS[-1] else number


def _by_program(features: Conjunctions, seen: IntArray, target: IntArray) -> Terms:
    """Minimise the sum of absolute weights over growing pools of nearby cells."""
    order = _nearest_first(features, seen, target)
    for size in _pools(len(seen)):
        pool = seen[order[:size]]
        weights = _least_absolute(features, pool, target)
        if weights is not None:
            return _fractions(features, pool, weights, target)
    return {}


def _least_absolute(features: Conjunctions, pool: IntArray, target: IntArray) -> FloatArray | None:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    columns, ids = np.unique(features.ids(np.vstack([target, pool])), return_inverse=True)
    ids = ids.reshape(len(pool) + 1, -1)
    wanted = np.bincount(ids[0], minlength=len(columns)).astype(float)
    if np.any(np.bincount(ids[1:].reshape(-1), minlength=len(columns))[ids[0]] == 0):
        return None  # a conjunction of the target that the pool lacks
    cells = np.repeat(np.arange(len(pool)), ids.shape[1])
    matrix = csr_array((np.ones(len(cells)), (ids[1:].reshape(-1), cells)), shape=(len(columns), len(pool)))
    both = hstack([matrix, -matrix], format="csr")
    price = np.ones(2 * len(pool))
    # The stubs know dense matrices only.
    solved = linprog(price, A_eq=both, b_eq=wanted, bounds=(0, None), method="highs-ds")  # type: ignore[call-overload]
    if solved.x is None or solved.status != 0:
        return None
    weights: FloatArray = solved.x[: len(pool)] - solved.x[len(pool) :]
    return weights


def _fractions(features: Conjunctions, pool: IntArray, weights: FloatArray, target: IntArray) -> Terms:
    """Turn the weights of a vertex into fractions, by rounding and, where that does not balance, by exact solving."""
    support = np.flatnonzero(np.abs(weights) > 1e-9)
    rows = [tuple(row) for row in pool[support].tolist()]
    rounded = [Fraction(float(weights[place])).limit_denominator(LARGEST_DENOMINATOR) for place in support]
    terms = dict(zip(rows, rounded, strict=True))
    if _checked(features, target, terms).verified:
        return terms
    solved = solve_fractions(features.ids(pool[support]).tolist(), features.ids(target[None, :])[0].tolist())
    return terms if solved is None else dict(zip(rows, solved, strict=True))


def solve_fractions(rows: list[list[int]], wanted: list[int]) -> list[Fraction] | None:
    """Return weights w with sum_i w_i row_i = wanted in rational numbers, or None; rows are lists of unit columns.

    Examples
    --------
    >>> [str(weight) for weight in solve_fractions([[0, 0], [0, 1]], [1, 1])]
    ['-1', '2']
    """
    system: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for place, row in enumerate([*rows, wanted]):
        for column in row:
            system[column][place] += 1
    unknown = len(rows)
    solved: dict[int, dict[int, Fraction]] = {}
    for start in system.values():
        equation = _reduced(start, solved)
        pivot = next((place for place, value in equation.items() if value and place != unknown), None)
        if pivot is None:
            if equation.get(unknown):
                return None
            continue
        scaled = {place: value / equation[pivot] for place, value in equation.items() if value}
        for other, earlier in solved.items():
            solved[other] = _reduced(earlier, {pivot: scaled})
        solved[pivot] = scaled
    return [solved[place].get(unknown, Fraction(0)) if place in solved else Fraction(0) for place in range(unknown)]


def _reduced(equation: dict[int, Fraction], solved: dict[int, dict[int, Fraction]]) -> dict[int, Fraction]:
    result = dict(equation)
    for pivot in [place for place in equation if place in solved]:
        factor = result[pivot]
        for place, value in solved[pivot].items():
            result[place] = result.get(place, Fraction(0)) - factor * value
    return {place: value for place, value in result.items() if value}
