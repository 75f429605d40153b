"""A small immutable table of named columns: what the package hands back, ready for any dataframe library."""

from __future__ import annotations

import csv
import html
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, listing, near_miss

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

    @property
    def columns(self) -> list[str]:
        """Column names in order."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            raise InputError(
                f"{name!r} is not a column;{near_miss(name, self._columns)} Columns: {listing(self._columns)}"
            )
        return self._columns[name]

    def where(self, mask: npt.NDArray[np.bool_]) -> Table:
        """Return the rows where ``mask`` (N,) is true."""
        return Table({name: values[mask] for name, values in self._columns.items()})

    def head(self, count: int = 10) -> Table:
        """Return the first ``count`` rows."""
        return Table({name: values[:count] for name, values in self._columns.items()})

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dictionary of plain Python values."""
        plain = {name: values.tolist() for name, values in self._columns.items()}
        for index in range(len(self)):
            yield {name: values[index] for name, values in plain.items()}

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame (needs pandas)."""
        import pandas

        return pandas.DataFrame({name: np.array(values) for name, values in self._columns.items()})

    def to_polars(self) -> Any:
        """Return a polars DataFrame (needs polars)."""
        import polars

        return polars.DataFrame({name: values.tolist() for name, values in self._columns.items()})

    def to_csv(self, path: str | Path) -> None:
        """Write the table as CSV with a header line."""
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows(zip(*(values.tolist() for values in self._columns.values()), strict=True))

    def _texts(self, limit: int = 20) -> list[list[str]]:
        return [self.columns, *([_text(value) for value in row.values()] for row in self.head(limit).rows())]

    def __repr__(self) -> str:
        texts = self._texts()
        widths = [max(len(row[column]) for row in texts) for column in range(len(self.columns))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in texts
        ]
        if len(self) > len(texts) - 1:
            lines.append(f"... {len(self) - len(texts) + 1:,} more rows")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self._texts()
        heading = "".join(f"<th>{html.escape(text)}</th>" for text in head)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in body)
        more = f"<p>{len(self) - len(body):,} more rows</p>" if len(self) > len(body) else ""
        return f"<table><thead><tr>{heading}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) and value != round(value, 6) else str(value)
