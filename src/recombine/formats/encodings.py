"""Which bytes a text table is made of: its encoding, its line ends, and whether an engine can read it as it is."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
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
    decoder, ends = codecs.getincrementaldecoder("utf-8")(), dict.fromkeys((b"\r\n", b"\n", b"\r"), 0)
    nuls, valid, carried, first = 0, True, b"", None
    for index, chunk in enumerate(_chunks(path)):
        if index == 0 and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return Survey("utf-16")
        nuls += chunk.count(0)
        if valid and not (chunk.isascii() and not decoder.getstate()[0]):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                valid = False
        # A carriage return at the end of a chunk waits for the next one: a line feed may follow.
        lines, carried = carried + chunk, b""
        if lines.endswith(b"\r"):
            lines, carried = lines[:-1], b"\r"
        pairs = lines.count(b"\r\n")
        for end in ends:
            ends[end] += lines.count(end) - (pairs if len(end) == 1 else 0)
        first = first or re.search(rb"\r\n|\n|\r", lines)
    ends[b"\r"] += len(carried)
    if nuls:
        raise InputError(
            f"{path.name} is not a text table: it holds NUL bytes, as binary files and unmarked UTF-16 do; save it as "
            "UTF-8 CSV or Parquet"
        )
    if valid and len(decoder.getstate()[0]) < 4:  # the limit may have cut the last letter
        newline = first.group().decode() if first else "\n"
        return Survey("utf-8-sig", newline.encode("unicode_escape").decode(), sum(map(bool, ends.values())) <= 1)
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
