"""A number with its range."""

from __future__ import annotations

from dataclasses import dataclass

#: A 95 % range leaves out this share at its two ends together.
SHARE_OUTSIDE = 0.05


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

        reach = float(stdtrit(max(freedom, 1.0), 1 - SHARE_OUTSIDE / 2)) * error
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


def _hundredfold(share: float) -> str:
    return f"{100 * share + 0.0:.0f}".replace("-", "−")
