"""Logistic regression with a kernel: the minimum of loss and norm, by Newton's method."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from recombine.cells.arrays import FloatArray
from recombine.errors import SolverError
from recombine.theory.kernels.solvers.solve import Solution

#: Newton steps after which something is wrong: each one roughly doubles the digits.
MAX_NEWTON_STEPS = 200


def logistic_dual(
    gram: FloatArray, signs: FloatArray, price: float, intercept: bool = False, tolerance: float = 1e-10
) -> Solution:
    """Minimise the logistic loss ``price * sum log(1 + exp(-y f)) + |f|² / 2`` over f = K a (+ intercept).

    At the minimum ``a_i = price * y_i / (1 + exp(y_i f_i))``. Steps are halved until the loss falls.

    Parameters
    ----------
    gram : float array of shape (N, N)
    signs : float array of shape (N,)
        Labels -1 and +1.
    price : float
        The larger, the closer to the hard margin.
    tolerance : float
        Largest breach of the condition above, as a share of the price.

    Examples
    --------
    >>> found = logistic_dual(np.eye(2), np.array([1.0, -1.0]), price=1.0)
    >>> found.value.round(4).tolist()
    [0.4011, -0.4011]
    """
    count = len(signs)
    dual, offset = np.zeros(count), 0.0
    breach = np.inf
    for step in range(1, MAX_NEWTON_STEPS + 1):
        values = gram @ dual + offset
        implied_dual = price * signs * expit(-signs * values)
        breach = float(np.abs(dual - implied_dual).max() / price) + (
            abs(float(implied_dual.sum())) / price if intercept else 0.0
        )
        if breach <= tolerance:
            return Solution(dual, breach, "newton", step, offset)
        target_dual, target_offset = _newton(gram, values, implied_dual, price, intercept)
        size = 1.0
        current_cost = _cost(gram, signs, price, dual, offset)
        while size > 1e-6:
            trial = dual + size * (target_dual - dual), offset + size * (target_offset - offset)
            if _cost(gram, signs, price, *trial) <= current_cost:
                break
            size /= 2
        dual, offset = trial
    raise SolverError(f"logistic regression stopped {breach:.1e} from its minimum; give a smaller C")


def _newton(
    gram: FloatArray, values: FloatArray, implied_dual: FloatArray, price: float, intercept: bool
) -> tuple[FloatArray, float]:
    """Return dual weights and intercept at the minimum of the quadratic that touches the loss here."""
    count = len(values)
    chance = expit(values)
    # a = wanted - curve * (f_new - f), with f_new = K a + b.
    curve = np.maximum(price * chance * (1 - chance), 1e-12 * price)
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = gram + np.diag(1 / curve)
    constants = np.append(values + implied_dual / curve, 0.0)
    if not intercept:
        return np.linalg.solve(system[:count, :count], constants[:count]), 0.0
    system[:count, count] = system[count, :count] = 1.0
    solution = np.linalg.solve(system, constants)
    return solution[:count], float(solution[count])


def _cost(gram: FloatArray, signs: FloatArray, price: float, dual: FloatArray, offset: float) -> float:
    values = gram @ dual
    return float(price * np.logaddexp(0, -signs * (values + offset)).sum() + dual @ values / 2)
