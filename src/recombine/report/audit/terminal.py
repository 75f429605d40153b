"""The audit in a screenful: what `recombine.words` says, laid out for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine import words
from recombine.jobs.advice.plan import Plan
from recombine.jobs.findings.finding import Severity
from recombine.jobs.listing import ListingKind
from recombine.report.screen import plain_grid, plain_text, print_line, print_title
from recombine.tables.table import Table
from recombine.theory.identification.nullspace import Route
from recombine.verdicts import Verdict
from recombine.words.answer import answer
from recombine.words.importance import importance_column, no_findings
from recombine.words.verdicts import Tally
from recombine.writing import number, percent, written_count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.forecast import ErrorForecast, Forecast

_STYLES = {Severity.NOTE: "dim", Severity.WARNING: "yellow", Severity.PROBLEM: "bold red"}
_BAR = 24
#: Seen cells up to which a certificate is found at once; beyond, only when it is asked for.
QUICK_SEARCH = 600


def audit_text(audit: Audit, width: int = 110) -> str:
    """Return the summary as plain text without colours."""
    return plain_text(lambda console: show_audit(audit, console), width)


def show_audit(audit: Audit, console: Console, plan: Plan | None = None, models: Table | None = None) -> None:
    """Print the audit to a rich console, with suggestions and a model comparison when they are given."""
    _heading(audit, console)
    _answer(audit, console)
    _verdicts(audit, console)
    _coverage(audit, console)
    _additivity(audit, console)
    _structure(audit, console)
    _forecast(audit, console)
    if models is not None:
        _models(models, console)
    if plan is not None:
        _plan(plan, console)
    _example(audit, console)
    _left_out(audit, console)
    _findings(audit, console)


def _paragraphs(console: Console, *texts: str) -> None:
    """Print indented paragraphs, those that say something."""
    for text in texts:
        if text:
            print_line(console, f"  {text}")


def _heading(audit: Audit, console: Console) -> None:
    design = audit.design
    outcome = f", outcome {design.outcome_name}" if design.outcome_name else ""
    print_line(console, f"Recombine audit of {design.source}", "bold")
    print_line(console, f"{design.title}{outcome}; {words.rows_phrase(audit.coverage)}")
    notes = [words.weight_sentence(design), words.impossible_sentence(design)]
    notes += [] if audit.decided.matters is None else [words.importance_statement(audit.decided.matters)]
    for phrase in [*words.twin_phrases(design), *words.scale_sentences(design), *notes]:
        if phrase:
            print_line(console, phrase)
    if design.proposals:
        print_line(console, words.GUESS, "bold yellow")


def _answer(audit: Audit, console: Console) -> None:
    console.print()
    for sentence in answer(audit):
        print_line(console, sentence, "bold")


def _verdicts(audit: Audit, console: Console) -> None:
    counts, asked = audit.decided.counts, Tally.of(audit)
    if asked.targets:
        print_title(console, f"{asked.total:,} target cells, {words.condition(audit, audit.order)}:")
        console.print(_bars(asked, asked.total, audit))
    product = "The full product" if asked.targets else "All combinations"
    if not audit.design.possible.whole:
        product = "All combinations that can exist"
    seen, unseen = counts[Verdict.SEEN], counts.total - counts[Verdict.SEEN]
    share = percent(seen, counts.total)
    print_title(
        console, f"{product}: {written_count(counts.total)} cells, {seen:,} seen ({share}), {written_count(unseen)} not"
    )
    engines = {
        1: (audit.decided.first, audit.decided.first_counts),
        audit.order: (audit.decided.identification, counts),
    }
    for order, (engine, found) in engines.items():
        print_line(console, f"  unseen cells, {words.condition(audit, order)}:")
        weighted = audit if order == audit.order and not asked.targets else None
        console.print(_bars(Tally(dict(found.by_verdict), found.exact), unseen, weighted))
        how = words.decision(engine) if found.exact else words.estimate_sentence(found)
        print_line(console, f"  {how}", "dim")
    if audit.decided.listing.kind is ListingKind.SAMPLE:
        print_line(console, f"  {words.listing_sentence(audit.decided.listing)}", "dim")


def _bars(found: Tally, total: int, weighted: Audit | None) -> RichTable:
    """Return one line per verdict: symbol, word, count, share and a bar; seen cells only among targets.

    Where an audit has its cells ``weighted`` by importance, the share of what matters stands before the bar.
    """
    from rich.text import Text

    shares = weighted is not None and weighted.decided.matters is not None
    table = plain_grid(numbers=3 if shares else 2)
    for verdict in Verdict:
        count = found.counts[verdict]
        if (verdict is Verdict.SEEN and not found.targets) or (verdict in words.RARE and not count):
            continue
        bar = "█" * round(_BAR * count / total) if total else ""
        colour = verdict.colour if verdict is not Verdict.UNSEEN_LEVEL else "default"
        shown = Text(bar or ("▏" if count else ""), style=colour)
        of_matter = [importance_column(weighted, verdict)] if weighted is not None and shares else []
        numbers = [found.number(verdict), percent(count, total), *of_matter]
        table.add_row("", f"{verdict.symbol} {verdict.word}", *numbers, shown)
    return table


def _coverage(audit: Audit, console: Console) -> None:
    print_title(console, "Coverage")
    _paragraphs(console, words.coverage_sentence(audit.coverage), words.thin_levels(audit.coverage))


def _additivity(audit: Audit, console: Console) -> None:
    print_title(console, "Does additivity hold here?")
    if audit.structure.additivity is None:
        _paragraphs(console, words.caution_sentence(audit.order))
        return
    _paragraphs(
        console, *(words.additivity_statement(audit.structure.additivity, order) for order in sorted({1, audit.order}))
    )
    held, breakers = words.held_out_sentence(audit), words.breakers_sentence(audit)
    _paragraphs(console, words.beyond_sentence(audit), held, breakers, words.ranges_sentence(audit))


def _structure(audit: Audit, console: Console) -> None:
    ladder = audit.choice.ladder
    if ladder is None or len(ladder.rungs) + len(ladder.skipped) < 2:
        return
    print_title(console, "Which structure holds here?")
    _paragraphs(console, words.choice_statement(audit.choice))


def _forecast(audit: Audit, console: Console) -> None:
    found = audit.forecast
    print_title(console, "What your model will do")
    _paragraphs(console, words.nothing_sentence(found))
    if found.error is not None:
        print_line(console, f"  {words.error_caption(audit)}:")
        console.print(_errors(found.error))
        _paragraphs(console, words.trust_sentence(found), words.depth_sentence(found))
        _paragraphs(console, words.early_sentence(found))
    if words.told_slopes(found):
        print_line(console, f"  {words.SLOPES}:")
        console.print(_slopes(found))
    _paragraphs(console, words.slopes_trust(found), words.untold_sentence(found))
    _paragraphs(console, words.shortcut_sentence(found))
    _paragraphs(console, *words.accuracy_sentences(found))


def _errors(error: ErrorForecast) -> RichTable:
    table = plain_grid(numbers=1)
    for name, value in words.error_rows(error):
        table.add_row("", name, number(value))
    return table


def _slopes(found: Forecast) -> RichTable:
    from rich.text import Text

    table = plain_grid(numbers=1)
    for row in words.told_slopes(found):
        table.add_row("", Text(str(row["factor"])), words.slope_range(row))
    return table


def _models(models: Table, console: Console) -> None:
    print_title(console, words.MODELS)
    table = plain_grid()
    table.add_column()
    for _ in range(3):
        table.add_column(justify="right")
    judged = [Verdict.DETERMINED.word, Verdict.DISCONNECTED.word, Verdict.UNSEEN_LEVEL.word]
    table.add_row("", "trained on", "model", *judged)
    for row in models.rows():
        errors = [_error(row[word], row[f"{word} cells"]) for word in judged]
        table.add_row("", f"{row['share']:.0%} of cells", row["model"], *errors)
    console.print(table)


def _error(value: float, cells: int) -> str:
    """An error, with the number of cells behind it where they are too few to trust."""
    return number(value) if np.isnan(value) or cells >= 10 else f"{number(value)} (n={cells})"


def _plan(plan: Plan, console: Console) -> None:
    from rich.text import Text

    print_title(console, "What to collect next")
    shown = sum(pick.reason == "connect" for pick in plan.picks)
    part = bool(plan.needed and 0 < shown < plan.needed)
    _paragraphs(
        console,
        words.plan_sentence(plan) if plan.needed or plan.beyond or plan.enough or plan.several else "",
        f"The first {shown} of them (all: --plan {plan.needed}):" if part else "",
        "" if plan.picks or plan.enough else words.NOTHING_TO_COLLECT,
    )
    table = plain_grid()
    costs = len({pick.cost for pick in plan.picks}) > 1
    for pick in plan.picks:
        cell = Text(plan.design.label(pick.cell))
        table.add_row("", cell, f"→ {words.gain_text(plan, pick)}", *([f"cost {pick.cost:g}"] if costs else []))
    if plan.picks:
        console.print(table)
    if len(plan.picks) > 1:
        _paragraphs(console, "Each gain is on top of the cells before it.")


def _example(audit: Audit, console: Console) -> None:
    """Show one cell with its value and certificate: the one with the largest leverage, most worth a look."""
    if audit.decided.identification.route is not Route.GRAPH and len(audit.design.seen) > QUICK_SEARCH:
        return
    shown = (audit.decided.codes == Verdict.DETERMINED) & (
        True if audit.decided.matters is None else audit.decided.matters.weights > 0
    )
    known = np.flatnonzero(shown & ~np.isnan(audit.decided.leverage))
    if not len(known):
        return
    shakiest = int(known[np.argmax(audit.decided.leverage[known])])
    which = "" if audit.decided.matters is None else " that matters"
    print_title(
        console, f"The shakiest determined cell{which}: {audit.design.label(audit.decided.listing.cells[shakiest])}"
    )
    _paragraphs(console, *(line.strip() for line in audit.explain(shakiest).splitlines()[1:]))


def _left_out(audit: Audit, console: Console) -> None:
    if audit.left_out:
        print_title(console, words.LEFT_OUT)
        _paragraphs(console, *audit.left_out)


def _findings(audit: Audit, console: Console) -> None:
    print_title(console, "Findings")
    if not audit.findings:
        _paragraphs(console, no_findings(audit))
    for finding in audit.findings:
        print_line(console, f"  {finding}", _STYLES[finding.severity])
