"""How far long work has come: whoever works says it, whoever watches hears it, and neither needs to know the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
