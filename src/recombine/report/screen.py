"""Standard output: draw for the terminal at hand, write in one go, and survive a reader who stops early."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def captured(draw: Callable[[Console], None], plain_width: int | None = None) -> str:
    """Return what ``draw`` prints, with colours where a terminal is watching and without trailing blanks elsewhere.

    Rendering before writing keeps a reader who stops early (head) from stopping anything else.

    Examples
    --------
    >>> captured(lambda console: console.print("seen   ")).rstrip(chr(10))
    'seen'
    """
    from rich.console import Console

    screen = Console(highlight=False, emoji=False)
    width = screen.width if screen.is_terminal or plain_width is None else plain_width
    buffer = io.StringIO()
    draw(Console(file=buffer, width=width, force_terminal=screen.is_terminal, highlight=False, emoji=False))
    text = buffer.getvalue()
    return text if screen.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def say(text: str) -> None:
    """Write ``text`` to standard output as it is."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # The reader (head, less) has gone. Files are still written and the exit code still counts.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
