"""Effects add on log odds: chances of an outcome of two values, or shares from 0 to 1, fitted by likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import reals
from recombine.errors import InputError
from recombine.theory.structures.kinds.by_likelihood import FitByLikelihood, likelihood_obstacle, spend_on_likelihood
from recombine.theory.structures.structure import Structure, StructureData, StructureFit

#: Measurements below this are rounding.
MEASUREMENT_ROUNDING = 1e-9


class Logit(Structure):
    """Effects add on the log odds of outcomes from 0 to 1.

    Examples
    --------
    >>> cells = np.array([[0, 0], [0, 1], [1, 0]])
    >>> Logit().fit(StructureData(cells, np.array([0.5, 0.8, 0.2]))).predict([[1, 1]]).round(3)
    array([0.5])
    """

    name = "logit"
    assumption = "effects add on log odds"
    complexity = 20
    help = "For outcomes of two values, or shares: every level multiplies the odds; values stay between the two."

    def obstacle(self, data: StructureData) -> str:
        """Say that outcomes are no chances, or that likelihood does not take them."""
        return _no_chances(data.y) or likelihood_obstacle(self.name, data)

    def affordable(self, data: StructureData) -> bool:
        """Say whether outcomes have two values: other shares are tried only if asked for."""
        return data.two_values is not None

    def fit(self, data: StructureData) -> ChanceFit:
        """Fit log odds; of an outcome of two values and with prior observations if the data ask for these."""
        from recombine.theory.structures.likelihood import fit_chances, fit_likelihood  # loads slowly

        spend_on_likelihood(data)
        values = np.unique(data.y)
        if data.separated == "prior" and len(values) == 2:
            fit = fit_chances(data.cells, (data.y == values[1]).astype(np.int64), 2, self.order, data.sizes).fit
            return ChanceFit(fit, float(values[0]), float(np.ptp(values)))
        if problem := _no_chances(data.y, MEASUREMENT_ROUNDING):
            raise InputError(problem)
        # A share of n measurements is so many ones and zeros.
        counts = np.ones(len(data.cells)) if data.counts is None else reals(data.counts, "counts")
        weights = np.concatenate([counts * data.y, counts * (1 - data.y)])
        # A mean of ones is one only up to rounding, and what is left over would be a failure.
        weights = np.where(weights > MEASUREMENT_ROUNDING, weights, 0.0)
        outcomes = np.repeat([1, 0], len(data.cells))
        return ChanceFit(fit_likelihood(np.vstack([data.cells, data.cells]), outcomes, "logit", weights=weights))

    def rescaled(self, fit: StructureFit, data: StructureData, low: float, width: float) -> StructureFit:
        """Return the same chances as means of the two values ``low`` and ``low + width``."""
        assert isinstance(fit, ChanceFit)
        return replace(fit, low=low, width=width)


@dataclass(frozen=True, eq=False)
class ChanceFit(FitByLikelihood):
    """Chances of the higher of two values, as means of the outcome."""

    low: float = 0.0
    width: float = 1.0

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the mean outcome at ``cells`` (N, C)."""
        return np.asarray(self.low + self.width * self.likelihood.predict(cells))

    @property
    def outcome_bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """The two values."""
        return self.low, self.low + self.width


def _no_chances(y: FloatArray, slack: float = 0.0) -> str:
    """Say that outcomes (N,) do not lie between 0 and 1; empty where they do, up to ``slack``."""
    if y.min(initial=0.0) < -slack or y.max(initial=1.0) > 1 + slack:
        return f"logit needs outcomes from 0 to 1 and they are {y.min():g} to {y.max():g}"
    return ""
