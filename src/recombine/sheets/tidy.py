"""A sheet as people send it becomes a plain table: one header, one row for each measurement, plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recombine.sheets.blocks import is_total, rows_of_totals
from recombine.sheets.grid import Grid
from recombine.sheets.labels import read_labels
from recombine.sheets.layout import Sheet, lay_out, unique_names
from recombine.sheets.notes import LAYOUTS, MAX_NAMED_VALUES, REMARKS, Note
from recombine.sheets.numerals import decimal_sign, read_numbers, told_sign
from recombine.sheets.plates import read_plates
from recombine.sheets.rules import rule_limit
from recombine.sheets.values import Column, text_kinds
from recombine.sheets.wide import melted, turned


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

    @property
    def changed(self) -> bool:
        """Whether anything is read otherwise than it is written."""
        return any(note.kind not in REMARKS for note in self.notes)

    @property
    def laid_out(self) -> bool:
        """Whether rows or columns are others than those of the sheet."""
        return any(note.kind in LAYOUTS for note in self.notes)


def tidy(grid: Grid, *, wide: str | None = None, header: int | None = None) -> Tidy:
    """Make a plain table of a sheet, of which a clean one is what it was.

    ``wide="cell_line=viability"`` names the factor whose levels are columns, and the outcome in their cells;
    ``header`` is the line of the header, where the sheet does not tell.

    Examples
    --------
    >>> sheet = Grid([["Table 1"], [], ["drug", "10 uM", "20 uM"], ["a", "5%", "<1%"], ["b", "7%", "n.d."]])
    >>> table = tidy(sheet, wide="dose=gain")
    >>> table.columns, table.rows
    (('drug', 'dose', 'gain'), [['a', '10 uM', '5'], ['a', '20 uM', ''], ['b', '10 uM', '7'], ['b', '20 uM', '']])
    >>> [note.kind for note in table.notes]
    ['title', 'wide', 'percent', 'limit']
    """
    sheet = read_plates(grid) if wide is None and header is None else None
    if sheet is None:
        sheet = melted(turned(lay_out(grid, header)), wide, grid.delimiter)
    return _with_values(sheet, grid.delimiter)


def _with_values(sheet: Sheet, delimiter: str) -> Tidy:
    """Read the cells of each column."""
    names = unique_names(sheet.names)
    parts = zip(names, sheet.columns, sheet.kinds, strict=True)
    columns = [Column(name, cells, sheet.lines, kinds) for name, cells, kinds in parts]
    are_numbers = [column.kinds.are_numbers(outcome=column.name == sheet.outcome) for column in columns]
    numeric = [column for column, numbers in zip(columns, are_numbers, strict=True) if numbers]
    sheet_sign = told_sign([column.kinds for column in numeric], delimiter)
    largest = max((len(column.kinds.numbers) for column in numeric), default=0)
    measured = [column.name for column in numeric if len(column.kinds.numbers) == largest][-1:]
    notes, cells_read = list(sheet.notes), []
    for col, column in enumerate(columns):
        sign = decimal_sign(column.kinds, delimiter, sheet_sign)
        if are_numbers[col] and sign:
            many = len(column.kinds.numbers) > rule_limit("distinct numbers of a measured column with a unit")
            keep = column.name != sheet.outcome and not many and column.name not in measured
            texts, more = read_numbers(column, delimiter, sign, sheet_sign=sheet_sign, keep_unit=keep)
        else:
            texts, more = read_labels(column, sloppy=sheet.names[col] in sheet.sloppy)
        if blanks := sheet.blanks.get(sheet.names[col]):
            more = [Note("blanks", column.name, count=blanks), *more]
        notes += more
        cells_read.append([texts.get(cell, cell) for cell in column.cells] if texts else column.cells)
    sums, more = _totals(columns, cells_read, [col for col, numbers in enumerate(are_numbers) if numbers])
    rows = [list(row) for at, row in enumerate(zip(*cells_read, strict=True)) if at not in sums]
    there = {name: set(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=False)} if sums else {}
    gone = [note for note in notes if sums and note.kind == "total_level" and not there[note.column] & {*note.values}]
    notes = [note for note in notes if note not in gone] + more
    named = dict(zip(sheet.names, names, strict=True))
    return Tidy(names, rows, tuple(notes), tuple(named[factor] for factor in sheet.factors), sheet.outcome)


def _totals(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], numeric: Sequence[int]
) -> tuple[frozenset[int], list[Note]]:
    """Return the rows that sum up or average others and say so, and notes on them and on levels that look like it."""
    measured = [col for col in numeric if columns[col].kinds.measured]
    labels = [col for col in range(len(columns)) if col not in measured]
    sums, levels = rows_of_totals([cells[col] for col in labels], [cells[col] for col in measured])
    if sums:
        totals = [next(filter(is_total, (cells[col][row] for col in labels)), "") for row in sorted(sums)]
        lines = tuple(columns[0].lines[row] for row in sorted(sums))[:MAX_NAMED_VALUES]
        values = tuple(dict.fromkeys(totals))[:MAX_NAMED_VALUES]
    notes = [Note("total_rows", "", lines, values, len(sums))] if sums else []
    for at, level in sorted(levels):
        column = replace(columns[labels[at]], cells=cells[labels[at]], kinds=text_kinds(cells[labels[at]]))
        notes.append(column.note("total_level", {level}, lines=True))
    return sums, notes
