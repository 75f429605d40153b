"""Arrays of one's own, saved under names and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.array_files import load_arrays
from recombine.errors import InputError
from recombine.output_files import open_beside


def write_arrays(path: str | Path, **arrays: npt.NDArray[Any]) -> None:
    """Write named arrays to one ``.npz`` file.

    Examples
    --------
    >>> write_arrays("no such folder/contexts.npz", normals=np.zeros(1))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: no such folder/contexts.npz cannot be written (No such file or directory); give a file
        in a folder that exists
    """
    try:
        with open_beside(path) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); give a file in a folder that exists") from error


def read_arrays(path: str | Path, what: str) -> dict[str, npt.NDArray[Any]]:
    """Return the named arrays of a ``.npz`` file, or say that it holds no ``what``.

    Examples
    --------
    >>> read_arrays("nothing.npz", "context functions")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: nothing.npz cannot be read as context functions (No such file or directory); save them
        again
    """
    try:
        arrays = load_arrays(path)
        if "" in arrays:
            raise InputError("one array without a name")
        return arrays
    except (OSError, InputError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read as {what} ({reason}); save them again") from error
