"""Who works on what: lease files with a heartbeat, so that several drivers and hosts can share one store."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from recombine.output_files import write_whole

#: Seconds without a heartbeat after which a lease counts as abandoned.
STALE_SECONDS = 120.0
#: Seconds by which the clocks of a file system and of its files may differ.
CLOCK_SECONDS = 2.0

_LEASE = re.compile(r"[^.]+\.[0-9]{1,9}")
#: Tokens of the leases that this process holds.
_OURS: set[str] = set()
#: Lease -> its heartbeat, which is later than now, and when this process saw it first.
_FUTURE: dict[Path, tuple[float, float]] = {}


@dataclass(frozen=True)
class Lease:
    """The right to run one unit, as long as its heart beats.

    A lease is the file ``<key>.<generation>``. Taking over an abandoned lease creates the next generation, exclusively:
    two takers cannot both succeed, and nobody ever removes a file that another one has just made.

    Parameters
    ----------
    path : Path
    generation : int
    token : str
        Unique to this lease; names the hidden folder its holder writes to.
    losses : int
        Holders before this one, under the same driver, that died at work.
    reason : str
        What the last of them said about it.
    """

    path: Path
    generation: int
    token: str
    losses: int
    reason: str = ""

    def beat(self) -> None:
        """Say that the holder is alive."""
        with contextlib.suppress(OSError):
            os.utime(self.path)

    def note(self, reason: str) -> None:
        """Leave word of why the holder is about to die."""
        record = _read(self.path) or {}
        with contextlib.suppress(OSError):
            write_whole(self.path, json.dumps({**record, "reason": reason}))


@dataclass(frozen=True)
class Leases:
    """The lease files of one store.

    Parameters
    ----------
    folder : Path
    stale_after : float
        Seconds without a heartbeat after which another host may take a lease over. A holder that died on this very
        machine is recognised at once.

    Examples
    --------
    >>> import tempfile
    >>> leases = Leases(Path(tempfile.mkdtemp()))
    >>> lease = leases.take("ab12", driver="d1")
    >>> leases.take("ab12", driver="d2") is None, leases.held("ab12")
    (True, True)
    >>> leases.release(lease)
    >>> leases.held("ab12")
    False
    """

    folder: Path
    stale_after: float = STALE_SECONDS

    def take(self, key: str, driver: str) -> Lease | None:
        """Return the lease on a unit, or None if somebody alive holds it."""
        token = secrets.token_hex(8)
        current = self._current(key)
        if current is None:
            lease = Lease(self.folder / f"{key}.0", 0, token, 0)
            return lease if self._create(lease, driver) else None
        before = _read(current)
        if self._alive(current, before):
            return None
        generation = _generation(current) + 1
        # What happened under an earlier driver, which may have been killed on purpose, says nothing about the unit.
        same: dict[str, Any] = before if before and before.get("driver") == driver else {"losses": -1}
        losses = int(same.get("losses", 0)) + 1
        lease = Lease(self.folder / f"{key}.{generation}", generation, token, losses, same.get("reason", ""))
        return lease if self._create(lease, driver) else None

    def _create(self, lease: Lease, driver: str) -> bool:
        self.folder.mkdir(parents=True, exist_ok=True)
        record = {"token": lease.token, "driver": driver, "losses": lease.losses, "process": process_identity()}
        draft = self.folder / f".draft-{lease.token}"
        _OURS.add(lease.token)
        draft.write_text(json.dumps(record), encoding="utf-8")
        # There at once and whole, and only if it is not there yet: a taker that dies in between leaves no lease that
        # says nothing about its holder, for which everybody would have to wait until it is stale.
        try:
            os.link(draft, lease.path)
            return True
        except FileExistsError:
            # A network file system may make the link, lose the answer, ask again and find what it has made itself.
            return draft.stat().st_nlink > 1
        except OSError:  # a file system without links
            return _create_in_place(lease.path, record)
        finally:
            _remove(draft)

    def held(self, key: str) -> bool:
        """Return whether somebody alive holds the lease on a unit."""
        current = self._current(key)
        return current is not None and self._alive(current, _read(current))

    def holds(self, key: str, token: str) -> bool:
        """Return whether the lease with this token is the current one and alive."""
        current = self._current(key)
        record = _read(current) if current is not None else None
        return current is not None and (record or {}).get("token") == token and self._alive(current, record)

    def last_words(self, key: str) -> dict[str, Any] | None:
        """Return what the latest lease on a unit says, or None if there is no lease."""
        current = self._current(key)
        return _read(current) if current is not None else None

    def release(self, lease: Lease) -> None:
        """Give a lease back, with the abandoned ones before it; later generations belong to others."""
        key = lease.path.name.partition(".")[0]
        # Oldest first: while any file is left, the newest one still speaks for the unit.
        for path in self._files(key):
            if _generation(path) <= lease.generation:
                _remove(path)
        _OURS.discard(lease.token)

    def withdraw(self, lease: Lease) -> None:
        """Give a lease back and leave those of the dead before it: the next holder is to know of them."""
        _remove(lease.path)
        _OURS.discard(lease.token)

    def clear(self, key: str) -> None:
        """Remove every lease on a finished unit."""
        for path in self._files(key):
            _remove(path)

    def units(self) -> set[str]:
        """Return the keys of units with a lease, dead or alive."""
        return {path.name.partition(".")[0] for path in self.folder.glob("[!.]*.*") if _LEASE.fullmatch(path.name)}

    def holder(self, key: str) -> str:
        """Return the name of the host on which a unit is at work, as far as its lease says."""
        process = (self.last_words(key) or {}).get("process")
        return str(process.get("host", "?")) if isinstance(process, dict) else "?"

    def _files(self, key: str) -> list[Path]:
        # An editor or a file system may leave files of its own beside them.
        paths = (path for path in self.folder.glob(f"{key}.*") if _LEASE.fullmatch(path.name))
        return sorted(paths, key=_generation)

    def _current(self, key: str) -> Path | None:
        files = self._files(key)
        return files[-1] if files else None

    def _alive(self, path: Path, record: dict[str, Any] | None) -> bool:
        holder = (record or {}).get("process")
        if isinstance(holder, dict) and holder.get("machine") == _machine() and isinstance(holder.get("pid"), int):
            if holder["pid"] == os.getpid() and (record or {}).get("token") not in _OURS:
                return False  # given back, but a disk would not let its file go
            return bool(process_started(holder["pid"]) == holder.get("started"))
        try:
            last = path.stat().st_mtime
        except FileNotFoundError:
            return False
        age = self._now() - last
        return age < self.stale_after if age > -CLOCK_SECONDS else not self._unmoved(path, last)

    def _unmoved(self, path: Path, last: float) -> bool:
        """Return whether a heartbeat from the future, as a clock that was set back leaves it, has not come again."""
        seen, since = _FUTURE.get(path, (None, 0.0))
        if seen != last:
            since = time.monotonic()
            _FUTURE[path] = last, since
        return time.monotonic() - since >= self.stale_after

    def _now(self) -> float:
        # The file system's own clock: hosts that share a store may disagree about the time.
        clock = self.folder / f".clock-{secrets.token_hex(8)}"
        clock.touch()
        try:
            return clock.stat().st_mtime
        finally:
            _remove(clock)


@contextlib.contextmanager
def heartbeat(lease: Lease, every: float) -> Iterator[None]:
    """Keep a lease alive from a background thread while the block runs.

    Examples
    --------
    >>> import tempfile
    >>> leases = Leases(Path(tempfile.mkdtemp()))
    >>> with heartbeat(leases.take("ab12", driver="d1"), every=0.01):
    ...     leases.held("ab12")
    True
    """
    over = threading.Event()

    def beat() -> None:
        while not over.wait(every):
            lease.beat()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def process_identity() -> dict[str, Any]:
    """Return what tells this process from every other on any machine: machine, pid and start time.

    Examples
    --------
    >>> process_identity()["pid"] == os.getpid()
    True
    """
    pid = os.getpid()
    return {"machine": _machine(), "host": socket.gethostname(), "pid": pid, "started": process_started(pid)}


def process_started(pid: int) -> str | None:
    """Return a mark of when a process of this machine started, or None if it is gone.

    A number alone would not do: the system gives the numbers of dead processes to new ones.

    Examples
    --------
    >>> process_started(os.getpid()) is None
    False
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _started_elsewhere(pid)
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


def _started_elsewhere(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "running"


@lru_cache(maxsize=1)
def _machine() -> str:
    """Name this machine, boot and process namespace: a pid means the same thing only inside one of these."""
    names = [socket.gethostname()]
    with contextlib.suppress(OSError):
        names.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    with contextlib.suppress(OSError):
        names.append(os.readlink("/proc/self/ns/pid"))
    return "/".join(names)


def _create_in_place(path: Path, record: dict[str, Any]) -> bool:
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(record))
    except OSError:
        _remove(path)  # it says nothing about its holder, and everybody would wait for nobody
        raise
    return True


def _remove(path: Path) -> None:
    """Remove a file, or leave it where the disk does not let it go: no work is lost over it."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _generation(path: Path) -> int:
    return int(path.name.rpartition(".")[2])


def _read(path: Path) -> dict[str, Any] | None:
    """Return the record of a lease; None while it is being written, or after its holder died in the attempt."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("losses", 0), int) else None
