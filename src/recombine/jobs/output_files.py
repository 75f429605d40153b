"""Where results may be written: places are refused before the work, not after it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from recombine.errors import InputError


def check_file(path: Path, force: bool) -> None:
    """Raise unless a file can be written there, and over what is there only with ``force``.

    Examples
    --------
    >>> check_file(Path("nowhere/report.html"), force=False)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: nowhere is not a folder; create it or write elsewhere
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    if path.exists() and not force:
        raise InputError(
            f"{path} exists; choose another name, or allow overwriting with --force (force=True in Python)"
        )
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder; create it or write elsewhere")
    if not (os.access(path, os.W_OK) if path.exists() else _takes_files(path.parent)):
        raise InputError(f"{path} cannot be written; choose a folder you can write to")


def check_folder(path: Path, option: str) -> None:
    """Raise unless files can be written to a folder, which may have to be made first.

    Examples
    --------
    >>> check_folder(Path("new/figures"), "--figures")
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"{option} {path} is a file; name a folder, which is made where it is missing")
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not _takes_files(nearest):
        raise InputError(f"{option} {path} cannot be written; choose a folder you can write to")


def _takes_files(folder: Path) -> bool:
    """Try it: rights alone do not tell for the superuser, or on a file system that takes none."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
