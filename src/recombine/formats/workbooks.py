"""Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) as grids of text, by python-calamine."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec

from recombine.errors import InputError, missing_package, near_miss
from recombine.formats.workbook_process import MAX_CELLS, MAX_MEMORY_BYTES
from recombine.sheets.grid import Grid
from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.writing import listing

#: Bytes that a workbook may unpack to by its own account, and the longest time it is read.
MAX_UNPACKED_BYTES, MAX_SECONDS_OPENING = 2**30, 300.0
_LOCKED = "EncryptedPackage".encode("utf-16-le")


class _Sheet(msgspec.Struct):
    """What the process says of a sheet; ``filled`` are the sheets that hold something."""

    failure: str = ""
    filled: tuple[str, ...] = ()
    chosen: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    merged: tuple[tuple[int, int, int, int], ...] = ()
    unsolved: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def read_workbook(path: Path, sheet: str | None = None) -> tuple[Grid, tuple[Note, ...]]:
    """Return a sheet of a workbook, by default the first with a table on it, and what was noticed.

    A formula without a stored result is refused, since an empty cell would stand for it; an error (#N/A) is missing.
    """
    if importlib.util.find_spec("python_calamine") is None:
        raise missing_package(ModuleNotFoundError(name="python_calamine"))
    read = _in_a_process(path, sheet) if not _locked(path) else _Sheet("password")
    failures = {
        "password": "is locked with a password; save it without one",
        "sheet": f"has no sheet {sheet!r};{near_miss(sheet, read.filled, 'Sheets:')}",
        "empty": "holds nothing; it needs a header line and rows",
        "unclear": f"has no sheet with a table, but {listing(read.filled)}; name one with --sheet",
        "large": f"has a sheet of more than {MAX_CELLS:,} cells; save it as CSV",
    }
    if read.failure:
        raise InputError(f"{path.name} {failures[read.failure]}")
    if cells := read.unsolved:
        more = f" and {len(cells) - 1:,} more" if len(cells) > 1 else ""
        raise InputError(
            f"{path.name}: the formula in cell {cells[0]}{more} of sheet {read.chosen!r} has no stored result; open it "
            "in a spreadsheet program and save it again"
        )
    return Grid(read.rows, read.merged), tuple(_notes(sheet, read))


def _notes(sheet: str | None, read: _Sheet) -> list[Note]:
    notes = []
    others = tuple(name for name in read.filled if name != read.chosen)
    if sheet is None and others:
        notes.append(Note("sheet", read.chosen, values=others[:MAX_NAMED_VALUES], count=len(others)))
    if cells := read.errors:
        lines = tuple(sorted({int(number) for cell in cells for number in re.findall(r"\d+", cell)}))
        notes.append(Note("error_cell", "", lines[:MAX_NAMED_VALUES], cells[:MAX_NAMED_VALUES], len(cells)))
    return notes


def _locked(path: Path) -> bool:
    """Tell whether a workbook is locked, and refuse one that is larger by its own account than memory should be."""
    unpacked = path.stat().st_size
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > MAX_UNPACKED_BYTES:
        raise InputError(f"{path.name} unpacks to {unpacked:,} bytes, too many for a workbook; save the sheet as CSV")
    with path.open("rb") as file:
        return file.read(4) == b"\xd0\xcf\x11\xe0" and _LOCKED in file.read()


def _in_a_process(path: Path, sheet: str | None) -> _Sheet:
    command = [sys.executable, "-P", "-m", "recombine.formats.workbook_process", str(path.absolute())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        command += [] if sheet is None else [sheet]
        done = subprocess.run(command, env=environment, capture_output=True, timeout=MAX_SECONDS_OPENING)
    except subprocess.TimeoutExpired:
        raise InputError(f"{path.name} takes minutes to read; save the sheet as CSV") from None
    if done.returncode < 0 or b"MemoryError" in done.stderr:
        raise InputError(
            f"{path.name} takes more than {MAX_MEMORY_BYTES // 2**30} GB of memory to open, though few of its cells "
            "may be filled; save the sheet as CSV"
        )
    if done.returncode:
        raise InputError(f"{path.name} is damaged or no workbook; open it in a spreadsheet program and save it again")
    return msgspec.json.decode(done.stdout, type=_Sheet)
