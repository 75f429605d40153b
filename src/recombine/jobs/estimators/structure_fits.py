"""One structure fitted to cells with repeated measurements: predictions and 90 % ranges on the outcome's scale.

Where a structure is plain least squares its misses have a closed form, and ranges are the audit's. Elsewhere the seen
cells are held out in ten parts; each that the others determine is predicted from them and missed. A miss holds the
noise of the cell's own mean and what the structure gets wrong, departure^2 + noise^2 / p, p being the measurements
behind the mean. Misses in units of that are scores, and the range of a new cell is its predicted value plus and minus
the 90 % quantile of the scores of held-out cells whose predicted values are nearest: a curve that is flat at its ends
misses less there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.design.design import Design
from recombine.errors import RecombineError
from recombine.jobs.audit.additivity import determined_by_others, fit_order
from recombine.jobs.audit.ranges import Ranges, Spread, fit_spread, ranges_of_sums, score_quantiles
from recombine.jobs.structure.held_out_ranges import HeldOutRanges
from recombine.jobs.values.cell_values import weighted_design
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.theory.identification.leverage import Leverage
from recombine.theory.structures.structure import Structure, StructureData, StructureFit

#: Parts that are held out in turn, and held-out cells after which no further part is.
RANGE_FOLDS, ENOUGH_CELLS_HELD_OUT = 10, 20_000
#: Lower and upper ends of ranges, (N,) each.
Ends = tuple[FloatArray, FloatArray]


def fit_cells(
    structure: Structure,
    cells: IntArray,
    y: FloatArray,
    sizes: Sequence[int],
    shrink: bool,
    seed: int = 0,
    weights: FloatArray | None = None,
) -> CellFit:
    """Fit a structure to cells (N, C), one row per measurement or as many as ``weights`` (N,), with outcomes (N,)."""
    values = None if shrink else structure.least_squares_scale(y)
    if values is None:
        data = StructureData(cells, y, weights, weights, sizes=tuple(sizes), separated="prior")
        return HeldOutFit(structure, data, seed, structure.fit(data))
    design = weighted_design(cells, values, sizes, weights)
    normal = Leverage(design.features(structure.order), design.seen, design.precision)
    sums = fit_order(design, structure.order, normal)
    fit = structure.from_sums(sums, values - sums.predict(cells), weights)
    return LeastSquaresFit(structure, design, sums, normal, fit)


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """Least squares on the outcome or on the scale on which effects add, with the audit's ranges."""

    structure: Structure
    design: Design  # outcomes on that scale
    sums: AdditiveFit
    normal: Leverage = field(repr=False)
    fit: StructureFit  # the sums as outcomes

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C); sums of a two-valued outcome lie between the two."""
        values = self.fit.predict(cells)
        return self.design.outcome_column.bounded(values) if self.structure.is_sum else values

    @cached_property
    def ranges(self) -> Ranges | None:
        """The audit's ranges of this design; None with too many levels to work out leverages."""
        return ranges_of_sums(self.design, self.sums, self.normal)

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); NaN for none."""
        if self.ranges is None:
            return np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        # A range of means is that of the middle on the scale of sums; outcomes may have their mean above it.
        ranges, mean = self.ranges.of(cells), self.ranges.replicated
        return self.fit.to_outcome(ranges.low, mean=mean), self.fit.to_outcome(ranges.high, mean=mean)


@dataclass(frozen=True, eq=False)
class HeldOutFit:
    """Any other structure, with ranges from held-out seen cells."""

    structure: Structure
    data: StructureData = field(repr=False)  # one row per measurement
    seed: int
    fit: StructureFit

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C)."""
        return self.fit.predict(cells)

    @cached_property
    def ranges(self) -> FoldRanges:
        """Misses of the seen cells, each held out with all its rows."""
        cells, y = self.data.cells, self.fit.from_outcome(self.data.y)
        rows, which = distinct(cells)
        worth = np.ones(len(y)) if self.data.weights is None else self.data.weights
        count = np.bincount(which, worth)
        means = np.bincount(which, worth * y) / count
        residuals, replicates = y - means[which], len(y) - len(rows)
        noise = float(worth * residuals @ residuals) / replicates if replicates else None
        fold_of = np.random.default_rng(self.seed).permutation(len(rows)) % RANGE_FOLDS
        predicted = np.full(len(rows), np.nan)
        numbers, order = range(RANGE_FOLDS), self.structure.order
        for training, determined in determined_by_others(rows, fold_of, numbers, order, sizes=self.data.sizes):
            if len(determined):
                rows_used = training[which]
                data = replace(self.data.rows(np.flatnonzero(rows_used)), y=self.fit.to_outcome(y[rows_used]))
                with suppress(RecombineError):  # too little is left to fit
                    predicted[determined] = self.structure.fit(data).centre(rows[determined])
            if np.isfinite(predicted).sum() >= ENOUGH_CELLS_HELD_OUT:
                break
        done = np.flatnonzero(np.isfinite(predicted))
        misses, own, nothing = means[done] - predicted[done], 1 / count[done], np.zeros(len(done))
        spread = fit_spread(misses, own, nothing, nothing, noise)
        size = spread.of(own, nothing, nothing)
        scores = np.divide(np.abs(misses), size, out=np.zeros(len(misses)), where=size > 0)
        # A mean that noise explains wholly would have a range of no width: what is measured is what the range is for.
        usual = float(np.median(own)) if len(own) and noise is not None else 1.0
        return FoldRanges(
            misses=misses,
            values=predicted[done],
            chances=noise is None and len(np.unique(y)) == 2,
            scores=scores,
            spread=spread,
            replicated=noise is not None,
            own=usual,
        )

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); beyond the seen range of a curve one end is open."""
        middle = self.fit.centre(cells)
        half, mean = self.ranges.half(middle), self.ranges.replicated
        low, high = (self.fit.to_outcome(end, mean=mean) for end in (middle - half, middle + half))
        if self.fit.seen_range is not None and (sums := self.fit.latent(cells)) is not None:
            beyond, above = self.fit.beyond(cells), sums > self.fit.seen_range[1]
            low, high = np.where(beyond & ~above, -np.inf, low), np.where(beyond & above, np.inf, high)
        return np.clip(low, *self.fit.outcome_bounds), np.clip(high, *self.fit.outcome_bounds)


#: A fitted structure; cells are to be seen or determined ones.
CellFit = LeastSquaresFit | HeldOutFit


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FoldRanges(HeldOutRanges):
    """What n held-out seen cells of predicted ``values`` (n,) say about how far predictions miss; see `HeldOutFit`."""

    scores: FloatArray = field(repr=False)  #: (n,): Misses, without sign, in units of their spread.
    spread: Spread
    #: Whether repeated rows say what noise is: the range is for a mean like those seen; else for one measurement.
    replicated: bool
    own: float  #: Share of one measurement's noise in what a range is for.

    def half(self, predicted: FloatArray) -> FloatArray:
        """Return how far the range of cells with these predicted values (N,) reaches to either side; NaN for none."""
        if self.obstacle:
            return np.full(len(predicted), np.nan)
        own, nothing = np.full(len(predicted), self.own), np.zeros(len(predicted))
        knots = score_quantiles(self.values, self.scores, len(self.scores))
        return np.asarray(np.interp(predicted, *knots) * self.spread.of(own, nothing, nothing))
