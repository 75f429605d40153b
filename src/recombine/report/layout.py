"""What outputs lay out: sections of paragraphs and tables, drawn by terminals, Markdown and pages in their own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.verdicts import Verdict
from recombine.words.answer import CAREFUL, FAILS, LOOK, NAME_LETTERS, Answer
from recombine.words.table import GUESS
from recombine.writing import aligned, number, share

if TYPE_CHECKING:
    from recombine.design.design import Design

#: What a column shows of an item: the attribute or entry of that name, or what a function returns.
Value = str | Callable[[Any], object]
Columns = Mapping[str, Value] | Sequence[tuple[str, Value]]


@dataclass(frozen=True)
class Entry:
    """One table cell: its text, whether it is a number, the length (0 to 1) of a bar, a verdict's chip, a note.

    ``style`` is how a terminal prints it; ``names`` are names of the data, whose text it is, joined by ``between``.
    """

    text: str
    numeric: bool = False
    bar: float | None = None
    verdict: Verdict | None = None
    note: str = ""
    style: str = ""
    names: Sequence[str] = ()
    between: str = ", "


@dataclass(frozen=True)
class ShownTable:
    """A table: caption, column heads and rows of entries; on a page the first entry of a row heads it.

    ``bars`` are drawn by a wide terminal too, which indents the table unless it is ``flush``.
    """

    caption: str
    heads: Sequence[Entry]
    rows: Sequence[Sequence[Entry]]
    identity: str = ""
    spans: Sequence[tuple[str, int]] = ()
    bars: bool = False
    flush: bool = False


class Line(NamedTuple):
    """A paragraph that a terminal prints in a style; ``whole``, it is never wrapped, so that it can be pasted."""

    text: str
    style: str
    whole: bool = False


@dataclass(frozen=True)
class Section:
    """A title and what stands below it; what is empty is not drawn. Markdown folds it away unless it is ``open``."""

    title: str
    blocks: Sequence[str | Line | ShownTable | None]
    open: bool = False

    def __iter__(self) -> Iterator[str | Line | ShownTable]:
        for block in self.blocks:
            if block is not None and (block.text if isinstance(block, Line) else block):
                yield block


def text_grid(
    rows: Iterable[Sequence[str | Entry]], head: Sequence[str] = (), numbers: int = 0, labels: int = 1
) -> ShownTable:
    """Return a table of texts: ``labels`` columns of text, then ``numbers`` right-aligned ones, then text.

    Examples
    --------
    >>> text_grid([["seen", "14"]], ["cells", "before"], numbers=1).heads[1]
    Entry(text='before', numeric=True, bar=None, verdict=None, note='', style='', names=(), between=', ')
    """
    lines = [[cell if isinstance(cell, Entry) else Entry(cell) for cell in row] for row in rows]
    width = max([len(head), *map(len, lines)])
    texts = [*head, *[""] * (width - len(head))]
    heads = [Entry(text, labels <= column < labels + numbers) for column, text in enumerate(texts)]
    return ShownTable("", heads, [[*line, *[Entry("")] * (width - len(line))] for line in lines])


def table_of(
    identity: str,
    caption: str,
    items: Iterable[Any],
    columns: Columns,
    *,
    bars: Sequence[str] = (),
    whole: bool = False,
) -> ShownTable | None:
    """Build a table with one row per item, or None without any; columns named in ``bars`` are shares from 0 to 1.

    Columns are a mapping, or pairs where the reader's own names might repeat one of ours. A column in which nothing is
    known is left out, unless the ``whole`` table is asked for.

    Examples
    --------
    >>> levels = [{"level": "a", "share": 0.5}, {"level": "b", "share": 1.0}]
    >>> table = table_of("t", "Cells", levels, {"level": "level", "seen": "share"}, bars=["seen"])
    >>> [entry.text for entry in table.rows[0]], table.rows[0][1].bar
    (['a', '50.0 %'], 0.5)
    """
    named, shown = columns.items() if isinstance(columns, Mapping) else columns, list(items)
    entries = [(head, _column([_value(item, what) for item in shown], head in bars)) for head, what in named]
    filled = [(head, column) for head, column in entries if whole or any(entry.text != "–" for entry in column)]
    if not shown or not filled:
        return None
    heads = [Entry(head, all(entry.numeric or entry.text in ("", "–") for entry in column)) for head, column in filled]
    return ShownTable(caption, heads, list(zip(*(column for _, column in filled), strict=True)), identity)


def _column(values: list[object], bar: bool) -> list[Entry]:
    """Return the entries of a column, points of numbers under one another."""
    decimals = {row: value for row, value in enumerate(values) if isinstance(value, float) and not bar}
    entries = [_entry(value, bar) for value in values]
    for row, text in zip(decimals, aligned(list(decimals.values())), strict=True):
        entries[row] = Entry(text, True)
    return entries


def _value(item: Any, what: Value) -> object:
    if callable(what):
        return what(item)
    return item[what] if isinstance(item, dict) else getattr(item, what)


def _entry(value: object, bar: bool) -> Entry:
    if isinstance(value, Entry):
        return value
    if isinstance(value, Verdict):
        return Entry(value.word, verdict=value)
    if isinstance(value, float) and bar and value == value:
        return Entry(share(value), True, min(max(value, 0.0), 1.0))
    return Entry(number(value, 4), True) if isinstance(value, int | float) else Entry(str(value))


#: How the names of lines that should not be overlooked are printed.
_STYLES = {CAREFUL: "bold red", LOOK: "bold yellow", FAILS: "bold red"}


def answer_section(answer: Answer, *, alone: bool = False) -> Section:
    """Return the answer as a terminal shows it; ``alone``, it says where the rest is."""
    lines = answer.lines if alone else answer.content
    rows: list[list[str | Entry]] = [
        [Entry(f"{line.name:<{NAME_LETTERS - 2}}", style=_STYLES.get(line.name, "bold")), line.text]
        for line in lines
        if not line.whole
    ]
    pasted = [Line(f"{line.name}: {line.text}", "", whole=True) for line in lines if line.whole]
    return Section(answer.title, [replace(text_grid(rows), flush=True), *pasted])


def guess_lines(design: Design) -> list[Line]:
    """Return the line that says that the factors of a design are a guess, where they are."""
    return [Line(GUESS, "bold yellow")] if design.reading.proposals else []
