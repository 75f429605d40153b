"""Chances on log odds and means of counts on logarithms, fitted by likelihood to shares and means of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.checks import reals
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.theory.structures.likelihood import LikelihoodFit

#: Measurements below this are rounding.
ROUNDING = 1e-9


class Chances(Protocol):
    """A fit whose values are chances."""

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the chances at ``cells`` (N, C)."""
        ...


@dataclass(frozen=True, eq=False)
class TwoValuedFit:
    """Chances of the higher of two values, as means of the outcome."""

    chances: Chances
    low: float
    width: float

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the mean outcome at ``cells`` (N, C)."""
        return np.asarray(self.low + self.width * self.chances.predict(cells))


def fit_mean_counts(codes: IntArray, means: FloatArray, counts: npt.ArrayLike | None) -> LikelihoodFit:
    """Fit logarithms of means of counts, some of them zero, by likelihood."""
    from recombine.theory.structures.likelihood import fit_likelihood

    return fit_likelihood(codes, means, "log", weights=counts)


def fit_log_odds(codes: IntArray, shares: FloatArray, counts: npt.ArrayLike | None) -> LikelihoodFit:
    """Fit log odds to shares (N,) of ``counts`` measurements, as so many ones and zeros."""
    from recombine.theory.structures.likelihood import fit_likelihood  # loads slowly, and few tables need it

    if shares.min(initial=0.0) < -ROUNDING or shares.max(initial=1.0) > 1 + ROUNDING:
        raise InputError(f"logit needs outcomes from 0 to 1 and they are {shares.min():g} to {shares.max():g}")
    many = np.ones(len(codes)) if counts is None else reals(counts, "counts")
    both = np.repeat([1, 0], len(codes))
    weights = np.concatenate([many * shares, many * (1 - shares)])
    # A mean of ones is one only up to rounding, and what is left over would be a failure.
    return fit_likelihood(np.vstack([codes, codes]), both, "logit", weights=np.where(weights > ROUNDING, weights, 0.0))
