"""Offset: predictions are off by a constant."""

from __future__ import annotations

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.regression import ErrorSplit


class OffsetCause(Cause):
    """The constant of the regression."""

    name = "offset"
    title = "off by a constant"
    meaning = "all predictions are off by the same amount"
    action = "Shift the predictions, or compare how outcomes were centred for training and for the test."
    of = "model"
    colour = "#56b4e9"
    hatch = "xxxx"

    def part(self, split: ErrorSplit) -> FloatArray:
        """Return the constant at each cell, fitted to the others, (T,)."""
        return split.offset

    def amount(self, split: ErrorSplit) -> tuple[float, float]:
        """Return the constant's mean product with the error."""
        return split.amount_of(split.offset), split.bootstrap.of_offset
