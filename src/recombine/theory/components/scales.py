"""Scales of the outcome on which effects may add: as it is, logs, logs of counts, log odds; and the way back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray

#: How many times the smallest outcome the largest has to be for logs to be tried.
MIN_SPAN_RATIO = 3.0
#: A table of counts has some up to here: larger whole numbers may be anything.
SMALL_COUNTS = 5


def are_counts(y: FloatArray) -> bool:
    """Say whether outcomes (n,) are counts: whole, not negative, some of them small, and not only yes and no.

    Examples
    --------
    >>> are_counts(np.array([0.0, 3.0, 12.0])), are_counts(np.array([0.0, 1.0])), are_counts(np.array([40.0, 90.0]))
    (True, False, False)
    """
    return bool(0 <= y.min() <= SMALL_COUNTS and y.max() > MIN_SPAN_RATIO and (y == np.round(y)).all())


@dataclass(frozen=True)
class OutcomeScale(ABC):
    """A monotone map of outcomes and its inverse."""

    name: str

    @abstractmethod
    def fits(self, y: FloatArray) -> bool:
        """Whether outcomes (n,) lie where the map is defined and could matter."""

    @abstractmethod
    def forward(self, y: FloatArray) -> FloatArray:
        """Return outcomes on this scale."""

    @abstractmethod
    def slope(self, y: FloatArray) -> FloatArray:
        """Return how much faster than outcomes (n,) this scale runs there."""

    @abstractmethod
    def back(self, values: FloatArray) -> FloatArray:
        """Return values on this scale as outcomes."""


@dataclass(frozen=True)
class _Identity(OutcomeScale):
    def fits(self, y: FloatArray) -> bool:
        return True

    def forward(self, y: FloatArray) -> FloatArray:
        return y

    def slope(self, y: FloatArray) -> FloatArray:
        return np.ones(len(y))

    def back(self, values: FloatArray) -> FloatArray:
        return values


@dataclass(frozen=True)
class _Log(OutcomeScale):
    def fits(self, y: FloatArray) -> bool:
        return bool(y.min() > 0 and y.max() > MIN_SPAN_RATIO * y.min())

    def forward(self, y: FloatArray) -> FloatArray:
        return np.log(y)

    def slope(self, y: FloatArray) -> FloatArray:
        return 1 / y

    def back(self, values: FloatArray) -> FloatArray:
        return np.exp(np.minimum(values, 700.0))


@dataclass(frozen=True)
class _LogCount(OutcomeScale):
    def fits(self, y: FloatArray) -> bool:
        return bool(y.min() == 0 and y.max() > MIN_SPAN_RATIO)

    def forward(self, y: FloatArray) -> FloatArray:
        return np.log1p(y)

    def slope(self, y: FloatArray) -> FloatArray:
        return 1 / (1 + y)

    def back(self, values: FloatArray) -> FloatArray:
        return np.expm1(np.clip(values, 0.0, 700.0))


@dataclass(frozen=True)
class _Logit(OutcomeScale):
    margin: float = 0.02

    def fits(self, y: FloatArray) -> bool:
        return bool(y.min() >= 0 and y.max() <= 1 and len(np.unique(y)) > 2)

    def forward(self, y: FloatArray) -> FloatArray:
        shares = self.margin + (1 - 2 * self.margin) * y
        return np.log(shares / (1 - shares))

    def slope(self, y: FloatArray) -> FloatArray:
        shares = self.margin + (1 - 2 * self.margin) * y
        return np.asarray((1 - 2 * self.margin) / (shares * (1 - shares)))

    def back(self, values: FloatArray) -> FloatArray:
        shares = 1 / (1 + np.exp(-np.clip(values, -700.0, 700.0)))
        return np.clip((shares - self.margin) / (1 - 2 * self.margin), 0.0, 1.0)


IDENTITY, LOG, LOG_OF_COUNTS = _Identity("identity"), _Log("log"), _LogCount("log of counts")
LOG_ODDS = _Logit("log odds")
#: Every scale that is tried, the plainest first.
SCALES: tuple[OutcomeScale, ...] = (IDENTITY, LOG, LOG_OF_COUNTS, LOG_ODDS)
