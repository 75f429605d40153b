"""What a CSV or TSV file looks like before an engine reads it, and why it could not be read."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import IO

from recombine.errors import InputError

#: Longest header line that is looked at, in characters.
LONGEST_HEADER = 1_000_000
#: Lines that are searched for the one that broke the reading.
LINES_SEARCHED = 2_000_000


def split_names(text: str | None) -> list[str]:
    """Split a list of names as a line of CSV, so that a name with a comma in it can be quoted.

    Examples
    --------
    >>> split_names('dose, "cells, fixed"'), split_names(None)
    (['dose', 'cells, fixed'], [])
    """
    fields = next(csv.reader([text or ""], skipinitialspace=True), [])
    return [name.strip() for name in fields if name.strip()]


def delimiter_of(path: Path) -> str:
    r"""Return the delimiter of a text table, after checking that its first line names the columns, each once.

    The header decides, rather than the engine's own search over all lines: with a ragged line that search may settle
    on another delimiter or skip the header, and then reads something else than the user wrote.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "colours.csv"
    >>> _ = path.write_text("colour;shape\nred;cube\n")
    >>> delimiter_of(path)
    ';'
    """
    try:
        with _opened(path) as file:
            head = file.readline(LONGEST_HEADER)
        if path.suffix.lower() == ".gz":
            _check_whole(path)
    except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path.name} is not a text table (or not UTF-8); save it as UTF-8 CSV or Parquet") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be opened: {error.strerror}; check its permissions") from None
    if "\0" in head:
        raise InputError(f"{path.name} is not a text table; save it as UTF-8 CSV or Parquet")
    unquoted = re.sub(r'"[^"]*"', "", head)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=unquoted.count)
    names = [name.strip() for name in next(csv.reader([head], delimiter=delimiter), [])]
    if not any(names):
        raise InputError(f"{path.name} has no header; its first line must name the columns")
    refuse_duplicates([name for name in names if name], path.name, fold_case=True)
    return delimiter


def refuse_duplicates(names: list[str], where: str, *, fold_case: bool = False) -> None:
    """Raise if two columns share a name; with ``fold_case`` also if two names differ by case only.

    Examples
    --------
    >>> refuse_duplicates(["a", "b", "a"], "the table")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: the table has more than one column named 'a'; rename them so each name is unique
    """
    keys = [name.casefold() for name in names] if fold_case else names
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if not repeated:
        return
    twins = [name for name, key in zip(names, keys, strict=True) if key == repeated[0]]
    if len(set(twins)) == 1:
        raise InputError(f"{where} has more than one column named {twins[0]!r}; rename them so each name is unique")
    raise InputError(
        f"{where} has columns {twins[0]!r} and {twins[1]!r}, which differ in capital letters only; rename one"
    )


def broken_line(path: Path, delimiter: str) -> str | None:
    """Say which line of a text table does not fit its header, or None if every line looked at does."""
    try:
        with _opened(path) as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            width = len(next(reader))
            for row in itertools.islice(reader, LINES_SEARCHED):
                if row and len(row) != width:
                    fields = f"{len(row)} field{'s' if len(row) > 1 else ''}"
                    return f"line {reader.line_num:,} has {fields} but the header names {width} columns; mend that line"
    except UnicodeDecodeError:
        return "it is not UTF-8 throughout; save it as UTF-8 CSV or Parquet"
    except csv.Error as error:
        return f"line {reader.line_num:,}: {error}; mend the quotes there"
    return None


def _check_whole(path: Path) -> None:
    """An engine may take a gzip file that was cut short for a shorter table, so read it to its end once."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(2**20):
                pass
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path.name} is cut short or damaged; copy it again") from None


def _opened(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open("rt", encoding="utf-8-sig", newline="")
