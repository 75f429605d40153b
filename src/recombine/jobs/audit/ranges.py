"""A value, a standard error and a 90 % range for every determined cell, calibrated on the seen cells themselves.

Each seen cell that the others determine is predicted from them, in closed form: with residual e and leverage h at
precision p, the cell is missed by e / (1 - p h), and its leverage without itself is h / (1 - p h). A miss holds the
noise of the cell's own mean, the noise of the fit, and the cell's departure from additivity, so its spread is

    s^2 = departure^2 (1 + g) + noise^2 (1 / p + h),

g being the leverage that departures have (p h where all cells count alike). Misses divided by s are scores; the range
of a new cell is its predicted value plus and minus q s, where q is the 90 % quantile (of n + 1, as conformal prediction
has it) of the scores of the seen cells whose leverage is nearest. No normal law is assumed, and where the formula errs
with leverage, q makes up for it. A new cell is taken to depart from additivity like a seen one of such a leverage.
Where runs of neighbouring levels are missing, as the last years of a series, it departs further: ranges are too narrow.

What the range is for: the cell's mean, if replicates say what noise is (its own noise, 1 / p, is then left out of s);
else one more measurement like the seen ones, for noise and departure cannot be told apart.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.design.design import Design
from recombine.design.scaling import nearest_knots, on_curve
from recombine.errors import SolverError
from recombine.jobs.audit.noise import pooled_variance
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.jobs.structure.choice import Choice
from recombine.jobs.structure.held_out_ranges import HeldOutRanges, NoRange, RangeOf, held_out_ranges, local_quantiles
from recombine.jobs.values.sources import PosteriorRanges
from recombine.tables.grouping import RowsAre
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.theory.identification.leverage import Leverage
from recombine.verdicts import Verdict

#: A range is calibrated on so many of them with the nearest leverage: this share of all, but no fewer than this number.
NEAREST_LEVERAGE_SHARE, MIN_NEAREST_LEVERAGES = 0.2, 50
#: 1 - p h below this: the cell is known from itself alone.
MAX_SHARE_ALONE = 1e-7
#: Misses that the spread is fitted to at most, and the freedom of its Student law (a few wild cells count little).
MAX_MISSES_FITTED, STUDENT_DEGREES = 2_000, 5.0
#: Listed cells whose leverage is solved for where each takes a solve of its own.
SOLVED_CELLS = 5


@dataclass(frozen=True, eq=False)
class CellRanges:
    """Values of some cells in outcome units, each of shape (N,): predicted, standard error, ends of the 90 % range.

    ``low`` and ``high`` allow for more than the standard error: for noise and departures of the cell of its own. They
    are NaN where no range can be given. ``certified`` is what follows from the seen cells under the structure, NaN
    where the cell is not determined.
    """

    predicted: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    certified: FloatArray


@dataclass(frozen=True, eq=False)
class Spread:
    """Variances behind a miss: the cells' departure from additivity, and the noise of one measurement."""

    departure: float
    noise: float

    def of(self, own: FloatArray, leverage: FloatArray, carried: FloatArray) -> FloatArray:
        """Return the standard deviation of misses, (N,), from 1 / p of the cell's own mean (0: the true mean).

        ``leverage`` is that of noise, ``carried`` that of the other cells' departures.
        """
        return np.sqrt(self.departure * (1 + carried) + self.noise * (own + leverage))


@record
class Ranges:
    """What the seen cells' own misses say about the values of others; see `measure_ranges`."""

    design: Design
    fit: AdditiveFit
    leverages: Leverage
    misses: FloatArray = field(repr=False)  #: Observed less predicted from the others, where those determine it, (n,).
    without: FloatArray = field(repr=False)  #: Leverage of each without itself, (n,).
    scores: FloatArray = field(repr=False)  #: Misses, without sign, in units of their spread, (n,).
    spread: Spread
    residual: float  #: Standard deviation of one measurement about the fit; NaN without freedom.
    freedom: int  #: Degrees of freedom of the residuals.
    replicated: bool  #: Whether replicates say what noise is, so that the range is for the cell's mean.

    @property
    def independent(self) -> int:
        """How many misses are worth counting: those there are, but no more than the fit's degrees of freedom."""
        return min(len(self.misses), self.freedom)

    @property
    def obstacle(self) -> NoRange | None:
        """Why no range can be given; None if one can."""
        if self.design.outcome_column.two_values is not None and not self.replicated:
            return NoRange.CHANCES_UNSEEN
        if self.independent >= STRUCTURE_LIMITS.min_misses:
            return None
        return NoRange.FEW_DEGREES if self.freedom < len(self.misses) else NoRange.FEW_CELLS

    @property
    def what(self) -> RangeOf:
        """What the ranges are for: the cell's mean, or one measurement."""
        if self.replicated:
            return RangeOf.CELL_MEAN
        return RangeOf.MEAN_OF_ROWS if self.design.observed.rows_are is RowsAre.MEANS else RangeOf.MEASUREMENT

    @property
    def own(self) -> float:
        """1 / p of what a range is for: nothing for the true mean, else that of a typical seen cell."""
        return 0.0 if self.replicated else float(1 / np.median(self.design.precision[self.design.train]))

    def of(
        self, cells: IntArray, measurements: FloatArray | None = None, leverage: FloatArray | None = None
    ) -> CellRanges:
        """Return value, standard error and range of determined ``cells`` (N, C); meaningless for others.

        ``measurements`` (N,) asks for the range of a mean of so many of each cell, instead of what `what` says;
        ``leverage`` (N,) is that of the cells, where it is known, NaN where it is not.
        """
        predicted = self.fit.predict(cells)
        h = np.maximum(self.leverages.of(cells) if leverage is None else leverage, 0.0)
        carried = h * self._levels.share(cells)
        error = self._standard_error(h, carried)
        half = np.full(len(cells), np.nan)
        if not self.obstacle:
            own = np.full(len(cells), self.own) if measurements is None else 1 / measurements
            half = self._quantile(h, cells) * self.spread.of(own, h, carried)
        # The mean of a two-valued outcome lies between its values.
        low, middle, high = map(self.design.outcome_column.bounded, (predicted - half, predicted, predicted + half))
        return CellRanges(middle, error, low, high, middle)

    def _standard_error(self, h: FloatArray, carried: FloatArray) -> FloatArray:
        """Standard error of the predicted values, (N,), the seen cells' departures counted as noise of theirs.

        Where all cells count alike this is the textbook's. Where not, that would let departures shrink with the number
        of measurements like noise, so each part has its own leverage.
        """
        if self._levels.even or not len(self.misses):
            return np.asarray(self.residual * np.sqrt(h))
        return np.sqrt(self.spread.departure * carried + self.spread.noise * h)

    @cached_property
    def _levels(self) -> _LevelWeights:
        return _LevelWeights(self.design)

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Leverages and the quantile of the scores around each, both (K,), leverages rising."""
        return score_quantiles(self.without, self.scores, self.independent)

    def _quantile(self, h: FloatArray, cells: IntArray) -> FloatArray:
        near = np.asarray(np.interp(h, *self._knots))
        if not (curved := on_curve(self.design.scales, cells)).any():
            return near
        # On a curve leverage says where a value lies rather than how well its levels are known: all scores count.
        return np.where(curved, score_quantiles(self.without, self.scores, self.independent, 1.0)[1][0], near)


def score_quantiles(
    along: FloatArray, scores: FloatArray, independent: int, share: float = NEAREST_LEVERAGE_SHARE
) -> tuple[FloatArray, FloatArray]:
    """Return places along (n,) numbers and the 90 % quantile of the scores (n,) nearest to each, both (K,).

    Of the scores ``independent`` are worth counting: misses share cells, so that there are no more than the fit leaves
    degrees of freedom.
    """
    width = min(max(MIN_NEAREST_LEVERAGES, round(share * len(along))), len(along))
    counted = width * independent / len(along)
    rank = min((1 + 1 / counted) * STRUCTURE_LIMITS.covered_share * width, width) - 1
    return local_quantiles(along, scores, width, rank)


class _LevelWeights:
    """Weights of the levels: how much the departures of a few heavy cells carry over, beside their noise.

    A mean over cells of precision p has noise variance 1 / sum p and departure variance sum p^2 / (sum p)^2. The ratio
    of the two, summed over the levels of a cell, stands for g / h, and is exact where all cells count alike.
    """

    def __init__(self, design: Design) -> None:
        self.design, self.precision = design, design.precision[design.train]
        self.even = bool(np.allclose(self.precision, self.precision[0]))
        self.sums = [(self._total(factor, 1), self._total(factor, 2)) for factor in range(len(design.sizes))]

    def _total(self, factor: int, power: int) -> FloatArray:
        """Sum of the seen cells' precisions, to a power, over each level of a factor and its twins."""
        seen, total = nearest_knots(self.design.scales, self.design.seen), np.zeros(self.design.sizes[factor])
        for twin in self.design.space.twins(factor):
            total += np.bincount(seen[:, twin], self.precision**power, len(total))
        return total

    def share(self, cells: IntArray, without: FloatArray | float = 0.0) -> FloatArray:
        """Return g / h of ``cells`` (N, C), with a cell of precision ``without`` (N,) taken out of each level, (N,)."""
        if self.even:
            return np.full(len(cells), self.precision[0])
        cells = nearest_knots(self.design.scales, cells)
        noise, departure = np.zeros(len(cells)), np.zeros(len(cells))
        for (sums, squares), levels in zip(self.sums, cells.T, strict=True):
            others = np.maximum(sums[levels] - without, self.precision.min())
            noise += 1 / others
            departure += np.maximum(squares[levels] - without**2, 0.0) / others**2
        return np.asarray(np.where(departure > 0, departure, noise * self.precision.min()) / noise)


def structure_columns(
    design: Design,
    ranges: Ranges | HeldOutRanges | PosteriorRanges | None,
    cells: IntArray,
    certified: FloatArray,
    leverage: FloatArray | None = None,
) -> FloatArray:
    """Return value, standard error and ends of the range of determined ``cells`` (N, C) as rows (4, N).

    The values are those that are ``certified`` (N,); NaN where there is no standard error or range.
    """
    columns, bounded = np.full((4, len(cells)), np.nan), design.outcome_column.bounded
    columns[0] = certified
    if isinstance(ranges, HeldOutRanges):
        half = ranges.half(certified)
        columns[2:] = bounded(certified - half), bounded(certified + half)
    elif isinstance(ranges, Ranges):
        some = ranges.of(cells, leverage=leverage)
        columns[1:] = some.standard_error, bounded(some.low), bounded(some.high)
    return columns


def listed_leverage(leverages: Leverage, cells: IntArray, codes: IntArray) -> FloatArray:
    """Return the leverage of ``cells`` (T, C) with verdicts (T,), (T,); NaN where not determined.

    Where each cell needs a solve of its own only a few determined cells, spread over the list, are solved.
    """
    rows = np.flatnonzero(codes <= Verdict.DETERMINED)
    if leverages.solved_singly and len(rows):
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, SOLVED_CELLS).astype(int))]
    result = np.full(len(codes), np.nan)
    # A cell whose solve does not converge is left open rather than stopping the audit.
    with suppress(SolverError):
        result[rows] = leverages.of(cells[rows])
    return result


def ranges_under(
    choice: Choice, design: Design, fit: AdditiveFit | None, leverages: Leverage
) -> Ranges | HeldOutRanges | None:
    """Return the ranges of values under a structure; None without an outcome or leverages."""
    if not choice.structure.is_sum:
        return held_out_ranges(design, choice)
    return None if fit is None else ranges_of_sums(design, fit, leverages)


def ranges_of_sums(design: Design, fit: AdditiveFit, leverages: Leverage) -> Ranges | None:
    """Return the ranges of sums of effects; None where leverages take too long or cannot be had."""
    if leverages.solved_singly:
        return None
    pooled = pooled_variance(design)
    # Where floating point cannot invert the seen cells, values are given without error or range.
    with suppress(SolverError):
        return measure_ranges(design, fit, leverages, None if pooled is None else pooled[0])
    return None


def measure_ranges(design: Design, fit: AdditiveFit, leverages: Leverage, noise: float | None = None) -> Ranges:
    """Predict every seen cell from the others and return what that says about the values of unseen ones.

    ``fit`` and ``leverages`` are of the seen cells by their precision; ``noise`` is the variance of one measurement,
    where replicates tell it.

    Examples
    --------
    >>> from recombine.design import Design
    >>> from recombine.theory.identification import Leverage, fit_additive
    >>> cells = np.array([[i, j] for i in range(9) for j in range(9) if (i, j) != (8, 8)])
    >>> bumps = np.random.default_rng(0).normal(size=80)
    >>> design = Design.from_cells(cells, outcome=cells.sum(axis=1) + bumps, sizes=(9, 9))
    >>> model = design.features(1)
    >>> ranges = measure_ranges(design, fit_additive(model, cells, design.outcome), Leverage(model, cells))
    >>> corner = ranges.of(np.array([[8, 8]]))
    >>> bool(corner.low[0] < 16 < corner.high[0]), len(ranges.misses), ranges.what.value
    (True, 80, 'measurement')
    """
    outcome, precision = design.observed.seen_outcome, design.precision[design.train]
    h = leverages.of_seen
    remaining = 1 - precision * h
    free = remaining > MAX_SHARE_ALONE
    error = outcome - fit.fitted
    misses, without, own = error[free] / remaining[free], h[free] / remaining[free], 1 / precision[free]
    carried = without * _LevelWeights(design).share(design.seen[free], precision[free])
    spread = fit_spread(misses, own, without, carried, noise)
    size = spread.of(own, without, carried)
    scores = np.divide(np.abs(misses), size, out=np.zeros(len(misses)), where=size > 0)
    freedom = len(outcome) - round(float((precision * h).sum()))  # the hat matrix' trace is the rank
    residual = float(np.sqrt(np.sum(precision * error**2) / freedom)) if freedom > 0 else float("nan")
    return Ranges(design, fit, leverages, misses, without, scores, spread, residual, freedom, noise is not None)


def fit_spread(
    misses: FloatArray, own: FloatArray, without: FloatArray, carried: FloatArray, noise: float | None
) -> Spread:
    """Choose departure and noise (where it is not known) under which the misses are likeliest, by search on a grid."""
    if not len(misses) or not np.any(misses):
        return Spread(0.0, noise or 0.0)
    step = -(-len(misses) // MAX_MISSES_FITTED)
    misses, own, without, carried = (values[::step] for values in (misses, own, without, carried))
    typical = float(np.median(misses**2 / (1 + without / np.median(own))) or np.mean(misses**2))
    grid = typical * np.concatenate([[0.0], np.geomspace(1e-4, 1e3, 71)])
    noises = [noise] if noise is not None else grid * np.median(1 / own)
    if noise is None and np.allclose(own, own[0]):
        noises = [0.0]  # noise and departure have the same shape: call it all departure
    best, likeliest = -np.inf, Spread(typical, noise or 0.0)
    for candidate in noises:
        for departure in grid:
            variance = departure * (1 + carried) + candidate * (own + without)
            if not np.all(variance > 0):
                continue
            squares = misses**2 / variance
            likely = -0.5 * np.sum(np.log(variance) + (STUDENT_DEGREES + 1) * np.log1p(squares / (STUDENT_DEGREES - 2)))
            if likely > best:
                best, likeliest = likely, Spread(float(departure), float(candidate))
    return likeliest
