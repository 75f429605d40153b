"""Interaction: what the structure says beyond adding is lost."""

from __future__ import annotations

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.causes.cause import Cause, CauseColumns
from recombine.jobs.score.regression import Regressors


class InteractionCause(Cause):
    """One column, what the structure says beyond the sum of effects."""

    name = "interaction"
    title = "interactions are missed"
    meaning = "what the structure says beyond adding is lost, or overdone"
    action = "Use a model that can represent how factors act together, or train it on more combinations that show it."
    of = "model"
    colour = "#009e73"
    hatch = "\\\\\\\\"

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns | None:
        """Return what is beyond adding; None where effects add."""
        return CauseColumns(regressors.beyond[:, None], ("",)) if regressors.beyond.any() else None
