"""What a CSV or TSV file looks like before an engine reads it, and why it could not be read."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import re
import shutil
import tempfile
import weakref
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from recombine.errors import InputError
from recombine.formats.encodings import Survey, check_expansion, survey
from recombine.sheets.layout import ragged_line, unique_names
from recombine.sheets.notes import Note

#: What counts as missing in a text file besides an empty field.
MISSING_WORDS = ["", "NA", "NaN", "nan"]
#: Longest header line that is looked at, in characters.
MAX_HEADER_CHARACTERS = 2**26
#: Lines that are searched for the one that broke the reading.
MAX_LINES_SEARCHED = 2_000_000
#: Rows that are written to a copy at once, before its size is looked at.
MAX_ROWS_WRITTEN = 10_000


@dataclass(frozen=True, eq=False)
class TextFile:
    """A text table as it lies on disk: the names in its header, its delimiter, line ends and encoding.

    ``readable`` is the file that an engine can read: the file itself, or a copy in UTF-8 with equal line ends. ``note``
    says what had to be assumed to make that copy, ``notes`` what was read otherwise than it was written. ``factors``
    and ``outcome`` are those that the layout tells.
    """

    path: Path
    readable: Path
    columns: tuple[str, ...]
    delimiter: str
    newline: str
    longest: int
    note: str = ""
    notes: tuple[Note, ...] = ()
    factors: tuple[str, ...] = ()
    outcome: str | None = None


def split_names(text: str | None) -> list[str]:
    """Split a list of names as a line of CSV, so that a name with a comma in it can be quoted."""
    try:
        fields = next(csv.reader([text or ""], skipinitialspace=True), [])
    except csv.Error as error:
        raise InputError(
            f"{text!r} is no list of names ({error}); put a name with a line end in it in quotes"
        ) from None
    return [name.strip() for name in fields if name.strip()]


def named(text: str | None, option: str) -> list[str]:
    """Split the value of an option into names, of which there must be one if the option was given."""
    names = split_names(text)
    if text is not None and not names:
        raise InputError(f"{option} names nothing; give it names or leave it out")
    return names


def look_at(path: Path, notes: tuple[Note, ...] = (), surveyed: Survey | None = None) -> TextFile:
    """Look at the header, encoding and line ends of a text table; a copy is made of what no engine reads as it is.

    The header decides the delimiter, rather than the engine's own search over all lines: with a ragged line that search
    may settle on another delimiter or skip the header, and then reads something else than the user wrote.
    """
    try:
        survey_result = surveyed or survey(path)
        with opened(path, survey_result.encoding) as file:
            head = file.readline(MAX_HEADER_CHARACTERS)
            delimiter = header_delimiter(path, head)
            file.seek(0)
            names = _names(path, file, delimiter)
    except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path.name} is not a text table (or not UTF-8); save it as UTF-8 CSV or Parquet") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be opened: {error.strerror}; check its permissions") from None
    if survey_result.plain:
        return TextFile(path, path, names, delimiter, survey_result.newline, len(head), notes=notes)
    return _copied(path, survey_result, TextFile(path, path, names, delimiter, r"\n", len(head), notes=notes))


def header_names(path: Path) -> tuple[str, ...]:
    """Return the names in the header of a text table, of which nothing else is read."""
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        begun = file.read(MAX_HEADER_CHARACTERS // 64)
    text = begun.decode("utf-16" if begun[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig", "ignore")
    return _names(path, io.StringIO(text, newline=""), header_delimiter(path, text.partition("\n")[0]))


def header_delimiter(path: Path, head: str) -> str:
    """Return what stands between the fields of a header."""
    if path.suffix.lower() == ".tsv" or Path(path.stem).suffix.lower() == ".tsv":
        return "\t"
    unquoted = re.sub(r'"[^"]*"', "", head)
    return max(",;\t|", key=unquoted.count)


def _names(path: Path, file: IO[str], delimiter: str) -> tuple[str, ...]:
    try:
        fields = next(csv.reader(file, delimiter=delimiter), [])
    except csv.Error:
        limit = csv.field_size_limit()
        raise InputError(
            f"{path.name} has a column name of more than {limit:,} characters, or a quote in its first line that is "
            "never closed; its first line must name the columns"
        ) from None
    return _filled_names(fields, path)


def _filled_names(fields: Sequence[str], path: Path) -> tuple[str, ...]:
    """Return the names of columns, each its own; columns without one are called by their number."""
    names = [name.strip() for name in fields]
    if not any(names):
        raise InputError(f"{path.name} has no header; its first line must name the columns")
    refuse_duplicates([name for name in names if name], path.name)
    return unique_names(names)  # row numbers that dataframes write have no name


def written_table(path: Path, rows: Iterable[Sequence[str]], notes: tuple[Note, ...] = (), **told: Any) -> TextFile:
    """Write rows of text, of which the first names the columns, to a table that an engine can read.

    ``path`` is the file that the rows come from; they are never many times what it holds. ``told`` are other fields.
    """
    rows = iter(rows)
    with scratch_folder() as folder:
        names = _filled_names(next(rows, []), path)
        with (folder / "table.csv").open("w", newline="", encoding="utf-8", errors="replace") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(names)
            longest, size = file.tell(), path.stat().st_size
            for batch in iter(lambda: list(itertools.islice(rows, MAX_ROWS_WRITTEN)), []):
                writer.writerows(batch)
                check_expansion(path.name, size, file.tell())
        text = TextFile(path, folder / "table.csv", names, ",", r"\n", longest, notes=notes, **told)
        weakref.finalize(text, remove_folder, folder)
    return text


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for a copy of a table, which goes again where the copy cannot be made; else by `remove_folder`."""
    folder = Path(tempfile.mkdtemp(prefix="recombine-"))
    try:
        yield folder
    except BaseException:
        remove_folder(folder)
        raise


def _copied(path: Path, survey: Survey, file: TextFile) -> TextFile:
    """Copy a table that no engine reads as it is: in UTF-8, every line ended alike, every value as it was."""
    with scratch_folder() as folder:
        text = replace(file, readable=folder / "table.csv", note=survey.note)
        _copy(path, survey.encoding, file.delimiter, text.readable)
        weakref.finalize(text, remove_folder, folder)
    return text


def remove_folder(folder: Path) -> None:
    """Remove a folder, whoever presses Ctrl-C meanwhile."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _copy(path: Path, encoding: str, delimiter: str, copy: Path) -> None:
    with opened(path, encoding) as file, copy.open("w", newline="", encoding="utf-8") as target:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            # All is quoted, since a value may hold a carriage return.
            writer = csv.writer(target, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows(row for row in reader if row)
        except csv.Error as error:
            raise InputError(f"{path.name}, line {reader.line_num:,}: {error}; save it as UTF-8 CSV") from None
        except UnicodeError:
            raise InputError(f"{path.name}, line {reader.line_num + 1:,}, is cut or damaged; copy it again") from None


def refuse_duplicates(names: list[str], source: str) -> None:
    """Raise if two columns share a name."""
    for name, times in Counter(names).items():
        if times > 1:
            cure = f"rename them so each name is unique, replicates to {f'{name} rep 1'!r}, {f'{name} rep 2'!r}"
            raise InputError(f"{source} has more than one column named {name!r}; {cure}")


def broken_line(file: TextFile) -> str | None:
    """Say which line of a text table does not fit its header, or None if every line looked at does."""
    try:
        with opened(file.readable, "utf-8-sig") as lines:
            reader = csv.reader(lines, delimiter=file.delimiter, strict=True)
            width = len(next(reader))
            for row in itertools.islice(reader, MAX_LINES_SEARCHED):
                if row and len(row) != width:
                    return ragged_line(reader.line_num, len(row), width)
    except UnicodeDecodeError:
        return "it is not UTF-8 throughout; save it as UTF-8 CSV or Parquet"
    except csv.Error as error:
        return f"line {reader.line_num:,}: {error}; mend the quotes there"
    return None


def opened(path: Path, encoding: str) -> IO[str]:
    """Open a text file, packed by gzip or not, with its line ends as they are."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open("rt", encoding=encoding, newline="")
