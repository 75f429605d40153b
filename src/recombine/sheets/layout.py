"""Where the table is on a sheet: its header, what stands above and below it, labels that stand for blocks of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from recombine.errors import InputError
from recombine.sheets.blocks import Sections, is_summary, sections_of
from recombine.sheets.grid import Grid
from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.sheets.rules import rule_limit, rule_pattern, rule_words
from recombine.sheets.units import unit_spelling
from recombine.sheets.values import TextKinds, text_kinds


class ShapeError(InputError):
    """Raised where the header does not tell what the columns are called, and why is known."""


@dataclass(frozen=True)
class Sheet:
    """A table on its way: names and cells of columns, lines of rows; ``above`` are names over groups of columns.

    ``blanks`` counts by column the cells that had blanks around them; ``sloppy`` are columns in which one level stands
    with them and without.
    """

    names: tuple[str, ...]
    columns: tuple[Sequence[str], ...]
    lines: Sequence[int]
    notes: tuple[Note, ...] = ()
    above: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    outcome: str | None = None
    blanks: Mapping[str, int] = field(default_factory=dict)
    sloppy: frozenset[str] = frozenset()

    @cached_property
    def kinds(self) -> tuple[TextKinds, ...]:
        """What the texts of each column are."""
        return tuple(map(text_kinds, self.columns))

    @cached_property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows, each with a cell of every column."""
        return list(zip(*self.columns, strict=True))

    def noted(self, *notes: Note) -> tuple[Note, ...]:
        """Return the notes so far and more, without those about nothing."""
        return (*self.notes, *(note for note in notes if note.count))


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name with as many underscores behind it as make it one of its own.

    Examples
    --------
    >>> free_name("value", ["drug", "value"])
    'value_'
    """
    others = set(taken)
    while name in others:
        name += "_"
    return name


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, those without one called ``column0`` and so on by their number.

    Examples
    --------
    >>> unique_names(("", "dose", "column0"))
    ('column0_', 'dose', 'column0')
    """
    return tuple(name or free_name(f"column{col}", names) for col, name in enumerate(names))


def lay_out(grid: Grid, header: int | None = None) -> Sheet:
    """Find the table on a sheet: ``header`` is the line of its header, where that is known.

    Examples
    --------
    >>> sheet = lay_out(Grid([["Yields of 2026"], [], ["plot", "gain"], ["a", "1"], ["b", "2"], ["Total", "3"]]))
    >>> sheet.names, sheet.rows, [note.kind for note in sheet.notes]
    (('plot', 'gain'), [('a', '1'), ('b', '2')], ['title', 'footer'])
    """
    if not any(map(any, grid.rows)):
        raise InputError("the sheet is empty; it needs a header line and rows")
    cells = [index for index, row in enumerate(grid.rows) if not grid.delimiter or not _is_dashes(row)]
    if dashes := len(grid.rows) - len(cells):
        lines = tuple(map(grid.line, cells))
        sheet = lay_out(replace(grid, rows=[grid.rows[index] for index in cells], lines=lines), header)
        return replace(sheet, notes=sheet.noted(Note("empty", "row", count=dashes)))
    if (table_width := _own_width(grid, header)) < _width(grid):
        aside = Grid([row[table_width:] for row in grid.rows], (), grid.lines)
        note = lines_note("beside", aside, aside.rows, range(len(aside.rows)))
        sheet = _laid_out(replace(grid, rows=[row[:table_width] for row in grid.rows]), header)
        return replace(sheet, notes=sheet.noted(note))
    return _laid_out(grid, header)


def _laid_out(grid: Grid, header: int | None) -> Sheet:
    """Find the table on a sheet with nothing beside it."""
    raw = grid.filled()
    rows = _stripped(raw)
    width = _width(grid)
    _refuse_levels(grid, rows if header is None else [], width)
    top = _header_row(rows, width) if header is None else _asked_row(grid, header)
    shifted = _shift_header(grid, rows, top, width)
    parts = _parts(grid, rows, top, width)
    _refuse_ragged(grid, parts.body, width)
    columns = tuple(zip(*(rows[index] for index in parts.body), strict=True))[:width]
    blanks, sloppy = _blanks(rows[top][:width], [raw[index] for index in parts.body], columns)
    sheet = Sheet(
        tuple(rows[top][:width]),
        columns or ((),) * width,
        [grid.line(index) for index in parts.body],
        above=_spread(rows[parts.group][:width]) if parts.group is not None else ("",) * width,
        blanks=blanks,
        sloppy=sloppy,
    )
    notes = [lines_note(kind, grid, rows, indices) for kind, indices in parts.unread.items()]
    notes += [Note("empty", "row", count=parts.empty), Note("renamed", "", (), ("column0",), int(shifted))]
    sheet = _named(replace(sheet, notes=sheet.noted(*notes)))
    if parts.units:
        spelled = [(name, cell) for name, cell in zip(rows[top], rows[top + 1], strict=True) if cell]
        sheet = replace(sheet, notes=sheet.noted(*(Note("unit_row", name, (), (unit,), 1) for name, unit in spelled)))
    return _filled_down(sheet if parts.sections is None else _with_sections(sheet, parts.sections, grid, parts.body))


@dataclass(frozen=True)
class _Parts:
    """Rows by what they are: the body; one of names over groups of columns; of units; names over blocks of rows.

    ``unread`` are rows that are not read, by the kind of the note on them; ``empty`` counts rows without a cell.
    """

    body: list[int]
    group: int | None
    units: bool
    sections: Sections | None
    unread: Mapping[str, Sequence[int]]
    empty: int


def _parts(grid: Grid, rows: Sequence[tuple[str, ...]], top: int, width: int) -> _Parts:
    """Sort the rows of a sheet by what they are; ``top`` is the header."""
    units = _is_unit_row(rows, top)
    below = _below_imports(rows, top) or top + 1 + units + _is_answer_row(rows[top + 1 : top + 2], width)
    settings = _setting_rows(rows, below)
    start = below + len(settings)
    last = _last_row(rows, start)
    sections = sections_of([row[:width] for row in rows], top, start, last)
    last = last if sections else _next_header(rows, top, start, last)
    over = frozenset(sections.rows if sections else ())
    # A title with a comma has fewer fields than a row of names over groups.
    full = top > 0 and top - 1 not in over and (not grid.delimiter or len(grid.rows[top - 1]) >= width)
    group = top - 1 if full and _is_group(rows[top - 1][:width]) else None
    again = [index for index in range(start, last) if rows[index] == rows[top]]
    body = [
        index for index in range(start, last) if any(rows[index]) and index not in over and rows[index] != rows[top]
    ]
    body = body or [index for index in range(start, last) if grid.rows[index]]  # nothing at all is no table to mend
    subtotals = _subtotals(rows, body)
    body = [index for index in body if index not in subtotals]
    unread = {
        "total_rows": sorted(subtotals),
        "title": [index for index in range(top if group is None else group) if index not in over],
        "footer": range(last, len(rows)),
        "settings": settings,
        "repeated_header": [*([] if units else range(top + 1, below)), *again],
    }
    apart = len(body) + len(again) + len(subtotals) + sum(start <= index < last for index in over)
    empty = sum(bool(grid.rows[index]) for index in range(start, last)) - apart
    return _Parts(body, group, units, sections, unread, empty)


def _subtotals(rows: Sequence[Sequence[str]], body: Sequence[int]) -> frozenset[int]:
    """Return the rows of a body that sum up the block above: such a label, and another one blank."""
    told = {index for index in body if rule_pattern("subtotal").fullmatch(rows[index][0])}
    others = [rows[index] for index in body if index not in told]
    full = [col for col, cells in enumerate(zip(*others, strict=True)) if col and all(cells)] if told else []
    return frozenset(index for index in told if not all(rows[index][col] for col in full))


def _with_sections(sheet: Sheet, sections: Sections, grid: Grid, body: Sequence[int]) -> Sheet:
    """Make a column of the names that stand over blocks of rows."""
    name, lines = free_name(sections.factor, sheet.names), tuple(map(grid.line, sections.rows))
    note = Note("section", name, lines[:MAX_NAMED_VALUES], sections.names[:MAX_NAMED_VALUES], len(lines))
    column = tuple(map(sections.name_of, body))
    return replace(
        sheet,
        names=(name, *sheet.names),
        above=("", *sheet.above),
        columns=(column, *sheet.columns),
        notes=sheet.noted(note),
    )


def _is_answer_row(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the row below the names of a survey says of each question that answers follow."""
    cells = [cell for row in rows for cell in row[:width] if cell]
    return len(cells) > 1 and all(cell.casefold() in rule_words("header_answers") for cell in cells)


def _setting_rows(rows: Sequence[Sequence[str]], start: int) -> list[int]:
    """Return the rows below the header that hold times and temperatures of an instrument, beside rows that do not."""
    settings = []
    for index in range(start, len(rows)):
        if not rows[index] or not rule_pattern("kinetic_row").fullmatch(rows[index][0]):
            break
        settings.append(index)
    return settings if len(rows) - start > 2 * len(settings) else []


def _refuse_levels(grid: Grid, rows: Sequence[Sequence[str]], width: int) -> None:
    """Refuse rows of names above one that names the first columns only, as pandas writes columns of several levels."""
    bare = [index for index, row in enumerate(rows) if row[0] and not all(row[:width]) and not row[width - 1]]
    if bare not in ([2], [3]):
        return
    labels = next(col for col, cell in enumerate(rows[bare[0]]) if not cell)
    repeated = len(set(rows[0][labels:width])) < width - labels
    if repeated and all(all(row[labels:width]) and not any(row[1:labels]) for row in rows[: bare[0]]):
        raise ShapeError(
            f"{bare[0]} rows of names stand above line {grid.line(bare[0])}, as pandas writes columns of several "
            "levels; save it with one, after df.stack() or with joined names, and reset_index()"
        )


def _shift_header(grid: Grid, rows: list[tuple[str, ...]], top: int, width: int) -> bool:
    """Move names to the right that stand one column too far to the left, as where names of rows have no name."""
    short = grid.delimiter and len(grid.rows[top]) == width - 1
    full = [index for index in range(top + 1, len(rows)) if rows[index][width - 1]] if short else []
    if len({rows[index][0] for index in full}) < len(full):  # names of rows are each their own
        raise ShapeError(
            f"line {grid.line(full[0]):,} and others have {width} fields but the header names {width - 1} columns: "
            "decimal commas without quotes? Write decimal points, or semicolons between the fields"
        )
    if full:
        rows[top] = ("", *rows[top][:-1])
    return bool(full)


def _is_dashes(row: Sequence[str]) -> bool:
    """Whether a line only rules off others, as programs of databases write one below the names."""
    return bool(row) and row[0].strip()[:1] in ("-", "+") and bool(rule_pattern("dashes").fullmatch("".join(row)))


def _own_width(grid: Grid, header: int | None) -> int:
    """Return how many columns belong to the table: beside it, nearly empty columns without a name do not."""
    width, rows = _width(grid), grid.filled()
    counts = [sum(map(bool, column)) for column in zip(*rows, strict=True)][:width]
    enough = rule_limit("share of cells of a column beside the table") * max(counts, default=0)
    belonging = max((col + 1 for col, count in enumerate(counts) if count >= enough), default=width)
    if belonging < 2 or not any(counts[belonging:]):
        return width
    top = _header_row([row[:belonging] for row in rows], belonging) if header is None else _asked_row(grid, header)
    if grid.delimiter and len(grid.rows[top]) < width:
        return width
    return next((col for col in range(belonging, width) if not rows[top][col]), width)


def _stripped(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return rows whose cells have no blanks around them; each distinct text is looked at once."""
    columns = []
    for column in zip(*rows, strict=True):
        padded = {text: text.strip() for text in set(column) if text[:1].isspace() or text[-1:].isspace()}
        columns.append([padded.get(cell, cell) for cell in column] if padded else column)
    return list(zip(*columns, strict=True)) or [() for _ in rows]


def _width(grid: Grid) -> int:
    """Return how many columns the table has: as many fields as most lines of a text file have."""
    if not grid.delimiter:
        return grid.width
    lengths = Counter(len(row) for row in grid.rows if any(map(str.strip, row)))
    return max(lengths, key=lambda length: (lengths[length], length), default=0)


def _asked_row(grid: Grid, line: int) -> int:
    indices = [index for index in range(len(grid.rows)) if grid.line(index) == line]
    if not indices:
        raise InputError(f"the sheet has no line {line}; name the line of the header")
    return indices[0]


def _header_row(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return the first row that names nearly all columns with cells below it, or the first that is not blank."""
    there = [index for index, row in enumerate(rows) if any(row)]
    lasts = [next((index for index in reversed(there) if rows[index][col]), -1) for col in range(width)]
    for index in there[: int(rule_limit("rows searched for the header"))]:
        row = rows[index][:width]
        used, named = {col for col in range(width) if lasts[col] > index}, [cell for cell in row if cell]
        unnamed = {col for col in used if not row[col]}
        full = len(used - unnamed) >= max(2, rule_limit("share of columns that a header names") * len(used))
        full = full or (len(used) > 1 and unnamed == {0}) or (width < 2 and bool(named))
        below = rows[index + 1][:width] if index + 1 < len(rows) else ()
        if full and any(below) and (len(set(named)) == len(named) or not _is_header(row, below, used)):
            return index - 1 if index and _is_measured(rows[index - 1][:width], row) else index
    return there[0] if there else 0


def _is_measured(above: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row holds numbers behind a label, below one that names the labels and half of the columns."""
    numbers, names = text_kinds(row[1:]).numbers, [cell for cell in above if cell]
    named = bool(above[0]) and len(set(names)) == len(names) and 2 * len(names) >= len(above) > 2
    return named and bool(numbers) and numbers.keys() >= set(row[1:]) and any("." in cell for cell in row[1:])


def _next_header(rows: Sequence[Sequence[str]], top: int, start: int, last: int) -> int:
    """Return where another table begins below the first: in a row that names two columns as the header does.

    Or below a blank row, in one of new texts with a number below one of them.
    """
    names = rows[top]
    for index in range(start, last):
        if (
            index > start
            and not any(rows[index - 1][1:])
            and rows[index] != names
            and _names_others(rows, start, index)
        ):
            return next(before + 1 for before in range(index - 1, -1, -1) if any(rows[before][1:]))
        repeated = sum(bool(cell) and cell == name for cell, name in zip(rows[index], names, strict=True))
        if repeated > 1 and 2 * repeated >= sum(map(bool, rows[index])) and rows[index] != names:
            return index
    return last


def _names_others(rows: Sequence[Sequence[str]], start: int, index: int) -> bool:
    """Whether a row holds texts that stand nowhere above in their columns, with a number below one of them."""
    cells = {col: cell for col, cell in enumerate(rows[index]) if cell}
    below = [rows[index + 1][col] for col in cells] if index + 1 < len(rows) else []
    texts = len(cells) > 1 and text_kinds(cells.values()).others == set(cells.values())
    return (
        texts
        and bool(text_kinds(below).numbers)
        and not all(map(_bare, rows[start:index]))
        and not any(row[col] == cell for row in rows[start:index] for col, cell in cells.items())
    )


def _is_header(above: Sequence[str], row: Sequence[str], used: set[int]) -> bool:
    """Whether a row below one with repeated names could be the header itself: all columns named, by it or alone above.

    The row above then names groups of columns, and says of the first nothing or, merged, the same.
    """
    measured = [cell for cell in row if cell and text_kinds([cell]).numbers and "." in cell]
    named = all(row[col] or (above[col] and above.count(above[col]) == 1) for col in used)
    return named and not text_kinds(row[:1]).numbers and not measured and (above[0] in ("", row[0]) or not row[0])


def _is_group(row: Sequence[str]) -> bool:
    """Whether a row above the header names groups of columns: not all of them, or some twice; not the first alone."""
    return any(row[1:]) and (not all(row) or len(set(row)) < len(row))


def _spread(row: Sequence[str]) -> tuple[str, ...]:
    result: list[str] = []
    for cell in row:
        result.append(cell or (result[-1] if result else ""))
    return tuple(result)


def _is_unit_row(rows: Sequence[Sequence[str]], top: int) -> bool:
    """Whether the row below the header holds units: of columns of numbers, with the others blank."""
    if top + 2 >= len(rows):
        return False
    cells = {col: cell for col, cell in enumerate(rows[top + 1]) if cell}
    spelled = all(
        rule_pattern("unit_cell").fullmatch(cell) or unit_spelling(cell) or cell == "%" for cell in cells.values()
    )
    below = {col: text_kinds(row[col] for row in rows[top + 2 : top + 52]) for col in cells}
    measured = {col for col, kinds in below.items() if kinds.numbers or not kinds.counts}
    bracketed = {col for col, cell in cells.items() if rule_pattern("unit_cell").fullmatch(cell)}
    return bool(measured) and spelled and measured | bracketed == cells.keys()


def _below_imports(rows: Sequence[Sequence[str]], top: int) -> int:
    """Return the row below those in which a survey says of each column its question and where it is from, or 0."""
    cells = [cell for row in rows[top + 2 : top + 3] for cell in row if cell]
    return top + 3 if cells and all(map(rule_pattern("import_cell").fullmatch, cells)) else 0


def _last_row(rows: Sequence[Sequence[str]], first: int) -> int:
    """Return the row from which on there are totals and footnotes only."""
    start = len(rows)
    while start > first and (not any(rows[start - 1]) or not any(rows[start - 1][1:]) or _is_total(rows, start - 1)):
        start -= 1
    alone = max(map(len, rows), default=0) < 2
    for index in range(start, len(rows)):
        cell = rows[index][0] if rows[index] else ""
        if not alone and (
            not any(rows[index]) or _is_total(rows, index) or rule_pattern("footnote").fullmatch(cell[:200])
        ):
            # Blank lines at the very end are no footer.
            return index if any(map(any, rows[index:])) else len(rows)
    return len(rows)


def _is_total(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Whether a row says a total: such a word in its first cell, no other label, and no such level further up."""
    label, *cells = rows[index]
    if not any(cells) or not is_summary(label):
        return False
    cells = ["" if cell.casefold() in rule_words("all_levels") else cell for cell in cells]
    others = text_kinds(cells).others
    before = any(row and row[0] == label and not _bare(row) for row in rows[:index])
    full = len(cells) > 1 and all(rows[index]) and all(row[0] for row in rows[max(0, index - 5) : index])
    return not others and not before and (not full or _adds_up(rows, index))


def _bare(row: Sequence[str]) -> bool:
    return not any(row[1:])


def _adds_up(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Whether a row without a blank cell has no second label: its cells are those of numbers above."""
    cells = {col: cell.casefold() for col, cell in enumerate(rows[index]) if col}
    measured = [col for col, cell in cells.items() if cell not in rule_words("all_levels")]
    above = [text_kinds(row[col] for row in rows[max(0, index - 50) : index]) for col in measured]
    return all(kinds.numbers and len(kinds.numbers) > 2 for kinds in above)


def _refuse_ragged(grid: Grid, body: Sequence[int], width: int) -> None:
    for index in body if grid.delimiter else ():
        row = grid.rows[index]
        if len(row) < width or any(map(str.strip, row[width:])):
            raise InputError(ragged_line(grid.line(index), len(row), width))


def ragged_line(line: int, fields: int, width: int) -> str:
    """Say that a line has more or fewer fields than the header."""
    count = f"{fields} field{'s' if fields > 1 else ''}"
    return f"line {line:,} has {count} but the header names {width} columns; correct that line"


def lines_note(kind: str, grid: Grid, rows: Sequence[Sequence[str]], indices: Sequence[int]) -> Note:
    """Return a note on the lines of some rows, of which those with a cell count, with the first cell of each."""
    there = [index for index in indices if any(rows[index])]
    texts = tuple(next(filter(None, rows[index])) for index in there[:MAX_NAMED_VALUES])
    return Note(kind, "", tuple(grid.line(index) for index in there[:MAX_NAMED_VALUES]), texts, len(there))


def _named(sheet: Sheet) -> Sheet:
    """Leave out columns without a name and a cell; names over groups that have no other below become names."""
    places = [col for col, name in enumerate(sheet.names) if name or any(sheet.columns[col])]
    groups = Counter(sheet.above)
    names, above = list(sheet.names), list(sheet.above)
    for col in places:
        if not names[col] and groups[above[col]] == 1:
            names[col], above[col] = above[col], ""
    return replace(
        sheet,
        names=tuple(names[col] for col in places),
        above=tuple(above[col] for col in places),
        columns=tuple(sheet.columns[col] for col in places),
        notes=sheet.noted(Note("empty", "column", count=len(sheet.names) - len(places))),
    )


def _blanks(
    names: Sequence[str], raw: Sequence[Sequence[str]], columns: Sequence[Sequence[str]]
) -> tuple[dict[str, int], frozenset[str]]:
    """Count the cells that had blanks around them, and say in which columns one level stands with them and without."""
    blanks, sloppy = {}, set()
    for name, cells, stripped in zip(names, zip(*raw, strict=True), columns, strict=False):
        if cells != tuple(stripped):
            padded = {cell: cell.strip() for cell in set(cells) if cell != cell.strip()}
            blanks[name] = sum(map(cells.count, padded)) if len(padded) < 9 else sum(cell in padded for cell in cells)
            sloppy |= {name} if set(filter(None, padded.values())) & set(cells) else set()
    return blanks, frozenset(sloppy)


def _filled_down(sheet: Sheet) -> Sheet:
    """Carry labels down that stand in the first row of a block only, column by column from the left."""
    sheet = _without_dittos(sheet)
    columns, notes = list(sheet.columns), []
    for col, cells in enumerate(sheet.columns[:-1]):
        if "" not in cells or not _stands_for_blocks(cells, sheet.rows, col):
            break
        carried = list(cells)
        for row, cell in enumerate(carried):
            carried[row] = cell or carried[row - 1]
        columns[col] = carried
        notes.append(Note("merged", sheet.names[col], count=list(cells).count("")))
    if not notes or "" in sheet.columns[len(notes)]:  # the last label stands in every row
        return sheet
    return replace(sheet, columns=tuple(columns), notes=sheet.noted(*notes))


def _without_dittos(sheet: Sheet) -> Sheet:
    """Read marks of repetition as the cell above them."""
    columns, notes = list(sheet.columns), []
    for col, cells in enumerate(sheet.columns):
        marks = {cell for cell in set(cells) if cell.casefold() in rule_words("dittos")}
        if marks and cells[0] not in marks:
            columns[col] = repeated = list(cells)
            for row, cell in enumerate(cells):
                repeated[row] = repeated[row - 1] if cell in marks else cell
            notes.append(Note("merged", sheet.names[col], count=sum(cell in marks for cell in cells)))
    return replace(sheet, columns=tuple(columns), notes=sheet.noted(*notes)) if notes else sheet


def _stands_for_blocks(cells: Sequence[str], rows: Sequence[Sequence[str]], col: int) -> bool:
    """Whether blanks of a column continue a block: a filled cell says something new, or begins a block to its left.

    Cells that are blank because nothing is known there stand beside equal ones sooner or later.
    """
    blank = sum(not cell for cell in cells)
    if not cells or not cells[0] or not blank:
        return False
    kinds = text_kinds(cells)
    if len(kinds.numbers) > rule_limit("levels of numbers in a column of blocks, at most"):
        return False
    if not col and blank < rule_limit("share of blank cells of a column of blocks") * len(cells):
        return False
    before = ""
    for cell, row in zip(cells, rows, strict=True):
        begins = any(row[:col])
        if (begins and not cell) or (cell and cell == before and not begins) or not any(row[col + 1 :]):
            return False
        before = cell or before
    return True
