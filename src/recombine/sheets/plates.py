"""Plates: wells in rows A, B, ... and columns 1, 2, ... become rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.sheets.grid import Grid
from recombine.sheets.layout import Sheet
from recombine.sheets.notes import MAX_NAMED_VALUES, Note

#: Rows and columns of plates of 6 to 1,536 wells.
SIZES = {(2, 3), (4, 6), (8, 12), (16, 24), (32, 48)}
#: Rows above the first plate, at most.
MAX_NAME_ROWS = 8
_LETTERS = [chr(ord("A") + col) for col in range(26)] + [f"A{chr(ord('A') + col)}" for col in range(6)]


def read_plates(grid: Grid) -> Sheet | None:
    """Return plates as plate, row, column and value; None where a sheet holds anything but plates and their names.

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
    name, index = "", 0
    while index < len(rows):
        size = _size(rows, index)
        if size is not None:
            plates.append((name or rows[index][0], index, *size))
            name, index = "", index + size[0]
        elif any(rows[index]):
            texts = [cell for cell in rows[index] if cell]
            if len(texts) > 1 or name:
                return None
            name = texts[0]
        index += 1
    return _wells(grid, rows, plates) if plates and not name else None


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
    fits = (count, len(numbers)) in SIZES
    return (
        (count, len(numbers))
        if fits and all(not any(row[len(numbers) + 1 :]) for row in rows[top : top + count + 1])
        else None
    )


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
