"""A table that comes through a pipe: ``-`` in place of its file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from recombine.cli.outputs import working
from recombine.errors import InputError
from recombine.formats.recognition import HEAD_BYTES, ending_of

#: Parameters of commands that name a table or document to be read.
READ = ("file", "before", "after", "targets", "train")


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
        path = folder / "stdin"
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file, 2**20)
    return path.rename(f"{path}{ending_of(head, path)}")
