"""When Ctrl-C takes effect."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interrupts_wait(wanted: bool) -> Iterator[Callable[[], bool]]:
    """Let a first Ctrl-C wait until the driver asks for it; a second one strikes at once.

    In the middle of ``concurrent.futures.wait`` it would leave futures locked, and whoever has to report on one of them
    would wait for ever.

    Examples
    --------
    >>> with interrupts_wait(True) as interrupted:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted()
    True
    """
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, _: object) -> None:
        seen.append(number)
        signal.signal(signal.SIGINT, before)

    # Where Ctrl-C is ignored, it stays so.
    if before not in (signal.SIG_IGN, None):
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(seen)
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
