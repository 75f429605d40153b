"""Plates: wells in rows A, B, ... and columns 1, 2, ... become rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recombine.sheets.grid import Grid
from recombine.sheets.layout import Sheet, lines_note
from recombine.sheets.notes import MAX_NAMED_VALUES, Note

#: Rows and columns of plates of 6 to 1,536 wells.
SIZES = {(2, 3), (4, 6), (8, 12), (16, 24), (32, 48)}
#: Rows above the first plate, at most; those of them that hold more cells than settings do, at most.
MAX_NAME_ROWS, MAX_LONG_ROWS = 60, 2
#: Cells of a row of settings, at most.
MAX_SETTING_CELLS = 3
_LETTERS = [chr(ord("A") + col) for col in range(26)] + [f"A{chr(ord('A') + col)}" for col in range(6)]


def read_plates(grid: Grid) -> Sheet | None:
    """Return plates as plate, row, column and value; None where there is more than plates, names and settings.

    Examples
    --------
    >>> sheet = read_plates(Grid([["", "1", "2", "3"], ["A", "5", "6", "7"], ["B", "8", "", "9"]]))
    >>> sheet.names, sheet.rows[-1], sheet.factors
    (('row', 'column', 'value'), ('B', '3', '9'), ('row', 'column'))
    """
    if not any([cell.strip() for cell in row[1:4]] == ["1", "2", "3"] for row in grid.rows[:MAX_NAME_ROWS]):
        return None
    rows = [[cell.strip() for cell in row] for row in grid.filled()]
    plates: list[tuple[str, int, int, int]] = []
    above: list[int] = []
    waiting: list[int] = []
    index = 0
    while index < len(rows):
        size = _size(rows, index)
        if size is not None:
            named = waiting[-1:] if waiting and _texts(rows[waiting[-1]]) == 1 else []
            others = waiting[: len(waiting) - len(named)]
            if plates and others:
                return None
            above, waiting = above or others, []
            plates.append((next((next(filter(None, rows[row])) for row in named), rows[index][0]), index, *size))
            index += size[0]
        elif any(rows[index]):
            waiting.append(index)
        index += 1
    tables = sum(_texts(rows[row]) > MAX_SETTING_CELLS for row in above) > MAX_LONG_ROWS
    if not plates or tables or any(_texts(rows[row]) > 2 for row in waiting):
        return None
    sheet = _wells(grid, rows, plates)
    notes = [lines_note("title", grid, rows, above), lines_note("footer", grid, rows, waiting)]
    return replace(sheet, notes=sheet.noted(*notes))


def _texts(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def _size(rows: Sequence[Sequence[str]], top: int) -> tuple[int, int] | None:
    """Return rows and columns of the plate whose column numbers stand in a row; None where there is no plate."""
    numbers = list(rows[top][1:])
    while numbers and not numbers[-1]:
        numbers.pop()
    if numbers != [str(col + 1) for col in range(len(numbers))]:
        return None
    count = 0
    while top + count + 1 < len(rows) and count < len(_LETTERS) and rows[top + count + 1][0].upper() == _LETTERS[count]:
        count += 1
    alone = not any(any(row[len(numbers) + 1 :]) for row in rows[top : top + count + 1])
    return (count, len(numbers)) if alone and (count, len(numbers)) in SIZES else None


def _wells(grid: Grid, rows: Sequence[Sequence[str]], plates: Sequence[tuple[str, int, int, int]]) -> Sheet:
    several = len(plates) > 1
    wells, lines = [], []
    for col, (name, top, height, width) in enumerate(plates):
        for row in range(height):
            for column in range(width):
                if value := rows[top + 1 + row][column + 1]:
                    plate = [name or str(col + 1)] if several else []
                    wells.append([*plate, _LETTERS[row], str(column + 1), value])
                    lines.append(grid.line(top + 1 + row))
    names = tuple(name for name, *_ in plates if name)[:MAX_NAMED_VALUES]
    factors = ("plate", "row", "column") if several else ("row", "column")
    note = Note("plate", "", (), names, len(plates))
    return Sheet(
        (*factors, "value"),
        tuple(zip(*wells, strict=True)),
        lines,
        (note,),
        ("",) * (len(factors) + 1),
        factors,
        "value",
    )
