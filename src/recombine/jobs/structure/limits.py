"""Thresholds of the structure that is assumed and of the ranges under it."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.limits import Limits, limit


@dataclass(frozen=True)
class StructureLimits(Limits):
    """Structures and ranges."""

    min_cells_compared: int = limit(30, "seen cells", "fewer do not tell structures apart")
    max_cells_compared: int = limit(60_000, "seen cells", "more are not needed to tell them apart")
    max_seconds_compared: float = limit(10.0, "seconds of a laptop", "by what fits count: all of them together")
    covered_share: float = limit(0.9, "share of cells", "that lie in their range")
    min_misses: int = limit(20, "seen cells", "predicted from the others, that a range takes")


STRUCTURE_LIMITS = StructureLimits()
