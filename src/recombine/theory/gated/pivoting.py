"""Non-negative quadratic programs by block principal pivoting: exact once the right set of variables is free.

min x'Mx/2 - b'x over x >= 0 asks for x >= 0, w = Mx - b >= 0 and x'w = 0. Guess which x are free, solve for them, and
exchange every variable whose sign is wrong (Portugal, Judice & Vicente 1994). From a good guess that takes two or three
factorisations. Where it stops making progress, non-negative least squares ends what was begun, one variable at a time.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.errors import SolverError

#: Rounds without progress after which blocks are no longer exchanged.
BLOCK_PIVOT_ROUNDS = 10
#: Signs count as wrong beyond this share of the largest entry, or of what is added up to get them.
SIGN_ROUNDING_SHARE = 1e-12


def nonnegative_minimum(
    matrix: FloatArray, linear: FloatArray, start: BoolArray | None = None
) -> tuple[FloatArray, int]:
    """Return the x >= 0 of shape (n,) that minimises x'Mx/2 - b'x, and the number of factorisations.

    Parameters
    ----------
    matrix : ndarray (n, n)
        Positive definite M.
    linear : ndarray (n,)
        b.
    start : ndarray of bool (n,), optional
        Guess of the variables above zero; all of them by default.
    """
    free = np.ones(len(linear), dtype=bool) if start is None else start
    fewest, patience, rounds = len(linear) + 1, BLOCK_PIVOT_ROUNDS, 0
    while patience:
        rounds += 1
        answer, slack = _solve(matrix, linear, free)
        dust = SIGN_ROUNDING_SHARE * (_size(linear) + float(np.diag(matrix).max()) * float(np.abs(answer).sum()))
        wrong = np.where(free, answer < -SIGN_ROUNDING_SHARE * _size(answer), slack < -dust)
        count = int(wrong.sum())
        if not count:
            return np.maximum(answer, 0.0), rounds
        patience = BLOCK_PIVOT_ROUNDS if count < fewest else patience - 1
        fewest = min(fewest, count)
        free = free ^ wrong
    return _one_at_a_time(matrix, linear), rounds


def _solve(matrix: FloatArray, linear: FloatArray, free: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Solve for the free variables, the others being zero; return all of them and the slack Mx - b."""
    from scipy.linalg import cho_solve

    answer = np.zeros_like(linear)
    indices = np.flatnonzero(free)
    if len(indices) == 0:
        return answer, -linear
    answer[indices] = cho_solve((_factor(matrix[np.ix_(indices, indices)]), True), linear[indices])
    return answer, matrix[:, indices] @ answer[indices] - linear


def _one_at_a_time(matrix: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise |L'x - L^-1 b| over x >= 0 with M = LL', which is the same problem."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    lower = _factor(matrix)
    try:
        answer = nnls(lower.T, solve_triangular(lower, linear, lower=True), maxiter=30 * len(linear))[0]
    except RuntimeError as error:
        raise SolverError("non-negative least squares did not settle; the matrix is too close to singular") from error
    return np.asarray(answer, dtype=np.float64)


def _factor(block: FloatArray) -> FloatArray:
    try:
        return np.linalg.cholesky(block).astype(np.float64, copy=False)
    except np.linalg.LinAlgError as error:
        raise SolverError("a block of the matrix is not positive definite; add to its diagonal") from error


def _size(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
