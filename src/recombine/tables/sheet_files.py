"""Text files that are no plain tables: told by their head and tail, and written anew as plain ones."""

from __future__ import annotations

import csv
import io
import zlib
from collections import Counter
from pathlib import Path
from weakref import WeakValueDictionary

from recombine.errors import InputError
from recombine.formats.encodings import Survey, survey
from recombine.sheets.grid import Grid, with_tabs
from recombine.sheets.layout import ShapeError
from recombine.sheets.tidy import Tidy, tidy
from recombine.tables.text_files import TextFile, header_delimiter, look_at, opened, written_table

#: Of a larger file the head and the tail are looked at, of a smaller one all.
MAX_WHOLE_BYTES = 300_000
HEAD_CHARACTERS, TAIL_BYTES = 150_000, 32_000
#: What is made a plain table is held in memory: so much at most.
MAX_TIDIED_BYTES, MAX_TIDIED_CELLS = 100_000_000, 5_000_000
#: Lines that tell the delimiter.
MAX_DELIMITED_LINES = 200
#: What is called the delimiter where runs of blanks stand between fields.
BLANKS = " "
PLAIN = "write it with one header line and one row for each measurement"


def look_through(path: Path, wide: str | None = None, header: int | None = None) -> TextFile:
    """Look at a text table as `look_at` does; one that is not plain is made so, with notes of what was done.

    Whether it is plain is told by its head and its tail. ``wide`` and ``header`` are those of `tidy`.
    """
    stamp = path.stat()
    key = (path.absolute(), wide, header, stamp.st_size, stamp.st_mtime_ns)
    if (file := _KNOWN.get(key)) is None:
        file = _KNOWN[key] = _looked_through(path.absolute(), wide, header, stamp.st_size)
    return file


#: Files in use, each tidied once; the copy of one that is no longer used is removed with it.
_KNOWN: WeakValueDictionary[tuple[object, ...], TextFile] = WeakValueDictionary()


def _looked_through(path: Path, wide: str | None, header: int | None, size: int) -> TextFile:
    try:
        surveyed = survey(path)
        text, complete = _sample(path, surveyed)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error):
        return look_at(path)  # which says what is wrong
    delimiter = _delimiter(path, text)
    table = _tidied(path, text, delimiter, wide, header)
    top = text.partition("\n")[0]
    anew = delimiter == BLANKS or f'{delimiter} "' in top
    if table is not None and not complete and (table.changed or anew):
        if size > MAX_TIDIED_BYTES and not table.laid_out and not anew:
            table = None  # the cells as they are written: what is no number is told where it is used
        elif size > MAX_TIDIED_BYTES:
            raise InputError(f"{path.name} is no plain table and over {MAX_TIDIED_BYTES:,} bytes; {PLAIN}")
        else:
            with opened(path, surveyed.encoding) as file:
                table = _tidied(path, file.read(MAX_TIDIED_BYTES), delimiter, wide, header)
    plain = table is None or not (table.changed or anew or not top.strip() or delimiter != header_delimiter(path, top))
    if table is None or plain:
        return look_at(path, () if table is None else table.notes, surveyed)
    told = {"note": surveyed.note, "factors": table.factors, "outcome": table.outcome}
    return written_table(path, [table.columns, *table.rows], table.notes, **told)


def _sample(path: Path, surveyed: Survey) -> tuple[str, bool]:
    """Return the text of a small file, or the whole lines of the head and the tail, and whether it is all."""
    zipped = path.suffix.lower() == ".gz"
    with opened(path, surveyed.encoding) as file:
        text: str = file.read(MAX_WHOLE_BYTES if zipped or path.stat().st_size <= MAX_WHOLE_BYTES else HEAD_CHARACTERS)
        if not file.read(1):
            return text, True
    head = text[: text.rfind("\n") + 1]
    if zipped or surveyed.encoding == "utf-16":
        return head, False
    with path.open("rb") as end:
        end.seek(-TAIL_BYTES, io.SEEK_END)
        tail = end.read().decode(surveyed.encoding, "ignore")
    return head + tail.partition("\n")[2], False


def _delimiter(path: Path, text: str) -> str:
    """Return what stands between fields of most lines: a title above the header may hold none, or another."""
    lines = [line for line in text[:HEAD_CHARACTERS].split("\n", 4 * MAX_DELIMITED_LINES) if line.strip()]
    usual = header_delimiter(path, lines[0] if lines else "")
    scores = {mark: _fields(lines[:MAX_DELIMITED_LINES], mark) for mark in (usual, *",;\t|")}
    alike, width = scores[usual]
    if width > 1 and alike == min(len(lines), MAX_DELIMITED_LINES):
        return usual
    if with_tabs("\n".join(lines[:MAX_DELIMITED_LINES])) != "\n".join(lines[:MAX_DELIMITED_LINES]):
        return BLANKS
    return str(max(scores, key=lambda mark: scores[mark] if scores[mark][1] > 1 else (0, 0)))


def _fields(lines: list[str], delimiter: str) -> tuple[int, int]:
    """Return how many lines have as many fields as most have, and how many fields these are."""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return 0, 0
    width = max(widths, key=lambda number: (number > 1, widths[number], number), default=0)
    return widths[width], width


def _tidied(path: Path, text: str, delimiter: str, wide: str | None, header: int | None) -> Tidy | None:
    """Return the plain table of a text; None where there is one column, or its lines are to be refused as they are."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    insisted = wide is not None or header is not None or delimiter == BLANKS
    if delimiter == BLANKS:
        text, delimiter = with_tabs(text), "\t"
    if delimiter and text.count(delimiter) > MAX_TIDIED_CELLS:
        raise InputError(f"{path.name} is no plain table and has over {MAX_TIDIED_CELLS:,} cells; {PLAIN}")
    spaced = f'{delimiter} "' in text.partition("\n")[0]  # as some programs write: "a", "b"
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=spaced)
    rows, ends = [], [0]
    try:
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error:
        return None
    if not insisted and max(map(len, rows), default=0) < 2:
        return None
    try:
        return tidy(Grid(rows, (), tuple(end + 1 for end in ends[:-1]), delimiter), wide=wide, header=header)
    except InputError as error:
        if insisted or isinstance(error, ShapeError):
            raise InputError(f"{path.name} cannot be read as a table: {error}") from None
        return None
