"""A number with its range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.limits import SCORE_LIMITS

#: Skewness of an estimate beyond which a sample does not tell it.
MAX_SKEWNESS_RATIO = 1.0
#: Index of a Pareto tail, logarithms per logarithm, from which on values have no variance.
MAX_TAIL_RATIO = 0.5
#: Skewness below which a range is symmetric up to rounding.
MIN_SKEWNESS_RATIO = 1e-6


@dataclass(frozen=True)
class ChanceSpread:
    """By how much chance moves an estimate: its variance and third central moment; both add up where chances do.

    Examples
    --------
    >>> ChanceSpread.of_mean(np.array([0.0, 0.0, 0.0, 4.0])).error
    1.0
    """

    variance: float
    third: float = 0.0

    @classmethod
    def of_mean(cls, values: FloatArray) -> ChanceSpread:
        """Return that of the mean of independent values (N,)."""
        count, deviations = len(values), values - values.mean()
        if count < 2:
            return cls(float("nan"))
        sampled = cls(float(np.sum(deviations**2)) / (count - 1) / count, float(np.mean(deviations**3)) / count**2)
        upwards = deviations if sampled.third > 0 else -deviations
        beyond = beyond_largest(upwards[upwards > 0]) / count
        return sampled + cls(beyond**2, float(np.sign(sampled.third)) * beyond**3)

    def __add__(self, other: ChanceSpread) -> ChanceSpread:
        return ChanceSpread(self.variance + other.variance, self.third + other.third)

    @property
    def negated(self) -> ChanceSpread:
        """The same of the estimate with the other sign."""
        return ChanceSpread(self.variance, -self.third)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt(self.variance))

    @property
    def skewness(self) -> float:
        """The third moment in standard errors, as far as a sample tells it."""
        if not self.variance > 0:
            return 0.0
        return float(np.clip((np.cbrt(self.third) / self.error) ** 3, -MAX_SKEWNESS_RATIO, MAX_SKEWNESS_RATIO))


def beyond_largest(values: FloatArray) -> float:
    """Return what positive values (N,) beyond the largest one add to a sum on average, where tails are heavy.

    Where the logarithms of the largest ones say that squares have no mean (Hill), a sample hardly ever has the values
    that decide: by Pareto's law so much is still to come. Zero where that is within chance.

    Examples
    --------
    >>> beyond_largest(np.arange(1.0, 100.0))
    0.0
    >>> round(beyond_largest((np.arange(1, 1001) / 1001) ** -0.9))
    3278
    """
    largest = np.sort(values)[::-1][: int(np.sqrt(len(values))) + 1]
    count = len(largest) - 1
    if count < 2 or not largest[-1] > 0:
        return 0.0
    index = float(np.mean(np.log(largest[:-1] / largest[-1])))
    by_chance = index / float(np.sqrt(count))
    return float(largest[0]) / max(1 - index, by_chance) if index - by_chance > MAX_TAIL_RATIO else 0.0


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
    def about(cls, value: float, spread: ChanceSpread, freedom: float) -> Amount:
        """Return ``value`` with the range that its spread and so many degrees of freedom give.

        Where a few cells carry a mean its t statistic is skewed: Hall's cubic, which is monotone, makes it symmetric.
        """
        from scipy.special import stdtrit

        reach = float(stdtrit(max(freedom, 1.0), 1 - SCORE_LIMITS.share_outside / 2))
        skewness, below, above = spread.skewness, reach, -reach
        if abs(skewness) > MIN_SKEWNESS_RATIO:
            below, above = (
                3 / skewness * (float(np.cbrt(1 + skewness * (end - skewness / 6))) - 1) for end in (reach, -reach)
            )
        return cls(value, value - below * spread.error, value - above * spread.error)

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
    return Amount.about(mean, ChanceSpread(error**2), counted - 1.0)


def _hundredfold(share: float) -> str:
    return f"{100 * share + 0.0:.0f}".replace("-", "−")
