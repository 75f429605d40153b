"""Tables and views of an SQLite database, by Python's own library: nothing is written, and no view runs for ever."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from recombine.errors import InputError, near_miss
from recombine.formats.cell_texts import cell_text
from recombine.writing import listing

#: Longest time that a table or view is read, and steps of the engine between two looks at the clock.
MAX_SECONDS_ASKED, MAX_STEPS_UNSEEN = 300.0, 100_000


def database_rows(path: Path, sheet: str | None) -> Iterator[list[str]]:
    """Yield the names of the columns and then the rows of one table of a database, as text."""
    for ending in ("-wal", "-journal"):
        beside = path.with_name(path.name + ending)
        if beside.exists() and beside.stat().st_size:
            raise InputError(f"{path.name} is being written ({beside.name} lies beside it); close what writes it first")
    ends = time.monotonic() + MAX_SECONDS_ASKED
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.set_progress_handler(lambda: time.monotonic() > ends, MAX_STEPS_UNSEEN)
            cursor = connection.execute(f"SELECT * FROM {_table(connection, path, sheet)}")
            yield [str(column[0]) for column in cursor.description]
            for row in cursor:
                yield [cell_text(value) for value in row]
    except sqlite3.Error as error:
        late = time.monotonic() > ends
        reason = f"it takes over {MAX_SECONDS_ASKED:.0f} seconds" if late else " ".join(str(error).split())
        raise InputError(f"{path.name} cannot be read as a table: {reason}; save it again, or as CSV") from None


def _table(connection: sqlite3.Connection, path: Path, sheet: str | None) -> str:
    """Return the name of the table that is read, as SQL writes it."""
    query = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"
    kinds = dict(connection.execute(query))
    tables = [name for name, kind in kinds.items() if kind == "table"] or list(kinds)
    if sheet is not None and sheet not in kinds:
        near = near_miss(sheet, kinds, "Tables:")
        raise InputError(f"--sheet {sheet} is no table of {path.name};{near}")
    if sheet is None and len(tables) != 1:
        what = f"holds {len(tables)} tables ({listing(tables)}); name one with --sheet"
        raise InputError(f"{path.name} {what if tables else 'holds no table; write one into it'}")
    return '"' + (sheet or tables[0]).replace('"', '""') + '"'
