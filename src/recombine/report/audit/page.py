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
from recombine.report.audit.figures import AdditivityFigure, ModelsFigure, StructureFigure
from recombine.report.audit.sections import models_table, slopes_table
from recombine.report.audit.share_figure import ShareFigure
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.templates import fill_template, inline_both
from recombine.table_spec import spec_command
from recombine.verdicts import Verdict
from recombine.words import captions

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.tables.table import Table
    from recombine.words.answer import Answer


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
        head=_head(audit, words.audit_answer.audit_answer(audit, advised)),
        map=_map(audit, chart),
        coverage={"ways": tables.ways_table(audit.coverage), "sparse": tables.sparse_table(audit.coverage)},
        additivity=_additivity(audit),
        structure=_structure(audit),
        shares=_shares(audit),
        forecast=_forecast(audit),
        models=_models(audit, models),
        advice={"plan": advised, "table": tables.plan_table(advised)},
        values=tables.values_table(audit),
        certificates=shown,
        command=command or spec_command("audit", audit.design.reading.source, audit.design.spec),
        asked=script_json(embedded_cells(audit, chart, [item.certificate for item in shown])),
    )


def _head(audit: Audit, answer: Answer) -> dict[str, Any]:
    tally = words.verdicts.Tally.of(audit)
    marks = {Severity.PROBLEM: "▲", Severity.WARNING: "△", Severity.NOTE: "○"}
    reading = words.reading.reading_sentences(audit.design)
    return {
        "answer": answer.content,
        "reading": reading if len({sentence.partition(":")[0] for sentence in reading}) < len(reading) else [],
        "large": answer.large,
        "tally": tally,
        "shares": [(v, tally.counts[v], tally.counts[v] / max(tally.total, 1)) for v in Verdict if tally.counts[v]],
        "counts": tables.counts_table(audit),
        "weighted": {verdict: words.importance.importance_column(audit, verdict) for verdict in Verdict},
        "by_importance": words.importance.importance_shares(audit),
        "matters": words.importance.importance_statement(audit.decided.matters),
        "no_findings": words.importance.no_findings(audit),
        "left_out": words.verdicts.left_out_sentences(audit),
        "findings": [(finding, marks[finding.severity]) for finding in audit.findings],
        "proposals": tables.proposals_table(audit.design),
    }


def _map(audit: Audit, chart: VerdictMap) -> dict[str, Any]:
    return {
        "chart": chart,
        "svg": inline_both(chart) if chart.tells else None,
        "nothing": _no_map(chart),
        "unit": _map_unit(chart),
        "levels": tables.levels_table(chart.levels, chart.mapped),
        "open": tables.open_cells_table(audit),
        "binned": any(panel.row.binned or panel.column.binned for panel in chart.shown),
        "left_out": len(chart.all_panels) - len(chart.shown),
        "whole": chart.mapped.whole,
        "unsampled": any(bool(panel.unsampled.any()) for panel in chart.shown),
        "impossible": any(bool(panel.impossible.any()) for panel in chart.shown),
        "counted": len(chart.mapped.cells),
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


def _additivity(audit: Audit) -> dict[str, Any]:
    figure, check = None, audit.structure.additivity
    with suppress(InputError):  # there is nothing to draw
        figure = AdditivityFigure(audit)
    return {
        "check": check,
        "method": "" if check is None else words.additivity.method_phrase(check),
        "figure": figure,
        "svg": inline_both(figure) if figure is not None else None,
        "orders": tables.orders_table(audit),
        "breakers": tables.breakers_table(audit),
        "held_out": tables.held_out_table(audit),
    }


def _shares(audit: Audit) -> dict[str, Any] | None:
    if audit.values.shares is None:
        return None
    return {"svg": inline_both(ShareFigure(audit)), "table": tables.shares_table(audit)}


def _structure(audit: Audit) -> dict[str, Any] | None:
    ladder = audit.choice.ladder
    if ladder is None:
        return None
    figure = StructureFigure(audit)
    # A single rung needs no plot, unless there is a curve to see; nor do several that explain nothing beyond chance.
    drawn = (len(ladder.rungs) > 1 or figure.fit is not None) and not audit.values.at_mean
    return {
        "figure": figure,
        "svg": inline_both(figure) if drawn else None,
        "rungs": tables.rungs_table(ladder),
        "skipped": list(ladder.skipped.values()),
    }


def _forecast(audit: Audit) -> dict[str, Any]:
    forecast = audit.forecast
    return {
        "errors": tables.errors_table(audit),
        "depths": tables.depths_table(forecast),
        "slopes": slopes_table(forecast),
        "shortcuts": tables.shortcuts_table(forecast),
        "sentences": words.forecast.error_sentences(forecast),
    }


def _models(audit: Audit, models: Table | None) -> dict[str, Any] | None:
    if models is None or not len(models):
        return None
    figure = ModelsFigure(models, audit.design.outcome_column.name or "outcome")
    shown = words.forecast.models_sentence(audit, models)
    return {"table": models_table(models), "svg": inline_both(figure), "shown": shown}
