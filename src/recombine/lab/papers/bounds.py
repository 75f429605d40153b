"""Bounds: what a claim asks of a number, as values that judge and print themselves, so that a bound is written once."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from recombine.lab.papers.seeds import Estimate, Interval
from recombine.lab.papers.values import entries_of, text_of, without_zeros

#: How far past a bound the nearest number on the other side lies, relative to the width of the bound.
JUST_PAST_SHARE = 1e-9


def _every(passes: Callable[[Any], bool], value: Any) -> bool:
    """Say whether all entries pass; where there are none, nothing was shown."""
    entries = entries_of(value)
    return bool(entries) and all(map(passes, entries))


def _error_of(value: Any) -> float:
    """Two standard errors of an estimate; zero of a single network and of plain numbers."""
    return value.error if isinstance(value, Estimate) and value.networks > 1 else 0.0


@dataclass(frozen=True)
class Bound(ABC):
    """What is asked of a measured value; of a series, of each of its entries. What is not a number never passes."""

    @abstractmethod
    def holds(self, value: Any) -> bool | None:
        """Say whether the value keeps to the bound; None where it is too uncertain to tell."""

    @abstractmethod
    def inside(self) -> Any:
        """Return a value that keeps to the bound, if it can at the bound itself."""

    @abstractmethod
    def outside(self) -> list[Any]:
        """Return values just past the bound, one per way to break it."""

    def shown(self, value: Any) -> str:
        """Return the value as text, with digits that fit the bound."""
        return text_of(value)

    def at(self, scale: str) -> Bound | None:
        """Return the bound for results of a scale; None where nothing is asked there."""
        return self


@dataclass(frozen=True)
class _Limit(Bound):
    """A number that every entry is compared with; ``unit`` is "%" for shares, or a word put behind."""

    limit: float
    unit: str = ""

    _words: ClassVar[str]
    _passes: ClassVar[Callable[[Any, Any], Any]]
    #: On which side of the limit values pass.
    _side: ClassVar[int]

    def holds(self, value: Any) -> bool:
        """Say whether every entry is on the right side of the limit."""
        return _every(lambda entry: bool(type(self)._passes(entry, self.limit)), value)

    def inside(self) -> float:
        """Return the limit itself where it passes, else the nearest number that does."""
        return self.limit if self.holds(self.limit) else self._beside(self._side)

    def outside(self) -> list[Any]:
        """Return the nearest number that does not pass."""
        return [self._beside(-self._side) if self.holds(self.limit) else self.limit]

    def _beside(self, side: int) -> float:
        return self.limit + side * JUST_PAST_SHARE * abs(self.limit) if self.limit else side * JUST_PAST_SHARE

    def shown(self, value: Any) -> str:
        """Return the value in the bound's unit."""
        return text_of(value, self.unit)

    def __str__(self) -> str:
        return f"{self._words} {text_of(self.limit, self.unit)}"


class AtMost(_Limit):
    """No entry is larger.

    Examples
    --------
    >>> AtMost(1e-8).holds([1e-9, 1e-8]), AtMost(1e-8).holds(float("nan")), AtMost(1e-8).holds([])
    (True, False, False)
    >>> str(AtMost(0.05, "%"))
    'at most 5%'
    """

    _words, _passes, _side = "at most", operator.le, -1


class AtLeast(_Limit):
    """No entry is smaller.

    Examples
    --------
    >>> AtLeast(5).holds(5), str(AtLeast(1.5, "x"))
    (True, 'at least 1.5 x')
    """

    _words, _passes, _side = "at least", operator.ge, 1


class Below(_Limit):
    """Every entry is smaller.

    Examples
    --------
    >>> Below(0.5).holds(0.5), str(Below(0.5))
    (False, 'below 0.5')
    """

    _words, _passes, _side = "below", operator.lt, -1


class Above(_Limit):
    """Every entry is larger.

    Examples
    --------
    >>> Above(0).holds([0.1, 0.0]), str(Above(0))
    (False, 'above 0')
    """

    _words, _passes, _side = "above", operator.gt, 1


@dataclass(frozen=True)
class Between(Bound):
    """Every entry lies between two numbers, or on one of them; with ``or_errors`` an estimate may miss by its error.

    Examples
    --------
    >>> Between(0.3, 0.7).holds([0.3, 0.5]), str(Between(0.3, 0.7, "%"))
    (True, '30% to 70%')
    >>> Between(0.3, 0.7, or_errors=True).holds(Estimate(0.75, 0.1, 5))
    True
    """

    low: float
    high: float
    unit: str = ""
    or_errors: bool = False

    def holds(self, value: Any) -> bool:
        """Say whether every entry is in between."""
        slack = _error_of(value) if self.or_errors else 0.0
        return _every(lambda entry: bool(self.low - slack <= entry <= self.high + slack), value)

    def inside(self) -> float:
        """Return the lower end."""
        return self.low

    def outside(self) -> list[Any]:
        """Return the nearest numbers below and above."""
        return [*AtLeast(self.low).outside(), *AtMost(self.high).outside()]

    def shown(self, value: Any) -> str:
        """Return the value in the bound's unit."""
        return text_of(value, self.unit)

    def __str__(self) -> str:
        more = ", give or take two standard errors" if self.or_errors else ""
        return f"{text_of(self.low, self.unit)} to {text_of(self.high, self.unit)}{more}"


@dataclass(frozen=True)
class Near(Bound):
    """Every entry is within a distance of a number, or of its own in a series of as many.

    With ``or_errors`` an estimate may also be as far away as its own error.

    Examples
    --------
    >>> near = Near(0.503, 0.08)
    >>> near.holds(0.58), near.shown(0.5178), str(near)
    (True, '0.518', '0.503 ± 0.08')
    >>> Near((0.74, 0.85), 0.03).holds([0.75, 0.81])
    False
    >>> Near(0.43, 0.08, or_errors=True).holds(Estimate(0.53, 0.12, 10))
    True
    """

    value: float | tuple[float, ...]
    within: float
    unit: str = ""
    or_errors: bool = False

    def holds(self, value: Any) -> bool:
        """Say whether every entry is as near as asked."""
        measured, expected = entries_of(value), entries_of(self.value)
        if len(expected) == 1:
            expected *= len(measured)
        within = max(self.within, _error_of(value)) if self.or_errors else self.within
        pairs = list(zip(measured, expected, strict=True))
        return bool(pairs) and all(bool(abs(entry - goal) <= within) for entry, goal in pairs)

    def inside(self) -> Any:
        """Return what is asked for."""
        return self.value

    def outside(self) -> list[Any]:
        """Return values of which one entry is just too far away, above and below."""
        expected = entries_of(self.value)
        step = self.within * (1 + 1e-6)
        moved = [
            [entry + sign * step * (moved_index == index) for index, entry in enumerate(expected)]
            for moved_index in range(len(expected))
            for sign in (-1, 1)
        ]
        return moved if isinstance(self.value, tuple) else [entry for (entry,) in moved]

    @property
    def _decimals(self) -> int:
        return max(1, 1 + math.ceil(-math.log10(self.within)))

    def shown(self, value: Any) -> str:
        """Return the value with one digit more than the distance has."""
        return text_of(value, self.unit, self._decimals)

    def __str__(self) -> str:
        expected = ", ".join(_trimmed(entry, self.unit) for entry in entries_of(self.value))
        return f"{expected} ± {_trimmed(self.within, self.unit)}{', or two standard errors' if self.or_errors else ''}"


def _trimmed(number: float, unit: str) -> str:
    """Return a number with all digits it was given."""
    return f"{100 * number:.10g}%" if unit == "%" else f"{without_zeros(f'{number:.10g}')} {unit}".rstrip()


@dataclass(frozen=True)
class Is(Bound):
    """The value is this one: a count, a word, or several of them.

    Examples
    --------
    >>> Is(0).holds(0), Is(("context", "right")).holds(["context", "wrong"]), str(Is(0))
    (True, False, 'exactly 0')
    """

    value: Any

    def holds(self, value: Any) -> bool:
        """Say whether all entries are the same."""
        return entries_of(value) == entries_of(self.value)

    def inside(self) -> Any:
        """Return what is asked for."""
        return self.value

    def outside(self) -> list[Any]:
        """Return the next numbers, another answer, or other words."""
        if isinstance(self.value, bool):
            return [not self.value]
        if isinstance(self.value, int | float):
            return [self.value - 1, self.value + 1]
        changed = [f"not {entry}" if isinstance(entry, str) else entry + 1 for entry in entries_of(self.value)]
        return [changed[0] if isinstance(self.value, str) else changed]

    def __str__(self) -> str:
        number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return f"exactly {text_of(self.value)}" if number else text_of(self.value)


@dataclass(frozen=True)
class _Trend(Bound):
    """Where a series goes: from its first entry to its last, or at every step."""

    every_step: bool = False

    _word: ClassVar[str]
    _sign: ClassVar[int]

    def holds(self, value: Any) -> bool:
        """Say whether the series goes that way."""
        entries = [float(entry) for entry in entries_of(value)]
        ends = pairwise(entries) if self.every_step else [(entries[0], entries[-1])]
        return len(entries) > 1 and all(self._sign * (after - before) > 0 for before, after in ends)

    def inside(self) -> Any:
        """Return a short series that goes that way."""
        return [-float(self._sign), 0.0, float(self._sign)]

    def outside(self) -> list[Any]:
        """Return series that stand still: as a whole or, where every step counts, at one."""
        start, middle, end = self.inside()
        return [[end, middle, end], *([[start, middle, middle], [start, start, end]] if self.every_step else [])]

    def shown(self, value: Any) -> str:
        """Return the series."""
        return text_of(value, decimals=3)

    def __str__(self) -> str:
        return f"{self._word} at every step" if self.every_step else f"{self._word} from end to end"


class Rises(_Trend):
    """A series that rises.

    Examples
    --------
    >>> Rises().holds([0.2, 0.1, 0.3]), Rises(every_step=True).holds([0.2, 0.1, 0.3]), str(Rises(every_step=True))
    (True, False, 'rises at every step')
    """

    _word, _sign = "rises", 1


class Falls(_Trend):
    """A series that falls.

    Examples
    --------
    >>> Falls().holds([0.503, 0.229]), Falls().holds([0.5]), str(Falls())
    (True, False, 'falls from end to end')
    """

    _word, _sign = "falls", -1


@dataclass(frozen=True)
class ClearlyAbove(Bound):
    """A mean above a number, with an interval that lies above ``surely``; clearly too small if all of it is below.

    Examples
    --------
    >>> gain = ClearlyAbove(1.0)
    >>> [gain.holds(Interval(mean, mean - 2, mean + 2)) for mean in (5.0, 1.5, -4.0)]
    [True, None, False]
    >>> str(gain)
    'above 1, its interval above 0'
    """

    limit: float
    surely: float = 0.0

    def holds(self, value: Any) -> bool | None:
        """Say whether it is clearly above; None between clearly above and clearly below."""
        if value.mean > self.limit and value.low > self.surely:
            return True
        return False if value.high < self.limit or not math.isfinite(value.mean) else None

    def inside(self) -> Interval:
        """Return an interval just above."""
        mean = Above(self.limit).inside()
        return Interval(mean, max(Above(self.surely).inside(), mean - 1), mean + 1)

    def outside(self) -> list[Any]:
        """Return intervals whose mean, or lower end, is no longer above."""
        return [
            Interval(self.limit, self.surely + 1, self.limit + 2),
            Interval(self.limit + 1, self.surely, self.limit + 2),
        ]

    def __str__(self) -> str:
        return f"above {text_of(self.limit)}, its interval above {text_of(self.surely)}"


@dataclass(frozen=True)
class ByScale:
    """Other bounds at other scales; nothing is asked at a scale that is not named. Made by `by_scale`."""

    bounds: Mapping[str, Bound]

    def at(self, scale: str) -> Bound | None:
        """Return the bound for results of a scale."""
        return self.bounds.get(scale)

    def __str__(self) -> str:
        groups: dict[str, list[str]] = {}
        for scale, bound in self.bounds.items():
            groups.setdefault(str(bound), []).append(scale)
        main, *more_groups = groups.items()
        more = "; ".join(f"{', '.join(scales)}: {words}" for words, scales in more_groups)
        return f"{main[0]} ({more})" if more else f"{main[0]} ({', '.join(main[1])} only)"


def by_scale(**bounds: Bound) -> ByScale:
    """Return a bound for each scale, the paper's first.

    Examples
    --------
    >>> bound = by_scale(full=AtLeast(0.952), short=AtLeast(0.829), tiny=AtLeast(0.829))
    >>> str(bound), str(bound.at("short")), bound.at("annealed")
    ('at least 0.952 (short, tiny: at least 0.829)', 'at least 0.829', None)
    """
    return ByScale(bounds)
