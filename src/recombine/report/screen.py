"""Text for terminals: paragraphs and grids, drawn for the terminal at hand or as plain text, and written in one go."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from recombine.jobs.outputs import widget
from recombine.words.answer import LINE_LETTERS
from recombine.writing import in_ascii, printable, printable_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.measure import Measurement
    from rich.segment import Segment
    from rich.table import Table as RichTable

    from recombine.report.layout import Entry, Section, ShownTable

    #: What is drawn: sections, or what a function prints.
    Drawn = Iterable[Section] | Callable[[Console], None]


#: Width of a full bar, of a terminal that has room for bars, and of what numbers have to leave for texts.
BAR_LETTERS, MIN_COLUMNS_FOR_BARS, MIN_LETTERS_FOR_TEXTS = 8, 100, 24
#: How far the lines of a paragraph after its first are indented.
HANGING_INDENT_LETTERS = 2


class _Printable:
    """Anything rich can draw, with the text of the data made printable and the colours of the report as they are."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for segment in console.render(self.inner, options):
            yield segment if segment.control else Segment(printable_lines(segment.text), segment.style)


class _Hanging:
    """A paragraph whose lines after the first are indented, so that none that begins inside a name looks like ours."""

    def __init__(self, text: str, style: str = "", indent: int = HANGING_INDENT_LETTERS) -> None:
        from rich.text import Text

        self.text, self.indent = Text(printable(text), style), indent

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement.get(console, options, self.text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.padding import Padding

        begun = self.text.wrap(console, options.max_width)[0]
        yield begun
        blanks = len(self.text.plain[len(begun) :]) - len(self.text.plain[len(begun) :].lstrip(" "))
        if more := self.text[len(begun) + blanks :]:
            yield Padding(more, (0, 0, 0, min(self.indent, options.max_width // 4)), expand=False)


class _Guard:
    """A hook through which a console draws everything."""

    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_Printable(item) for item in renderables]


def show_sections(console: Console, sections: Iterable[Section]) -> None:
    """Print sections, a blank line between them; the first is the heading, and only what has a title is indented."""
    from recombine.report.layout import ShownTable

    for position, section in enumerate(section for section in sections if list(section)):
        if position:
            console.print()
        if section.title:
            _print_line(console, section.title, "bold")
        for block in section:
            if isinstance(block, ShownTable):
                console.print(_rich_table(block, console.width))
                continue
            text, style, whole = (block, "", False) if isinstance(block, str) else block
            if whole:
                console.print(text, style=style, markup=False, soft_wrap=True)
                continue
            _print_line(console, f"  {text}" if position and section.title else text, style)


def _print_line(console: Console, text: str, style: str = "") -> None:
    """Print one paragraph, of which no name makes two; its leading blanks become a hanging indent."""
    from rich.padding import Padding

    body = text.lstrip(" ")
    begun = len(text) - len(body)
    # Beyond where lines of sections begin, also where the line itself does not.
    indent = HANGING_INDENT_LETTERS if begun else 2 * HANGING_INDENT_LETTERS
    console.print(Padding(_Hanging(body, style, indent), (0, 0, 0, begun), expand=False))


def _rich_table(grid: ShownTable, width: int) -> RichTable:
    """Return a table without lines, indented, heads dimmed, notes of texts last."""
    from rich.table import Table as RichTable

    table = RichTable(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    margin = [] if grid.flush else [""]
    for _ in margin:
        table.add_column(width=0)
    columns = zip(grid.heads, *grid.rows, strict=True)
    numbers = sum(2 + max(len(entry.text) for entry in column) for column in columns if column[0].numeric)
    for head in grid.heads:
        # Numbers stay on one line where they leave room for texts, which are wrapped instead.
        whole = head.numeric and numbers + MIN_LETTERS_FOR_TEXTS <= width
        table.add_column(justify="right" if head.numeric else "left", no_wrap=whole)
    if any(head.text for head in grid.heads):
        table.add_row(*margin, *(_Hanging(head.text, "dim") for head in grid.heads))
    notes = ["".join(entry.note for entry in row if not entry.numeric) for row in grid.rows]
    bars = BAR_LETTERS if grid.bars and width >= MIN_COLUMNS_FOR_BARS else 0
    for row, note in zip(grid.rows, notes, strict=True):
        texts = [_Hanging(_entry_text(entry, bars), entry.style) for entry in row]
        table.add_row(*margin, *texts, *([_Hanging(note)] if note else []))
    return table


def _entry_text(entry: Entry, bars: int) -> str:
    """Write an entry: a bar of at most ``bars`` letters before it and, if it is a number, its note behind it."""
    bar = "█" * round(bars * entry.bar) + " " if bars and entry.bar is not None else ""
    return f"{bar}{entry.text}{f' ({entry.note})' if entry.note and entry.numeric else ''}"


def result_text(result: object, *about: object, width: int = 110) -> str:
    """Return an audit (and its plan), a score or any other result as text for a terminal, without colours.

    Examples
    --------
    >>> import recombine as rc
    >>> result_text(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))).partition(chr(10))[0]
    'Recombine audit of the table'
    """
    return plain_text(widget(result, "sections", *about), width)


def plain_text(drawn: Drawn, width: int = 110) -> str:
    """Return sections, or what a function prints, as text without colours and trailing blanks.

    Examples
    --------
    >>> from recombine.report.layout import Section
    >>> print(plain_text([Section("Cells", ["12   "]), Section("Seen", ["4"])]))
    Cells
    12
    <BLANKLINE>
    Seen
      4
    """
    from rich.console import Console

    buffer = io.StringIO()
    _draw(drawn, Console(file=buffer, width=width, no_color=True, highlight=False, emoji=False))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def capture(drawn: Drawn, plain_width: int | None = None) -> str:
    """Return sections, or what a function prints, with colours where a terminal is watching.

    Rendering before writing keeps a reader who stops early (head) from stopping anything else.

    Examples
    --------
    >>> capture(lambda console: console.print("seen   ")).rstrip(chr(10))
    'seen'
    """
    from rich.console import Console

    screen = Console(highlight=False, emoji=False)
    terminal, buffer = screen.is_terminal, io.StringIO()
    width = screen.width if terminal or plain_width is None else plain_width
    _draw(drawn, Console(file=buffer, width=width, force_terminal=terminal, highlight=False, emoji=False))
    text = buffer.getvalue()
    return text if terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def capture_answer(result: object, *about: object) -> str:
    """Return the answer of a result, a screen of lines, with colours where a terminal is watching."""
    from recombine.report.layout import answer_section

    return capture([answer_section(widget(result, "answer", *about), alone=True)], LINE_LETTERS)


def _draw(drawn: Drawn, console: Console) -> None:
    console.push_render_hook(_Guard())  # type: ignore[arg-type]
    drawn(console) if callable(drawn) else show_sections(console, drawn)


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
    return in_ascii(problem.object[problem.start : problem.end]), problem.end


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
    """Write ``text`` to standard output, every line made `printable` unless `capture` has drawn it."""
    text = in_signs_of(sys.stdout.encoding or "utf-8", text) if drawn else printable_lines(text)
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # The reader (head, less) has gone. Files are still written and the exit code still counts.
        hush(sys.stdout)


def say_aside(text: str, *, aside: bool = True) -> None:
    """Write ``text`` as one line, `printable`, to standard error; to standard output unless it is told ``aside``."""
    print(printable(text), file=sys.stderr) if aside else say(f"{printable(text)}\n")


def hush(stream: Any) -> None:
    """Let a stream that cannot be written to lead nowhere: what it still holds would be tried again at the end."""
    with contextlib.suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, stream.fileno())
        os.close(handle)


def say_json(text: str) -> None:
    """Write JSON and a line end to standard output; in ASCII where that is not UTF-8, which is what JSON is read as."""
    if codecs.lookup(sys.stdout.encoding or "utf-8").name != "utf-8":
        text = re.sub(r"[^\x00-\x7f]", lambda match: in_ascii(match.group()), text)
    say(f"{text}\n")
