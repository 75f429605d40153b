"""Homogeneous linear equations with whole coefficients, solved in whole numbers of any size: nothing is rounded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from recombine.cells.arrays import FloatArray, IntArray

Row = dict[int, int]

#: Products below this fit int64 with room for sums.
MAX_SAFE_INTEGER = 2**62
#: Numbers this close to fractions with one of these denominators are taken for them, others for multiples of one over
#: the last; exact checks follow.
FRACTION_TOLERANCE = 1e-6
DENOMINATORS = (1, 2, 3, 4, 6, 12, 60)
FINEST_DENOMINATOR = 2**30


class Echelon:
    """Rows of whole numbers, column -> entry, in echelon form: what is orthogonal to all, and such near a guess.

    Rows stay whole and in lowest terms: numbers grow less than with fractions, and incidence rows of 0 and 1 hardly
    grow at all.

    Examples
    --------
    >>> Echelon([{0: 1, 1: 1}, {0: 1, 2: 2}], 3).null_basis().tolist()
    [[-2], [2], [1]]
    """

    def __init__(self, rows: Iterable[Row], columns: int) -> None:
        self.columns = columns
        self._rows: dict[int, Row] = {}
        self._order: dict[int, int] = {}
        for row in rows:
            self._add(dict(row))

    def _add(self, row: Row) -> None:
        # A kept row holds no pivot of an earlier one, so eliminating in order of age brings in younger pivots only.
        while pivots := [column for column in row if column in self._rows]:
            column = min(pivots, key=self._order.__getitem__)
            row = _without(row, self._rows[column], column)
        if row:
            # A small pivot multiplies later rows by little.
            pivot = min(row, key=lambda column: (abs(row[column]), column))
            self._order[pivot] = len(self._rows)
            self._rows[pivot] = row

    def free(self) -> list[int]:
        """Return the columns whose values can be chosen."""
        return [column for column in range(self.columns) if column not in self._rows]

    def complete(self, values: dict[int, int]) -> list[int]:
        """Return a whole vector (W,) orthogonal to all rows: a multiple of that with these values on free columns."""
        entries: dict[int, int | Fraction] = dict(values)
        for pivot in reversed(self._rows):
            row = self._rows[pivot]
            total = sum(entry * entries[column] for column, entry in row.items() if entries.get(column))
            value = -Fraction(total) / row[pivot]
            entries[pivot] = value.numerator if value.denominator == 1 else value
        return whole_multiple([Fraction(entries.get(column, 0)) for column in range(self.columns)])

    def near(self, guess: FloatArray) -> list[int]:
        """Return a whole vector orthogonal to all rows: near a multiple of ``guess`` (W,), if that nearly is one."""
        free = self.free()
        chosen = rounded(guess[free]) or [round(float(number) * FINEST_DENOMINATOR) for number in guess[free]]
        return self.complete(dict(zip(free, chosen, strict=True)))

    def null_basis(self) -> npt.NDArray[np.object_]:
        """Return a basis of the vectors orthogonal to all rows, in whole numbers, shape (W, W - rank)."""
        vectors = [self.complete({column: 1}) for column in self.free()]
        basis = np.zeros((self.columns, len(vectors)), dtype=object)
        for index, vector in enumerate(vectors):
            basis[:, index] = vector
        return basis


def _without(row: Row, pivot_row: Row, column: int) -> Row:
    """Take a multiple of ``pivot_row`` off ``row`` such that ``column`` vanishes, in lowest terms."""
    common = math.gcd(row[column], pivot_row[column])
    mine, theirs = pivot_row[column] // common, row[column] // common
    result = {key: mine * entry for key, entry in row.items()}
    for key, entry in pivot_row.items():
        result[key] = result.get(key, 0) - theirs * entry
    result = {key: entry for key, entry in result.items() if entry}
    divisor = math.gcd(*result.values())
    return {key: entry // divisor for key, entry in result.items()} if divisor > 1 else result


def whole_multiple(fractions: Sequence[Fraction]) -> list[int]:
    """Return the smallest positive multiple of a vector of fractions that is whole.

    Examples
    --------
    >>> whole_multiple([Fraction(1, 2), Fraction(-1, 3)])
    [3, -2]
    """
    shared = math.lcm(*(number.denominator for number in fractions)) if fractions else 1
    numbers = [int(number * shared) for number in fractions]
    common = math.gcd(*numbers) if numbers else 0
    return [number // common for number in numbers] if common > 1 else numbers


def rounded(guess: FloatArray) -> list[int] | None:
    """Return a whole multiple of ``guess`` if a small multiplier makes all of it nearly whole, else None."""
    for multiplier in DENOMINATORS:
        multiple = np.rint(guess * multiplier)
        rounding = np.abs(multiple - guess * multiplier).max(initial=0.0)
        if rounding < FRACTION_TOLERANCE and np.abs(multiple).max(initial=0.0) < 2**40:
            return [int(number) for number in multiple]
    return None


def rows_of(matrix: csr_array) -> list[Row]:
    """Return the distinct rows of a sparse whole matrix as dicts, in the order of their first occurrence."""
    rows: dict[tuple[tuple[int, int], ...], None] = {}
    pointers, columns, data = matrix.indptr, matrix.indices, matrix.data
    for start, stop in itertools.pairwise(pointers.tolist()):
        rows[tuple(sorted(zip(columns[start:stop].tolist(), data[start:stop].tolist(), strict=True)))] = None
    return [{column: entry for column, entry in row if entry} for row in rows]


def exact_product(matrix: csr_array, vector: Sequence[int] | npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """Return a sparse whole matrix (N, W) times whole numbers (W,) or (W, n), exactly."""
    array = np.array(vector, dtype=object)
    largest = max((abs(number) for number in array.reshape(-1)), default=0)
    width = int(abs(matrix).sum(axis=1).max()) if matrix.shape[0] else 0
    if largest * width < MAX_SAFE_INTEGER:
        return np.asarray(matrix @ array.astype(np.int64)).astype(object)
    return np.asarray(matrix.toarray().astype(object) @ array)


def signs(numbers: npt.NDArray[np.object_]) -> IntArray:
    """Return -1, 0 or 1 for each of an array of whole numbers of any size."""
    return np.asarray((numbers > 0).astype(np.int64) - (numbers < 0).astype(np.int64))
