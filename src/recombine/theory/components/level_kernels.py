"""How alike two levels of one factor are: the same or not, on a line, near each other, of like features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.theory.components.factors import Factors

#: Width of the bump over coordinates, in standard deviations of the coordinates over seen cells.
BUMP_WIDTH = 0.5


@dataclass(frozen=True)
class LevelKernel:
    """Covariance between levels of one factor: this one takes them as labels, the same or not."""

    name: str
    columns: tuple[int, ...] = ()  #: Features that it is of; none for labels and coordinates.
    alone: bool = False  #: Whether it is of one feature among several.

    straight = False  #: Whether it is proportional to coordinates or features.

    def between(self, factors: Factors, factor: int, rows: IntArray, columns: IntArray) -> FloatArray | None:
        """Return covariances (N, M) between levels (N,) and (M,); None: labels only.

        A level of which nothing is known is like no other, with the variance that levels have in the mean.
        """
        return None

    def variances(self, factors: Factors, factor: int, levels: IntArray) -> FloatArray:
        """Return the variances (N,) of levels (N,)."""
        return np.ones(len(levels))


class _OfNumbers(LevelKernel, ABC):
    """By coordinates of levels, or by their features."""

    @abstractmethod
    def alike(self, row_numbers: FloatArray, column_numbers: FloatArray) -> FloatArray:
        """Return covariances (N, M) between levels of numbers (N, D) and (M, D)."""

    def spread(self, numbers: FloatArray) -> FloatArray:
        """Return variances (N,) of levels of numbers (N, D)."""
        return np.ones(len(numbers))

    def between(self, factors: Factors, factor: int, rows: IntArray, columns: IntArray) -> FloatArray:
        table = self._numbers(factors, factor)
        (row_numbers, row_codes), (column_numbers, column_codes) = _described(table, rows), _described(table, columns)
        unlike, unlike_too = (np.asarray(np.isnan(numbers).any(axis=1)) for numbers in (row_numbers, column_numbers))
        result = self.alike(np.nan_to_num(row_numbers), np.nan_to_num(column_numbers))
        result[unlike], result[:, unlike_too] = 0.0, 0.0
        if unlike.any() and unlike_too.any():
            result[np.equal.outer(row_codes, column_codes) & unlike.reshape(-1, 1)] = self._usual(table)
        return result

    def variances(self, factors: Factors, factor: int, levels: IntArray) -> FloatArray:
        table = self._numbers(factors, factor)
        numbers, _ = _described(table, levels)
        return np.where(np.isnan(numbers).any(axis=1), self._usual(table), self.spread(np.nan_to_num(numbers)))

    def _numbers(self, factors: Factors, factor: int) -> FloatArray:
        """Return what is known of levels (L, D), NaN where nothing."""
        line, table = factors.coordinates[factor], factors.features[factor]
        if self.columns:
            assert table is not None
            return table[:, list(self.columns)]
        assert line is not None
        return line[:, None]

    def _usual(self, table: FloatArray) -> float:
        """The variance that levels of known numbers have in the mean; that of features is 1 over seen cells."""
        if self.columns:
            return 1.0
        told = table[~np.isnan(table).any(axis=1)]
        return float(self.spread(told).mean()) if len(told) else 1.0


@dataclass(frozen=True)
class _Line(_OfNumbers):
    """Proportional to coordinates, or to features."""

    straight = True

    def alike(self, row_numbers: FloatArray, column_numbers: FloatArray) -> FloatArray:
        return np.asarray(row_numbers @ column_numbers.T / row_numbers.shape[1])

    def spread(self, numbers: FloatArray) -> FloatArray:
        return np.asarray(np.square(numbers).mean(axis=1))


@dataclass(frozen=True)
class _Bump(_OfNumbers):
    """Near each other by the mean square of differences of coordinates or features."""

    width: float = 1.0

    def alike(self, row_numbers: FloatArray, column_numbers: FloatArray) -> FloatArray:
        if row_numbers.shape[1] == 1:
            squares = np.subtract.outer(row_numbers[:, 0], column_numbers[:, 0]) ** 2
        else:  # without an array of all differences
            squares = np.square(row_numbers).sum(axis=1)[:, None] - 2 * row_numbers @ column_numbers.T
            squares += np.square(column_numbers).sum(axis=1)
        return np.asarray(np.exp(-0.5 * np.maximum(squares, 0.0) / (row_numbers.shape[1] * self.width**2)))


#: The same level or not; on one line of coordinates; near each other on it.
SAME, LINE, BUMP = LevelKernel("same"), _Line("line"), _Bump("curve", width=BUMP_WIDTH)


def feature_kernels(columns: tuple[int, ...], alone: bool = False) -> tuple[LevelKernel, ...]:
    """Return the kernels of some features together: proportional to them, and near each other."""
    title = f"feature {columns[0]}" if len(columns) == 1 else "features"
    return _Line(f"{title} line", columns, alone), _Bump(f"{title} curve", columns, alone)


def _described(table: FloatArray, levels: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the numbers (N, D) of levels (N,), NaN for those past the last, and codes that are one for all of them."""
    codes = np.where((levels >= 0) & (levels < len(table)), levels, len(table))
    return np.concatenate([table, np.full((1, table.shape[1]), np.nan)])[codes], codes
