"""Are a model's chances right throughout? The outcome is regressed on the log odds, or the logarithms, of its chances.

Of two classes the log odds of the outcome are intercept + slope x log odds of the prediction; of several the logarithms
of chances are multiplied by one slope, which is one over a temperature. A slope under 1 says that chances are too
extreme, one over 1 that they are too timid. Standard errors are over cells, whose rows may agree more than by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.amounts import Amount, ChanceSpread
from recombine.jobs.score.held_out import HeldOutCells
from recombine.jobs.score.predictions import MAX_CHANCES_OFF
from recombine.jobs.score.regression import Recalibrated, Regressors
from recombine.verdicts import Verdict

#: Chances are taken to be no closer to 0 and 1 than this; those of exactly 0 or 1 no closer than the second one.
MIN_CHANCE_TAKEN, MIN_CHANCE_OF_NONE = 1e-6, 1e-3
#: Slopes beyond which, and standard errors of slopes from which on, outcomes are told apart too well to fit one.
MAX_SLOPE_FITTED, MAX_SLOPE_ERROR = 50.0, 2.0
#: Condition number of the likelihood's curvature without one cell from which on that cell decides the slope alone.
MAX_CONDITION_RATIO = 1e10
#: Slope of the likelihood at which its top is reached.
LIKELIHOOD_TOLERANCE = 1e-9
#: Shares of the cells between which chances have to be off the same way.
ENDS_SHARES = (0.05, 0.95)


@dataclass(frozen=True)
class Calibration:
    """How log odds have to be stretched and shifted for chances to be right, on determined cells.

    Examples
    --------
    >>> Calibration(Amount(0.5, 0.4, 0.6), Amount(0, -0.1, 0.1), None, 0, 100, True).over_confident
    True
    """

    slope: Amount  #: What log odds have to be multiplied by: under 1 where chances are too extreme.
    intercept: Amount | None  #: What has to be added to them then; None where there are several classes.
    #: What has to be added in all at the low and the high end of the predictions; None where there are several classes.
    ends: tuple[Amount, Amount] | None
    clipped: int  #: Cells with chances of 0 or 1, or next to them, which were taken to be a little less sure.
    cells: int
    beyond_chance: bool  #: Whether slope and intercept together are not those of right chances.

    @property
    def over_confident(self) -> bool:
        """Whether chances are too extreme, beyond chance and by enough to be told."""
        return self.beyond_chance and self.slope.high < 1 and self.slope.value <= SCORE_LIMITS.slope_over_confident

    @property
    def under_confident(self) -> bool:
        """Whether chances are too timid, beyond chance and by enough to be told."""
        return self.beyond_chance and self.slope.low > 1 and self.slope.value >= 1 / SCORE_LIMITS.slope_over_confident

    @property
    def too_high(self) -> bool:
        """Whether chances of the second class are too high, beyond chance at both ends."""
        return self.beyond_chance and self.ends is not None and all(end.high < 0 for end in self.ends)

    @property
    def too_low(self) -> bool:
        """Whether chances of the second class are too low, beyond chance at both ends."""
        return self.beyond_chance and self.ends is not None and all(end.low > 0 for end in self.ends)


def calibrate(held_out: HeldOutCells, predicted: FloatArray) -> tuple[Calibration, Recalibrated] | None:
    """Return how far chances (H, K) are from right on the determined cells; None where predictions are no chances.

    Examples
    --------
    >>> import recombine as rc
    >>> rng, cells = np.random.default_rng(0), np.repeat(np.indices((8, 6, 5)).reshape(3, -1).T, 8, axis=0)
    >>> odds = (cells - cells.mean(axis=0)) @ [0.4, 0.3, 0.2]
    >>> y = (rng.random(len(cells)) < 1 / (1 + np.exp(-odds))).astype(float)
    >>> design = rc.Design.from_cells(cells, y, train=cells.sum(axis=1) % 3 > 0)
    >>> right = (design.held_out - cells.mean(axis=0)) @ [0.4, 0.3, 0.2]
    >>> scored = rc.score(design, {"right": 1 / (1 + np.exp(-right)), "sharp": 1 / (1 + np.exp(-2 * right))})
    >>> [(model.name, model.calibration.over_confident) for model in scored.models]
    [('right', False), ('sharp', True)]
    """
    bounds = (0.0, 1.0) if held_out.classes else held_out.design.outcome_column.two_values
    chosen = held_out.codes == Verdict.DETERMINED
    if bounds is None or chosen.sum() < SCORE_LIMITS.min_cells_for_causes:
        return None
    span = bounds[1] - bounds[0]
    chances, observed = ((values[chosen] - bounds[0]) / span for values in (predicted, held_out.observed))
    outside = (chances < -MAX_CHANCES_OFF) | (chances > 1 + MAX_CHANCES_OFF)
    if outside.any() or np.isin(chances, (0.0, 1.0)).all():
        return None
    if chances.shape[1] == 1:
        chances, observed = (np.hstack([1 - second, second]) for second in (chances, observed))
    rows = held_out.design.precision[held_out.rows(chosen)] * held_out.counts[chosen]
    columns, clipped = _columns(chances)
    fit = _fit(columns, observed, rows)
    if fit is None:
        return None
    numbers, covariance, influences = fit
    told = _calibration(columns, numbers, covariance, clipped, int((rows > 0).sum()))
    if told is None:
        return None
    fitted, moved = _stretched(columns, numbers)
    several = slice(None) if held_out.classes else slice(1, None)
    values = bounds[0] + span * fitted[:, several].ravel()
    return told, Recalibrated(values, span * moved[:, several].reshape(len(values), -1), influences)


def too_extreme(regressors: Regressors, predicted: FloatArray) -> bool:
    """Say whether predictions (T,) vary by more than what is determined makes them vary.

    Chances of which only noise is too large are over-confident as well, but not because effects are overdone.
    """
    determined, told = regressors.centred(np.column_stack([regressors.determined, predicted])).T
    return bool((regressors.counts * determined) @ told > (regressors.counts * determined) @ determined)


def _columns(chances: FloatArray) -> tuple[FloatArray, int]:
    """Return what a slope, and of two classes an intercept, multiply for each class, (T, K, P); and clipped cells."""
    sure = (chances <= 0) | (chances >= 1)
    nearest = float(np.minimum(chances, 1 - chances)[~sure].min(initial=MIN_CHANCE_OF_NONE))
    smallest = max(MIN_CHANCE_TAKEN, nearest)
    clipped = int(((chances < smallest) | (chances > 1 - smallest)).any(axis=1).sum())
    taken = np.clip(chances, smallest, 1 - smallest)
    logs = np.log(taken / taken.sum(axis=1, keepdims=True))[:, :, None]
    if chances.shape[1] > 2:
        return logs, clipped
    return np.concatenate([logs, np.broadcast_to([[0.0], [1.0]], logs.shape)], axis=2), clipped


def _stretched(columns: FloatArray, numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return chances (T, K) and by how much they change with each number, (T, K, P)."""
    from scipy.special import softmax

    fitted = softmax(columns @ numbers, axis=1)
    mean = np.einsum("tk,tkp->tp", fitted, columns)
    return fitted, fitted[:, :, None] * (columns - mean[:, None])


def _fit(
    columns: FloatArray, observed: FloatArray, rows: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the likeliest numbers (P,), their covariance over cells, and how far each cell moves them, (T, P)."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    def loss(numbers: Any) -> float:
        odds = columns @ numbers
        return float(rows @ (logsumexp(odds, axis=1) - np.sum(observed * odds, axis=1)) / rows.sum())

    def scores(numbers: Any) -> FloatArray:
        missed = observed - _stretched(columns, numbers)[0]
        return np.asarray(rows[:, None] * np.einsum("tk,tkp->tp", missed, columns))

    def curvature(numbers: Any) -> FloatArray:
        moved = _stretched(columns, numbers)[1]
        return np.asarray(np.einsum("t,tkp,tkq->tpq", rows, columns, moved))

    total, start = rows.sum(), np.eye(columns.shape[2])[0]
    derivatives: dict[str, Any] = {
        "jac": lambda numbers: -scores(numbers).sum(axis=0) / total,
        "hess": lambda numbers: curvature(numbers).sum(axis=0) / total,
    }
    best = minimize(loss, start, method="trust-exact", tol=LIKELIHOOD_TOLERANCE, **derivatives)
    by_cell = curvature(best.x)
    others = by_cell.sum(axis=0) - by_cell
    if np.abs(best.x).max() > MAX_SLOPE_FITTED or np.linalg.cond(others).max() > MAX_CONDITION_RATIO:
        return None
    # As far as the numbers move if a cell is left out: as residuals of what was fitted to them, scores are too small.
    influences = np.linalg.solve(others, scores(best.x)[:, :, None])[:, :, 0]
    return best.x, influences.T @ influences, influences


def _calibration(
    columns: FloatArray, numbers: FloatArray, covariance: FloatArray, clipped: int, cells: int
) -> Calibration | None:
    """Return the fitted numbers with their ranges."""
    from scipy.stats import f as f_distribution

    freedom, errors = float(cells - len(numbers)), np.sqrt(np.diag(covariance))
    if not 0 < errors[0] <= MAX_SLOPE_ERROR:
        return None
    off = numbers - np.eye(len(numbers))[0]
    statistic = float(off @ np.linalg.solve(covariance, off)) / len(numbers)
    beyond = bool(f_distribution.sf(statistic, len(numbers), freedom) < SCORE_LIMITS.share_outside)
    slope, intercept, ends = Amount.about(float(numbers[0]), ChanceSpread(float(errors[0] ** 2)), freedom), None, None
    if len(numbers) > 1:
        intercept = Amount.about(float(numbers[1]), ChanceSpread(float(errors[1] ** 2)), freedom)
        odds = np.quantile(columns[:, 1, 0] - columns[:, 0, 0], ENDS_SHARES)
        low, high = (
            Amount.about(float(at @ off), ChanceSpread(float(at @ covariance @ at)), freedom)
            for at in (np.array([end, 1.0]) for end in odds)
        )
        ends = (low, high)
    return Calibration(slope, intercept, ends, clipped, cells, beyond)
