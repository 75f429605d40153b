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
from recombine.report.theme import NARROW_WIDTH, WIDTH
from recombine.verdicts import Verdict
from recombine.words.captions import TOO_LARGE
from recombine.words.values import rests_phrase
from recombine.words.verdicts import verdict_meaning
from recombine.writing import printable

if TYPE_CHECKING:
    from markupsafe import Markup

    from recombine.design.design import Design
    from recombine.jobs.audit.audit import Audit
    from recombine.report.audit.verdict_map import VerdictMap
    from recombine.theory.identification import Certificate

#: Tables up to this many seen cells and cells are embedded whole; of larger ones some listed cells are.
MAX_SEEN_CELLS_EMBEDDED, MAX_CELLS_EMBEDDED = 20_000, 200_000
#: Listed cells that stand for a larger table, at most, and at most so many levels of them altogether.
MAX_LISTED_CELLS_EMBEDDED, MAX_LEVELS_EMBEDDED = 5_000, 30_000
#: Cells with values, at most.
MAX_VALUES_EMBEDDED = 20_000
#: Certificates are looked for up to this order and, but for two factors, so many conjunctions: seconds in a browser.
MAX_ORDER_PROVED, MAX_CONJUNCTIONS_PROVED = 3, 1_500
#: Code of a place in the product that is no cell: it cannot exist.
IMPOSSIBLE = len(Verdict)


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Cells (N, C) with their verdict codes (N,), and which levels of each factor are named.

    Their numbers (N,) are places in the product, or rows of the listing.
    """

    cells: IntArray
    codes: IntArray
    numbers: IntArray
    named: tuple[IntArray, ...]
    whole: bool


def embedded_cells(audit: Audit, chart: VerdictMap, shown: Sequence[Certificate] = ()) -> dict[str, Any]:
    """Return what a report's script needs to answer "what about this cell?".

    Certificates ``shown`` are those that the report writes out, so that asking gives the same; the script looks for
    others itself.

    Examples
    --------
    >>> import recombine as rc
    >>> from recombine.report.audit.verdict_map import VerdictMap
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> record = embedded_cells(audit, VerdictMap(audit))
    >>> record["whole"], record["seen"], record["codes"]
    (True, [0, 1, 1], [0, 3, 1, 1])
    """
    design, choice = audit.design, audit.choice
    fits = len(design.seen) <= MAX_SEEN_CELLS_EMBEDDED and product_size(design.sizes) <= MAX_CELLS_EMBEDDED
    embedded = _whole(chart) if fits and chart.mapped.whole else _listed(audit)
    if embedded.whole:
        table = _seen(design) | {"adds": choice.structure.is_sum, "note": ""}
    else:
        note = TOO_LARGE.format(shown=len(embedded.cells), listed=len(audit.decided.listing.cells))
        table = {"seen": [], "levels": _levels(embedded), "note": note}
    return {
        "factors": [
            [printable(factor.name), [printable(factor.labels[level]) for level in levels.tolist()]]
            for factor, levels in zip(design.factors, embedded.named, strict=True)
        ],
        "symmetric": [list(group) for group in design.symmetric],
        "order": audit.order,
        "assumption": choice.assumption,
        "curved": not choice.structure.is_sum,
        "outcome": printable(design.outcome_column.name or "") or ("outcome" if design.outcome is not None else None),
        "verdicts": [
            [verdict.word, verdict.symbol, verdict_meaning(verdict, choice.assumption), verdict.action]
            for verdict in Verdict
        ],
        "whole": embedded.whole,
        "sums": embedded.whole and _provable(audit),
        "shown": [_terms(item, design) for item in shown if item.verified] if embedded.whole else [],
        "codes": [number for code, run in groupby(embedded.codes.tolist()) for number in (code, len(list(run)))],
        "values": _values(audit, embedded),
        "rests": [rests_phrase(audit.values, verdict) for verdict in Verdict],
        "panels": _panels(chart, embedded) if chart.tells else [],
        **table,
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
    every_level = tuple(np.arange(size) for size in sizes)
    return _Embedded(np.empty((0, len(sizes)), np.int64), codes, np.arange(len(codes)), every_level, True)


def _listed(audit: Audit) -> _Embedded:
    """Listed cells from first to last, evenly: the first ones alone would be those of a few levels."""
    listed = audit.decided.listing.cells
    count = min(MAX_LISTED_CELLS_EMBEDDED, MAX_LEVELS_EMBEDDED // len(audit.design.sizes), len(listed))
    rows = np.unique(np.linspace(0, len(listed) - 1, count).astype(np.int64))
    named = tuple(np.unique(column) for column in listed[rows].T)
    return _Embedded(listed[rows], audit.decided.codes[rows], rows, named, False)


def _terms(certificate: Certificate, design: Design) -> list[Any]:
    """A certificate in fractions as the number of its cell, and number, numerator and denominator of each term."""
    cells = np.vstack([[certificate.cell], certificate.cells])
    cell, *terms = _numbers(canonical(cells, design.symmetric), design.sizes).tolist()
    weights = [(weight.numerator, weight.denominator) for weight in certificate.weights]
    return [cell, [[term, *weight] for term, weight in zip(terms, weights, strict=True)]]


def _numbers(cells: IntArray, sizes: tuple[int, ...]) -> IntArray:
    """Return the place of each cell (N, C) in the product, last factor fastest, (N,)."""
    return np.asarray(np.ravel_multi_index(tuple(cells.T), sizes), dtype=np.int64)


def _seen(design: Design) -> dict[str, Any]:
    """The seen cells as steps from one to the next, how often each was measured and, if there are any, outcomes."""
    numbers = _numbers(canonical(design.seen, design.symmetric), design.sizes)
    order = np.argsort(numbers, kind="stable")
    seen = {"seen": _steps(numbers[order]), "precision": _column(design.precision[design.train][order])}
    return seen if design.outcome is None else seen | {"observed": _column(design.outcome[design.train][order])}


def _levels(embedded: _Embedded) -> list[str]:
    """One column per factor: the position of each cell's level among those named."""
    columns = zip(embedded.named, embedded.cells.T, strict=True)
    return [_text(np.searchsorted(named, column).astype("<u2")) for named, column in columns]


def _values(audit: Audit, embedded: _Embedded) -> dict[str, Any]:
    """Values and ranges of unseen cells, each a column; what is known of none is left out.

    Those of determined cells come first where there are too many.
    """
    verdicts, codes = audit.verdicts, audit.decided.codes
    open_too = audit.values.components is not None
    rows = np.flatnonzero((codes == Verdict.DETERMINED) | (open_too & (codes > Verdict.DETERMINED)))
    rows = rows[np.argsort(codes[rows] != Verdict.DETERMINED, kind="stable")]
    rows = rows[:MAX_VALUES_EMBEDDED] if embedded.whole else rows[np.isin(rows, embedded.numbers)]
    numbers = np.searchsorted(embedded.numbers, rows)
    if embedded.whole:
        cells = canonical(audit.decided.listing.cells[rows], audit.design.symmetric)
        numbers, first = np.unique(_numbers(cells, audit.design.sizes), return_index=True)
        rows = rows[first]
    # Where these are all the determined cells, their places need not be said.
    every = np.array_equal(numbers, np.flatnonzero(embedded.codes == Verdict.DETERMINED))
    names = ("leverage",) if audit.values.fit is None else ("predicted", "low", "high", "standard error", "certified")
    columns = {"error" if name == "standard error" else name: verdicts[name][rows] for name in names}
    if "high" in columns and _centred(columns["predicted"], columns["low"], columns["high"]):
        del columns["high"]
    texts = {name: _column(values) for name, values in columns.items() if np.isfinite(values).any()}
    return {"cells": None if every else _steps(numbers), **texts}


def _centred(middle: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    """Whether every range is as long to either side, so that one end tells the other."""
    gap = np.abs(low + high - 2 * middle)[np.isfinite(low)]
    return bool((gap <= 1e-6 * np.abs(high - low)[np.isfinite(low)]).all())


def _panels(chart: VerdictMap, embedded: _Embedded) -> list[dict[str, Any]]:
    """The grids of the map: which levels stand where, and where the grid stands in the drawings."""
    names = chart.audit.design.names
    wide, narrow = (chart.places(width).round(5).tolist() for width in (WIDTH, NARROW_WIDTH))
    panels = []
    for panel, in_wide, in_narrow in zip(chart.shown, wide, narrow, strict=True):
        axes = (panel.row, panel.column)
        factors = [names.index(axis.factor) for axis in axes]
        bins = [axis.bins[embedded.named[factor]].tolist() for axis, factor in zip(axes, factors, strict=True)]
        panels.append(
            {
                "factors": factors,
                "bins": bins,
                "labels": [
                    list(map(printable, axis.labels)) if axis.binned or not embedded.whole else None for axis in axes
                ],
                "shape": panel.counts.shape[:2],
                "triangle": panel.triangle,
                "wide": in_wide,
                "narrow": in_narrow,
            }
        )
    return panels


def _steps(numbers: IntArray) -> list[int]:
    """Return ascending numbers as the first one and the step to each next."""
    return list(np.diff(numbers, prepend=0).tolist())


def _column(values: FloatArray) -> str:
    return _text(np.asarray(values, dtype="<f4"))


def _text(values: npt.NDArray[Any]) -> str:
    return b64encode(values.tobytes()).decode()
