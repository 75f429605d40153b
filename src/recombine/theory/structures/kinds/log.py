"""Effects add on the outcome's logarithm; where it has zeros, on the logarithms of means of counts, by likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_cells
from recombine.cells.brief import record
from recombine.errors import InputError
from recombine.theory.components.scales import LOG, LOG_OF_COUNTS, are_counts
from recombine.theory.structures.kinds.by_likelihood import FitByLikelihood, likelihood_obstacle, spend_on_likelihood
from recombine.theory.structures.shrinkage import fit_terms
from recombine.theory.structures.structure import Predicts, Structure, StructureData, StructureFit
from recombine.theory.structures.terms import as_outcomes

if TYPE_CHECKING:
    from recombine.theory.components.held_out import HeldOutComponents


class Log(Structure):
    """Effects add on the logarithm of outcomes that are not negative.

    Examples
    --------
    >>> cells = np.indices((3, 3)).reshape(2, -1).T
    >>> Log().fit(StructureData(cells[:-1], 2.0 ** cells[:-1].sum(axis=1))).predict(cells[-1:]).round(3)
    array([16.])
    """

    name = "log"
    assumption = "effects add on the outcome's logarithm"
    complexity = 30
    help = "Every level multiplies the outcome by a positive number; where it has zeros, by the likelihood of counts."

    def obstacle(self, data: StructureData) -> str:
        """Say that outcomes are negative or, with zeros, that likelihood does not take them."""
        smallest = data.y.min()
        if smallest < 0:
            return f"{self.name} needs outcomes that are not negative and the smallest is {smallest:g}"
        return likelihood_obstacle(self.name, data) if smallest == 0 else ""

    def affordable(self, data: StructureData) -> bool:
        """Say that outcomes of two values are tried on log odds instead."""
        return data.two_values is None

    def fit(self, data: StructureData) -> StructureFit:
        """Fit effects on the logarithm, or with zeros the likelihood of counts."""
        if data.y.min(initial=1.0) == 0:
            from recombine.theory.structures.likelihood import fit_likelihood  # loads slowly, and few tables need it

            spend_on_likelihood(data)
            return MeanCountFit(fit_likelihood(data.cells, data.y, "log", weights=data.counts))
        values, counted = as_outcomes(data.y, data.weights, len(data.cells))
        logarithms = _logarithms(values)
        # The logarithm of an outcome has its variance over its square.
        weights = None if data.weights is None else counted * values**2
        fit = fit_terms(data.cells, logarithms, weights=weights, symmetric=data.symmetric)
        sums = fit.predict(data.cells)
        # Weighted sums follow large outcomes, and noisy small ones lie below them: predictions are to have the weighted
        # mean of the outcomes, as those of a fit by likelihood have.
        return self.from_sums(fit, logarithms - sums, None if weights is None else counted * np.exp(sums))

    def reading(self, components: HeldOutComponents) -> FloatArray | None:
        """Return what components on logarithms say, of counts with zeros on those of one more; None for other zeros."""
        if components.y.min() > 0:
            return components.values(1, LOG)
        return components.values(1, LOG_OF_COUNTS) if are_counts(components.y) else None

    def least_squares_scale(self, y: FloatArray) -> FloatArray | None:
        """Return the logarithms; None where some outcome is zero."""
        return None if y.min() == 0 else _logarithms(y)

    def from_sums(self, sums: Predicts, residuals: FloatArray, weights: FloatArray | None = None) -> LogFit:
        """Return the fit whose logarithms are ``sums``."""
        return LogFit(sums, float(np.average(np.exp(residuals), weights=weights)))


@dataclass(frozen=True, eq=False)
class MeanCountFit(FitByLikelihood):
    """Means of counts, some of which are zero."""

    outcome_bounds = (0.0, np.inf)


@record
class LogFit(StructureFit):
    """Effects that add on the logarithm of the outcome."""

    logarithms: Predicts
    smear: float  #: Weighted mean of the exponential of the residuals: predictions are means, not medians.
    outcome_bounds = (0.0, np.inf)

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the outcome at ``cells`` (N, C)."""
        return np.asarray(self.smear * np.exp(self.latent(cells)))

    def latent(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the logarithms of ``cells`` (N, C)."""
        return self.logarithms.predict(as_cells(cells))

    centre = latent

    def from_outcome(self, y: FloatArray) -> FloatArray:
        """Return the logarithms of outcomes."""
        return np.asarray(np.log(y))

    def to_outcome(self, values: FloatArray, *, mean: bool = False) -> FloatArray:
        """Return outcomes with these logarithms: the middle of a range, or with ``mean`` the mean, which is above."""
        return np.asarray((self.smear if mean else 1.0) * np.exp(values))


def _logarithms(y: FloatArray) -> FloatArray:
    """Return the logarithms of outcomes (N,), or say which has none."""
    if not np.all(y > 0):
        row = int(y.argmin())
        wanted = "outcomes of at least 0" if y[row] < 0 else "positive outcomes"
        raise InputError(f"y[{row}] is {y[row]:g}, which has no logarithm; give {wanted}")
    return np.asarray(np.log(y))
