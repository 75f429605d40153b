"""Tables of the page, each a caption and columns: plain text, with a bar or a verdict chip where that reads faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine import words
from recombine.jobs.advice.plan import Plan
from recombine.jobs.audit.coverage import Coverage
from recombine.jobs.audit.forecast import Forecast
from recombine.jobs.audit.pairs import MappedCells
from recombine.jobs.listing import ListingKind
from recombine.report.audit.figures.models_figure import VERDICTS
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.words.additivity import STATE_WORDS
from recombine.words.values import MODELS
from recombine.writing import aligned, number, percent, share, slope_text, written_count

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.jobs.audit.audit import Audit
    from recombine.theory.identification.counts import Counts
    from recombine.theory.structures.ladder import Ladder

#: Longest tables; the rest is counted in the caption.
MAX_LEVEL_ROWS, MOST_OPEN, MOST_VALUES, MOST_SUBSETS, MOST_SPARSE = 40, 40, 12, 6, 10

#: What a column shows of an item: the attribute or entry of that name, or what a function returns.
Value = str | Callable[[Any], object]
Heads = Mapping[str, Value] | Sequence[tuple[str, Value]]


@dataclass(frozen=True)
class Entry:
    """One table cell: its text, whether it is a number, the length (0 to 1) of a bar, a verdict's chip, a note."""

    text: str
    numeric: bool = False
    bar: float | None = None
    verdict: Verdict | None = None
    note: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table for the page: caption, column heads and rows of entries; the first entry of a row heads it."""

    caption: str
    heads: Sequence[Entry]
    rows: Sequence[Sequence[Entry]]
    identity: str
    spans: Sequence[tuple[str, int]] = field(default=())


def page_table(
    identity: str, caption: str, items: Iterable[Any], columns: Heads, *, bars: Sequence[str] = (), whole: bool = False
) -> PageTable | None:
    """Build a table with one row per item, or None without any; columns named in ``bars`` are shares from 0 to 1.

    Columns are a mapping, or pairs where the reader's own names might repeat one of ours. A column in which nothing is
    known is left out, unless the ``whole`` table is asked for.

    Examples
    --------
    >>> levels = [{"level": "a", "share": 0.5}, {"level": "b", "share": 1.0}]
    >>> table = page_table("t", "Cells", levels, {"level": "level", "seen": "share"}, bars=["seen"])
    >>> [entry.text for entry in table.rows[0]], table.rows[0][1].bar
    (['a', '50.0 %'], 0.5)
    """
    named = list(columns.items() if isinstance(columns, Mapping) else columns)
    shown = list(items)
    found = [(head, _column([_value(item, what) for item in shown], head in bars)) for head, what in named]
    kept = [(head, column) for head, column in found if whole or any(entry.text != "–" for entry in column)]
    if not shown or not kept:
        return None
    heads = [Entry(head, all(entry.numeric or entry.text in ("", "–") for entry in column)) for head, column in kept]
    return PageTable(caption, heads, list(zip(*(column for _, column in kept), strict=True)), identity)


def _column(values: list[object], bar: bool) -> list[Entry]:
    """Return the entries of a column, points of numbers under one another."""
    places = [place for place, value in enumerate(values) if isinstance(value, float) and not bar]
    entries = [_entry(value, bar) for value in values]
    for place, text in zip(places, aligned([float(values[place]) for place in places]), strict=True):  # type: ignore[arg-type]
        entries[place] = Entry(text, True)
    return entries


def _value(item: Any, what: Value) -> object:
    if callable(what):
        return what(item)
    return item[what] if isinstance(item, dict) else getattr(item, what)


def _entry(value: object, bar: bool) -> Entry:
    if isinstance(value, Entry):
        return value
    if isinstance(value, Verdict):
        return Entry(value.word, verdict=value)
    if isinstance(value, float) and bar and value == value:
        return Entry(share(value), True, float(np.clip(value, 0.0, 1.0)))
    return Entry(number(value, 4), True) if isinstance(value, int | float) else Entry(str(value))


def _same(names: Iterable[str]) -> dict[str, Value]:
    """Columns headed by their own names."""
    return {name: name for name in names}


def _levels(design: Design, cell: Callable[[Any], Any]) -> list[tuple[str, Value]]:
    """One column per factor: the level that it has in ``cell`` of an item."""

    def label(place: int) -> Value:
        return lambda item: design.factors[place].labels[int(cell(item)[place])]

    return [(name, label(place)) for place, name in enumerate(design.names)]


def counts_table(audit: Audit) -> PageTable | None:
    """Verdict counts over the full product, where the bar at the top does not say it all; else None."""
    if audit.order == 1 and audit.decided.counts.exact and audit.decided.listing.kind is not ListingKind.TARGETS:
        return None
    columns: dict[str, Value] = {"verdict": lambda verdict: verdict}
    if audit.order > 1:
        columns |= _counts(audit.decided.first_counts, " at order 1")
    columns |= _counts(audit.decided.counts, f" at order {audit.order}" if audit.order > 1 else "")
    which = "" if audit.design.possible.whole else " that can exist"
    found = [verdict for verdict in Verdict if audit.decided.counts[verdict] or audit.decided.first_counts[verdict]]
    return page_table(
        "t-counts", f"All {written_count(audit.decided.counts.total)} combinations{which} by verdict", found, columns
    )


def _counts(found: Counts, suffix: str) -> dict[str, Value]:
    columns: dict[str, Value] = {
        f"cells{suffix}": lambda verdict: found[verdict],
        f"share{suffix}": lambda verdict: Entry(
            percent(found[verdict], found.total), True, found[verdict] / found.total
        ),
    }
    if not found.exact:
        columns[f"95 % interval{suffix}"] = lambda verdict: f"{found.low[verdict]:,} to {found.high[verdict]:,}"
    return columns


def ways_table(coverage: Coverage) -> PageTable | None:
    """How many of the t-way combinations of levels were seen."""
    rows = [row for row in coverage.ways.rows() if row["factors"] != "all" or _several(coverage.ways, row["t"])]
    least = {t: _least_covered(rows, t) for t in {row["t"] for row in rows}}
    shown = [row for row in rows if row["factors"] == "all" or row in least[row["t"]]]
    whole = {1: "all levels", 2: "all pairs", 3: "all triples"}
    columns: dict[str, Value] = {
        "levels of": lambda row: whole[row["t"]] if row["factors"] == "all" else row["factors"],
        **_same(("t", "seen", "possible")),
        "covered": "share",
    }
    left = sum(row["share"] < 1 for row in rows) - sum(row["share"] < 1 for row in shown)
    caption = "Combinations of t levels that occur in training" + (f"; {left} better covered left out" if left else "")
    return page_table("t-ways", caption, shown, columns, bars=["covered"])


def _least_covered(rows: list[dict[str, Any]], t: int) -> list[dict[str, Any]]:
    subsets = [row for row in rows if row["t"] == t and row["factors"] != "all"]
    if len(subsets) > 1:  # a line for all of them says when they are covered whole
        subsets = [row for row in subsets if row["share"] < 1]
    return sorted(subsets, key=lambda row: float(row["share"]))[:MOST_SUBSETS]


def _several(ways: Table, t: int) -> bool:
    """Whether a strength has more than one subset, so that a line for all of them says something new."""
    return int((ways["t"] == t).sum()) > 2


def sparse_table(coverage: Coverage) -> PageTable | None:
    """The levels seen in the fewest cells."""
    columns: dict[str, Value] = {"level": "level", "factor": "factor", "seen cells": "cells"}
    if coverage.measurements == coverage.rows:  # rows that stand for many measurements say little
        columns["rows"] = "rows"
    left = len(coverage.levels) - MOST_SPARSE
    more = f"; {left:,} more levels have as many or more" if left > 0 else ""
    levels = coverage.levels.head(MOST_SPARSE).rows()
    return page_table("t-sparse", f"Levels seen in the fewest cells{more}", levels, columns)


def levels_table(levels: Table, mapped: MappedCells) -> PageTable | None:
    """Verdict counts of every level: the map in numbers."""
    what = "possible cells" if mapped.whole else "seen and sampled cells"
    place: dict[str, int] = {}
    shown = []
    for row in levels.rows():
        place[row["factor"]] = place.get(row["factor"], 0) + 1
        if place[row["factor"]] <= MAX_LEVEL_ROWS:
            shown.append(row)
    present = [verdict.word for verdict in Verdict if levels[verdict.word].any()]
    more = f"; {len(levels) - len(shown):,} levels are left out" if len(shown) < len(levels) else ""
    caption = f"The map in numbers: {what} with each level, by verdict{more}"
    return page_table("t-levels", caption, shown, _same(("level", "factor", *present)))


def open_cells_table(audit: Audit) -> PageTable | None:
    """Listed cells that the data cannot tell, the first few."""
    where = np.flatnonzero(audit.decided.codes > Verdict.DETERMINED)
    shown = where[:MOST_OPEN].tolist()
    caption = f"Cells that the data cannot tell: {len(shown):,} of {len(where):,} listed"
    levels = [*_levels(audit.design, lambda row: audit.decided.listing.cells[row]), *_importance(audit)]
    return page_table(
        "t-open", caption, shown, [*levels, ("verdict", lambda row: Verdict(int(audit.decided.codes[row])))]
    )


def _matter(audit: Audit) -> npt.NDArray[np.bool_]:
    """Which listed cells matter (T,); all of them without an importance."""
    return (
        np.ones(len(audit.decided.codes), dtype=bool)
        if audit.decided.matters is None
        else audit.decided.matters.weights > 0
    )


def _importance(audit: Audit) -> list[tuple[str, Value]]:
    """A column of importance, where cells are weighted by it."""
    found = audit.decided.matters
    return [] if found is None else [("importance", lambda row: float(found.weights[row]))]


def values_table(audit: Audit) -> PageTable | None:
    """Determined cells with their predicted values and ranges, the shakiest first; None without an outcome."""
    if audit.values.fit is None:
        return None
    where = np.flatnonzero((audit.decided.codes == Verdict.DETERMINED) & _matter(audit))
    where = where[np.argsort(-audit.decided.leverage[where], kind="stable")]  # unknown leverages last
    shown, verdicts = where[:MOST_VALUES].tolist(), audit.verdicts
    which = "" if audit.decided.matters is None else " that matter and are"
    caption = f"Predicted values, the shakiest first: {len(shown):,} of {len(where):,} determined cells{which} listed"

    def column(name: str) -> Value:
        return lambda row: float(verdicts[name][row])

    names = {"predicted": "predicted", "standard error": "standard error", "low": "90 % range from", "high": "to"}
    columns = [(head, column(name)) for name, head in (names | {"leverage": "leverage"}).items()]
    return page_table(
        "t-values",
        caption,
        shown,
        [*_levels(audit.design, lambda row: audit.decided.listing.cells[row]), *_importance(audit), *columns],
    )


def rungs_table(found: Ladder) -> PageTable | None:
    """The ladder: one row per structure."""
    caption = f"Structures on {found.chosen.cells:,} held-out seen cells, simplest first"
    columns: dict[str, Value] = {
        "structure": lambda rung: f"{rung.name} (chosen)" if rung.chosen else rung.name,
        "what it says": lambda rung: rung.structure.assumption,
        "share explained": "r2",
        "standard error": "error",
        "determined cells": lambda rung: "" if rung.determined is None else f"{rung.determined:,} of {rung.cells:,}",
        "share explained there": "determined_r2",
    }
    return page_table("t-structures", caption, found.rungs, columns)


def orders_table(audit: Audit) -> PageTable | None:
    """The additivity check, one row per order."""
    check = audit.structure.additivity
    if check is None:
        return None
    unit = audit.design.outcome_name or "outcome"
    caption = f"Root mean squared error of predicting seen cells from the others ({check.method}), in units of {unit}"
    columns: dict[str, Value] = {
        "model": lambda found: "effects add" if found.order == 1 else f"interactions of {found.order} factors",
        "cells tested": "tested",
        "error": "error",
        "plain mean": "baseline",
        "noise floor": lambda found: float("nan") if found.expected is None else found.expected,
        "share explained": lambda found: Entry(share(found.share) if found.share == found.share else "–", True),
        "lack of fit": lambda found: Entry(
            "–" if found.lack_of_fit is None else found.lack_of_fit.text.rpartition(", ")[2], True
        ),
        "additivity": lambda found: STATE_WORDS[check.state_at(found.order)],
    }
    return page_table("t-orders", caption, check.orders, columns)


def breakers_table(audit: Audit) -> PageTable | None:
    """The cells whose value the others predict worst."""
    if (
        audit.structure.additivity is None
        or not audit.structure.additivity.orders
        or not audit.structure.additivity.orders[0].error
    ):
        return None
    breakers, counted = audit.structure.additivity.breakers(6), audit.coverage.measurements == audit.coverage.rows
    names = [name for name in breakers.columns if name != "rows" or counted]
    return page_table("t-breakers", "Seen cells that depart most from additivity", breakers.rows(), _same(names))


def held_out_table(audit: Audit) -> PageTable | None:
    """Errors of the additive model and of the mean on held-out cells by verdict; None without any."""
    if audit.values.held_out_errors is None:
        return None
    verdicts = {verdict.word: verdict for verdict in Verdict}
    columns = _same(audit.values.held_out_errors.columns) | {"verdict": lambda row: verdicts[row["verdict"]]}
    caption = "Held-out cells by verdict: root mean squared errors"
    return page_table("t-held-out", caption, audit.values.held_out_errors.rows(), columns)


def errors_table(audit: Audit) -> PageTable | None:
    """What models will be off by."""
    forecast, caption = audit.forecast, words.error_caption(audit)
    if forecast.error is None:
        return None
    columns: dict[str, Value] = {"model": lambda row: row[0], "off by": lambda row: row[1]}
    return page_table("t-errors", caption, words.error_rows(forecast.error), columns)


def depths_table(forecast: Forecast) -> PageTable | None:
    """The networks' errors by number of hidden layers."""
    if len(forecast.depths) < 2:
        return None
    caption = "The same networks by number of hidden layers"
    return page_table(
        "t-depths",
        caption,
        forecast.depths.rows(),
        {"hidden layers": "hidden layers", "all layers learn (NTK)": "ntk", "its readout learns (NNGP)": "nngp"},
    )


def slopes_table(forecast: Forecast) -> PageTable | None:
    """Slopes by factor, with their range."""

    def entry(name: str) -> Value:
        return lambda row: Entry(slope_text(row[name]), True, float(np.clip(row[name], 0, 1)))

    columns: dict[str, Value] = {"factor": "factor", "effect (standard deviation)": "effect", "arrives": entry("slope")}
    columns |= {"NTK": lambda row: Entry(slope_text(row["ntk"]), True)}
    columns |= {"NNGP": lambda row: Entry(slope_text(row["nngp"]), True)}
    return page_table("t-slopes", words.SLOPES, words.told_slopes(forecast), columns)


def shortcuts_table(forecast: Forecast) -> PageTable | None:
    """How far networks follow each factor's marginal."""
    caption = "How far a network follows each factor's own mean outcomes, away from its effect"
    columns: dict[str, Value] = {
        "factor": "factor",
        "share of the way": lambda item: Entry(
            number(item.pull) if item.pull != item.pull else slope_text(item.pull), True
        ),
        "moves predictions by (SD)": lambda item: Entry(f"{item.size:.2f}", True),
        "share of squared error": lambda item: Entry(f"{item.share:.0%}".replace("-", "−"), True),
        "reading": lambda item: "shortcut" if item.misleads else "–",
    }
    return page_table("t-shortcuts", caption, forecast.shortcuts, columns)


def accuracy_table(forecast: Forecast) -> PageTable | None:
    """Predicted accuracy on held-out cells."""
    if forecast.accuracy is None:
        return None
    columns: dict[str, Value] = {"loss": "loss", "hidden layers": "depth", "accuracy": "accuracy"}
    caption = "Predicted accuracy on the held-out cells"
    return page_table("t-accuracy", caption, forecast.accuracy.rows(), columns, bars=["accuracy"])


def models_table(models: Table) -> PageTable | None:
    """Errors by model and verdict, grouped by whether the data can tell."""

    def error(word: str) -> Value:
        return lambda row: Entry(
            number(row[word]), True, note=f"n = {row[f'{word} cells']:,}" if row[f"{word} cells"] else ""
        )

    columns: dict[str, Value] = {"model": "model", "trained on": lambda row: f"{row['share']:.0%} of cells"}
    columns |= {verdict.word: error(verdict.word) for verdict in VERDICTS}
    table = page_table("t-models", MODELS, models.rows(), columns, whole=True)
    spans = [("", 2), ("your data can tell", 1), ("your data cannot tell", 2)]
    return None if table is None else replace(table, spans=spans)


def plan_table(plan: Plan) -> PageTable | None:
    """Cells to collect next."""
    columns: list[tuple[str, Value]] = [
        ("", lambda item: item[0]),
        *_levels(plan.design, lambda item: item[1].cell),
        ("purpose", lambda item: item[1].reason),
        ("gain", lambda item: words.gain_text(plan, item[1])),
    ]
    if len({pick.cost for pick in plan.picks}) > 1:
        columns.append(("cost", lambda item: item[1].cost))
    return page_table("t-plan", "Cells to collect, in this order", enumerate(plan.picks, 1), columns)


def proposals_table(design: Design) -> PageTable | None:
    """Why each column was or was not taken as a factor; None where factors were named."""
    columns: dict[str, Value] = {
        "column": "column",
        "taken as a factor": lambda proposal: "yes" if proposal.taken else "no",
        "reason": "reason",
    }
    caption = "Columns of the table and why each was taken or left"
    return page_table("t-proposals", caption, design.proposals, columns)
