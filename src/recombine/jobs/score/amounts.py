"""A number with its range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.limits import SCORE_LIMITS


@dataclass(frozen=True)
class Amount:
    """A mean square, or a coefficient, with the range in which it lies nineteen times in twenty.

    Examples
    --------
    >>> Amount(0.5, 0.4, 0.6)
    Amount(0.5 [0.4, 0.6])
    >>> Amount(0.5, 0.4, 0.6).percent, Amount(0.5, 0.4, 0.6).percent_range
    ('50 %', '95 % range 40 to 60 %')
    """

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"Amount({self.value:.3g} [{self.low:.3g}, {self.high:.3g}])"

    @classmethod
    def about(cls, value: float, error: float, freedom: float) -> Amount:
        """Return ``value`` with the range that its standard ``error`` of so many degrees of freedom gives."""
        from scipy.special import stdtrit

        reach = float(stdtrit(max(freedom, 1.0), 1 - SCORE_LIMITS.share_outside / 2)) * error
        return cls(value, value - reach, value + reach)

    @property
    def within_chance(self) -> bool:
        """Whether the range holds 0."""
        return self.low <= 0 <= self.high

    @property
    def percent(self) -> str:
        """The amount as a share in whole percent."""
        return f"{_hundredfold(self.value)} %"

    @property
    def percent_range(self) -> str:
        """The range of a share in whole percent."""
        return f"95 % range {_hundredfold(self.low)} to {_hundredfold(self.high)} %"


def mean_amount(values: FloatArray, weights: FloatArray | None = None) -> Amount:
    """Return the mean of values (N,), each of which counts its weight, with its range over cells.

    Examples
    --------
    >>> mean_amount(np.array([1.0, 2.0, 3.0]))
    Amount(2 [-0.484, 4.48])
    """
    shares = np.ones(len(values)) if weights is None else weights
    if not shares.sum() > 0:
        return Amount(float("nan"), float("nan"), float("nan"))
    shares = shares / shares.sum()
    mean, counted = float(shares @ values), int((shares > 0).sum())
    if counted < 2:
        return Amount(mean, float("nan"), float("nan"))
    error = float(np.sqrt(np.sum((shares * (values - mean)) ** 2) * counted / (counted - 1)))
    return Amount.about(mean, error, counted - 1.0)


def _hundredfold(share: float) -> str:
    return f"{100 * share + 0.0:.0f}".replace("-", "−")
