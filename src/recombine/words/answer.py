"""The answer: one screen in the reader's words, the same in every output.

At most twelve lines of a hundred letters: what was read, how many combinations are predictable, open and new, what
values miss by beside noise, the plain mean and a network, what to measure next, what to look at, where the rest is.
Up to three more say what was tidied, guessed or merged while a table was read,
and a last one repeats the command, however long that is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from recombine.writing import printable

#: Lines that say where the rest is, what to beware of, what to look at, why a build stops, and what repeats it.
MORE_NAME, CAREFUL, LOOK, FAILS, REPEAT = "More", "Careful", "Look at", "--fail-on", "To repeat"
#: What readers call cells of a verdict.
SEEN, PREDICTABLE, OPEN, NEW = "Seen", "Predictable", "Open", "New"
#: Lines and letters of a screen, and letters before what a line says.
MAX_LINES, LINE_LETTERS, NAME_LETTERS = 12, 100, 14


class AnswerLine(NamedTuple):
    """One thing that an answer says: what it is about, a sentence, and a shorter one for where there is no room."""

    name: str
    text: str
    short: str = ""
    whole: bool = False  #: To be pasted: a line of its own, never wrapped or cut.
    last: bool = False  #: Shortened only once all others are.

    @property
    def rows(self) -> list[str]:
        """The lines on a screen that the text takes, names of the data printable."""
        if self.whole:
            return [printable(self.text)]
        letters = LINE_LETTERS - NAME_LETTERS
        # A row that begins inside a name of the data is indented, so that it does not look like a line of ours.
        rows = textwrap.wrap(printable(self.text), letters, subsequent_indent="  ", break_on_hyphens=False)
        return list(map(printable, rows)) or [""]


@dataclass(frozen=True)
class Answer:
    """An answer of at most twelve lines of a hundred letters; ``str`` is what a screen shows.

    Examples
    --------
    >>> print(Answer("Recombine audit of a.csv", (AnswerLine("Seen", "3 of 4 combinations"),)))
    Recombine audit of a.csv
    Seen          3 of 4 combinations
    """

    title: str
    said: tuple[AnswerLine, ...]
    #: The numbers that are said, by name: the same in every output.
    numbers: dict[str, float] = field(default_factory=dict)
    #: Three numbers to show large, each with what it is.
    large: tuple[tuple[str, str], ...] = ()
    more_lines: int = 0  #: How many more than twelve there may be.

    @property
    def lines(self) -> tuple[AnswerLine, ...]:
        """What is said, the longest lines, the last of them first, in short where there is no room for all."""
        lines = [line for line in self.said if line.text]
        for index in sorted(range(len(lines)), key=lambda index: (lines[index].last, -len(lines[index].rows), -index)):
            if 1 + sum(len(line.rows) for line in lines) <= MAX_LINES + self.more_lines:
                break
            line = lines[index]
            lines[index] = line if line.whole else line._replace(text=line.short or _cut(line.text))
        return tuple(_fitting(lines, MAX_LINES + self.more_lines))

    @property
    def content(self) -> list[AnswerLine]:
        """The lines but the one that says where the rest is, for outputs that have the rest below."""
        return [line for line in self.lines if line.name != MORE_NAME]

    @property
    def sentences(self) -> list[str]:
        """The same, each line as one text."""
        return [printable(f"{line.name}: {line.text}") for line in self.content]

    def __str__(self) -> str:
        rows = [_cut(printable(self.title), LINE_LETTERS)]
        for line in self.lines:
            name = f"{line.name}: " if line.whole else f"{line.name:<{NAME_LETTERS}}"
            for index, row in enumerate(line.rows):
                rows.append(f"{' ' * NAME_LETTERS if index else name}{row}")
        return "\n".join(rows)


def _fitting(lines: list[AnswerLine], most: int) -> Iterator[AnswerLine]:
    """Yield lines, those cut at the end of their row for which there is still no room."""
    room = most - 1 - len(lines)
    for line in lines:
        extra = len(line.rows) - 1
        yield line if line.whole or extra <= room else line._replace(text=_cut(line.text))
        room -= extra if extra <= room else 0


def _cut(text: str, letters: int = LINE_LETTERS - NAME_LETTERS) -> str:
    """Return a text in at most so many letters, its end left out, where that can be after a sentence or a word."""
    shown = printable(text)
    if len(shown) <= letters:
        return text
    sentence, end, _ = shown[: letters + 1].rpartition(". ")
    if end and len(sentence) > letters // 2:
        return f"{sentence}."
    start, blank, _ = shown[:letters].rpartition(" ")
    return f"{start if blank and len(start) > letters // 2 else shown[: letters - 1]}…"
