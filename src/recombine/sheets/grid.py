"""A sheet before anybody knows what its cells mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: A field between blanks: in quotes, or without a blank in it.
_FIELD = re.compile(r'"(?:\\.|""|[^"\\])*"(?=[ \t]|$)|[^ \t]+')
#: Lines that tell whether blanks stand between fields, and fields that one of them has at least.
MAX_LINES_TOLD, MIN_FIELDS = 200, 3


def with_tabs(text: str) -> str:
    r"""Return a text whose fields are apart by runs of blanks with tabs in their place; any other as it is.

    All lines have as many fields, but the first may have one less: R writes no name over the names of rows.

    Examples
    --------
    >>> with_tabs('"drug" "dose"\n"1" "a b"  10\n"2" "c" 5').splitlines()
    ['"drug"\t"dose"', '"1"\t"a b"\t10', '"2"\t"c"\t5']
    """
    first, *widths = [len(_FIELD.findall(line)) for line in text.split("\n") if line.strip()][:MAX_LINES_TOLD] or [0]
    if not widths or widths[0] < MIN_FIELDS or len(set(widths)) > 1 or widths[0] - first not in (0, 1):
        return text
    return "\n".join("\t".join(_FIELD.findall(line)).replace('\\"', '""') for line in text.split("\n"))


@dataclass(frozen=True)
class Grid:
    """Cells of a sheet as text, "" where a cell is empty; rows may differ in length.

    ``merged`` are the ranges that a spreadsheet shows as one cell: top, left, bottom, right, from 0, inclusive.
    ``lines`` are the lines of the file that rows begin at, from 1; without them row 0 is line 1.
    ``delimiter`` is what stood between the fields of a text file, "" where cells come from a spreadsheet.

    Examples
    --------
    >>> grid = Grid([["drug", "dose"], ["a", "1"], ["", "2"]], merged=((1, 0, 2, 0),))
    >>> grid.width, grid.line(2), grid.filled()
    (2, 3, [['drug', 'dose'], ['a', '1'], ['a', '2']])
    """

    rows: Sequence[Sequence[str]]
    merged: tuple[tuple[int, int, int, int], ...] = ()
    lines: tuple[int, ...] = ()
    delimiter: str = ""

    @property
    def width(self) -> int:
        """How many cells the longest row has."""
        return max((len(row) for row in self.rows), default=0)

    def line(self, row: int) -> int:
        """Return the line of the file that a row begins at."""
        return self.lines[row] if self.lines else row + 1

    def filled(self) -> list[list[str]]:
        """Return the rows, all as long as the longest, every merged range holding the text of its first cell.

        A range over all columns is a title, and stays one cell.
        """
        width = self.width
        rows = [[*row, *[""] * (width - len(row))] for row in self.rows]
        used = sum(map(any, zip(*rows, strict=True))) if self.merged else 0
        for top, start, bottom, end in self.merged:
            if 0 <= top < len(rows) and 0 <= start < width and (end == start or end - start + 1 < used):
                for row in rows[top : bottom + 1]:
                    row[start : end + 1] = [rows[top][start]] * (min(end + 1, width) - start)
        return rows
