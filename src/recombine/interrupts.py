"""When Ctrl-C takes effect, and other ways to ask a program to stop."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator

#: Signals that ask a program to end; Windows has one of them only.
_REQUESTS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
#: Seconds after which an interrupt that was lost comes again: what it met is over by then.
_AGAIN = 0.01


@contextlib.contextmanager
def interrupts_wait(wanted: bool) -> Iterator[Callable[[], bool]]:
    """Let a first Ctrl-C wait until the driver asks for it; a second one strikes at once.

    In the middle of ``concurrent.futures.wait`` it would leave futures locked, and whoever has to report on one of them
    would wait for ever.
    """
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    seen: list[int] = []
    # Where Ctrl-C is ignored, it stays so; other requests are waited for where `requests_interrupt` made them one.
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *_REQUESTS)}
    caught = {number: handler for number, handler in before.items() if callable(handler)}

    def note(number: int, _: object) -> None:
        seen.append(number)
        for each, handler in caught.items():
            signal.signal(each, handler)

    for number in caught:
        signal.signal(number, note)
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in caught.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def requests_interrupt() -> Iterator[None]:
    """Let a request to end (from ``kill``, ``timeout`` or a scheduler, or since the terminal is gone) act as Ctrl-C.

    So what is half done is cleaned up. A request that is ignored stays so, as ``nohup`` wants it. One that comes where
    Python can raise nothing, as while an object is taken apart, comes again at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _REQUESTS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, signal.default_int_handler)
    try:
        with _none_lost():
            yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _none_lost() -> Iterator[None]:
    """Send an interrupt again that Python could only report."""
    report, coming = sys.unraisablehook, list[threading.Timer]()

    def reported(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            report(lost)
            return
        # Not from here, where it would be lost again.
        timer = threading.Timer(_AGAIN, _interrupt)
        timer.daemon = True
        timer.start()
        coming.append(timer)

    sys.unraisablehook = reported
    try:
        yield
    finally:
        sys.unraisablehook = report
        for timer in coming:
            timer.cancel()


def _interrupt() -> None:
    if hasattr(signal, "pthread_kill"):  # ends a wait, too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
