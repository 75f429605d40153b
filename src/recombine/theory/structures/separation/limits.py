"""Where chances, means and effects are in the limit of ever larger likelihood."""

from __future__ import annotations

from enum import IntEnum


class Limit(IntEnum):
    """Where a chance, a mean or an effect is along every sequence of effects whose likelihood tends to its supremum.

    Examples
    --------
    >>> Limit.ZERO.word
    'determined at zero'
    """

    FINITE = 0
    ZERO = 1
    ONE = 2
    INFINITE = 3
    MINUS_INFINITE = 4
    OPEN = 5
    UNDECIDED = 6

    @property
    def word(self) -> str:
        """The limit in words."""
        return _WORDS[self]


_WORDS = {
    Limit.FINITE: "determined",
    Limit.ZERO: "determined at zero",
    Limit.ONE: "determined at one",
    Limit.INFINITE: "determined at infinity",
    Limit.MINUS_INFINITE: "determined at minus infinity",
    Limit.OPEN: "not determined",
    Limit.UNDECIDED: "undecided",
}
