"""What a comparison shows, for terminals and Markdown: counts, findings, cells, levels, forecast; or errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.documents import FindingRecord
from recombine.jobs.comparison.scores import ERRORS, AmountChange, ScoreComparison
from recombine.report.layout import Entry, Line, Section, text_grid
from recombine.words import comparison as say
from recombine.writing import listing, number, plural

#: Rows of a table, and names in a list, that a terminal shows.
MAX_ROWS_SHOWN = 8
_SIDES = ("before", "after")


def comparison_sections(
    comparison: AuditComparison | ScoreComparison, met: Sequence[str] = (), *, only_new: bool = False
) -> list[Section]:
    """Return what changed, and ``met``, what of ``--fail-on`` is there.

    With ``only_new`` findings that stay are counted and not repeated.
    """
    documents = [say.side_text(document, MAX_ROWS_SHOWN) for document in (comparison.before, comparison.after)]
    sides = [f"{word}: {text}" for word, text in zip(_SIDES, documents, strict=True)]
    headline = Line(say.comparison_headline(comparison), "bold")
    return [
        Section(say.comparison_title(comparison), sides),
        Section("", [headline, *say.comparison_notes(comparison)]),
        *changes_sections(comparison, MAX_ROWS_SHOWN, only_new=only_new),
        *(Section("", [Line(f"--fail-on {phrase}", "bold red")]) for phrase in met),
    ]


def changes_sections(
    comparison: AuditComparison | ScoreComparison, limit: int, *, only_new: bool = False
) -> Iterator[Section]:
    """Yield the sections of what changed, at most ``limit`` rows in tables of cells and names in lists."""
    if not comparison.changed:
        return
    if isinstance(comparison, ScoreComparison):
        yield from _scores(comparison, limit)
        yield _settings(comparison)
        return
    counts = [(word, *say.count_text(comparison, word)) for word in say.shown_counts(comparison)]
    yield Section("Cells by verdict", [text_grid(counts, ["cells", *_SIDES, "change"], 3)], open=True)
    findings = comparison.findings
    yield Section("New findings", _findings(findings.new, limit), open=True)
    yield Section("Findings that are gone", _findings(findings.gone, limit))
    yield from _cells(comparison, limit)
    names = {"factors": comparison.factors} | {f"levels of {name}": item for name, item in comparison.levels.items()}
    changed: list[Sequence[str | Entry]] = [
        (name, *(_names(side, limit) for side in (item.new, item.gone))) for name, item in names.items() if item.changed
    ]
    yield Section("Factors and levels", [text_grid(changed, ["", "new", "gone"]) if changed else None])
    yield _settings(comparison)
    forecast = [(name, number(old), number(new)) for name, (old, new) in say.forecast_rows(comparison).items()]
    moved = any(old != new for old, new in comparison.forecast.values())
    yield Section(say.ERRORS_TITLE, [text_grid(forecast, ["", *_SIDES], 2) if moved else None])
    stay = [new for _, new in findings.stay]
    if stay and only_new:
        yield Section("", [say.stay_sentence(len(stay))])
    else:
        yield Section("Findings that stay", _findings(stay, limit))


def _findings(findings: Sequence[FindingRecord], limit: int) -> list[str]:
    return [
        f"{item.code} {item.title} ({item.severity}){f' [{listing(item.subjects, limit)}]' if item.subjects else ''}: "
        f"{item.message}"
        for item in say.findings_by_code(findings)
    ]


def _names(names: Sequence[str], limit: int, between: str = ", ") -> Entry:
    text = listing(names, limit) if between == ", " else between.join(names)
    return Entry(text, names=names, between=between)


def _cells(comparison: AuditComparison, limit: int) -> Iterator[Section]:
    moved = comparison.transitions
    if moved is None or not moved.changed.any():
        return
    steps = [(row["before"], row["after"], f"{row['cells']:,}") for row in moved.table.rows()]
    yield Section("What became of cells", [text_grid(steps, [*_SIDES, "cells"], 1, labels=2)])
    for which, title in ((moved.lost, say.LOST_TITLE), (moved.gained, say.GAINED_TITLE)):
        count = int(which.sum())
        rows = [
            (_names(list(step.cell.values()), len(step.cell), " · "), step.before, step.after)
            for step in moved.listed(which, limit)
        ]
        more = f"and {count - limit:,} more" if count > limit else ""
        yield Section(
            title.format(cells=plural(count, "cell")),
            [text_grid(rows, [" · ".join(moved.levels), *_SIDES]) if rows else None, more],
        )


def _settings(comparison: AuditComparison | ScoreComparison) -> Section:
    rows = [(name, old, new) for name, (old, new) in comparison.settings.items()]
    return Section("What differs besides", [text_grid(rows, ["", *_SIDES]) if rows else None])


def _scores(comparison: ScoreComparison, limit: int) -> Iterator[Section]:
    errors = [
        (_names([name], limit), *_moved(change))
        for name, changes in comparison.changes.items()
        for change in changes
        if change.what == ERRORS[0]
    ]
    if errors:
        grid = text_grid(errors[:limit], [f"model: {ERRORS[0]}", *_SIDES, "outside the ranges"], 2)
        yield Section(ERRORS[0].capitalize(), [grid, say.OUTSIDE_RULE], open=True)
    models = [("new", comparison.models.new), ("gone", comparison.models.gone)]
    rows = [(word, _names(names, limit)) for word, names in models if names]
    yield Section("Models", [text_grid(rows, ["", "models"]) if rows else None], open=True)
    changed = {name: changes for name, changes in comparison.changes.items() if any(item.changed for item in changes)}
    for name, changes in list(changed.items())[:limit]:
        every = [(change.what, *_moved(change)) for change in changes]
        yield Section(say.CAUSES_TITLE.format(model=name), [text_grid(every, ["", *_SIDES, "outside"], 2)])
    yield Section("Coefficients", [say.coefficient_meanings() if changed else ""])


def _moved(change: AmountChange) -> tuple[str, str, Entry]:
    outside = Entry(say.outside_text(change), style="bold" if change.outside else "")
    return say.amount_text(change.before), say.amount_text(change.after), outside
