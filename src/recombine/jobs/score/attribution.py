"""A model's squared error on determined cells, by cause: amounts that add up to the error, each with a range.

With outcome y, prediction p and a the value that seen cells determine, ``p - y = (p - a) + (a - y)``. The departure
``p - a`` is regressed on the columns of every cause in `recombine.jobs.score.causes`; the constant is the offset, what
no column explains the rest, and ``a - y`` the structure and the noise. A part's amount is the mean of its product with
the error, so that amounts add up whatever the causes are. The coefficients that a cell's parts are made of are fitted
to the other cells: fitted to the cell itself, chance agreement would be blamed on a cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.jobs.score.amounts import Amount, ChanceSpread
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.causes.model import OffsetCause, OverConfidenceCause
from recombine.jobs.score.regression import (
    BootstrapErrors,
    DesignMatrix,
    ErrorSplit,
    HeldOutNoise,
    Recalibrated,
    Redrawn,
    Regressors,
    RidgeRegression,
)

#: How often cells are drawn with replacement.
BOOTSTRAP_DRAWS = 400


@dataclass(frozen=True)
class FactorAmounts:
    """One cause, factor by factor, without factors that the cells do not vary: amounts, which sum to that of the cause.

    The coefficients are what the cause calls so: the slope of an effect, the pull of a marginal.
    """

    amounts: dict[str, Amount]
    coefficients: dict[str, Amount]


@record
class Attribution:
    """One model's error on T determined cells by cause; make one with `attribute`."""

    error: Amount  #: Mean squared error.
    #: They add up to the error; a negative one offsets others. Without replicates "structure" holds the noise too.
    causes: dict[str, Amount]
    per_factor: dict[str, FactorAmounts]  #: Of each cause that is told factor by factor.
    #: (T,): what each cause adds to each cell's error, times the root of its weight; structure together with noise.
    parts: dict[str, FloatArray] = field(repr=False)
    #: By how much the error falls if what one cause of the model's own adds is undone, and nothing else.
    removals: dict[str, Amount] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)  #: The other model beside which a cause shows, by cause.

    def main_causes(self, miss: FloatArray) -> npt.NDArray[np.object_]:
        """Return the cause whose part moves the error ``miss`` (N, K) of each of N cells furthest, (N,)."""
        moved = [(values.reshape(miss.shape) * miss).sum(axis=1) for values in self.parts.values()]
        names = np.array([CAUSES[name].name_at_one_cell or name for name in self.parts], dtype=object)
        return np.asarray(names[np.stack(moved).argmax(axis=0)])


def attribute(
    predicted: FloatArray,
    observed: FloatArray,
    regressors: Regressors,
    noise: HeldOutNoise | None = None,
    *,
    draws: int = BOOTSTRAP_DRAWS,
    seed: int = 0,
    recalibrated: Recalibrated | None = None,
) -> Attribution:
    """Split the mean squared error of predictions at T cells into causes that add up to it.

    Parameters
    ----------
    predicted, observed : float arrays of shape (T,)
        Of several classes T counts each cell once per class, and the causes add up to the sum over classes.
    regressors : Regressors
    noise : HeldOutNoise, optional
        Where replicates tell it.
    draws : int
        How often cells are drawn with replacement for the ranges.
    seed : int
    recalibrated : Recalibrated, optional
        Of chances that are too extreme: what that adds is a cause, and the others are those of the calibrated ones.

    Examples
    --------
    Seven tenths of the first factor's effect arrive:

    >>> effects = np.random.default_rng(0).normal(size=(60, 2))
    >>> truth = effects.sum(axis=1)
    >>> regressors = Regressors(truth, effects, np.zeros((60, 2)), np.zeros(60), ("dose", "site"))
    >>> attribution = attribute(truth - 0.3 * effects[:, 0], truth, regressors)
    >>> round(attribution.per_factor["leak"].coefficients["dose"].value, 2)
    0.7
    >>> round(attribution.causes["leak"].value / attribution.error.value, 2)
    1.0
    """
    roots, matrix = regressors.roots, design_matrix(regressors)
    error, predicted = roots * (predicted - observed), predicted if recalibrated is None else recalibrated.predicted
    departure = roots * (predicted - regressors.determined)
    missed = roots * (regressors.determined - observed)
    regression = RidgeRegression.fit(matrix, regressors, predicted, departure)
    parts, offset = regression.leave_one_out_parts(departure)
    unexplained = departure - offset - parts.sum(axis=1)
    groups = [*dict.fromkeys(matrix.causes), OffsetCause.name]
    bootstrap = BootstrapErrors(regression, error, departure, _members(matrix, groups, regression), draws, seed)
    split = ErrorSplit(
        predicted, regressors, noise, error, missed, matrix, regression, parts, offset, unexplained, bootstrap
    )
    split = replace(split, recalibrated=recalibrated, redrawn=_redrawn(split, departure))
    amounts = {cause.name: cause.amount(split) for cause in CAUSES}
    told = {cause.name: cause.part(split) for cause in CAUSES}
    parts_of_causes = {name: values for name, values in told.items() if values is not None}
    return Attribution(
        Amount.about(split.amount_of(split.error), split.spread_of_mean(split.error**2), split.freedom),
        {name: Amount.about(*amount, split.freedom) for name, amount in amounts.items() if amount is not None},
        _per_factor(split),
        parts_of_causes,
        {
            name: Amount.about(_removal(split, parts_of_causes[name]), spread, split.freedom)
            for name, spread in zip(groups, bootstrap.of_removals, strict=True)
            if amounts[name] is not None
        }
        | _removal_by_calibrating(split),
        {cause.name: by for cause in CAUSES if amounts[cause.name] is not None and (by := cause.by(split))},
    )


def _members(matrix: DesignMatrix, groups: Sequence[str], regression: RidgeRegression) -> FloatArray:
    """Return 1 where a column of the regression belongs to a cause, (J, G): the constants to the offset."""
    names = np.array([OffsetCause.name] * regression.constants + list(matrix.causes))
    return np.asarray(names[:, None] == np.array(groups), dtype=float)


def _removal(split: ErrorSplit, undone: FloatArray) -> float:
    """Return mean(error^2) - mean((error - undone)^2)."""
    return 2 * split.amount_of(undone) - float(np.mean(undone**2))


def _removal_by_calibrating(split: ErrorSplit) -> dict[str, Amount]:
    """Return what is removed where chances that are too extreme are made right; nothing of others."""
    if split.recalibrated is None:
        return {}
    undone, error = split.over_confidence, split.error
    spread = split.recalibrated.spread_of(2 * undone * error - undone**2, 2 * split.regressors.roots * (undone - error))
    return {OverConfidenceCause.name: Amount.about(_removal(split, undone), spread, split.freedom)}


def design_matrix(regressors: Regressors) -> DesignMatrix:
    """Return the columns of all causes, in the order of the registry."""
    columns = np.empty((len(regressors.determined), 0))
    causes: list[Cause] = []
    factors: list[str] = []
    for cause in CAUSES:
        added = cause.columns(regressors, columns)
        if added is not None:
            columns = np.column_stack([columns, regressors.centred(added.values)])
            causes += [cause] * len(added.factors)
            factors += added.factors
    own_units = np.array([cause.ridge_in_own_units for cause in causes], dtype=bool)
    return DesignMatrix(columns, tuple(cause.name for cause in causes), tuple(factors), own_units)


def _per_factor(split: ErrorSplit) -> dict[str, FactorAmounts]:
    """Return amount and coefficient of every factor, of each cause whose columns belong to factors."""
    coefficients = split.regression.column_coefficients
    errors = np.hypot(split.bootstrap.of_coefficients, _errors_by_noise(split))
    columns = np.arange(len(coefficients))
    tables: dict[str, FactorAmounts] = {}
    for column, (name, factor) in enumerate(zip(split.matrix.causes, split.matrix.factors, strict=True)):
        if not factor:
            continue
        table = tables.setdefault(name, FactorAmounts({}, {}))
        if not split.regression.varied[column]:
            continue
        spread = split.spread_of_columns(columns == column)
        table.amounts[factor] = Amount.about(float(split.column_amounts[column]), spread, split.freedom)
        if (coefficient := CAUSES[name].coefficient) is not None:
            value = coefficient.expected + float(coefficients[column])
            table.coefficients[factor] = Amount.about(value, ChanceSpread(float(errors[column] ** 2)), split.freedom)
    return tables


def _errors_by_noise(split: ErrorSplit) -> FloatArray:
    """Return how far noise in the seen cells may have moved the coefficient of every column, (K,).

    With as much noise again they move about as far as they are off already, on average and by chance.
    """
    if split.redrawn is None:
        return np.zeros(len(split.regression.column_coefficients))
    moved = split.redrawn.coefficients - split.regression.column_coefficients
    return np.asarray(np.sqrt(np.var(moved, axis=0, ddof=1) + np.mean(moved, axis=0) ** 2))


def _redrawn(split: ErrorSplit, departure: FloatArray) -> Redrawn | None:
    """Return what is fitted once noise was added to the seen cells; None where none was."""
    regressors, predicted, columns = split.regressors, split.predicted, split.regression.constants
    if not regressors.noisy_draws:
        return None

    def amounts(fit: RidgeRegression, departure: FloatArray) -> FloatArray:
        products = fit.coefficients * (fit.columns.T @ split.error) / len(split.error)
        return np.append(products[columns:], split.amount_of(departure) - products.sum())

    fitted, fits, departures = amounts(split.regression, departure), [], []
    for determined, effects, misleading in regressors.noisy_draws:
        noisy = replace(regressors, determined=determined, effects=effects, misleading=misleading)
        redrawn = regressors.roots * (predicted - determined)
        fits.append(RidgeRegression.fit(design_matrix(noisy), noisy, predicted, redrawn))
        departures.append(redrawn)
    drawn = list(zip(fits, departures, strict=True))
    residual = split.regression.residual_square(departure)
    lacking_all = float(np.mean([fit.residual_square(redrawn) for fit, redrawn in drawn])) - residual
    return Redrawn(
        np.stack([fit.column_coefficients for fit in fits]),
        np.stack([amounts(fit, redrawn) - fitted for fit, redrawn in drawn]),
        float(np.sqrt(min(residual / lacking_all, 1.0))) if lacking_all > 0 else 1.0,
    )
