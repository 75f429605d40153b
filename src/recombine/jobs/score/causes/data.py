"""Causes that are the data's: noise, and outcomes that do not follow from the seen cells."""

from __future__ import annotations

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.amounts import ChanceSpread
from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.causes.learned import learned_amount
from recombine.jobs.score.regression import ErrorSplit


class NoiseCause(Cause):
    """Variance of the scored cells' mean outcomes, where rows repeat."""

    name = "noise"
    title = "noise of the outcomes"
    meaning = "measurements of one cell differ"
    action = "Measure the held-out cells more often: no model can predict this."
    of = "data"
    colour = "#d3d7de"
    is_noise = True

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread] | None:
        """Return the mean variance; its error is over cells, and that of the replicates it was pooled from."""
        if split.noise is None:
            return None
        variances = split.noise_variances[0]
        return float(variances.mean()), split.spread_of_mean(variances) + split.noise.spread


class SeenNoiseCause(Cause):
    """Variance of the determined values, as far as the model can be expected to carry it."""

    name = "seen noise"
    title = "noise of the training data"
    meaning = "noise of the seen cells, in what they determine"
    action = (
        "Measure the seen cells more often, or collect more of them: each determined value then carries less noise."
    )
    of = "data"
    colour = "#aab1bd"
    hatch = "...."
    is_noise = True

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread] | None:
        """Return the carried share of the mean variance; None where it is not known and stays with the structure."""
        if split.noise is None or not split.noise.carried.any():
            return None
        return split.carried_share * float(split.noise_variances[1].mean()), split.carried_spread


class StructureCause(Cause):
    """What the determined values miss of the outcomes, less the noise on both sides and what another model learned."""

    name = "structure"
    title = "effects do something else"
    meaning = "outcomes are not what the seen cells determine"
    action = (
        "Score under another structure (--structure), or collect these cells: what the seen ones say of them is wrong."
    )
    of = "data"
    colour = "#7d8694"
    name_at_one_cell = "noise or structure"  # of one cell they cannot be told apart

    def part(self, split: ErrorSplit) -> FloatArray:
        """Return determined value less outcome, noise included, (T,)."""
        learned = split.regressors.learned
        return split.missed if learned_amount(split) is None or learned is None else split.missed + learned.departure

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread]:
        """Return what is missed, less the noise of the outcomes and that of the determined values where known."""
        noise, carried = split.noise_variances * [[1.0], [split.carried_share]]
        amount = split.amount_of(split.missed) - (float(noise.mean()) + float(carried.mean()))
        over_cells = split.spread_of_mean(self.part(split) * split.error - noise - carried)
        of_noise = ChanceSpread(0.0) if split.noise is None else split.noise.spread.negated
        learned = learned_amount(split)
        return amount - (0.0 if learned is None else learned[0]), over_cells + of_noise + split.carried_spread


DATA_CAUSES = (NoiseCause(), SeenNoiseCause(), StructureCause())
