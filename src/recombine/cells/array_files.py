"""Files of arrays under names, read only once it is clear that what they promise is there and fits in memory."""

from __future__ import annotations

import ast
import errno
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError
from recombine.formats.encodings import check_expansion
from recombine.output_files import open_beside

#: Ways of packing that NumPy uses; others are slow, or read beyond what they declare.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Bytes of a header, beyond which it is none.
_MAX_HEADER_BYTES = 2**16


def load_arrays(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an ``.npz`` file by name, or the one of an ``.npy`` file under an empty name.

    Sizes are compared with what the file holds before anything is allocated, and nothing is unpickled. Whatever is
    wrong with the file is an `InputError` that says what; that it cannot be opened is an `OSError`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "layers.npz"
    >>> np.savez(path, code=np.eye(2))
    >>> load_arrays(path)["code"].shape
    (2, 2)
    >>> _ = path.write_bytes(path.read_bytes()[:-1])
    >>> load_arrays(path)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: it is damaged or not written by NumPy
    """
    source = Path(path)
    if source.exists() and not source.is_file():
        raise InputError("it is a pipe, device or folder, not a file")
    try:
        with source.open("rb") as file:
            start = file.read(2)
            file.seek(0)
            size = source.stat().st_size
            return _members(file, size) if start == b"PK" else {"": _array(file, size)}
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        # Readers of zip files and of headers raise whatever their parts raise: damage is damage.
        raise InputError("it is damaged or not written by NumPy") from None


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


def _members(file: IO[bytes], size: int) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an archive, unless it says that it expands beyond all measure."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if any(info.compress_type not in _PACKED or info.flag_bits & 1 for info in members):
            raise InputError("it is packed in a way that NumPy does not use")
        check_expansion("it", size, sum(info.file_size for info in members))
        arrays = {}
        for info in members:
            with archive.open(info) as member:
                arrays[info.filename.removesuffix(".npy")] = _array(member, info.file_size)
                if member.read(1):
                    raise InputError(f"{info.filename!r} in it is longer than its array")
        return arrays


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of the array that begins here; anything but a sound header ends in some error."""
    major, _ = np.lib.format.read_magic(file)
    length = int.from_bytes(file.read(2 if major == 1 else 4), "little")
    if length > _MAX_HEADER_BYTES:
        raise ValueError
    header = ast.literal_eval(file.read(length).decode("utf-8" if major == 3 else "latin-1"))
    shape, fortran = header["shape"], header["fortran_order"]
    if type(fortran) is not bool or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError
    return tuple(shape), fortran, np.lib.format.descr_to_dtype(header["descr"])


def _array(file: IO[bytes], size: int) -> npt.NDArray[Any]:
    """Return the array that begins here, of which ``size`` bytes are there, header included."""
    shape, fortran, kind = _header(file)
    if kind.hasobject:
        raise InputError("it holds Python objects, not numbers")
    count = math.prod(shape)
    if count * kind.itemsize > size - file.tell():
        raise InputError(f"an array in it of shape {shape} would take {count * kind.itemsize:,} bytes, which it lacks")
    data = bytearray(count * kind.itemsize)
    unfilled = memoryview(data)
    while len(unfilled):
        read = file.readinto(unfilled)  # type: ignore[attr-defined]
        if not read:
            raise EOFError
        unfilled = unfilled[read:]
    return np.ndarray(shape, kind, data, order="F" if fortran else "C")
