"""Noise: measurements of one cell differ."""

from __future__ import annotations

import numpy as np

from recombine.jobs.score.causes.cause import Cause
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

    def part(self, split: ErrorSplit) -> None:
        """Return None: the noise of one cell cannot be told from what the structure misses there."""

    def amount(self, split: ErrorSplit) -> tuple[float, float] | None:
        """Return the mean variance; its error is over cells, and that of the replicates it was pooled from."""
        if split.noise is None:
            return None
        variances = split.noise_variances[0]
        return float(variances.mean()), float(np.hypot(split.error_of_mean(variances), split.noise.error))
