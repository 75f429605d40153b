"""Signed seen cells that add up to a given one, by linear programming, with weights turned into fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.cells.scaled import ScaledConjunctions
from recombine.cells.threads import one_thread

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Sizes of the pools of nearby cells that the linear program is given, and its pivots for each. Counting pivots rather
#: than seconds keeps the answer the same on every machine.
POOL_SIZES = (400, 2_000)
MAX_SIMPLEX_PIVOTS = 10_000

#: Sums of more cells than this are not solved again in fractions where rounding fails: nobody would read them.
MAX_CELLS_SOLVED_EXACTLY = 120

#: Certificates up to this many cells are tried again for a shorter one; weights below the second number are none.
MAX_CELLS_POLISHED = 60
MIN_WEIGHT = 1e-9

#: Weights of a vertex are ratios of small determinants; denominators above this are not tried.
MAX_DENOMINATOR = 720

Terms = dict[tuple[int, ...], Fraction]


def balances(features: Conjunctions, target: IntArray, terms: Terms) -> bool:
    """Say whether the weighted rows of the cells add up to the row of ``target`` (C,), in exact arithmetic."""
    rows = np.array([*terms, tuple(target.tolist())], dtype=np.int64)
    balance: dict[int, Fraction] = defaultdict(Fraction)
    for row, weight in zip(_exact_rows(features, rows), [*terms.values(), Fraction(-1)], strict=True):
        for column, entry in row.items():
            balance[column] += weight * entry
    return not any(balance.values())


def _exact_rows(features: Conjunctions, cells: IntArray) -> Sequence[Mapping[int, Fraction | int]]:
    if isinstance(features, ScaledConjunctions):
        return features.fractions(cells)
    return [Counter(ids) for ids in features.ids(cells).tolist()]


def _columns_of(features: Conjunctions, cells: IntArray) -> IntArray:
    """Return the columns of each cell, (N, C) -> (N, T); a knot without weight is filled in by the first column."""
    if not isinstance(features, ScaledConjunctions):
        return features.ids(cells)
    blocks, home = [], np.array(cells)
    for factor, scale in enumerate(features.scales):
        if scale is not None:
            home[:, factor] = scale.nearest[cells[:, factor]]
    near = features.ids(home)[:, 0]
    for ids, picks in features.entries(cells):
        blocks.append(np.where(features.weights(cells, picks) != 0, ids, near))
    return np.stack(blocks, axis=1)


def signed_sum(features: Conjunctions, seen: IntArray, target: IntArray) -> Terms:
    """Return weights on ``seen`` (N, C) that give ``target`` (C,), few and small where possible; empty if none do.

    The sum of absolute weights is minimised over growing pools of nearby cells. Where that takes too long, or there are
    more cells than the largest pool, least squares answers, with many weights in floating point.

    Examples
    --------
    >>> terms = signed_sum(Conjunctions((2, 2)), np.array([[0, 0], [0, 1], [1, 0]]), np.array([1, 1]))
    >>> sorted((cell, int(weight)) for cell, weight in terms.items())
    [((0, 0), -1), ((0, 1), 1), ((1, 0), 1)]
    """
    order = _nearest_first(features, seen, target)
    for size in POOL_SIZES:
        pool = seen[order[:size]]
        weights = _shortened(features, pool, target)
        if weights is not None:
            return _fractions(features, pool, weights, target)
        if size >= len(seen):
            break
    return _least_squares(features, seen, target)


def _nearest_first(features: Conjunctions, seen: IntArray, target: IntArray) -> IntArray:
    """Order the seen cells by how many steps of shared conjunctions lead from the target to their conjunctions."""
    columns, ids = np.unique(_columns_of(features, np.vstack([target, seen])), return_inverse=True)
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


def _shortened(features: Conjunctions, pool: IntArray, target: IntArray) -> FloatArray | None:
    """Solve, then solve again with prices that favour the cells in use, while that drops some of them."""
    best = _least_absolute(features, pool, target, np.ones(len(pool)))
    while best is not None and 3 < _support(best) <= MAX_CELLS_POLISHED:
        again = _least_absolute(features, pool, target, 1 / (np.abs(best) + 0.01))
        if again is None or _support(again) >= _support(best):
            break
        best = again
    return best


def _support(weights: FloatArray) -> int:
    return int((np.abs(weights) > MIN_WEIGHT).sum())


def _transposed(features: Conjunctions, pool: IntArray, target: IntArray) -> tuple[csr_array, FloatArray]:
    """Return the rows of the pool as columns, (K, m), and the target's row (K,), over the columns in use."""
    incidence = features.incidence(np.vstack([target, pool]))
    rows = incidence[:, np.unique(incidence.indices)]
    return rows[1:].T.tocsr(), rows[[0]].toarray()[0]


def _least_absolute(features: Conjunctions, pool: IntArray, target: IntArray, prices: FloatArray) -> FloatArray | None:
    from scipy.optimize import linprog
    from scipy.sparse import hstack

    matrix, goal = _transposed(features, pool, target)
    if np.any((np.diff(matrix.indptr) == 0) & (goal != 0)):
        return None  # a conjunction of the target that the pool lacks
    solved = linprog(
        np.concatenate([prices, prices]),
        A_eq=hstack([matrix, -matrix], format="csr"),
        b_eq=goal,
        bounds=(0, None),
        method="highs-ds",
        options={"maxiter": MAX_SIMPLEX_PIVOTS},
    )
    if solved.x is None or solved.status != 0:
        return None
    return np.asarray(solved.x[: len(pool)] - solved.x[len(pool) :])


def _least_squares(features: Conjunctions, seen: IntArray, target: IntArray) -> Terms:
    """Weights of the least-squares fit: many cells, floating point, for designs too large for the linear program."""
    from scipy.sparse.linalg import lsmr

    matrix, goal = _transposed(features, seen, target)
    with one_thread():
        weights = lsmr(matrix, goal, atol=1e-12, btol=1e-12, conlim=0, maxiter=20_000)[0]
    if np.abs(matrix @ weights - goal).max() > 1e-8:
        return {}
    used = np.flatnonzero(np.abs(weights) > MIN_WEIGHT)
    return {tuple(seen[index].tolist()): Fraction(float(weights[index])) for index in used}


def _fractions(features: Conjunctions, pool: IntArray, weights: FloatArray, target: IntArray) -> Terms:
    """Turn the weights of a vertex into fractions, by rounding and, where that does not balance, by exact solving."""
    support = np.flatnonzero(np.abs(weights) > MIN_WEIGHT)
    rows = [tuple(row) for row in pool[support].tolist()]
    rounded = [Fraction(float(weights[index])).limit_denominator(MAX_DENOMINATOR) for index in support]
    terms = dict(zip(rows, rounded, strict=True))
    if balances(features, target, terms):
        return terms
    if len(support) > MAX_CELLS_SOLVED_EXACTLY:
        return terms
    solved = solve_fractions(_exact_rows(features, pool[support]), _exact_rows(features, target[None, :])[0])
    return terms if solved is None else dict(zip(rows, solved, strict=True))


def solve_fractions(
    rows: Sequence[Mapping[int, Fraction | int]], goal: Mapping[int, Fraction | int]
) -> list[Fraction] | None:
    """Return weights w with sum_i w_i row_i = goal in rational numbers, or None; rows map columns to entries."""
    system: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for index, row in enumerate([*rows, goal]):
        for column, entry in row.items():
            system[column][index] += entry
    unknown = len(rows)
    solved: dict[int, dict[int, Fraction]] = {}
    for start in system.values():
        equation = _reduced(start, solved)
        pivot = next((index for index, value in equation.items() if value and index != unknown), None)
        if pivot is None:
            if equation.get(unknown):
                return None
            continue
        scaled = {index: value / equation[pivot] for index, value in equation.items() if value}
        for solved_pivot, earlier in solved.items():
            solved[solved_pivot] = _reduced(earlier, {pivot: scaled})
        solved[pivot] = scaled
    return [solved[index].get(unknown, Fraction(0)) if index in solved else Fraction(0) for index in range(unknown)]


def _reduced(equation: dict[int, Fraction], solved: dict[int, dict[int, Fraction]]) -> dict[int, Fraction]:
    result = dict(equation)
    for pivot in [index for index in equation if index in solved]:
        factor = result[pivot]
        for index, value in solved[pivot].items():
            result[index] = result.get(index, Fraction(0)) - factor * value
    return {index: value for index, value in result.items() if value}
