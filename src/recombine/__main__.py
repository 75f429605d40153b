"""The command line as a module: ``python -m recombine`` is the same as ``recombine``."""

from __future__ import annotations

import signal
import sys


def start() -> None:
    """Run the command line; who stops it while it is still being loaded hears the same as later."""
    try:
        from recombine.cli import main

        main()
    except KeyboardInterrupt:
        print("recombine: stopped", file=sys.stderr)
        sys.exit(130)
    finally:
        # All is said and written; while the interpreter takes itself apart, Ctrl-C must not make that a failure.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # A Ctrl-C that went through code run from text (dataclasses are) leaves a mark, and with it Python ends by that
        # signal whatever the exit code. Text that runs to its end takes the mark away.
        exec("")


if __name__ == "__main__":
    start()
