"""Observations of AnnData files (.h5ad) and one gene of them, read from HDF5 piece by piece: X is never in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from recombine.errors import InputError, missing_package
from recombine.formats.cell_texts import cell_text

#: Observations, names of genes and categories at most.
MAX_OBSERVATIONS = 20_000_000
#: Rows and entries of a sparse matrix that are read at once, and bytes of one piece of a file.
MAX_ROWS_PER_PIECE, MAX_ENTRIES_PER_PIECE, MAX_PIECE_BYTES = 10_000, 2**22, 2**30

Column = Callable[[int, int], list[Any]]


def annotated_rows(path: Path, outcome: str | None) -> Iterator[list[str]]:
    """Yield the names of the columns of ``.obs`` and then its rows, as text.

    An ``outcome`` that is no column there is a gene: its column of ``X``, or ``layer:gene`` that of a layer.
    """
    try:
        import h5py
    except ModuleNotFoundError as error:
        raise missing_package(error) from None
    try:
        with h5py.File(path, "r") as file:
            obs = _node(file, "obs")
            names = [str(name) for name in obs.attrs["column-order"]]
            count = len(_node(obs, str(obs.attrs["_index"])))
            columns = [_column(_node(obs, name)) for name in names]
            if outcome is not None and outcome not in names and (gene := _gene(file, outcome, count)) is not None:
                names, columns = [*names, outcome], [*columns, lambda start, end: gene[start:end].tolist()]
            yield names
            for start in range(0, count, MAX_ROWS_PER_PIECE):
                pieces = [column(start, start + MAX_ROWS_PER_PIECE) for column in columns]
                yield from ([cell_text(value) for value in row] for row in zip(*pieces, strict=True))
    except InputError:
        raise
    except Exception as error:  # libraries raise whatever their parts raise: damage is damage
        raise InputError(
            f"{path.name} cannot be read as AnnData ({type(error).__name__}); write it again with anndata 0.8 or newer"
        ) from None


def _node(group: Any, name: str) -> Any:
    """Return a part of a file that lies in it and is of a bearable size."""
    import h5py

    node, source = group[name], Path(group.file.filename).name
    if isinstance(group.get(name, getlink=True), h5py.ExternalLink) or getattr(node, "external", None):
        raise InputError(f"{source} takes {name} from another file; write one file that holds all")
    if isinstance(node, h5py.Dataset):
        piece = np.prod(node.chunks or (1,)) * node.dtype.itemsize
        long = node.ndim == 1 and len(node) > MAX_OBSERVATIONS and name not in ("data", "indices")
        if node.is_virtual or piece > MAX_PIECE_BYTES or long:
            raise InputError(f"{source} holds {name} in pieces beyond all measure; write it again")
    return node


def _column(node: Any) -> Column:
    """Return what reads rows of a column: of numbers, flags, texts or categories, any of them with gaps."""
    if hasattr(node, "keys") and "codes" in node:
        categories = [*_values(_node(node, "categories"), 0, None), None]  # the code of what is missing is -1
        codes = _node(node, "codes")
        return lambda start, end: [categories[code] for code in codes[start:end].tolist()]
    if hasattr(node, "keys"):
        values, mask = _node(node, "values"), _node(node, "mask")
        return lambda start, end: [
            None if gone else value
            for value, gone in zip(_values(values, start, end), mask[start:end].tolist(), strict=True)
        ]
    return lambda start, end: _values(node, start, end)


def _values(node: Any, start: int, end: int | None) -> list[Any]:
    if node.dtype.kind in "OS":
        return list(node.asstr()[start:end])
    numbers = node[start:end]
    # What was stored in fewer bits is written with fewer digits: 0.1, not 0.10000000149.
    return [float(str(number)) for number in numbers] if numbers.dtype in ("f2", "f4") else list(numbers.tolist())


def _gene(file: Any, outcome: str, count: int) -> Any:
    """Return the values (N,) of a gene, or None if there is no such gene."""
    var = _node(file, "var")
    genes = _values(_node(var, str(var.attrs["_index"])), 0, None)
    layer, _, gene = outcome.partition(":") if outcome not in genes else ("", "", outcome)
    if gene not in genes or (layer and layer not in file["layers"]):
        return None
    if genes.count(gene) > 1:
        raise InputError(f"{Path(file.filename).name} has more than one gene named {gene!r}; make names unique")
    matrix, position = _node(_node(file, "layers"), layer) if layer else _node(file, "X"), genes.index(gene)
    if not hasattr(matrix, "keys"):
        starts = range(0, count, MAX_ROWS_PER_PIECE)
        return np.concatenate([matrix[start : start + MAX_ROWS_PER_PIECE, position] for start in starts]).astype(float)
    data, indices, starts = (_node(matrix, name) for name in ("data", "indices", "indptr"))
    values = np.zeros(count)
    if "csc" in str(matrix.attrs["encoding-type"]):
        begin, end = map(int, starts[position : position + 2])
        values[indices[begin:end]] = data[begin:end]
        return values
    rows = starts[:]
    for begin in range(0, len(indices), MAX_ENTRIES_PER_PIECE):
        end = begin + MAX_ENTRIES_PER_PIECE
        entries = np.flatnonzero(indices[begin:end] == position)
        if len(entries):
            values[np.searchsorted(rows, begin + entries, side="right") - 1] = data[begin:end][entries]
    return values
