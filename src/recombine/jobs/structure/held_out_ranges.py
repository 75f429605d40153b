"""90 % ranges of a structure whose values are not sums of seen outcomes, from its misses on held-out seen cells.

Each seen cell that was held out was missed by some distance. The range of a new cell is its value plus and minus the
90 % quantile (of n + 1, as conformal prediction has it) of the misses of those cells whose values are nearest: under a
curve, cells on its steep part are missed by more than those where it is flat. Noise is in it: a range is for one more
cell measured like the seen ones. The fits that missed had a fifth of the cells less than the one that predicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr
from recombine.design.design import Design
from recombine.jobs.structure.choice import Choice

#: Share of cells that lie in their range.
COVERED_SHARE = 0.9
#: Fewer misses than this give no range.
MIN_MISSES = 20
#: A range rests on so many misses with the nearest values: this share of all, but no fewer than this number.
NEAREST_VALUE_SHARE, MIN_NEAREST_VALUES = 0.1, 100
#: Values at which the quantile is worked out; between them it is interpolated.
KNOTS = 101


@dataclass(frozen=True, eq=False)
class HeldOutRanges:
    """What held-out misses (n,) at predicted values (n,) say about the values of other cells.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.uniform(size=2_000)
    >>> found = HeldOutRanges(rng.normal(size=2_000) * values, values)
    >>> [round(float(width)) for width in 10 * found.half(np.array([0.2, 0.8]))]
    [3, 13]
    """

    misses: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    chances: bool = False

    __repr__ = brief_repr

    @property
    def obstacle(self) -> str:
        """Why no range can be given, in words; empty if one can."""
        if self.chances:
            return "no 90 % range: the outcome has two values and no rows repeat, so chances are not seen"
        if len(self.misses) >= MIN_MISSES:
            return ""
        return f"no 90 % range: {len(self.misses)} seen cells were held out, and it takes {MIN_MISSES}"

    @property
    def what(self) -> str:
        """What a range is for."""
        return "one more cell measured like the seen ones"

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Values and the quantile of the misses around each, both (K,), values rising."""
        order = np.argsort(self.values, kind="stable")
        values, misses = self.values[order], np.abs(self.misses)[order]
        width = min(max(MIN_NEAREST_VALUES, round(NEAREST_VALUE_SHARE * len(values))), len(values))
        starts = np.unique(np.linspace(0, len(values) - width, KNOTS).astype(int))
        rank = min(int(np.ceil((width + 1) * COVERED_SHARE)), width) - 1
        around = [float(np.partition(misses[start : start + width], rank)[rank]) for start in starts]
        return values[starts + width // 2], np.array(around)

    def half(self, predicted: FloatArray) -> FloatArray:
        """Return half the width of the range at predicted values (N,); NaN where none can be given."""
        if self.obstacle:
            return np.full(len(predicted), np.nan)
        return np.asarray(np.interp(predicted, *self._knots))


def held_out_ranges(design: Design, choice: Choice) -> HeldOutRanges:
    """Return what the chosen structure's misses on held-out seen cells say about other cells."""
    assert design.outcome is not None
    observed = design.outcome[design.train][choice.places]
    # Without replicates an outcome of two values shows no chances, and no distance from them.
    single = design.outcome_column.two_values is not None and bool((design.precision[design.train] <= 1).all())
    return HeldOutRanges(observed - choice.predicted, choice.predicted, single)
