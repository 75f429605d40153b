"""Shortcut: predictions follow the raw mean of a factor's levels against its effect."""

from __future__ import annotations

from recombine.cells.arrays import FloatArray
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.causes.cause import Cause, CauseColumns, Coefficient
from recombine.jobs.score.regression import Regressors


class ShortcutCause(Cause):
    """One column per factor, its raw mean less its effect: the coefficient is how far predictions follow the mean."""

    name = "shortcut"
    title = "raw means are followed"
    meaning = "a factor's raw mean (marginal) is followed against its effect"
    action = (
        "Collect combinations that break the tie between that factor and the others: in the seen cells its raw mean "
        "holds their effects too."
    )
    of = "model"
    colour = "#cc79a7"
    hatch = "////"
    hit_rate = "shortcut"
    coefficient = Coefficient(
        "pull",
        0.0,
        "raw mean that is followed",
        "share of a factor's prediction that follows the raw mean instead of the effect (0: none)",
    )

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns:
        """Return by how much the marginal of each factor misleads."""
        return CauseColumns(regressors.misleading, regressors.names)

    def message(self, factor: str, coefficient: Amount) -> str:
        """Say how much of the prediction follows the raw mean, if that is clearly some."""
        if coefficient.low <= AUDIT_LIMITS.shortcut_pull:
            return ""
        share, spread = coefficient.percent, coefficient.percent_range
        return f"{factor}: {share} of its prediction follows the raw mean instead of the effect ({spread})"
