"""The comparison as Markdown for a pull request: its answer, then tables folded away, nothing of the data obeyed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.scores import ScoreComparison
from recombine.report.comparison.sections import changes_sections
from recombine.report.layout import Entry, Section, ShownTable
from recombine.words.comparison import OMITTED, comparison_answer, comparison_notes
from recombine.writing import plural, printable

#: Rows of a table and names in a list; letters of a name.
MAX_MARKDOWN_ROWS, MAX_NAME_LETTERS = 30, 80
#: Letters of the whole text: GitHub takes comments of 65,536.
MAX_TEXT_LETTERS = 60_000
#: Letters of a whole finding.
MAX_PROSE_LETTERS = 600
#: Signs that Markdown or HTML read as more than text; points and colons end a sentence, else they may be of an address.
_SIGNS = re.compile(r"[\\`*_{}\[\]<>#!|~@$&]|[.:](?!\s|$)|(?<![^\W_])-|-(?![^\W_])")
#: After these GitHub looks for a person, an issue: an invisible joiner keeps it from finding one.
_JOINER = "&#8288;"


def markdown_prose(text: str, limit: int = MAX_PROSE_LETTERS) -> str:
    r"""Return text that Markdown shows as it is: no markup, no link, no mention of a person or an issue.

    Examples
    --------
    >>> markdown_prose("a|b <b> @me")
    'a&#124;b &#60;b&#62; &#64;&#8288;me'
    """
    shown = printable(text)
    shown = shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
    return _SIGNS.sub(lambda sign: f"&#{ord(sign[0])};{_JOINER if sign[0] in '@#' else ''}", shown)


def markdown_code(name: str) -> str:
    """Return a name of the data as code, cut where it is very long.

    Examples
    --------
    >>> markdown_code("red|`x`")
    '<code>red&#124;&#96;x&#96;</code>'
    """
    return f"<code>{markdown_prose(name, MAX_NAME_LETTERS) or '&#8203;'}</code>"


def comparison_markdown(comparison: AuditComparison | ScoreComparison, met: Sequence[str] = ()) -> str:
    """Return the comparison as Markdown; ``met`` is what of ``--fail-on`` is there.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> print(comparison_markdown(rc.compare(audit, audit)))
    ### Recombine: what changed
    <BLANKLINE>
    - **Before** the table, factor 1 (2) × factor 2 (2); structure add
    - **After** the table, factor 1 (2) × factor 2 (2); structure add
    - **Changed** Nothing changed.
    <BLANKLINE>
    """
    answer = comparison_answer(comparison, met).content
    lines = "\n".join(f"- **{line.name}** {markdown_prose(line.text)}" for line in answer)
    notes = [f"> {markdown_prose(note)}" for note in comparison_notes(comparison)[1:]]  # the first is in the answer
    sections = [section for section in changes_sections(comparison, MAX_MARKDOWN_ROWS) if list(section)]
    texts = ["### Recombine: what changed", lines, *notes, *map(_section, sections)]
    return "\n\n".join(_fitting([text for text in texts if text])) + "\n"


def _fitting(texts: Sequence[str]) -> list[str]:
    """Leave out parts that would make the text too long for a comment, and say so."""
    fitting, length = [], 0
    for text in texts:
        if length + len(text) <= MAX_TEXT_LETTERS:
            fitting.append(text)
            length += len(text) + 2
    omitted = len(texts) - len(fitting)
    return [*fitting, OMITTED.format(parts=plural(omitted, "part"))] if omitted else fitting


def _section(section: Section) -> str:
    """Write a section; the blank lines let Markdown be read where it is folded away."""
    title = markdown_prose(section.title)
    return f"<details><summary>{title}</summary>\n\n{_blocks(section)}\n\n</details>"


def _blocks(section: Section) -> str:
    """Write what stands in a section; where texts stand alone they are items of a list."""
    blocks = list(section)
    listed = not any(isinstance(block, ShownTable) for block in blocks)
    texts = [_table(block) if isinstance(block, ShownTable) else markdown_prose(str(block)) for block in blocks]
    return "\n".join(f"- {text}" for text in texts[:MAX_MARKDOWN_ROWS]) if listed else "\n\n".join(texts)


def _table(grid: ShownTable) -> str:
    marks = ["--:" if head.numeric else ":--" for head in grid.heads]
    heads = [markdown_prose(head.text) for head in grid.heads]
    # Columns of numbers hold nothing of the data.
    rows = [
        [entry.text if head.numeric else _cell(entry) for entry, head in zip(row, grid.heads, strict=True)]
        for row in grid.rows
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, marks, *rows])


def _cell(entry: Entry) -> str:
    text = entry.between.join(map(markdown_code, entry.names[:MAX_MARKDOWN_ROWS])) or markdown_prose(entry.text)
    omitted = len(entry.names) - MAX_MARKDOWN_ROWS
    text = f"{text}, … ({omitted:,} more)" if omitted > 0 else text
    return f"**{text}**" if entry.style == "bold" else text
