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
from recombine.design.restriction import why_impossible
from recombine.design.scaling import outside_words
from recombine.errors import SolverError
from recombine.jobs.structure.open_cells import bounds_whatever_the_curve, why_beyond
from recombine.theory.identification.certificate import Certificate, certificate, cube_terms, written_weight
from recombine.theory.identification.nullspace import Route
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

SHOWN = 10
#: Where a certificate takes seconds rather than an instant, and how many are shown then.
SLOW_CELLS, SLOW_CONJUNCTIONS, FEW_SHOWN = 2_000, 60, 3
#: Up to this many seen cells or conjunctions any certificate is soon found. Beyond, so many cells are tried for a cube;
#: without one all seen cells are searched so many times, and after that only so many nearby ones.
FEW_CELLS, FEW_CONJUNCTIONS = 400, 150
TRIED, SEARCHED, NEARBY = 40, 2, 100
#: With more factors than this only cubes are looked for: a search over thousands of levels takes a minute.
WIDE = 20
#: Why a cell is shown, in the order of showing.
REASONS = ("the only one", "held out", "highest leverage", "lowest leverage")
#: Longer sums are cut here, and the number of terms left out is given; in plain text to that many of the largest.
MOST_TERMS, LARGEST_TERMS = 24, 6
#: Cells looked at for one pick; a cell that shares no level with earlier picks is nearly always among them.
LOOKED_AT = 200
#: What to do about a cell that is wrongly held to be impossible.
CROSSED = "If it can, say --crossed (crossed=True in Python) where nesting was inferred, else correct what you said."


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


def cells_to_show(audit: Audit, count: int = SHOWN) -> list[tuple[int, str]]:
    """Choose determined cells: row numbers of the listing, and why each is shown.

    In turn a held-out cell, the shakiest and the safest of the rest, spread over levels.

    Examples
    --------
    >>> import recombine as rc
    >>> cells_to_show(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    [(0, 'the only one')]
    """
    known = np.flatnonzero(audit.codes == Verdict.DETERMINED)
    if len(known) == 1:
        return [(int(known[0]), REASONS[0])]
    leverage = audit.leverage[known]
    shaky = known[np.argsort(-leverage, kind="stable")]
    safe = known[np.argsort(leverage, kind="stable")]
    held = contains(canonical(audit.design.held_out, audit.design.symmetric), audit.listing.cells[shaky])
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
    candidates = rows[: LOOKED_AT + len(used)]
    candidates = candidates[~np.isin(candidates, used)]
    if not len(candidates):
        return None
    cells = audit.listing.cells
    repeats = [(cells[used] == cells[row]).sum() for row in candidates]
    return int(candidates[int(np.argmin(repeats))])


def certificates_to_show(audit: Audit, count: int = SHOWN) -> list[ShownCertificate]:
    """Return the chosen cells with their certificates; cells for which no short sum is found are passed over."""
    affordable, found = _affordable(audit), audit.identification
    slow = len(found.seen) > SLOW_CELLS and len(found.null.columns) > SLOW_CONJUNCTIONS
    if affordable and slow and found.route is not Route.GRAPH:
        count = min(count, FEW_SHOWN)
    rows = cells_to_show(audit, count if affordable else TRIED)
    sums = _all_sums(audit, rows) if affordable else _short_sums(audit, rows)
    shown = sorted(itertools.islice(sums, count), key=lambda item: REASONS.index(item[1]))
    return [_shown(audit, *item) for item in shown]


def _affordable(audit: Audit) -> bool:
    """Whether any certificate is quickly found: on large designs some run over hundreds of cells."""
    found = audit.identification
    small = len(found.seen) <= FEW_CELLS or len(found.null.columns) <= FEW_CONJUNCTIONS
    return found.route is Route.GRAPH or small


def _all_sums(audit: Audit, rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, Certificate]]:
    for row, reason in rows:
        with suppress(SolverError):
            yield row, reason, audit.certificate(row)


def _short_sums(audit: Audit, rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, Certificate]]:
    """Look for a cube of seen cells, which is quick at any size; without one, among all seen cells a few times."""
    features, seen, searches = audit.identification.features, audit.identification.seen, SEARCHED
    for row, reason in rows:
        cell = canonical(audit.listing.cells[[row]], features.symmetric)[0]
        corners = [*cube_terms(features, seen, cell)]
        if not corners and len(features.sizes) > WIDE:
            continue
        pool = SeenCells(features, np.array(corners)) if corners else _nearby(audit, cell)
        if not corners and searches:
            pool, searches = seen, searches - 1
        with suppress(SolverError):
            found = certificate(features, pool, cell)
            if len(found) <= MOST_TERMS:
                yield row, reason, found


def _nearby(audit: Audit, cell: IntArray) -> SeenCells:
    """Return the seen cells that share most levels with ``cell`` (C,)."""
    shared = (audit.design.seen == cell).sum(axis=1)
    return SeenCells(audit.identification.features, audit.design.seen[np.argsort(-shared, kind="stable")[:NEARBY]])


def _shown(audit: Audit, row: int, reason: str, found: Certificate) -> ShownCertificate:
    design, places = audit.design, _places(audit, found)
    observed = _added_outcomes(audit, places)
    value = audit.ranges_of(audit.listing.cells[[row]], audit.leverage[[row]])
    return ShownCertificate(
        design.label(audit.listing.cells[row]),
        reason,
        certificate_terms(audit, found)[:MOST_TERMS],
        max(len(found) - MOST_TERMS, 0),
        certificate_variance(audit, found),
        None if observed is None else found.value(observed),
        float(audit.leverage[row]),
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
    precision = audit.design.precision[audit.design.train][_places(audit, found)]
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
    observed = _added_outcomes(audit, _places(audit, found))
    return tuple(map(_term, found.weights, labels, [None] * len(labels) if observed is None else observed.tolist()))


def _added_outcomes(audit: Audit, places: IntArray) -> FloatArray | None:
    """Outcomes at places (m,) among the seen cells; None without any, and on a scale where it is not them that add."""
    outcome = audit.design.outcome
    return None if outcome is None or not audit.choice.structure.is_sum else outcome[audit.design.train][places]


def _term(weight: Fraction, label: str, observed: float | None) -> Term:
    return Term("−" if weight < 0 else "+", written_weight(weight), label, observed)


def _places(audit: Audit, found: Certificate) -> IntArray:
    """Places of a certificate's cells among the seen ones, shape (m,)."""
    seen = audit.design.seen
    return np.array([int(np.flatnonzero((seen == cell).all(axis=1))[0]) for cell in found.cells], dtype=np.int64)


def _measured(audit: Audit, row: int) -> float | None:
    """Outcome of a listed cell that was held out, None for others."""
    design = audit.design
    if design.outcome is None:
        return None
    held = canonical(design.held_out, design.symmetric)
    cell = canonical(audit.listing.cells[[row]], design.symmetric)
    places = np.flatnonzero((held == cell).all(axis=1))
    return float(design.outcome[~design.train][places[0]]) if len(places) else None


def explanation(audit: Audit, cell: IntArray, found: Certificate | None = None) -> str:
    """Return the verdict of one cell (C,) in words: its value and range, and the certificate with its own variance.

    ``found`` saves the search where its certificate is known already.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], outcome=[1.0, 2.0, 11.0]))
    >>> print(explanation(audit, np.array([1, 1])).partition("the certificate shows the sum.")[2].strip())
    predicted 12 (leverage 3: its variance in units of one measurement's)
      no 90 % range: no seen cell is determined by the others, and it takes 20
      certificate: y(1,1) = y(1,0) + y(0,1) - y(0,0)
      the sum: 11 + 2 - 1 = 12, with variance 3; a proof by few cells, while the prediction uses all
    """
    if reason := why_impossible(audit.design, cell):
        return f"{audit.design.label(cell)}: cannot exist: {reason}. {CROSSED}"
    verdict = Verdict(int(audit.verdicts_of(cell[None])[0]))
    meaning = verdict.text.meaning.replace("if effects add", f"if {audit.choice.assumption}")
    lead = f"{audit.design.label(cell)}: {verdict.word}. {meaning}"
    bounds = bounds_whatever_the_curve(audit.design, audit.choice, cell)
    if verdict is Verdict.BEYOND and (words := outside_words(audit.design, cell)):
        return f"{lead} Here {'; and '.join(words)}."
    if verdict is Verdict.BEYOND and (why := why_beyond(audit.choice, cell)):
        return "\n  ".join([f"{lead} Here {why}.", *bounds])
    fit = audit.choice.fit
    if limit := fit.limit_of(cell) if fit is not None and verdict is Verdict.DISCONNECTED else "":
        return f"{lead} {limit.capitalize()}: the seen outcomes are separated. {verdict.text.action}"
    if verdict is not Verdict.DETERMINED:
        return "\n  ".join([f"{lead} {verdict.text.action}", *bounds])
    return "\n  ".join([lead, *_value_lines(audit, cell), *_certificate_lines(audit, cell, found), *bounds])


def _value_lines(audit: Audit, cell: IntArray) -> list[str]:
    """The cell's predicted value, standard error and range, as far as they are known."""
    leverage = np.array([np.nan])
    with suppress(SolverError):
        leverage = audit.leverage_of(cell[None])
    words = f"leverage {leverage[0]:.3g}: its variance in units of one measurement's"
    value = audit.ranges_of(cell[None], leverage)
    if np.isnan(value.predicted[0]):
        return [] if np.isnan(leverage[0]) else [words]
    error = float(value.standard_error[0])
    known = "" if np.isnan(error) else f", standard error {beside_error(error, error)}"
    first = f"predicted {beside_error(value.predicted[0], error)}{known}" + (
        "" if np.isnan(leverage[0]) else f" ({words})"
    )
    if audit.ranges is None or audit.ranges.obstacle:
        statement = audit.ranges_statement
        return [first, f"{statement[0].lower()}{statement[1:]}".removesuffix(".")]
    low, high = (beside_error(end, error) for end in (value.low[0], value.high[0]))
    return [first, f"90 % range {low} to {high}, for {audit.ranges.what}"]


def beside_error(value: float, error: float) -> str:
    """Write a value with as many digits as its standard error leaves a meaning: three of the error's.

    Examples
    --------
    >>> beside_error(52.4996, 13.85), beside_error(0.12345, 0.0021), beside_error(7.25, float("nan"))
    ('52.5', '0.12345', '7.25')
    """
    if not 0 < error < np.inf:
        return f"{value:.6g}"
    decimals = 2 - int(np.floor(np.log10(error)))
    return f"{round(float(value), decimals):.{max(decimals, 0)}f}" if decimals < 12 else f"{value:.6g}"


def _certificate_lines(audit: Audit, cell: IntArray, found: Certificate | None) -> list[str]:
    """The certificate in level names and, given an outcome, the seen values that it adds up."""
    try:
        found = found or audit.identification.certificate_of(tuple(cell.tolist()))
    except SolverError as error:
        return [f"its certificate was not found: {error}"]
    variance = certificate_variance(audit, found)
    weights = [float(weight) for weight in found.weights]
    if not audit.choice.structure.is_sum:
        return _hidden_lines(audit, cell, found)
    aside = f"with variance {variance:.3g}; a proof by few cells, while the prediction uses all"
    outcome = audit.design.outcome
    observed = None if outcome is None else outcome[audit.design.train][_places(audit, found)]
    total = "" if observed is None else f" = {found.value(observed):.6g}"
    if len(found) > MOST_TERMS:
        largest = np.argsort(-np.abs(weights), kind="stable")[:LARGEST_TERMS]
        terms = [f"{weights[term]:+.3g} y({audit.design.label(found.cells[term])})" for term in largest]
        text = f"certificate: a weighted sum of {len(found):,} seen cells, led by {'  '.join(terms)}"
        return [text, f"the sum{total}, {aside}"]
    names = audit.design.label if audit.design.parts else [factor.labels for factor in audit.design.factors]
    lines = [f"certificate: {found.text(names)}"]
    if observed is None:
        return [*lines, f"the sum, {aside}"]
    added = " ".join(map(_summand, found.weights, observed.tolist())).removeprefix("+ ")
    return [*lines, f"the sum: {added}{total}, {aside}"]


def _hidden_lines(audit: Audit, cell: IntArray, found: Certificate) -> list[str]:
    """The certificate of a structure that adds on another scale: a sum there, and what the outcome is at that sum."""
    if len(found) > MOST_TERMS:
        return [f"certificate: on its own scale a weighted sum of {len(found):,} seen cells"]
    names = audit.design.label if audit.design.parts else [factor.labels for factor in audit.design.factors]
    lines = [f"certificate, on the scale on which effects add: {found.text(names).replace('y(', 's(')}"]
    assert audit.choice.fit is not None
    sums = audit.choice.fit.latent(found.cells)
    if limit := audit.choice.fit.limit_of(cell):
        lines.append(f"{limit}: the seen outcomes are separated, so that the likeliest effects are infinite")
    if sums is None:
        return lines
    added = " ".join(map(_summand, found.weights, sums.tolist())).removeprefix("+ ")
    return [
        *lines,
        f"the sum: {added} = {found.value(sums):.4g}, where the outcome is {audit.predict(cell[None])[0]:.6g}",
    ]


def _summand(weight: Fraction, value: float) -> str:
    shown = f"({value:.6g})" if value < 0 else f"{value:.6g}"
    size = written_weight(weight)
    return f"{'-' if weight < 0 else '+'} {f'{size} × ' if size else ''}{shown}"
