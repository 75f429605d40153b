"""Text for terminals: paragraphs and grids, drawn for the terminal at hand or as plain text, and written in one go."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment
    from rich.table import Table as RichTable


#: What a terminal obeys rather than shows: control characters but line ends and tabs, and marks that turn the
#: direction of writing or have no width.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return text in which everything that a terminal would obey is written out: data never command a terminal.

    Inside JSON the result means the same as the text did.

    Examples
    --------
    >>> print(printable("red\x1b[31m"))
    red\u001b[31m
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


class _Printable:
    """Anything rich can draw, with the text of the data made printable and the colours of the report as they are."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for segment in console.render(self.inner, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


class _Guard:
    """A hook through which a console draws everything."""

    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_Printable(item) for item in renderables]


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
    draw(_guarded(Console(file=buffer, width=width, no_color=True, highlight=False, emoji=False)))
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
    terminal = screen.is_terminal
    draw(_guarded(Console(file=buffer, width=width, force_terminal=terminal, highlight=False, emoji=False)))
    text = buffer.getvalue()
    return text if screen.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _guarded(console: Console) -> Console:
    console.push_render_hook(_Guard())  # type: ignore[arg-type]
    return console


#: What stands for signs of the reports where the encoding has none of them; letters of the data are escaped instead.
_PLAIN_SIGNS = {
    "×": "x", "·": ".", "→": "->", "−": "-", "–": "-", "—": "-", "‑": "-", "…": "...", "±": "+-", "≠": "!=", "≤": "<=",
    "≥": ">=", "≈": "~", "█": "#", "▏": "#", "■": "#", "●": "*", "○": "o", "▲": "^", "△": "^", "✓": "+", "✗": "x",
    "✕": "x", "∥": "||", "²": "^2", "‘": "'", "’": "'", "“": '"', "”": '"', "•": "*",
}  # fmt: skip


def _escaped(problem: UnicodeError) -> tuple[str | bytes, int]:
    """Write what an encoding lacks as JSON writes it, so that nothing is lost and two names stay two."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    return _in_ascii(problem.object[problem.start : problem.end]), problem.end


def _in_ascii(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def fit_streams() -> None:
    """Let standard output and error write any text, whatever their encoding is, also where they are closed.

    What is closed leads nowhere: else the next file that is opened would take its number, and what libraries print.
    """
    codecs.register_error("recombine-escape", _escaped)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "w" if number else "r", encoding="utf-8")  # noqa: SIM115 - as long as we live
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="recombine-escape")


def in_signs_of(encoding: str, text: str) -> str:
    """Return the text of a report with plain look-alikes of the signs that ``encoding`` lacks.

    Examples
    --------
    >>> in_signs_of("ascii", "carrier (16) × origin (3) → 48")
    'carrier (16) x origin (3) -> 48'
    >>> in_signs_of("cp1252", "carrier (16) × origin (3) → 48")
    'carrier (16) × origin (3) -> 48'
    """
    for sign in set(text) & _PLAIN_SIGNS.keys():
        try:
            sign.encode(encoding)
        except UnicodeEncodeError:
            text = text.replace(sign, _PLAIN_SIGNS[sign])
    return text


def say(text: str, *, drawn: bool = False) -> None:
    """Write ``text`` to standard output, made `printable` unless `capture` has drawn it."""
    text = in_signs_of(sys.stdout.encoding or "utf-8", text) if drawn else printable(text)
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # The reader (head, less) has gone. Files are still written and the exit code still counts.
        hush(sys.stdout)


def hush(stream: Any) -> None:
    """Let a stream that cannot be written to lead nowhere: what it still holds would be tried again at the end."""
    with contextlib.suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, stream.fileno())
        os.close(handle)


def say_json(text: str) -> None:
    """Write JSON and a line end to standard output; in ASCII where that is not UTF-8, which is what JSON is read as."""
    if codecs.lookup(sys.stdout.encoding or "utf-8").name != "utf-8":
        text = re.sub(r"[^\x00-\x7f]", lambda found: _in_ascii(found.group()), text)
    say(f"{text}\n")
