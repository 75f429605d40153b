"""Array types and the check every function that takes cells runs first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

#: Codes count levels, so one past this is an identifier that was never coded.
MAX_LEVEL = 2**40
#: Numbers in the largest array that is worth trying: 4 GiB.
MAX_ARRAY_NUMBERS = 2**29


def refuse_masked(values: Any, name: str) -> None:
    """Raise if a masked array hides some of its values, which NumPy would bring back without a word."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        index = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise InputError(f"{name} are masked{f' at {index}' if index else ''}; replace or leave out what is missing")


def as_cells(cells: npt.ArrayLike, name: str = "cells", factors: int | None = None) -> IntArray:
    """Return ``cells`` as an int64 array of shape (N, C), or say what is wrong with it.

    Examples
    --------
    >>> as_cells([[0, 1], [2, 0]]).shape
    (2, 2)
    >>> as_cells([[0, -1]])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: cells[0, 1] is -1; levels are integers from 0 up, so code each factor's levels first
    """
    refuse_masked(cells, name)
    try:
        array = np.asarray(cells)
    except ValueError:
        raise InputError(f"the rows of {name} differ in length; give one level of each factor in every row") from None
    if array.ndim != 2 or (array.shape[1] == 0):
        raise InputError(f"{name} has shape {array.shape}; give one row per cell and one column per factor")
    if factors is not None and array.shape[1] != factors:
        raise InputError(f"{name} has {array.shape[1]} columns but the design has {factors} factors; give all of them")
    if array.dtype.kind not in "iufb":
        raise InputError(f"{name} has dtype {array.dtype}; code each factor's levels as integers from 0 up first")
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array))
        _refuse_levels(array, ~whole, name, "levels are integers from 0 up")
    _refuse_levels(array, array >= MAX_LEVEL, name, "code each factor's levels as 0, 1, 2, ...")
    codes: IntArray = array.astype(np.int64)
    _refuse_levels(codes, codes < 0, name, "levels are integers from 0 up, so code each factor's levels first")
    return codes


def _refuse_levels(array: npt.NDArray[Any], wrong: BoolArray, name: str, advice: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(f"{name}[{row}, {column}] is {array[row, column]}; {advice}")


def as_numbers(values: Any, name: str) -> npt.NDArray[np.floating]:
    """Return real numbers as an array of floats: arrays, nested sequences, and tensors on any device.

    Floats keep their precision, except for those that NumPy lacks (bfloat16), which become float32.

    Examples
    --------
    >>> as_numbers([1, 2], "outputs")
    array([1., 2.])
    >>> as_numbers(["a", "b"], "outputs")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: outputs are not real numbers in rows of equal length (dtype <U1); give such an array
    """
    refuse_masked(values, name)
    # Known by its method, so that torch need not be there.
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        try:
            values = values.numpy()
        except TypeError:
            values = values.float().numpy()
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuO":
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are not real numbers in rows of equal length ({error}); give such an array") from None
    if array.dtype.kind != "f":
        raise InputError(
            f"{name} are not real numbers in rows of equal length (dtype {array.dtype}); give such an array"
        )
    return array


def affordable(what: str, *shape: int) -> None:
    """Refuse an array that would not fit into memory before it is made."""
    if math.prod(shape) > MAX_ARRAY_NUMBERS:
        size = f"{math.prod(shape) / 2**27:.3g} GiB ({' x '.join(map(str, shape))} numbers)"
        limit = MAX_ARRAY_NUMBERS // 2**27
        raise InputError(f"{what} would take {size}; the most is {limit} GiB, so take fewer samples, units or bits")


def sizes_of(*blocks: IntArray) -> tuple[int, ...]:
    """Return the number of levels of each factor: one more than the largest code in any block.

    Examples
    --------
    >>> sizes_of(as_cells([[0, 1]]), as_cells([[2, 0]]))
    (3, 2)
    """
    filled = [block for block in blocks if len(block)]
    if not filled:
        raise InputError("no cells were given; pass at least one seen cell")
    return tuple(int(size) for size in np.max([block.max(axis=0) for block in filled], axis=0) + 1)


def product_size(sizes: Sequence[int]) -> int:
    """Return the number of cells of the full product as a Python integer (it never overflows).

    Examples
    --------
    >>> product_size([10**6, 10**6, 10**6, 10**6])
    1000000000000000000000000
    """
    return math.prod(map(int, sizes))
