"""Text for terminals: paragraphs and grids, drawn for the terminal at hand or as plain text, and written in one go."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print one paragraph; its leading blanks become a hanging indent."""
    from rich.padding import Padding
    from rich.text import Text

    body = text.lstrip(" ")
    console.print(Padding(Text(body, style=style), (0, 0, 0, len(text) - len(body)), expand=False))


def print_title(console: Console, text: str) -> None:
    """Print the title of a section, a blank line before it."""
    console.print()
    print_line(console, text, "bold")


def plain_grid(numbers: int = 0) -> RichTable:
    """Return a table without lines: an indent, one text column, ``numbers`` right-aligned ones, then text."""
    from rich.table import Table as RichTable

    table = RichTable(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=0)
    table.add_column()
    for _ in range(numbers):
        table.add_column(justify="right")
    return table


def plain_text(draw: Callable[[Console], None], width: int = 110) -> str:
    """Return what ``draw`` prints, without colours and trailing blanks.

    Examples
    --------
    >>> plain_text(lambda console: print_line(console, "seen   ", "bold"))
    'seen'
    """
    from rich.console import Console

    buffer = io.StringIO()
    draw(Console(file=buffer, width=width, no_color=True, highlight=False, emoji=False))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def capture(draw: Callable[[Console], None], plain_width: int | None = None) -> str:
    """Return what ``draw`` prints, with colours where a terminal is watching and without trailing blanks elsewhere.

    Rendering before writing keeps a reader who stops early (head) from stopping anything else.

    Examples
    --------
    >>> capture(lambda console: console.print("seen   ")).rstrip(chr(10))
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
