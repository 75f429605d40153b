"""Thresholds of training."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.limits import Limits, limit

_WORK = "seconds of work"


@dataclass(frozen=True)
class TrainingLimits(Limits):
    """Training beside a forecast."""

    max_cells_trained: int = limit(2_000, "seen cells", "of more, the theory alone is asked")
    max_cells_at_once: int = limit(200, "seen cells", "up to which models take two seconds in all")
    work_at_once: float = limit(2.0, _WORK, "for tables up to that, by operations and not by the clock")
    work_at_most: float = limit(10.0, _WORK, "for larger ones")
    max_folds: int = limit(8, "folds", "that seen cells are left out in, where no rows are held out")
    heavy_tail: float = limit(12.0, "fourth standardized moment of seen outcomes", "above it a table has heavy tails")
    thin_table: float = limit(2.5, "seen cells per level of the largest factor", "up to it a table is thin")
    few_cells: int = limit(25, "cells", "with fewer judged, an error is uncertain by itself")
    min_trials: int = limit(15, "trials", "of fewer tables of a kind, the range of all is taken")


TRAINING_LIMITS = TrainingLimits()
