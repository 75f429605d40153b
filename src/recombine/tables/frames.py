"""Any table in, a lazy frame out: files through DuckDB, dataframes through narwhals. Nothing is loaded here."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, listing, near_miss
from recombine.tables.text_files import broken_line, delimiter_of, refuse_duplicates

if TYPE_CHECKING:
    import narwhals as nw

#: What counts as missing in a text file besides an empty field.
MISSING_WORDS = ["", "NA", "NaN", "nan"]

#: Bytes under which a text file is read twice: once for its types, once for its rows.
SMALL_FILE = 200_000_000

_CSV = {".csv", ".tsv", ".txt", ".gz"}
_PARQUET = {".parquet", ".pq"}
_JSON = {".jsonl", ".ndjson"}


@dataclass(frozen=True, eq=False)
class Source:
    """A table that has not been read yet: a narwhals frame, a name for messages, and the kind of each column.

    Kinds are ``text``, ``flag``, ``integer``, ``number``, ``date`` and ``other``.
    """

    frame: nw.LazyFrame[Any] | nw.DataFrame[Any]
    name: str
    kinds: dict[str, str]
    connection: Any = None  # keeps the DuckDB connection of a file alive as long as its frame

    def require(self, column: str, role: str) -> str:
        """Return ``column`` if the table has it, else raise with the nearest name."""
        if column not in self.kinds:
            raise InputError(
                f"{role} {column!r} is not a column of {self.name};{near_miss(column, self.kinds)} "
                f"Columns: {listing(self.kinds)}"
            )
        return column


def open_table(data: object) -> Source:
    """Open a CSV/TSV/Parquet/JSON-lines path or any dataframe narwhals knows, without reading its rows.

    Examples
    --------
    >>> import pandas as pd
    >>> open_table(pd.DataFrame({"colour": ["red"], "mass": [1.5]})).kinds
    {'colour': 'text', 'mass': 'number'}
    """
    if isinstance(data, str | Path):
        return _open_file(Path(data))
    import narwhals as nw

    if hasattr(data, "iloc"):  # pandas alone allows repeated names
        refuse_duplicates([str(name) for name in getattr(data, "columns", [])], "the table")
    try:
        frame: Any = nw.from_native(data)
    except TypeError:
        raise InputError(
            f"a {type(data).__name__} is not a table; pass a CSV or Parquet path, or a pandas, polars, pyarrow, "
            "DuckDB, Dask or PySpark dataframe"
        ) from None
    return _source(frame, "the table")


def _open_file(path: Path) -> Source:
    import duckdb
    import narwhals as nw

    _check_path(path)
    connection = duckdb.connect()
    delimiter = delimiter_of(path) if path.suffix.lower() in _CSV else ""
    try:
        frame = nw.from_native(_read(connection, path, delimiter))
        return _source(frame, path.name, connection)
    except duckdb.Error as error:
        reason = (delimiter and broken_line(path, delimiter)) or _first_lines(error)
        raise InputError(f"{path.name} cannot be read as a table: {reason}") from None


def _check_path(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"{path} does not exist: there is no folder {path.parent}; check the path")
    if not path.exists():
        hint = near_miss(path.name, [entry.name for entry in path.parent.iterdir()])
        raise InputError(f"{path} does not exist;{hint or ' check the path'}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one CSV or Parquet file (or a dataframe)")
    if path.suffix.lower() not in _CSV | _PARQUET | _JSON:
        raise InputError(f"{path.name} is not a CSV, TSV, Parquet or JSON-lines file; save the table as one of these")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty; it needs a header line and rows")


def _read(connection: Any, path: Path, delimiter: str) -> Any:
    name = glob.escape(str(path))  # the engine would read every file that matches a name with a star in it
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        return connection.read_parquet(name, hive_partitioning=False)
    if suffix in _JSON:
        return connection.read_json(name, hive_partitioning=False)
    # Look at every row before choosing types, unless the file is so large that a second pass would hurt.
    sample = -1 if path.stat().st_size < SMALL_FILE else 1_000_000
    dialect = {"delimiter": delimiter, "quotechar": '"', "escapechar": '"', "comment": "", "skiprows": 0}
    return connection.read_csv(
        name, header=True, na_values=MISSING_WORDS, sample_size=sample, hive_partitioning=False, **dialect
    )


def _source(frame: Any, name: str, connection: Any = None) -> Source:
    schema = frame.collect_schema()
    unnamed = [column for column in schema if not isinstance(column, str)]
    if unnamed:
        raise InputError(f"{name} has a column named {unnamed[0]!r}, which is not text; rename the columns")
    kinds = {column: _kind(dtype) for column, dtype in schema.items()}
    if not kinds:
        raise InputError(f"{name} has no columns; it needs one column per factor")
    return Source(frame, name, kinds, connection)


def _kind(dtype: Any) -> str:
    import narwhals as nw

    if dtype == nw.Boolean:
        return "flag"
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "date"
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return "text"
    return "other"


def fetch(frame: Any) -> dict[str, npt.NDArray[Any]]:
    """Run a (small) narwhals query and return its columns as NumPy arrays.

    DuckDB hands over NumPy itself, so that reading a file needs neither pandas nor pyarrow.
    """
    native = frame.to_native()
    if hasattr(native, "fetchnumpy"):
        import duckdb

        try:
            return {name: _plain(values) for name, values in native.fetchnumpy().items()}
        except duckdb.Error as error:
            raise InputError(f"the table cannot be read: {_first_lines(error)}") from None
    collected = frame.collect() if hasattr(frame, "collect") else frame
    return {name: _plain(collected[name].to_numpy()) for name in collected.columns}


def _plain(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "codes"):  # DuckDB returns enumerations as pandas categoricals
        return np.asarray(values.astype(object))
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
    """Return a count that an engine hands back: over no rows at all a sum may be missing.

    Examples
    --------
    >>> count_of(np.float64(3.0)), count_of(np.nan), count_of(None)
    (3, 0, 0)
    """
    return 0 if value is None or np.isnan(value) else int(value)


def _first_lines(error: Exception) -> str:
    """Say in one line what an engine says in many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]
