"""The comparison in a screenful: what was gained and lost, counts, cells, levels, findings, forecast; or errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.documents import AuditDocument, FindingRecord, ScoreDocument
from recombine.jobs.comparison.scores import ScoreComparison
from recombine.report.screen import plain_grid, plain_text, print_line, print_title
from recombine.words.comparison import (
    NOTHING,
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
from recombine.writing import listing, number, plural

if TYPE_CHECKING:
    from rich.console import Console

#: Cells, levels or subjects that are shown one by one.
MAX_SHOWN = 8


def comparison_text(comparison: AuditComparison | ScoreComparison, width: int = 110) -> str:
    """Return the comparison as plain text without colours."""
    return plain_text(lambda console: show_comparison(comparison, console), width)


def show_comparison(
    comparison: AuditComparison | ScoreComparison, console: Console, met: Sequence[str] = (), *, only_new: bool = False
) -> None:
    """Print the comparison to a rich console, and ``met``, what of ``--fail-on`` is there.

    With ``only_new`` findings that stay are counted and not repeated.
    """
    kind = "audits" if isinstance(comparison, AuditComparison) else "scores"
    print_line(console, f"Recombine comparison of two {kind}", "bold")
    for word, document in (("before", comparison.before), ("after", comparison.after)):
        print_line(console, f"{word}: {_side(document)}")
    console.print()
    print_line(console, comparison_headline(comparison), "bold")
    for note in comparison_notes(comparison):
        print_line(console, note)
    if comparison.changed:
        if isinstance(comparison, AuditComparison):
            _audits(comparison, console, only_new)
        else:
            _scores(comparison, console)
    for phrase in met:
        console.print()
        print_line(console, f"--fail-on {phrase}", "bold red")


def _side(document: AuditDocument | ScoreDocument) -> str:
    if isinstance(document, ScoreDocument):
        cells, models = plural(document.held_out_cells, "held-out cell"), plural(len(document.models), "model")
        return f"{document.source}, {cells}, {models}"
    factors = " × ".join(f"{factor.name} ({factor.levels:,})" for factor in document.factors[:MAX_SHOWN])
    more = f" and {len(document.factors) - MAX_SHOWN:,} more factors" if len(document.factors) > MAX_SHOWN else ""
    return f"{document.source}, {factors}{more}; structure {document.structure.name}"


def _audits(comparison: AuditComparison, console: Console, only_new: bool) -> None:
    print_title(console, "Cells by verdict")
    _grid(
        console,
        ("before", "after", ""),
        [(word, *count_text(comparison, word)) for word in shown_counts(comparison)],
        3,
    )
    _cells(comparison, console)
    _names(comparison, console)
    _settings(comparison, console)
    _findings(comparison, console, only_new)
    if any(old != new for old, new in comparison.forecast.values()):
        print_title(console, "What models will be off by on determined cells")
        rows = [(name, number(old), number(new)) for name, (old, new) in comparison.forecast.items()]
        _grid(console, ("before", "after"), rows, 2)


def _cells(comparison: AuditComparison, console: Console) -> None:
    moved = comparison.transitions
    if moved is None or not moved.changed.any():
        return
    print_title(console, "What became of cells")
    rows = [(f"{row['before']} → {row['after']}", f"{row['cells']:,}") for row in moved.table.rows()]
    _grid(console, ("cells",), rows, 1)
    for title, which in (("No longer seen or determined", moved.lost), ("Became seen or determined", moved.gained)):
        count = int(which.sum())
        if count:
            print_title(
                console, f"{title}: {plural(count, 'cell')}{'' if count <= MAX_SHOWN else f', {MAX_SHOWN} of them'}"
            )
        for step in moved.listed(which, MAX_SHOWN):
            print_line(console, f"  {' · '.join(step.cell.values())}: {step.before} → {step.after}")


def _names(comparison: AuditComparison, console: Console) -> None:
    changes = [
        ("factors", comparison.factors),
        *((f"levels of {name}", change) for name, change in comparison.levels.items()),
    ]
    changes = [(name, change) for name, change in changes if change.changed]
    if changes:
        print_title(console, "Factors and levels")
    for name, change in changes:
        for word, names in (("new", change.new), ("gone", change.gone)):
            if names:
                print_line(console, f"  {word} {name}: {listing(names, MAX_SHOWN)}")


def _settings(comparison: AuditComparison | ScoreComparison, console: Console) -> None:
    if comparison.settings:
        print_title(console, "What differs besides")
        rows = [(name, f"{old} → {new}") for name, (old, new) in comparison.settings.items()]
        _grid(console, (), rows, 0)


def _findings(comparison: AuditComparison, console: Console, only_new: bool) -> None:
    for title, items in (
        ("New findings", comparison.findings.new),
        ("Findings that are gone", comparison.findings.gone),
    ):
        if items:
            print_title(console, title)
        for item in findings_by_code(items):
            print_line(console, f"  {_finding(item)}")
    stay = comparison.findings.stay
    if stay and only_new:
        console.print()
        print_line(console, f"{plural(len(stay), 'finding')} of before {'stays' if len(stay) == 1 else 'stay'}.")
    elif stay:
        print_title(console, "Findings that stay")
        for item in findings_by_code([new for _, new in stay]):
            print_line(console, f"  {_finding(item)}")


def _finding(item: FindingRecord) -> str:
    about = f" [{listing(item.subjects, MAX_SHOWN)}]" if item.subjects else ""
    return f"{item.code} {item.title} ({item.severity}){about}: {item.message}"


def _scores(comparison: ScoreComparison, console: Console) -> None:
    if comparison.models.changed:
        console.print()
    for word, names in (("New", comparison.models.new), ("Gone", comparison.models.gone)):
        if names:
            print_line(console, f"{word} models: {listing(names, MAX_SHOWN)}")
    _settings(comparison, console)
    if comparison.models.stay:
        console.print()
        print_line(console, OUTSIDE_RULE)
        print_line(console, coefficient_meanings())
    for name, changes in comparison.changes.items():
        print_title(console, name)
        if not any(change.changed for change in changes):
            print_line(console, f"  {NOTHING}")
            continue
        rows = [
            (change.what, amount_text(change.before), amount_text(change.after), outside_text(change))
            for change in changes
        ]
        _grid(console, ("before", "after", "outside"), rows, 2)


def _grid(console: Console, head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> None:
    from rich.text import Text

    table = plain_grid(numbers)
    if head:
        table.add_row("", "", *(Text(text, style="dim") for text in head))
    for label, *texts in rows:
        table.add_row("", *(Text(text) for text in (label, *texts)))
    console.print(table)
