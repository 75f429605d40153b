"""How much a search may work: solvers say what they are about to do, and the search ends what takes more than is left.

Work is counted, not timed, so that a table gets the same answer on every machine: each step counts the nanoseconds that
it takes on a laptop, which follow from numbers of rows, columns and entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class TooMuchWorkError(Exception):
    """A step would take more work than is left; the search for a structure leaves it out."""


@dataclass
class WorkCount:
    """Nanoseconds of work spent, and how many there may be."""

    limit: float
    spent: float = 0.0


_COUNT: ContextVar[WorkCount | None] = ContextVar("work", default=None)


@contextmanager
def counted_work(limit: float = float("inf")) -> Iterator[WorkCount]:
    """Count the work inside the block, and end it where it would pass ``limit`` nanoseconds.

    A block around this one counts the same work.

    Examples
    --------
    >>> with counted_work(10) as work:
    ...     spend(7)
    >>> work.spent
    7.0
    >>> with counted_work(10):
    ...     spend(11)
    Traceback (most recent call last):
        ...
    recombine.theory.structures.work.TooMuchWorkError
    """
    count, around = WorkCount(limit), _COUNT.get()
    token = _COUNT.set(count)
    try:
        yield count
    finally:
        _COUNT.reset(token)
        if around is not None:
            around.spent += count.spent


def work_left() -> float:
    """Return the nanoseconds of work that are left; infinite where nobody counts."""
    count = _COUNT.get()
    return float("inf") if count is None else max(count.limit - count.spent, 0.0)


def spend(nanoseconds: float) -> None:
    """Say that work begins; nothing happens unless somebody counts."""
    count = _COUNT.get()
    if count is None:
        return
    if count.spent + nanoseconds > count.limit:
        raise TooMuchWorkError
    count.spent += float(nanoseconds)
