"""Where a claim stands: its verdict, the numbers behind it, each beside its bound, and how they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: Entries from which a series is a list.
LONG_SERIES_ENTRIES = 4


class Standing(StrEnum):
    """Where a claim stands after its check.

    Examples
    --------
    >>> Standing.HOLDS, Standing("not run").symbol
    (<Standing.HOLDS: 'holds'>, '○')
    """

    HOLDS = "holds"
    FAILS = "fails"
    CONTRADICTS = "contradicts"
    NOT_COMPARABLE = "not comparable"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"

    @property
    def symbol(self) -> str:
        """A mark that reads without colour."""
        marks = {
            "holds": "✓",
            "fails": "✗",
            "contradicts": "≠",
            "not comparable": "∥",
            "undecided": "?",
            "not run": "○",
        }
        return marks[self.value]

    @property
    def meaning(self) -> str:
        """The word in a sentence."""
        return {
            "holds": "what we measured agrees with the statement, within the bounds it names",
            "fails": "the statement was tested as it was made and did not come out; we cannot say that it is wrong",
            "contradicts": "the same, shown by two routes and enough seeds; the text says how sure that is",
            "not comparable": "what we can run cannot decide it; the text says why",
            "undecided": "what was run is too little to tell, too few seeds or too short a training",
            "not run": "nothing that was run speaks of it",
        }[self.value]


@dataclass(frozen=True)
class Part:
    """One measured number of a claim beside its bound.

    Examples
    --------
    >>> print(Part("CD-3 at 0", "0.518", "0.503 ± 0.08", True))
    ✓ CD-3 at 0: 0.518 (asked: 0.503 ± 0.08)
    >>> print(Part("", "12"), Part("gap", "0.4", "at least 0.3", asks=False), sep="; ")
    12; gap: 0.4 (contradicts if at least 0.3)
    """

    name: str
    value: str
    bound: str = ""
    held: bool | None = None
    #: Whether the bound is what the claim asks for, or what would contradict it.
    asks: bool = True

    def __str__(self) -> str:
        return f"{self.mark}{self.measured}{self._aside}"

    @property
    def _aside(self) -> str:
        return f" ({'asked:' if self.asks else 'contradicts if'} {self.bound})" if self.bound else ""

    @property
    def mark(self) -> str:
        """A tick or a cross, where it was judged."""
        return {True: "✓ ", False: "✗ ", None: ""}[self.held]

    @property
    def lines(self) -> list[str]:
        """The same in lines: a series of four or more numbers has one for each.

        Examples
        --------
        >>> Part("slope", "at 0: 0.5, at 5: 0.6, at 10: 0.7, at 20: 0.8", "rises", True).lines[:2]
        ['✓ slope (asked: rises):', '· at 0: 0.5']
        """
        entries = self.value.split(", ")
        if len(entries) < LONG_SERIES_ENTRIES:
            return [str(self)]
        return [
            f"{self.mark}{self.name}{self._aside}:",
            *(f"· {entry}" for entry in entries),
        ]

    @property
    def measured(self) -> str:
        """Name and number."""
        return f"{self.name}: {self.value}" if self.name else self.value


@dataclass(frozen=True)
class Outcome:
    """What judging a claim gave.

    Parameters
    ----------
    verdict : Standing
    parts : tuple of Part
        The measured numbers, each beside its bound.
    detail : str
        How they were measured and what stands out; for a contradiction, the numbers on both sides and how sure we are.
    scale : str
        Scale of the experiment that was read; empty when none was.
    extent : str
        How much of its grid was run, in words.
    note : str
        Restricts what was judged, such as "direction only".

    Examples
    --------
    >>> outcome = Outcome(Standing.HOLDS, (Part("bend", "1.7e-14", "at most 1e-8", True),), "500 fits")
    >>> outcome.value
    'bend: 1.7e-14'
    """

    verdict: Standing
    parts: tuple[Part, ...] = ()
    detail: str = ""
    scale: str = ""
    extent: str = ""
    note: str = ""

    @property
    def value(self) -> str:
        """The measured numbers in one line."""
        listed = "; ".join(number.measured for number in self.parts) or "-"
        return f"{listed} ({self.note})" if self.note else listed

    @property
    def run(self) -> str:
        """What was run, in words."""
        return "; ".join(text for text in (self.note, self.extent) if text)

    @classmethod
    def not_run(cls, detail: str) -> Outcome:
        """Return the outcome of a claim that nothing decides."""
        return cls(Standing.NOT_RUN, detail=detail)
