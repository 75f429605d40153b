"""Leak: less than all of a factor's effect arrives in the predictions, or more."""

from __future__ import annotations

from recombine.cells.arrays import FloatArray
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.causes.cause import Cause, CauseColumns, Coefficient
from recombine.jobs.score.limits import SCORE_LIMITS
from recombine.jobs.score.regression import Regressors


class LeakCause(Cause):
    """One column per factor, its effect: the coefficient is by how much the slope misses 1."""

    name = "leak"
    title = "effects arrive too weakly"
    meaning = "less than all of an effect arrives"
    overdone_meaning = "more than all of an effect arrives"
    action = (
        "Collect more combinations of that factor's levels: the part of an effect that a model stores with whole "
        "combinations does not reach the unseen ones."
    )
    of = "model"
    colour = "#d55e00"
    hit_rate = "leak"
    coefficient = Coefficient(
        "slope", 1.0, "effect that arrives", "share of a factor's effect that arrives in the predictions (1: all)"
    )

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns:
        """Return the effects of the factors."""
        return CauseColumns(regressors.effects, regressors.names)

    def message(self, factor: str, coefficient: Amount) -> str:
        """Say how much of the effect arrives, if it is clearly less or more than all."""
        if coefficient.high >= AUDIT_LIMITS.min_slope and coefficient.low <= SCORE_LIMITS.max_slope:
            return ""
        return f"{factor}: {coefficient.percent} of its effect arrives ({coefficient.percent_range})"
