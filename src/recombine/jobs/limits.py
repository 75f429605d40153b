"""Thresholds that decide what a user reads: one frozen `Limits` per job, each number with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: Units of several limits.
_EXPLAINED = "share of explainable variance"
_DEVIATIONS = "the outcome's standard deviations"
_OF_ERROR = "share of squared error"
_WORK = "seconds of work"


def limit(value: float, unit: str, why: str) -> Any:
    """Return a field of a `Limits`: ``min_cells: int = limit(8, "cells", "fewer say nothing")``."""
    return field(default=value, metadata={"unit": unit, "why": why})


@dataclass(frozen=True)
class Limits:
    """Base of a job's thresholds; docs/limits.md lists them all, those of the lab too."""


@dataclass(frozen=True)
class PlanLimits(Limits):
    """What to collect."""

    min_gain: float = limit(5e-4, "share of the mean variance", "a cell that lowers it by less is not proposed")
    min_total_gain: float = limit(0.01, "share of the mean variance", "if all proposals lower it by less, data suffice")
    max_product: int = limit(300_000, "cells", "larger products are searched through a sample")
    max_candidates: int = limit(20_000, "cells", "among which those that lower the variance are chosen")


PLAN_LIMITS = PlanLimits()


@dataclass(frozen=True)
class AuditLimits(Limits):
    """Audit."""

    share_holds: float = limit(0.9, _EXPLAINED, "effects add if seen cells predict each other so well")
    share_holds_roughly: float = limit(0.6, _EXPLAINED, "and add roughly from here on")
    min_cells_tested: int = limit(8, "cells", "errors on fewer cells say nothing")
    min_share_tested: float = limit(0.5, "share of the seen cells", "the cells that others determine are the easy ones")
    max_noise_share: float = limit(0.75, "share of the mean's squared error", "under more noise nothing can be checked")
    min_excess: float = limit(2.0, "times the squared error of noise", "without a test, what is not noise")
    p_value_shown: float = limit(0.01, "p-value", "replicates show that effects interact")
    p_value_hinted: float = limit(0.05, "p-value", "replicates hint at it")
    chance_overlooked: float = limit(0.05, "chance", "how often replicates may overlook what they are said to rule out")
    max_cells_left_out: int = limit(1_200, "seen cells", "each is left out in turn: a dense inverse per network")
    max_cells_fitted: int = limit(300_000, "seen cells", "networks of few factors fitted in seconds")
    few_factors: int = limit(5, "factors", "with more, networks take all pairs of cells")
    max_cells_of_many_factors: int = limit(4_000, "seen cells", "networks of more factors fitted in seconds")
    max_cells_by_depth: int = limit(20_000, "seen cells", "networks of two layers and more are fitted as well")
    max_cells_of_models: int = limit(800, "seen cells", "of which other models are trained on parts, in seconds")
    min_effect: float = limit(0.15, _DEVIATIONS, "the slope of a factor that varies less means nothing")
    min_slope: float = limit(0.9, "share of an effect", "if less arrives at unseen cells, the rest leaks")
    shortcut_pull: float = limit(0.1, "share of the way to the marginal", "a shortcut draws predictions this far")
    shortcut_size: float = limit(0.12, _DEVIATIONS, "and moves them by this much")
    shortcut_share: float = limit(0.15, "share of the squared error", "and makes up this part of what is missed")
    max_leverage: float = limit(4.0, "variances of one measurement", "a determined cell above it is called shaky")


AUDIT_LIMITS = AuditLimits()


@dataclass(frozen=True)
class ListingLimits(Limits):
    """Which cells are listed."""

    max_listed: int = limit(1_000_000, "cells", "larger products are not listed whole")
    max_sample: int = limit(10_000, "cells", "of larger products, held-out cells before others")
    max_departures: int = limit(6, "departures", "cells with more are not near the commonest one")


LISTING_LIMITS = ListingLimits()


@dataclass(frozen=True)
class ScoreLimits(Limits):
    """Score."""

    min_cells_for_causes: int = limit(12, "determined cells", "fewer do not tell causes apart")
    share_outside: float = limit(0.05, "share", "what ranges leave out at their two ends together")
    share_over_noise: float = limit(0.2, _OF_ERROR, "where no more is over noise, nothing has to be explained")
    max_slope: float = limit(2 - AUDIT_LIMITS.min_slope, "share of an effect", "if more arrives, it is overdone")
    share_told: float = limit(0.05, _OF_ERROR, "a cause is a finding, and a factor's part in it is told, from here on")
    share_shown: float = limit(0.005, _OF_ERROR, "smaller shares round to no percent at all and are left out")
    max_factors_told: int = limit(12, "factors", "so many are put into words for one cause")
    times_to_prevail: float = limit(4, "times the error of the opposite", "what a cause is said to be where both occur")
    max_slices: int = limit(3, "slices", "levels or pairs of levels that carry the error, for each model")
    chance_of_slice: float = limit(0.02, "chance", "that any slice is told of a model that errs alike everywhere")
    min_cells_of_slice: int = limit(4, "determined cells", "fewer are no slice but single cells")
    max_share_of_slice: float = limit(0.5, "share of cells", "what holds more is no slice but the rule")
    min_times_of_slice: float = limit(1.5, "times the squared error of other cells", "from here on it is told")
    share_of_main_slice: float = limit(0.5, "share of squared error", "a slice with as much is in the first answer")
    slope_over_confident: float = limit(
        0.9, "slope of log odds", "where they need no less, chances are not told extreme"
    )
    max_eigenvalue_confounded: float = limit(0.05, "share of a column's variance", "what confounded columns vary by")
    min_weight_confounded: float = limit(0.3, "weight in such a direction", "of the columns that are confounded in it")


SCORE_LIMITS = ScoreLimits()


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


@dataclass(frozen=True)
class StructureLimits(Limits):
    """Structures and ranges."""

    min_cells_compared: int = limit(30, "seen cells", "fewer do not tell structures apart")
    max_cells_compared: int = limit(60_000, "seen cells", "more are not needed to tell them apart")
    max_seconds_compared: float = limit(10.0, "seconds of a laptop", "by what fits count: all of them together")
    covered_share: float = limit(0.9, "share of cells", "that lie in their range")
    min_misses: int = limit(20, "seen cells", "predicted from the others, that a range takes")


STRUCTURE_LIMITS = StructureLimits()


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
