"""The audit in a screenful: the same words as the report, for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from recombine.audit.advise import Plan
from recombine.tables import Table
from recombine.theory.counts import Counts
from recombine.verdicts import Finding, Severity, Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from recombine.audit.audit import Audit

_STYLES = {Severity.NOTE: "dim", Severity.WARNING: "yellow", Severity.PROBLEM: "bold red"}
_BAR = 24


def summary_text(audit: Audit, width: int = 110) -> str:
    """Return the summary as plain text without colours."""
    from rich.console import Console

    buffer = io.StringIO()
    show(audit, Console(file=buffer, width=width, no_color=True, highlight=False, emoji=False))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def show(audit: Audit, console: Console, plan: Plan | None = None, models: Table | None = None) -> None:
    """Print the audit to a rich console, with suggestions and a model comparison when they are given."""
    _heading(audit, console)
    _verdicts(audit, console)
    _coverage(audit, console)
    _assumption(audit, console)
    _forecast(audit, console)
    if models is not None:
        _models(models, console)
    if plan is not None:
        _plan(plan, console)
    _example(audit, console)
    _findings(audit.findings, console)


def _heading(audit: Audit, console: Console) -> None:
    design = audit.design
    factors = " × ".join(f"{factor.name} ({len(factor.levels):,})" for factor in design.factors)
    outcome = f", outcome {design.outcome_name}" if design.outcome_name else ""
    _line(console, f"Recombine audit of {design.source}", "bold")
    rows, measurements = audit.coverage.rows, audit.coverage.measurements
    behind = "" if measurements == rows else f" ({measurements:,.0f} measurements)"
    _line(console, f"{factors}{outcome}; {rows:,} training rows{behind}", "")
    if design.symmetric:
        groups = "; ".join(" and ".join(design.names[member] for member in group) for group in design.symmetric)
        _line(console, f"one factor used twice: {groups}", "")
    if design.proposals:
        _line(console, "The factors are a guess; name them with --factors to be sure.", "bold yellow")


def _verdicts(audit: Audit, console: Console) -> None:
    unseen = audit.counts.total - audit.counts[Verdict.SEEN]
    console.print()
    _line(
        console,
        f"{audit.counts.total:,} combinations, {audit.counts[Verdict.SEEN]:,} seen "
        f"({_percent(audit.counts[Verdict.SEEN], audit.counts.total)}), {unseen:,} unseen:",
        "bold",
    )
    if audit.listing.kind == "targets":
        _line(console, f"{len(audit.listing.cells):,} target cells, at order {audit.order}:", "bold")
        tally = np.bincount(audit.codes, minlength=len(Verdict))
        console.print(_bars({verdict: int(tally[verdict]) for verdict in Verdict}, len(audit.codes), True))
        _line(console, "and over the full product:", "")
    orders = [(1, audit.first_counts)] if audit.order == 1 else [(1, audit.first_counts), (audit.order, audit.counts)]
    for order, counts in orders:
        _line(console, f"  if effects add{'' if order == 1 else f' up to interactions of {order} factors'}:", "dim")
        console.print(_bars(counts.by_verdict, unseen, False))
        _line(console, f"  {_how(audit, counts)}", "dim")


def _how(audit: Audit, counts: Counts) -> str:
    if not counts.exact:
        return f"estimated from {counts.sampled:,} random cells, 95 % interval in the report; seen counts are exact"
    route = audit.identification.route
    if route == "projection":
        gap = audit.identification.gap
        width = f"zeros below {gap.zero:.0e}, others above {gap.nonzero:.0e}" if gap is not None else "gap not measured"
        return f"decided by floating-point projection ({width})"
    return {
        "graph": "decided exactly, by connectivity",
        "exact": "decided exactly, by rank in modular arithmetic",
    }[route]


def _bars(counts: dict[Verdict, int], total: int, with_seen: bool) -> RichTable:
    from rich.text import Text

    table = _grid(numbers=2)
    for verdict in Verdict:
        count = counts[verdict]
        if (verdict is Verdict.SEEN and not with_seen) or (verdict is Verdict.UNDECIDED and not count):
            continue
        bar = "█" * round(_BAR * count / total) if total else ""
        colour = verdict.colour if verdict is not Verdict.UNSEEN_LEVEL else "default"
        shown = Text(bar or "▏", style=colour)
        table.add_row(f"  {verdict.symbol} {verdict.word}", f"{count:,}", _percent(count, total), shown)
    return table


def _coverage(audit: Audit, console: Console) -> None:
    coverage = audit.coverage
    strengths = sorted({int(t) for t in coverage.ways["t"]})
    ways = ", ".join(f"{t}-way {coverage.share(t):.1%}" for t in strengths)
    low, middle, high = coverage.per_cell
    thin = [f"{row['factor']} {row['level']}" for row in coverage.levels.rows() if row["cells"] <= 1]
    console.print()
    _line(console, "Coverage", "bold")
    _line(console, f"  {ways}; measurements per seen cell {low:,.6g} to {high:,.6g} (median {middle:,.6g})", "")
    if thin:
        shown = ", ".join(thin[:6]) + (f" and {len(thin) - 6} more" if len(thin) > 6 else "")
        _line(console, f"  levels seen in one cell at most: {shown}", "")


def _assumption(audit: Audit, console: Console) -> None:
    console.print()
    _line(console, "Does additivity hold here?", "bold")
    if audit.additivity is None:
        _line(console, "  Not checked: no outcome was named. Every verdict holds only if effects add.", "")
        return
    for order in sorted({1, audit.order}):
        _line(console, f"  {audit.additivity.statement_at(order)}", "")
    worst = list(audit.additivity.breakers(3).rows())
    if worst and audit.additivity.word != "cannot be checked":
        cells = "; ".join(
            f"{' · '.join(str(row[name]) for name in audit.design.names)} ({row['difference']:+.3g})" for row in worst
        )
        _line(console, f"  Cells that depart most: {cells}", "")


def _forecast(audit: Audit, console: Console) -> None:
    slopes = audit.forecast.slopes
    if not len(slopes):
        return
    console.print()
    _line(console, "What your model will do", "bold")
    _line(console, "  Share of each factor's effect that reaches unseen cells, ReLU network by hidden layers:", "")
    from rich.text import Text

    table = _grid(numbers=len(slopes.columns) - 1)
    table.add_row("", *slopes.columns[1:])
    for row in slopes.rows():
        values = list(row.values())
        table.add_row(Text(f"  {values[0]}"), *(_share(value) for value in values[1:]))
    console.print(table)


def _share(value: float) -> str:
    return "not varied" if np.isnan(value) else f"{value:.0%}"


def _models(models: Table, console: Console) -> None:
    console.print()
    _line(console, "Error by verdict when trained on part of the seen cells (root mean square)", "bold")
    table = _grid()
    table.add_column()
    for _ in range(3):
        table.add_column(justify="right")
    words = [Verdict.DETERMINED.word, Verdict.DISCONNECTED.word, Verdict.UNSEEN_LEVEL.word]
    table.add_row("  trained on", "model", *words)
    for row in models.rows():
        errors = ["-" if np.isnan(row[word]) else f"{row[word]:.1f}" for word in words]
        table.add_row(f"  {row['share']:.0%} of cells", row["model"], *errors)
    console.print(table)


def _plan(plan: Plan, console: Console) -> None:
    console.print()
    _line(console, "What to collect next", "bold")
    if plan.needed:
        _line(console, f"  {plan.needed:,} well-chosen cells would determine everything.", "")
    if not plan.picks:
        _line(console, "  Nothing: no further cell can be collected that would help.", "")
        return
    from rich.text import Text

    table = _grid()
    costs = len(set(plan.table["cost"].tolist())) > 1
    for row in plan.table.rows():
        cell = " · ".join(str(row[name]) for name in plan.design.names)
        table.add_row(Text(f"  {cell}"), f"→ {row['gain']}", f"cost {row['cost']:g}" if costs else "")
    console.print(table)


def _example(audit: Audit, console: Console) -> None:
    """Show one certificate: the determined cell with the largest leverage, the one most worth a look."""
    known = np.flatnonzero(audit.codes == Verdict.DETERMINED)
    if not len(known):
        return
    shakiest = int(known[np.nanargmax(audit.leverage[known])])
    console.print()
    _line(console, "A certificate (the determined cell with the largest leverage)", "bold")
    for line in audit.explain(shakiest).splitlines()[1:]:
        _line(console, f"  {line.strip()}", "")


def _findings(findings: Iterable[Finding], console: Console) -> None:
    console.print()
    _line(console, "Findings", "bold")
    for finding in findings:
        _line(console, f"  {finding}", _STYLES[finding.severity])


def _line(console: Console, text: str, style: str) -> None:
    """Print one paragraph; its leading blanks become a hanging indent."""
    from rich.padding import Padding
    from rich.text import Text

    body = text.lstrip(" ")
    console.print(Padding(Text(body, style=style), (0, 0, 0, len(text) - len(body))))


def _grid(numbers: int = 0) -> RichTable:
    """Return a table without lines: one text column, then ``numbers`` right-aligned ones, then text."""
    from rich.table import Table as RichTable

    table = RichTable(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column()
    for _ in range(numbers):
        table.add_column(justify="right")
    return table


def _percent(part: int, whole: int) -> str:
    """Share in per cent; never rounded to none or all when it is neither."""
    if not whole:
        return "0.0 %"
    # Integer arithmetic: the product may exceed what a float can hold.
    tenths = (2000 * part + whole) // (2 * whole)
    if part and not tenths:
        return "<0.1 %"
    return ">99.9 %" if tenths == 1000 and part < whole else f"{tenths / 10:.1f} %"
