"""A sheet as people send it becomes a plain table: one header, one row for each measurement, plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.sheets.grid import Grid
from recombine.sheets.notes import Note


@dataclass(frozen=True)
class Tidy:
    """A plain table: names of columns, rows as long as the header with "" where nothing was measured, and notes.

    ``factors`` and ``outcome`` are those that the layout itself tells, of a wide table or of plates.
    """

    columns: tuple[str, ...]
    rows: list[list[str]]
    notes: tuple[Note, ...] = ()
    factors: tuple[str, ...] = ()
    outcome: str | None = None


def tidy(grid: Grid, *, wide: str | None = None, header: int | None = None) -> Tidy:
    """Make a plain table of a sheet.

    ``wide="cell_line=viability"`` names the factor whose levels are columns, and the outcome in their cells;
    ``header`` is the line of the header, where the sheet does not tell.

    Examples
    --------
    >>> tidy(Grid([["drug", "gain"], ["a", "1"], ["b"]])).rows
    [['a', '1'], ['b', '']]
    """
    names, *rows = grid.filled()
    return Tidy(tuple(names), rows)
