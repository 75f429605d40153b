"""Tables of the page: plain text in cells, with a bar or a verdict chip where that reads faster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.jobs.advice.plan import Plan
from recombine.jobs.audit.coverage import Coverage
from recombine.jobs.audit.forecast import Forecast
from recombine.report.audit.models_figure import VERDICTS
from recombine.report.audit.pairs import MappedCells
from recombine.report.wording import number, percent, share
from recombine.tables.table import Table
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Longest tables; the rest is counted in the caption.
MOST_LEVELS, MOST_OPEN, MOST_SUBSETS = 40, 40, 6

Columns = Mapping[str, Iterable[object]] | Sequence[tuple[str, Iterable[object]]]


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


def page_table(identity: str, caption: str, columns: Columns, *, bars: Sequence[str] = ()) -> PageTable:
    """Build a table from columns of numbers and texts; columns named in ``bars`` are shares from 0 to 1.

    Columns are a mapping, or pairs where the reader's own names might repeat one of ours.

    Examples
    --------
    >>> table = page_table("t", "Cells", {"level": ["a", "b"], "share": [0.5, 1.0]}, bars=["share"])
    >>> [entry.text for entry in table.rows[0]], table.rows[0][1].bar
    (['a', '50.0 %'], 0.5)
    """
    named = list(columns.items() if isinstance(columns, Mapping) else columns)
    entries = [[_entry(value, name in bars) for value in values] for name, values in named]
    heads = [
        Entry(name, bool(column) and all(entry.numeric or entry.text in ("", "–") for entry in column))
        for (name, _), column in zip(named, entries, strict=True)
    ]
    return PageTable(caption, heads, list(zip(*entries, strict=True)), identity)


def _entry(value: object, bar: bool) -> Entry:
    if isinstance(value, Entry):
        return value
    if isinstance(value, Verdict):
        return Entry(value.word, verdict=value)
    if isinstance(value, float) and bar and value == value:
        return Entry(share(value), True, float(np.clip(value, 0.0, 1.0)))
    return Entry(number(value, 4), True) if isinstance(value, int | float) else Entry(str(value))


def counts_table(audit: Audit) -> PageTable:
    """Verdict counts over the full product, with intervals where they are estimates."""
    counts, orders = audit.counts, [("", audit.counts)]
    if audit.order > 1:
        orders = [(" at order 1", audit.first_counts), (f" at order {audit.order}", counts)]
    columns: dict[str, Iterable[object]] = {"verdict": list(Verdict)}
    for suffix, found in orders:
        columns[f"cells{suffix}"] = [found[verdict] for verdict in Verdict]
        columns[f"share{suffix}"] = [
            Entry(percent(found[verdict], found.total), True, found[verdict] / found.total) for verdict in Verdict
        ]
        if not found.exact:
            columns[f"95 % interval{suffix}"] = [f"{found.low[v]:,} to {found.high[v]:,}" for v in Verdict]
    return page_table("t-counts", f"All {counts.total:,} combinations by verdict", columns)


def ways_table(coverage: Coverage) -> PageTable:
    """How many of the t-way combinations of levels were seen."""
    rows = [row for row in coverage.ways.rows() if row["factors"] != "all" or _several(coverage.ways, row["t"])]
    shown = [row for row in rows if row["factors"] == "all" or row["t"] == 1 or row in _least_covered(rows, row["t"])]
    whole = {1: "all levels", 2: "all pairs", 3: "all triples"}
    columns: dict[str, Iterable[object]] = {
        "levels of": [whole[row["t"]] if row["factors"] == "all" else row["factors"] for row in shown],
        **{name: [row[name] for row in shown] for name in ("t", "seen", "possible")},
        "covered": [row["share"] for row in shown],
    }
    left = len(rows) - len(shown)
    caption = "Combinations of t levels that occur in training" + (f"; {left} better covered left out" if left else "")
    return page_table("t-ways", caption, columns, bars=["covered"])


def _least_covered(rows: list[dict[str, Any]], t: int) -> list[dict[str, Any]]:
    subsets = [row for row in rows if row["t"] == t and row["factors"] != "all"]
    return sorted(subsets, key=lambda row: float(row["share"]))[:MOST_SUBSETS]


def _several(ways: Table, t: int) -> bool:
    """Whether a strength has more than one subset, so that a line for all of them says something new."""
    return int((ways["t"] == t).sum()) > 2


def sparse_table(coverage: Coverage, count: int = 10) -> PageTable:
    """The levels seen in the fewest cells."""
    levels = coverage.levels.head(count)
    names = {"level": "level", "factor": "factor", "cells": "seen cells", "rows": "rows"}
    if coverage.measurements != coverage.rows:
        del names["rows"]  # rows that stand for many measurements say little
    left = len(coverage.levels) - len(levels)
    more = f"; {left:,} more levels have as many or more" if left else ""
    columns = {shown: levels[name].tolist() for name, shown in names.items()}
    return page_table("t-sparse", f"Levels seen in the fewest cells{more}", columns)


def levels_table(levels: Table, mapped: MappedCells) -> PageTable:
    """Verdict counts of every level: the map in numbers."""
    what = "cells of the product" if mapped.whole else "seen and sampled cells"
    shown, left = _first_of_each(levels)
    present = [verdict for verdict in Verdict if levels[verdict.word].any()]
    columns: dict[str, Iterable[object]] = {
        "level": shown["level"].tolist(),
        "factor": shown["factor"].tolist(),
        **{verdict.word: shown[verdict.word].tolist() for verdict in present},
    }
    more = f"; {left:,} levels are left out" if left else ""
    return page_table("t-levels", f"The map in numbers: {what} with each level, by verdict{more}", columns)


def _first_of_each(levels: Table) -> tuple[Table, int]:
    place: dict[str, int] = {}
    keep = []
    for index, name in enumerate(levels["factor"].tolist()):
        place[name] = place.get(name, 0) + 1
        if place[name] <= MOST_LEVELS:
            keep.append(index)
    mask = np.zeros(len(levels), dtype=bool)
    mask[keep] = True
    return levels.where(mask), len(levels) - len(keep)


def open_table(audit: Audit) -> PageTable | None:
    """Listed cells that the data cannot tell, the first few."""
    where = np.flatnonzero(audit.codes > Verdict.DETERMINED)
    if not len(where):
        return None
    shown = where[:MOST_OPEN]
    levels = audit.design.decode(audit.listing.cells[shown])
    verdicts = [Verdict(int(code)) for code in audit.codes[shown]]
    columns = [*((name, values.tolist()) for name, values in levels.items()), ("verdict", verdicts)]
    return page_table("t-open", f"Cells that the data cannot tell: {len(shown):,} of {len(where):,} listed", columns)


def orders_table(audit: Audit) -> PageTable | None:
    """The additivity check, one row an order."""
    check = audit.additivity
    if check is None or not check.orders:
        return None
    unit = audit.design.outcome_name or "outcome"
    columns: dict[str, Iterable[object]] = {
        "model": ["effects add" if c.order == 1 else f"interactions of {c.order} factors" for c in check.orders],
        "cells tested": [c.tested for c in check.orders],
        "error": [float(c.error) for c in check.orders],
        "plain mean": [float(c.baseline) for c in check.orders],
        "noise floor": [float("nan") if c.noise is None else float(c.noise) for c in check.orders],
        "share explained": [float(c.share) for c in check.orders],
        "additivity": [check.word_at(c.order) for c in check.orders],
    }
    caption = f"Root mean squared error of predicting seen cells from the others ({check.method}), in units of {unit}"
    return page_table("t-orders", caption, columns, bars=["share explained"])


def breakers_table(audit: Audit) -> PageTable | None:
    """The cells whose value the others predict worst."""
    breakers = None if audit.additivity is None else audit.additivity.breakers(6)
    if breakers is None or not len(breakers):
        return None
    names = breakers.columns
    if audit.coverage.measurements != audit.coverage.rows:
        names = [name for name in names if name != "rows"]
    columns = {name: breakers[name].tolist() for name in names}
    return page_table("t-breakers", "Seen cells that depart most from additivity", columns)


def held_out_table(audit: Audit) -> PageTable | None:
    """Errors of the additive model and of the mean on held-out cells by verdict; None without any."""
    errors: Table | None = getattr(audit, "held_out_errors", None)
    if errors is None or not len(errors):
        return None
    verdicts = {verdict.word: verdict for verdict in Verdict}
    columns = {name: errors[name].tolist() for name in errors.columns}
    columns["verdict"] = [verdicts.get(str(word), word) for word in columns["verdict"]]
    return page_table("t-held-out", "Held-out cells by verdict: root mean squared errors", columns)


def slopes_table(forecast: Forecast) -> PageTable:
    """Slopes by factor and depth."""
    columns: dict[str, Iterable[object]] = {"factor": forecast.slopes["factor"].tolist()}
    for name in forecast.slopes.columns[1:]:
        layers = f"{name.removeprefix('depth ')} hidden layer{'' if name == 'depth 1' else 's'}"
        columns[layers] = [
            Entry("not varied") if np.isnan(value) else Entry(f"{value:.2f}", True, float(np.clip(value, 0, 1)))
            for value in forecast.slopes[name]
        ]
    return page_table("t-slopes", "Share of each factor's effect that reaches unseen cells, ReLU network", columns)


def shortcuts_table(forecast: Forecast) -> PageTable | None:
    """How each factor alone does on seen and on unseen cells."""
    if not forecast.shortcuts:
        return None
    columns: dict[str, Iterable[object]] = {
        "factor alone": [item.factor for item in forecast.shortcuts],
        "R² on seen cells": [Entry(f"{item.seen:.2f}".replace("-", "−"), True) for item in forecast.shortcuts],
        "R² on unseen cells": [Entry(f"{item.unseen:.2f}".replace("-", "−"), True) for item in forecast.shortcuts],
        "reading": ["shortcut: misleads on unseen cells" if item.misleads else "–" for item in forecast.shortcuts],
    }
    truth = forecast.shortcut_truth
    return page_table("t-shortcuts", f"Each factor's level means as a predictor (unseen cells: {truth})", columns)


def accuracy_table(forecast: Forecast) -> PageTable | None:
    """Predicted accuracy on held-out cells."""
    if forecast.accuracy is None:
        return None
    columns: dict[str, Iterable[object]] = {
        "loss": forecast.accuracy["loss"].tolist(),
        "hidden layers": forecast.accuracy["depth"].tolist(),
        "accuracy": forecast.accuracy["accuracy"].tolist(),
    }
    return page_table("t-accuracy", "Predicted accuracy on the held-out cells", columns, bars=["accuracy"])


def models_table(models: Table) -> PageTable:
    """Errors by model and verdict, grouped by whether the data can tell."""
    columns: dict[str, Iterable[object]] = {
        "model": models["model"].tolist(),
        "trained on": [Entry(f"{share:.0%} of cells") for share in models["share"].tolist()],
    }
    for verdict in VERDICTS:
        cells = models[f"{verdict.word} cells"].tolist()
        columns[verdict.word] = [
            Entry(number(float(error)), True, note=f"n = {count:,}" if count else "")
            for error, count in zip(models[verdict.word], cells, strict=True)
        ]
    table = page_table("t-models", "Root mean squared error on held-out seen cells, by verdict", columns)
    spans = [("", 2), ("your data can tell", 1), ("your data cannot tell", 2)]
    return replace(table, spans=spans)


def plan_table(plan: Plan) -> PageTable:
    """Cells to collect next."""
    cells = np.array([pick.cell for pick in plan.picks], dtype=np.int64).reshape(-1, len(plan.design.factors))
    places = [Entry(str(place + 1), True) for place in range(len(cells))]
    levels = [(name, values.tolist()) for name, values in plan.design.decode(cells).items()]
    columns: list[tuple[str, Iterable[object]]] = [
        ("", places),
        *levels,
        ("purpose", [pick.reason for pick in plan.picks]),
    ]
    columns.append(("gain", [plan.gain_text(pick) for pick in plan.picks]))
    if len({pick.cost for pick in plan.picks}) > 1:
        columns.append(("cost", [pick.cost for pick in plan.picks]))
    return page_table("t-plan", "Cells to collect, in this order", columns)


def proposals_table(audit: Audit) -> PageTable:
    """Why each column was or was not taken as a factor."""
    proposals: Sequence[Any] = audit.design.proposals
    columns: dict[str, Iterable[Any]] = {
        "column": [proposal.column for proposal in proposals],
        "taken as a factor": ["yes" if proposal.taken else "no" for proposal in proposals],
        "reason": [proposal.reason for proposal in proposals],
    }
    return page_table("t-proposals", "Columns of the table and why each was taken or left", columns)
