"""Thresholds of the inspection."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.limits import Limits, limit

_ON_UNSEEN = "share of unseen variance"


@dataclass(frozen=True)
class InspectionLimits(Limits):
    """Inspection."""

    min_additive: float = limit(0.5, "share of the variance over all cells", "a layer adds if main effects are so much")
    min_pasted: float = limit(0.5, "correlation", "a layer pastes if unseen outputs are so much a mixture of seen ones")
    min_pasted_above_seen: float = limit(0.2, "correlation", "and so much more than seen ones are")
    min_volume: float = limit(0.5, "share of the volume on seen cells", "a layer that spans less stops moving")
    min_still: float = limit(0.5, "share of the usual volume", "a cell is still where levels span less")
    min_still_unseen: float = limit(0.1, "share of the unseen cells", "and that is told if more of them are still")
    max_error_right: float = limit(
        0.01, _ON_UNSEEN, "outputs are right if they miss by no more of what the right ones vary by"
    )
    max_error_near: float = limit(0.25, _ON_UNSEEN, "and are near the right ones up to here")
    max_error_over_all: float = limit(0.01, "share of the variance on all cells", "the same where they do not vary")
    min_sums: float = limit(0.9, "share of the variance on unseen cells", "they are sums if sums predict so much")
    max_unmixed: float = limit(0.3, "correlation", "unseen cells are no mixture if it is below, and below the seen")
    max_speed_told: float = limit(0.9, "share of the speed on seen cells", "a factor that slows to less is named")
    min_speed_lead: float = limit(0.01, "share of the next lowest speed", "if it is slower than others by this")


INSPECTION_LIMITS = InspectionLimits()
