"""Saliences by restricted likelihood: its value, exact gradient and average information, and Newton steps on logs.

With V = sum_J s_J K_J + s_0 D and a flat mean, P = V^-1 - V^-1 1 1' V^-1 / (1' V^-1 1), the criterion is

    -1/2 (log |V| + log 1' V^-1 1 + y' P y + (n - 1) log 2 pi)

and its derivative by log s_J is s_J / 2 (y' P K_J P y - tr P K_J): one inverse, then elementwise products. Average
information, s_I s_J / 2 (y' P K_I P K_J P y), replaces second derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import record
from recombine.theory.components.terms import ComponentTerm

#: Bounds of a log variance in units of the outcome's variance, and the spread of its prior.
MIN_LOG_VARIANCE, MAX_LOG_VARIANCE = -23.0, 6.0
PRIOR_LOG_SD = 2.0
#: Centres of the priors of log variances: of components of one factor, of several, of cells alone, of noise.
LOG_VARIANCE_OF_ONE, LOG_VARIANCE_OF_SEVERAL, LOG_VARIANCE_OF_CELL, LOG_VARIANCE_OF_NOISE = -3.0, -6.0, -1.5, -1.0
#: The same of features of a factor together, and of one among several: few of them carry anything.
LOG_VARIANCE_OF_FEATURES, LOG_VARIANCE_OF_FEATURE = -4.0, -10.0
#: Newton steps at most; the largest step of a log variance; gain in the criterion at which steps end.
MAX_INFORMATION_STEPS, MAX_STEP_SIZE, GAIN_TOLERANCE = 60, 3.0, 1e-2


class LogVarianceCriterion(Protocol):
    """What `maximize_criterion` climbs: `Criterion` on a dense covariance, `SparseCriterion` on sparse equations."""

    def derivatives(self, logs: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return criterion, gradient (T + 1,) and average information (T + 1, T + 1) at log variances (T + 1,)."""


@record
class Criterion:
    """Outcomes (n,) with covariances of terms (T, n, n) and noise variances up to a factor (n,)."""

    covariances: FloatArray
    noise: FloatArray
    y: FloatArray
    centres: FloatArray | None = None  #: Of the normal priors of log variances (T + 1,), the noise's last; None: flat.

    def derivatives(self, logs: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return criterion, gradient (T + 1,) and average information (T + 1, T + 1) at log variances (T + 1,)."""
        size, terms = len(self.y), len(self.covariances)
        scales = np.exp(logs)
        flat = self.covariances.reshape(terms, size * size)
        covariance = (scales[:-1] @ flat).reshape(size, size)
        covariance.flat[:: size + 1] += scales[-1] * self.noise
        inverse, log_det = inverse_of(covariance)
        weights = inverse.sum(axis=0)
        total = float(weights.sum())
        projected = inverse - np.outer(weights, weights / total)
        dual = projected @ self.y
        value = -0.5 * (log_det + np.log(total) + self.y @ dual + (size - 1) * np.log(2 * np.pi))
        images = np.column_stack([(flat.reshape(terms * size, size) @ dual).reshape(terms, size).T, self.noise * dual])
        traces = np.append(flat @ projected.ravel(), self.noise @ projected.diagonal())
        gradient = 0.5 * scales * (dual @ images - traces)
        information = 0.5 * np.outer(scales, scales) * (images.T @ (projected @ images))
        result = float(value), gradient, information
        return result if self.centres is None else add_prior(logs, self.centres, *result)


@record
class ReplicatedCriterion:
    """A criterion of the means of cells, and what rows say of the noise by differing within their cells."""

    means: LogVarianceCriterion
    squares: float  #: Squares of rows about the means of their cells, summed.
    freedom: float  #: Rows less cells.

    def derivatives(self, logs: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return criterion, gradient (T + 1,) and average information (T + 1, T + 1) at log variances (T + 1,)."""
        value, gradient, information = self.means.derivatives(logs)
        ratio = self.squares * np.exp(-logs[-1])
        gradient, information = gradient.copy(), information.copy()
        gradient[-1] += 0.5 * (ratio - self.freedom)
        information[-1, -1] += 0.5 * ratio
        return value - 0.5 * (ratio + self.freedom * float(logs[-1] + np.log(2 * np.pi))), gradient, information


def with_replicates(means: LogVarianceCriterion, within: tuple[float, float] | None) -> LogVarianceCriterion:
    """Return a criterion of the means of cells with squares and freedom within them, where they are given."""
    return means if within is None else ReplicatedCriterion(means, *within)


def prior_centres(terms: Sequence[ComponentTerm], cell_size: int) -> FloatArray:
    """Return the centres of the priors of log variances (T + 1,), in units of the outcome's variance.

    Components of one factor come first in the world, those of several are fewer and smaller; what is left to a cell
    alone, the labels of all ``cell_size`` factors where counts differ (0 where they do not), is as large as noise. Of
    many features few carry anything, so that one alone has to show it.
    """
    centres = [LOG_VARIANCE_OF_ONE if len(term.kernels) == 1 else LOG_VARIANCE_OF_SEVERAL for term in terms]
    for index, term in enumerate(terms):
        if term.is_one_feature:
            centres[index] = LOG_VARIANCE_OF_FEATURE
        elif term.features and len(term.kernels) == 1:
            centres[index] = LOG_VARIANCE_OF_FEATURES
        if term.is_labels and len(term.kernels) == cell_size:
            centres[index] = LOG_VARIANCE_OF_CELL
    return np.array([*centres, LOG_VARIANCE_OF_NOISE])


def start_logs(terms: int) -> FloatArray:
    """Return log variances (T + 1,) to start from where outcomes have variance 1: half of it is noise."""
    return np.asarray(np.log(np.append(np.full(terms, 0.5 / max(terms, 1)), 0.5)))


def best_saliences(criterion: LogVarianceCriterion, terms: Sequence[ComponentTerm]) -> Saliences:
    """Return the saliences of terms of the largest criterion, from a start that favours no term.

    Labels and features of a factor can say the same; so where there are features another start is without these labels.
    """
    start = start_logs(len(terms))
    best = maximize_criterion(criterion, start)
    described = {term.factors for term in terms if term.features and len(term.kernels) == 1}
    if described:
        replaced = [index for index, term in enumerate(terms) if term.is_labels and term.factors in described]
        start[replaced] = LOG_VARIANCE_OF_FEATURE
        best = max(best, maximize_criterion(criterion, start), key=lambda saliences: saliences.value)
    return best


def add_prior(
    logs: FloatArray, centres: FloatArray, value: float, gradient: FloatArray, information: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Add the normal prior of log variances (T + 1,) about its centres to a criterion and its derivatives there."""
    away = (logs - centres) / PRIOR_LOG_SD
    precisions = np.full(len(logs), PRIOR_LOG_SD**-2)
    return value - 0.5 * float(away @ away), gradient - away / PRIOR_LOG_SD, information + np.diag(precisions)


@record
class Saliences:
    """Variances of terms (T,) and of the noise, with the criterion there and what is uncertain about them."""

    variances: FloatArray
    noise: float
    value: float
    covariance: FloatArray  #: Of the log variances (T + 1, T + 1), the noise's last.
    steps: int

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of the variances (T + 1,), the noise's last."""
        scales = np.append(self.variances, self.noise)
        return np.asarray(scales * np.sqrt(self.covariance.diagonal()))


def maximize_criterion(
    criterion: LogVarianceCriterion, start: FloatArray, tolerance: float = GAIN_TOLERANCE
) -> Saliences:
    """Return the saliences at which the criterion is largest, from log variances ``start`` (T + 1,).

    Steps end where one gains less than ``tolerance``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(np.arange(40), 5)
    >>> y = 2.0 * rng.normal(size=40)[group] + rng.normal(size=200)
    >>> same = (group[:, None] == group).astype(float)[None]
    >>> saliences = maximize_criterion(Criterion(same, np.ones(200), y), np.zeros(2))
    >>> saliences.variances.round(1), round(saliences.noise, 1)
    (array([2.4]), 1.0)
    """
    logs = start.copy()
    value, gradient, information = criterion.derivatives(logs)
    damping, steps = 1e-3, 0
    while steps < MAX_INFORMATION_STEPS:
        steps += 1
        free = ~((logs <= MIN_LOG_VARIANCE) & (gradient < 0)) & ~((logs >= MAX_LOG_VARIANCE) & (gradient > 0))
        step = _damped_step(gradient, information, free, damping)
        trial = np.clip(logs + step, MIN_LOG_VARIANCE, MAX_LOG_VARIANCE)
        result = criterion.derivatives(trial)
        gain = result[0] - value
        if gain > 0:
            logs, (value, gradient, information) = trial, result
            damping = max(damping / 5, 1e-6)
        else:
            damping *= 10
        if (0 <= gain < tolerance) or damping > 1e6:
            break
    curvature = information + 1e-9 * np.eye(len(logs))
    return Saliences(np.exp(logs[:-1]), float(np.exp(logs[-1])), value, inverse_of(curvature)[0], steps)


def _damped_step(gradient: FloatArray, information: FloatArray, free: BoolArray, damping: float) -> FloatArray:
    """Return a Newton step of the free logs, none longer than the largest."""
    step = np.zeros(len(gradient))
    chosen = np.flatnonzero(free)
    if len(chosen):
        curvature = information[np.ix_(chosen, chosen)]
        ridge = damping * (curvature.diagonal() + 1e-2)
        step[chosen] = np.linalg.solve(curvature + np.diag(ridge), gradient[chosen])
    largest = np.abs(step).max(initial=0.0)
    return step * min(1.0, MAX_STEP_SIZE / largest) if largest > 0 else step


def inverse_of(covariance: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of a positive definite matrix and the log of its determinant."""
    from scipy.linalg.lapack import dpotrf, dpotri

    size = len(covariance)
    lower, failed = dpotrf(covariance, lower=1, clean=1)
    while failed:
        covariance = covariance + np.eye(size) * 1e-12 * covariance.diagonal().max()
        lower, failed = dpotrf(covariance, lower=1, clean=1)
    inverse, _ = dpotri(lower, lower=1)
    whole = np.asarray(inverse + inverse.T)
    whole.flat[:: size + 1] *= 0.5
    return whole, 2.0 * float(np.log(lower.diagonal()).sum())
