"""One structure fitted to cells with repeated measurements: predictions and 90 % ranges on the outcome's scale."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.design.design import Design
from recombine.errors import InputError, SolverError
from recombine.jobs.audit.left_out_cells import fit_order
from recombine.jobs.audit.noise import pooled_variance
from recombine.jobs.audit.ranges import Ranges, measure_ranges
from recombine.jobs.estimators.chances import fit_chances
from recombine.jobs.estimators.fold_ranges import FoldRanges, hold_out
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.theory.identification.leverage import Leverage
from recombine.theory.structures.chances import TwoValuedFit
from recombine.theory.structures.ladder import ORDERS, Fitted, fit_structure
from recombine.theory.structures.link import LinkFit
from recombine.theory.structures.products import LogFit

#: Structures that are least squares on the outcome or on its logarithm, unless they are shrunk.
LEAST_SQUARES = ("add", "pairs", "triples", "log")

#: Lower and upper ends of ranges, (N,) each.
Ends = tuple[FloatArray, FloatArray]


class CellFit(Protocol):
    """A fitted structure; cells are to be seen or determined ones."""

    @property
    def ranges(self) -> Ranges | FoldRanges | None:
        """What the ranges rest on."""
        ...

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C), shape (N,)."""
        ...

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); NaN for none."""
        ...

    def beyond(self, cells: IntArray) -> BoolArray:
        """Say of cells (N, C) whether they lie beyond the seen range of a curve."""
        ...


def fit_cells(
    name: str,
    cells: IntArray,
    y: FloatArray,
    sizes: Sequence[int],
    shrink: bool,
    seed: int = 0,
) -> CellFit:
    """Fit a structure to cells (N, C), one row per measurement, with outcomes (N,).

    Examples
    --------
    >>> cells = np.array([[0, 0], [0, 1], [1, 0]])
    >>> fit_cells("log", cells, np.array([1.0, 10.0, 100.0]), (2, 2), False).predict(np.array([[1, 1]])).round(6)
    array([1000.])
    """
    if name == "log" and y.min() < 0:
        place = int(y.argmin())
        raise InputError(f"y[{place}] is {y[place]:g}, which has no logarithm; give outcomes of at least 0")
    # Outcomes of zero have no logarithm: theirs is the likelihood of counts.
    if name in LEAST_SQUARES and not shrink and (name != "log" or y.min() > 0):
        values = np.log(y) if name == "log" else y
        design = Design.from_cells(cells, values, sizes=sizes)
        order = ORDERS.get(name, 1)
        normal = Leverage(design.features(order), design.seen, design.precision)
        fit = fit_order(design, order, normal)
        smear = float(np.exp(values - fit.predict(cells)).mean()) if name == "log" else None
        return LeastSquaresFit(design, fit, normal, smear)
    return StructureFit(name, cells, y, tuple(sizes), seed, fit_rows(name, cells, y, sizes))


def fit_rows(name: str, cells: IntArray, y: FloatArray, sizes: Sequence[int]) -> Fitted:
    """Fit a structure to rows; an outcome of two values has chances, which always exist (see `fit_chances`)."""
    values = np.unique(y)
    if name != "logit" or len(values) != 2:
        return fit_structure(name, cells, y)
    labels = (y == values[1]).astype(np.int64)
    return TwoValuedFit(fit_chances(cells, labels, 2, 1, sizes).fit, float(values[0]), float(np.ptp(values)))


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """Least squares on the outcome or its logarithm, with the audit's ranges.

    Attributes
    ----------
    design : Design
    fit : AdditiveFit
    normal : Leverage
    smear : float or None
        Of logarithms: mean of the exponential of the residuals, so that predictions are means; None for outcomes.
    """

    design: Design
    fit: AdditiveFit
    normal: Leverage = field(repr=False)
    smear: float | None

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C); of a two-valued outcome they lie between the two."""
        sums = self.fit.predict(cells)
        return self.design.bounded(sums) if self.smear is None else np.asarray(self.smear * np.exp(sums))

    @cached_property
    def ranges(self) -> Ranges | None:
        """The audit's ranges of this design; None with too many levels to work out leverages."""
        if self.normal.solved_singly:
            return None
        pooled = pooled_variance(self.design)
        with suppress(SolverError):
            return measure_ranges(self.design, self.fit, self.normal, None if pooled is None else pooled[0])
        return None

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); NaN for none."""
        if self.ranges is None:
            return np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        found = self.ranges.of(cells)
        if self.smear is None:
            return found.low, found.high
        # Of logarithms the range of a mean is that of the middle; outcomes have their mean above it.
        lift = self.smear if self.ranges.replicated else 1.0
        return np.asarray(lift * np.exp(found.low)), np.asarray(lift * np.exp(found.high))

    def beyond(self, cells: IntArray) -> BoolArray:
        """Say that no cell (N, C) is beyond anything: there is no curve."""
        return np.zeros(len(cells), dtype=bool)


@dataclass(frozen=True, eq=False)
class StructureFit:
    """Any other structure, with ranges from held-out seen cells.

    Attributes
    ----------
    name : str
    cells : int array of shape (N, C)
        One row per measurement.
    y : float array of shape (N,)
    sizes : tuple of int
    seed : int
    fit : TermsFit, LinkFit, LogFit, ProductFit, LikelihoodFit or TwoValuedFit
    """

    name: str
    cells: IntArray = field(repr=False)
    y: FloatArray = field(repr=False)
    sizes: tuple[int, ...]
    seed: int
    fit: Fitted

    def predict(self, cells: IntArray) -> FloatArray:
        """Return predictions at cells (N, C)."""
        return self.fit.predict(cells)

    @cached_property
    def ranges(self) -> FoldRanges:
        """Misses of the seen cells, each held out."""
        log = isinstance(self.fit, LogFit)

        def predictor(cells: IntArray, values: FloatArray, asked: IntArray) -> FloatArray:
            outcome = np.exp(values) if log else values
            return _middle(fit_rows(self.name, cells, outcome, self.sizes), asked)

        values = np.log(self.y) if log else self.y
        found = hold_out(predictor, self.cells, values, ORDERS.get(self.name, 1), self.sizes, self.seed)
        return replace(found, chances=len(np.unique(self.y)) == 2 and not found.replicated)

    def range_of(self, cells: IntArray) -> Ends:
        """Return the ends of the 90 % ranges of cells (N, C); beyond the seen range of a curve one end is open."""
        middle = _middle(self.fit, cells)
        half = self.ranges.half_width(middle)
        low, high = middle - half, middle + half
        if isinstance(self.fit, LogFit):
            lift = self.fit.smear if self.ranges.replicated else 1.0
            return lift * np.exp(low), lift * np.exp(high)
        if isinstance(self.fit, LinkFit):
            beyond, above = self.beyond(cells), self.fit.latent(cells) > self.fit.seen_range[1]
            low, high = np.where(beyond & ~above, -np.inf, low), np.where(beyond & above, np.inf, high)
        return np.clip(low, *self._possible), np.clip(high, *self._possible)

    @property
    def _possible(self) -> tuple[float, float]:
        """Between what outcomes of this structure lie."""
        if isinstance(self.fit, TwoValuedFit):
            return self.fit.low, self.fit.low + self.fit.width
        return (0.0, 1.0) if self.name == "logit" else (0.0 if self.name == "log" else -np.inf, np.inf)

    def beyond(self, cells: IntArray) -> BoolArray:
        """Say of cells (N, C) whether they lie beyond the seen range of the curve."""
        return self.fit.beyond(cells) if isinstance(self.fit, LinkFit) else np.zeros(len(cells), dtype=bool)


def _middle(fit: Fitted, cells: IntArray) -> FloatArray:
    """Return what ranges of cells (N, C) lie around: logarithms where effects add on these, else predictions.

    Those beyond the seen range of a curve are moved to its end: all that is known is that it increases.
    """
    if isinstance(fit, LogFit):
        return fit.logarithms.predict(cells)
    if isinstance(fit, LinkFit):
        return fit.curve(np.clip(fit.latent(cells), *fit.seen_range))
    return fit.predict(cells)
