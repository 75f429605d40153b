"""What a reading hands back: named numbers, never a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recombine.tables.table import Table

#: Where small networks on the bundled digits were trained instead of the paper's.
DIGITS = "8x8 digits and small networks stand in, so only the direction is judged"


@dataclass(frozen=True)
class Size:
    """How much the paper itself ran, and how many of our rows are of its size.

    Examples
    --------
    >>> networks = Size(60, "networks", lambda rows: int((rows["steps"] == 392_000).sum()))
    >>> networks.said(Table({"steps": [3300, 392_000]}))
    "1 of the paper's 60 networks"
    """

    many: int
    of: str
    count: Callable[[Table], int]

    def said(self, rows: Table) -> str:
        """Return in words how much of what the paper ran is in some rows."""
        return f"{self.count(rows)} of the paper's {self.many:,} {self.of}"


class MissingRowsError(Exception):
    """Rows that a reading needs are not there, so that nothing can be said."""


@dataclass(frozen=True)
class Measured:
    """Named numbers, and how they came about.

    Parameters
    ----------
    numbers : mapping of str to number, word, Estimate, Interval, or a series of these
        By the names that the claim's bounds use. Those without a bound are only shown.
    detail : str
        What was measured on, and what stands out.
    scale : str
        Which of several scales the rows are of, where bounds differ by scale.
    note : str
        Put behind the numbers.
    stands_in : str
        Says what stood in for the paper's data; then its published numbers are not asked for.

    Examples
    --------
    >>> Measured({"slope": 0.7, "seeds": 5}, "extrapolation").numbers["slope"]
    0.7
    """

    numbers: Mapping[str, Any]
    detail: str = ""
    scale: str = ""
    note: str = ""
    stands_in: str = ""


def stands_in(rows: Table) -> str:
    """Return the words for results on the bundled digits, which stand in for the paper's images; else nothing.

    Examples
    --------
    >>> stands_in(Table({"images": ["mnist", "mnist"]})), stands_in(Table({"images": ["digits"]}))[:10]
    ('', '8x8 digits')
    """
    return DIGITS if set(rows["images"].tolist()) == {"digits"} else ""
