"""What predictions are compared with: values that the seen cells determine, and the ways in which a model may err."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr


@dataclass(frozen=True, eq=False)
class Regressors:
    """What predictions at T cells are compared with.

    Attributes
    ----------
    determined : float array of shape (T,)
        What the seen cells say under the chosen structure.
    effects : float array of shape (T, F)
        Effect of each factor's level, centred on the seen cells.
    misleading : float array of shape (T, F)
        Its marginal (the raw mean of the level) less its effect.
    beyond : float array of shape (T,)
        What the structure says beyond the sum of effects; zero where effects add.
    names : tuple of str
        Of the F factors, or groups of interchangeable ones.
    network : float array of shape (T,), optional
        Predictions of a wide network fitted to the seen cells.
    remembered : float array of shape (T, P), optional
        By how much seen cells that share a pair of levels depart from what is determined, for each of P pairs of
        factors: what a model that memorizes pairs adds.
    per_cell : int
        How many values in succession belong to one cell: one, or one per class.
    weights : float array of shape (T,), optional
        How much each value counts, 1 on average.
    noisy_draws : tuple of (float array of shape (T,), float arrays of shape (T, F))
        What is determined, effects and misleading parts once more, after noise was added to the seen cells: how far
        coefficients move then is how far they may be off already.
    """

    determined: FloatArray
    effects: FloatArray
    misleading: FloatArray
    beyond: FloatArray
    names: tuple[str, ...]
    network: FloatArray | None = None
    remembered: FloatArray | None = None
    per_cell: int = 1
    weights: FloatArray | None = None
    noisy_draws: tuple[tuple[FloatArray, FloatArray, FloatArray], ...] = ()

    __repr__ = brief_repr

    def scaled(self, factor: float) -> Regressors:
        """Return the same with every value times ``factor``."""
        return replace(
            self,
            determined=factor * self.determined,
            effects=factor * self.effects,
            misleading=factor * self.misleading,
            beyond=factor * self.beyond,
            network=None if self.network is None else factor * self.network,
            remembered=None if self.remembered is None else factor * self.remembered,
            noisy_draws=tuple((factor * draw[0], factor * draw[1], factor * draw[2]) for draw in self.noisy_draws),
        )

    @property
    def roots(self) -> FloatArray:
        """Square roots of the weights, (T,): values times these have mean squares in which each counts its weight."""
        return np.ones(len(self.determined)) if self.weights is None else np.sqrt(self.weights)

    def centred(self, values: FloatArray) -> FloatArray:
        """Return columns (T, K) less their weighted means, those of each class by themselves."""
        by_class = values.reshape(-1, self.per_cell, values.shape[1])
        weights = (self.roots**2).reshape(-1, self.per_cell, 1)
        return np.asarray((by_class - (weights * by_class).sum(axis=0) / weights.sum(axis=0)).reshape(values.shape))

    def residuals(self, values: FloatArray, columns: FloatArray) -> FloatArray:
        """Return what weighted least squares on ``columns`` (T, K) leaves of ``values`` (T, J), both centred."""
        values, roots = self.centred(values), self.roots[:, None]
        return np.asarray(values - columns @ np.linalg.lstsq(roots * columns, roots * values, rcond=None)[0])
