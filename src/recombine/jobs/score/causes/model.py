"""Causes that are the model's: what it loses of effects, adds to them, or remembers."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.limits import AUDIT_LIMITS, SCORE_LIMITS
from recombine.jobs.score.amounts import Amount, ChanceSpread
from recombine.jobs.score.causes.cause import Cause, CauseColumns, Coefficient
from recombine.jobs.score.causes.learned import LearnableCause
from recombine.jobs.score.regression import ErrorSplit, Regressors

#: A network that varies by less than this share beyond what other columns say adds nothing of its own.
MIN_SHARE_BEYOND = 1e-3
#: Cells for each column of the regression, from which on every pair of factors has one of its own.
MIN_CELLS_PER_COLUMN = 2


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


class MemorizationCause(Cause):
    """One column per pair of factors, how seen cells of that pair depart; and one of a wide network beyond all others.

    Pairs are there for three to six factors, summed where cells are few, the network where it can be fitted to the
    seen cells.
    """

    name = "memorization"
    title = "single cells are remembered"
    meaning = "memorised: explained by similarity to single seen cells"
    action = (
        "Measure seen cells more often, or collect more of them: what is remembered of a single cell holds its noise."
    )
    of = "model"
    colour = "#f0e442"
    ridge_in_own_units = True

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns | None:
        """Return how pairs depart, and what the network says beyond those and the ``preceding`` columns."""
        blocks = []
        if (pairs := regressors.remembered) is not None:
            columns = 1 + preceding.shape[1] + pairs.shape[1] + 1
            enough = len(pairs) // regressors.per_cell >= MIN_CELLS_PER_COLUMN * columns
            blocks.append(pairs if enough else pairs.sum(axis=1, keepdims=True))
        if regressors.network is not None:
            others = np.column_stack([preceding, *map(regressors.centred, blocks)])
            network, roots = regressors.network - regressors.determined, regressors.roots
            network = regressors.centred(network[:, None])[:, 0]
            residuals = network - others @ np.linalg.lstsq(roots[:, None] * others, roots * network, rcond=None)[0]
            # Rounding alone would make a column of what is explained already; zeros keep the number of columns.
            blocks.append(residuals * (residuals.std() > MIN_SHARE_BEYOND * regressors.network.std()))
        if not blocks:
            return None
        values = np.column_stack(blocks)
        return CauseColumns(values, ("",) * values.shape[1])


class OverConfidenceCause(Cause):
    """No column: by how much chances are beyond those whose log odds are stretched to be right.

    It is taken out first where the slope of the outcome on log odds is under 1 beyond chance and predictions vary more
    than what is determined; the other causes are then those of the calibrated chances.
    """

    name = "over-confidence"
    title = "chances are too extreme"
    meaning = "chances are more extreme than the outcomes bear out"
    action = (
        "Calibrate the chances on rows that were held out (temperature or Platt scaling), or stop training earlier."
    )
    of = "model"
    colour = "#0072b2"
    hatch = "oo"

    def part(self, split: ErrorSplit) -> FloatArray | None:
        """Return by how much each chance is beyond the calibrated one, (T,); None where chances are not too extreme."""
        return None if split.recalibrated is None else split.over_confidence

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread] | None:
        """Return the mean product of what is beyond with the error; its spread is over cells, calibration included."""
        if split.recalibrated is None:
            return None
        spread = split.recalibrated.spread_of(
            split.over_confidence * split.error, -split.regressors.roots * split.error
        )
        return split.amount_of(split.over_confidence), spread


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

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread]:
        """Return the constant's mean product with the error."""
        return split.amount_of(split.offset), split.bootstrap.of_offset


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

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread]:
        """Return the mean product of the residuals with the error."""
        # The fit leaves no agreement between the residuals and what it names, where by chance there is some.
        explained = split.parts.sum(axis=1) + split.offset
        by_chance = split.spread_of_mean(split.unexplained * explained)
        return split.amount_of(split.unexplained), split.bootstrap.of_unexplained + by_chance + split.spread_of_seen(-1)


MODEL_CAUSES = (
    LearnableCause(),
    OverConfidenceCause(),
    LeakCause(),
    ShortcutCause(),
    InteractionCause(),
    MemorizationCause(),
    OffsetCause(),
    RestCause(),
)
