"""The regression of a model's departures from determined values on the columns of the causes, and its errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.jobs.score.amounts import ChanceSpread

#: Weak ridge, per cell, in units of the predictions' variance: it decides only what the cells do not.
RIDGE = 1e-4
#: A column varies if its spread is over this share of the largest value.
VARIED_SHARE = 1e-9
#: Cells up to which each is drawn by itself; more are drawn in so many random groups.
MAX_GROUPS_DRAWN = 2_000
#: Products of columns that are held at once, 160 MB: of many columns there are fewer groups, but not below so many.
MAX_SUMMED_PRODUCTS, MIN_GROUPS_DRAWN = 20_000_000, 100


@record
class LearnedElsewhere:
    """What another model says beyond the determined values of T cells, as far as it was right."""

    departure: FloatArray  #: (T,), times the roots of the cells' weights.
    share: FloatArray  #: (T,): how much of what the model says counts, from 0 to 1; decided on other cells.
    by: str  #: The model.


@record
class Regressors:
    """What predictions at T cells are compared with."""

    determined: FloatArray  #: (T,): what the seen cells say under the chosen structure.
    effects: FloatArray  #: (T, F): effect of each factor's level, centred on the seen cells.
    misleading: FloatArray  #: (T, F): its marginal (the raw mean of the level) less its effect.
    beyond: FloatArray  #: (T,): what the structure says beyond the sum of effects; zero where effects add.
    names: tuple[str, ...]  #: Of the F factors, or groups of interchangeable ones.
    network: FloatArray | None = None  #: (T,): predictions of a wide network fitted to the seen cells.
    #: (T, P): by how much seen cells that share a pair of levels depart from what is determined, for each of
    #: P pairs of factors: what a model that memorizes pairs adds.
    remembered: FloatArray | None = None
    per_cell: int = 1  #: How many values in succession belong to one cell: one, or one per class.
    weights: FloatArray | None = None  #: (T,): how much each value counts, 1 on average.
    #: (T,), (T, F) and (T, F), some times over: what is determined, effects and misleading parts after noise was added
    #: to the seen cells. How far coefficients move then is how far they may be off already.
    noisy_draws: tuple[tuple[FloatArray, FloatArray, FloatArray], ...] = ()
    nested: tuple[tuple[str, str], ...] = ()  #: Factor and the one it lies inside: only the sum of the two is known.
    learned: LearnedElsewhere | None = None  #: Of each model: what another one got right.

    @property
    def counts(self) -> FloatArray:
        """How much each value counts, (T,)."""
        return np.ones(len(self.determined)) if self.weights is None else self.weights

    @property
    def roots(self) -> FloatArray:
        """Values times these, (T,), have mean squares in which each counts its weight and which sum over classes."""
        return np.sqrt(self.per_cell * self.counts)

    def centred(self, values: FloatArray) -> FloatArray:
        """Return columns (T, K) less their weighted means, those of each class by themselves."""
        by_class = values.reshape(-1, self.per_cell, values.shape[1])
        weights = self.counts.reshape(-1, self.per_cell, 1)
        return np.asarray((by_class - (weights * by_class).sum(axis=0) / weights.sum(axis=0)).reshape(values.shape))


@record
class HeldOutNoise:
    """Noise on T scored cells."""

    variances: FloatArray  #: (T,): of each cell's mean outcome.
    error: float  #: Standard error of their mean that other cells' replicates leave, beyond which cells are scored.
    carried: FloatArray  #: (T,): variance of the determined values: the noise of the seen cells they are made of.
    freedom: float  #: Free values that the seen cells decide, among which the carried noise is shared.
    skewness: float = 0.0  #: Of that mean: where few replicates hold most of the noise, there may be far more.

    @property
    def spread(self) -> ChanceSpread:
        """By how much chance moves the mean."""
        return ChanceSpread(self.error**2, self.skewness * self.error**3)


@record
class DesignMatrix:
    """Centred columns (T, K) that departures are regressed on, and the cause and factor (empty for none) of each.

    ``own_units`` (K,) says whether the ridge of a column is in units of its own variance rather than the predictions'.
    """

    columns: FloatArray
    causes: tuple[str, ...]
    factors: tuple[str, ...]
    own_units: BoolArray

    def of_cause(self, name: str) -> BoolArray:
        """Return which columns belong to a cause, (K,)."""
        return np.array([cause == name for cause in self.causes], dtype=bool)

    def varied(self, scale: float = 1e-300) -> BoolArray:
        """Return which columns vary beside values of the size ``scale``, (K,)."""
        largest = max(float(np.abs(self.columns).max(initial=0.0)), scale)
        return np.asarray(self.columns.std(axis=0) > VARIED_SHARE * largest)


@dataclass(frozen=True, eq=False)
class RidgeRegression:
    """The regression of departures (T,) on J columns: one constant per value of a cell, then K of a design matrix."""

    columns: FloatArray  # (T, J), times the roots of the weights; zeros where a column does not vary
    varied: BoolArray  # (K,)
    ridge: FloatArray  # (J,)
    inverse: FloatArray  # (J, J), of the normal equations
    coefficients: FloatArray  # (J,)
    constants: int

    @classmethod
    def fit(
        cls, matrix: DesignMatrix, regressors: Regressors, predicted: FloatArray, departure: FloatArray
    ) -> RidgeRegression:
        """Regress ``departure`` (T,), which is times the roots of the weights already."""
        constants, roots = regressors.per_cell, regressors.roots[:, None]
        values = roots * regressors.centred(np.column_stack([predicted, regressors.determined]))
        scale = float(np.sqrt(np.mean(values**2, axis=0).max()))
        varied = matrix.varied(scale)
        intercepts = np.tile(np.eye(constants), (len(departure) // constants, 1))
        columns = roots * np.column_stack([intercepts, varied * matrix.columns])
        # Memory varies far less than effects do: a ridge in units of the predictions would shrink it to nothing.
        units = np.where(matrix.own_units, np.mean(columns[:, constants:] ** 2, axis=0), scale**2)
        # Where nothing varies any ridge would do, but none would leave the equations singular.
        ridge = np.concatenate([np.zeros(constants), np.where(varied, np.maximum(RIDGE * units, 1e-300), 1.0)])
        inverse = np.linalg.inv(columns.T @ columns + len(departure) * np.diag(ridge))
        return cls(columns, varied, ridge, inverse, inverse @ (columns.T @ departure), constants)

    @property
    def column_coefficients(self) -> FloatArray:
        """Coefficient of every column, zero where it does not vary, (K,)."""
        return self.coefficients[self.constants :]

    def residual_square(self, departure: FloatArray) -> float:
        """Return the mean square of what no column explains of a departure (T,) that was fitted."""
        return float(np.mean((departure - self.columns @ self.coefficients) ** 2))

    def leave_one_out_parts(self, departure: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return each column's part (T, K) and the offset (T,), all with coefficients fitted to the other cells.

        The textbook's update for one row left out, with rows in blocks: all classes of a cell are left out together,
        so that the leverage is a small matrix per cell. The ridge stays that of all cells.
        """
        by_cell = self.columns.reshape(-1, self.constants, self.columns.shape[1])
        gains = by_cell @ self.inverse
        diagonal = np.arange(self.constants)
        one_minus_leverage = np.eye(self.constants) - gains @ by_cell.transpose(0, 2, 1)
        # A cell that alone decides a coefficient has leverage 1, and nothing is known without it.
        one_minus_leverage[:, diagonal, diagonal] = np.maximum(np.diagonal(one_minus_leverage, axis1=1, axis2=2), 1e-9)
        residuals = (departure - self.columns @ self.coefficients).reshape(-1, self.constants, 1)
        left_out_residuals = np.linalg.solve(one_minus_leverage, residuals)
        coefficients = self.coefficients - (gains * left_out_residuals).sum(axis=1)
        parts = self.columns * np.repeat(coefficients, self.constants, axis=0)
        return parts[:, self.constants :], parts[:, : self.constants].sum(axis=1)


class BootstrapErrors:
    """Spreads, by drawing cells with replacement: of amounts, and standard errors of coefficients (K,).

    ``of_offset`` is that of the constant's amount, ``of_unexplained`` that of what no column explains, ``of_removals``
    (G) of what the mean square loses without the part of each of G groups of columns, whose ``members`` (J, G) are 1.
    """

    def __init__(
        self,
        regression: RidgeRegression,
        error: FloatArray,
        departure: FloatArray,
        members: FloatArray,
        draws: int,
        seed: int,
    ) -> None:
        rng = np.random.default_rng(seed)
        columns, constants = regression.columns, regression.constants
        cells, size = len(error) // constants, columns.shape[1]
        upper = np.triu_indices(size)
        groups = min(cells, MAX_GROUPS_DRAWN, max(MAX_SUMMED_PRODUCTS // len(upper[0]), MIN_GROUPS_DRAWN))
        group_of_cell = np.arange(cells) if groups == cells else rng.integers(groups, size=cells)
        group_of_value = np.repeat(group_of_cell, constants)
        counts = rng.multinomial(groups, np.full(groups, 1 / groups), size=draws).astype(float)
        # The normal equations and all mean products are sums over cells: draws of these sums are enough.
        terms = [np.ones(len(error)), departure * error]
        terms += [*(columns * departure[:, None]).T, *(columns * error[:, None]).T]
        drawn = counts @ np.stack([np.bincount(group_of_value, term, groups) for term in terms], axis=1)
        total, coefficients = drawn[:, 0], np.empty((draws, size))
        squares = np.empty((draws, members.shape[1]))
        products, chunk = _products_by(group_of_value, columns, groups), max(MAX_SUMMED_PRODUCTS // size**2, 1)
        for start in range(0, draws, chunk):
            chosen = slice(start, start + chunk)
            normal = np.empty((len(total[chosen]), size, size))
            normal[:, upper[0], upper[1]] = normal[:, upper[1], upper[0]] = counts[chosen] @ products
            _centre(normal, drawn[chosen, 2:].reshape(-1, 2, size), constants)
            ridge = total[chosen, None, None] * np.diag(regression.ridge)
            coefficients[chosen] = np.linalg.solve(normal + ridge, drawn[chosen, 2 : 2 + size, None])[:, :, 0]
            of_groups = coefficients[chosen, :, None] * members
            squares[chosen] = (of_groups * (normal @ of_groups)).sum(axis=1)
        amounts = coefficients * drawn[:, 2 + size : 2 + 2 * size] / total[:, None]
        # Residuals of what was fitted to the cells are too small.
        self.correction = float(np.sqrt(cells / max(cells - constants - regression.varied.sum(), 1)))
        self.products = amounts[:, constants:]
        self.regression, self.error, self.departure = regression, error, departure
        constant = np.arange(size) < constants
        self.of_offset = self._spread(amounts[:, constant].sum(axis=1), self._influence(constant))
        unexplained = departure * error - self._influence(np.ones(size))
        self.of_unexplained = self._spread(drawn[:, 1] / total - amounts.sum(axis=1), unexplained)
        removals = 2 * amounts @ members - squares / total[:, None]
        self.of_removals = [
            self._spread(values, self._influence_of_removal(chosen))
            for values, chosen in zip(removals.T, members.T, strict=True)
        ]
        self.of_coefficients: FloatArray = self.correction * coefficients[:, constants:].std(axis=0)

    def of_columns(self, chosen: BoolArray) -> ChanceSpread:
        """Return the spread over cells of the amount of the ``chosen`` columns (K,) together."""
        members = np.concatenate([np.zeros(self.regression.constants), chosen])
        return self._spread(self.products[:, chosen].sum(axis=1), self._influence(members))

    def _influence(self, members: FloatArray | BoolArray, target: FloatArray | None = None) -> FloatArray:
        """Return by how much one more of each value would move an amount, (T,), up to a constant.

        The amount is the mean product of the part of some columns with the error, or with another ``target`` (T,).
        """
        columns, fit, target = self.regression.columns, self.regression, self.error if target is None else target
        by_coefficients = columns @ (fit.inverse @ (members * (columns.T @ target)))
        residuals = self.departure - columns @ fit.coefficients
        # What a value does to the mean of a column goes to the constant.
        recentred = (float(members[0]) - members) * (np.arange(len(members)) >= fit.constants) * fit.coefficients
        intercepts = columns[:, : fit.constants]
        constant = intercepts @ (intercepts.T @ target / (intercepts**2).sum(axis=0))
        own = columns @ (members * fit.coefficients) * target
        return np.asarray(by_coefficients * residuals + own + columns @ recentred * constant)

    def _influence_of_removal(self, members: FloatArray) -> FloatArray:
        """Return the same of what the mean square loses without a group's part, (T,)."""
        undone = self.regression.columns @ (members * self.regression.coefficients)
        return 2 * self._influence(members, self.error - undone) + undone**2

    def _spread(self, draws: FloatArray, influence: FloatArray) -> ChanceSpread:
        """Return the variance of draws of an estimate, and the third moment that values' influence on it says."""
        third = ChanceSpread.of_mean(influence.reshape(-1, self.regression.constants).mean(axis=1)).third
        return ChanceSpread(self.correction**2 * float(draws.var()), self.correction**3 * third)


def _centre(normal: FloatArray, targets: FloatArray, constants: int) -> None:
    """Centre columns on the cells of each of D draws, in place: products (D, J, J), and (D, 2, J) with two targets."""
    first = np.arange(constants)
    means = normal[:, :constants, constants:] / np.maximum(normal[:, first, first], 1e-300)[:, :, None]
    normal[:, constants:, constants:] -= normal[:, constants:, :constants] @ means
    normal[:, :constants, constants:] = normal[:, constants:, :constants] = 0.0
    targets[:, :, constants:] -= targets[:, :, :constants] @ means


def _products_by(group_of_value: IntArray, columns: FloatArray, groups: int) -> FloatArray:
    """Return X' X of the rows of each group, X being ``columns`` (T, K): its upper triangle, one row per group."""
    order = np.argsort(group_of_value, kind="stable")
    ends = np.searchsorted(group_of_value[order], np.arange(1, groups))
    upper = np.triu_indices(columns.shape[1])
    return np.stack([(rows.T @ rows)[upper] for rows in np.split(columns[order], ends)])


@record
class Recalibrated:
    """Predictions at T cells once their log odds are stretched and shifted, of P numbers fitted to these cells."""

    predicted: FloatArray  # (T * K,)
    moved: FloatArray  # (T * K, P): by how much they change with each number
    influences: FloatArray  # (T, P): by how much each cell moves the numbers

    def spread_of(self, products: FloatArray, change: FloatArray) -> ChanceSpread:
        """Return the spread of the mean of ``products`` (T * K,) that ``change`` so per prediction (T * K,)."""
        by_cell = products.reshape(len(self.influences), -1).mean(axis=1)
        gradient = (change[:, None] * self.moved).mean(axis=0)
        around = by_cell - by_cell.mean() + len(by_cell) * self.influences @ gradient
        return ChanceSpread(float(np.sum(around**2)) / len(around) ** 2)


@record
class Redrawn:
    """What is fitted with as much noise again in the seen cells, D times."""

    coefficients: FloatArray  # (D, K)
    moved: FloatArray  # (D, K + 1): by how much the amounts of every column and of the rest change
    share_lacking: float  # how much of that noise the model lacks at most: what it lacks, no column explains


@record
class ErrorSplit:
    """Prediction less outcome at T values, as the sum of parts; all times the roots of the cells' weights.

    ``error = missed + parts.sum(axis=1) + offset + unexplained + over_confidence``.
    """

    predicted: FloatArray  # (T,), without the roots
    regressors: Regressors
    noise: HeldOutNoise | None
    error: FloatArray  # (T,)
    missed: FloatArray  # (T,), the determined value less the outcome
    matrix: DesignMatrix
    regression: RidgeRegression
    parts: FloatArray  # (T, K), of each column of the design matrix
    offset: FloatArray  # (T,)
    unexplained: FloatArray  # (T,)
    bootstrap: BootstrapErrors
    recalibrated: Recalibrated | None = None  # predictions whose causes are told, where chances are too extreme
    redrawn: Redrawn | None = None  # where the noise of the seen cells is known

    @property
    def freedom(self) -> float:
        """Degrees of freedom that the regression leaves."""
        return float(max(len(self.error) / self.regressors.per_cell - self.regression.varied.sum() - 1.0, 1.0))

    @cached_property
    def column_amounts(self) -> FloatArray:
        """Mean product of each column's part with the error, (K,)."""
        return np.asarray(self.parts.T @ self.error / len(self.error))

    def amount_of(self, values: FloatArray) -> float:
        """Return the mean product of a part (T,) with the error."""
        return float(np.mean(values * self.error))

    def spread_of_mean(self, products: FloatArray) -> ChanceSpread:
        """Return the spread over cells of the mean of ``products`` (T,)."""
        return ChanceSpread.of_mean(products.reshape(-1, self.regressors.per_cell).mean(axis=1))

    def spread_of_columns(self, chosen: BoolArray) -> ChanceSpread:
        """Return the spread of the amount of the ``chosen`` columns (K,): over cells, and by what these do not tell."""
        return self.bootstrap.of_columns(chosen) + self.spread_of_seen(np.flatnonzero(chosen))

    def spread_of_seen(self, chosen: IntArray | int) -> ChanceSpread:
        """Return how far the ridge and noise that the model does not share move ``chosen`` columns (the rest: -1)."""
        fit, size = self.regression, len(self.error)
        shrunk = fit.inverse @ (size * fit.ridge * fit.coefficients) * (fit.columns.T @ self.error) / size
        by_ridge = float(np.append(shrunk[fit.constants :], -shrunk.sum())[chosen].sum())
        if self.redrawn is None:
            return ChanceSpread(by_ridge**2)
        moved = self.redrawn.moved[:, chosen].reshape(len(self.redrawn.moved), -1).sum(axis=1)
        by_noise = self.redrawn.share_lacking**2 * float(moved.var(ddof=1) + moved.mean() ** 2)
        return ChanceSpread(by_ridge**2 + by_noise)

    @cached_property
    def over_confidence(self) -> FloatArray:
        """What predictions are beyond those that the other causes are told of, (T,)."""
        return np.asarray(self.error - self.missed - self.parts.sum(axis=1) - self.offset - self.unexplained)

    @cached_property
    def carried_share(self) -> float:
        """How much of the seen cells' noise the model is taken to carry: as much as of the values made of them."""
        determined = self.regressors.centred(self.regressors.determined[:, None])[:, 0]
        square = float(determined @ determined)
        return float(np.clip(determined @ self.predicted / square, 0.0, 1.0)) if square > 0 else 0.0

    @property
    def noise_variances(self) -> FloatArray:
        """Noise (2, T) of outcomes and of determined values, times the weights; zeros where it is not known."""
        if self.noise is None:
            return np.zeros((2, len(self.error)))
        return self.regressors.counts * np.stack([self.noise.variances, self.noise.carried])

    @property
    def carried_spread(self) -> ChanceSpread:
        """By how much chance moves the amount of the seen cells' noise."""
        if self.noise is None:
            return ChanceSpread(0.0)
        noise, carried = self.noise_variances.mean(axis=1)
        over_noise = max(self.amount_of(self.error) - noise, 0.0)
        # By chance that noise is larger or smaller, and agrees with what the model does otherwise; and how much of it a
        # model carries is known only as far as it departs from what is determined.
        lacking = 1.0 if self.redrawn is None else self.redrawn.share_lacking
        by_chance = carried * (2 * carried + over_noise) / max(self.noise.freedom, 1.0)
        return ChanceSpread(float(by_chance + (lacking * carried / 2) ** 2))
