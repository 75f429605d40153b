"""One structure fitted to cells with repeated measurements: predictions and 90 % ranges on the outcome's scale."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.design.design import Design
from recombine.errors import SolverError
from recombine.jobs.audit.left_out_cells import fit_order
from recombine.jobs.audit.noise import pooled_variance
from recombine.jobs.audit.ranges import Ranges, measure_ranges
from recombine.jobs.estimators.fold_ranges import FoldRanges, hold_out
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.theory.identification.leverage import Leverage
from recombine.theory.structures.structure import Structure, StructureData, StructureFit

#: Lower and upper ends of ranges, (N,) each.
Ends = tuple[FloatArray, FloatArray]


def fit_cells(
    structure: Structure,
    cells: IntArray,
    y: FloatArray,
    sizes: Sequence[int],
    shrink: bool,
    seed: int = 0,
) -> CellFit:
    """Fit a structure to cells (N, C), one row per measurement, with outcomes (N,).

    Examples
    --------
    >>> from recombine.theory.structures import STRUCTURES
    >>> cells, y = np.array([[0, 0], [0, 1], [1, 0]]), np.array([1.0, 10.0, 100.0])
    >>> fit_cells(STRUCTURES["log"], cells, y, (2, 2), False).predict(np.array([[1, 1]])).round(6)
    array([1000.])
    """
    values = None if shrink else structure.least_squares_scale(y)
    if values is None:
        data = StructureData(cells, y, sizes=tuple(sizes), separated="prior")
        return HeldOutFit(structure, data, seed, structure.fit(data))
    design = Design.from_cells(cells, values, sizes=sizes)
    normal = Leverage(design.features(structure.order), design.seen, design.precision)
    sums = fit_order(design, structure.order, normal)
    return LeastSquaresFit(structure, design, sums, normal, structure.from_sums(sums, values - sums.predict(cells)))


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """Least squares on the outcome or on the scale on which effects add, with the audit's ranges.

    Attributes
    ----------
    structure : Structure
    design : Design
        The outcomes on that scale.
    sums : AdditiveFit
    normal : Leverage
    fit : StructureFit
        The sums as outcomes.
    """

    structure: Structure
    design: Design
    sums: AdditiveFit
    normal: Leverage = field(repr=False)
    fit: StructureFit

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C); sums of a two-valued outcome lie between the two."""
        values = self.fit.predict(cells)
        return self.design.bounded(values) if self.structure.is_sum else values

    @cached_property
    def ranges(self) -> Ranges | None:
        """The audit's ranges of this design; None with too many levels to work out leverages."""
        if self.normal.solved_singly:
            return None
        pooled = pooled_variance(self.design)
        with suppress(SolverError):
            return measure_ranges(self.design, self.sums, self.normal, None if pooled is None else pooled[0])
        return None

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); NaN for none."""
        if self.ranges is None:
            return np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        # A range of means is that of the middle on the scale of sums; outcomes may have their mean above it.
        ranges, mean = self.ranges.of(cells), self.ranges.replicated
        return self.fit.to_outcome(ranges.low, mean=mean), self.fit.to_outcome(ranges.high, mean=mean)


@dataclass(frozen=True, eq=False)
class HeldOutFit:
    """Any other structure, with ranges from held-out seen cells.

    Attributes
    ----------
    structure : Structure
    data : StructureData
        One row per measurement.
    seed : int
    fit : StructureFit
    """

    structure: Structure
    data: StructureData = field(repr=False)
    seed: int
    fit: StructureFit

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C)."""
        return self.fit.predict(cells)

    @cached_property
    def ranges(self) -> FoldRanges:
        """Misses of the seen cells, each held out."""

        def predictor(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
            data = replace(self.data, cells=cells, y=self.fit.to_outcome(values))
            return self.structure.fit(data).centre(asked)

        data, y = self.data, self.data.y
        values = self.fit.from_outcome(y)
        ranges = hold_out(predictor, data.cells, values, self.structure.order, data.sizes, self.seed)
        return replace(ranges, chances=len(np.unique(y)) == 2 and not ranges.replicated)

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); beyond the seen range of a curve one end is open."""
        middle = self.fit.centre(cells)
        half, mean = self.ranges.half_width(middle), self.ranges.replicated
        low, high = (self.fit.to_outcome(end, mean=mean) for end in (middle - half, middle + half))
        if self.fit.seen_range is not None and (sums := self.fit.latent(cells)) is not None:
            beyond, above = self.fit.beyond(cells), sums > self.fit.seen_range[1]
            low, high = np.where(beyond & ~above, -np.inf, low), np.where(beyond & above, np.inf, high)
        return np.clip(low, *self.fit.outcome_bounds), np.clip(high, *self.fit.outcome_bounds)


#: A fitted structure; cells are to be seen or determined ones.
CellFit = LeastSquaresFit | HeldOutFit
