"""Factor columns as users hold them (arrays of numbers or texts, any eager dataframe) to cells and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.tables.frames import open_table
from recombine.tables.numbers import is_nothing, level_text


@dataclass(frozen=True, eq=False)
class GivenColumn:
    """One column as it was given: its distinct values, and for each row (N,) the place of its value among them."""

    values: list[Any]
    where: IntArray

    def at(self, row: int) -> Any:
        """Return the value in a row."""
        return self.values[self.where[row]]


@dataclass(frozen=True, eq=False)
class FactorColumns:
    """The factor columns of the training rows: names, and the sorted levels whose positions code a cell.

    Examples
    --------
    >>> columns = [given_column("a", np.array(["y", "x"])), given_column("year", np.array([2014, 2013]))]
    >>> table = FactorColumns.learned(columns, ["a", "year"])
    >>> table.levels, table.codes(columns).tolist()
    ((['x', 'y'], [2013, 2014]), [[1, 1], [0, 0]])
    >>> table.text([1, 0])
    "a='y', year='2013'"
    """

    names: tuple[str, ...]
    levels: tuple[list[Any], ...]

    @classmethod
    def learned(cls, columns: Sequence[GivenColumn], names: Sequence[str]) -> FactorColumns:
        """Return the levels of training columns."""
        return cls(tuple(names), tuple(_sorted(column.values) for column in columns))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each factor, and one more for all that were never seen."""
        return tuple(len(levels) + 1 for levels in self.levels)

    def codes(self, columns: Sequence[GivenColumn]) -> IntArray:
        """Return columns of N rows as cells (N, C); a level that was never seen has the number past the last."""
        coded = []
        for levels, column in zip(self.levels, columns, strict=True):
            code_of = {level: code for code, level in enumerate(levels)}
            numbers = np.array([code_of.get(value, len(levels)) for value in column.values], dtype=np.int64)
            coded.append(numbers[column.where])
        return np.stack(coded, axis=1)

    def text(self, cell: Sequence[int] | IntArray, values: Sequence[object] | None = None) -> str:
        """Return one cell as ``"colour='red', shape='cube'"``; ``values`` name levels that were never seen."""
        return ", ".join(self.level(factor, int(code), values) for factor, code in enumerate(cell))

    def level(self, factor: int, code: int, values: Sequence[object] | None = None) -> str:
        """Return one level as ``"colour='red'"``."""
        levels = self.levels[factor]
        value = levels[code] if code < len(levels) else "?" if values is None else values[factor]
        return f"{self.names[factor]}={level_text(value)!r}"


def given_columns(estimator: BaseEstimator, X: Any, *, reset: bool) -> tuple[list[GivenColumn], tuple[str, ...]]:
    """Return the columns of ``X`` (N, C) and their names, which ``reset`` learns; missing values are refused."""
    if _is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if not X.shape[0]:
            raise InputError(f"found array with 0 sample(s) (shape={tuple(X.shape)}) while a minimum of 1 is required")
        source = open_table(X)
        table = source.read(source.columns)
        columns, names = list(table.values()), tuple(table)
    else:
        array = np.array(X, dtype=object) if isinstance(X, list | tuple) and len(X) else X
        checked = validate_data(estimator, array, reset=reset, dtype=None)
        columns = list(checked.T)
        given_names = getattr(estimator, "feature_names_in_", None)
        numbered = (f"column {number + 1}" for number in range(len(columns)))
        names = tuple(numbered if given_names is None else given_names)
    return [given_column(name, column) for name, column in zip(names, columns, strict=True)], names


def _is_frame(X: Any) -> bool:
    """Say whether X is a table with named columns, and refuse one whose rows are not there yet."""
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(X) or nw.dependencies.is_dask_dataframe(X):
        raise InputError(f"X is a {type(X).__name__}, whose rows are not read yet; collect (or compute) it first")
    if not nw.dependencies.is_into_dataframe(X):
        return False
    # scikit-learn takes columns that are numbered instead of named, as pandas makes them of arrays.
    return all(isinstance(name, str) for name in nw.from_native(X, eager_only=True).columns)


def given_column(name: str, column: npt.NDArray[Any]) -> GivenColumn:
    """Return a column (N,) by its distinct values, or say in which row it is missing.

    Examples
    --------
    >>> given_column("colour", np.array(["red", None], dtype=object))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: Input contains NaN: 'colour' is missing in row 1; leave such rows out, or write a level
        for them
    """
    if column.dtype.kind == "O":
        positions: dict[Any, int] = {}
        try:
            codes = [positions.setdefault(value, len(positions)) for value in column.tolist()]
        except TypeError:
            raise InputError(f"{name!r} holds lists or records, which are no levels; write them as texts") from None
        given = GivenColumn(list(positions), np.array(codes, dtype=np.int64))
    else:
        levels, where = np.unique(column, return_inverse=True)
        given = GivenColumn(levels.tolist(), np.asarray(where.reshape(-1), dtype=np.int64))
    missing = [position for position, value in enumerate(given.values) if is_nothing(value)]
    if missing:
        row = int(np.flatnonzero(np.isin(given.where, missing))[0])
        raise InputError(
            f"Input contains NaN: {name!r} is missing in row {row}; leave such rows out, or write a level for them"
        )
    return given


def _sorted(values: list[Any]) -> list[Any]:
    """Sort levels, so that the order of rows is no matter; of several types each by itself."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))
