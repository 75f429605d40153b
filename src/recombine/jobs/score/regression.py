"""Ridge regression of departures on the columns of the causes: leave-one-out parts and bootstrap errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import brief_repr
from recombine.jobs.score.regressors import Regressors

#: Weak ridge, per cell, in units of the predictions' variance: it decides only what the cells do not.
RIDGE = 1e-4
#: A column varies if its spread is over this share of the largest value.
VARIED_SHARE = 1e-9
#: Cells up to which each is drawn by itself; more are drawn in so many random groups.
MAX_GROUPS_DRAWN = 2_000


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Columns (T, K) that departures are regressed on, all centred, and the cause and factor of each.

    Attributes
    ----------
    columns : float array of shape (T, K)
    causes, factors : tuples of K str
        The factor is empty where a column belongs to none.
    own_units : bool array of shape (K,)
        Whether the ridge of a column is in units of its own variance rather than the predictions'.
    """

    columns: FloatArray
    causes: tuple[str, ...]
    factors: tuple[str, ...]
    own_units: BoolArray

    __repr__ = brief_repr

    def of_cause(self, name: str) -> BoolArray:
        """Return which columns belong to a cause, (K,)."""
        return np.array([cause == name for cause in self.causes], dtype=bool)


@dataclass(frozen=True, eq=False)
class RidgeRegression:
    """The regression of departures (T,) on K columns, of which J vary, and on one constant per value of a cell.

    Attributes
    ----------
    columns : float array of shape (T, constants + J)
        Constants, then the columns that vary, times the roots of the weights.
    varied : bool array of shape (K,)
    ridge, coefficients : float arrays of shape (constants + J,)
    inverse : float array of shape (constants + J, constants + J)
        Of the normal equations.
    constants : int
    """

    columns: FloatArray
    varied: BoolArray
    ridge: FloatArray
    inverse: FloatArray
    coefficients: FloatArray
    constants: int

    @classmethod
    def fit(
        cls, matrix: DesignMatrix, regressors: Regressors, predicted: FloatArray, departure: FloatArray
    ) -> RidgeRegression:
        """Regress ``departure`` (T,), which is times the roots of the weights already."""
        constants = regressors.per_cell
        values = regressors.roots[:, None] * regressors.centred(np.column_stack([predicted, regressors.determined]))
        scale = float(np.sqrt(np.mean(values**2, axis=0).max()))
        largest = max(float(np.abs(matrix.columns).max(initial=0.0)), scale)
        varied = np.asarray(matrix.columns.std(axis=0) > VARIED_SHARE * largest)
        intercepts = np.tile(np.eye(constants), (len(departure) // constants, 1))
        columns = regressors.roots[:, None] * np.column_stack([intercepts, matrix.columns[:, varied]])
        ridge = np.full(columns.shape[1], RIDGE * scale**2)
        # Memory varies far less than effects do: a ridge in units of the predictions would shrink it to nothing.
        own = matrix.own_units[varied]
        ridge[constants:][own] = RIDGE * np.mean(columns[:, constants:][:, own] ** 2, axis=0)
        # Where nothing varies at all any ridge would do, but none would leave the equations singular.
        ridge[constants:] = np.maximum(ridge[constants:], 1e-300)
        ridge[:constants] = 0.0
        inverse = np.linalg.inv(columns.T @ columns + len(departure) * np.diag(ridge))
        return cls(columns, varied, ridge, inverse, inverse @ (columns.T @ departure), constants)

    @property
    def column_coefficients(self) -> FloatArray:
        """Coefficient of every column, zero where it does not vary, (K,)."""
        return np.asarray(self._with_unvaried(self.coefficients[None, self.constants :])[0])

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
        return self._with_unvaried(parts[:, self.constants :]), parts[:, : self.constants].sum(axis=1)

    def _with_unvaried(self, values: FloatArray) -> FloatArray:
        """Return values (N, J) of the columns that vary among those of all columns (N, K), the others zero."""
        padded = np.zeros((len(values), len(self.varied)))
        padded[:, self.varied] = values
        return padded


class BootstrapErrors:
    """Standard errors over cells: of amounts and coefficients by drawing cells with replacement, of means directly."""

    def __init__(
        self, regression: RidgeRegression, error: FloatArray, departure: FloatArray, draws: int, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        columns, self.constants = regression.columns, regression.constants
        cells, size = len(error) // self.constants, columns.shape[1]
        self.varied = regression.varied
        groups = min(cells, MAX_GROUPS_DRAWN)
        group_of_cell = np.arange(cells) if groups == cells else rng.integers(groups, size=cells)
        group_of_value = np.repeat(group_of_cell, self.constants)
        # The normal equations and all mean products are sums over cells: draws of these sums are enough.
        upper = np.triu_indices(size)
        terms = [np.ones(len(error)), departure * error]
        terms += [*(columns * departure[:, None]).T, *(columns * error[:, None]).T]
        terms += [columns[:, row] * columns[:, column] for row, column in zip(*upper, strict=True)]
        sums = np.stack([np.bincount(group_of_value, weights=term, minlength=groups) for term in terms], axis=1)
        drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=draws) @ sums
        total = drawn[:, 0]
        normal = np.empty((draws, size, size))
        normal[:, upper[0], upper[1]] = normal[:, upper[1], upper[0]] = drawn[:, 2 + 2 * size :]
        normal += total[:, None, None] * np.diag(regression.ridge)
        self.coefficients = np.linalg.solve(normal, drawn[:, 2 : 2 + size, None])[:, :, 0]
        # Residuals of what was fitted to the cells are too small.
        self.correction = float(np.sqrt(cells / max(cells - size, 1)))
        self.products = self.coefficients * drawn[:, 2 + size : 2 + 2 * size] / total[:, None]
        self.unexplained = drawn[:, 1] / total - self.products.sum(axis=1)

    def of_columns(self, chosen: BoolArray) -> float:
        """Return the standard error of the amount of the ``chosen`` columns (K,) together."""
        return self.correction * float(self.products[:, self.constants :][:, chosen[self.varied]].sum(axis=1).std())

    def of_offset(self) -> float:
        """Return the standard error of the offset's amount."""
        return self.correction * float(self.products[:, : self.constants].sum(axis=1).std())

    def of_unexplained(self) -> float:
        """Return the standard error of the amount that no column explains."""
        return self.correction * float(self.unexplained.std())

    def of_coefficients(self) -> FloatArray:
        """Return the standard error of every column's coefficient, zero where it does not vary, (K,)."""
        errors = np.zeros(len(self.varied))
        errors[self.varied] = self.correction * self.coefficients[:, self.constants :].std(axis=0)
        return errors

    def of_mean(self, products: FloatArray) -> float:
        """Return the standard error of the mean of ``products`` (T,)."""
        by_cell = products.reshape(-1, self.constants).mean(axis=1)
        return float(by_cell.std(ddof=1) / np.sqrt(len(by_cell))) if len(by_cell) > 1 else float("nan")
