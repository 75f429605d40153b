"""What a file is: by how it begins, which no wrong name changes, and by its name where it is text."""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from recombine.errors import InputError, near_file

#: Bytes that tell what a file is.
HEAD_BYTES = 2**16
#: How files begin that are no text, and the ending of the name of such a file. A column may be called PAR1.
MARKS = {
    **{b"PAR1\x15": ".parquet", b"ARROW1\0": ".feather", b"\xff\xff\xff\xff": ".arrow", b"\x93NUMPY": ".npy"},
    **{b"SQLite format 3\0": ".sqlite", b"\x89HDF\r\n\x1a\n": ".h5ad", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ".xls"},
    **{b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip", b"\x1f\x8b": ".gz"},
}
#: Members by which a zip is told to be a workbook.
_MEMBERS = {"xl/workbook.xml": ".xlsx", "xl/workbook.bin": ".xlsb", "content.xml": ".ods"}
#: Members of documents and slides, which hold no sheet.
_NO_SHEETS = {"word/document.xml", "ppt/presentation.xml"}
#: What stands at byte 257 of an archive by tar.
_TAR = b"ustar"
#: Files that hold tables of another kind, by the ending of the name of such a file: what they are, and what to do.
REFUSED = {
    ".html": "a web page, not a table; open it in a spreadsheet program and save it as .xlsx or CSV",
    ".docx": "a document or slides, not a table; copy its table into a spreadsheet and save it as .xlsx or CSV",
    ".tar": "an archive by tar, not a table; unpack it and name the table in it",
}
_WEB_PAGE = re.compile(rb"\s*<(!doctype html|html|head|body|table|meta|style|div)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Format:
    """A kind of file: what it is called, how names of such files end, and whether it may hold several tables."""

    title: str
    endings: tuple[str, ...]
    several: bool = False


TEXT = Format("text", (".csv", ".tsv", ".txt"))
JSON = Format("JSON", (".json", ".jsonl", ".ndjson"))
PARQUET = Format("Parquet", (".parquet", ".pq"))
ARROW = Format("Arrow or Feather", (".feather", ".arrow", ".ipc"))
WORKBOOK = Format("a workbook", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), several=True)
DATABASE = Format("an SQLite database", (".sqlite", ".sqlite3", ".db"), several=True)
ANNDATA = Format("AnnData", (".h5ad",))
GZIP = Format("packed by gzip", (".gz",))
ZIP = Format("a zip archive", (".zip",), several=True)
FORMATS = (TEXT, JSON, PARQUET, ARROW, WORKBOOK, DATABASE, ANNDATA, GZIP, ZIP)
BY_ENDING = {ending: entry for entry in FORMATS for ending in entry.endings}


def ending_of(head: bytes, path: Path | None = None) -> str:
    """Return the ending of the name of a file that begins so; a zip at ``path`` is looked into.

    Examples
    --------
    >>> [ending_of(head) for head in (b"colour;mass", b'{"colour": "red"}', b"<html>")]
    ['.csv', '.jsonl', '.html']
    """
    ending = next((ending for mark, ending in MARKS.items() if head.startswith(mark)), "")
    if head[257:262] == _TAR:
        return ".tar"
    if ending == ".gz":
        inner = b""
        with contextlib.suppress(zlib.error):  # told when it is read
            inner = zlib.decompressobj(31).decompress(head, HEAD_BYTES)
        return f"{ending_of(inner)}.gz"
    if ending == ".zip" and path is not None and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
        if names & _NO_SHEETS:
            return ".docx"
        return next((ending for name, ending in _MEMBERS.items() if name in names), ".zip")
    text = head.removeprefix(b"\xef\xbb\xbf")
    if not ending and (begun := re.match(rb"\s*(\[\s*)?\{", text)):
        return ".json" if begun[1] else ".jsonl"
    return ending or (".html" if _WEB_PAGE.match(text) else ".csv")


def format_of(path: Path) -> Format:
    """Return what a file is, or say in one line why it is no table: it is not there, or not what its name says."""
    _check_place(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        ending = ending_of(head, path)
    except OSError as error:
        raise InputError(f"{path.name} cannot be opened: {error.strerror}; check its permissions") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise InputError(f"{path.name} is damaged; copy it again") from None
    if not head:
        raise InputError(f"{path.name} is empty; it needs a header line and rows")
    named, told = BY_ENDING.get(path.suffix.lower()), BY_ENDING.get(f".{ending.rpartition('.')[2]}")
    if refused := next((text for kind, text in REFUSED.items() if ending.startswith(kind)), ""):
        raise InputError(f"{path.name} is {refused}")
    if named is WORKBOOK and ending == ".zip" and not zipfile.is_zipfile(path):
        raise InputError(f"{path.name} is cut off or damaged; copy it again")
    if told is None or (named is None and told in (TEXT, JSON)):
        formats = "CSV, TSV, Excel, ODS, Parquet, Feather, JSON, SQLite or .h5ad"
        raise InputError(f"{path.name} is not a {formats} file; save the table as one of these")
    # JSON, Parquet and gzip are told by their own readers, with the place of what is wrong.
    if named not in (told, JSON, PARQUET, GZIP) and (named, told) != (TEXT, JSON):
        raise InputError(f"{path.name} is {told.title} by its content; name it {path.stem}{ending}")
    return named or told


def _check_place(path: Path) -> None:
    if address := re.match(r"(https?|s3|gs|ftp|file):/+", str(path), re.IGNORECASE):
        text = f"{address[1]}://{str(path)[address.end() :]}"
        raise InputError(f"{text} is an address, and nothing is fetched; download the file first, then name it here")
    try:
        os.fsencode(path).decode()  # in whatever locale
    except UnicodeError:
        raise InputError(f"the file name {str(path)!r} is not UTF-8, so it cannot be opened; rename the file") from None
    if not path.parent.is_dir():
        raise InputError(f"{path} does not exist: there is no folder {path.parent}; check the path")
    if not path.exists():
        hint = near_file(path.name, [entry.name for entry in path.parent.iterdir()])
        raise InputError(f"{path} does not exist;{hint or ' check the path'}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one file, such as CSV, Excel or Parquet (or a dataframe)")
    if not path.is_file():
        raise InputError(f"{path} is a pipe or device, not a file; pipe the table in and name it -, or save it first")
