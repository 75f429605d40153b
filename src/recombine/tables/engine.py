"""Files through DuckDB: text files as the text they hold, Parquet, Arrow and JSON with the types they declare."""

from __future__ import annotations

import glob
import itertools
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from recombine.errors import InputError
from recombine.formats.recognition import (
    ANNDATA,
    ARROW,
    BY_ENDING,
    DATABASE,
    GZIP,
    JSON,
    PARQUET,
    TEXT,
    WORKBOOK,
    ZIP,
    Format,
    format_of,
)
from recombine.sheets.notes import Note
from recombine.table_spec import TableSpec
from recombine.tables.numbers import kind_of_texts
from recombine.tables.sheet_files import look_through
from recombine.tables.text_files import (
    MISSING_WORDS,
    TextFile,
    broken_line,
    header_names,
    look_at,
    remove_folder,
    scratch_folder,
    written_table,
)
from recombine.writing import listing

#: Bytes under which the columns in use are kept in memory, so that a text file is parsed once.
MAX_CACHED_BYTES = 250_000_000
#: From so many rows on, columns with few values are kept as numbers of these values.
MIN_ROWS_FOR_ENUMS = 200_000
#: Few are at most this number, and each stands in so many rows on average.
MAX_ENUM_VALUES, MIN_ROWS_PER_VALUE = 20_000, 20
#: Bytes under which every row of a JSON file is looked at before types are chosen.
MAX_FULLY_SAMPLED_BYTES = 200_000_000
#: Bytes under which a workbook is read for the names of its columns alone, while somebody waits at a shell.
MAX_BYTES_FOR_NAMES = 1_000_000
#: Brackets that may be open at once in JSON: engines recurse, and a table needs none.
MAX_JSON_DEPTH = 200

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NUMBERS = itertools.count()
#: Types that DuckDB reads out of JSON texts; kept as the texts that were written.
_GUESSED_TYPES = {"DATE", "TIME", "TIMESTAMP", "UUID", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
#: Types that hold several values.
_NESTED = {"list", "struct", "map", "array", "union"}


class Reader:
    """What knows a table before it is read: a file through DuckDB, or a dataframe."""

    typed = True  #: Whether values come with types; where they do not (CSV), every value is the text that was written.
    file: TextFile | None = None  #: The text table that it reads, if it does.

    @property
    def note(self) -> str:
        """What had to be assumed about the file, or nothing."""
        return "" if self.file is None else self.file.note

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was read otherwise than it was written."""
        return () if self.file is None else self.file.notes

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the table's order."""
        raise NotImplementedError

    def keep(self, keys: dict[str, str]) -> Reader:
        """Return a reader of the columns in ``keys`` that can be asked many times: itself, where that is cheap."""
        return self

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return the kind of each named column."""
        raise NotImplementedError

    def pick(self, keys: dict[str, str]) -> Any:
        """Return a narwhals frame of the columns named in ``keys``, each under its key."""
        raise NotImplementedError

    def reason(self, error: Exception) -> str:
        """Say in one line why reading failed."""
        return first_lines(error)


def kind_of_dtype(dtype: Any) -> str:
    """Return the kind of a narwhals data type."""
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


def first_lines(error: Exception) -> str:
    """Say in one line what an engine says in many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]


def open_file(path: Path, spec: TableSpec | None = None) -> Reader:
    """Open a file of any kind in `recombine.formats`; ``spec`` says which of several tables it is that is read."""
    import duckdb
    import narwhals as nw

    entry, sheet = format_of(path), None if spec is None else spec.sheet
    if entry is ZIP or (entry is GZIP and BY_ENDING.get(Path(path.stem).suffix.lower(), TEXT) is not TEXT):
        return _open_packed(path, entry, spec)
    if sheet is not None and not entry.several:
        raise InputError(f"{path.name} holds one table, not sheets; leave --sheet {sheet} out")
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    if entry in (TEXT, GZIP):
        return _Texts(connection, look_at(path) if spec is None else look_through(path, spec.wide, spec.header))
    if entry in (WORKBOOK, DATABASE, ANNDATA):
        named = TableSpec() if spec is None else spec
        outcome = named.outcome if entry is ANNDATA else None
        stamp, log = path.stat(), path.with_name(f"{path.name}-wal")
        key = (stamp.st_size, stamp.st_mtime_ns, log.exists())
        return _Texts(connection, _as_text(path.absolute(), entry, sheet, outcome, (named.wide, named.header), key))
    name = _name_for_engine(path)
    try:
        if entry is PARQUET:
            return Relation(_flat(connection.read_parquet(name, hive_partitioning=False)), connection)
        if entry is ARROW:
            from recombine.formats.arrow_files import arrow_data

            data, scanned = arrow_data(path)
            return Relation(_flat(connection.from_arrow(data)), connection) if scanned else Frame(nw.from_native(data))
        return _open_json(connection, path, name)
    except duckdb.Error as error:
        raise InputError(
            f"{path.name} cannot be read as a table: {first_lines(error)}; write it again, or name it for what it is"
        ) from None


def column_names(path: Path) -> tuple[str, ...]:
    """Return the columns of a file by its header, first line or footer; none of what would have to be read first."""
    entry = format_of(path)
    if entry in (TEXT, GZIP):
        return header_names(path)
    if entry is JSON and path.suffix.lower() != ".json":
        with path.open("rb") as file:
            return tuple(msgspec.json.decode(file.readline(), type=dict[str, Any]))
    if entry not in (PARQUET, ARROW) and path.stat().st_size > MAX_BYTES_FOR_NAMES:
        return ()
    return open_file(path).columns


def _name_for_engine(path: Path) -> str:
    """Return a name in UTF-8, whatever the locale has made of it; of a name with a star the engine would read many.

    The engine takes a leading ~ for the home folder, which the shell has already put in where it is meant.
    """
    name = glob.escape(os.fsencode(path).decode())
    return f".{os.sep}{name}" if name.startswith("~") else name


@lru_cache(maxsize=4)
def _as_text(
    path: Path,
    entry: Format,
    sheet: str | None,
    outcome: str | None,
    layout: tuple[str | None, int | None],
    key: object,
) -> TextFile:
    """Return a table of a workbook, database or AnnData file as text; with the same ``key`` it is not read again."""
    if entry is DATABASE:
        from recombine.formats.databases import database_rows

        return written_table(path, database_rows(path, sheet))
    if entry is ANNDATA:
        from recombine.formats.annotated import annotated_rows

        return written_table(path, annotated_rows(path, outcome))
    from recombine.formats.workbooks import read_workbook
    from recombine.sheets.tidy import tidy

    grid, notes = read_workbook(path, sheet)
    table = tidy(grid, wide=layout[0], header=layout[1])
    rows, told = [table.columns, *table.rows], {"factors": table.factors, "outcome": table.outcome}
    return written_table(path, rows, (*notes, *table.notes), **told)


def _open_packed(path: Path, entry: Format, spec: TableSpec | None) -> Reader:
    """Open the table inside a packed file; what it was unpacked to goes away with what reads it."""
    from recombine.formats.packed import unpack_table

    with scratch_folder() as folder:
        inner = unpack_table(path, entry, folder, None if spec is None else spec.sheet)
        if format_of(inner) in (ZIP, GZIP):
            raise InputError(f"{path.name} holds another packed file; unpack it first")
        reader = open_file(inner, None if spec is None else msgspec.structs.replace(spec, sheet=None))
        weakref.finalize(reader.file or reader, remove_folder, folder)
    return reader


def _open_json(connection: Any, path: Path, name: str) -> Relation:
    _refuse_depth(path)
    options = {"hive_partitioning": False, "maximum_depth": 2}
    if path.stat().st_size < MAX_FULLY_SAMPLED_BYTES:
        options["sample_size"] = -1  # look at every row before choosing types
    relation = connection.read_json(name, **options)
    if all(dtype.id in _NESTED for dtype in relation.types):
        raise InputError(f"{path.name} holds tables inside {listing(relation.columns)}; give a list of records")
    types = {column: str(dtype) for column, dtype in zip(relation.columns, relation.types, strict=True)}
    if set(types.values()) & _GUESSED_TYPES:
        columns = {column: "VARCHAR" if dtype in _GUESSED_TYPES else dtype for column, dtype in types.items()}
        relation = connection.read_json(name, columns=columns, hive_partitioning=False)
    return Relation(_flat(relation), connection)


def _flat(relation: Any) -> Any:
    """Read lists and records as the texts they write: levels are compared, and these cannot be."""
    types = dict(zip(relation.columns, relation.types, strict=True))
    if not any(dtype.id in _NESTED for dtype in types.values()):
        return relation
    expressions = [
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if dtype.id in _NESTED else quoted(name)
        for name, dtype in types.items()
    ]
    return relation.project(", ".join(expressions))


def _refuse_depth(path: Path) -> None:
    """Raise if records nest more deeply than engines can follow: beyond some depth they crash."""
    inside, carried, depth = 0, b"", 0
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            chunk = carried + chunk
            slashes = len(chunk) - len(chunk.rstrip(b"\\"))
            carried = b"\\" * (slashes % 2)
            # Without what is escaped, every second piece between quotes is a text.
            pieces = chunk[: len(chunk) - slashes].replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
            brackets = b"".join(pieces[inside::2]).translate(None, _NO_BRACKETS)
            inside, rounds = (inside + len(pieces) - 1) % 2, 0
            while rounds <= MAX_JSON_DEPTH and (b"{}" in brackets or b"[]" in brackets):
                brackets, rounds = brackets.replace(b"{}", b"").replace(b"[]", b""), rounds + 1
            opened = brackets.count(b"{") + brackets.count(b"[")
            if depth + rounds + opened > MAX_JSON_DEPTH:
                raise InputError(
                    f"{path.name} cannot be read as a table: it opens more than {MAX_JSON_DEPTH} brackets inside one "
                    "another; give flat records"
                )
            depth = max(depth + 2 * opened - len(brackets), 0)


def quoted(name: str) -> str:
    """Return the name of a column as SQL writes it."""
    if "\0" in name:
        raise InputError(f"column {name!r} has a zero character in its name, which ends it too early; rename it")
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, eq=False)
class Relation(Reader):
    """A DuckDB relation with types of its own: a Parquet, Arrow or JSON file, or one that the caller made."""

    relation: Any
    connection: Any = None  # kept alive as long as the relation
    note: str = ""
    notes: tuple[Note, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.relation.columns)

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return the kind of each named column."""
        schema = self.pick({name: f"c{index}" for index, name in enumerate(names)}).collect_schema()
        return dict(zip(names, map(kind_of_dtype, schema.values()), strict=True))

    def pick(self, keys: dict[str, str]) -> Any:
        """Return a frame of the named columns under their keys."""
        import narwhals as nw

        # A column of JSON holds texts beside numbers: take each as text, without the quotes of JSON.
        types = zip(self.relation.columns, self.relation.types, strict=True)
        as_text = {name: " ->> '$'" for name, dtype in types if str(dtype) == "JSON"}
        values = (f"{quoted(name)}{as_text.get(name, '')} AS {key}" for name, key in keys.items())
        return nw.from_native(self.relation.project(", ".join(values)))


@dataclass(frozen=True, eq=False)
class Frame(Reader):
    """A dataframe that narwhals knows."""

    frame: Any

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._schema)

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return dict(self.frame.collect_schema())

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Return the kind of each named column."""
        return {name: kind_of_dtype(self._schema[name]) for name in names}

    def pick(self, keys: dict[str, str]) -> Any:
        """Return a frame of the named columns under their keys."""
        import narwhals as nw

        return self.frame.select(*[nw.col(name).alias(key) for name, key in keys.items()])


@dataclass(frozen=True, eq=False)
class _Texts(Reader):
    """A text file: every value is the text that was written, and a kind is what all of a column could be read as."""

    connection: Any
    file: TextFile = field()  # without the default of the base class
    kept: str = ""
    places: dict[str, str] = field(default_factory=dict)
    few: frozenset[str] = frozenset()
    tables: list[_Texts] = field(default_factory=list)
    typed = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.file.columns

    @cached_property
    def _from(self) -> str:
        """What SQL reads from. The header was read already, so nothing is left that the engine could guess wrong."""
        if self.kept:
            return self.kept
        names = ", ".join(f"'{key}': 'VARCHAR'" for key in self._places.values())
        missing = ", ".join(f"'{word}'" for word in MISSING_WORDS)
        path = _name_for_engine(self.file.readable).replace("'", "''")
        # Engines reserve many times the longest line that they allow, so only wide tables get a longer one.
        longest = f", max_line_size={20 * self.file.longest}" if self.file.longest > 100_000 else ""
        return (
            f"read_csv('{path}', auto_detect=false, header=true, columns={{{names}}}, nullstr=[{missing}], "
            f"delim='{self.file.delimiter}', quote='\"', escape='\"', hive_partitioning=false, "
            f"new_line='{self.file.newline}'{longest})"
        )

    @cached_property
    def _places(self) -> dict[str, str]:
        return self.places or {name: f"c{index}" for index, name in enumerate(self.columns)}

    def keep(self, keys: dict[str, str]) -> _Texts:
        """Parse the columns in use once and keep them, where that takes little memory."""
        for table in self.tables:
            if keys.keys() <= table.places.keys():
                return table
        share = len(keys) / len(self.columns)
        if self.kept or share * self.file.readable.stat().st_size > MAX_CACHED_BYTES:
            return self
        name = f"kept_{next(_NUMBERS)}"
        self.connection.execute(f"CREATE TEMP TABLE {name} AS {self._select(keys)}")
        numbered, few = self._numbered(name, list(keys.values()))
        self.tables.append(_Texts(self.connection, self.file, numbered, dict(keys), few, self.tables))
        return self.tables[-1]

    def _numbered(self, table: str, keys: list[str]) -> tuple[str, frozenset[str]]:
        """Write few texts that stand in many rows once: grouping by their numbers is faster than by themselves.

        Returns the table to read from and the keys of the columns that hold such numbers.
        """
        looks = ", ".join(f"approx_count_distinct({key})" for key in keys)
        rows, *values = self.connection.execute(f"SELECT count(*), {looks} FROM {table}").fetchone()
        max_values = min(MAX_ENUM_VALUES, rows / MIN_ROWS_PER_VALUE)
        few = frozenset(key for key, count in zip(keys, values, strict=True) if count <= max_values)
        if rows < MIN_ROWS_FOR_ENUMS or not few:
            return table, frozenset()
        for key in few:
            distinct = f"SELECT DISTINCT {key} FROM {table} WHERE {key} IS NOT NULL"
            self.connection.execute(f"CREATE TYPE {table}_{key} AS ENUM ({distinct})")
        expressions = ", ".join(f"{key}::{table}_{key} AS {key}" if key in few else key for key in keys)
        self.connection.execute(f"CREATE TEMP TABLE {table}_numbered AS SELECT {expressions} FROM {table}")
        self.connection.execute(f"DROP TABLE {table}")
        return f"{table}_numbered", few

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        # A text that is no number costs an engine many times one that is, so few texts are looked at once each.
        once = [name for name in names if self._places[name] in self.few]
        looks = [f"(SELECT DISTINCT {self._places[name]}::VARCHAR AS v FROM {self.kept})" for name in once]
        counts = [self.connection.execute(f"SELECT {_looks('v')} FROM {look}").fetchone() for look in looks]
        rest_names = [name for name in names if name not in once]
        if rest_names:
            expressions = ", ".join(_looks(self._places[name]) for name in rest_names)
            values = self.connection.execute(f"SELECT {expressions} FROM {self._from}").fetchone()
            counts += [values[6 * index : 6 * index + 6] for index in range(len(rest_names))]
        return {name: _kind(*values) for name, values in zip([*once, *rest_names], counts, strict=True)}

    def pick(self, keys: dict[str, str]) -> Any:
        import narwhals as nw

        return nw.from_native(self.connection.sql(self._select(keys)))

    def _select(self, keys: dict[str, str]) -> str:
        picked = ", ".join(f"{self._places[name]} AS {key}" for name, key in keys.items())
        return f"SELECT {picked} FROM {self._from}"

    def reason(self, error: Exception) -> str:
        return broken_line(self.file) or first_lines(error)


def _looks(value: str) -> str:
    """Return the SQL of what `_kind` takes."""
    # DuckDB takes 1_10 for 110, as Python does; nobody writes measurements like that.
    number = f"CASE WHEN NOT contains({value}, '_') THEN TRY_CAST({value} AS DOUBLE) END"
    padded = f"starts_with({value}, '0') AND substr({value}, 2, 1) BETWEEN '0' AND '9'"
    return (
        f"count({value}), count({number}), bool_and({number} = floor({number})), bool_or({padded}), "
        f"min({value}), max({value})"
    )


def _kind(values: int, numbers: int, integral: bool | None, padded: bool | None, lowest: str, highest: str) -> str:
    """Numbers are told by every row, dates by the first and the last text in order."""
    if values and numbers == values and not padded:
        return "integer" if integral else "number"
    return "date" if values and kind_of_texts([lowest, highest]) == "date" else "text"
