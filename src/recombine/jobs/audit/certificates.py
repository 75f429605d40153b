"""The certificates worth reading: which determined cells to show, and each one's sum in level names.

A certificate proves that a cell is determined, by few seen cells. It is not the prediction, which uses all of them and
varies less; so its own value and variance are said beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import canonical, contains
from recombine.cells.seen import SeenCells
from recombine.errors import SolverError
from recombine.theory.identification.certificate import Certificate, certificate, cube_terms, written_weight
from recombine.theory.identification.nullspace import Route
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

CERTIFICATES_SHOWN = 10
#: Where a certificate takes seconds rather than an instant, and how many are shown then.
SLOW_CELLS, SLOW_CONJUNCTIONS, SLOW_CERTIFICATES_SHOWN = 2_000, 60, 3
#: Up to this many seen cells or conjunctions any certificate is soon found. Beyond, so many cells are tried for a cube;
#: without one all seen cells are searched so many times, and after that only so many nearby ones.
MAX_CELLS_SEARCHED_ALL, MAX_CONJUNCTIONS_SEARCHED_ALL = 400, 150
MAX_CELLS_TRIED, MAX_FULL_SEARCHES, MAX_NEARBY_SEARCHED = 40, 2, 100
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

    ``variance`` is the sum's own, ``leverage`` that of the prediction ``by_fit``, both in units of one measurement's.
    """

    label: str
    reason: str
    terms: tuple[Term, ...]
    further: int
    variance: float
    by_sum: float | None
    leverage: float
    by_fit: float | None
    standard_error: float
    low: float
    high: float
    measured: float | None
    certificate: Certificate


def cells_to_show(audit: Audit, count: int = CERTIFICATES_SHOWN) -> list[tuple[int, str]]:
    """Choose determined cells: row numbers of the listing, and why each is shown.

    In turn a held-out cell, the shakiest and the safest of the rest, spread over levels.

    Examples
    --------
    >>> import recombine as rc
    >>> cells_to_show(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    [(0, 'the only one')]
    """
    known = np.flatnonzero(audit.decided.codes == Verdict.DETERMINED)
    if len(known) == 1:
        return [(int(known[0]), REASONS[0])]
    leverage = audit.decided.leverage[known]
    shaky = known[np.argsort(-leverage, kind="stable")]
    safe = known[np.argsort(leverage, kind="stable")]
    held = contains(canonical(audit.design.held_out, audit.design.symmetric), audit.decided.listing.cells[shaky])
    queues = list(zip((shaky[held], shaky, safe), REASONS[1:], strict=True))
    return _in_turn(audit, queues, min(count, len(known)))


def _in_turn(audit: Audit, queues: list[tuple[IntArray, str]], count: int) -> list[tuple[int, str]]:
    chosen: list[tuple[int, str]] = []
    while len(chosen) < count:
        for rows, reason in queues:
            pick = _fresh(audit, rows, [row for row, _ in chosen])
            if pick is not None and len(chosen) < count:
                chosen.append((pick, reason))
    return chosen


def _fresh(audit: Audit, rows: IntArray, used: list[int]) -> int | None:
    """Return the first of ``rows`` that shares the fewest levels with the cells already chosen."""
    candidates = rows[: CELLS_PER_PICK + len(used)]
    candidates = candidates[~np.isin(candidates, used)]
    if not len(candidates):
        return None
    cells = audit.decided.listing.cells
    repeats = [(cells[used] == cells[row]).sum() for row in candidates]
    return int(candidates[int(np.argmin(repeats))])


def certificates_to_show(audit: Audit, count: int = CERTIFICATES_SHOWN) -> list[ShownCertificate]:
    """Return the chosen cells with their certificates; cells for which no short sum is found are passed over."""
    affordable, found = _affordable(audit), audit.decided.identification
    slow = len(found.seen) > SLOW_CELLS and len(found.null.columns) > SLOW_CONJUNCTIONS
    if affordable and slow and found.route is not Route.GRAPH:
        count = min(count, SLOW_CERTIFICATES_SHOWN)
    rows = cells_to_show(audit, count if affordable else MAX_CELLS_TRIED)
    sums = _all_sums(audit, rows) if affordable else _short_sums(audit, rows)
    shown = sorted(itertools.islice(sums, count), key=lambda item: REASONS.index(item[1]))
    return [_shown(audit, *item) for item in shown]


def _affordable(audit: Audit) -> bool:
    """Whether any certificate is quickly found: on large designs some run over hundreds of cells."""
    found = audit.decided.identification
    small = len(found.seen) <= MAX_CELLS_SEARCHED_ALL or len(found.null.columns) <= MAX_CONJUNCTIONS_SEARCHED_ALL
    return found.route is Route.GRAPH or small


def _all_sums(audit: Audit, rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, Certificate]]:
    for row, reason in rows:
        with suppress(SolverError):
            yield row, reason, audit.certificate(row)


def _short_sums(audit: Audit, rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, Certificate]]:
    """Look for a cube of seen cells, which is quick at any size; without one, among all seen cells a few times."""
    features, seen, searches = (
        audit.decided.identification.features,
        audit.decided.identification.seen,
        MAX_FULL_SEARCHES,
    )
    for row, reason in rows:
        cell = canonical(audit.decided.listing.cells[[row]], features.symmetric)[0]
        corners = [*cube_terms(features, seen, cell)]
        if not corners and len(features.sizes) > MAX_FACTORS_SEARCHED:
            continue
        pool = SeenCells(features, np.array(corners)) if corners else _nearby(audit, cell)
        if not corners and searches:
            pool, searches = seen, searches - 1
        with suppress(SolverError):
            found = certificate(features, pool, cell)
            if len(found) <= MAX_TERMS_WRITTEN:
                yield row, reason, found


def _nearby(audit: Audit, cell: IntArray) -> SeenCells:
    """Return the seen cells that share most levels with ``cell`` (C,)."""
    shared = (audit.design.seen == cell).sum(axis=1)
    return SeenCells(
        audit.decided.identification.features,
        audit.design.seen[np.argsort(-shared, kind="stable")[:MAX_NEARBY_SEARCHED]],
    )


def _shown(audit: Audit, row: int, reason: str, found: Certificate) -> ShownCertificate:
    design, places = audit.design, certificate_places(audit, found)
    observed = _added_outcomes(audit, places)
    value = audit.values.ranges_of(audit.decided.listing.cells[[row]], audit.decided.leverage[[row]])
    return ShownCertificate(
        design.label(audit.decided.listing.cells[row]),
        reason,
        certificate_terms(audit, found)[:MAX_TERMS_WRITTEN],
        max(len(found) - MAX_TERMS_WRITTEN, 0),
        certificate_variance(audit, found),
        None if observed is None else found.value(observed),
        float(audit.decided.leverage[row]),
        None if design.outcome is None else float(value.predicted[0]),
        float(value.standard_error[0]),
        float(value.low[0]),
        float(value.high[0]),
        _measured(audit, row),
        found,
    )


def certificate_variance(audit: Audit, found: Certificate) -> float:
    """Return the variance of a certificate's sum, in units of one measurement's.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> certificate_variance(audit, audit.certificate([1, 1]))
    3.0
    """
    precision = audit.design.precision[audit.design.train][certificate_places(audit, found)]
    return float(np.sum(np.array([float(weight) for weight in found.weights]) ** 2 / precision))


def certificate_terms(audit: Audit, found: Certificate) -> tuple[Term, ...]:
    """Return the terms of a certificate, each with the outcome that was seen where it is outcomes that add.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> [term.sign + term.label for term in certificate_terms(audit, audit.certificate([1, 1]))]
    ['+1 · 0', '+0 · 1', '−0 · 0']
    """
    labels = [audit.design.label(cell) for cell in found.cells]
    observed = _added_outcomes(audit, certificate_places(audit, found))
    return tuple(map(_term, found.weights, labels, [None] * len(labels) if observed is None else observed.tolist()))


def _added_outcomes(audit: Audit, places: IntArray) -> FloatArray | None:
    """Outcomes at places (m,) among the seen cells; None without any, and on a scale where it is not them that add."""
    outcome = audit.design.outcome
    return None if outcome is None or not audit.choice.structure.is_sum else outcome[audit.design.train][places]


def _term(weight: Fraction, label: str, observed: float | None) -> Term:
    return Term("−" if weight < 0 else "+", written_weight(weight), label, observed)


def certificate_places(audit: Audit, found: Certificate) -> IntArray:
    """Return the places of a certificate's cells among the seen ones, shape (m,)."""
    seen = audit.design.seen
    return np.array([int(np.flatnonzero((seen == cell).all(axis=1))[0]) for cell in found.cells], dtype=np.int64)


def _measured(audit: Audit, row: int) -> float | None:
    """Outcome of a listed cell that was held out, None for others."""
    design = audit.design
    if design.outcome is None:
        return None
    held = canonical(design.held_out, design.symmetric)
    cell = canonical(audit.decided.listing.cells[[row]], design.symmetric)
    places = np.flatnonzero((held == cell).all(axis=1))
    return float(design.outcome[~design.train][places[0]]) if len(places) else None
