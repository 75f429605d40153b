"""Sentences on cells that a structure leaves open: beyond the seen range of a curve, and what bounds them there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.design.design import Design
from recombine.jobs.structure.choice import Choice
from recombine.theory.identification.counts import Counts
from recombine.theory.structures.structure import StructureData
from recombine.verdicts import Verdict
from recombine.writing import round_estimate, written_count

if TYPE_CHECKING:
    from recombine.theory.structures.monotone_bounds import OrderCertificate


def beyond_words(choice: Choice, counts: Counts) -> str:
    """Say how many cells lie beyond the seen range of a curve and what would mend it; empty where none does."""
    count = counts[Verdict.BEYOND]
    if not count or choice.fit is None or choice.fit.seen_range is None:
        return ""
    number = written_count(count) if counts.exact else f"about {written_count(round_estimate(count))}"
    which = "unseen cell lies" if count == 1 else "unseen cells lie"
    return f"{number} {which} beyond the seen range of the curve: collect cells that lie as far out."


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
    >>> from recombine.jobs.structure.choice import choose_structure
    >>> cells = np.array([[i, j] for i in range(6) for j in range(6) if (i, j) != (3, 3)])
    >>> design = Design.from_cells(cells, outcome=np.exp(cells.sum(axis=1) / 3.0))
    >>> choice = choose_structure(design, "link")
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
    ends = [_end("from", bounds.low, bounds.below, design), _end("to", bounds.high, bounds.above, design)]
    if not any(ends):
        return ["whatever the curve: no seen cells bound it"]
    words = " ".join(end for end in ends if end)
    return [
        f"whatever the curve, if it rises: {words}; outcomes less than {margin:.2g} apart are not taken to be ordered"
    ]


def _end(word: str, value: float, proof: OrderCertificate | None, design: Design) -> str:
    if proof is None:
        return ""
    bounding = proof.lower if word == "from" else proof.upper
    label = (
        design.label(np.array(bounding))
        if design.space.parts
        else ",".join(str(factor.labels[level]) for factor, level in zip(design.factors, bounding, strict=True))
    )
    return f"{word} {value:.4g} ({label})"
