"""Seen noise: the noise of the seen cells is in the values that they determine, and in a model trained on them."""

from __future__ import annotations

from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.regression import ErrorSplit


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

    def part(self, split: ErrorSplit) -> None:
        """Return None: it is known on average over cells only."""

    def amount(self, split: ErrorSplit) -> tuple[float, float] | None:
        """Return the carried share of the mean variance; None where it is not known and stays with the structure."""
        if split.noise is None or not split.noise.carried.any():
            return None
        return split.carried_share * float(split.noise_variances[1].mean()), split.carried_error
