"""Directions in which a likelihood never falls: found by linear programming, proven in whole numbers.

The log-likelihood of a logit, softmax or log-linear model does not fall along a direction d if d is orthogonal to some
rows (``tied``) and has no negative product with others (``loose``). A maximum exists if and only if no such d has a
positive product with a loose row. Linear programming in floating point only proposes; what is returned was checked
exactly: d itself, and for the rows on which no d is positive, positive weights with which they sum to a combination of
tied rows (Stiemke's theorem of the alternative), which no d could be positive on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity, vstack

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.errors import SolverError
from recombine.theory.structures.separation.rational import Echelon, Row, exact_product, rounded, rows_of, signs

Whole = npt.NDArray[np.object_]

#: Entries of a linear programme's solution below this are zero in the proposal that is then checked exactly.
PROGRAMME_TOLERANCE = 1e-7


@record
class Recession:
    """The rows that some direction makes positive, with both proofs; see `recession`."""

    strict: BoolArray  #: Which loose rows have a positive product with some direction.
    #: (W,): A direction that is positive on all strict rows at once and zero on every other row. Zero if there is none.
    direction: Whole
    #: Positive on every loose row that is not strict, zero on strict rows, any sign on tied rows; the rows so weighted
    #: sum to zero.
    weights: Whole


def recession(loose: csr_array, tied: csr_array) -> Recession:
    """Say which loose rows (m, W) a direction can make positive while none is negative and tied rows (b, W) are zero.

    Examples
    --------
    Successes at x = 0 and 1, failures at -1: x separates them, up to the success at 0.

    >>> proven = recession(csr_array([[1, 0], [1, 1], [-1, 1]]), csr_array((0, 2), dtype=int))
    >>> proven.strict.tolist(), proven.direction.tolist()
    ([True, True, True], [1, 2])
    >>> recession(csr_array([[1], [-1]]), csr_array((0, 1), dtype=int)).weights.tolist()
    [1, 1]
    """
    loose, tied = csr_array(loose), csr_array(tied)
    # Textbooks solve one programme and trust its tolerance; here the quick one proposes, exact arithmetic decides, and
    # the slow one is asked only where the first proposal fails.
    for propose in (_by_weights, _by_direction):
        proposed = propose(loose, tied)
        proven = None if proposed is None else _proven(loose, tied, *proposed)
        if proven is not None:
            return proven
    raise SolverError(
        f"which of {loose.shape[0]} rows are separated was found in floating point but not proven in whole numbers; "
        "merge rare levels or leave out pairs, so that fewer effects are asked for"
    )


#: Which rows are strict (m,), a direction (W,) and weights (m + b,), in floating point.
Proposal = tuple[BoolArray, FloatArray, FloatArray]


def _by_weights(loose: csr_array, tied: csr_array) -> Proposal | None:
    """Look for weights that sum to zero with as many loose rows as can be at 1 or more; the dual is the direction.

    One constraint per column, so that many rows do little harm.
    """
    rows, columns = loose.shape
    turned = loose.T.astype(float)
    # A weight is a part up to 1, which is rewarded, and a part without end, which is not: every row that can have
    # weight fills the first part, whatever its share, and a strict row can have none. So 0.5 tells them apart.
    program = _programme(
        np.concatenate([-np.ones(rows), np.zeros(rows + tied.shape[0])]),
        A_eq=csr_array(hstack([turned, turned, tied.T.astype(float)])),
        b_eq=np.zeros(columns),
        bounds=[(0, 1)] * rows + [(0, None)] * rows + [(None, None)] * tied.shape[0],
    )
    if program.x is None:
        return None
    strict = np.asarray(program.x[:rows] < 0.5)
    return (
        strict,
        -np.asarray(program.eqlin.marginals),
        np.append(program.x[:rows] + program.x[rows : 2 * rows], program.x[2 * rows :]),
    )


def _by_direction(loose: csr_array, tied: csr_array) -> Proposal | None:
    """Maximise the sum of capped products: at the maximum a row that can be positive is at its cap of 1.

    Slower than by weights, but sure of directions with entries of very different sizes.
    """
    rows, columns = loose.shape
    # A direction may be scaled at will, so that without the caps a single row would take the sum to infinity.
    solved = _optimum(
        np.concatenate([np.zeros(columns), -np.ones(rows)]),
        A_ub=csr_array(hstack([-loose.astype(float), identity(rows)])),
        b_ub=np.zeros(rows),
        A_eq=csr_array(hstack([tied.astype(float), csr_array((tied.shape[0], rows))])) if tied.shape[0] else None,
        b_eq=np.zeros(tied.shape[0]) if tied.shape[0] else None,
        bounds=[(None, None)] * columns + [(0, 1)] * rows,
    )
    if solved is None:
        return None
    strict = np.asarray(solved[columns:] > 0.5)
    balanced = np.flatnonzero(~strict)
    weights = np.zeros(rows + tied.shape[0])
    # Weights of at least 1 are no restriction: those of Stiemke's theorem are positive and may be scaled as well.
    if len(balanced):
        program = _optimum(
            np.concatenate([np.ones(len(balanced)), np.zeros(tied.shape[0])]),
            A_eq=csr_array(vstack([loose[balanced], tied]).T).astype(float),
            b_eq=np.zeros(columns),
            bounds=[(1, None)] * len(balanced) + [(None, None)] * tied.shape[0],
        )
        if program is None:
            return None
        weights[np.concatenate([balanced, np.arange(rows, len(weights))])] = program
    return strict, solved[:columns], weights


def _programme(*arguments: Any, **options: Any) -> Any:
    return linprog(*arguments, method="highs-ds", **options)


def _optimum(*arguments: Any, **options: Any) -> FloatArray | None:
    """Return a vertex that solves a linear programme, None if there is none."""
    program = _programme(*arguments, **options)
    return None if program.x is None else np.asarray(program.x, dtype=float)


def _proven(
    loose: csr_array, tied: csr_array, strict: BoolArray, direction: FloatArray, weights: FloatArray
) -> Recession | None:
    """Return whole numbers near a proposal that prove it, None if they do not."""
    # What a direction or weights must not touch are equations: solved exactly, near the guess, they hold exactly, and
    # only the inequalities are left to look at.
    balanced_rows = np.flatnonzero(~strict)
    face = csr_array(vstack([loose[balanced_rows], tied]))
    exact = _solution(np.zeros_like(direction) if not strict.any() else direction, face)
    if not (signs(exact_product(loose, exact)) == strict).all() or exact_product(tied, exact).any():
        return None
    used = np.concatenate([balanced_rows, np.arange(len(strict), len(weights))])
    balanced = _solution(weights[used] if len(balanced_rows) else np.zeros(len(used)), csr_array(face.T))
    if (
        not all(weight > 0 for weight in balanced[: len(balanced_rows)])
        or exact_product(csr_array(face.T), balanced).any()
    ):
        return None
    exact_weights = np.zeros(len(weights), dtype=object)
    exact_weights[used] = balanced
    return Recession(strict, np.array(exact, dtype=object), exact_weights)


def _solution(guess: FloatArray, equations: csr_array) -> list[int]:
    """Return a whole solution of equations (b, W) near a multiple of ``guess``: a rounded one if that does."""
    simple = rounded(guess)
    if simple is not None and not exact_product(equations, simple).any():
        return simple
    return Echelon(rows_of(equations), len(guess)).near(guess)


def forced(strict: Whole, rising: Whole) -> bool | None:
    """Say whether some ``rising`` value (n, q) must go to infinity wherever all ``strict`` ones (m, q) do.

    Some direction is positive on all strict rows, m at least 1. True: positive multiples of rising rows sum to a
    positive combination of strict rows. False: a direction is positive on all strict rows and on no rising one. Exactly
    one of the two exists (Motzkin's theorem of the alternative); None if neither was proven in whole numbers.

    Examples
    --------
    >>> forced(np.array([[1, 0], [0, 1]], dtype=object), np.array([[1, 1]], dtype=object))
    True
    >>> forced(np.array([[1, 0], [0, 1]], dtype=object), np.array([[1, -1]], dtype=object))
    False
    """
    high, low = strict.astype(float), rising.astype(float)
    solved = _optimum(
        np.zeros(high.shape[1]),
        A_ub=np.vstack([-high, low]),
        b_ub=np.concatenate([-np.ones(len(high)), np.zeros(len(low))]),
        bounds=(None, None),
    )
    if solved is not None and _escapes(strict, rising, solved):
        return False
    solved = _optimum(
        np.zeros(len(high) + len(low)),
        A_eq=np.vstack([np.hstack([high.T, -low.T]), np.concatenate([np.ones(len(high)), np.zeros(len(low))])[None]]),
        b_eq=np.concatenate([np.zeros(high.shape[1]), [1.0]]),
        bounds=(0, None),
    )
    if solved is not None and _balances(strict, rising, solved):
        return True
    return None


def _escapes(strict: Whole, rising: Whole, guess: FloatArray) -> bool:
    """Say whether a direction near ``guess`` is positive on strict rows and not on rising ones, exactly."""
    # Rising rows at their bound are made equations, so that rounding the guess cannot push them above it.
    touching = np.flatnonzero(rising.astype(float) @ guess > -PROGRAMME_TOLERANCE)
    vector = np.array(Echelon(_dense_rows(rising[touching]), len(guess)).near(guess), dtype=object)
    return bool((strict @ vector > 0).all() and (rising @ vector <= 0).all())


def _balances(strict: Whole, rising: Whole, guess: FloatArray) -> bool:
    """Say whether weights near ``guess`` prove that a rising value is forced, exactly."""
    used = np.flatnonzero(guess > PROGRAMME_TOLERANCE)
    system = np.vstack([strict, -rising])[used].T
    weights = np.array(Echelon(_dense_rows(system), len(used)).near(guess[used]), dtype=object)
    on_strict = weights[used < len(strict)]
    return bool((weights >= 0).all() and on_strict.any() and not (system @ weights).any())


def _dense_rows(matrix: Whole) -> list[Row]:
    return [{column: int(entry) for column, entry in enumerate(row) if entry} for row in matrix.tolist()]


def distinct_rays(vectors: Whole) -> tuple[Whole, IntArray]:
    """Return the distinct directions among whole vectors (N, q), in lowest terms, and which one each row has.

    Examples
    --------
    >>> rays, where = distinct_rays(np.array([[2, 4], [1, 2], [0, -3]], dtype=object))
    >>> rays.tolist(), where.tolist()
    ([[1, 2], [0, -1]], [0, 0, 1])
    """
    numbers: dict[tuple[int, ...], int] = {}
    inverse = np.empty(len(vectors), dtype=np.int64)
    divisors = np.gcd.reduce(vectors, axis=1) if vectors.shape[1] else np.ones(len(vectors), dtype=object)
    for index, (vector, divisor) in enumerate(zip(vectors.tolist(), divisors.tolist(), strict=True)):
        ray = tuple(number // divisor for number in vector) if divisor > 1 else tuple(vector)
        inverse[index] = numbers.setdefault(ray, len(numbers))
    rays = np.zeros((len(numbers), vectors.shape[1]), dtype=object)
    for ray, index in numbers.items():
        rays[index] = ray
    return rays, inverse
