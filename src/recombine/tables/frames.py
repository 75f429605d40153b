"""Any table in, a lazy frame out: files through DuckDB, dataframes through narwhals. Nothing is loaded here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, near_miss
from recombine.table_spec import TableSpec
from recombine.tables.engine import Frame, Reader, Relation, open_file
from recombine.tables.text_files import refuse_duplicates
from recombine.writing import listing, option_text

Found = TypeVar("Found")

#: Conditions on rows in one query: a query inside a query for each of 200 takes half a minute, thousands are too deep.
MAX_CONDITIONS_AT_ONCE = 100


@dataclass(frozen=True, eq=False)
class Source:
    """A table that has not been read yet: its name for messages, its columns, and frames of those asked for.

    Inside a frame columns go by keys (``c0``, ``c1``, ...), so that any name a user chose is safe in any engine: write
    ``source.col(name)`` in queries. Kinds are ``text``, ``flag``, ``integer``, ``number``, ``date`` and ``other``; a
    text file has no types, so there a kind says what all values of the column could be read as, and values are text.

    Examples
    --------
    >>> import pandas as pd
    >>> source = open_table(pd.DataFrame({"a.b": ["x", "y"], "mass": [1.5, 2.0]}))
    >>> source.columns, source.kind("mass"), source.read(["a.b"])["a.b"].tolist()
    (('a.b', 'mass'), 'number', ['x', 'y'])
    """

    reader: Reader
    name: str
    keys: dict[str, str]
    _known: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the table's order."""
        return tuple(self.keys)

    @cached_property
    def frame(self) -> Any:
        """The narwhals frame of these columns, under their keys."""
        return self.reader.pick(self.keys)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column; of a text file each costs a look at all rows."""
        return {name: self.kind(name) for name in self.columns}

    def kind(self, column: str) -> str:
        """Return the kind of one column."""
        return self.look([column])[column]

    def look(self, columns: Iterable[str]) -> dict[str, str]:
        """Return the kinds of several columns, found in one pass."""
        names = list(columns)
        new = [name for name in names if name not in self._known]
        if new:
            self._known.update(self._guarded(lambda: self.reader.kinds(new)))
        return {name: self._known[name] for name in names}

    def only(self, columns: Iterable[str]) -> Source:
        """Return the same table with these columns alone: no others are read."""
        keys = {name: f"c{index}" for index, name in enumerate(dict.fromkeys(columns))}
        return Source(self.reader, self.name, keys, self._known)

    def kept(self, columns: Iterable[str]) -> Source:
        """Return the same with these columns alone, parsed once where that would happen anew with each query."""
        subset = self.only(columns)
        reader = self._guarded(lambda: subset.reader.keep(subset.keys))
        return Source(reader, self.name, subset.keys, self._known)

    def col(self, column: str) -> Any:
        """Return the narwhals expression of a column."""
        import narwhals as nw

        return nw.col(self.keys[column])

    def has_value(self, column: str) -> Any:
        """Return the condition that a row has a value of a column."""
        present = ~self.col(column).is_null()
        if self.reader.typed and self.kind(column) == "number":
            return present & ~self.col(column).is_nan()
        return present

    def rows_with(self, columns: Sequence[str]) -> Any:
        """Return the frame without rows that lack a value of one of ``columns``."""
        frame = self.frame
        for start in range(0, len(columns), MAX_CONDITIONS_AT_ONCE):
            names = columns[start : start + MAX_CONDITIONS_AT_ONCE]
            frame = frame.filter(*[self.has_value(name) for name in names])
        return frame

    def fetch(self, query: Any) -> dict[str, npt.NDArray[Any]]:
        """Run a (small) query on ``frame`` and return its columns as NumPy arrays."""
        return self._guarded(lambda: fetch(query))

    def count_rows(self, query: Any) -> int:
        """Return how many rows a query on ``frame`` has."""
        import narwhals as nw

        return count_of(self.fetch(query.select(nw.len().alias("rows")))["rows"][0])

    def read(self, columns: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
        """Return whole columns as NumPy arrays, by name."""
        subset = self.only(columns)
        columns_read = subset.fetch(subset.frame)
        return {name: columns_read[key] for name, key in subset.keys.items()}

    def require(self, column: str, role: str) -> str:
        """Return ``column`` if the table has it, else raise with the nearest name."""
        if column not in self.keys:
            raise InputError(
                f"{role} {column!r} is not a column of {self.name};{self._meant(column)}{self.other_sheets}"
            )
        return column

    @property
    def other_sheets(self) -> str:
        """Which sheet was read where a workbook has others, and how to have one of those; else nothing."""
        notes = [note for note in self.reader.notes if note.kind == "sheet"]
        cure = "; of a file beside the table, save that sheet as CSV"
        options = [option_text("--sheet", note.values[0]) for note in notes]
        named = [f". Sheet {note.column} was read, not {listing(note.values, 4)}: say " for note in notes]
        return "".join(f"{sheets}{option}{cure}" for sheets, option in zip(named, options, strict=True))

    def _meant(self, column: str) -> str:
        """Say which column was meant, one of which a comma cut this piece off or the nearest, and which there are."""
        for name in self.keys:
            if "," in name and column in [piece.strip() for piece in name.split(",")]:
                written = '"' + name.replace('"', '""') + '"'
                quotes = f"A name with a comma in it is written in CSV quotes: '{written}'."
                return f" did you mean {name!r}? {quotes} Columns: {listing(self.keys)}"
        return near_miss(column, self.keys, "Columns:")

    def _guarded(self, work: Callable[[], Found]) -> Found:
        import duckdb

        try:
            return work()
        except duckdb.Error as error:
            raise InputError(f"{self.name} cannot be read as a table: {self.reader.reason(error)}") from None


def open_table(data: object, spec: TableSpec | None = None) -> Source:
    """Open a file of any kind in `recombine.formats` or any dataframe narwhals knows, without reading its rows.

    ``spec`` says which table it is, where a file holds several.

    Examples
    --------
    >>> import pandas as pd
    >>> open_table(pd.DataFrame({"colour": ["red"], "mass": [1.5]})).kinds
    {'colour': 'text', 'mass': 'number'}
    """
    if isinstance(data, str | Path):
        return _source(open_file(Path(data), spec), Path(data).name)
    return _source(_open_frame(data), "the table")


def _open_frame(data: object) -> Reader:
    import narwhals as nw

    if isinstance(data, dict):  # what a data.frame of R is in a Python without pandas
        return Relation(_relation_of(data))
    if hasattr(data, "iloc"):  # pandas alone allows repeated names
        refuse_duplicates([str(name) for name in getattr(data, "columns", [])], "the table")
    try:
        frame: Any = nw.from_native(data)
    except TypeError:
        raise InputError(
            f"a {type(data).__name__} is not a table; pass a CSV or Parquet path, a dict of columns, or a pandas, "
            "polars, pyarrow, DuckDB, Dask or PySpark dataframe"
        ) from None
    if hasattr(data, "fetchnumpy"):
        return Relation(data)
    return Frame(frame)


def _relation_of(data: dict[Any, Any]) -> Any:
    """Return a dict of columns of one length as a relation."""
    import duckdb

    columns = {str(name): np.asarray(values) for name, values in data.items()}
    if len({values.shape for values in columns.values()}) != 1 or any(values.ndim != 1 for values in columns.values()):
        lengths = listing([f"{name} ({np.size(values)})" for name, values in columns.items()], 8) or "none"
        raise InputError(f"a dict is a table where all its columns are lists of one length, and there are {lengths}")
    return duckdb.sql("select * from columns")


def _source(reader: Reader, name: str) -> Source:
    columns = reader.columns
    unnamed = [column for column in columns if not isinstance(column, str)]
    if unnamed:
        raise InputError(f"{name} has a column named {unnamed[0]!r}, which is not text; rename the columns")
    if not columns:
        raise InputError(f"{name} has no columns; it needs one column per factor")
    return Source(reader, name, {column: f"c{index}" for index, column in enumerate(columns)})


def fetch(frame: Any) -> dict[str, npt.NDArray[Any]]:
    """Run a (small) narwhals query and return its columns as NumPy arrays.

    DuckDB hands over NumPy itself, so that reading a file needs neither pandas nor pyarrow.
    """
    native = frame.to_native()
    if hasattr(native, "fetchnumpy"):
        return _fetched(native)
    collected = frame.collect() if hasattr(frame, "collect") else frame
    return {name: _plain(_array(collected[name])) for name in collected.columns}


def _array(series: Any) -> Any:
    """Return a narwhals series as an array; older versions of pyarrow cannot do that with dictionaries of polars."""
    native = series.to_native()
    inner = getattr(getattr(native, "type", None), "index_type", None)
    return series.to_numpy() if inner is None else native.cast(native.type.value_type).to_numpy()


def _fetched(relation: Any) -> dict[str, npt.NDArray[Any]]:
    """Return a DuckDB relation as arrays; of enumerations the numbers come over, and each text is made once."""
    types = dict(zip(relation.columns, relation.types, strict=True))
    texts = {name: dtype.children[0][1] for name, dtype in types.items() if dtype.id == "enum"}
    if texts:
        expressions = [f'enum_code("{name}") AS "{name}"' if name in texts else f'"{name}"' for name in types]
        relation = relation.project(", ".join(expressions))
    arrays = relation.fetchnumpy()
    return {name: _named(values, texts[name]) if name in texts else _plain(values) for name, values in arrays.items()}


def _named(codes: Any, texts: list[str]) -> npt.NDArray[Any]:
    """Return the texts of ``codes`` (N,), None where those are masked."""
    names = np.array([*texts, None], dtype=object)
    return np.asarray(names[np.ma.filled(np.ma.asarray(codes).astype(np.int64), len(texts))])


def _plain(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        masked: Any = values
        if values.dtype.kind in "iuf":
            values = masked.astype(float).filled(np.nan)
        else:  # a masked array fills with None as "the default", which is a question mark
            values = np.ma.getdata(masked).astype(object)
            values[np.ma.getmaskarray(masked)] = None
    array = np.asarray(values)
    # NumPy turns nanoseconds into bare integers where microseconds become datetimes.
    return array.astype("datetime64[us]") if array.dtype.kind == "M" else array


def count_of(value: Any) -> int:
    """Return a count that an engine hands back: over no rows at all a sum may be missing."""
    return 0 if value is None or np.isnan(value) else int(value)
