"""The certificates worth reading: which determined cells to show, and each one's sum in level names.

A certificate proves that a cell is determined, by few seen cells. It is not the prediction, which uses all of them and
varies less; so its own value and variance are said beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import canonical, contains, places_among
from recombine.cells.seen import SeenCells
from recombine.design.design import Design
from recombine.errors import SolverError
from recombine.jobs.audit.parts import Decided, Values
from recombine.theory.identification.certificate import Certificate, Names, certificate, cube_terms, written_weight
from recombine.theory.identification.nullspace import Route
from recombine.verdicts import Verdict

#: Certificates shown; so many where one takes seconds rather than an instant, which more cells and conjunctions do.
CERTIFICATES_SHOWN, SLOW_CERTIFICATES_SHOWN, SLOW_CELLS, SLOW_CONJUNCTIONS = 10, 3, 2_000, 60
#: Up to this many seen cells or conjunctions any certificate is soon found. Beyond, so many cells are tried for a cube;
#: without one all seen cells are searched so many times, and after that only so many nearby ones.
MAX_CELLS_SEARCHED_ALL, MAX_CONJUNCTIONS_SEARCHED_ALL = 400, 150
MAX_CELLS_TRIED, MAX_FULL_SEARCHES, MAX_NEARBY_CELLS = 40, 2, 100
#: With more factors than this only cubes are looked for: a search over thousands of levels takes a minute.
MAX_FACTORS_SEARCHED = 20
#: Why a cell is shown, in the order of showing.
REASONS = ("the only one", "held out", "highest leverage", "lowest leverage")
#: Longer sums are cut here, and the number of terms left out is given.
MAX_TERMS_WRITTEN = 24
#: Cells looked at for one pick; a cell that shares no level with earlier picks is nearly always among them.
CELLS_PER_PICK = 200


@dataclass(frozen=True)
class Term:
    """One seen cell of a certificate: its sign, weight (empty for 1), label and observed outcome."""

    sign: str
    weight: str
    label: str
    observed: float | None


@dataclass(frozen=True)
class ShownCertificate:
    """A determined cell with its certificate: why it is shown, the sum, what it gives, what is predicted and measured.

    ``variance`` is the sum's own, ``leverage`` that of what is ``certified`` by all seen cells, both in units of one
    measurement's. ``predicted`` is the cell's value.
    """

    label: str
    reason: str
    terms: tuple[Term, ...]
    further: int
    variance: float
    by_sum: float | None
    leverage: float
    certified: float | None
    predicted: float | None
    standard_error: float
    low: float
    high: float
    measured: float | None
    certificate: Certificate


def cells_to_show(decided: Decided, count: int = CERTIFICATES_SHOWN) -> list[tuple[int, str]]:
    """Choose determined cells: row numbers of the listing, and why each is shown.

    In turn a held-out cell, the shakiest and the safest of the rest, spread over levels.

    Examples
    --------
    >>> import recombine as rc
    >>> cells_to_show(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])).decided)
    [(0, 'the only one')]
    """
    determined = np.flatnonzero(decided.codes == Verdict.DETERMINED)
    if len(determined) == 1:
        return [(int(determined[0]), REASONS[0])]
    leverage, cells = decided.leverage[determined], decided.listing.cells
    shaky = determined[np.argsort(-leverage, kind="stable")]
    safe = determined[np.argsort(leverage, kind="stable")]
    held = contains(canonical(decided.design.held_out, decided.design.symmetric), cells[shaky])
    queues = list(zip((shaky[held], shaky, safe), REASONS[1:], strict=True))
    chosen: list[tuple[int, str]] = []
    count = min(count, len(determined))
    while len(chosen) < count:
        for rows, reason in queues:
            pick = _fresh(cells, rows, [row for row, _ in chosen])
            if pick is not None and len(chosen) < count:
                chosen.append((pick, reason))
    return chosen


def _fresh(cells: IntArray, rows: IntArray, used: list[int]) -> int | None:
    """Return the first of ``rows`` that shares the fewest levels with the cells already chosen."""
    candidates = rows[: CELLS_PER_PICK + len(used)]
    candidates = candidates[~np.isin(candidates, used)]
    if not len(candidates):
        return None
    repeats = [(cells[used] == cells[row]).sum() for row in candidates]
    return int(candidates[int(np.argmin(repeats))])


def certificates_to_show(values: Values, count: int = CERTIFICATES_SHOWN) -> list[ShownCertificate]:
    """Return the chosen cells with their certificates; cells for which no short sum is found are passed over."""
    decided, engine = values.decided, values.decided.identification
    seen, conjunctions, graph = len(engine.seen), len(engine.null.columns), engine.route is Route.GRAPH
    # On large designs some certificates run over hundreds of cells.
    affordable = graph or seen <= MAX_CELLS_SEARCHED_ALL or conjunctions <= MAX_CONJUNCTIONS_SEARCHED_ALL
    if affordable and not graph and seen > SLOW_CELLS and conjunctions > SLOW_CONJUNCTIONS:
        count = min(count, SLOW_CERTIFICATES_SHOWN)
    rows = cells_to_show(decided, count if affordable else MAX_CELLS_TRIED)
    sums = _all_sums(decided, rows) if affordable else _short_sums(decided, rows)
    shown = sorted(itertools.islice(sums, count), key=lambda item: REASONS.index(item[1]))
    return [_shown(values, *item) for item in shown]


def _all_sums(decided: Decided, rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, Certificate]]:
    for row, reason in rows:
        with suppress(SolverError):
            yield row, reason, decided.identification.certificate_of(tuple(decided.listing.cells[row].tolist()))


def _short_sums(decided: Decided, rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, Certificate]]:
    """Look for a cube of seen cells, which is quick at any size; without one, among all seen cells a few times."""
    engine, searches = decided.identification, MAX_FULL_SEARCHES
    features, cells = engine.features, decided.design.seen
    for row, reason in rows:
        cell = canonical(decided.listing.cells[[row]], features.symmetric)[0]
        corners = [*cube_terms(features, engine.seen, cell)]
        if corners:
            pool = SeenCells(features, np.array(corners))
        elif len(features.sizes) > MAX_FACTORS_SEARCHED:
            continue
        elif searches:
            pool, searches = engine.seen, searches - 1
        else:
            shared = (cells == cell).sum(axis=1)
            pool = SeenCells(features, cells[np.argsort(-shared, kind="stable")[:MAX_NEARBY_CELLS]])
        with suppress(SolverError):
            short = certificate(features, pool, cell)
            if len(short) <= MAX_TERMS_WRITTEN:
                yield row, reason, short


def _shown(values: Values, row: int, reason: str, certificate: Certificate) -> ShownCertificate:
    decided, design = values.decided, values.decided.design
    cell, leverage = decided.listing.cells[[row]], decided.leverage[[row]]
    observed, value = _added_outcomes(decided, certificate), values.ranges_of(cell, leverage)
    return ShownCertificate(
        design.label(cell[0]),
        reason,
        certificate_terms(decided, certificate)[:MAX_TERMS_WRITTEN],
        max(len(certificate) - MAX_TERMS_WRITTEN, 0),
        certificate_variance(design, certificate),
        None if observed is None else certificate.value(observed),
        float(leverage[0]),
        None if design.outcome is None else float(value.certified[0]),
        None if design.outcome is None else float(value.predicted[0]),
        float(value.standard_error[0]),
        float(value.low[0]),
        float(value.high[0]),
        _measured(design, cell),
        certificate,
    )


def level_names(design: Design) -> Names:
    """Return how a certificate writes levels: the labels of each factor, or what writes a cell of a sequence or set."""
    return design.label if design.space.parts else [factor.labels for factor in design.factors]


def certificate_variance(design: Design, certificate: Certificate) -> float:
    """Return the variance of a certificate's sum, in units of one measurement's.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> certificate_variance(audit.design, audit.certificate([1, 1]))
    3.0
    """
    precision = design.precision[design.train][certificate_places(design, certificate)]
    return float(np.sum(np.array([float(weight) for weight in certificate.weights]) ** 2 / precision))


def certificate_terms(decided: Decided, certificate: Certificate) -> tuple[Term, ...]:
    """Return the terms of a certificate, each with the outcome that was seen where it is outcomes that add.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> [term.sign + term.label for term in certificate_terms(audit.decided, audit.certificate([1, 1]))]
    ['+1 · 0', '+0 · 1', '−0 · 0']
    """
    outcomes = _added_outcomes(decided, certificate)
    observed = [None] * len(certificate) if outcomes is None else outcomes.tolist()
    return tuple(
        Term("−" if weight < 0 else "+", written_weight(weight), decided.design.label(cell), value)
        for weight, cell, value in zip(certificate.weights, certificate.cells, observed, strict=True)
    )


def _added_outcomes(decided: Decided, certificate: Certificate) -> FloatArray | None:
    """Outcomes of a certificate's cells (m,); None without any, and on a scale where it is not them that add."""
    design = decided.design
    if design.outcome is None or not decided.choice.structure.is_sum:
        return None
    return design.observed.seen_outcome[certificate_places(design, certificate)]


def certificate_places(design: Design, certificate: Certificate) -> IntArray:
    """Return the places of a certificate's cells among the seen ones, shape (m,)."""
    return places_among(design.seen, np.array(certificate.cells, dtype=np.int64))


def _measured(design: Design, cell: IntArray) -> float | None:
    """Outcome of a cell (1, C) that was held out, None for others."""
    if design.outcome is None:
        return None
    row = places_among(*(canonical(cells, design.symmetric) for cells in (design.held_out, cell)))[0]
    return float(design.outcome[~design.train][row]) if row >= 0 else None
