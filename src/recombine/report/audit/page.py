"""The report: one HTML file that needs nothing else, readable without scripts, colour or a mouse."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import words
from recombine._version import __version__
from recombine.errors import InputError
from recombine.jobs.audit.certificates import certificates_to_show
from recombine.jobs.findings.finding import Severity
from recombine.report.audit import page_tables as tables
from recombine.report.audit.embedded_cells import embedded_cells, script_json
from recombine.report.audit.figures.additivity_figure import AdditivityFigure
from recombine.report.audit.figures.models_figure import ModelsFigure
from recombine.report.audit.figures.structure_figure import StructureFigure
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.templates import fill_template, inline_both
from recombine.table_spec import spec_command
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.words.answer import answer
from recombine.words.importance import importance_column, importance_shares, no_findings
from recombine.writing import number

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit

#: Libraries whose version the report states.
LIBRARIES = ("numpy", "scipy", "matplotlib")


def page(
    audit: Audit,
    *,
    models: Table | None = None,
    suggestions: int | None = 5,
    plan: Plan | None = None,
    command: str | None = None,
) -> str:
    """Return the report of ``audit`` as one self-contained HTML document.

    Parameters
    ----------
    audit : Audit
    models : Table, optional
        What ``audit.compare_models()`` returned, to be shown by verdict.
    suggestions : int or None
        How many cells to suggest; None for as many as it takes to determine everything.
    plan : Plan, optional
        What ``audit.plan(...)`` returned, if it was asked already (with costs, say).
    command : str, optional
        The command that made the report, for its last section; by default the one that reads the table likewise.

    Examples
    --------
    >>> import recombine as rc
    >>> text = page(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    >>> text.startswith("<!doctype html>"), "determined" in text
    (True, True)
    """
    advised = audit.plan(suggestions) if plan is None else plan
    chart, shown = VerdictMap(audit), certificates_to_show(audit)
    return fill_template(
        "page.html.j2",
        audit=audit,
        design=audit.design,
        head=_head(audit),
        map=_map(audit, chart),
        coverage=_coverage(audit),
        additivity=_additivity(audit),
        structure=_structure(audit),
        forecast=_forecast(audit),
        models=_models(audit, models),
        advice={"plan": advised, "table": tables.plan_table(advised)},
        values=tables.values_table(audit),
        certificates=shown,
        glossary=_glossary(audit, command),
        asked=script_json(embedded_cells(audit, chart, [one.certificate for one in shown])),
    )


def _head(audit: Audit) -> dict[str, Any]:
    found = words.Tally.of(audit)
    marks = {Severity.PROBLEM: "▲", Severity.WARNING: "△", Severity.NOTE: "○"}
    return {
        "answer": answer(audit),
        "tally": found,
        "shares": [(v, found.counts[v], found.counts[v] / max(found.total, 1)) for v in Verdict if found.counts[v]],
        "counts": tables.counts_table(audit),
        "weighted": {verdict: importance_column(audit, verdict) for verdict in Verdict},
        "by_importance": importance_shares(audit),
        "matters": "" if audit.decided.matters is None else words.importance_statement(audit.decided.matters),
        "no_findings": no_findings(audit),
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
    if not (chart.mapped.codes != Verdict.SEEN).any():
        return "There is nothing to map: every combination was seen."
    if chart.sure is None or chart.tells:
        return "There is nothing to map: every unseen combination is determined."
    middle = number(float(np.median(chart.sure.values)))
    return (
        "There is nothing to map: every unseen combination is determined, and all are known about equally well "
        f"({chart.quantity}: {middle})."
    )


def _map_unit(chart: VerdictMap) -> str:
    """Say what a place's shade averages, where it is not the cell's own."""
    if chart.steps is None or chart.single:
        return ""
    how = "root mean square" if chart.sure is not None and chart.sure.power == 2 else "mean"
    return f"The {chart.quantity.partition(' (')[0]} is the {how} over a place's unseen combinations. "


def _coverage(audit: Audit) -> dict[str, Any]:
    found = audit.coverage
    return {"found": found, "ways": tables.ways_table(found), "sparse": tables.sparse_table(found)}


def _additivity(audit: Audit) -> dict[str, Any]:
    figure = _additivity_figure(audit)
    return {
        "check": audit.structure.additivity,
        "figure": figure,
        "svg": inline_both(figure) if figure is not None else None,
        "orders": tables.orders_table(audit),
        "breakers": tables.breakers_table(audit),
        "held_out": tables.held_out_table(audit),
    }


def _structure(audit: Audit) -> dict[str, Any] | None:
    ladder = audit.choice.ladder
    if ladder is None:
        return None
    figure = StructureFigure(audit)
    # A single rung needs no plot, unless there is a curve to see.
    drawn = len(ladder.rungs) > 1 or figure.fit is not None
    return {
        "figure": figure,
        "svg": inline_both(figure) if drawn else None,
        "rungs": tables.rungs_table(ladder),
        "skipped": list(ladder.skipped.values()),
    }


def _forecast(audit: Audit) -> dict[str, Any]:
    found = audit.forecast
    return {
        "found": found,
        "errors": tables.errors_table(audit),
        "depths": tables.depths_table(found),
        "slopes": tables.slopes_table(found),
        "shortcuts": tables.shortcuts_table(found),
        "accuracy": tables.accuracy_table(found),
        "sentences": [
            words.trust_sentence(found),
            words.depth_sentence(found) if len(found.depths) else "",
            words.early_sentence(found),
        ],
        "nothing": words.nothing_sentence(found),
        "untold": words.untold_sentence(found),
        "slopes_trust": words.slopes_trust(found),
        "shortcut": words.shortcut_sentence(found),
        "left_out": found.left_out if found.error else "",
    }


def _models(audit: Audit, models: Table | None) -> dict[str, Any] | None:
    if models is None or not len(models):
        return None
    figure = ModelsFigure(models, audit.design.outcome_name or "outcome")
    return {"table": tables.models_table(models), "svg": inline_both(figure)}


def _glossary(audit: Audit, command: str | None) -> dict[str, Any]:
    return {
        "verdicts": list(Verdict),
        "command": command or spec_command("audit", audit.design.source, audit.design.spec),
        "versions": [("recombine", __version__), ("Python", platform.python_version())]
        + [(name, version(name)) for name in LIBRARIES],
    }


def _additivity_figure(audit: Audit) -> AdditivityFigure | None:
    """Return the figure, or None where there is nothing to draw."""
    try:
        return AdditivityFigure(audit)
    except InputError:
        return None
