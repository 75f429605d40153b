"""A table that comes through a pipe: ``-`` in place of its file."""

from __future__ import annotations

import re
import shutil
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from recombine.cli.outputs import working
from recombine.errors import InputError

#: Parameters of commands that name a table or document to be read.
READ = ("file", "before", "after", "targets", "train")
#: Bytes that tell what a pipe holds.
HEAD_BYTES = 2**16
#: How files begin that are no text, and what such a file is called.
SUFFIXES = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx", b"\x93NUMPY": ".npy"}


def from_pipe(given: Mapping[str, Any], context: typer.Context) -> dict[str, Path]:
    """Return the file that stands for ``-`` among the values of a command, if it does: it goes with the context."""
    names = [name for name in READ if given.get(name) == Path("-")]
    if not names:
        return {}
    if len(names) > 1:
        raise InputError("- is standard input, which can be read once; name a file for the other one")
    folder = context.with_resource(TemporaryDirectory(prefix="recombine-", ignore_cleanup_errors=True))
    return {names[0]: _spooled(Path(folder))}


def _spooled(folder: Path) -> Path:
    """Write what comes through standard input to a file of the right kind: tables are read more than once."""
    cure = "pipe a table in (recombine audit - < table.csv), or name its file in place of -"
    if sys.stdin.isatty():
        raise InputError(f"- reads standard input, which is the keyboard here; {cure}")
    with working("reading standard input"):
        head = sys.stdin.buffer.read(HEAD_BYTES)
        if not head.strip():
            raise InputError(f"standard input is empty; {cure}")
        path = folder / f"stdin{suffix_of(head)}"
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file, 2**20)
    return path


def suffix_of(head: bytes) -> str:
    """Return the ending of the name of a file that begins so.

    Examples
    --------
    >>> suffix_of(b"colour;mass"), suffix_of(b'{"colour": "red"}'), suffix_of(b"PAR1...")
    ('.csv', '.jsonl', '.parquet')
    """
    if head.startswith(b"\x1f\x8b"):
        return f"{suffix_of(zlib.decompressobj(31).decompress(head))}.gz"
    text = ".jsonl" if re.match(rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{", head) else ".csv"
    return next((suffix for mark, suffix in SUFFIXES.items() if head.startswith(mark)), text)
