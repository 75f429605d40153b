"""Factor columns as users hold them (arrays of numbers or texts, any eager dataframe) to cells and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from recombine.cells.arrays import BoolArray, IntArray
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

    def rows(self, chosen: BoolArray) -> GivenColumn:
        """Return the column of the chosen rows (N,), with the values that they have."""
        positions, where = np.unique(self.where[chosen], return_inverse=True)
        values = [self.values[position] for position in positions]
        return GivenColumn(values, np.asarray(where.reshape(-1), dtype=np.int64))


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
        """Return columns of N rows as cells (N, C); levels that were never seen have the numbers past the last.

        A value that is no level but is written like one is that level: ``"1"`` in a text file, 1 in an array.
        """
        pairs = zip(self.levels, columns, strict=True)
        codes = [np.array(_codes_of(levels, column.values), dtype=np.int64)[column.where] for levels, column in pairs]
        return np.stack(codes, axis=1)

    def new_values(self, columns: Sequence[GivenColumn]) -> list[list[Any]]:
        """Return the values of each column that are no levels, in the order of their codes."""
        unseen = []
        for levels, column in zip(self.levels, columns, strict=True):
            coded = sorted(zip(_codes_of(levels, column.values), range(len(column.values)), strict=True))
            unseen.append([column.values[position] for code, position in coded if code >= len(levels)])
        return unseen

    def text(self, cell: Sequence[int] | IntArray, values: Sequence[object] | None = None) -> str:
        """Return one cell as ``"colour='red', shape='cube'"``; ``values`` name levels that were never seen."""
        return ", ".join(self.level(factor, int(code), values) for factor, code in enumerate(cell))

    def level(self, factor: int, code: int, values: Sequence[object] | None = None) -> str:
        """Return one level as ``"colour='red'"``."""
        levels = self.levels[factor]
        value = levels[code] if code < len(levels) else "?" if values is None else values[factor]
        return f"{self.names[factor]}={level_text(value)!r}"


def _codes_of(levels: Sequence[Any], values: Sequence[Any]) -> list[int]:
    """Return the codes of distinct values among levels; those of values that are no levels follow."""
    code_of = {level: code for code, level in enumerate(levels)}
    written: dict[str, int | None] = {}
    for code, level in enumerate(levels):
        text = level_text(level)
        written[text] = None if text in written else code  # of several levels that are written alike it is none
    codes: list[int] = []
    unseen = len(levels)
    for value in values:
        match = code_of[value] if value in code_of else written.get(level_text(value))
        codes.append(unseen if match is None else match)
        unseen += match is None
    return codes


def given_columns(
    estimator: BaseEstimator, X: Any, *, reset: bool, missing: str = "refuse"
) -> tuple[list[GivenColumn], tuple[str, ...]]:
    """Return the columns of ``X`` (N, C) and their names, which ``reset`` learns; missing values are as asked."""
    if _is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if not X.shape[0]:
            raise InputError(f"found array with 0 sample(s) (shape={tuple(X.shape)}) while a minimum of 1 is required")
        source = open_table(X)
        table = source.read(source.columns)
        columns, names = list(table.values()), tuple(table)
    else:
        array = np.array(X, dtype=object) if isinstance(X, list | tuple) and len(X) else X
        allowed: Any = "allow-nan" if missing == "level" else True
        checked = validate_data(estimator, array, reset=reset, dtype=None, ensure_all_finite=allowed)
        columns = list(checked.T)
        given_names = getattr(estimator, "feature_names_in_", None)
        numbered = (f"column {number + 1}" for number in range(len(columns)))
        names = tuple(numbered if given_names is None else given_names)
    return [given_column(name, column, missing) for name, column in zip(names, columns, strict=True)], names


def _is_frame(X: Any) -> bool:
    """Say whether X is a table with named columns, and refuse one whose rows are not there yet."""
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(X) or nw.dependencies.is_dask_dataframe(X):
        raise InputError(f"X is a {type(X).__name__}, whose rows are not read yet; collect (or compute) it first")
    if not nw.dependencies.is_into_dataframe(X):
        return False
    # scikit-learn takes columns that are numbered instead of named, as pandas makes them of arrays.
    return all(isinstance(name, str) for name in nw.from_native(X, eager_only=True).columns)


def given_column(name: str, column: npt.NDArray[Any], missing: str = "refuse") -> GivenColumn:
    """Return a column (N,) by its distinct values; where one is missing, say in which row, or make it a level None.

    Examples
    --------
    >>> given_column("colour", np.array(["red", None], dtype=object))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: Input contains NaN: 'colour' is missing in row 1; leave such rows out, or pass
        missing='level'
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
    absent = [position for position, value in enumerate(given.values) if is_nothing(value)]
    if not absent:
        return given
    if missing == "level":
        values = [value for value in given.values if not is_nothing(value)]
        position_of = np.cumsum([not is_nothing(value) for value in given.values]) - 1
        position_of[absent] = len(values)
        return GivenColumn([*values, None], np.asarray(position_of[given.where], dtype=np.int64))
    row = int(np.flatnonzero(np.isin(given.where, absent))[0])
    raise InputError(
        f"Input contains NaN: {name!r} is missing in row {row}; leave such rows out, or pass missing='level'"
    )


def _sorted(values: list[Any]) -> list[Any]:
    """Sort levels, so that the order of rows is no matter; of several types each by itself."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))
