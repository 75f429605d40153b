"""The report: one HTML file that needs nothing else, readable without scripts, colour or a mouse."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import InputError, plural
from recombine.report import wording
from recombine.report.audit import page_tables as tables
from recombine.report.audit.additivity_figure import AdditivityFigure
from recombine.report.audit.certificates import shown_certificates
from recombine.report.audit.forecast_figure import SlopeFigure
from recombine.report.audit.models_figure import ModelsFigure
from recombine.report.audit.verdict_map import VerdictMap
from recombine.report.theme import ink_on
from recombine.tables.table import Table
from recombine.verdicts import Severity, Verdict

if TYPE_CHECKING:
    from jinja2 import Environment

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
    parts = {
        "head": _head(audit),
        "map": _map(audit),
        "coverage": _coverage(audit),
        "additivity": _additivity(audit),
        "forecast": _forecast(audit),
        "models": _models(audit, models),
        "advice": _advice(audit.suggest(suggestions) if plan is None else plan),
        "certificates": shown_certificates(audit),
        "words": _words(audit, command),
    }
    text: str = _environment().get_template("page.html.j2").render(audit=audit, design=audit.design, **parts)
    return text


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("recombine.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "number": wording.number,
        "amount": wording.amount,
        "plain": wording.plain,
        "ink_on": ink_on,
    }
    environment.globals |= {
        "Verdict": Verdict,
        "joined": wording.joined,
        "percent": wording.percent,
        "plural": plural,
        "assumption": wording.assumption,
        "style": Markup((files("recombine.report") / "style.css").read_text(encoding="utf-8")),
    }
    return environment


def _head(audit: Audit) -> dict[str, Any]:
    found = wording.tally(audit)
    marks = {Severity.PROBLEM: "▲", Severity.WARNING: "△", Severity.NOTE: "○"}
    return {
        "answer": [wording.verdict_sentence(audit), wording.additivity_sentence(audit)],
        "tally": found,
        "shares": [(v, found.counts[v], found.counts[v] / max(found.total, 1)) for v in Verdict if found.counts[v]],
        "counts": tables.counts_table(audit),
        "findings": [(finding, marks[finding.severity]) for finding in audit.findings],
        "proposals": tables.proposals_table(audit) if audit.design.proposals else None,
        "symmetric": [[audit.design.names[member] for member in group] for group in audit.design.symmetric],
    }


def _map(audit: Audit) -> dict[str, Any]:
    chart = VerdictMap(audit)
    binned = [panel for panel in chart.shown if panel.row.binned or panel.column.binned]
    return {
        "chart": chart,
        "svg": _svg(chart),
        "levels": tables.levels_table(chart.levels, chart.mapped),
        "open": tables.open_table(audit),
        "binned": bool(binned),
        "left_out": len(chart.all_panels) - len(chart.shown),
        "whole": chart.mapped.whole,
        "unsampled": any(bool(panel.unsampled.any()) for panel in chart.shown),
        "counted": len(chart.mapped.cells),
    }


def _coverage(audit: Audit) -> dict[str, Any]:
    return {
        "found": audit.coverage,
        "unit": "Rows" if audit.coverage.measurements == audit.coverage.rows else "Measurements",
        "ways": tables.ways_table(audit.coverage),
        "sparse": tables.sparse_table(audit.coverage),
    }


def _additivity(audit: Audit) -> dict[str, Any]:
    check = audit.additivity
    figure = _drawn(AdditivityFigure, audit) if check is not None and check.orders else None
    return {
        "check": check,
        "figure": figure,
        "svg": _svg(figure) if figure is not None else None,
        "orders": tables.orders_table(audit),
        "breakers": tables.breakers_table(audit),
        "held_out": tables.held_out_table(audit),
    }


def _forecast(audit: Audit) -> dict[str, Any]:
    found = audit.forecast
    figure = _drawn(SlopeFigure, audit)
    return {
        "found": found,
        "slopes": tables.slopes_table(found) if len(found.slopes) else None,
        "svg": _svg(figure) if figure is not None else None,
        "shortcuts": tables.shortcuts_table(found),
        "misleading": [item for item in found.shortcuts if item.misleads],
        "accuracy": tables.accuracy_table(found),
    }


def _models(audit: Audit, models: Table | None) -> dict[str, Any] | None:
    if models is None or not len(models):
        return None
    figure = ModelsFigure(models, audit.design.outcome_name or "outcome")
    return {"table": tables.models_table(models), "svg": _svg(figure)}


def _advice(plan: Plan) -> dict[str, Any]:
    return {"plan": plan, "table": tables.plan_table(plan) if plan.picks else None}


def _words(audit: Audit, command: str | None) -> dict[str, Any]:
    return {
        "verdicts": list(Verdict),
        "decided": wording.decided_how(audit),
        "counted": wording.counted_how(audit),
        "command": command,
        "versions": [("recombine", __version__), ("Python", platform.python_version())]
        + [(name, version(name)) for name in LIBRARIES],
    }


def _drawn(kind: Any, audit: Audit) -> Any:
    """Return the figure, or None where there is nothing to draw."""
    try:
        return kind(audit)
    except InputError:
        return None


def _svg(figure: Any) -> Any:
    from markupsafe import Markup

    # The figure's own text was escaped when it was drawn.
    return Markup(figure.svg())
