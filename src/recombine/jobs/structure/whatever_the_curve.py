"""Bounds that need no fit: between which seen cells an unseen one lies, whatever the increasing curve is."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.design.design import Design
from recombine.errors import InputError, SolverError
from recombine.jobs.structure.choice import Choice
from recombine.theory.structures.link import LinkFit
from recombine.theory.structures.monotone_bounds import MonotoneBounds, OrderCertificate, monotone_bounds

#: Seen cells up to which the linear programs take a second or two.
MOST_SEEN = 250
#: Outcomes count as ordered from so many standard deviations of their difference on.
CLEAR = 3.0


def bounds_whatever_the_curve(design: Design, choice: Choice, cell: IntArray) -> list[str]:
    """Return lines on what bounds ``cell`` (C,) without knowing the curve; none but on a curved scale of few cells.

    Outcomes that noise may have put in the wrong order are not taken as ordered.

    Examples
    --------
    >>> from recombine.jobs.structure.choice import choose_structure
    >>> cells = np.array([[i, j] for i in range(6) for j in range(6) if (i, j) != (3, 3)])
    >>> design = Design.from_cells(cells, outcome=np.exp(cells.sum(axis=1) / 3.0))
    >>> choice = choose_structure(design, "link")
    >>> print(bounds_whatever_the_curve(design, choice, np.array([3, 3]))[0].partition(";")[0])
    whatever the curve, if it rises: from 5.294 (3,2) to 10.31 (3,4)
    """
    fit = choice.fit
    if not isinstance(fit, LinkFit) or len(design.seen) > MOST_SEEN or design.symmetric or design.outcome is None:
        return []
    margin = CLEAR * float(np.sqrt(2 * fit.noise))
    with suppress(InputError, SolverError):
        [found] = monotone_bounds(
            design.seen,
            design.outcome[design.train],
            cell[None],
            order=choice.order,
            sizes=design.sizes,
            margin=margin,
        )
        return _lines(design, found, margin)
    return []


def _lines(design: Design, found: MonotoneBounds, margin: float) -> list[str]:
    if found.contradiction is not None:
        return ["no increasing curve gives the order of the seen cells, even where noise is allowed for"]
    ends = [_end("from", found.low, found.below, design), _end("to", found.high, found.above, design)]
    if not any(ends):
        return ["whatever the curve: no seen cells bound it"]
    words = " ".join(end for end in ends if end)
    return [
        f"whatever the curve, if it rises: {words}; outcomes less than {margin:.2g} apart are not taken to be ordered"
    ]


def _end(word: str, value: float, proof: OrderCertificate | None, design: Design) -> str:
    if proof is None:
        return ""
    other = proof.lower if word == "from" else proof.upper
    label = (
        design.label(np.array(other))
        if design.parts
        else ",".join(str(factor.labels[level]) for factor, level in zip(design.factors, other, strict=True))
    )
    return f"{word} {value:.4g} ({label})"
