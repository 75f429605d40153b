"""The comparison as Markdown for a pull request: a table first, details folded, nothing of the data obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.differences import Difference
from recombine.jobs.comparison.documents import FindingRecord
from recombine.jobs.comparison.scores import ERRORS, AmountChange, ScoreComparison
from recombine.jobs.comparison.transitions import Transitions
from recombine.report.screen import printable
from recombine.words.comparison import (
    OUTSIDE_RULE,
    amount_text,
    coefficient_meanings,
    comparison_headline,
    comparison_notes,
    count_text,
    findings_by_code,
    outside_text,
    shown_counts,
)
from recombine.writing import number, plural

#: Rows of a folded table; subjects of a finding; letters of a name.
MAX_MARKDOWN_ROWS, MAX_SUBJECTS, MAX_NAME_LETTERS = 30, 12, 80
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
    shown = printable(text).replace("\n", "\\n").replace("\t", "\\t")
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
    **Nothing changed.**
    <BLANKLINE>
    """
    parts = ["### Recombine: what changed", f"**{markdown_prose(comparison_headline(comparison))}**"]
    if comparison.changed:
        parts += _audits(comparison) if isinstance(comparison, AuditComparison) else _scores(comparison)
    if met:
        parts.insert(3, "\n".join(f"- **fails** on {markdown_prose(phrase)}" for phrase in met))
    return "\n\n".join(_fitting(parts)) + "\n"


def _fitting(texts: Sequence[str]) -> list[str]:
    """Leave out parts that would make the text too long for a comment, and say so."""
    fitting, length = [], 0
    for text in texts:
        if length + len(text) <= MAX_TEXT_LETTERS:
            fitting.append(text)
            length += len(text) + 2
    omitted = len(texts) - len(fitting)
    return [*fitting, f"{plural(omitted, 'part')} left out: too long for a summary."] if omitted else fitting


def _audits(comparison: AuditComparison) -> Iterator[str]:
    rows = [[markdown_prose(word), *count_text(comparison, word)] for word in shown_counts(comparison)]
    yield _table(["cells", "before", "after", "change"], rows, numbers=3)
    yield from _notes(comparison)
    for title, items in (
        ("New findings", comparison.findings.new),
        ("Findings that are gone", comparison.findings.gone),
    ):
        if items:
            lines = [_finding(item) for item in findings_by_code(items)]
            text = "\n".join([f"**{title}**", "", *lines[:MAX_MARKDOWN_ROWS]])
            yield (
                text
                if title == "New findings"
                else _folded(f"{title} ({len(items):,})", "\n".join(lines[:MAX_MARKDOWN_ROWS]))
            )
    if comparison.transitions is not None:
        yield from _cells(comparison.transitions)
    yield from _names(comparison)
    yield from _settings(comparison)
    if any(old != new for old, new in comparison.forecast.values()):
        rows = [[markdown_prose(name), number(old), number(new)] for name, (old, new) in comparison.forecast.items()]
        yield _folded("What models will be off by on determined cells", _table(["", "before", "after"], rows, 2))
    if comparison.findings.stay:
        lines = [_finding(item) for item in findings_by_code([new for _, new in comparison.findings.stay])]
        yield _folded(f"Findings that stay ({len(comparison.findings.stay):,})", "\n".join(lines[:MAX_MARKDOWN_ROWS]))


def _cells(moved: Transitions) -> Iterator[str]:
    steps = [
        [markdown_prose(row["before"]), markdown_prose(row["after"]), f"{row['cells']:,}"] for row in moved.table.rows()
    ]
    if steps:
        yield _folded("Cells by what became of them", _table(["before", "after", "cells"], steps, 1))
    for title, which in (("no longer seen or determined", moved.lost), ("became seen or determined", moved.gained)):
        count = int(which.sum())
        if count:
            rows = [
                [*map(markdown_code, step.cell.values()), step.before, step.after]
                for step in moved.listed(which, MAX_MARKDOWN_ROWS)
            ]
            head = [*(markdown_code(name) for name in moved.levels), "before", "after"]
            more = f"\n\nand {count - MAX_MARKDOWN_ROWS:,} more" if count > MAX_MARKDOWN_ROWS else ""
            yield _folded(f"{plural(count, 'cell')} {title}", _table(head, rows) + more)


def _names(comparison: AuditComparison) -> Iterator[str]:
    rows = []
    changes = [("factors", comparison.factors)]
    changes += [(f"levels of {markdown_code(name)}", change) for name, change in comparison.levels.items()]
    for name, change in changes:
        if change.changed:
            rows.append([name, _some(change.new), _some(change.gone)])
    if rows:
        yield _folded("Factors and levels", _table(["", "new", "gone"], rows))


def _settings(comparison: AuditComparison | ScoreComparison) -> Iterator[str]:
    if comparison.settings:
        rows = [[name, markdown_prose(old), markdown_prose(new)] for name, (old, new) in comparison.settings.items()]
        yield _folded("What differs besides", _table(["", "before", "after"], rows))


def _scores(comparison: ScoreComparison) -> Iterator[str]:
    rows = [
        [markdown_code(name), *_moved(change)]
        for name, changes in comparison.changes.items()
        for change in changes
        if change.what == ERRORS[0]
    ]
    if rows:
        yield _table([f"model: {ERRORS[0]}", "before", "after", "outside the ranges"], rows[:MAX_MARKDOWN_ROWS], 2)
        yield OUTSIDE_RULE
    yield from _notes(comparison)
    yield from _models(comparison.models)
    for name, changes in list(comparison.changes.items())[:MAX_MARKDOWN_ROWS]:
        if any(change.changed for change in changes):
            every = [[markdown_prose(change.what), *_moved(change)] for change in changes]
            table = _table(["", "before", "after", "outside"], every, 2)
            yield _folded(f"Errors and causes of {markdown_code(name)}", f"{table}\n\n{coefficient_meanings()}")
    yield from _settings(comparison)


def _moved(change: AmountChange) -> list[str]:
    word = outside_text(change)
    return [amount_text(change.before), amount_text(change.after), f"**{word}**" if change.outside else word]


def _models(models: Difference) -> Iterator[str]:
    for word, names in (("New", models.new), ("Gone", models.gone)):
        if names:
            yield f"{word} models: {_some(names)}"


def _notes(comparison: AuditComparison | ScoreComparison) -> list[str]:
    return [f"> {markdown_prose(note)}" for note in comparison_notes(comparison)]


def _finding(item: FindingRecord) -> str:
    about = f" {_some(item.subjects)}" if item.subjects else ""
    code, title, severity = (markdown_prose(text, MAX_NAME_LETTERS) for text in (item.code, item.title, item.severity))
    return f"- **{code}** {title} ({severity}){about}: {markdown_prose(item.message)}"


def _some(names: Sequence[str]) -> str:
    more = f", … ({len(names) - MAX_SUBJECTS:,} more)" if len(names) > MAX_SUBJECTS else ""
    return ", ".join(map(markdown_code, names[:MAX_SUBJECTS])) + more


def _folded(title: str, body: str) -> str:
    """Fold a body away; the blank lines let Markdown be read inside."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Write a table; the ``numbers`` columns after the first are right-aligned, or the last if there is one only."""
    first_number = 1 if numbers > 1 else len(head) - numbers
    marks = ["--:" if first_number <= position < first_number + numbers else ":--" for position in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, marks, *rows])
