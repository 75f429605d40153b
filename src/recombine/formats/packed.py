"""Packed files: gzip of one file and zip archives, unpacked to a folder of their own and never beyond all measure."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from recombine.errors import InputError, near_miss
from recombine.formats.encodings import check_expansion
from recombine.formats.recognition import BY_ENDING, GZIP, Format
from recombine.writing import listing


def unpack_table(path: Path, entry: Format, folder: Path, sheet: str | None) -> Path:
    """Unpack the one table of a gzip file or zip archive into a folder; of several in a zip ``sheet`` names one."""
    try:
        if entry is GZIP:
            with gzip.open(path, "rb") as packed:
                return _copied(packed, path, folder / path.stem)
        with zipfile.ZipFile(path) as archive:
            member = _member(archive, path, sheet)
            # A member is only ever written under its last name, whatever folders it claims to lie in.
            with archive.open(member) as packed:
                return _copied(packed, path, folder / PurePosixPath(member).name)
    except InputError:
        raise
    except RuntimeError as error:  # what the library raises without a password
        cause = "damaged" if isinstance(error, NotImplementedError) else "locked with a password"
        raise InputError(f"{path.name} is {cause}; unpack it first") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, ValueError):
        raise InputError(f"{path.name} is cut short or damaged; copy it again") from None


def _member(archive: zipfile.ZipFile, path: Path, sheet: str | None) -> str:
    """Return the member of an archive that is the table."""
    files = [name for name in archive.namelist() if not PurePosixPath(name).name.startswith((".", "~$"))]
    tables = [name for name in files if PurePosixPath(name).suffix.lower() in BY_ENDING]
    if sheet is not None and sheet not in files:
        near = near_miss(sheet, files, "Files:")
        raise InputError(f"--sheet {sheet} is no file in {path.name};{near}")
    if sheet is None and len(tables) != 1:
        cure = "name one with --sheet" if tables else "zip the table itself"
        raise InputError(f"{path.name} holds {len(tables)} tables ({listing(tables or files)}); {cure}")
    return sheet or tables[0]


def _copied(packed: gzip.GzipFile | IO[bytes], path: Path, target: Path) -> Path:
    with target.open("wb") as file:
        while chunk := packed.read(2**20):
            file.write(chunk)
            check_expansion(path.name, path.stat().st_size, file.tell())
    return target
