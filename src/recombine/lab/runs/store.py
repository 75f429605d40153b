"""Content-addressed run folders: ``runs/<aa>/<key>/`` with the spec, the rows and what produced them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from recombine.cells.array_files import load_arrays
from recombine.errors import InputError, RecombineError
from recombine.lab.runs.experiment import Result, Rows, Unit, key_of, plain_value
from recombine.lab.runs.leases import STALE_SECONDS, Lease, Leases
from recombine.output_files import sync_folder, write_whole
from recombine.tables.table import Table

SPEC, RESULT, ARRAYS = "spec.json", "result.json", "arrays.npz"
#: What the digest of a result is of.
_SEALED = ("rows", "record", "arrays")


class StoreWarning(UserWarning):
    """A run folder could not be trusted and was set aside."""


class CorruptRunError(RecombineError):
    """A run folder does not hold what its address promises."""


@dataclass(frozen=True)
class Run:
    """One finished unit as read from the store.

    Parameters
    ----------
    key : str
    spec : dict
        Experiment, schema number and setting.
    rows : list of dict
    record : dict
        What produced the rows: versions, command, seeds, device, host, wall time.
    folder : Path
    """

    key: str
    spec: dict[str, Any]
    rows: list[dict[str, Any]]
    record: dict[str, Any]
    folder: Path

    def __repr__(self) -> str:
        return f"Run({self.key!r} of {self.spec['experiment']!r}, {len(self.rows)} rows)"

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays kept next to the rows; read from disk at each call."""
        path = self.folder / ARRAYS
        if not path.exists():
            return {}
        return load_arrays(path)


@dataclass(frozen=True)
class Store:
    """A folder of finished runs that many processes and hosts may write to.

    A run is written to a hidden folder and renamed once, so whatever stands under ``runs/`` is complete. A unit that is
    in training keeps its state under ``checkpoints/``, so a kill at any moment costs the steps since the last save.
    `recombine.lab.runs.merge_stores` brings the runs and states of another store here.

    Parameters
    ----------
    root : str or Path
    stale_after : float
        Seconds without a heartbeat after which a lease of another host counts as abandoned.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> unit = Unit("addition", 1, {"distance": 3})
    >>> store.write(unit, [{"slope": np.float64(0.5)}], {"wall_seconds": 0.1})
    True
    >>> store.read(unit.key).rows, store.has(unit.key)
    ([{'slope': 0.5}], True)
    """

    root: str | Path
    stale_after: float = STALE_SECONDS

    @cached_property
    def folder(self) -> Path:
        """The store's folder as an absolute path: workers may stand in another directory."""
        return Path(self.root).expanduser().absolute()

    @cached_property
    def leases(self) -> Leases:
        """Who works on what."""
        return Leases(self.folder / "leases", self.stale_after)

    def path(self, key: str) -> Path:
        """Return where the run with this key stands once it is finished."""
        return self.folder / "runs" / key[:2] / key

    def has(self, key: str) -> bool:
        """Return whether the unit is finished; the contents are checked when they are read."""
        return self.path(key).is_dir()

    def finished(self) -> Iterator[str]:
        """Yield the key of every finished unit, in order."""
        for path in sorted((self.folder / "runs").glob("??/*")):
            if path.is_dir() and not path.name.startswith("."):
                yield path.name

    def checkpoints(self, key: str) -> Path:
        """Return where the trainings of an unfinished unit keep their states."""
        return self.folder / "checkpoints" / key

    def write(self, unit: Unit, rows: Rows, record: Mapping[str, Any], lease: Lease | None = None) -> bool:
        """Write a finished unit; return False if another worker's result already stands there.

        Parameters
        ----------
        unit : Unit
        rows : list of dict, Table or Result
        record : dict
            Kept beside the rows, never part of the key.
        lease : Lease, optional
            The lease the unit was run under; it protects the half-written folder from `tidy`.
        """
        result = rows if isinstance(rows, Result) else Result(rows)
        partial = self.folder / ".partial" / f"{unit.key}.{lease.token if lease else secrets.token_hex(8)}"
        partial.mkdir(parents=True)
        try:
            self._fill(partial, unit, result, record)
            return self._publish(partial, unit.key)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _fill(self, partial: Path, unit: Unit, result: Result, record: Mapping[str, Any]) -> None:
        arrays: dict[str, Any] = {name: _plain_array(name, values) for name, values in result.arrays.items()}
        digests = {name: _digest_of_array(values) for name, values in sorted(arrays.items())}
        document = {"rows": plain_rows(result.rows), "record": dict(record), "arrays": digests}
        # Through JSON and back: what is read is to have the digest of what was written, whose keys may be numbers.
        digest = _digest(json.loads(json.dumps(document)))
        for name, value in ((SPEC, unit.spec), (RESULT, {"digest": digest, **document})):
            with open_synced(partial / name) as file:
                file.write(_json(value).encode())
        if arrays:
            with open_synced(partial / ARRAYS) as file:
                np.savez_compressed(file, **arrays)

    def _publish(self, partial: Path, key: str) -> bool:
        target = self.path(key)
        sync_folder(partial)
        new = not target.parent.exists()
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_dir():
            self.quarantine(key, "a file is where its folder should be")
        try:
            partial.rename(target)
        except OSError:
            # The first result wins: a rename never replaces a folder that holds something.
            if target.is_dir():
                return False
            raise
        sync_folder(target.parent)
        if new:
            sync_folder(target.parent.parent)
        return True

    def read(self, key: str) -> Run | None:
        """Return a finished run after checking it, or None; a corrupt folder is set aside with a warning."""
        if not self.has(key):
            return None
        try:
            return self.checked(key)
        except CorruptRunError as error:
            self.quarantine(key, str(error))
            return None

    def checked(self, key: str) -> Run:
        """Return a finished run, or raise `CorruptRunError` and leave everything where it is."""
        return _checked(self.path(key))

    def adopt(self, run: Run, lease: Lease) -> bool:
        """Copy a run of another store here, whole or not at all; return False if a result already stands there."""
        partial = self.folder / ".partial" / f"{run.key}.{lease.token}"
        partial.mkdir(parents=True)
        try:
            for name in (SPEC, RESULT, ARRAYS):
                if (run.folder / name).exists():
                    shutil.copyfile(run.folder / name, partial / name)
                    with (partial / name).open("rb+") as copy:
                        os.fsync(copy.fileno())
            return self._publish(partial, run.key)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def record(self, key: str) -> dict[str, Any]:
        """Return what produced a finished run, unchecked; empty where nothing can be read."""
        try:
            return dict(_read_json(self.path(key) / RESULT)["record"])
        except (CorruptRunError, LookupError, TypeError, ValueError):
            return {}

    def lacking(self, units: Sequence[Unit]) -> list[Unit]:
        """Return the units without a finished run that passes the check, in their order."""
        return [unit for unit in units if self.read(unit.key) is None]

    def quarantine(self, key: str, reason: str) -> None:
        """Move a run folder out of the way, with the reason in it, so that the unit runs again."""
        target = self.folder / "quarantine" / f"{key}-{secrets.token_hex(4)}"
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.path(key).rename(target)
        except FileNotFoundError:
            return
        # Where the disk is full, being out of the way has to do.
        with contextlib.suppress(OSError):
            (target / "reason.txt").write_text(reason + "\n", encoding="utf-8")
        warnings.warn(
            f"run {key} is corrupt ({reason}); moved to {target}, its unit will run again", StoreWarning, stacklevel=3
        )

    def tidy(self) -> None:
        """Remove what killed workers left behind: half-written folders, leases and checkpoints of finished units."""
        for folder in (self.folder / ".partial").glob("*.*"):
            key, _, token = folder.name.partition(".")
            if not self.leases.holds(key, token):
                shutil.rmtree(folder, ignore_errors=True)
        for key in self.leases.units():
            if self.has(key):
                self.leases.clear(key)
        for folder in (self.folder / "checkpoints").glob("*"):
            if self.has(folder.name):
                shutil.rmtree(folder, ignore_errors=True)

    def write_failure(self, key: str, failure: Mapping[str, Any]) -> None:
        """Keep the story of a unit that was given up, until it succeeds."""
        path = self.folder / "failures" / f"{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _json(failure))

    def clear_failure(self, key: str) -> None:
        """Forget the failure of a unit that has succeeded since."""
        (self.folder / "failures" / f"{key}.json").unlink(missing_ok=True)


def plain_rows(rows: Sequence[Mapping[str, Any]] | Table) -> list[dict[str, Any]]:
    """Return rows as dictionaries of plain values; NaN and infinities may stay.

    Examples
    --------
    >>> plain_rows(Table({"loss": [0.5, 0.25]}))
    [{'loss': 0.5}, {'loss': 0.25}]
    """
    items = list(rows.rows()) if isinstance(rows, Table) else rows
    if isinstance(items, str | Mapping) or not isinstance(items, Sequence):
        raise InputError(f"an experiment returned a {type(items).__name__}; return a list of rows, a Table or a Result")
    if not all(isinstance(row, Mapping) for row in items):
        raise InputError("an experiment returned a row that is not a dictionary; name every value")
    return [plain_value(row, f"row {index}", finite=False) for index, row in enumerate(items)]


def _plain_array(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.hasobject:
        # It would be pickled, and no reader should have to trust a pickle.
        raise InputError(f"array {name!r} holds Python objects; give numbers, or put words into the rows")
    return array


def _checked(folder: Path) -> Run:
    """Return the run of a folder; whatever is wrong with it, and whichever error that leads to, it is corrupt."""
    try:
        return _read_run(folder)
    except (CorruptRunError, MemoryError):
        raise
    except Exception as error:
        raise CorruptRunError(f"it cannot be read ({type(error).__name__}: {error})") from None


def _read_run(folder: Path) -> Run:
    spec, document = _read_json(folder / SPEC), _read_json(folder / RESULT)
    try:
        right = key_of(spec) == folder.name
    except ValueError:
        right = False
    if not right:
        raise CorruptRunError(f"{SPEC} does not belong to this key")
    missing = {"rows", "record", "digest", "arrays"} - set(document)
    if missing:
        raise CorruptRunError(f"{RESULT} lacks {sorted(missing)}")
    arrays = document["arrays"]
    # Older stores have a digest of the rows only, and name arrays without one.
    sealed = document["rows"] if isinstance(arrays, list) else {name: document[name] for name in _SEALED}
    if _digest(sealed) != document["digest"]:
        raise CorruptRunError(f"the rows and the record in {RESULT} do not match their digest")
    _check_arrays(folder / ARRAYS, dict.fromkeys(arrays) if isinstance(arrays, list) else arrays)
    return Run(folder.name, spec, document["rows"], document["record"], folder)


def _check_arrays(path: Path, digests: Mapping[str, str | None]) -> None:
    """Raise unless a file holds the arrays that are named, each with its digest where that is known."""
    if not digests and not path.exists():
        return
    try:
        arrays = load_arrays(path)
    except (OSError, InputError) as error:
        raise CorruptRunError(f"{ARRAYS} is damaged ({error})") from None
    if arrays.keys() != digests.keys():
        raise CorruptRunError(f"{ARRAYS} holds {sorted(arrays)}, not {sorted(digests)}")
    for name, digest in digests.items():
        if digest is not None and _digest_of_array(arrays[name]) != digest:
            raise CorruptRunError(f"{name!r} in {ARRAYS} does not match its digest")


def _digest(read: object) -> str:
    return hashlib.blake2b(json.dumps(read, sort_keys=True).encode(), digest_size=16).hexdigest()


def _digest_of_array(values: npt.NDArray[Any]) -> str:
    about = f"{values.dtype.str} {values.shape} ".encode()
    return hashlib.blake2b(about + np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def _json(value: object) -> str:
    # Python's reader and writer agree on NaN and Infinity, which a diverged network does produce. On one line: lines
    # would take three times as long to write.
    return json.dumps(value, ensure_ascii=False) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptRunError(f"{path.name} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise CorruptRunError(f"{path.name} is not a dictionary")
    return value


@contextlib.contextmanager
def open_synced(path: Path) -> Iterator[BinaryIO]:
    """Open a new file of bytes that is on the disk when the block ends: for a folder to be renamed when it is whole."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
