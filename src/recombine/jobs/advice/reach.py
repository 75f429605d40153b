"""Which open cells to choose among where only some cells matter, and how many it takes to determine those that do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.jobs.advice.candidates import Pool
from recombine.theory.identification.identify import Identification
from recombine.theory.identification.scaled.routes import null_vectors_for


@dataclass(frozen=True, eq=False)
class Reach:
    """What collecting can do for the cells that matter.

    Attributes
    ----------
    opened : int array of shape (P,)
        Places in the pool of the open cells among which to choose.
    needed : int or None
        Fewest cells that determine all that matter and can be determined; None where that is not known exactly.
    beyond : int
        Open cells that matter and stay open whatever is collected.
    apart : bool
        Whether some cells that matter take several others together, which do not lie in the space of those that matter.
    """

    opened: IntArray
    needed: int | None
    beyond: int
    apart: bool = False


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
    >>> pool = gather(design, 1, None, [], 0, importance=Importance(np.array([[0, 1]]), np.ones(1)))
    >>> found = reach_what_matters(identify(design.seen), pool, np.arange(6), seed=0)
    >>> pool.cells[found.opened].tolist(), found.needed
    ([[0, 1], [1, 0]], 1)
    """
    assert pool.worth is not None
    # Of a sampled product the cells that matter are not all at hand.
    matter = opened[pool.worth[opened] > 0]
    if decided.rank is None or pool.sampled:
        return Reach(opened, None, 0)
    if not pool.allowed[matter].all():
        lost = _out_of_reach(decided, pool, opened, matter, seed)
        if lost is None or (lost.any() and not pool.whole):
            return Reach(opened, None, 0)
        matter, beyond = matter[~lost], int(lost.sum())
    else:
        beyond = 0
    span = null_vectors_for(decided.features, np.vstack([decided.seen.cells, pool.cells[matter]]), 1, seed=seed)
    if span.rank is None or span.modulus is None:
        return Reach(opened, None, beyond)
    inside = opened[~span.values(pool.cells[opened]).any(axis=1)]
    if not pool.allowed[matter].all():
        chosen = pool.cells[inside[pool.allowed[inside]]]
        if null_vectors_for(decided.features, np.vstack([decided.seen.cells, chosen]), 1, seed=seed).rank != span.rank:
            return Reach(opened, None, beyond, apart=True)
    return Reach(inside, span.rank - decided.rank, beyond)


def _out_of_reach(
    decided: Identification, pool: Pool, opened: IntArray, matter: IntArray, seed: int
) -> BoolArray | None:
    """Say which of the cells that ``matter`` (M,) stay open though all that may be is collected; None if not known."""
    allowed = pool.cells[opened[pool.allowed[opened]]]
    best = null_vectors_for(decided.features, np.vstack([decided.seen.cells, allowed]), 1, seed=seed)
    if best.rank is None or best.modulus is None:
        return None
    return np.asarray(best.values(pool.cells[matter]).any(axis=1))
