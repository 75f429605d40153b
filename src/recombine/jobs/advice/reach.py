"""Among which open cells to choose, and how many it takes to determine what can be, or what matters of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.design.design import Design
from recombine.design.scaling import between_knots
from recombine.jobs.advice.candidates import Pool, pairs_itself
from recombine.theory.identification.identify import Identification
from recombine.theory.identification.nullspace import NullVectors, possible_rank
from recombine.theory.identification.scaled.routes import null_vectors_for


@dataclass(frozen=True, eq=False)
class Reach:
    """What collecting can do: among which open cells of a pool to choose, given by their places (P,)."""

    opened: IntArray
    needed: int | None  #: Fewest cells that determine what (matters and) can be determined; None if not known exactly.
    beyond: int = 0  #: Open cells (that matter and) stay open whatever is collected.
    apart: bool = False  #: Whether some cells that matter take several others together, outside the space they span.


def reach_all(design: Design, decided: Identification, pool: Pool, opened: IntArray, seed: int) -> Reach:
    """Say how many of the ``opened`` cells (P,) of ``pool`` it takes to determine what can be."""
    if decided.rank is None:
        return Reach(opened, None)
    if (pool.allowed[opened] | _told_by_others(design, decided, pool.cells[opened])).all():
        full = possible_rank(decided.features, design.possible, seed, null_vectors_for)
        return Reach(opened, None if full is None else full - decided.rank)
    collected = None if pool.sampled else _collected(decided, pool, opened, seed)
    if collected is None or collected.rank is None:
        return Reach(opened, None)
    beyond = int(collected.values(pool.cells[opened]).any(axis=1).sum())
    return Reach(opened, collected.rank - decided.rank, beyond)


def reach_what_matters(decided: Identification, pool: Pool, opened: IntArray, seed: int) -> Reach:
    """Say among which of the ``opened`` cells (P,) of ``pool`` to choose in order to determine those that matter.

    The open cells that matter span a space beside the seen ones. As many cells as it has dimensions determine them
    all, if cells inside it can be collected that span it; no fewer do.

    Examples
    --------
    >>> from recombine.design.design import Design
    >>> from recombine.jobs.advice.candidates import gather
    >>> from recombine.jobs.importance import Importance
    >>> from recombine.theory.identification.identify import identify
    >>> design = Design.from_cells([[0, 0], [1, 1], [2, 2]])
    >>> pool = gather(design, 1, importance=Importance(np.array([[0, 1]]), np.ones(1)))
    >>> reach = reach_what_matters(identify(design.seen), pool, np.arange(6), seed=0)
    >>> pool.cells[reach.opened].tolist(), reach.needed
    ([[0, 1], [1, 0]], 1)
    """
    assert pool.worth is not None
    matter, beyond = opened[pool.worth[opened] > 0], 0
    # Of a sampled product the cells that matter are not all at hand.
    if decided.rank is None or pool.sampled:
        return Reach(opened, None)
    if not pool.allowed[matter].all():
        collected = _collected(decided, pool, opened, seed)
        lost = None if collected is None else collected.values(pool.cells[matter]).any(axis=1)
        if lost is None or (lost.any() and not pool.whole):
            return Reach(opened, None)
        matter, beyond = matter[~lost], int(lost.sum())
    span = null_vectors_for(decided.features, np.vstack([decided.seen.cells, pool.cells[matter]]), 1, seed=seed)
    if span.rank is None or span.modulus is None:
        return Reach(opened, None, beyond)
    inside = opened[~span.values(pool.cells[opened]).any(axis=1)]
    if not pool.allowed[matter].all():
        chosen = pool.cells[inside[pool.allowed[inside]]]
        if null_vectors_for(decided.features, np.vstack([decided.seen.cells, chosen]), 1, seed=seed).rank != span.rank:
            return Reach(opened, None, beyond, apart=True)
    return Reach(inside, span.rank - decided.rank, beyond)


def _collected(decided: Identification, pool: Pool, opened: IntArray, seed: int) -> NullVectors | None:
    """Return what vanishes on all cells that are seen or may be collected; None where that is not exact."""
    allowed = pool.cells[opened[pool.allowed[opened]]]
    vectors = null_vectors_for(decided.features, np.vstack([decided.seen.cells, allowed]), 1, seed=seed)
    return None if vectors.rank is None or vectors.modulus is None else vectors


def _told_by_others(design: Design, decided: Identification, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (P, C) follow from cells that can be collected.

    They hold a value between seen ones, or pair a level with itself while pairs of different levels can tell all
    effects.
    """
    if design.space.listed is not None:
        return np.zeros(len(cells), dtype=bool)
    plenty = all(design.sizes[group[0]] > len(group) for group in design.symmetric)
    settled = between_knots(design.scales, cells)
    return settled if decided.features.order > 1 or not plenty else settled | pairs_itself(design, cells)
