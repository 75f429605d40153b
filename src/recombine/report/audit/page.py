"""The report: one HTML file that needs nothing else, readable without scripts, colour or a mouse."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import InputError
from recombine.jobs.audit.certificates import certificates_to_show
from recombine.report import wording
from recombine.report.audit import network_text
from recombine.report.audit import page_tables as tables
from recombine.report.audit.additivity_figure import AdditivityFigure
from recombine.report.audit.forecast_figure import SlopeFigure
from recombine.report.audit.models_figure import ModelsFigure
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.figure import Figure
from recombine.report.templates import fill_template, inline
from recombine.tables.table import Table
from recombine.verdicts import Severity, Verdict

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit

#: Libraries whose version the report states.
LIBRARIES = ("numpy", "scipy", "matplotlib")


def page(
    audit: Audit,
    *,
    models: Table | None = None,
    models_note: str = "",
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
    models_note : str
        A sentence to stand below it.
    suggestions : int or None
        How many cells to suggest; None for as many as it takes to determine everything.
    plan : Plan, optional
        What ``audit.suggest(...)`` returned, if it was asked already (with costs, say).
    command : str, optional
        The command that made the report, for its last section.

    Examples
    --------
    >>> import recombine as rc
    >>> text = page(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    >>> text.startswith("<!doctype html>"), "determined" in text
    (True, True)
    """
    advised = audit.suggest(suggestions) if plan is None else plan
    return fill_template(
        "page.html.j2",
        audit=audit,
        design=audit.design,
        head=_head(audit),
        map=_map(audit),
        coverage=_coverage(audit),
        additivity=_additivity(audit),
        forecast=_forecast(audit),
        models=_models(audit, models, models_note),
        advice={"plan": advised, "table": tables.plan_table(advised)},
        values=tables.values_table(audit),
        certificates=certificates_to_show(audit),
        words=_words(audit, command),
    )


def _head(audit: Audit) -> dict[str, Any]:
    found = wording.Tally.of(audit)
    marks = {Severity.PROBLEM: "▲", Severity.WARNING: "△", Severity.NOTE: "○"}
    return {
        "answer": [wording.verdict_sentence(audit), wording.additivity_sentence(audit)],
        "tally": found,
        "shares": [(v, found.counts[v], found.counts[v] / max(found.total, 1)) for v in Verdict if found.counts[v]],
        "counts": tables.counts_table(audit),
        "findings": [(finding, marks[finding.severity]) for finding in audit.findings],
        "proposals": tables.proposals_table(audit.design),
    }


def _map(audit: Audit) -> dict[str, Any]:
    chart = VerdictMap(audit)
    return {
        "chart": chart,
        "svg": inline(chart),
        "levels": tables.levels_table(chart.levels, chart.mapped),
        "open": tables.open_cells_table(audit),
        "binned": any(panel.row.binned or panel.column.binned for panel in chart.shown),
        "left_out": len(chart.all_panels) - len(chart.shown),
        "whole": chart.mapped.whole,
        "unsampled": any(bool(panel.unsampled.any()) for panel in chart.shown),
        "impossible": any(bool(panel.impossible.any()) for panel in chart.shown),
        "counted": len(chart.mapped.cells),
    }


def _coverage(audit: Audit) -> dict[str, Any]:
    found = audit.coverage
    return {"found": found, "ways": tables.ways_table(found), "sparse": tables.sparse_table(found)}


def _additivity(audit: Audit) -> dict[str, Any]:
    figure = _figure(AdditivityFigure, audit)
    return {
        "check": audit.additivity,
        "figure": figure,
        "svg": inline(figure) if figure is not None else None,
        "orders": tables.orders_table(audit),
        "breakers": tables.breakers_table(audit),
        "held_out": tables.held_out_table(audit),
    }


def _forecast(audit: Audit) -> dict[str, Any]:
    found, figure = audit.forecast, _figure(SlopeFigure, audit)
    return {
        "found": found,
        "errors": tables.errors_table(found),
        "depths": tables.depths_table(found),
        "slopes": tables.slopes_table(found),
        "svg": inline(figure) if figure is not None else None,
        "shortcuts": tables.shortcuts_table(found),
        "accuracy": tables.accuracy_table(found),
        "sentences": [
            network_text.error_sentence(audit),
            network_text.trust_sentence(found),
            network_text.early_sentence(found),
        ],
        "nothing": network_text.nothing_sentence(found),
        "untold": network_text.untold_sentence(found),
        "shortcut": network_text.shortcut_sentence(found),
        "left_out": found.left_out if found.error else "",
    }


def _models(audit: Audit, models: Table | None, note: str) -> dict[str, Any] | None:
    if models is None or not len(models):
        return None
    figure = ModelsFigure(models, audit.design.outcome_name or "outcome")
    return {"table": tables.models_table(models), "svg": inline(figure), "note": note}


def _words(audit: Audit, command: str | None) -> dict[str, Any]:
    return {
        "verdicts": list(Verdict),
        "command": command,
        "versions": [("recombine", __version__), ("Python", platform.python_version())]
        + [(name, version(name)) for name in LIBRARIES],
    }


def _figure(kind: type[AdditivityFigure] | type[SlopeFigure], audit: Audit) -> Figure | None:
    """Return the figure, or None where there is nothing to draw."""
    try:
        return kind(audit)
    except InputError:
        return None
