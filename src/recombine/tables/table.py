"""A small immutable table of named columns: what the package hands back, ready for any dataframe library."""

from __future__ import annotations

import csv
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, missing_package, near_miss
from recombine.output_files import path_beside
from recombine.writing import plural, printable

Column = npt.NDArray[Any]


class Table:
    """Named columns of equal length.

    Parameters
    ----------
    columns : mapping of str to array of shape (N,)

    Examples
    --------
    >>> table = Table({"cell": ["a", "b"], "leverage": [1.0, 2.5]})
    >>> table["leverage"].max(), len(table)
    (np.float64(2.5), 2)
    >>> table
    cell  leverage
    a     1.0
    b     2.5
    """

    def __init__(self, columns: Mapping[str, npt.ArrayLike]) -> None:
        self._columns: dict[str, Column] = {}
        for name, values in columns.items():
            array = np.array(values)
            array.flags.writeable = False
            self._columns[name] = array
        lengths = {name: len(values) for name, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns differ in length: {lengths}; give one value per row in each")

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Return rows as a table; every row must have the same keys.

        Examples
        --------
        >>> Table.from_rows([{"depth": 1, "slope": 0.7}, {"depth": 2, "slope": 0.6}])
        depth  slope
        1      0.7
        2      0.6
        """
        listed = list(rows)
        if not listed:
            return cls({})
        names = list(listed[0])
        odd = next((row for row in listed if list(row) != names), None)
        if odd is not None:
            raise InputError(f"a row has the keys {list(odd)} and the first one {names}; give every row the same keys")
        return cls({name: [row[name] for row in listed] for name in names})

    @property
    def columns(self) -> list[str]:
        """Column names in order."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            raise InputError(f"{name!r} is not a column;{near_miss(name, self._columns, 'Columns:')}")
        return self._columns[name]

    def where(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.integer]) -> Table:
        """Return the rows where a mask (N,) is true, or those of the given numbers."""
        return Table({name: values[rows] for name, values in self._columns.items()})

    def only(self, **values: Any) -> Table:
        """Return the rows whose columns have the given values; an underscore in a name stands for a space.

        Examples
        --------
        >>> rows = Table({"train loss": [0.1, 0.2], "depth": [1, 2]})
        >>> rows.only(depth=2, train_loss=0.2)
        train loss  depth
        0.2         2
        """
        return self.where(np.asarray(self._equal(values).all(axis=0)))

    def but(self, **values: Any) -> Table:
        """Return the rows in which no column has the given value.

        Examples
        --------
        >>> Table({"set": ["both", "asymmetric"], "p": [2, 1]}).but(set="asymmetric")
        set   p
        both  2
        """
        return self.where(~np.asarray(self._equal(values).any(axis=0)))

    def _equal(self, values: dict[str, Any]) -> npt.NDArray[np.bool_]:
        names = [name if name in self._columns else name.replace("_", " ") for name in values]
        equal = [self[name] == value for name, value in zip(names, values.values(), strict=True)]
        return np.array(equal, dtype=bool).reshape(len(values), len(self))

    def by(self, *names: str) -> dict[Any, Table]:
        """Return the rows by the value of a column, or by the values of several, in order of appearance.

        Examples
        --------
        >>> rows = Table({"depth": [1, 2, 1], "slope": [0.6, 0.5, 0.8]})
        >>> {depth: part["slope"].tolist() for depth, part in rows.by("depth").items()}
        {1: [0.6, 0.8], 2: [0.5]}
        """
        rows: dict[Any, list[int]] = {}
        for row, key in enumerate(zip(*(self[name].tolist() for name in names), strict=True)):
            rows.setdefault(key[0] if len(names) == 1 else key, []).append(row)
        return {key: self.where(np.array(indices)) for key, indices in rows.items()}

    def paired(self, other: Table, column: str, on: str | Sequence[str] = "seed") -> tuple[Column, Column]:
        """Return a column of both tables, matched by the values of ``on``; rows without a partner are left out.

        Examples
        --------
        >>> one, two = Table({"seed": [0, 1], "r2": [0.1, 0.2]}), Table({"seed": [1, 2], "r2": [0.5, 0.6]})
        >>> one.paired(two, "r2")
        (array([0.2]), array([0.5]))
        """
        names = [on] if isinstance(on, str) else list(on)
        lookups = [
            dict(zip(zip(*(t[name].tolist() for name in names), strict=True), t[column], strict=True))
            for t in (self, other)
        ]
        shared = [key for key in lookups[0] if key in lookups[1]]
        first, second = (np.array([values[key] for key in shared]) for values in lookups)
        return first, second

    def head(self, count: int = 10) -> Table:
        """Return the first ``count`` rows."""
        return Table({name: values[:count] for name, values in self._columns.items()})

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield rows, so that ``pandas.DataFrame(table)`` reads them."""
        return self.rows()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dictionary of plain Python values."""
        plain = {name: values.tolist() for name, values in self._columns.items()}
        for index in range(len(self)):
            yield {name: values[index] for name, values in plain.items()}

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame (needs pandas); ``polars.DataFrame(table)`` does without."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise missing_package(error) from None
        return pandas.DataFrame({name: np.array(values) for name, values in self._columns.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the columns to any library that reads Arrow: ``polars.DataFrame(table)``, ``pyarrow.table(table)``."""
        import duckdb

        if not self._columns:
            raise InputError("the table has no columns, so that there is nothing to hand over")
        # A text of numpy would become a category, and a date without a time is one that DuckDB does not read.
        kinds = {"U": np.dtype(object), "M": np.dtype("datetime64[us]")}
        columns = {name: col.astype(kinds.get(col.dtype.kind, col.dtype)) for name, col in self._columns.items()}
        with duckdb.connect() as connection:
            connection.register("columns", columns)
            return connection.sql("select * from columns").__arrow_c_stream__(requested_schema)

    def to_csv(self, path: str | Path, *, safe: bool = False) -> None:
        """Write the table as CSV with a header line; see `write_csv` for ``safe``."""
        write_csv(path, self.columns, [values.tolist() for values in self._columns.values()], safe=safe)

    def _texts(self, limit: int = 20) -> list[list[str]]:
        return [
            list(map(_text, self.columns)),
            *([_text(value) for value in row.values()] for row in self.head(limit).rows()),
        ]

    def __repr__(self) -> str:
        texts = self._texts()
        widths = [max(len(row[column]) for row in texts) for column in range(len(self.columns))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in texts
        ]
        if len(self) > len(texts) - 1:
            lines.append(f"... {plural(len(self) - len(texts) + 1, 'more row')}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self._texts()
        heading = "".join(f"<th>{html.escape(text)}</th>" for text in head)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in body)
        more = f"<p>{plural(len(self) - len(body), 'more row')}</p>" if len(self) > len(body) else ""
        return f"<table><thead><tr>{heading}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) and value != round(value, 6) else printable(str(value))


def write_csv(path: str | Path, names: Sequence[str], columns: Sequence[Sequence[Any]], *, safe: bool = False) -> None:
    """Write columns as CSV with a header line; if ``safe``, no text is a formula to a spreadsheet.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "levels.csv"
    >>> write_csv(path, ["level", "effect"], [["=1+1", "-2"], [-0.5, 1.0]], safe=True)
    >>> print(path.read_text().strip())
    level,effect
    '=1+1,-0.5
    -2,1.0
    """
    written = [list(map(_no_formula, column)) for column in columns] if safe else columns
    with path_beside(path) as draft, draft.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(map(_no_formula, names) if safe else names)
        writer.writerows(zip(*written, strict=True))


def _no_formula(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run; a number is none, whatever its sign."""
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
