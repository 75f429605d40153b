"""What chance alone does: how far it puts a cell's mean off, and whether cells lie further from adding than that.

The noise is known where rows repeat, or where the outcome has two values only. Where rows repeat the classical test of
lack of fit says whether effects interact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum, auto

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.design.design import Design
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.theory.identification.additive_fit import AdditiveFit, fit_additive

#: The chance of a two-valued outcome in one cell is taken to be no nearer to 0 or 1 than this share of the overall one.
MIN_CHANCE_SHARE = 0.1
#: How many of a cell's own measurements the additive fit counts for as an estimate of its chance.
FIT_COUNTS = 4.0


class NoiseSource(StrEnum):
    """What tells the noise: rows that repeat, these with the shape p (1 - p) of two values, or that shape alone."""

    REPLICATES = auto()
    TWO_VALUES_REPLICATES = auto()
    TWO_VALUES = auto()


@dataclass(frozen=True, eq=False)
class CellNoise:
    """The noise of the seen cells' means.

    If two values alone tell it, this is the most that noise can be: what an interaction adds looks the same.

    Examples
    --------
    >>> noise = cell_noise(Design.from_cells([[0, 0], [0, 0], [0, 1], [1, 0]], [1.0, 3.0, 5.0, 6.0]))
    >>> noise.source, noise.variances.tolist(), noise.freedom
    (<NoiseSource.REPLICATES: 'replicates'>, [1.0, 2.0, 2.0], 1.0)
    """

    variances: FloatArray = field(repr=False)  #: Variance of each seen cell's mean, (N,).
    source: NoiseSource
    freedom: float  #: Degrees of freedom of the replicates.

    @property
    def at_most(self) -> bool:
        """Whether this is only the most that noise can be."""
        return self.source is NoiseSource.TWO_VALUES


def cell_noise(design: Design, fit: AdditiveFit | None = None) -> CellNoise | None:
    """Return the noise of the seen cells' means, or None where nothing tells it.

    Where rows repeat, the variance of one measurement is pooled over all cells. A two-valued outcome with chance p has
    variance p (1 - p), with p from the additive fit and the cell's own rows: its shape over cells is taken from there,
    its size from the rows that repeat, if any do. ``fit`` is the fit of order 1, if there is one already.
    """
    pooled = pooled_variance(design)
    count = design.precision[design.train]
    if design.outcome_column.two_values is None:
        return None if pooled is None else CellNoise(pooled[0] / count, NoiseSource.REPLICATES, pooled[1])
    single = _chance_variances(design, fit)
    if pooled is None:
        return CellNoise(single / count, NoiseSource.TWO_VALUES, 0.0)
    expected = float(design.observed.replicates[1][design.train] @ single) / pooled[1]
    size = pooled[0] / expected if expected > 0 else 1.0
    return CellNoise(size * single / count, NoiseSource.TWO_VALUES_REPLICATES, pooled[1])


def _chance_variances(design: Design, fit: AdditiveFit | None) -> FloatArray:
    """Return (high - low)^2 p (1 - p) of one measurement in each seen cell, shape (N,)."""
    assert design.outcome_column.two_values is not None
    (low, high), outcome = design.outcome_column.two_values, design.observed.seen_outcome
    weight, rate = design.precision[design.train], (outcome - low) / (high - low)
    overall = float(np.average(rate, weights=weight))
    fit = fit or fit_additive(design.features(1), design.seen, outcome, weight)
    chance = np.clip(
        (fit.fitted - low) / (high - low), MIN_CHANCE_SHARE * overall, 1 - MIN_CHANCE_SHARE * (1 - overall)
    )
    own = np.maximum(weight - 1, 0)  # one try alone says nothing about its variance
    chance = (own * rate + FIT_COUNTS * chance) / (own + FIT_COUNTS)
    return np.asarray((high - low) ** 2 * chance * (1 - chance))


def pooled_variance(design: Design) -> tuple[float, float] | None:
    """Return the variance of one measurement pooled over the seen cells and its degrees of freedom, if rows repeat."""
    spread, freedom = (float(values[design.train].sum()) for values in design.observed.replicates)
    return (spread / freedom, freedom) if freedom >= 1 else None


@dataclass(frozen=True)
class LackOfFit:
    """F test of the additive model of one order against the noise of the replicates.

    Examples
    --------
    >>> rows = [[i, j] for i in range(2) for j in range(2)] * 2
    >>> lack_of_fit_test(Design.from_cells(rows, [0.0, 1.0, 2.0, 3.5, 0.2, 1.2, 2.2, 3.7]))
    LackOfFit(F(1, 4) = 6.25, p = 0.067)
    """

    statistic: float
    p_value: float
    freedom: tuple[float, float]  #: Of the cells about the model and of the rows within cells.
    departure: float  #: Root mean square of the cells' departures from the model, noise taken off, in outcome units.
    share: float  #: Share of the variance between cells, noise taken off, that the model explains; NaN without any.
    least_share: float  #: The least such share that the replicates leave possible.

    def __repr__(self) -> str:
        return f"LackOfFit({self.text})"

    @property
    def text(self) -> str:
        """The test as it is written: ``F(2, 48) = 4.19, p = 0.021``."""
        shown = "p < 1e-12" if self.p_value < 1e-12 else f"p = {self.p_value:.2g}"
        first, second = (f"{count:g}" if count < 1e6 else f"{count:.0f}" for count in self.freedom)
        return f"F({first}, {second}) = {self.statistic:.2f}, {shown}"


def lack_of_fit_test(design: Design, order: int = 1, fit: AdditiveFit | None = None) -> LackOfFit | None:
    """Compare the cell means' residuals about the fit of ``order`` with the noise within cells; None if nothing can.

    It takes rows that repeat and more seen cells than the model has free values. On a full factorial at order 1 this is
    the F test of all interactions together. ``fit`` is the fit of that order, if there is one already; one without a
    rank, too large for a direct solution, cannot be tested.
    """
    from scipy.special import fdtrc, ncfdtrinc

    pooled = pooled_variance(design)
    if pooled is None or pooled[0] <= 0:
        return None
    outcome, weight = design.observed.seen_outcome, design.precision[design.train]
    fit = fit or fit_additive(design.features(order), design.seen, outcome, weight)
    if fit.rank is None:
        return None
    (variance, within), spare = pooled, len(outcome) - fit.rank
    if spare < 1:
        return None
    misfit = float(np.sum(weight * (outcome - fit.fitted) ** 2))
    about = float(np.sum(weight * (outcome - np.average(outcome, weights=weight)) ** 2))
    statistic, cells = misfit / spare / variance, len(outcome) - 1
    excess, between = max(misfit - spare * variance, 0.0), about - cells * variance
    differ = float(fdtrc(cells, within, about / cells / variance)) <= AUDIT_LIMITS.p_value_shown
    most = (
        float(ncfdtrinc(spare, within, AUDIT_LIMITS.chance_overlooked, statistic)) * variance if statistic > 0 else 0.0
    )
    return LackOfFit(
        statistic,
        float(fdtrc(spare, within, statistic)),
        (spare, within),
        float(np.sqrt(excess / weight.sum())),
        1.0 - excess / between if differ else float("nan"),
        1.0 - max(most, excess) / between if differ else float("nan"),
    )
