"""Finished runs taken together: one store out of two, and one Parquet table out of many run folders.

A table is derived, so it can be deleted at any time.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError
from recombine.lab.nets.checkpoints import read_progress
from recombine.lab.runs.experiment import Experiment
from recombine.lab.runs.leases import Lease, heartbeat
from recombine.lab.runs.store import CorruptRunError, Run, Store
from recombine.output_files import path_beside
from recombine.tables.table import Column, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: The one metadata entry of a table file.
ENTRY = "recombine"
#: Folders of a store that travel: finished runs, and where unfinished ones stopped.
RUNS, CHECKPOINTS = "runs", "checkpoints"
#: What a packed store may hold; anything else in the file is left there.
PACKED = re.compile(rf"({RUNS}/[0-9a-f]{{2}}|{CHECKPOINTS})/[0-9a-f]{{32}}/[\w-][\w.-]*")


@dataclass(frozen=True)
class Merged:
    """What became of the runs of another store; every run is named by its key.

    Parameters
    ----------
    copied : list of Run
        Brought here.
    present : list of Run
        Not brought: the same rows were here.
    differing : list of Run
        Not brought: a run with other rows stands here, and stays.
    busy : list of Run
        Not brought: somebody is at work on the unit here.
    damaged : dict of str to str
        Not brought: what is wrong with the run, by its key.
    begun : list of str
        Units that were not finished there and go on here from where they stopped.
    """

    copied: list[Run] = field(default_factory=list)
    present: list[Run] = field(default_factory=list)
    differing: list[Run] = field(default_factory=list)
    busy: list[Run] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Merged({len(self.copied)} copied, {len(self.present)} present, {len(self.damaged)} damaged)"

    @property
    def sound(self) -> list[Run]:
        """Every run of the other store that passed the check."""
        return [*self.copied, *self.present, *self.differing, *self.busy]


def merge_stores(source: Store, target: Store) -> Merged:
    """Copy the finished runs of one store into another, each checked and whole; nothing that is there is replaced.

    A merge that was stopped is completed by the next one. The source is only read.

    Examples
    --------
    >>> import tempfile
    >>> from recombine.lab.runs import Unit
    >>> there, here = Store(tempfile.mkdtemp()), Store(tempfile.mkdtemp())
    >>> unit = Unit("addition", 1, {"distance": 3})
    >>> there.write(unit, [{"slope": 0.5}], {})
    True
    >>> merge_stores(there, here), merge_stores(there, here)
    (Merged(1 copied, 0 present, 0 damaged), Merged(0 copied, 1 present, 0 damaged))
    >>> here.read(unit.key).rows
    [{'slope': 0.5}]
    """
    merged, driver = Merged(), secrets.token_hex(8)
    for key in source.finished():
        try:
            run = source.checked(key)
        except CorruptRunError as error:
            merged.damaged[key] = str(error)
        else:
            _fate(merged, run, target, driver).append(run)
    for folder in sorted((source.folder / CHECKPOINTS).glob("*")):
        if not folder.is_dir() or source.has(folder.name):
            continue
        if damage := _damage(folder):
            merged.damaged[folder.name] = damage
        elif _begun(folder, target, driver):
            merged.begun.append(folder.name)
    return merged


def _fate(merged: Merged, run: Run, target: Store, driver: str) -> list[Run]:
    """Copy a run if there is none, and return the list it belongs to."""
    with _leased(target, run.key, driver) as lease:
        there = target.read(run.key)
        if there is None and lease is not None:
            return merged.copied if target.adopt(run, lease) else merged.present
    if there is None:
        return merged.busy
    return merged.present if _text(there) == _text(run) else merged.differing


def _text(run: Run) -> str:
    # As text a NaN is equal to another.
    return json.dumps(run.rows, sort_keys=True)


def _begun(folder: Path, target: Store, driver: str) -> bool:
    """Copy where a unit stopped, unless it is finished, at work or as far here; return whether it was copied."""
    key, state = folder.name, target.checkpoints(folder.name)
    with _leased(target, key, driver) as lease:
        if lease is None or target.has(key) or _reached(state) >= _reached(folder):
            return False
        partial = target.folder / ".partial" / f"{key}.{lease.token}"
        try:
            shutil.copytree(folder, partial / "new")
            state.parent.mkdir(exist_ok=True)
            if state.exists():
                state.rename(partial / "old")
            (partial / "new").rename(state)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return True


def _reached(folder: Path) -> tuple[int, int]:
    """How far the trainings of a unit came, as their folder says: which training, and its step."""
    progress = read_progress(folder)
    return int(progress.get("training", -1)), int(progress.get("step", -1))


def _damage(folder: Path) -> str | None:
    """Say what is wrong with a folder of training states, if anything is."""
    if _reached(folder) == (-1, -1):
        return "its checkpoint does not say how far it is"
    for path in sorted(folder.glob("*.npz")):
        try:
            with zipfile.ZipFile(path) as archive:
                intact = archive.testzip() is None
        except Exception:  # of whichever part of the archive is damaged
            intact = False
        if not intact:
            return f"its checkpoint {path.name} is damaged"
    return None


@contextmanager
def _leased(store: Store, key: str, driver: str) -> Iterator[Lease | None]:
    """Hold a unit, so that nobody starts it or sweeps away what is half copied; None where somebody else holds it."""
    lease = store.leases.take(key, driver)
    if lease is None:
        yield None
        return
    try:
        with heartbeat(lease, store.stale_after / 8):
            yield lease
    finally:
        store.leases.release(lease)


@contextmanager
def opened_store(path: Path) -> Iterator[Store]:
    """Give a store that somebody else has written: its folder, or the tar file it was packed into.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "runs").mkdir()
    >>> with opened_store(folder) as store:
    ...     list(store.finished())
    []
    """
    if path.is_dir():
        if not any((path / name).is_dir() for name in (RUNS, CHECKPOINTS)):
            inside = next((folder.parent for folder in sorted(path.glob(f"*/{RUNS}"))), None)
            hint = f"did you mean {inside}?" if inside else "name the folder that --store named where units ran"
            raise InputError(f"{path} is no store: it has no folder {RUNS!r}; {hint}")
        yield Store(path)
        return
    if not path.exists():
        raise InputError(
            f"there is no store at {path}; name a folder of finished units, or a store packed as a tar file"
        )
    if not path.is_file():
        raise InputError(f"{path} is a pipe or device, not a file; save the packed store to a file first")
    with tempfile.TemporaryDirectory() as folder:
        _unpack(path, Path(folder))
        yield Store(folder)


def _unpack(path: Path, folder: Path) -> None:
    try:
        with tarfile.open(path) as archive:
            members = [member for member in archive if member.isfile() and PACKED.fullmatch(member.name)]
            for member in members:
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(_content(archive, member), file)
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        # Of a file that is no archive at all, tarfile says for every way of packing why it is not that.
        why = str(error).partition(": - method")[0].partition("\n")[0].rstrip(":")
        raise InputError(f"{path} is not a whole packed store ({why}); fetch or pack it again") from None
    if not members:
        raise InputError(f"{path} holds no runs of a store; pack the folder that --store named where units ran")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    assert content is not None, "a plain file has content"
    return content


def collect(store: Store, experiment: Experiment, scale: str = "quick") -> Table:
    """Return the rows of every finished unit of a scale, in the order of the grid.

    Each row carries its unit's ``key`` and setting; where a row has a value of the same name, that one counts. What it
    does not have is missing (NaN or None).

    Examples
    --------
    >>> import tempfile
    >>> from recombine.lab.runs import grid
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
    with path_beside(target) as draft, duckdb.connect() as connection:
        connection.register("collected", {name: _scannable(table[name]) for name in table.columns})
        metadata = _quoted(json.dumps(record))
        connection.execute(
            f"COPY collected TO {_quoted(str(draft))} (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{{ENTRY}: {metadata}}})"
        )


def _scannable(values: Column) -> Column:
    # DuckDB would turn an array of fixed-width text into an enumeration type.
    return values.astype(object) if values.dtype.kind in "US" else values.copy()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def load_table(path: str | Path, connection: DuckDBPyConnection | None = None) -> Table:
    """Return a table written by `save_table`; missing numbers come back as NaN, other missing values as None.

    A connection to DuckDB takes longer to make than a small table to read: give one to read many.
    """
    if not Path(path).is_file():
        raise InputError(f"there is no table at {path}; run the experiment and collect it first")
    if connection is None:
        import duckdb

        with duckdb.connect() as opened:
            return load_table(path, opened)
    columns = connection.execute(f"SELECT * FROM read_parquet({_quoted(str(path))})").fetchnumpy()
    return Table({name: _filled(values) for name, values in columns.items()})


def _filled(values: Any) -> Column:
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    kind, missing = (float, np.nan) if values.dtype.kind in "fiu" else (object, None)
    filled = np.array(values.data, dtype=kind)
    filled[np.ma.getmaskarray(values)] = missing
    return filled
