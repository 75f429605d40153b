"""Tables that lie on their side: each row is a variable."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.sheets.layout import Sheet
from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.sheets.values import text_kinds


def turned(sheet: Sheet) -> Sheet:
    """Exchange rows and columns where the first column holds the names of variables.

    Examples
    --------
    >>> sheet = Sheet(("drug", "a", "a", "b"), (("dose", "gain"), ("1", "0.5"), ("2", "1.5"), ("1", "2")), [2, 3])
    >>> turned(sheet).names, turned(sheet).rows[0]
    (('drug', 'dose', 'gain'), ('a', '1', '0.5'))
    """
    rows = [sheet.names, *sheet.rows] if len(sheet.lines) + 1 < len(sheet.names) else []
    if not rows or not _lies_on_its_side(sheet, rows):
        return sheet
    names = tuple(row[0] for row in rows)
    notes = sheet.noted(Note("transposed", "", (), names[:MAX_NAMED_VALUES], len(names)))
    lines = [sheet.lines[0] - 1] * (len(sheet.names) - 1)
    return Sheet(names, tuple(row[1:] for row in rows), lines, notes, ("",) * len(names))


def _lies_on_its_side(sheet: Sheet, rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row is of one kind and columns are mixed, or the names of columns repeat as levels do."""
    names = [row[0] for row in rows]
    if len(rows) < 2 or len(sheet.names) < 4 or not all(names) or len(set(names)) < len(names) or any(sheet.above):
        return False
    if text_kinds(names).numbers:
        return False
    kinds = [text_kinds(row[1:]) for row in rows]
    one_kind = all(not kind.others or not kind.numbers for kind in kinds)
    if not one_kind or not any(kind.numbers for kind in kinds[1:]):
        return False
    named = [name for name in sheet.names if name]
    repeated = len(set(named)) < len(named)
    mixed = any(kind.others for kind in kinds[1:])
    return repeated or mixed
