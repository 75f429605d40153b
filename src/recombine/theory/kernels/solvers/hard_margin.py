"""The hard margin on a small Gram matrix, without an intercept: where a readout trained on logistic loss ends.

The dual is min a'Qa/2 - 1'a over a >= 0 with Q = K * yy'; `recombine.theory.kernels.solvers.margin` has the soft ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, SolverError
from recombine.theory.kernels.solvers.solve import Solution

#: Added to the diagonal, relative to it, when the kernel gives full conjunctions no weight of their own.
MARGIN_JITTER = 1e-9
#: Largest accepted breach of the optimality conditions (margins are of size one).
MAX_MARGIN_BREACH = 1e-4


def hard_margin(gram: FloatArray, signs: FloatArray) -> Solution:
    """Return the hard-margin classifier of the rows of a Gram matrix (N, N) with labels -1 or +1: weights y_i a_i.

    It is found by non-negative least squares: with Q = LL', minimise |L'a - L^-1 1|.

    Examples
    --------
    >>> hard_margin(np.eye(2), np.array([1.0, -1.0])).value.tolist()
    [1.0, -1.0]
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    signed = gram * np.outer(signs, signs)
    lower = lower_factor(signed)
    target = solve_triangular(lower, np.ones(len(signed)), lower=True)
    dual = nnls(lower.T, target, maxiter=30 * len(signed))[0]
    margin = Solution(dual, np.nan, "non-negative least squares", int(np.count_nonzero(dual)))
    return checked_margin(signed, signs, np.full(len(signs), np.inf), margin)


def checked_margin(signed: FloatArray, signs: FloatArray, upper: FloatArray, margin: Solution) -> Solution:
    """Sign the weights of a margin that was found, once its optimality conditions hold."""
    dual = _snapped(margin.value, upper)
    slack = signed @ dual + signs * margin.intercept - 1
    breach = breach_of(dual, slack, upper)
    if np.isinf(upper).all() and slack.min() < -1e-3:
        raise inseparable()
    if breach > MAX_MARGIN_BREACH:
        raise SolverError(f"the margin's optimality conditions are off by {breach:.1e}; lower C or merge labels")
    return replace(margin, value=signs * dual, residual=breach)


def _snapped(dual: FloatArray, upper: FloatArray) -> FloatArray:
    """Put weights that rounding left just off a bound on it."""
    dust = 1e-10 * float(np.abs(dual).max())
    low = np.where(dual <= dust, 0.0, dual)
    return np.where(low >= upper - dust, upper, low)


def breach_of(dual: FloatArray, slack: FloatArray, upper: FloatArray) -> float:
    """Largest breach of the optimality conditions: slack >= 0 at weight 0, = 0 inside the box, <= 0 at the limit."""
    inside = (dual > 0) & (dual < upper)
    breach = np.where(inside, np.abs(slack), np.where(dual > 0, np.maximum(slack, 0), np.maximum(-slack, 0)))
    return float(breach.max())


def lower_factor(signed: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor, with a jitter where the matrix is singular."""
    scale = float(np.diag(signed).max())
    try:
        lower: FloatArray = np.linalg.cholesky(signed).astype(np.float64, copy=False)
        if np.diag(lower).min() ** 2 > MARGIN_JITTER * scale:
            return lower
    except np.linalg.LinAlgError:
        pass
    try:
        return np.linalg.cholesky(signed + MARGIN_JITTER * scale * np.eye(len(signed))).astype(np.float64, copy=False)
    except np.linalg.LinAlgError as error:
        raise InputError("the kernel is not positive on the seen cells; see theory.kernels.is_positive") from error


def inseparable(before: str = "") -> SolverError:
    """What is raised where no hard margin exists."""
    return SolverError(
        f"{before}the seen cells cannot be separated by this kernel, so there is no hard margin; "
        "give a finite C, or a kernel with S(C;C) > 0 and no cell with two labels"
    )
