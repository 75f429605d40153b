"""Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) as grids of text, by python-calamine."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from recombine.errors import InputError, missing_package, near_miss
from recombine.formats.workbook_process import MAX_CELLS, MAX_MEMORY_BYTES
from recombine.sheets.grid import Grid
from recombine.sheets.notes import MAX_NAMED_VALUES, Note
from recombine.writing import listing

#: Bytes that a workbook may unpack to by its own account, and the longest time it is read.
MAX_UNPACKED_BYTES, MAX_SECONDS_OPENING = 2**30, 300.0
_LOCKED = "EncryptedPackage".encode("utf-16-le")


def read_workbook(path: Path, sheet: str | None = None) -> tuple[Grid, tuple[Note, ...]]:
    """Return a sheet of a workbook, by default the first with a table on it, and what was noticed.

    A formula without a stored result is refused, since an empty cell would stand for it; an error (#N/A) is missing.
    """
    if importlib.util.find_spec("python_calamine") is None:
        raise missing_package(ModuleNotFoundError(name="python_calamine"))
    _check_size(path)
    command = [sys.executable, "-P", "-m", "recombine.formats.workbook_process", str(path.absolute())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            [*command, *([] if sheet is None else [sheet])],
            env=environment,
            capture_output=True,
            timeout=MAX_SECONDS_OPENING,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{path.name} takes over {MAX_SECONDS_OPENING:.0f} seconds to read; save the sheet as CSV"
        ) from None
    if done.returncode:
        raise InputError(_broken(path, done.returncode, done.stderr))
    lines = done.stdout.splitlines()
    about = msgspec.json.decode(lines[0])
    _refuse(path, sheet, about)
    merged = tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in about["merged"])
    return Grid([msgspec.json.decode(line) for line in lines[1:]], merged), _notes(sheet, about)


def _check_size(path: Path) -> None:
    """Refuse a workbook that is locked, or larger by its own account than memory should be."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):  # an .xls is no zip
        unpacked = path.stat().st_size
    if unpacked > MAX_UNPACKED_BYTES:
        raise InputError(f"{path.name} unpacks to {unpacked:,} bytes, too many for a workbook; save the sheet as CSV")
    with path.open("rb") as file:
        if file.read(4) == b"\xd0\xcf\x11\xe0" and _LOCKED in file.read():
            raise InputError(_failures(path, None, {})["password"])


def _broken(path: Path, status: int, stderr: bytes) -> str:
    """Say why the process that reads a workbook ended without an answer."""
    if status < 0 or b"MemoryError" in stderr or b"memory allocation" in stderr:
        return (
            f"{path.name} takes more than {MAX_MEMORY_BYTES // 2**30} GB of memory to open, though few of its cells "
            "may be filled; save the sheet as CSV"
        )
    return f"{path.name} is damaged or no workbook; open it in a spreadsheet program and save it again"


def _failures(path: Path, sheet: str | None, about: Mapping[str, Any]) -> dict[str, str]:
    sheets = about.get("sheets", ())
    return {
        "password": f"{path.name} is locked with a password; save it without one",
        "sheet": f"--sheet {sheet} is no sheet of {path.name};"
        f"{near_miss(sheet, sheets, f'Sheets: {listing(sheets)}, or their numbers from 1')}",
        "empty": f"{path.name} holds nothing; it needs a header line and rows",
        "unclear": f"{path.name} has no sheet with a table, but {listing(sheets)}; name one with --sheet",
        "large": f"{path.name} has a sheet of more than {MAX_CELLS:,} cells; save it as CSV",
    }


def _refuse(path: Path, sheet: str | None, about: Mapping[str, Any]) -> None:
    if "failure" in about:
        raise InputError(_failures(path, sheet, about)[about["failure"]])
    if cells := about["unsolved"]:
        more = f" and {len(cells) - 1:,} more" if len(cells) > 1 else ""
        raise InputError(
            f"{path.name}: the formula in cell {cells[0]}{more} of sheet {about['chosen']!r} has no stored result; "
            "open it in a spreadsheet program and save it again"
        )


def _notes(sheet: str | None, about: Mapping[str, Any]) -> tuple[Note, ...]:
    notes = []
    others = [name for name in about["sheets"] if name != about["chosen"]]
    if sheet is None and others:
        notes.append(Note("sheet", about["chosen"], values=tuple(others[:MAX_NAMED_VALUES]), count=len(others)))
    if cells := about["errors"]:
        rows = sorted({int(number) for cell in cells for number in re.findall(r"\d+", cell)})
        named = tuple(cells[:MAX_NAMED_VALUES])
        notes.append(Note("error_cell", lines=tuple(rows[:MAX_NAMED_VALUES]), values=named, count=len(cells)))
    return tuple(notes)
