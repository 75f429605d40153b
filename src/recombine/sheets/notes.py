"""What was read otherwise than it was written: facts, of which `recombine.words` makes sentences."""

from __future__ import annotations

from dataclasses import dataclass

#: Every kind of note, and what its fields hold.
KINDS = {
    "title": "lines above the header that are not read; values are their texts",
    "footer": "lines below the table that are not read; values are their first cells",
    "section": "lines that name the rows below them; column is what they name, values are the names",
    "settings": "lines below the header with times or temperatures of an instrument, not read; values are their labels",
    "total_rows": "lines that sum up or average others by their label in column (values), and do; not read",
    "beside": "lines with cells beside the table that are not read; values are the first of them",
    "empty": "count rows or columns (column says which) without a cell",
    "repeated_header": "lines that repeat the header",
    "joined_header": "two header rows read as one; values are the names that came of them",
    "unit_row": "a second header row of units; column has the unit in values",
    "merged": "count empty cells or ditto marks of column read as the cell above them",
    "transposed": "rows and columns were exchanged; values are the names of columns",
    "wide": "columns read as levels of the factor column; values are the outcome and then the levels",
    "repeats": "columns read as repeated measurements; values are the outcome and then their names",
    "looks_wide": "columns (values) that would be levels of one factor if the table were wide",
    "plate": "count plates read as rows, columns and values; values are their names",
    "percent": "numbers of column without their percent sign: 12% is 12",
    "thousands": "numbers of column without what stands between thousands (values)",
    "decimal_comma": "numbers of column with a point for their comma",
    "unclear_comma": "numbers of column such as 1,234 (values), read as thousands; decimals would look the same",
    "unclear_point": "numbers of column such as 1.234 (values), read as decimals; thousands would look the same",
    "currency": "numbers of column without their currency (values)",
    "unit": "numbers of column without their unit (values)",
    "unit_spelling": "levels of column with their unit spelled in one way (values)",
    "negative": "numbers of column that were written otherwise than with a minus: (5) is -5",
    "marked": "numbers of column without the marks of footnotes behind them (values)",
    "limit": "cells of column outside a limit (values), read as missing",
    "nothing": "count cells of column that spell that there is nothing (values), read as missing",
    "misfit": "cells of column (values) that are no numbers, though the others are",
    "mixed": "numbers of column that are not written in one way (values), kept as texts",
    "sentinel": "numbers of column far from all others (values), which may stand for nothing",
    "code": "numbers of column such as -999 (values) that repeat far from all others, read as missing",
    "total_level": "levels of column (values) that may sum up the others",
    "ticks": "answers (values) written as 1 for yes and 0 for no, with an empty cell for no where only yes is written",
    "total_column": "columns (values) that sum up others, not read as levels",
    "blanks": "count levels of column that had blanks around them",
    "alike": "levels of column that differ by case and blanks (values: read as the first of each)",
    "same_amount": "levels of column that are one amount in two units (values)",
    "date": "dates of column written as year-month-day",
    "unclear_date": "dates of column that may be day/month or month/day (values), kept as they are",
    "gene_date": "cells of column (values) that a spreadsheet may have made of names of genes",
    "sheet": "column is the sheet that was read, values are the others that hold something",
    "error_cell": "cells (values) that hold an error such as #N/A, read as missing",
    "renamed": "columns that had no name or the name of another; values are their new names",
}
#: Kinds that only remark on something: the table is what it was.
REMARKS = frozenset({"looks_wide", "misfit", "mixed", "sentinel", "total_level", "same_amount", "gene_date"})
REMARKS |= {"unclear_date", "unclear_point"}
#: Kinds that say that rows or columns are others than those of the sheet.
LAYOUTS = frozenset({"title", "footer", "empty", "repeated_header", "joined_header", "unit_row", "merged"})
LAYOUTS |= {"section", "settings", "total_rows", "beside", "transposed", "wide", "repeats", "plate", "renamed"}
#: What a factor is called whose levels may be columns, where their names do not tell.
UNNAMED_FACTOR = "factor"
#: What a column is called that numbers repeated measurements: no factor, unless a reader says so.
REPEAT_NUMBER = "repeat"
#: Lines and values that one note names, at most; its count tells how many there are.
MAX_NAMED_VALUES = 20


@dataclass(frozen=True)
class Note:
    """One fact about how a sheet was read, of one of `KINDS`.

    ``column`` is the column it is about, ``lines`` are lines of the file, from 1, ``values`` what stood there, and
    ``count`` how many cells or rows it is about.

    Examples
    --------
    >>> Note("limit", "gain", (7,), ("<5",), 1)
    Note(kind='limit', column='gain', lines=(7,), values=('<5',), count=1)
    >>> Note("unheard of")
    Traceback (most recent call last):
    ValueError: 'unheard of' is no kind of note
    """

    kind: str
    column: str = ""
    lines: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    count: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is no kind of note")
