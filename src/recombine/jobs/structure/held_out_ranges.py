"""90 % ranges of a structure whose values are not sums of seen outcomes, from its misses on held-out seen cells.

Each seen cell that was held out was missed by some distance. The range of a new cell is its value plus and minus the
90 % quantile (of n + 1, as conformal prediction has it) of the misses of those cells whose values are nearest: under a
curve, cells on its steep part are missed by more than those where it is flat. Noise is in it: a range is for one more
cell measured like the seen ones. The fits that missed had a fifth of the cells less than the one that predicts.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum, auto
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.design.design import Design
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.jobs.structure.choice import Choice

#: A range rests on so many misses with the nearest values: this share of all, but no fewer than this number.
NEAREST_VALUE_SHARE, MIN_NEAREST_VALUES = 0.1, 100
#: Places at which the quantile is worked out; between them it is interpolated.
KNOTS = 101


class NoRange(StrEnum):
    """Why no range can be given: chances that two-valued rows do not show, too few misses, or too little freedom."""

    CHANCES_UNSEEN = auto()
    FEW_CELLS = auto()
    FEW_DEGREES = auto()


class RangeOf(StrEnum):
    """What a range is for."""

    CELL_MEAN = auto()
    MEASUREMENT = auto()
    MEAN_OF_ROWS = auto()
    NEW_CELL = auto()


def local_quantiles(along: FloatArray, scores: FloatArray, width: int, rank: float) -> tuple[FloatArray, FloatArray]:
    """Return places along (n,) numbers, rising, and a quantile of the ``width`` scores (n,) around each, both (K,).

    ``rank`` says which: 0 the smallest of them, ``width - 1`` the largest; between two it is interpolated.

    Examples
    --------
    >>> at, around = local_quantiles(np.arange(200.0), np.repeat([1.0, 5.0], 100), width=50, rank=45)
    >>> np.interp([20.0, 180.0], at, around).tolist()
    [1.0, 5.0]
    """
    order = np.argsort(along, kind="stable")
    places, ordered, below = along[order], scores[order], int(rank)
    starts = np.unique(np.linspace(0, len(places) - width, KNOTS).astype(int))
    beside = [below, min(below + 1, width - 1)]
    pairs = np.array([np.partition(ordered[start : start + width], beside)[beside] for start in starts])
    return places[starts + width // 2], pairs[:, 0] + (rank - below) * (pairs[:, 1] - pairs[:, 0])


@record
class HeldOutRanges:
    """What held-out misses (n,) at predicted values (n,) say about the values of other cells.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.uniform(size=2_000)
    >>> ranges = HeldOutRanges(rng.normal(size=2_000) * values, values)
    >>> [round(float(width)) for width in 10 * ranges.half(np.array([0.2, 0.8]))]
    [3, 13]
    """

    misses: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    chances: bool = False
    what = RangeOf.NEW_CELL

    @property
    def obstacle(self) -> NoRange | None:
        """Why no range can be given; None if one can."""
        if self.chances:
            return NoRange.CHANCES_UNSEEN
        return NoRange.FEW_CELLS if len(self.misses) < STRUCTURE_LIMITS.min_misses else None

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Values and the quantile of the misses around each, both (K,), values rising."""
        count, share = len(self.values), STRUCTURE_LIMITS.covered_share
        width = min(max(MIN_NEAREST_VALUES, round(NEAREST_VALUE_SHARE * count)), count)
        rank = min(int(np.ceil((width + 1) * share)), width) - 1
        return local_quantiles(self.values, np.abs(self.misses), width, rank)

    def half(self, predicted: FloatArray) -> FloatArray:
        """Return half the width of the range at predicted values (N,); NaN where none can be given."""
        if self.obstacle:
            return np.full(len(predicted), np.nan)
        return np.asarray(np.interp(predicted, *self._knots))


def held_out_ranges(design: Design, choice: Choice) -> HeldOutRanges:
    """Return what the chosen structure's misses on held-out seen cells say about other cells."""
    observed = design.observed.seen_outcome[choice.places]
    return HeldOutRanges(observed - choice.predicted, choice.predicted, chances_unseen(design))


def chances_unseen(design: Design) -> bool:
    """Say whether the outcome has two values and no seen cell is measured twice, so that its chances do not show."""
    two = design.outcome_column.two_values is not None
    return two and bool((design.precision[design.train] <= 1).all())
