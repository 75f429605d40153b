"""Scales of the outcome on which effects may add: as it is, logs, logs of expected counts, log odds; and the way back.

Counts differ from what is expected as Poisson's do, up to a factor: the variance of a row is f m, m expected. Effects
add on log m. They are fitted by penalized quasi-likelihood (Breslow and Clayton 1993, doi:10.2307/2290687): to the
working responses log m + (y - m) / m, whose variance is f / m, with m renewed until it stays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record

#: How many times the smallest outcome the largest has to be for logs to be tried.
MIN_SPAN_RATIO = 3.0
#: A table of counts has some up to here: larger whole numbers may be anything.
SMALL_COUNTS = 5
#: Larger counts differ by chance by less than a fifth, wherever they are: their logs do as well.
MAX_FEWEST_COUNTS = 30
#: What is expected at first of a cell without any: the log of 0 is nowhere.
MIN_EXPECTED_COUNTS = 0.1
#: Times that working responses are renewed at most, and the largest change of a log at which that ends.
MAX_COUNT_ROUNDS, LOG_TOLERANCE = 5, 3e-2
#: A whole number stands for all that would be rounded to it.
ROUNDED_COUNTS = 0.5
#: Half a range that holds nine in ten normal errors, in standard deviations.
NORMAL_HALF_WIDTH = 1.645
#: Shares of a variance are not nearer to 0 and 1 than this.
MIN_VARIANCE_SHARE = 1e-9
#: Logs beyond this are as good as infinite.
MAX_LOGS = 700.0


def are_counts(y: FloatArray, rows: FloatArray | float = 1.0) -> bool:
    """Say whether outcomes (n,) are counts: whole, not negative, some of them small, and not only yes and no.

    Those of several ``rows`` (n,) are the means of their counts.

    Examples
    --------
    >>> are_counts(np.array([0.0, 3.0, 12.0])), are_counts(np.array([0.0, 1.0])), are_counts(np.array([40.0, 90.0]))
    (True, False, False)
    """
    return bool(0 <= y.min() <= SMALL_COUNTS and y.max() > MIN_SPAN_RATIO and are_whole(y, rows))


def are_whole(y: FloatArray, rows: FloatArray | float = 1.0) -> bool:
    """Say whether outcomes (n,) are whole and not negative, or the means of ``rows`` (n,) of such."""
    return bool(y.min() >= 0 and np.allclose(y * rows, np.round(y * rows), rtol=0, atol=1e-6))


@record
class ScaledValues:
    """Values of M cells, (M,) each, on the scale of a fit: before they are brought back to outcomes."""

    mean: FloatArray
    error: FloatArray  #: Calibrated standard error of the value, without noise.
    sd: FloatArray  #: Standard deviation of a new outcome.
    half_range: FloatArray
    noise_share: FloatArray  #: Share of the noise in the variance of a new outcome.
    rows: FloatArray  #: Rows that a new outcome is the mean of.

    @classmethod
    def of(
        cls,
        mean: FloatArray,
        settled: FloatArray,
        noise: FloatArray,
        rows: FloatArray,
        width: FloatArray | float,
    ) -> ScaledValues:
        """Return values with variances (M,) of their own and of noise, and half ranges of so many deviations."""
        variance = settled + noise
        sd = np.sqrt(variance)
        # Calibrated as ranges are: a standard error is to a range what it is where errors are normal.
        error = np.sqrt(settled) * width / NORMAL_HALF_WIDTH
        share = np.clip(noise / np.maximum(variance, 1e-300), MIN_VARIANCE_SHARE, 1 - MIN_VARIANCE_SHARE)
        return cls(mean, error, sd, width * sd, share, rows)

    def towards(self, values: ScaledValues, shares: FloatArray | float) -> ScaledValues:
        """Return values between these and others: a share (M,) of these, what is missing to 1 of the others."""
        names = ("mean", "error", "sd", "half_range", "noise_share")
        between = {name: shares * getattr(self, name) + (1 - shares) * getattr(values, name) for name in names}
        return ScaledValues(**between, rows=self.rows)


@dataclass(frozen=True)
class OutcomeScale(ABC):
    """A monotone map of outcomes and its inverse."""

    name: str
    #: Times that responses are worked out anew from what is fitted to them.
    rounds: int = field(default=1, init=False)

    @abstractmethod
    def fits(self, y: FloatArray, rows: FloatArray) -> bool:
        """Whether outcomes (n,), means of ``rows`` (n,), lie where the map is defined and could matter."""

    @abstractmethod
    def forward(self, y: FloatArray) -> FloatArray:
        """Return outcomes on this scale."""

    @abstractmethod
    def slope(self, y: FloatArray) -> FloatArray:
        """Return how much faster than outcomes (n,) this scale runs there."""

    @abstractmethod
    def back(self, values: FloatArray) -> FloatArray:
        """Return values on this scale as outcomes."""

    def responses(self, y: FloatArray, fitted: FloatArray | None) -> FloatArray:
        """Return what effects are fitted to (n,), given what they said of it before."""
        return self.forward(y)

    def noise_at(self, values: FloatArray) -> FloatArray:
        """Return the variance of a row's noise at values (M,) on this scale, up to a factor."""
        return np.ones(len(values))

    def ends(self, values: ScaledValues) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the ranges of values as outcomes."""
        return self.back(values.mean - values.half_range), self.back(values.mean + values.half_range)

    def distances(self, y: FloatArray, values: ScaledValues) -> FloatArray:
        """Return how far outcomes (M,) lie from values, in standard deviations of a new one."""
        return np.abs(self.forward(y) - values.mean) / np.maximum(values.sd, 1e-150)


@dataclass(frozen=True)
class _Identity(OutcomeScale):
    def fits(self, y: FloatArray, rows: FloatArray) -> bool:
        return True

    def forward(self, y: FloatArray) -> FloatArray:
        return y

    def slope(self, y: FloatArray) -> FloatArray:
        return np.ones(len(y))

    def back(self, values: FloatArray) -> FloatArray:
        return values


@dataclass(frozen=True)
class _Log(OutcomeScale):
    def fits(self, y: FloatArray, rows: FloatArray) -> bool:
        return bool(y.min() > 0 and y.max() > MIN_SPAN_RATIO * y.min())

    def forward(self, y: FloatArray) -> FloatArray:
        return np.log(y)

    def slope(self, y: FloatArray) -> FloatArray:
        return 1 / y

    def back(self, values: FloatArray) -> FloatArray:
        return np.exp(np.minimum(values, MAX_LOGS))


@dataclass(frozen=True)
class _LogCount(OutcomeScale):
    def fits(self, y: FloatArray, rows: FloatArray) -> bool:
        return bool(y.min() == 0 and y.max() > MIN_SPAN_RATIO)

    def forward(self, y: FloatArray) -> FloatArray:
        return np.log1p(y)

    def slope(self, y: FloatArray) -> FloatArray:
        return 1 / (1 + y)

    def back(self, values: FloatArray) -> FloatArray:
        return np.expm1(np.clip(values, 0.0, MAX_LOGS))


@dataclass(frozen=True)
class _Counts(OutcomeScale):
    rounds: int = field(default=MAX_COUNT_ROUNDS, init=False)

    def fits(self, y: FloatArray, rows: FloatArray) -> bool:
        few = y.min() <= MAX_FEWEST_COUNTS and y.max() > MIN_SPAN_RATIO * max(float(y.min()), 1.0)
        return bool(few) and are_whole(y, rows)

    def forward(self, y: FloatArray) -> FloatArray:
        return np.log(np.maximum(y, MIN_EXPECTED_COUNTS))

    def slope(self, y: FloatArray) -> FloatArray:
        return 1 / np.maximum(y, MIN_EXPECTED_COUNTS)

    def back(self, values: FloatArray) -> FloatArray:
        return np.exp(np.clip(values, -MAX_LOGS, MAX_LOGS))

    def responses(self, y: FloatArray, fitted: FloatArray | None) -> FloatArray:
        logs = self.forward(y) if fitted is None else fitted
        expected = self.back(logs)
        return logs + (y - expected) / expected

    def noise_at(self, values: FloatArray) -> FloatArray:
        return 1 / self.back(values)

    def ends(self, values: ScaledValues) -> tuple[FloatArray, FloatArray]:
        # Outcomes have variance a m + b m^2, a of noise and b of the log: sqrt(4 / b) asinh(sqrt(b y / a)) has 1.
        ratio, angle = self._stable(values.noise_share)
        half = values.half_range * np.sqrt(1 - values.noise_share) / 2
        scale, unit = self.back(values.mean) / ratio, ROUNDED_COUNTS / values.rows
        low = scale * np.sinh(np.maximum(angle - half, 0.0)) ** 2 - unit
        high = scale * np.sinh(np.minimum(angle + half, MAX_LOGS / 3)) ** 2 + unit
        return np.maximum(low, 0.0), high

    def distances(self, y: FloatArray, values: ScaledValues) -> FloatArray:
        expected, unit = self.back(values.mean), ROUNDED_COUNTS / values.rows
        ratio, angle = self._stable(values.noise_share)
        nearer = y + np.clip(expected - y, -unit, unit)
        away = np.arcsinh(np.sqrt(ratio * nearer / expected)) - angle
        return 2 * np.abs(away) / (np.sqrt(1 - values.noise_share) * values.sd)

    @staticmethod
    def _stable(noise_share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return b m / a and asinh of its root (M,)."""
        ratio = (1 - noise_share) / noise_share
        return ratio, np.arcsinh(np.sqrt(ratio))


@dataclass(frozen=True)
class _Logit(OutcomeScale):
    margin: float = 0.02

    def fits(self, y: FloatArray, rows: FloatArray) -> bool:
        return bool(y.min() >= 0 and y.max() <= 1 and len(np.unique(y)) > 2)

    def forward(self, y: FloatArray) -> FloatArray:
        shares = self.margin + (1 - 2 * self.margin) * y
        return np.log(shares / (1 - shares))

    def slope(self, y: FloatArray) -> FloatArray:
        shares = self.margin + (1 - 2 * self.margin) * y
        return np.asarray((1 - 2 * self.margin) / (shares * (1 - shares)))

    def back(self, values: FloatArray) -> FloatArray:
        shares = 1 / (1 + np.exp(-np.clip(values, -MAX_LOGS, MAX_LOGS)))
        return np.clip((shares - self.margin) / (1 - 2 * self.margin), 0.0, 1.0)


IDENTITY, LOG, LOG_OF_COUNTS = _Identity("identity"), _Log("log"), _LogCount("log of counts")
COUNTS, LOG_ODDS = _Counts("counts"), _Logit("log odds")
#: Every scale that is tried, the plainest first.
SCALES: tuple[OutcomeScale, ...] = (IDENTITY, LOG, LOG_OF_COUNTS, COUNTS, LOG_ODDS)
