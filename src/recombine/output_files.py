"""Where results are written: places are refused before the work, and a file is whole or as it was before."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from recombine.errors import InputError
from recombine.writing import printable

#: Drafts that wait for their names, each with the file it is to be.
_waiting: ContextVar[list[tuple[Path, Path]] | None] = ContextVar("_waiting", default=None)


def check_file(path: Path, force: bool) -> None:
    """Raise unless a file can be written there, and over what is there only with ``force``."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is a pipe or device, not a file; name a file")
    if path.exists() and not force:
        raise InputError(
            f"{path} exists; choose another name, or allow overwriting with --force (force=True in Python)"
        )
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder; create it or write elsewhere")
    if (path.exists() and not os.access(path, os.W_OK)) or not takes_files(_real(path).parent):
        raise InputError(f"{path} cannot be written; choose a folder you can write to")


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path | None], force: bool) -> None:
    """Raise, before the work, unless every output can be written, each to its own file and none over an input.

    Files are told apart by what they are, not by their names: a link to an input, or its name in other letters where
    the system takes both for one, is the input.
    The table comes first among the inputs; None stands where nothing was asked for. Only with ``force`` are files
    written over that are no inputs.
    """
    named = [path for path in outputs if path is not None]
    for path in named:
        for index, source in enumerate(inputs):
            if source is not None and _same(path, source):
                what = "the table itself" if index == 0 else f"{source}, which this command reads"
                raise InputError(f"{path} is {what}; choose another name for the output")
        check_file(path, force)
    for index, path in enumerate(named):
        if any(_same(path, earlier) for earlier in named[:index]):
            raise InputError(f"{path} is named for two outputs; give each its own file")


def may_replace(path: Path, ask: Callable[[str], bool]) -> bool:
    """Ask whoever sits at the terminal, where somebody does, before a file that exists is replaced."""
    if not path.is_file() or not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    return ask(f"{printable(str(path))} exists; write over it?")


def check_table_name(path: Path | None, option: str) -> None:
    """Raise unless a table of text may be written under this name."""
    if path is not None and path.suffix.lower() not in ("", ".csv", ".txt"):
        raise InputError(f"{option} {path}: a CSV table is written; give it a name that ends in .csv")


@contextlib.contextmanager
def path_beside(path: str | Path) -> Iterator[Path]:
    """Give a path to write to; when the block ends well the file takes the name it is for, whole and on the disk.

    Until then, and if anything goes wrong (a full disk, Ctrl-C), whatever has the name stays as it is. Inside a block
    of `files_together` the name is taken when that block ends.
    """
    target = _real(Path(path))
    draft = target.with_name(f".recombine-{secrets.token_hex(8)}")
    with files_together() as drafts, _named(draft, path):
        try:
            yield draft
            if target.exists():
                shutil.copymode(target, draft)
            _sync(draft)
            drafts.append((draft, target))
        finally:
            if (draft, target) not in drafts:
                _remove(draft)


@contextlib.contextmanager
def files_together() -> Iterator[list[tuple[Path, Path]]]:
    """Let the files that are written in this block take their names when it ends well: all of them, or none.

    A command writes its files and prints its answer in one block: where a file cannot be written nothing is printed,
    and where the answer cannot be printed no file changes.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with files_together():
    ...     write_whole(folder / "a.txt", "whole")
    ...     (folder / "a.txt").exists()
    False
    >>> (folder / "a.txt").read_text()
    'whole'
    """
    waiting = _waiting.get()
    if waiting is not None:  # a block inside another ends with that one
        yield waiting
        return
    drafts: list[tuple[Path, Path]] = []
    outside = _waiting.set(drafts)
    try:
        yield drafts
        for draft, target in drafts:
            with _named(draft, target):
                draft.replace(target)
        for folder in {target.parent for _, target in drafts}:
            sync_folder(folder)
    finally:
        _waiting.reset(outside)
        for draft, _ in drafts:
            _remove(draft)


@contextlib.contextmanager
def _named(draft: Path, path: str | Path) -> Iterator[None]:
    """Let errors name the file that was asked for: nobody knows the name of its draft."""
    try:
        yield
    except OSError as error:
        if error.filename in (None, str(draft)):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


def _remove(draft: Path) -> None:
    with contextlib.suppress(OSError):
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def open_beside(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file of bytes as `path_beside` gives one."""
    with path_beside(path) as draft, draft.open("xb") as file:
        yield file
        file.flush()


def write_whole(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    with open_beside(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can do that."""
    # Windows opens no folders, and some network file systems sync none; the names are then as safe as can be.
    with contextlib.suppress(OSError):
        _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _real(path: Path) -> Path:
    """Return the file that a link leads to: the link stays, and what it names is written."""
    return Path(os.path.realpath(path))


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return _real(a) == _real(b)


def takes_files(folder: Path) -> bool:
    """Try it: rights alone do not tell for the superuser, or on a file system that takes none."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
