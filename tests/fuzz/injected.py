"""Faults at the n-th thing that is asked of the file system, as a full or dying disk makes them."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recombine.errors import InputError

#: What fails how: for good or once. More of them in `make fuzz`.
KINDS = [(errno.ENOSPC, True), (errno.EIO, False)]
if os.environ.get("RECOMBINE_FUZZ_CASES"):
    KINDS += [(errno.ENOSPC, False), (errno.EIO, True), (errno.EDQUOT, True), (errno.EROFS, True)]
#: Calls that change something on a disk.
CALLS = ("fsync", "rename", "replace", "link", "mkdir", "utime", "unlink", "rmdir", "chmod")


class Faults:
    """Counts what is asked of the file system and fails once, at request ``at``, or from there on for good."""

    def __init__(self, at: int, number: int, lasting: bool = False) -> None:
        self.at, self.number, self.lasting = at, number, lasting
        self.asked = 0
        self.met = False

    def strike(self, what: str) -> None:
        """Count a request, and fail if it is the one."""
        self.asked += 1
        if self.asked == self.at or (self.lasting and self.asked > self.at and what not in ("unlink", "rmdir")):
            self.met = True
            raise OSError(self.number, os.strerror(self.number))


class Torn:
    """A file whose writes may fail half way."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self._file, self._faults = file, faults

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Torn:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: Any) -> Any:
        """Write all, or half of it and fail."""
        try:
            self._faults.strike("write")
        except OSError:
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            raise
        return self._file.write(data)


@contextlib.contextmanager
def injected(faults: Faults) -> Iterator[None]:
    """Let requests to the file system inside the block meet faults."""
    first: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in CALLS}
    opened = io.open

    def faulty(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            faults.strike(name)
            return first[name](*arguments, **options)

        return call

    def open_faulty(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if not set(mode) & set("wax+"):
            return opened(file, mode, *arguments, **options)
        faults.strike("open")
        return Torn(opened(file, mode, *arguments, **options), faults)

    try:
        for name in CALLS:
            setattr(os, name, faulty(name))
        io.open = open_faulty  # type: ignore[assignment]
        yield
    finally:
        for name, call in first.items():
            setattr(os, name, call)
        io.open = opened


def every_fault(
    prepare: Callable[[], Path], work: Callable[[Path], object], check: Callable[[Path, bool], object]
) -> int:
    """Do a piece of work again and again, each time with the next request failing, until all of them pass.

    ``prepare`` makes a place for each attempt, where all goes well; ``check`` looks at it afterwards, told whether the
    work said that it failed. Returns how many attempts met a fault.
    """
    sync = os.fsync
    os.fsync = lambda handle: None  # whether the disk obeys cannot be seen here, and waiting for it takes long
    try:
        return _attempts(prepare, work, check)
    finally:
        os.fsync = sync


def _attempts(
    prepare: Callable[[], Path], work: Callable[[Path], object], check: Callable[[Path, bool], object]
) -> int:
    tried = 0
    for number, lasting in KINDS:
        for at in itertools.count(1):
            faults = Faults(at, number, lasting)
            failed = False
            place = prepare()
            with injected(faults):
                try:
                    work(place)
                except (OSError, InputError):
                    failed = True
            check(place, failed)
            if not faults.met:
                break
            tried += 1
    return tried


def faults_of_a_file(
    fresh: Callable[[], Path], name: str, write: Callable[[Path], object], read: Callable[[Path], object]
) -> int:
    """Write a file over an old one under every fault: it is new, as ``read`` finds, or as it was; return the faults."""

    def prepare() -> Path:
        path = fresh() / name
        path.write_text("old")
        return path

    def check(path: Path, failed: bool) -> None:
        if path.read_bytes() == b"old":
            assert failed
        else:
            read(path)

    return every_fault(prepare, write, check)
