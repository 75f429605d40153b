"""What to collect next: the fewest cells that determine everything, then the cells that lower the variance most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions, contains
from recombine.design.design import Design
from recombine.design.scaling import between_knots
from recombine.design.targets import outside_words
from recombine.errors import InputError
from recombine.jobs.advice.candidates import Cell as Cell
from recombine.jobs.advice.candidates import Costs, Pool, gather, pairs_itself
from recombine.jobs.advice.picks import SMALLEST_GAIN
from recombine.jobs.advice.picks import Pick as Pick
from recombine.jobs.advice.picks import Plan as Plan
from recombine.jobs.advice.reach import Reach, reach_what_matters
from recombine.jobs.advice.variance import VariancePlan
from recombine.progress import tell
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.nullspace import possible_rank
from recombine.theory.identification.scaled.routes import null_vectors_for
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.advice.directions import Directions
    from recombine.jobs.importance import Importance

#: Candidates for the variance phase: each costs one quadratic form per pick.
MAX_VARIANCE_CANDIDATES = 20_000
#: Where everything is determined and all proposals together lower it by less than this, there are data enough.
MIN_TOTAL_GAIN = 0.01


def plan(
    design: Design,
    order: int = 1,
    k: int | None = 5,
    *,
    cost: Costs | None = None,
    forbidden: Sequence[Cell] = (),
    self_pairs: bool = False,
    criterion: Literal["V", "D"] = "V",
    seed: int = 0,
    identification: Identification | None = None,
    importance: Importance | None = None,
) -> Plan:
    """Choose the next ``k`` cells to collect, among those that can exist.

    Cells that determine others come first. If ``k`` allows all that are needed, they are a cheapest such set, else
    those that determine the most cells per cost. What is left of ``k`` goes to cells that lower the variance most per
    cost; a cell to collect is taken to be measured as often as the median seen cell.

    Parameters
    ----------
    design : Design
    order : int
        Order of the additive model.
    k : int or None
        Number of cells; None for as many as it takes to determine everything.
    cost : mapping or callable, optional
        Cost of a cell: a mapping from level tuples to costs (others cost 1), or a function of ``{factor: level}``.
    forbidden : sequence of cells
        Cells that cannot be collected; a mapping with some factors only forbids every cell that matches it.
    self_pairs : bool
        Whether cells that pair a level of interchangeable factors with itself may be proposed.
    criterion : {"V", "D"}
        Lower the mean variance of unseen cells, or the volume of the confidence region.
    seed : int
        Fixes the random choices.
    identification : Identification, optional
        What `identify` said of the seen cells at this order, if it was asked already.
    importance : Importance, optional
        How much each cell matters. What is determined is then weighted by it, and what does not matter is not planned
        for.

    Examples
    --------
    >>> found = plan(Design.from_cells([[0, 0], [1, 1], [2, 1]]), k=1)
    >>> found
    Plan(1 cell to collect; 1 needed to determine what can be)
    >>> found.picks[0].reason, found.picks[0].gain
    ('connect', 2.0)
    """
    if k is not None and k < 1:
        raise InputError(f"k = {k} asks for no cell; ask for at least one")
    if criterion not in ("V", "D"):
        raise InputError(f"criterion {criterion!r} is neither 'V' (mean variance) nor 'D' (volume); choose one")
    if identification is None:
        identification = identify(design.seen, order=order, **design.shape, seed=seed)
    pool = gather(design, order, cost, forbidden, seed, self_pairs=self_pairs, importance=importance)
    if pool.worth is not None and not pool.counted.any() and not pool.sampled:
        return Plan(design, (), 0, False, int((~pool.allowed).sum()), enough=True, weighted=True)
    codes = identification.verdicts_of(pool.cells)
    opened = np.flatnonzero((codes == Verdict.DISCONNECTED) | (codes == Verdict.UNSEEN_LEVEL))
    some = importance is not None and not importance.everywhere and not pool.counted[opened].all()
    if some:
        reach = reach_what_matters(identification, pool, opened, seed)
    else:
        reach = Reach(opened, *_limits(design, identification, pool, opened, seed))
    needed, beyond = reach.needed, reach.beyond
    picks, determined = _connect(design, identification, pool, reach.opened, k, needed, seed, some)
    # Whatever else is open does not matter; of a sample, links stand for cells that were not drawn.
    opened = opened[pool.counted[opened]] if some and not pool.sampled else opened
    remaining = int((~determined[opened]).sum()) - beyond if reach.apart and (k is None or len(picks) < k) else 0
    gain = None
    if k is not None and len(picks) < k:
        determined |= codes == Verdict.DETERMINED
        more, gain = _sharpen(design, identification.features, picks, pool, determined, k - len(picks), criterion, seed)
        picks += more
    enough = not picks and not len(pool.cells)
    if k is not None and not len(opened) and not (pool.counted & (codes == Verdict.UNDECIDED)).any():
        enough |= gain is not None and gain < MIN_TOTAL_GAIN
    blocked = int((~pool.allowed).sum())
    chosen = () if enough else tuple(picks)
    numbers = needed, pool.sampled, blocked, beyond, pool.scale, gain, enough, pool.departures
    outside = (codes == Verdict.BEYOND) & (pool.counted if some else True)
    words = _outside(design, pool.cells[outside])
    return Plan(design, chosen, *numbers, outside=words, weighted=importance is not None, several=remaining)


def _outside(design: Design, cells: IntArray) -> str:
    """Say what to collect for ``cells`` (N, C) outside the seen range: the furthest value on each side."""
    words: dict[str, None] = {}
    for factor, scale in enumerate(design.scales):
        levels = sorted(set(cells[:, factor].tolist()), key=None if scale is None else scale.places.__getitem__)
        for level in (levels[0], levels[-1]) if scale is not None and levels else ():
            cell = design.seen[0].copy()
            cell[factor] = level
            words |= dict.fromkeys(outside_words(design, cell))
    return f"Beyond the seen range nothing is planned: {'; '.join(words)}." if words else ""


def _limits(design: Design, decided: Identification, pool: Pool, opened: IntArray, seed: int) -> tuple[int | None, int]:
    """Return how many cells it takes to determine what can be, and how many unseen cells never will be."""
    rank = decided.rank
    if rank is None:
        return None, 0
    if (pool.allowed[opened] | _told_by_others(design, decided.features, pool.cells[opened])).all():
        full = possible_rank(decided.features, design.possible, seed, null_vectors_for)
        return None if full is None else full - rank, 0
    if pool.sampled:
        return None, 0
    allowed = pool.cells[opened[pool.allowed[opened]]]
    best = null_vectors_for(decided.features, np.vstack([decided.seen.cells, allowed]), 1, seed=seed)
    if best.rank is None or best.modulus is None:
        return None, 0
    return best.rank - rank, int(best.values(pool.cells[opened]).any(axis=1).sum())


def _connect(
    design: Design,
    decided: Identification,
    pool: Pool,
    opened: IntArray,
    k: int | None,
    needed: int | None,
    seed: int,
    some: bool = False,
) -> tuple[list[Pick], BoolArray]:
    """Pick cells until all that can be are determined or ``k`` are picked; also say which pool cells they determine.

    Where only ``some`` cells matter, no cell is picked that brings nothing, unless it is part of a cheapest set.
    """
    determined = np.zeros(len(pool.cells), dtype=bool)
    max_picks = len(opened) if k is None else k
    if not pool.allowed[opened].any():
        return [], determined
    ranked, rank = _ranking(design, pool, opened)
    from recombine.jobs.advice.directions import Directions

    groups = Directions(
        decided.features,
        decided.seen.cells if decided.null.spanning is None else decided.seen.cells[decided.null.spanning],
        pool.cells[opened],
        pool.counted[opened].astype(np.int64),
        rank,
        max_picks if needed is None else min(max_picks, needed),
        None if pool.worth is None else np.where(pool.counted, pool.worth, 0.0)[opened],
        exact=decided.null.modulus is not None,
        seed=seed,
    )
    thrifty = (k is None and not (some and needed is None)) or (k is not None and needed is not None and k >= needed)
    picks: list[Pick] = []
    everything = 0.0 if pool.worth is None else float(pool.worth[pool.counted].sum())
    while len(picks) < max_picks:
        best = _best(groups, pool.costs[opened[ranked]], thrifty, some)
        if best is None:
            break
        tell("cells to collect", len(picks) / max_picks)
        position, size = ranked[best[0]], best[1]
        cell, price = pool.cells[opened[position]], float(pool.costs[opened[position]])
        gain = (size - int(pool.counted[opened[position]])) * pool.scale
        settled = None if pool.worth is None else _share(best[2], everything, size == int(pool.counted.sum()))
        picks.append(Pick(tuple(map(int, cell)), "connect", gain, price, settled))
        groups.collect(int(position))
    determined[opened] = ~groups.opened
    return picks, determined


def _share(amount: float, total: float, all_of_it: bool) -> float:
    """Return a share of importance that is 1 only if it is ``all_of_it``, whatever rounding does."""
    return 1.0 if all_of_it else min(amount / total, 1 - 1e-15) if total else 0.0


def _ranking(design: Design, pool: Pool, opened: IntArray) -> tuple[IntArray, IntArray]:
    """Order the open cells that may be collected: cheap, important and well known first; also the place of each."""
    worth = np.zeros(len(opened)) if pool.worth is None else pool.worth[opened]
    order = np.lexsort((-_familiarity(design, pool.cells[opened]), -worth, pool.costs[opened]))
    ranked = order[pool.allowed[opened][order]]
    rank = np.full(len(opened), np.iinfo(np.int64).max)
    rank[ranked] = np.arange(len(ranked))
    return ranked, rank


def _best(groups: Directions, costs: FloatArray, thrifty: bool, some: bool) -> tuple[int, int, float] | None:
    """Return the rank of the best cell to collect, the size and the worth of its group; ``costs`` by rank."""
    useful = groups.offer < len(costs)
    if some and not thrifty:
        useful &= groups.worth > 0
    if not useful.any():
        return None
    offer, worth = groups.offer[useful], groups.worth[useful]
    price = costs[offer]
    # A cheapest set of independent cells takes the cheapest first, whatever they bring: independence is a matroid.
    score = np.where(price == price.min(), worth, -1.0) if thrifty else worth / price
    top = np.flatnonzero(score >= score.max() * (1 - 1e-12))
    best = top[np.argmin(offer[top])]
    return int(offer[best]), int(groups.size[useful][best]), float(worth[best])


def _familiarity(design: Design, cells: IntArray) -> FloatArray:
    """Score cells by how often their levels were measured: among equals, link through the best-known levels."""
    weight = design.precision[design.train]
    counts = [np.bincount(design.seen[:, factor], weight, size) for factor, size in enumerate(design.sizes)]
    total: FloatArray = np.sum([np.log1p(count[cells[:, factor]]) for factor, count in enumerate(counts)], axis=0)
    return np.round(total, 9)  # the last digit of a logarithm is not the same on every machine


def _told_by_others(design: Design, features: Conjunctions, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (P, C) follow from cells that can be collected.

    They hold a value between seen ones, or pair a level with itself while pairs of different levels can tell all
    effects.
    """
    plenty = all(design.sizes[group[0]] > len(group) for group in design.symmetric)
    if design.space.listed is not None:
        return np.zeros(len(cells), dtype=bool)
    settled = between_knots(design.scales, cells)
    return settled if features.order > 1 or not plenty else settled | pairs_itself(design, cells)


def _sharpen(
    design: Design,
    features: Conjunctions,
    picks: Sequence[Pick],
    pool: Pool,
    determined: BoolArray,
    k: int,
    criterion: str,
    seed: int,
) -> tuple[list[Pick], float | None]:
    """Pick unseen determined cells that lower the variance most per cost; also by what share all do together."""
    seen = np.vstack([design.seen, *[np.array([pick.cell]) for pick in picks]])
    targets = determined & ~contains(seen, pool.cells)
    candidates = np.flatnonzero(targets & pool.allowed)
    if not len(candidates):
        return [], 0.0
    if len(candidates) > MAX_VARIANCE_CANDIDATES:
        candidates = np.sort(np.random.default_rng(seed).choice(candidates, MAX_VARIANCE_CANDIDATES, replace=False))
    measured = design.observed.typical_precision
    weights = np.append(design.precision[design.train], np.full(len(picks), measured))
    aimed = targets & pool.counted
    matters = None if pool.worth is None else pool.worth[aimed]
    variance = VariancePlan(features, seen, pool.cells[aimed], weights, measured, matters)
    chosen = variance.choose(pool.cells[candidates], pool.costs[candidates], k, criterion, SMALLEST_GAIN)
    picked = [
        Pick(tuple(map(int, pool.cells[candidates[index]])), "sharpen", gain, float(pool.costs[candidates[index]]))
        for index, gain in chosen
        if gain >= SMALLEST_GAIN
    ]
    remaining = float(np.prod([1.0 - gain for _, gain in chosen]))
    return picked, 1.0 - remaining if variance.affordable else None
