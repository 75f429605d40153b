"""How far a sweep is: units done, rate and time left, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

#: Seconds between two updates on a terminal, and between two lines in a log file.
LIVE_SECONDS, LOGGED_SECONDS = 0.2, 30.0


class Progress:
    """A line that keeps itself up to date on a terminal, or one line every half minute in a log.

    Parameters
    ----------
    label : str
    total : int
    found : int
        Units that an earlier run had finished; they do not count towards the rate.
    stream : text file, optional
        Standard error unless given.
    every : float, optional
        Seconds between updates.

    Examples
    --------
    >>> progress = Progress("addition", total=4, finished=1, stream=sys.stdout, every=0)
    >>> progress.update(done=2, failed=0, elapsed=2.0)
    addition  3/4 units  1.0/s  1 s left
    """

    def __init__(
        self, label: str, total: int, finished: int = 0, stream: TextIO | None = None, every: float | None = None
    ) -> None:
        self._label, self._total, self._found = label, total, finished
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._every = every if every is not None else (LIVE_SECONDS if self._live else LOGGED_SECONDS)
        self._last = time.monotonic()
        self._width = 0

    def update(
        self, done: int, failed: int, elapsed: float, *, last: bool = False, waits_for: Callable[[], str] = str
    ) -> None:
        """Show the state if it is time to, or if it is the ``last``; ``done`` counts this run's units only."""
        now = time.monotonic()
        if not last and now - self._last < self._every:
            return
        self._last = now
        text = self.text(done, failed, elapsed, waits_for())
        if self._live:
            self._stream.write("\r" + text.ljust(self._width) + ("\n" if last else ""))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def text(self, done: int, failed: int, elapsed: float, waits_for: str = "") -> str:
        """Return the line itself."""
        count = self._found + done
        texts = [self._label, f"{count}/{self._total} units"]
        remaining = self._total - count - failed
        if done and elapsed > 0:
            texts.append(_rate(done / elapsed))
            if remaining > 0:
                texts.append(f"{duration(remaining * elapsed / done)} left")
        if failed:
            texts.append(f"{failed} failed")
        if waits_for:
            texts.append(f"waits for {waits_for}")
        return "  ".join(texts)


def _rate(units_per_second: float) -> str:
    for factor, unit in ((1, "s"), (60, "min")):
        if units_per_second * factor >= 1:
            return f"{units_per_second * factor:.1f}/{unit}"
    return f"{units_per_second * 3600:.1f}/h"


def duration(seconds: float) -> str:
    """Return a length of time in words short enough for a status line.

    Examples
    --------
    >>> duration(8.4), duration(160), duration(9000)
    ('8 s', '3 min', '2 h 30 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
