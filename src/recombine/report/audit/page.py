"""The report: one HTML file that needs nothing else, readable without scripts, colour or a mouse."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import words
from recombine.errors import InputError
from recombine.jobs.audit.certificates import certificates_to_show
from recombine.jobs.findings.finding import Severity
from recombine.report.audit import page_tables as tables
from recombine.report.audit.embedded_cells import embedded_cells, script_json
from recombine.report.audit.figures import AdditivityFigure, ModelsFigure, ShareFigure, StructureFigure
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.templates import fill_template
from recombine.table_spec import spec_command
from recombine.verdicts import Verdict
from recombine.words import captions

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.tables.table import Table

_MARKS = {Severity.PROBLEM: "▲", Severity.WARNING: "△", Severity.NOTE: "○"}


def page(
    audit: Audit,
    *,
    models: Table | None = None,
    next_cells: int | None = 5,
    plan: Plan | None = None,
    command: str | None = None,
) -> str:
    """Return the report of ``audit`` as one self-contained HTML document.

    ``models`` is what ``audit.compare_models()`` returned, and ``plan`` what ``audit.plan(...)`` did; without it so
    many ``next_cells`` are planned (None: as many as determine everything). ``command`` is the one that made the
    report; by default the one that reads the table likewise.

    Examples
    --------
    >>> import recombine as rc
    >>> text = page(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    >>> text.startswith("<!doctype html>"), "determined" in text
    (True, True)
    """
    advised = audit.plan(next_cells) if plan is None else plan
    chart, shown = VerdictMap(audit), certificates_to_show(audit.values)
    return fill_template(
        "page.html.j2",
        audit=audit,
        design=audit.design,
        tables=tables,
        answer=words.audit_answer.audit_answer(audit, advised),
        reading=_reading(audit),
        findings=[(finding, _MARKS[finding.severity]) for finding in audit.findings],
        map=_map(chart),
        scatter=_scatter(audit),
        structure=None if audit.choice.ladder is None else StructureFigure(audit),
        shares=None if audit.values.shares is None else ShareFigure(audit),
        models=ModelsFigure(models, audit.design.outcome_column.name or "outcome") if models else None,
        plan=advised,
        certificates=shown,
        command=command or spec_command("audit", audit.design.reading.source, audit.design.spec),
        asked=script_json(embedded_cells(audit, chart, [item.certificate for item in shown])),
    )


def _reading(audit: Audit) -> list[str]:
    """Return how the table was read, where the answer has no room for all of it."""
    reading = words.reading.reading_sentences(audit.design)
    return reading if len({sentence.partition(":")[0] for sentence in reading}) < len(reading) else []


def _map(chart: VerdictMap) -> dict[str, Any]:
    return {
        "chart": chart,
        "nothing": _no_map(chart),
        "unit": _map_unit(chart),
        "binned": any(panel.row.binned or panel.column.binned for panel in chart.shown),
        "unsampled": any(bool(panel.unsampled.any()) for panel in chart.shown),
        "impossible": any(bool(panel.impossible.any()) for panel in chart.shown),
    }


def _no_map(chart: VerdictMap) -> str:
    """Say why a map would show nothing."""
    middle = None if chart.sure is None or chart.tells else float(np.median(chart.sure.values))
    return captions.no_map_sentence(chart.quantity, middle, bool((chart.mapped.codes == Verdict.SEEN).all()))


def _map_unit(chart: VerdictMap) -> str:
    """Say what a place's shade averages, where it is not the cell's own."""
    if chart.steps is None or chart.single:
        return ""
    mean = "root mean square" if chart.sure is not None and chart.sure.power == 2 else "mean"
    return captions.SHADE.format(quantity=chart.quantity.partition(" (")[0], mean=mean)


def _scatter(audit: Audit) -> AdditivityFigure | None:
    with suppress(InputError):  # there is nothing to draw
        return AdditivityFigure(audit)
    return None
