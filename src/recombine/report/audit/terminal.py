"""The audit in a screenful: the same words as the report, for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.advice.plan import Plan
from recombine.tables.table import Table
from recombine.theory.identification.counts import Counts
from recombine.verdicts import Finding, Severity, Verdict, rounded

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.coverage import Coverage
    from recombine.theory.identification.identify import Identification

_STYLES = {Severity.NOTE: "dim", Severity.WARNING: "yellow", Severity.PROBLEM: "bold red"}
_BAR = 24
#: Seen cells up to which a certificate is found at once; beyond, only when it is asked for.
QUICK_SEARCH = 600


def audit_text(audit: Audit, width: int = 110) -> str:
    """Return the summary as plain text without colours."""
    from rich.console import Console

    buffer = io.StringIO()
    show_audit(audit, Console(file=buffer, width=width, no_color=True, highlight=False, emoji=False))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def show_audit(audit: Audit, console: Console, plan: Plan | None = None, models: Table | None = None) -> None:
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
    counts = audit.counts
    unseen = counts.total - counts[Verdict.SEEN]
    console.print()
    if audit.listing.kind == "targets":
        _line(console, f"{len(audit.listing.cells):,} target cells, {_if_effects_add(audit, audit.order)}:", "bold")
        tally = np.bincount(audit.codes, minlength=len(Verdict))
        console.print(_bars({verdict: int(tally[verdict]) for verdict in Verdict}, len(audit.codes), seen=True))
        console.print()
    share = _percent(counts[Verdict.SEEN], counts.total)
    product = "The full product" if audit.listing.kind == "targets" else "All combinations"
    _line(
        console, f"{product}: {counts.total:,} cells, {counts[Verdict.SEEN]:,} seen ({share}), {unseen:,} not", "bold"
    )
    orders = [(1, audit.first_counts)] if audit.order == 1 else [(1, audit.first_counts), (audit.order, counts)]
    for order, found in orders:
        _line(console, f"  unseen cells, {_if_effects_add(audit, order)}:", "")
        console.print(_bars(found.by_verdict, unseen, exact=found.exact))
        _line(console, f"  {_how(audit.first if order == 1 else audit.identification, found)}", "dim")
    if audit.listing.kind == "sample":
        _line(console, f"  {audit.listing.note}", "dim")


#: How the check of the assumption reads where the verdicts are counted, so that no count looks stronger than it is.
_ASSUMED = {
    "holds": "they do, see below",
    "holds roughly": "they do roughly, see below",
    "does not hold": "they do not, see below",
    "is not shown to hold": "that is not shown, see below",
    "cannot be checked": "not checked",
}


def _if_effects_add(audit: Audit, order: int) -> str:
    word = "cannot be checked" if audit.additivity is None else audit.additivity.word_at(order)
    model = "if effects add" if order == 1 else f"if effects add up to interactions of {order} factors"
    return f"{model} ({_ASSUMED[word]})"


def _how(engine: Identification, counts: Counts) -> str:
    if not counts.exact:
        low, high = (_percent(side[Verdict.DETERMINED], counts.total) for side in (counts.low, counts.high))
        return (
            f"estimated from {counts.sampled:,} random cells (determined: {low} to {high} of all cells, with 95 % "
            "confidence); total, seen and unseen level are exact"
        )
    if engine.route == "projection":
        gap = engine.gap
        width = f"zeros below {gap.zero:.0e}, others above {gap.nonzero:.0e}" if gap is not None else "gap not measured"
        return f"decided by floating-point projection ({width})"
    return {
        "graph": "decided exactly, by connectivity",
        "exact": "decided exactly, by rank in modular arithmetic",
    }[engine.route]


def _bars(counts: dict[Verdict, int], total: int, *, seen: bool = False, exact: bool = True) -> RichTable:
    """Return one line a verdict: symbol, word, count, share and a bar; counts known by sampling only are rounded."""
    from rich.text import Text

    table = _grid(numbers=2)
    for verdict in Verdict:
        count = counts[verdict]
        if (verdict is Verdict.SEEN and not seen) or (verdict is Verdict.UNDECIDED and not count):
            continue
        bar = "█" * round(_BAR * count / total) if total else ""
        colour = verdict.colour if verdict is not Verdict.UNSEEN_LEVEL else "default"
        shown = Text(bar or ("▏" if count else ""), style=colour)
        known = exact or verdict is Verdict.UNSEEN_LEVEL
        number = f"{count:,}" if known else f"about {rounded(count):,}"
        table.add_row("", f"{verdict.symbol} {verdict.word}", number, _percent(count, total), shown)
    return table


def _coverage(audit: Audit, console: Console) -> None:
    coverage = audit.coverage
    strengths = sorted({int(t) for t in coverage.ways["t"]})
    ways = ", ".join(f"{t}-way {_overall(coverage, t)}" for t in strengths)
    low, middle, high = coverage.per_cell
    thin = [f"{row['factor']}={row['level']}" for row in coverage.levels.rows() if row["cells"] <= 1]
    console.print()
    _line(console, "Coverage", "bold")
    spread = f"{low:,.6g}" if low == high else f"{low:,.6g} to {high:,.6g} (median {middle:,.6g})"
    _line(console, f"  {ways}; measurements per seen cell: {spread}", "")
    if thin:
        shown = ", ".join(thin[:6]) + (f" and {len(thin) - 6:,} more" if len(thin) > 6 else "")
        _line(console, f"  levels seen in one cell at most: {shown}", "")


def _overall(coverage: Coverage, t: int) -> str:
    row = coverage.ways.where((coverage.ways["t"] == t) & (coverage.ways["factors"] == "all"))
    return _percent(int(row["seen"][0]), int(row["possible"][0]))


def _assumption(audit: Audit, console: Console) -> None:
    console.print()
    _line(console, "Does additivity hold here?", "bold")
    if audit.additivity is None:
        _line(console, "  Not checked: no outcome was named. Every verdict holds only if effects add.", "")
        return
    for order in sorted({1, audit.order}):
        _line(console, f"  {audit.additivity.statement_at(order)}", "")
    _held_out(audit, console)
    worst = list(audit.additivity.breakers(3).rows())
    if worst and audit.additivity.word != "cannot be checked":
        count = len(audit.design.names)
        cells = "; ".join(
            f"{' · '.join(str(level) for level in list(row.values())[:count])} ({row['difference']:+.3g})"
            for row in worst
        )
        _line(console, f"  Cells that depart most: {cells}", "")


def _held_out(audit: Audit, console: Console) -> None:
    """Show how the values that follow compare with the outcomes of the held-out rows."""
    if audit.held_out_errors is None:
        return
    parts = []
    for row in audit.held_out_errors.rows():
        error = row["additive error"]
        scored = (
            "" if np.isnan(error) else f", off by {_amount(error)} (the plain mean by {_amount(row['mean error'])})"
        )
        parts.append(f"{row['cells']:,} {row['verdict']}{scored}")
    _line(console, f"  Held-out cells: {'; '.join(parts)}", "")


def _forecast(audit: Audit, console: Console) -> None:
    slopes, accuracy = audit.forecast.slopes, audit.forecast.accuracy
    varied = [row for row in slopes.rows() if not np.isnan(row["depth 1"])]
    console.print()
    _line(console, "What your model will do", "bold")
    if not varied and accuracy is None:
        _line(console, f"  Not forecast: {audit.forecast.obstacle}.", "")
    if varied:
        _line(console, "  Share of each factor's effect that reaches unseen cells, by depth of a ReLU network:", "")
        console.print(_slope_table(slopes))
    if accuracy is not None:
        for loss in ("cross-entropy", "squared"):
            shares = accuracy["accuracy"][accuracy["loss"] == loss]
            shown = f"{shares[0]:.0%}" if np.ptp(shares) < 0.005 else f"{shares.min():.0%} to {shares.max():.0%}"
            _line(console, f"  Accuracy on held-out unseen cells with {loss} loss, depth 1 to 4: {shown}", "")


def _slope_table(slopes: Table) -> RichTable:
    from rich.text import Text

    table = _grid(numbers=len(slopes.columns) - 1)
    table.add_row("", "", *slopes.columns[1:])
    for row in slopes.rows():
        values = list(row.values())
        table.add_row("", Text(str(values[0])), *(_share(value) for value in values[1:]))
    return table


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
    table.add_row("", "trained on", "model", *words)
    for row in models.rows():
        errors = [_error(row[word], row[f"{word} cells"]) for word in words]
        table.add_row("", f"{row['share']:.0%} of cells", row["model"], *errors)
    console.print(table)


def _error(value: float, cells: int) -> str:
    """An error, with the number of cells behind it where they are too few to trust."""
    if np.isnan(value):
        return "-"
    return _amount(value) if cells >= 10 else f"{_amount(value)} (n={cells})"


def _amount(value: float) -> str:
    """Three digits, without powers of ten where they can be avoided."""
    return f"{value:,.0f}" if 100 <= value < 1e9 else f"{value:.3g}"


def _plan(plan: Plan, console: Console) -> None:
    console.print()
    _line(console, "What to collect next", "bold")
    if plan.statement and (plan.needed or plan.beyond):
        _line(console, f"  {plan.statement}", "")
    shown = sum(pick.reason == "connect" for pick in plan.picks)
    if plan.needed and 0 < shown < plan.needed:
        _line(console, f"  The first {shown} of them (all: --suggest {plan.needed}):", "")
    if not plan.picks:
        _line(console, "  Nothing: there is no further cell to collect that would help much.", "")
        return
    from rich.text import Text

    table = _grid()
    costs = len({pick.cost for pick in plan.picks}) > 1
    for pick in plan.picks:
        cell = Text(plan.design.label(pick.cell))
        table.add_row("", cell, f"→ {plan.gain_text(pick)}", *([f"cost {pick.cost:g}"] if costs else []))
    console.print(table)


def _example(audit: Audit, console: Console) -> None:
    """Show one certificate: the determined cell with the largest leverage, the one most worth a look."""
    if audit.identification.route != "graph" and len(audit.design.seen) > QUICK_SEARCH:
        return
    known = np.flatnonzero((audit.codes == Verdict.DETERMINED) & ~np.isnan(audit.leverage))
    if not len(known):
        return
    shakiest = int(known[np.argmax(audit.leverage[known])])
    console.print()
    _line(console, "A certificate (the determined cell with the largest leverage)", "bold")
    for line in audit.explain(shakiest).splitlines()[1:]:
        _line(console, f"  {line.strip()}", "")


def _findings(findings: Iterable[Finding], console: Console) -> None:
    console.print()
    _line(console, "Findings", "bold")
    if not findings:
        _line(console, "  none", "")
    for finding in findings:
        _line(console, f"  {finding}", _STYLES[finding.severity])


def _line(console: Console, text: str, style: str) -> None:
    """Print one paragraph; its leading blanks become a hanging indent."""
    from rich.padding import Padding
    from rich.text import Text

    body = text.lstrip(" ")
    console.print(Padding(Text(body, style=style), (0, 0, 0, len(text) - len(body)), expand=False))


def _grid(numbers: int = 0) -> RichTable:
    """Return a table without lines: an indent, one text column, ``numbers`` right-aligned ones, then text."""
    from rich.table import Table as RichTable

    table = RichTable(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=0)
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
