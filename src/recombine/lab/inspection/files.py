"""Arrays of activations from files, and which cells were seen from a mask or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.array_files import load_arrays
from recombine.cells.arrays import IntArray
from recombine.errors import InputError, near_file
from recombine.tables.frames import open_table
from recombine.writing import listing

Array = npt.NDArray[Any]
ARRAY_SUFFIXES = (".npy", ".npz")


def load_layers(activations: Any) -> tuple[str, dict[str, Any]]:
    """Return a name for messages and the layers by name, in order: of a file, a mapping or one array."""
    if isinstance(activations, str | Path):
        path = Path(activations)
        return path.name, _arrays(path)
    if isinstance(activations, Mapping):
        if not activations:
            raise InputError("no layers were given; pass at least one array of activations")
        return f"{len(activations)} layers", {str(name): values for name, values in activations.items()}
    return "an array", {"the array": activations}


def load_seen(seen: Any, factors: Sequence[str], levels: Sequence[int]) -> Any:
    """Return which cells were seen: a mask as it is or from a file, or the cells that the rows of a table name."""
    if isinstance(seen, str | Path) and Path(seen).suffix.lower() in ARRAY_SUFFIXES:
        return load_array(seen)
    is_table = isinstance(seen, str | Path) or hasattr(seen, "columns")
    return _from_table(seen, factors, levels) if is_table else seen


def load_array(source: Any) -> Array:
    """Return an array, or the only one of a file."""
    if not isinstance(source, str | Path):
        return np.asarray(source)
    arrays = _arrays(Path(source))
    if len(arrays) > 1:
        raise InputError(f"{Path(source).name} holds {len(arrays)} arrays ({listing(arrays)}); give a file with one")
    return next(iter(arrays.values()))


def _arrays(path: Path) -> dict[str, Array]:
    """Return all arrays of an .npy or .npz file."""
    if not path.exists():
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        near = near_file(path.name, [entry.name for entry in beside if entry.suffix.lower() in ARRAY_SUFFIXES])
        raise InputError(f"{path} does not exist;{near or ' check the path'}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one .npy or .npz file")
    if path.suffix.lower() not in ARRAY_SUFFIXES:
        raise InputError(f"{path.name} is not an .npy or .npz file; save arrays with numpy.save or numpy.savez")
    try:
        layers = {name or path.stem: values for name, values in load_arrays(path).items()}
    except InputError as error:
        raise InputError(f"{path.name} cannot be read: {error}; save arrays of numbers with numpy.save") from None
    if not layers:
        raise InputError(f"{path.name} holds no arrays; save at least one layer with numpy.savez")
    return layers


def _from_table(data: Any, factors: Sequence[str], levels: Sequence[int]) -> Array:
    """Mark the cells that the rows of a table name; a column ``seen``, if there is one, says which rows count."""
    source = open_table(data)
    for factor in factors:
        source.require(factor, "factor")
    columns = source.read([*factors, *(["seen"] if "seen" in source.columns else [])])
    codes = [
        _whole(columns[factor], size, f"{source.name}: column {factor!r}")
        for factor, size in zip(factors, levels, strict=True)
    ]
    marked = np.ones(len(codes[0]), dtype=np.int64)
    if "seen" in columns and "seen" not in factors:
        marked = _whole(columns["seen"], 2, f"{source.name}: column 'seen'")
    mask = np.zeros(tuple(levels), dtype=bool)
    mask[tuple(column[marked > 0] for column in codes)] = True
    return mask


def _whole(values: Array, size: int, column: str) -> IntArray:
    """Return whole numbers from 0 to ``size`` - 1, or name the first row that holds something else."""
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.array([_number(value) for value in values])
    bad = ~((numbers >= 0) & (numbers < size) & (numbers == np.floor(numbers)))
    if bad.any():
        row = int(np.argmax(bad))
        value = "empty" if values[row] is None or values[row] != values[row] else str(values[row])
        raise InputError(f"{column} is {value} in row {row + 1} below the header; give whole numbers, 0 to {size - 1}")
    return numbers.astype(np.int64)


def _number(value: Any) -> float:
    try:
        return float({"true": 1, "false": 0}.get(str(value).casefold(), value))
    except (TypeError, ValueError):
        return float("nan")
