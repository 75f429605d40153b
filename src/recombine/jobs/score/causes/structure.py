"""Structure: outcomes are not what the seen cells determine."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.regression import ErrorSplit


class StructureCause(Cause):
    """What the determined values miss of the outcomes, less the noise on both sides."""

    name = "structure"
    title = "effects do something else"
    meaning = "outcomes are not what the seen cells determine"
    action = (
        "Score under another structure (--structure), or collect these cells: what the seen ones say of them is wrong."
    )
    of = "data"
    colour = "#7d8694"

    @property
    def name_at_one_cell(self) -> str:
        """Noise and structure of one cell cannot be told apart."""
        return "noise or structure"

    def part(self, split: ErrorSplit) -> FloatArray:
        """Return determined value less outcome, noise included, (T,)."""
        return split.missed

    def amount(self, split: ErrorSplit) -> tuple[float, float]:
        """Return what is missed, less the noise of the outcomes and that of the determined values where known."""
        noise, carried = split.noise_variances * [[1.0], [split.carried_share]]
        amount = split.amount_of(split.missed) - (float(noise.mean()) + float(carried.mean()))
        over_cells = split.error_of_mean(split.missed * split.error - noise - carried)
        noise_error = 0.0 if split.noise is None else split.noise.error
        return amount, float(np.sqrt(over_cells**2 + noise_error**2 + split.carried_error**2))
