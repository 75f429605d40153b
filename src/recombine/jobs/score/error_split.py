"""One model's error, cell by cell, split into what causes are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr
from recombine.jobs.score.regression import BootstrapErrors, DesignMatrix, RidgeRegression
from recombine.jobs.score.regressors import Regressors


@dataclass(frozen=True, eq=False)
class HeldOutNoise:
    """Noise on T scored cells.

    Attributes
    ----------
    variances : float array of shape (T,)
        Of each cell's mean outcome.
    error : float
        Standard error of their mean that other cells' replicates leave, beyond which cells are scored.
    carried : float array of shape (T,)
        Variance of the determined values: the noise of the seen cells they are made of.
    freedom : float
        Free values that the seen cells decide, among which the carried noise is shared.
    """

    variances: FloatArray
    error: float
    carried: FloatArray
    freedom: float

    __repr__ = brief_repr


@dataclass(frozen=True, eq=False)
class ErrorSplit:
    """Prediction less outcome at T values, as the sum of parts; all times the roots of the cells' weights.

    ``error = missed + parts.sum(axis=1) + offset + unexplained``.

    Attributes
    ----------
    predicted : float array of shape (T,)
    regressors : Regressors
    noise : HeldOutNoise or None
    error, missed : float arrays of shape (T,)
        Prediction less outcome, and the determined value less the outcome.
    matrix : DesignMatrix
    regression : RidgeRegression
    parts : float array of shape (T, K)
        Of each column of the design matrix.
    offset, unexplained : float arrays of shape (T,)
    bootstrap : BootstrapErrors
    """

    predicted: FloatArray
    regressors: Regressors
    noise: HeldOutNoise | None
    error: FloatArray
    missed: FloatArray
    matrix: DesignMatrix
    regression: RidgeRegression
    parts: FloatArray
    offset: FloatArray
    unexplained: FloatArray
    bootstrap: BootstrapErrors

    __repr__ = brief_repr

    @property
    def square_error(self) -> float:
        """Mean squared error."""
        return float(np.mean(self.error**2))

    @property
    def freedom(self) -> float:
        """Degrees of freedom that the regression leaves."""
        return float(max(len(self.error) / self.regressors.per_cell - self.regression.varied.sum() - 1.0, 1.0))

    @cached_property
    def column_amounts(self) -> FloatArray:
        """Mean product of each column's part with the error, (K,)."""
        return np.asarray(self.parts.T @ self.error / len(self.error))

    def amount_of(self, values: FloatArray) -> float:
        """Return the mean product of a ``part`` (T,) with the error."""
        return float(np.mean(values * self.error))

    @property
    def noise_variances(self) -> FloatArray:
        """Noise of the scored cells' outcomes, (T,), times their weights; zeros where it is not known."""
        return np.zeros(len(self.error)) if self.noise is None else self.regressors.roots**2 * self.noise.variances

    @cached_property
    def carried_share(self) -> float:
        """How much of the seen cells' noise the model is taken to carry: as much as of the values made of them."""
        determined = self.regressors.centred(self.regressors.determined[:, None])[:, 0]
        square = float(determined @ determined)
        return float(np.clip(determined @ self.predicted / square, 0.0, 1.0)) if square > 0 else 0.0

    @property
    def carried_variances(self) -> FloatArray:
        """Noise of the seen cells in the determined values, (T,), times the weights; zeros where it is not known."""
        return np.zeros(len(self.error)) if self.noise is None else self.regressors.roots**2 * self.noise.carried

    @property
    def carried_error(self) -> float:
        """Standard error of the amount of the seen cells' noise."""
        if self.noise is None:
            return 0.0
        carried = float(self.carried_variances.mean())
        over_noise = max(self.square_error - float(self.noise_variances.mean()), 0.0)
        # By chance that noise is larger or smaller, and agrees with what the model does otherwise; and nobody knows how
        # much of it a model carries, from none to all.
        by_chance = carried * (2 * carried + over_noise) / max(self.noise.freedom, 1.0)
        return float(np.sqrt(by_chance + (carried / 2) ** 2))
