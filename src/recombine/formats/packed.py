"""Packed files: gzip of one file and zip archives, unpacked to a folder of their own and never beyond all measure."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from recombine.errors import InputError, near_miss
from recombine.formats.encodings import check_expansion
from recombine.formats.recognition import BY_ENDING, GZIP, ZIP, Format
from recombine.writing import listing


def unpack_table(path: Path, entry: Format, folder: Path, sheet: str | None) -> Path:
    """Unpack the one table of a gzip file or zip archive into a folder; ``sheet`` names it where a zip holds several.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     packed = Path(folder, "table.jsonl.gz")
    ...     _ = packed.write_bytes(gzip.compress(b'{"mass": 1}'))
    ...     unpack_table(packed, GZIP, Path(folder), None).read_text()
    '{"mass": 1}'
    """
    try:
        if entry is GZIP:
            with gzip.open(path, "rb") as packed:
                return _copied(packed, path, folder / path.stem)
        with zipfile.ZipFile(path) as archive:
            member = _member(archive, path, sheet)
            # A member is only ever written under its last name, whatever folders it claims to lie in.
            with archive.open(member) as packed:
                return _copied(packed, path, folder / PurePosixPath(member.filename).name)
    except RuntimeError:  # what the library raises without a password
        raise InputError(f"{path.name} is locked with a password; unpack it first") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name} is cut short, damaged or packed in an unusual way; unpack it first") from None


def _member(archive: zipfile.ZipFile, path: Path, sheet: str | None) -> zipfile.ZipInfo:
    """Return the member of an archive that is the table."""
    files = {
        member.filename: member
        for member in archive.infolist()
        if not member.is_dir() and not PurePosixPath(member.filename).name.startswith((".", "~$"))
    }
    tables = [name for name in files if BY_ENDING.get(PurePosixPath(name).suffix.lower()) not in (None, ZIP)]
    if sheet is not None and sheet not in files:
        near = near_miss(sheet, files, f"Files: {listing(files)}")
        raise InputError(f"--sheet {sheet} is no file in {path.name};{near}")
    if sheet is None and len(tables) != 1:
        what = f"holds {len(tables)} tables ({listing(tables)})" if tables else f"holds no table ({listing(files)})"
        raise InputError(f"{path.name} {what}; " + ("name one with --sheet" if tables else "zip the table itself"))
    member = files[sheet or tables[0]]
    check_expansion(path.name, path.stat().st_size, member.file_size)
    return member


def _copied(packed: IO[bytes], path: Path, target: Path) -> Path:
    with target.open("wb") as file:
        while chunk := packed.read(2**20):
            file.write(chunk)
            check_expansion(path.name, path.stat().st_size, file.tell())
    return target
