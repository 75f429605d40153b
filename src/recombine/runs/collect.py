"""One Parquet table out of many run folders: derived, so it can be deleted at any time."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.runs.experiment import Experiment
from recombine.runs.store import Run, Store
from recombine.tables.table import Column, Table

#: The one metadata entry of a table file.
ENTRY = "recombine"


def collect(store: Store, experiment: Experiment, scale: str = "quick") -> Table:
    """Return the rows of every finished unit of a scale, in the order of the grid.

    Each row carries its unit's ``key`` and setting; where a row has a value of the same name, that one counts. What it
    does not have is missing (NaN or None).

    Examples
    --------
    >>> import tempfile
    >>> from recombine.runs import grid
    >>> store = Store(tempfile.mkdtemp())
    >>> experiment = Experiment("squares", len, quick=grid(x=[1, 2]), full=[])
    >>> for unit in experiment.units("quick"):
    ...     _ = store.write(unit, [{"square": unit.setting["x"] ** 2}], {})
    >>> collect(store, experiment)["square"]
    array([1, 4])
    """
    runs = read_all(store, experiment, scale)
    rows = [{"key": run.key, **run.spec["setting"], **row} for run in runs for row in run.rows]
    names = dict.fromkeys(name for row in rows for name in row)
    return Table({name: _column([row.get(name) for row in rows]) for name in names})


def read_all(store: Store, experiment: Experiment, scale: str = "quick") -> list[Run]:
    """Return the finished runs of a scale, checked, in the order of the grid."""
    runs = (store.read(unit.key) for unit in experiment.units(scale))
    return [run for run in runs if run is not None]


def _column(values: list[Any]) -> Column:
    kinds = {type(value) for value in values}
    if kinds == {bool} or kinds == {int}:
        return np.array(values)
    if kinds <= {int, float, type(None)}:
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    if kinds <= {bool, type(None)}:
        return np.array(values, dtype=object)
    plain = (str, type(None))
    return np.array([value if isinstance(value, plain) else json.dumps(value) for value in values], dtype=object)


def save_table(table: Table, path: str | Path, record: dict[str, Any]) -> None:
    """Write a table as Parquet through DuckDB, with a record in its metadata.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "slopes.parquet"
    >>> save_table(Table({"slope": [0.5, np.nan], "loss": ["hinge", "squared"]}), path, {"scale": "quick"})
    >>> load_table(path)
    slope  loss
    0.5    hinge
    nan    squared
    """
    import duckdb

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with duckdb.connect() as connection:
        connection.register("collected", {name: _scannable(table[name]) for name in table.columns})
        metadata = _quoted(json.dumps(record))
        connection.execute(
            f"COPY collected TO {_quoted(str(partial))} (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{{ENTRY}: {metadata}}})"
        )
    partial.replace(target)


def _scannable(values: Column) -> Column:
    # DuckDB would turn an array of fixed-width text into an enumeration type.
    return values.astype(object) if values.dtype.kind in "US" else values.copy()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def load_table(path: str | Path) -> Table:
    """Return a table written by `save_table`; missing numbers come back as NaN, other missing values as None."""
    import duckdb

    if not Path(path).is_file():
        raise InputError(f"there is no table at {path}; run the experiment and collect it first")
    with duckdb.connect() as connection:
        columns = connection.execute(f"SELECT * FROM read_parquet({_quoted(str(path))})").fetchnumpy()
    return Table({name: _filled(values) for name, values in columns.items()})


def _filled(values: Any) -> Column:
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    kind, missing = (float, np.nan) if values.dtype.kind in "fiu" else (object, None)
    filled = np.array(values.data, dtype=kind)
    filled[np.ma.getmaskarray(values)] = missing
    return filled
