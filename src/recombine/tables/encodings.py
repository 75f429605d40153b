"""Which bytes a text table is made of: its encoding, its line ends, and whether an engine can read it as it is."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recombine.errors import InputError

#: Bytes of a text file that are looked at; of a larger one the rest is looked at when reading fails.
SURVEYED_BYTES = 200_000_000
#: A packed file may expand to this many times its size, and to this many bytes in any case.
MAX_EXPANSION_RATIO, EXPANSION_ALLOWED_BYTES = 100, 2**30
#: A text in one byte per letter has no larger share of bytes beyond ASCII.
MAX_HIGH_BYTE_SHARE = 0.3

_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")  # controls, and what Windows-1252 lacks
_HIGH = bytes(range(128, 256))


@dataclass(frozen=True)
class Survey:
    """The encoding of a text file, the line end of its header, whether all lines end so, and what was assumed."""

    encoding: str
    newline: str = r"\n"
    even: bool = False
    note: str = ""

    @property
    def plain(self) -> bool:
        """Whether an engine can read the file as it is."""
        return self.encoding == "utf-8-sig" and self.even


def survey(path: Path) -> Survey:
    """Look at the bytes of a text file, and refuse in one line what cannot be read as text.

    UTF-8 is read, and UTF-16 with its mark. What is neither is read as Windows-1252, of which Latin-1 is a part, where
    every byte is a letter there; the note says so. A different single-byte encoding would change how labels look, not
    which are distinct.
    """
    state, ends = _Decoded(), _LineEnds()
    for chunk in _chunks(path):
        if state.start(chunk):
            return Survey("utf-16")
        state.add(chunk)
        ends.add(chunk)
    if state.nuls:
        raise InputError(
            f"{path.name} is not a text table: it holds NUL bytes, as binary files and unmarked UTF-16 do; save it as "
            "UTF-8 CSV or Parquet"
        )
    if state.finished():
        return Survey("utf-8-sig", ends.first or r"\n", ends.even)
    return Survey("cp1252", note=_one_byte_letters(path))


def _chunks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, those of a gzip file to its end: engines take one cut short for a shorter table."""
    zipped = path.suffix.lower() == ".gz"
    bytes_left = SURVEYED_BYTES
    with gzip.open(path, "rb") if zipped else path.open("rb") as file:
        try:
            while (bytes_left > 0 or zipped) and (chunk := file.read(2**20)):
                bytes_left -= len(chunk)
                if zipped:
                    check_expansion(path.name, path.stat().st_size, SURVEYED_BYTES - bytes_left)
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if bytes_left == SURVEYED_BYTES and isinstance(error, gzip.BadGzipFile):
                raise InputError(f"{path.name} is not a text table that gzip packed; save it as CSV") from None
            raise InputError(f"{path.name} is cut short or damaged; copy it again") from None


@dataclass
class _Decoded:
    """Whether the bytes so far are UTF-8; the limit may have cut the last letter."""

    nuls: int = 0
    valid: bool = True
    begun: bool = False
    decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    def start(self, chunk: bytes) -> bool:
        """Say whether this is the first chunk and bears the mark of UTF-16."""
        first, self.begun = not self.begun, True
        return first and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

    def add(self, chunk: bytes) -> None:
        self.nuls += chunk.count(0)
        if not self.valid or (chunk.isascii() and not self.decoder.getstate()[0]):
            return
        try:
            self.decoder.decode(chunk)
        except UnicodeDecodeError:
            self.valid = False

    def finished(self) -> bool:
        return self.valid and len(self.decoder.getstate()[0]) < 4


@dataclass
class _LineEnds:
    """How many lines end which way; a carriage return at the end of a chunk waits for the next."""

    first: str = ""
    crlf: int = 0
    lf: int = 0
    cr: int = 0
    waiting: bool = False

    def add(self, chunk: bytes) -> None:
        if self.waiting:
            chunk = b"\r" + chunk
        self.waiting = chunk.endswith(b"\r")
        if self.waiting:
            chunk = chunk[:-1]
        crlf = chunk.count(b"\r\n")
        self.crlf += crlf
        self.lf += chunk.count(b"\n") - crlf
        self.cr += chunk.count(b"\r") - crlf
        if not self.first and (line_end := re.search(rb"\r\n|\n|\r", chunk)):
            self.first = {b"\r\n": r"\r\n", b"\n": r"\n", b"\r": r"\r"}[line_end.group()]

    @property
    def even(self) -> bool:
        return sum(count > 0 for count in (self.crlf, self.lf, self.cr + self.waiting)) <= 1


def _one_byte_letters(path: Path) -> str:
    """Check that a file that is not UTF-8 can be text in one byte per letter, and say what was assumed."""
    number = first_line = 0
    high = total = 0
    text = r"\x00"
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            total += len(line)
            if line.isascii() and not _NO_TEXT.search(line):
                continue
            high += len(line) - len(line.translate(None, _HIGH))
            if _MULTIBYTE.search(line) or _NO_TEXT.search(line):
                raise InputError(
                    f"{path.name} is not a text table, or not in one encoding throughout (line {number:,}); save it as "
                    "UTF-8 CSV or Parquet"
                )
            if not first_line:
                first_line, text = number, line.strip()[:40].decode("cp1252")
    if high > MAX_HIGH_BYTE_SHARE * total:
        raise InputError(f"{path.name} is not a text table (or not UTF-8); save it as UTF-8 CSV or Parquet")
    return f"the file is not UTF-8 and was read as Windows-1252 (Latin-1), e.g. {text!r} in line {first_line:,}"


def check_expansion(what: str, packed: int, expanded: int) -> None:
    """Raise if packed bytes expand beyond all measure, as files do that were made to fill a memory or a disk."""
    if expanded > max(EXPANSION_ALLOWED_BYTES, MAX_EXPANSION_RATIO * packed):
        raise InputError(
            f"{what} expands to {expanded:,} bytes or more, over {MAX_EXPANSION_RATIO} times its size; unpack it "
            "yourself if that is as it should be"
        )
