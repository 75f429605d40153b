"""The verdict of one cell in words: its value and range, and the certificate that proves it."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.design.targets import outside_words, why_impossible, why_not_nested
from recombine.errors import SolverError
from recombine.jobs.audit.certificates import MAX_TERMS_WRITTEN, certificate_places, certificate_variance, level_names
from recombine.theory.identification.certificate import Certificate, written_weight
from recombine.theory.structures.structure import OpenProduct, StructureData
from recombine.verdicts import Verdict
from recombine.words.values import range_of, ranges_sentence, rests_phrase
from recombine.words.verdicts import verdict_meaning
from recombine.writing import beside_error, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recombine.design.design import Design
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.structure.choice import Choice

#: Terms of a longer certificate that are written, the largest ones.
LARGEST_TERMS = 6
#: Why a product does not follow although its logarithm would.
OPEN_PRODUCTS = {
    OpenProduct.SIGN: "Numbers of either sign multiply, and the seen combinations fix its size, but not its sign.",
    OpenProduct.SIZE: "The seen combinations that lead to it are zero, and a product that is zero tells no size.",
}
#: What to do about a cell that is wrongly held to be impossible.
CROSSED = "If it can, say --crossed (crossed=True in Python) where nesting was inferred, else correct what you said."
UNLISTED = "If it can, add it to the possible cells (--possible, possible= in Python)."


def explanation(audit: Audit, cell: IntArray) -> str:
    """Return the verdict of one cell (C,) in words: its value and range, and the certificate with its own variance."""
    if reason := why_impossible(audit.design, cell):
        cure = CROSSED if why_not_nested(audit.design, cell) else UNLISTED
        return printable(f"{audit.design.label(cell)}: cannot exist: {reason}. {cure}")
    lead, *lines = explanation_lines(audit, cell)
    return "\n  ".join([printable(f"{audit.design.label(cell)}: {lead}"), *lines])


def explanation_lines(audit: Audit, cell: IntArray, certificate: Certificate | None = None) -> list[str]:
    """Return the verdict of a cell (C,) that can exist, and lines on its value, its range and its certificate.

    ``certificate`` saves the search where it is known already.
    """
    return list(map(printable, _explained(audit, cell, certificate)))


def _explained(audit: Audit, cell: IntArray, certificate: Certificate | None) -> list[str]:
    verdict = Verdict(int(audit.decided.verdicts_of(cell[None])[0]))
    lead = f"{verdict.word}. {verdict_meaning(verdict, audit.choice.assumption)}"
    bounds = bounds_whatever_the_curve(audit.design, audit.choice, cell)
    value = [] if verdict is Verdict.SEEN else _value_lines(audit, cell, verdict)
    if verdict is Verdict.BEYOND and (words := outside_words(audit.design, cell)):
        return [f"{lead} Here {'; and '.join(words)}.", *value]
    if verdict is Verdict.BEYOND and (why := why_beyond(audit.choice, cell)):
        return [f"{lead} Here {why}.", *value, *bounds]
    fit = audit.choice.fit
    summed = fit is not None and audit.decided.identification.verdicts_of(cell[None])[0] == Verdict.DETERMINED
    # A cell that no sum reaches has no limit either: only one that a sum reaches is open for separated outcomes.
    if limit := fit.limit_of(cell) if fit is not None and summed and verdict is Verdict.DISCONNECTED else "":
        return [f"{lead} {limit.capitalize()}: the seen outcomes are separated. {verdict.action}", *value]
    if fit is not None and summed and (obstacle := fit.open_product(cell)):
        lead = f"{verdict.word}. {OPEN_PRODUCTS[obstacle]}"
    if verdict is not Verdict.DETERMINED:
        return [f"{lead}{_only_if(audit, cell, verdict)} {verdict.action}", *value, *bounds]
    return [lead, *value, *_certificate_lines(audit, cell, certificate), *bounds]


def _only_if(audit: Audit, cell: IntArray, verdict: Verdict) -> str:
    """Say under which structure a cell (C,) is disconnected where adding alone would determine it; else nothing."""
    by_adding = audit.decided.first.verdicts_of(cell[None])[0]
    if verdict is not Verdict.DISCONNECTED or by_adding != Verdict.DETERMINED:
        return ""
    return f" That is so if {audit.choice.assumption}; if effects add, it is determined."


def why_beyond(choice: Choice, cell: IntArray) -> str:
    """Say where ``cell`` (C,) lies beyond the seen range of a curve; empty where it does not."""
    opened = None if choice.fit is None else choice.fit.why_open(cell)
    if opened is None:
        return ""
    side, size = ("above", "large") if opened.value > opened.high else ("below", "small")
    return (
        f"its sum of effects, {opened.value:.5g}, lies {side} those of all seen combinations, {opened.low:.5g} to "
        f"{opened.high:.5g}; collect one with a sum as {size}"
    )


def bounds_whatever_the_curve(design: Design, choice: Choice, cell: IntArray) -> list[str]:
    """Return lines on bounds of ``cell`` (C,) for any increasing curve; empty unless under a curve with few cells.

    Examples
    --------
    >>> import recombine as rc
    >>> cells = np.array([[i, j] for i in range(6) for j in range(6) if (i, j) != (3, 3)])
    >>> design = rc.Design.from_cells(cells, outcome=np.exp(cells.sum(axis=1) / 3.0))
    >>> choice = rc.audit(design, structure="link").choice
    >>> print(bounds_whatever_the_curve(design, choice, np.array([3, 3]))[0].partition(";")[0])
    whatever the curve, if it rises: from 5.294 (3,2) to 10.31 (3,4)
    """
    if choice.fit is None or design.outcome is None:
        return []
    outcome, sizes = design.outcome[design.train], tuple(design.sizes)
    bounded = choice.fit.bounds_of(StructureData(design.seen, outcome, symmetric=design.symmetric, sizes=sizes), cell)
    if bounded is None:
        return []
    bounds, margin = bounded
    if bounds.contradiction is not None:
        return ["no increasing curve gives the order of the seen cells, even where noise is allowed for"]
    ends = []
    if bounds.below is not None:
        ends.append(f"from {bounds.low:.4g} ({_label(design, bounds.below.lower)})")
    if bounds.above is not None:
        ends.append(f"to {bounds.high:.4g} ({_label(design, bounds.above.upper)})")
    if not ends:
        return ["whatever the curve: no seen cells bound it"]
    unordered = f"outcomes less than {margin:.2g} apart are not taken to be ordered"
    return [f"whatever the curve, if it rises: {' '.join(ends)}; {unordered}"]


def _label(design: Design, cell: Sequence[int]) -> str:
    if design.space.parts:
        return design.label(np.array(cell))
    return ",".join(str(factor.labels[level]) for factor, level in zip(design.factors, cell, strict=True))


def _value_lines(audit: Audit, cell: IntArray, verdict: Verdict) -> list[str]:
    """The cell's value, standard error, range and what it rests on, and what is certified, as far as they are known."""
    leverage = np.array([np.nan])
    with suppress(SolverError):
        if verdict is Verdict.DETERMINED:
            leverage = audit.decided.leverage_of(cell[None])
    value, values = audit.values.ranges_of(cell[None], leverage), audit.values
    words = "" if np.isnan(leverage[0]) else f"leverage {leverage[0]:.3g}: its variance in units of one measurement's"
    if np.isnan(value.predicted[0]):
        return [words] if words else []
    error, rests = float(value.standard_error[0]), rests_phrase(values, verdict)
    spread = "" if np.isnan(error) else f", standard error {beside_error(error, error)}"
    lines = [f"predicted {beside_error(value.predicted[0], error)}{spread}{rests and f'; {rests}'}"]
    if values.ranges is None or values.ranges.obstacle:
        statement = ranges_sentence(audit)
        lines.append(f"{statement[0].lower()}{statement[1:]}".removesuffix("."))
    else:
        low, high = (beside_error(end, error) for end in (value.low[0], value.high[0]))
        lines.append(f"90 % range {low} to {high}, for {range_of(values.ranges)}")
    if verdict is not Verdict.DETERMINED:
        return lines
    aside = f" ({words})" if words else ""
    return [*lines, f"certified {beside_error(value.certified[0], error)}, if {audit.choice.assumption}{aside}"]


def _certificate_lines(audit: Audit, cell: IntArray, certificate: Certificate | None) -> list[str]:
    """The certificate in level names and, given an outcome, the seen values that it adds up."""
    try:
        certificate = certificate or audit.decided.identification.certificate_of(tuple(cell.tolist()))
    except SolverError as error:
        return [f"its certificate was not found: {error}"]
    variance = certificate_variance(audit.design, certificate)
    weights = [float(weight) for weight in certificate.weights]
    if not audit.choice.structure.is_sum:
        return _hidden_lines(audit, cell, certificate)
    aside = f"with variance {variance:.3g}; a proof by few cells, while what is certified uses all"
    outcome = audit.design.outcome
    observed = None if outcome is None else outcome[audit.design.train][certificate_places(audit.design, certificate)]
    total = "" if observed is None else f" = {certificate.value(observed):.6g}"
    if len(certificate) > MAX_TERMS_WRITTEN:
        largest = np.argsort(-np.abs(weights), kind="stable")[:LARGEST_TERMS]
        terms = [f"{weights[term]:+.3g} y({audit.design.label(certificate.cells[term])})" for term in largest]
        text = f"certificate: a weighted sum of {len(certificate):,} seen cells, led by {'  '.join(terms)}"
        return [text, f"the sum{total}, {aside}"]
    lines = [f"certificate: {certificate.text(level_names(audit.design))}"]
    if observed is None:
        return [*lines, f"the sum, {aside}"]
    added = " ".join(map(_summand, certificate.weights, observed.tolist())).removeprefix("+ ")
    return [*lines, f"the sum: {added}{total}, {aside}"]


def _hidden_lines(audit: Audit, cell: IntArray, certificate: Certificate) -> list[str]:
    """The certificate of a structure that adds on another scale: a sum there, and what the outcome is at that sum."""
    if len(certificate) > MAX_TERMS_WRITTEN:
        return [f"certificate: on its own scale a weighted sum of {len(certificate):,} seen cells"]
    named = certificate.text(level_names(audit.design))
    lines = [f"certificate, on the scale on which effects add: {named.replace('y(', 's(')}"]
    assert audit.choice.fit is not None
    sums = audit.choice.fit.latent(certificate.cells)
    if limit := audit.choice.fit.limit_of(cell):
        lines.append(f"{limit}: the seen outcomes are separated, so that the likeliest effects are infinite")
    if sums is None:
        return lines
    added = " ".join(map(_summand, certificate.weights, sums.tolist())).removeprefix("+ ")
    total, outcome = certificate.value(sums), f"{audit.values.certified_of(cell[None])[0]:.6g}"
    if (smear := getattr(audit.choice.fit, "smear", None)) is not None:
        mean = f"times {smear:.6g}, which gives predictions the outcomes' mean, is {outcome}"
        return [*lines, f"the sum: {added} = {total:.6g}; exp({total:.6g}) = {np.exp(total):.6g}, {mean}"]
    return [*lines, f"the sum: {added} = {total:.4g}, where the outcome is {outcome}"]


def _summand(weight: Fraction, value: float) -> str:
    shown = f"({value:.6g})" if value < 0 else f"{value:.6g}"
    size = written_weight(weight)
    return f"{'-' if weight < 0 else '+'} {f'{size} × ' if size else ''}{shown}"
