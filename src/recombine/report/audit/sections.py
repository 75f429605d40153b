"""The audit in a screenful: what `recombine.words` says, in the order of a reader's questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recombine import words
from recombine.jobs.findings.finding import Severity
from recombine.jobs.listing import ListingKind
from recombine.report.audit.page_tables import errors_table, models_table, slopes_table
from recombine.report.layout import Entry, Line, Section, ShownTable, answer_section, text_grid
from recombine.theory.identification.nullspace import Route
from recombine.verdicts import Verdict
from recombine.words import captions
from recombine.writing import percent, plural

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.tables.table import Table
    from recombine.words.verdicts import Tally

_STYLES = {Severity.NOTE: "dim", Severity.WARNING: "yellow", Severity.PROBLEM: "bold red"}
_BAR_LETTERS = 24
#: Seen cells up to which a certificate is found at once; beyond, only when it is asked for.
MAX_SEEN_CELLS_FOR_EXAMPLE = 600


def audit_sections(audit: Audit, plan: Plan | None = None, models: Table | None = None) -> list[Section]:
    """Return what a terminal shows of an audit, with suggestions and a model comparison where they are given."""
    ladder, shares, outcome = audit.choice.ladder, audit.values.shares, audit.design.outcome_column.name
    compared = ladder is not None and len(ladder.rungs) + len(ladder.skipped) > 1
    findings = [
        line
        for finding in audit.findings
        for line in (Line(str(finding), _STYLES[finding.severity]), Line(finding.address, "dim", whole=True))
    ]
    coverage = [words.table.coverage_sentence(audit.coverage), words.table.thin_levels(audit.coverage)]
    return [
        answer_section(words.audit_answer.audit_answer(audit, plan)),
        Section(captions.READ_TITLE, _notes(audit)),
        *_verdicts(audit),
        Section("Coverage", coverage),
        Section(
            captions.ADDITIVITY_TITLE,
            [*words.additivity.additivity_sentences(audit), words.values.values_sentence(audit)],
        ),
        Section(
            captions.STRUCTURE_TITLE,
            [words.structure.structures_statement(audit), Line(audit.choice.structure.address, "dim", whole=True)]
            if compared
            else [],
        ),
        Section("", [] if shares is None else [words.values.shares_sentence(shares, outcome or "the outcome")]),
        _forecast(audit),
        Section(
            captions.MODELS,
            [] if models is None else [models_table(models), words.forecast.models_sentence(audit, models)],
        ),
        Section(captions.PLAN_TITLE, [] if plan is None else _plan(plan)),
        *_example(audit),
        Section(captions.LEFT_OUT, words.verdicts.left_out_sentences(audit)),
        Section("Findings", findings or [words.importance.no_findings(audit)]),
    ]


def _notes(audit: Audit) -> list[str | Line]:
    design, say = audit.design, words.table
    notes = [*say.twin_phrases(design), *say.scale_sentences(design), say.weight_sentence(design)]
    notes += [say.impossible_sentence(design), words.importance.importance_statement(audit.decided.matters)]
    return [*words.reading.reading_sentences(design), *notes]


def _verdicts(audit: Audit) -> Iterator[Section]:
    """Yield counts of targets, then those of the full product."""
    decided, asked = audit.decided, words.verdicts.Tally.of(audit)
    if asked.targets:
        condition = words.additivity.condition(audit, audit.order)
        yield Section(
            captions.TARGETS_TITLE.format(cells=plural(asked.total, "target cell"), condition=condition),
            [_bars(asked, asked.total, audit)],
        )
    unseen = decided.counts.total - decided.counts[Verdict.SEEN]
    counts = decided.counts
    blocks: list[str | Line | ShownTable] = [
        captions.UNSEEN_TITLE.format(condition=words.additivity.condition(audit, audit.order)),
        _bars(words.verdicts.Tally(dict(counts.by_verdict), counts.exact), unseen, None if asked.targets else audit),
        Line(
            words.verdicts.decision(decided.identification)
            if counts.exact
            else words.verdicts.estimate_sentence(counts),
            "dim",
        ),
    ]
    if decided.listing.kind is ListingKind.SAMPLE:
        blocks.append(Line(words.table.listing_sentence(decided.listing), "dim"))
    yield Section(captions.product_title(audit, asked.targets), blocks)


def _bars(tally: Tally, total: int, weighted: Audit | None) -> ShownTable:
    """Return one line per verdict: symbol, word, count, share and a bar; seen cells only among targets.

    Where an audit has its cells ``weighted`` by importance, the share of what matters stands before the bar.
    """
    shares = weighted is not None and weighted.decided.matters is not None
    rows: list[list[str | Entry]] = []
    for verdict in Verdict:
        count = tally.counts[verdict]
        if (verdict is Verdict.SEEN and not tally.targets) or (verdict in words.verdicts.RARE and not count):
            continue
        bar = "█" * round(_BAR_LETTERS * count / total) if total else ""
        colour = verdict.colour if verdict is not Verdict.UNSEEN_LEVEL else "default"
        of_matter = [words.importance.importance_column(weighted, verdict)] if weighted is not None and shares else []
        numbers = [tally.number(verdict), percent(count, total), *of_matter]
        rows.append([f"{verdict.symbol} {verdict.word}", *numbers, Entry(bar or "▏" * (count > 0), style=colour)])
    return text_grid(rows, numbers=3 if shares else 2)


def _forecast(audit: Audit) -> Section:
    forecast, say = audit.forecast, words.forecast
    blocks: list[str | ShownTable | None] = [say.nothing_sentence(forecast)]
    if forecast.error is not None:
        errors = errors_table(audit)
        blocks += [f"{say.error_caption(audit)}:", errors, *say.error_sentences(forecast)]
    slopes = slopes_table(forecast)
    blocks += [] if slopes is None else [f"{slopes.caption}:", slopes]
    blocks += [say.slopes_trust(forecast), say.untold_sentence(forecast), say.shortcut_sentence(forecast)]
    return Section(captions.FORECAST_TITLE, [*blocks, say.accuracy_sentence(forecast)])


def _plan(plan: Plan) -> list[str | ShownTable | None]:
    costs, say = len({pick.cost for pick in plan.picks}) > 1, words.plan
    rows = [
        [plan.design.label(pick.cell), f"→ {say.gain_text(plan, pick)}", f"cost {pick.cost:g}" if costs else ""]
        for pick in plan.picks
    ]
    return [*say.plan_sentences(plan), text_grid(rows) if rows else None, say.gains_sentence(plan)]


def _example(audit: Audit) -> Iterator[Section]:
    """Yield one cell with its value and certificate: the one with the largest leverage, most worth a look."""
    decided, matters = audit.decided, audit.decided.matters
    if decided.identification.route is not Route.GRAPH and len(audit.design.seen) > MAX_SEEN_CELLS_FOR_EXAMPLE:
        return
    determined = (decided.codes == Verdict.DETERMINED) & (True if matters is None else matters.weights > 0)
    measured = np.flatnonzero(determined & ~np.isnan(decided.leverage))
    if len(measured):
        row = int(measured[np.argmax(decided.leverage[measured])])
        lines = [line.strip() for line in audit.explain(row).splitlines()[1:]]
        yield Section(captions.example_title(audit, decided.listing.cells[row]), lines)
