"""Thresholds that decide what a user reads: one frozen `Limits` per job, each number with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def limit(value: float, unit: str, why: str) -> Any:
    """Return a field of a `Limits`: ``min_cells: int = limit(8, "cells", "fewer say nothing")``."""
    return field(default=value, metadata={"unit": unit, "why": why})


@dataclass(frozen=True)
class Limits:
    """Base of a job's thresholds; docs/limits.md lists those of every ``limits.py``."""


@dataclass(frozen=True)
class ListingLimits(Limits):
    """Which cells are listed."""

    max_listed: int = limit(1_000_000, "cells", "larger products are not listed whole")
    max_sample: int = limit(10_000, "cells", "of larger products, held-out cells before others")
    max_departures: int = limit(6, "departures", "cells with more are not near the commonest one")


LISTING_LIMITS = ListingLimits()
