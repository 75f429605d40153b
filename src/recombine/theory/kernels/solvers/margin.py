"""Classifiers on a small Gram matrix: hard and soft margin, with and without an intercept, and logistic loss.

Without an intercept the dual is min a'Qa/2 - 1'a over 0 <= a <= C with Q = K * yy'. Its hard-margin case (C infinite)
is the direction that logistic gradient descent on a readout ends in, which is why it carries the shortcut results.
"""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np
from scipy.special import expit

from recombine.cells.arrays import FloatArray
from recombine.errors import SolverError
from recombine.theory.kernels.solvers.hard_margin import (
    breach_of,
    checked_margin,
    hard_margin,
    inseparable,
    lower_factor,
)
from recombine.theory.kernels.solvers.solve import Solution

#: Steps after which libsvm is stopped; without separation a hard margin would never end.
MAX_LIBSVM_STEPS = 2_000_000

#: Newton steps on the logistic loss after which something is wrong: each one roughly doubles the digits.
MAX_LOGISTIC_STEPS = 200


def margin_dual(gram: FloatArray, signs: FloatArray, upper: FloatArray, intercept: bool) -> Solution:
    """Return the maximum-margin classifier of the rows of a Gram matrix: signed dual weights y_i a_i, and an intercept.

    ``gram`` (N, N) is of distinct cells, ``signs`` (N,) are labels -1 or +1, and ``upper`` (N,) is the price of a
    violated margin at each row, infinite for the hard margin.

    Examples
    --------
    >>> margin_dual(np.eye(2), np.array([1.0, -1.0]), np.full(2, np.inf), intercept=False).value.tolist()
    [1.0, -1.0]
    """
    if np.isinf(upper).all() and not intercept:
        return hard_margin(gram, signs)
    signed = gram * np.outer(signs, signs)
    if intercept:
        dual, offset, route, steps = _with_intercept(signed, signs, upper)
    else:
        offset = 0.0
        dual, route, steps = _boxed(signed, upper)
    return checked_margin(signed, signs, upper, Solution(dual, np.nan, route, steps, offset))


def _boxed(signed: FloatArray, upper: FloatArray) -> tuple[FloatArray, str, int]:
    """Soft margin without intercept: guess and correct the active set; bounded least squares where that cycles."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import lsq_linear

    dual, rounds = _active_set(signed, upper)
    if dual is not None and breach_of(dual, signed @ dual - 1, upper) < 1e-8 and dual.min() > -1e-8:
        return dual, "active set", rounds
    lower = lower_factor(signed)
    target = solve_triangular(lower, np.ones(len(signed)), lower=True)
    answer = lsq_linear(lower.T, target, bounds=(np.zeros(len(upper)), upper), method="bvls", tol=1e-14)
    return cast(FloatArray, answer.x), "bounded least squares", int(answer.nit)


def _active_set(signed: FloatArray, upper: FloatArray, max_rounds: int = 60) -> tuple[FloatArray | None, int]:
    """Primal-dual active set: guess which weights sit at a bound, solve for the rest, until the guess repeats.

    Exact when it settles, usually in a few rounds; None when it cycles or meets a singular block.
    """
    scale = np.diag(signed)
    trial = np.minimum(1 / scale, upper)
    state = np.full(len(signed), -1)
    dual = trial
    for rounds in range(max_rounds):
        at_upper, free = trial >= upper, (trial > 0) & (trial < upper)
        previous, state = state, np.where(at_upper, 2, free.astype(int))
        if np.array_equal(state, previous):
            return dual, rounds
        dual = np.where(at_upper, upper, 0.0)
        try:
            dual[free] = np.linalg.solve(signed[np.ix_(free, free)], (1 - signed @ dual)[free])
        except np.linalg.LinAlgError:
            return None, rounds
        trial = dual + np.where(free, 0.0, 1 - signed @ dual) / scale
    return None, max_rounds


def _with_intercept(signed: FloatArray, signs: FloatArray, upper: FloatArray) -> tuple[FloatArray, float, str, int]:
    """With a free intercept: libsvm finds the support, one linear system then makes the numbers exact."""
    from sklearn.svm import SVC

    limit = np.minimum(upper, 1e10)
    gram = signed * np.outer(signs, signs)
    machine = fit_machine(SVC(kernel="precomputed", C=1.0, tol=1e-8), gram, signs, sample_weight=limit)
    dual = np.zeros(len(signs))
    dual[machine.support_] = np.abs(machine.dual_coef_[0])
    dual, offset = _polish(signed, signs, dual, float(machine.intercept_[0]), limit)
    return dual, offset, "libsvm", int(machine.n_iter_[0])


def fit_machine(machine: Any, gram: FloatArray, outcome: FloatArray, **options: Any) -> Any:
    """Fit one of scikit-learn's support vector machines, and fail where it would run on without end."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.set_params(max_iter=MAX_LIBSVM_STEPS).fit(gram, outcome, **options)
    if machine.fit_status_:
        raise inseparable(f"after {MAX_LIBSVM_STEPS} steps ")
    return machine


def _polish(
    signed: FloatArray, signs: FloatArray, dual: FloatArray, offset: float, limit: FloatArray
) -> tuple[FloatArray, float]:
    """Solve the optimality conditions on the free support exactly; keep the answer only where they then hold."""
    full = dual >= limit * (1 - 1e-9)
    free = (dual > 1e-9 * dual.max()) & ~full
    fixed = np.where(full, limit, 0.0)
    if not free.any():
        return dual, offset
    bordered = np.zeros((free.sum() + 1,) * 2)
    bordered[:-1, :-1] = signed[np.ix_(free, free)]
    bordered[-1, :-1] = bordered[:-1, -1] = signs[free]
    right = np.append((1 - signed @ fixed)[free], -signs @ fixed)
    answer = np.linalg.lstsq(bordered, right, rcond=None)[0]
    polished = fixed.copy()
    polished[free] = np.maximum(answer[:-1], 0.0)
    before = breach_of(dual, signed @ dual + signs * offset - 1, limit)
    after = breach_of(polished, signed @ polished + signs * answer[-1] - 1, limit)
    return (polished, float(answer[-1])) if after <= before else (dual, offset)


def logistic_dual(
    gram: FloatArray, signs: FloatArray, price: float, intercept: bool = False, tolerance: float = 1e-10
) -> Solution:
    """Minimise the logistic loss ``price * sum log(1 + exp(-y f)) + |f|² / 2`` over f = K a (+ intercept).

    At the minimum ``a_i = price * y_i / (1 + exp(y_i f_i))``, up to ``tolerance`` as a share of the price. Labels
    ``signs`` (N,) are -1 and +1; the larger the price, the closer to the hard margin. Steps are halved until the loss
    falls.

    Examples
    --------
    >>> logistic_dual(np.eye(2), np.array([1.0, -1.0]), price=1.0).value.round(4).tolist()
    [0.4011, -0.4011]
    """
    count = len(signs)
    dual, offset = np.zeros(count), 0.0
    breach = np.inf
    for step in range(1, MAX_LOGISTIC_STEPS + 1):
        values = gram @ dual + offset
        implied_dual = price * signs * expit(-signs * values)
        breach = float(np.abs(dual - implied_dual).max() / price)
        breach += abs(float(implied_dual.sum())) / price if intercept else 0.0
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
