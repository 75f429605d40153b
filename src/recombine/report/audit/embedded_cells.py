"""The cells that a report carries with it, so that its readers can ask about any of them: compact numbers for a script.

Numbers are Python's own: the script decodes them and computes nothing but certificates.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.cells.conjunctions import canonical
from recombine.report.theme import NARROW, WIDTH
from recombine.verdicts import Verdict
from recombine.words.verdicts import verdict_meaning

if TYPE_CHECKING:
    from markupsafe import Markup

    from recombine.design.design import Design
    from recombine.jobs.audit.audit import Audit
    from recombine.report.audit.verdict_map import VerdictMap
    from recombine.theory.identification import Certificate

#: Tables up to this many seen cells and cells are embedded whole; of larger ones some listed cells are.
MAX_SEEN_EMBEDDED, MAX_CELLS_EMBEDDED = 20_000, 200_000
#: Listed cells that stand for a larger table, at most, and at most so many levels of them altogether.
MAX_LISTED_EMBEDDED, MAX_LEVELS_EMBEDDED = 5_000, 30_000
#: Cells with values, at most.
MAX_VALUES_EMBEDDED = 20_000
#: Certificates are looked for up to this order and, but for two factors, so many conjunctions: seconds in a browser.
MAX_ORDER_PROVED, MAX_CONJUNCTIONS_PROVED = 3, 1_500
#: Code of a place in the product that is no cell: it cannot exist.
IMPOSSIBLE = len(Verdict)


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Cells (N, C) with their verdict codes (N,); ``kept`` are the levels of each factor to name.

    Their numbers (N,) are places in the product, or rows of the listing.
    """

    cells: IntArray
    codes: IntArray
    numbers: IntArray
    kept: tuple[IntArray, ...]
    whole: bool


def embedded_cells(audit: Audit, chart: VerdictMap, shown: Sequence[Certificate] = ()) -> dict[str, Any]:
    """Return what a report's script needs to answer "what about this cell?".

    Parameters
    ----------
    audit : Audit
    chart : VerdictMap
        Its map, whose places can be asked about.
    shown : sequence of Certificate
        Those that the report writes out, so that asking gives the same; the script looks for others itself.

    Examples
    --------
    >>> import recombine as rc
    >>> from recombine.report.audit.verdict_map import VerdictMap
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> found = embedded_cells(audit, VerdictMap(audit))
    >>> found["whole"], found["seen"], found["codes"]
    (True, [0, 1, 1], [0, 3, 1, 1])
    """
    design, choice = audit.design, audit.choice
    found = _whole(chart) if _fits(chart) else _listed(audit)
    seen: dict[str, Any] = {"seen": []}
    if found.whole:
        seen = _seen(design, plain=choice.structure.is_sum)
    return {
        "factors": [
            [factor.name, [factor.labels[level] for level in kept.tolist()]]
            for factor, kept in zip(design.factors, found.kept, strict=True)
        ],
        "symmetric": [list(group) for group in design.symmetric],
        "order": audit.order,
        "assumption": choice.assumption,
        "curved": not choice.structure.is_sum,
        "outcome": design.outcome_column.name or ("outcome" if design.outcome is not None else None),
        "verdicts": [_words(verdict, choice.assumption) for verdict in Verdict],
        "whole": found.whole,
        "sums": found.whole and _provable(audit),
        "shown": [_terms(one, design) for one in shown if one.verified] if found.whole else [],
        "codes": _runs(found.codes),
        **seen,
        **({} if found.whole else {"levels": _levels(found)}),
        "values": _values(audit, found),
        "panels": _panels(chart, found) if chart.tells else [],
        "note": "" if found.whole else _note(audit, found),
    }


def script_json(record: dict[str, Any]) -> Markup:
    r"""Return a record as JSON that can stand inside a ``<script>`` element: no ``<`` is left in it.

    Examples
    --------
    >>> print(script_json({"level": "</script><b>"}))
    {"level":"\u003c/script>\u003cb>"}
    """
    import msgspec
    from markupsafe import Markup

    return Markup(msgspec.json.encode(record).decode().replace("<", "\\u003c"))


def _fits(chart: VerdictMap) -> bool:
    design = chart.audit.design
    return (
        len(design.seen) <= MAX_SEEN_EMBEDDED
        and product_size(design.sizes) <= MAX_CELLS_EMBEDDED
        and chart.mapped.whole
    )


def _provable(audit: Audit) -> bool:
    """Whether the script can look for certificates: levels are labels, and there are not too many conjunctions."""
    sizes, order = audit.design.sizes, audit.order
    if audit.design.scales or order > MAX_ORDER_PROVED:
        return False
    graph = len(sizes) == 2 and order == 1
    return graph or sum(map(product_size, combinations(sizes, order))) <= MAX_CONJUNCTIONS_PROVED


def _whole(chart: VerdictMap) -> _Embedded:
    """Every place of the product, last factor fastest; of interchangeable cells one has a verdict."""
    sizes = chart.audit.design.sizes
    codes = np.full(product_size(sizes), IMPOSSIBLE)
    codes[_numbers(chart.mapped.cells, sizes)] = chart.mapped.codes
    numbers = np.arange(len(codes))
    return _Embedded(
        np.empty((0, len(sizes)), np.int64), codes, numbers, tuple(np.arange(size) for size in sizes), True
    )


def _listed(audit: Audit) -> _Embedded:
    """Listed cells from first to last, evenly: the first ones alone would be those of a few levels."""
    count, listed = (
        min(MAX_LISTED_EMBEDDED, MAX_LEVELS_EMBEDDED // len(audit.design.sizes)),
        len(audit.decided.listing.cells),
    )
    rows = np.unique(np.linspace(0, listed - 1, min(count, listed)).astype(np.int64))
    cells = audit.decided.listing.cells[rows]
    kept = tuple(np.unique(column) for column in cells.T)
    return _Embedded(cells, audit.decided.codes[rows], rows, kept, False)


def _note(audit: Audit, found: _Embedded) -> str:
    count, listed = f"{len(found.cells):,}", len(audit.decided.listing.cells)
    return (
        f"The table is too large to carry along: {count} of {listed:,} listed unseen combinations, evenly spread, can "
        "be asked about here; recombine explore, with the name of the table, answers for any."
    )


def _terms(found: Certificate, design: Design) -> list[Any]:
    """A certificate in fractions as the place of its cell, and place, numerator and denominator of each term."""
    places = _numbers(canonical(np.vstack([[found.cell], found.cells]), design.symmetric), design.sizes).tolist()
    weights = [(weight.numerator, weight.denominator) for weight in found.weights]
    return [places[0], [[place, *weight] for place, weight in zip(places[1:], weights, strict=True)]]


def _numbers(cells: IntArray, sizes: tuple[int, ...]) -> IntArray:
    """Return the place of each cell (N, C) in the product, last factor fastest, (N,)."""
    return np.asarray(np.ravel_multi_index(tuple(cells.T), sizes), dtype=np.int64)


def _words(verdict: Verdict, assumption: str) -> list[str]:
    text = verdict.text
    return [text.word, text.symbol, verdict_meaning(verdict, assumption), text.action]


def _seen(design: Design, *, plain: bool) -> dict[str, Any]:
    """The seen cells as steps from one to the next, how often each was measured and, where outcomes add, those."""
    numbers = _numbers(canonical(design.seen, design.symmetric), design.sizes)
    order = np.argsort(numbers, kind="stable")
    found: dict[str, Any] = {
        "seen": _steps(numbers[order]),
        "precision": _column(design.precision[design.train][order]),
    }
    if design.outcome is not None:
        found["observed"] = _column(design.outcome[design.train][order])
    return found | {"adds": plain}


def _levels(found: _Embedded) -> list[str]:
    """One column per factor: the place of each cell's level among those named."""
    return [
        _text(np.searchsorted(kept, column).astype("<u2"))
        for kept, column in zip(found.kept, found.cells.T, strict=True)
    ]


def _values(audit: Audit, found: _Embedded) -> dict[str, Any]:
    """Values and ranges of determined cells, each a column; what is known of none is left out."""
    verdicts = audit.verdicts
    rows = np.flatnonzero(audit.decided.codes == Verdict.DETERMINED)
    rows = rows[:MAX_VALUES_EMBEDDED] if found.whole else rows[np.isin(rows, found.numbers)]
    numbers = np.searchsorted(found.numbers, rows)
    if found.whole:
        cells = canonical(audit.decided.listing.cells[rows], audit.design.symmetric)
        numbers, first = np.unique(_numbers(cells, audit.design.sizes), return_index=True)
        rows = rows[first]
    # Where these are all the determined cells, their places need not be said.
    every = np.array_equal(numbers, np.flatnonzero(found.codes == Verdict.DETERMINED))
    columns = {} if audit.values.fit is None else {name: verdicts[name][rows] for name in ("predicted", "low", "high")}
    columns["error" if audit.values.fit is not None else "leverage"] = verdicts[
        "standard error" if audit.values.fit is not None else "leverage"
    ][rows]
    if "high" in columns and _centred(columns["predicted"], columns["low"], columns["high"]):
        del columns["high"]
    known = {name: _column(values) for name, values in columns.items() if np.isfinite(values).any()}
    return {"cells": None if every else _steps(numbers), **known}


def _centred(middle: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    """Whether every range is as long to either side, so that one end tells the other."""
    known = np.isfinite(low)
    gap = np.abs(low + high - 2 * middle)[known]
    return bool((gap <= 1e-6 * np.abs(high - low)[known]).all())


def _panels(chart: VerdictMap, found: _Embedded) -> list[dict[str, Any]]:
    """The grids of the map: which levels stand where, and where the grid stands in the drawings."""
    names = chart.audit.design.names
    wide, narrow = (chart.places(width).round(5).tolist() for width in (WIDTH, NARROW))
    panels = []
    for place, panel in enumerate(chart.shown):
        factors = names.index(panel.row.factor), names.index(panel.column.factor)
        panels.append(
            {
                "factors": factors,
                "bins": [
                    axis.bins[found.kept[factor]].tolist()
                    for axis, factor in zip((panel.row, panel.column), factors, strict=True)
                ],
                "labels": [
                    list(axis.labels) if axis.binned or not found.whole else None for axis in (panel.row, panel.column)
                ],
                "shape": panel.counts.shape[:2],
                "triangle": panel.triangle,
                "wide": wide[place],
                "narrow": narrow[place],
            }
        )
    return panels


def _runs(codes: IntArray) -> list[int]:
    """Return codes as pairs: a code, and how often it stands in a row."""
    return [part for code, run in groupby(codes.tolist()) for part in (code, len(list(run)))]


def _steps(numbers: IntArray) -> list[int]:
    """Return ascending numbers as the first one and the step to each next."""
    found: list[int] = np.diff(numbers, prepend=0).tolist()
    return found


def _column(values: FloatArray) -> str:
    return _text(np.asarray(values, dtype="<f4"))


def _text(values: npt.NDArray[Any]) -> str:
    return b64encode(values.tobytes()).decode()
