"""How far long work has come: whoever works says it, whoever watches hears it, and neither needs to know the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
#: Told what is being done and the share of it that is done, from 0 to 1.
Listener = Callable[[str, float], None]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of all work inside the block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def told_in_lines(what: str, write: Callable[[str], object], seconds: float = 10.0) -> Iterator[None]:
    """Write a line every so many seconds, the first after as many: what is being done, its step and for how long.

    Examples
    --------
    >>> import time
    >>> with told_in_lines("reading", print, 0.2):
    ...     tell("rows, half of them", 0.5)
    ...     time.sleep(0.3)
    still reading: rows, half of them (0.2 s)
    """
    latest, ended = [what], threading.Event()

    def lines() -> None:
        count = 1
        with suppress(OSError, ValueError):  # a stream that is closed ends the lines, not the work
            while not ended.wait(seconds):
                write(f"still {latest[0]} ({count * seconds:g} s)")
                count += 1

    def hear(step: str, share: float) -> None:
        latest[0] = f"{what}: {step}"

    watcher = threading.Thread(target=lines, daemon=True)
    watcher.start()
    try:
        with listening(hear):
            yield
    finally:
        ended.set()
        watcher.join()


def each(what: str, items: Sequence[Item]) -> Iterator[Item]:
    """Go through ``items`` and say before each what share of them is done; work inside says its own in between."""
    for done, item in enumerate(items):
        tell(what, done / len(items))
        yield item


def tell(what: str, share: float) -> None:
    """Say that a share of some work is done, from 0 to 1; nothing happens unless somebody listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, share)
