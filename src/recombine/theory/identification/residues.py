"""Arithmetic modulo the prime 2**61 - 1 on whole arrays: products and inverses without Python integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

#: The field: seven residues below it still add up inside 64 bits.
PRIME = 2**61 - 1
Residues = npt.NDArray[np.uint64]

_HALF = np.uint64(31)
_LOW_HALF = np.uint64(2**31 - 1)
_MIDDLE = np.uint64(30)
_LOW_MIDDLE = np.uint64(2**30 - 1)
_BITS = np.uint64(61)
_PRIME = np.uint64(PRIME)


def multiply_residues(first: Residues, second: Residues) -> Residues:
    """Multiply residues (any shapes that broadcast)."""
    high, low = first >> _HALF, first & _LOW_HALF
    other_high, other_low = second >> _HALF, second & _LOW_HALF
    middle = high * other_low + low * other_high
    # 2**61 is 1 in this field: whatever overflows to the left comes back on the right.
    total = (high * other_high << np.uint64(1)) + (middle >> _MIDDLE) + low * other_low
    total += (middle & _LOW_MIDDLE) << _HALF
    total = (total & _PRIME) + (total >> _BITS)
    return np.asarray(np.where(total >= _PRIME, total - _PRIME, total), dtype=np.uint64)


def add_residues(arrays: Sequence[Residues]) -> Residues:
    """Add residues of one shape."""
    total = arrays[0]
    for more in arrays[1:]:
        total = (total + more) % _PRIME
    return total


def subtract_residues(first: Residues, second: Residues) -> Residues:
    """Subtract residues (any shapes that broadcast)."""
    return np.asarray((first + (_PRIME - second)) % _PRIME, dtype=np.uint64)


def invert_residues(values: Residues) -> Residues:
    """Invert nonzero residues (n,), with one inversion and about three products each."""
    if len(values) <= 1:
        return np.array([pow(int(value), -1, PRIME) for value in values], dtype=np.uint64)
    padded = np.append(values, np.ones(len(values) % 2, dtype=np.uint64))
    even, odd = padded[::2], padded[1::2]
    above = invert_residues(multiply_residues(even, odd))
    result = np.empty_like(padded)
    result[::2], result[1::2] = multiply_residues(above, odd), multiply_residues(above, even)
    return result[: len(values)]
