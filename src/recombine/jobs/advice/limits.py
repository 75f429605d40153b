"""Thresholds of plans."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.limits import Limits, limit


@dataclass(frozen=True)
class PlanLimits(Limits):
    """What to collect."""

    min_gain: float = limit(5e-4, "share of the mean variance", "a cell that lowers it by less is not proposed")
    min_total_gain: float = limit(0.01, "share of the mean variance", "if all proposals lower it by less, data suffice")
    max_product: int = limit(300_000, "cells", "larger products are searched through a sample")
    max_candidates: int = limit(20_000, "cells", "among which those that lower the variance are chosen")


PLAN_LIMITS = PlanLimits()
