"""Thresholds of splits and of their checks."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.limits import Limits, limit


@dataclass(frozen=True)
class SplitLimits(Limits):
    """Split."""

    outcome_bins: int = limit(10, "bins", "a numeric outcome is alike in test and training if so many bins are")
    max_outcome_classes: int = limit(100, "classes", "of more classes nothing can be alike")
    rows_per_tolerated_row: int = limit(200, "rows", "one row in so many may be missed to make outcomes alike")
    max_copies_by_chance: float = limit(0.01, "pairs expected by chance", "above that two levels may agree by chance")
    min_cells_copied: int = limit(2, "test cells", "a level on fewer is too little to be a copy of another")
    max_levels_compared: int = limit(50, "levels", "a test level is compared with those that share its rarest row")
    min_letters_folded: int = limit(3, "letters", "in shorter labels case has a meaning: the alleles A and a are two")


SPLIT_LIMITS = SplitLimits()
