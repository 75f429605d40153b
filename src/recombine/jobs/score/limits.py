"""Thresholds of the score."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.limits import Limits, limit

_OF_ERROR = "share of squared error"


@dataclass(frozen=True)
class ScoreLimits(Limits):
    """Score."""

    min_cells_for_causes: int = limit(12, "determined cells", "fewer do not tell causes apart")
    share_outside: float = limit(0.05, "share", "what ranges leave out at their two ends together")
    share_over_noise: float = limit(0.2, _OF_ERROR, "where no more is over noise, nothing has to be explained")
    max_slope: float = limit(2 - AUDIT_LIMITS.min_slope, "share of an effect", "if more arrives, it is overdone")
    share_told: float = limit(0.05, _OF_ERROR, "a cause is a finding, and a factor's part in it is told, from here on")
    share_shown: float = limit(0.005, _OF_ERROR, "smaller shares round to no percent at all and are left out")
    max_factors_told: int = limit(12, "factors", "so many are put into words for one cause")
    times_to_prevail: float = limit(4, "times the error of the opposite", "what a cause is said to be where both occur")
    max_slices: int = limit(3, "slices", "levels or pairs of levels that carry the error, for each model")
    chance_of_slice: float = limit(0.02, "chance", "that any slice is told of a model that errs alike everywhere")
    min_cells_of_slice: int = limit(4, "determined cells", "fewer are no slice but single cells")
    max_share_of_slice: float = limit(0.5, "share of cells", "what holds more is no slice but the rule")
    min_times_of_slice: float = limit(1.5, "times the squared error of other cells", "from here on it is told")
    share_of_main_slice: float = limit(0.5, "share of squared error", "a slice with as much is in the first answer")
    slope_over_confident: float = limit(
        0.9, "slope of log odds", "where they need no less, chances are not told extreme"
    )
    max_eigenvalue_confounded: float = limit(0.05, "share of a column's variance", "what confounded columns vary by")
    min_weight_confounded: float = limit(0.3, "weight in such a direction", "of the columns that are confounded in it")


SCORE_LIMITS = ScoreLimits()
