"""Tables of the page, each a caption and columns: plain text, with a bar or a verdict chip where that reads faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import words
from recombine.jobs.listing import ListingKind
from recombine.report.layout import Entry, ShownTable, Value, table_of
from recombine.verdicts import Verdict
from recombine.words import captions
from recombine.writing import number, percent, share, slope_text, whole_percent

if TYPE_CHECKING:
    from recombine.cells.arrays import FloatArray
    from recombine.design.design import Design
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.additivity import OrderCheck
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.coverage import Coverage
    from recombine.jobs.audit.forecast import Forecast
    from recombine.jobs.audit.pairs import MappedCells
    from recombine.tables.table import Table
    from recombine.theory.identification.counts import Counts
    from recombine.theory.structures.ladder import Ladder

#: Longest tables; the rest is counted in the caption.
MAX_LEVEL_ROWS, MAX_OPEN_ROWS, MOST_VALUES, MOST_SUBSETS, MAX_SPARSE_LEVELS = 40, 40, 12, 6, 10
#: Verdicts by which models are compared.
MODEL_VERDICTS = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL)


def _same(names: Iterable[str]) -> dict[str, Value]:
    """Columns headed by their own names."""
    return {name: name for name in names}


def _levels(design: Design, cell: Callable[[Any], Any]) -> list[tuple[str, Value]]:
    """One column per factor: the level that it has in ``cell`` of an item."""

    def label(column: int) -> Value:
        return lambda item: design.factors[column].labels[int(cell(item)[column])]

    return [(name, label(column)) for column, name in enumerate(design.names)]


def counts_table(audit: Audit) -> ShownTable | None:
    """Verdict counts over the full product, where the bar at the top does not say it all; else None."""
    if audit.order == 1 and audit.decided.counts.exact and audit.decided.listing.kind is not ListingKind.TARGETS:
        return None
    columns: dict[str, Value] = {"verdict": lambda verdict: verdict}
    if audit.order > 1:
        columns |= _counts(audit.decided.first_counts, " at order 1")
    columns |= _counts(audit.decided.counts, f" at order {audit.order}" if audit.order > 1 else "")
    counted = [verdict for verdict in Verdict if audit.decided.counts[verdict] or audit.decided.first_counts[verdict]]
    return table_of("t-counts", captions.counts_caption(audit), counted, columns)


def _counts(counts: Counts, suffix: str) -> dict[str, Value]:
    def part(verdict: Verdict) -> Entry:
        return Entry(percent(counts[verdict], counts.total), True, counts[verdict] / counts.total)

    columns: dict[str, Value] = {f"cells{suffix}": lambda verdict: counts[verdict], f"share{suffix}": part}
    if not counts.exact:
        columns[f"95 % interval{suffix}"] = lambda verdict: f"{counts.low[verdict]:,} to {counts.high[verdict]:,}"
    return columns


def ways_table(coverage: Coverage) -> ShownTable | None:
    """How many of the t-way combinations of levels were seen."""
    rows = list(coverage.ways.rows())
    times = Counter(row["t"] for row in rows)  # a line for all of few subsets says nothing new
    rows = [row for row in rows if row["factors"] != "all" or times[row["t"]] > 2]
    least = {t: _least_covered(rows, t) for t in {row["t"] for row in rows}}
    shown = [row for row in rows if row["factors"] == "all" or row in least[row["t"]]]
    whole = {1: "all levels", 2: "all pairs", 3: "all triples"}
    columns: dict[str, Value] = {
        "levels of": lambda row: whole[row["t"]] if row["factors"] == "all" else row["factors"],
        **_same(("t", "seen", "possible")),
        "covered": "share",
    }
    omitted = sum(row["share"] < 1 for row in rows) - sum(row["share"] < 1 for row in shown)
    return table_of("t-ways", captions.ways_caption(omitted), shown, columns, bars=["covered"])


def _least_covered(rows: list[dict[str, Any]], t: int) -> list[dict[str, Any]]:
    subsets = [row for row in rows if row["t"] == t and row["factors"] != "all"]
    if len(subsets) > 1:  # a line for all of them says when they are covered whole
        subsets = [row for row in subsets if row["share"] < 1]
    return sorted(subsets, key=lambda row: float(row["share"]))[:MOST_SUBSETS]


def sparse_table(coverage: Coverage) -> ShownTable | None:
    """The levels seen in the fewest cells."""
    columns: dict[str, Value] = {"level": "level", "factor": "factor", "seen cells": "cells"}
    if coverage.measurements == coverage.rows:  # rows that stand for many measurements say little
        columns["rows"] = "rows"
    caption = captions.sparse_caption(len(coverage.levels) - MAX_SPARSE_LEVELS)
    return table_of("t-sparse", caption, coverage.levels.head(MAX_SPARSE_LEVELS).rows(), columns)


def levels_table(levels: Table, mapped: MappedCells) -> ShownTable | None:
    """Verdict counts of every level: the map in numbers."""
    factors = groupby(levels.rows(), key=lambda row: str(row["factor"]))
    shown = [row for _, rows in factors for row in islice(rows, MAX_LEVEL_ROWS)]
    present = [verdict.word for verdict in Verdict if levels[verdict.word].any()]
    caption = captions.levels_caption(mapped.whole, len(levels) - len(shown))
    return table_of("t-levels", caption, shown, _same(("level", "factor", *present)))


def open_cells_table(audit: Audit) -> ShownTable | None:
    """Listed cells that the data alone do not settle, the first few."""
    codes, verdicts = audit.decided.codes, audit.verdicts
    rows = np.flatnonzero(codes > Verdict.DETERMINED)
    shown = rows[:MAX_OPEN_ROWS].tolist()
    caption = captions.OPEN_CELLS.format(shown=len(shown), listed=len(rows))
    columns: list[tuple[str, Value]] = [("verdict", lambda row: Verdict(int(codes[row])))]
    if audit.values.components is not None:
        numbers = {"predicted": "predicted", "90 % range from": "low", "to": "high"}
        columns += [(head, _number(verdicts[name])) for head, name in numbers.items()]
        columns.append(("rests on", lambda row: str(verdicts["rests on"][row])))
    return table_of("t-open", caption, shown, [*_listed(audit), *columns])


def _number(values: FloatArray) -> Value:
    return lambda row: float(values[row])


def _listed(audit: Audit) -> list[tuple[str, Value]]:
    """Columns of a listed cell's levels and, where cells are weighted, of its importance."""
    columns, matters = _levels(audit.design, lambda row: audit.decided.listing.cells[row]), audit.decided.matters
    return columns if matters is None else [*columns, ("importance", lambda row: float(matters.weights[row]))]


def values_table(audit: Audit) -> ShownTable | None:
    """Determined cells with their predicted values and ranges, the shakiest first; None without an outcome."""
    if audit.values.fit is None:
        return None
    decided, verdicts = audit.decided, audit.verdicts
    matter = True if decided.matters is None else decided.matters.weights > 0
    rows = np.flatnonzero((decided.codes == Verdict.DETERMINED) & matter)
    rows = rows[np.argsort(-decided.leverage[rows], kind="stable")]  # unknown leverages last
    shown = rows[:MOST_VALUES].tolist()

    heads = {"predicted": "predicted", "standard error": "standard error", "low": "90 % range from", "high": "to"}
    heads |= {"certified": "certified", "leverage": "leverage"}
    columns = [(head, _number(verdicts[name])) for name, head in heads.items()]
    caption = captions.values_caption(audit, len(shown), len(rows))
    return table_of("t-values", caption, shown, [*_listed(audit), *columns])


def rungs_table(ladder: Ladder) -> ShownTable | None:
    """The ladder: one row per structure."""
    columns: dict[str, Value] = {
        "structure": lambda rung: f"{rung.name} (chosen)" if rung.chosen else rung.name,
        "what it says": lambda rung: rung.structure.assumption,
        "share explained": "r2",
        "standard error": "error",
        "determined cells": lambda rung: "" if rung.determined is None else f"{rung.determined:,} of {rung.cells:,}",
        "share explained there": "determined_r2",
    }
    return table_of("t-structures", captions.RUNGS.format(cells=ladder.chosen.cells), ladder.rungs, columns)


def shares_table(audit: Audit) -> ShownTable | None:
    """What each set of factors carries of the outcome, with ranges."""
    shares = audit.values.shares
    if shares is None:
        return None
    noise = words.values.noise_phrase(shares)

    def percentage(name: str) -> Value:
        return lambda row: Entry(share(float(row[name])), True)

    columns: dict[str, Value] = {"carried by": lambda row: str(row["set"]) if row["size"] else noise}
    columns |= {"share": percentage("share"), "from": percentage("low"), "to": percentage("high")}
    return table_of("t-shares", captions.SHARES, shares.table.rows(), columns)


def orders_table(audit: Audit) -> ShownTable | None:
    """The additivity check, one row per order."""
    check = audit.structure.additivity
    if check is None:
        return None

    def lack_of_fit(tried: OrderCheck) -> Entry:
        return Entry("–" if tried.lack_of_fit is None else tried.lack_of_fit.text.rpartition(", ")[2], True)

    columns: dict[str, Value] = {
        "model": lambda tried: "effects add" if tried.order == 1 else f"interactions of {tried.order} factors",
        "cells tested": "tested",
        "error": "error",
        "plain mean": "baseline",
        "if effects add": lambda tried: float("nan") if tried.expected is None else tried.expected,
        "share explained": lambda tried: Entry(share(tried.share) if tried.share == tried.share else "–", True),
        "lack of fit": lack_of_fit,
        "additivity": lambda tried: words.additivity.STATE_WORDS[check.state_at(tried.order)],
    }
    caption = captions.ORDERS.format(
        method=words.additivity.method_phrase(check), unit=audit.design.outcome_column.name or "outcome"
    )
    return table_of("t-orders", caption, check.orders, columns)


def breakers_table(audit: Audit) -> ShownTable | None:
    """The cells whose value the others predict worst."""
    check, counted = audit.structure.additivity, audit.coverage.measurements == audit.coverage.rows
    caption, cells = captions.FURTHEST, audit.values.furthest(6)
    if cells is None:
        if check is None or not check.beyond_chance or not check.orders or not check.orders[0].error:
            return None
        caption, cells = captions.BREAKERS, check.breakers(6)
    names = [name for name in cells.columns if name != "rows" or counted]
    return table_of("t-breakers", caption, cells.rows(), _same(names))


def held_out_table(audit: Audit) -> ShownTable | None:
    """Errors of values and of the mean on held-out cells by verdict; None without any."""
    errors, verdicts = audit.values.held_out_errors, {verdict.word: verdict for verdict in Verdict}
    if errors is None:
        return None
    columns = _same(errors.columns) | {"verdict": lambda row: verdicts[row["verdict"]]}
    return table_of("t-held-out", captions.HELD_OUT, errors.rows(), columns)


def errors_table(audit: Audit) -> ShownTable | None:
    """What models will be off by."""
    rows = words.forecast.error_rows(audit)
    return table_of("t-errors", words.forecast.error_caption(audit), rows, words.forecast.error_columns(rows))


def depths_table(forecast: Forecast) -> ShownTable | None:
    """The networks' errors by number of hidden layers."""
    columns = {"hidden layers": "hidden layers", "all layers learn (NTK)": "ntk", "its readout learns (NNGP)": "nngp"}
    rows = forecast.depths.rows() if len(forecast.depths) > 1 else ()
    return table_of("t-depths", captions.DEPTHS, rows, columns)


def slopes_table(forecast: Forecast) -> ShownTable | None:
    """Slopes by factor, with their range."""

    def entry(name: str, bar: bool = False) -> Value:
        return lambda row: Entry(slope_text(row[name]), True, float(np.clip(row[name], 0, 1)) if bar else None)

    columns = {"factor": "factor", "effect (standard deviation)": "effect", "arrives": entry("arrives", bar=True)}
    if forecast.trained_slopes:
        columns["in the trained network"] = entry("trained")
    columns |= {"NTK": entry("ntk"), "NNGP": entry("nngp")}
    return table_of("t-slopes", captions.SLOPES, forecast.arrives, columns)


def models_table(models: Table) -> ShownTable | None:
    """Errors by model and verdict, grouped by whether the data settle the cells."""

    def error(word: str) -> Value:
        cells = f"{word} cells"
        return lambda row: Entry(number(row[word]), True, note=f"n = {row[cells]:,}" if row[cells] else "")

    columns: dict[str, Value] = {"model": "model", "trained on": lambda row: f"{whole_percent(row['share'])} of cells"}
    columns |= {verdict.word: error(verdict.word) for verdict in MODEL_VERDICTS}
    table = table_of("t-models", captions.MODELS, models.rows(), columns, whole=True)
    spans = [("", 2), ("your data settle it", 1), ("your data do not", 2)]
    return None if table is None else replace(table, spans=spans)


def shortcuts_table(forecast: Forecast) -> ShownTable | None:
    """How far networks follow each factor's marginal."""
    columns: dict[str, Value] = {
        "factor": "factor",
        "share of the way": lambda item: Entry(
            number(item.pull) if item.pull != item.pull else slope_text(item.pull), True
        ),
        "moves predictions by (SD)": lambda item: Entry(f"{item.size:.2f}", True),
        "share of squared error": lambda item: Entry(whole_percent(item.share), True),
        "reading": lambda item: "shortcut" if item.misleads else "–",
    }
    return table_of("t-shortcuts", captions.SHORTCUTS, forecast.expected_shortcuts, columns)


def plan_table(plan: Plan) -> ShownTable | None:
    """Cells to collect next."""
    columns: list[tuple[str, Value]] = [
        ("", lambda item: item[0]),
        *_levels(plan.design, lambda item: item[1].cell),
        ("purpose", lambda item: item[1].reason),
        ("gain", lambda item: words.plan.gain_text(plan, item[1])),
    ]
    if len({pick.cost for pick in plan.picks}) > 1:
        columns.append(("cost", lambda item: item[1].cost))
    return table_of("t-plan", captions.PICKS, enumerate(plan.picks, 1), columns)


def proposals_table(design: Design) -> ShownTable | None:
    """Why each column was or was not taken as a factor; None where factors were named."""
    columns: dict[str, Value] = {
        "column": "column",
        "taken as a factor": lambda proposal: "yes" if proposal.taken else "no",
        "reason": "reason",
    }
    return table_of("t-proposals", captions.PROPOSALS, design.reading.proposals, columns)
