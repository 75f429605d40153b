"""Rest: what no other cause explains."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.regression import ErrorSplit


class RestCause(Cause):
    """Residuals of the regression."""

    name = "rest"
    title = "not explained"
    meaning = "no named cause"
    action = "Look at the cells that are missed by most: what they share may be a factor that the table does not name."
    of = "model"
    colour = "#4b3f72"
    is_named = False

    def part(self, split: ErrorSplit) -> FloatArray:
        """Return what the regression leaves unexplained, (T,)."""
        return split.unexplained

    def amount(self, split: ErrorSplit) -> tuple[float, float]:
        """Return the mean product of the residuals with the error."""
        # The fit leaves no agreement between the residuals and what it names, where by chance there is some.
        explained = split.error - split.missed - split.unexplained
        by_chance = split.error_of_mean(split.unexplained * explained)
        return split.amount_of(split.unexplained), float(np.hypot(split.bootstrap.of_unexplained, by_chance))
