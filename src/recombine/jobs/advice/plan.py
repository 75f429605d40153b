"""What to collect next: the fewest cells that determine everything, then the cells that lower the variance most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions, contains
from recombine.design.design import Design
from recombine.design.scaling import between_knots, outside_words
from recombine.errors import InputError, plural
from recombine.jobs.advice.candidates import Cell as Cell
from recombine.jobs.advice.candidates import Costs, Pool, gather, pairs_itself
from recombine.jobs.advice.directions import Directions
from recombine.jobs.advice.variance import VariancePlan
from recombine.jobs.listing import level_columns
from recombine.progress import tell
from recombine.tables.table import Table
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.nullspace import possible_rank
from recombine.theory.identification.scaled.nullspace import null_vectors_for
from recombine.verdicts import Verdict, round_estimate

#: Candidates for the variance phase: each costs one quadratic form per pick.
VARIANCE_CANDIDATES = 20_000
#: Cells that would lower the mean variance by less than this share are not worth proposing.
SMALLEST_GAIN = 5e-4
#: Where everything is determined and all proposals together lower it by less than this, there are data enough.
ENOUGH = 0.01


@dataclass(frozen=True)
class Pick:
    """One cell to collect: its codes, why, and what it brings.

    ``gain`` counts the other unseen cells that become determined (`connect`) or is the share by which the mean variance
    of the determined unseen cells falls (`sharpen`); either way on top of the picks before it.
    """

    cell: tuple[int, ...]
    reason: Literal["connect", "sharpen"]
    gain: float
    cost: float


@dataclass(frozen=True, eq=False)
class Plan:
    """Cells to collect, in order.

    Attributes
    ----------
    picks : tuple of Pick
    needed : int or None
        Smallest number of cells that determines everything that can be; None where it cannot be known exactly.
    beyond : int
        Unseen cells that stay open whatever is collected, because the cells that would tell are forbidden.
    sampled : bool
        Whether gains were estimated on a random sample of a large product.
    blocked : int
        Unseen cells that may not be collected (of those searched).
    unit : float
        Unseen cells each sampled one stands for; 1 when the whole product was searched.
    gain : float or None
        Share by which the best further cells (as many as were asked for) would lower the mean variance of the unseen
        cells; None where that was not worked out.
    enough : bool
        Whether nothing is open and that share is under 1 %: then nothing is proposed.
    departures : int or None
        If gains are those of cells near the commonest one: how many departures from it these have at most.
    outside : str
        What to collect first for cells outside the seen range of a factor, which are not planned for; often empty.
    """

    design: Design
    picks: tuple[Pick, ...]
    needed: int | None
    sampled: bool
    blocked: int
    beyond: int = 0
    unit: float = 1.0
    gain: float | None = None
    enough: bool = False
    departures: int | None = None
    outside: str = ""

    def __repr__(self) -> str:
        if self.enough:
            return "Plan(nothing to collect: enough)"
        needed = "" if self.needed is None else f"; {self.needed:,} needed to determine what can be"
        return f"Plan({plural(len(self.picks), 'cell')} to collect{needed})"

    @cached_property
    def table(self) -> Table:
        """One row per pick: its levels, the reason, the gain in words and the cost."""
        cells = np.array([pick.cell for pick in self.picks], dtype=np.int64).reshape(-1, len(self.design.factors))
        columns: dict[str, Any] = {
            "reason": np.array([pick.reason for pick in self.picks], dtype=object),
            "gain": np.array([self.gain_text(pick) for pick in self.picks], dtype=object),
            "cost": [pick.cost for pick in self.picks],
        }
        return Table({**level_columns(self.design, cells, columns), **columns})

    def gain_text(self, pick: Pick) -> str:
        """Return what ``pick`` brings in words."""
        if pick.reason == "sharpen":
            times = self.design.typical_precision
            often = "" if times == 1 else f" (measured {times:g} times)"
            return f"mean variance of unseen cells{self._near} -{pick.gain:.1%}{often}"
        if self.sampled and pick.gain < self.unit:
            return "too few other unseen cells become determined to show in a sample"
        if not pick.gain:
            return "determines itself only"
        noun, verb = ("cell", "becomes") if pick.gain == 1 else ("cells", "become")
        number = f"about {round_estimate(pick.gain):,}" if self.sampled else f"{pick.gain:,.0f}"
        return f"{number} other unseen {noun}{self._near} {verb} determined"

    @property
    def _near(self) -> str:
        return "" if self.departures is None else f" with at most {self.departures} departures"

    @property
    def statement(self) -> str:
        """What it takes to determine everything, in a sentence; empty where that is not known."""
        inside = self._inside
        return f"{inside} {self.outside}".strip() if self.outside else inside

    @property
    def _inside(self) -> str:
        """What it takes to determine everything inside the seen ranges."""
        if self.enough:
            return f"You have enough{self._enough()}."
        if self.needed is None:
            return ""
        cells = plural(self.needed, "well-chosen cell")
        if self.beyond:
            stay = "stays" if self.beyond == 1 else "stay"
            rest = f"{plural(self.beyond, 'unseen cell')} {stay} open whatever is collected"
            because = "because the cells that would tell are forbidden"
            if self.design.symmetric:
                because += " or pair a level with itself (--self-pairs)"
            lead = f"{cells} would determine all that can be; " if self.needed else ""
            return f"{lead}{rest}, {because}."
        inside = " inside the seen range" if self.outside else ""
        if self.needed:
            return f"{cells} would determine everything{inside}."
        return f"Every unseen cell{inside} is determined already."

    def _enough(self) -> str:
        if len(self.design.seen) == self.design.product:
            return f" combinations: every one{'' if self.design.possible.whole else ' that can exist'} was seen"
        gained = f"{self.gain:.1%}" if self.gain and self.gain >= SMALLEST_GAIN else "less than 0.1%"
        return (
            f": every unseen cell{' inside the seen range' if self.outside else ''} is determined, and the next "
            f"measurements would lower the mean variance of their values by {gained} only"
        )


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
    known: Identification | None = None,
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
    known : Identification, optional
        What `identify` said of the seen cells at this order, if it was asked already.

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
    if known is None:
        known = identify(design.seen, order=order, **design.shape, seed=seed)
    pool = gather(design, order, cost, forbidden, seed, self_pairs=self_pairs)
    codes = known.verdicts_of(pool.cells)
    opened = np.flatnonzero((codes == Verdict.DISCONNECTED) | (codes == Verdict.UNSEEN_LEVEL))
    needed, beyond = _limits(design, known, pool, opened, seed)
    picks, determined = _connect(design, known, pool, opened, k, needed, seed)
    gain = None
    if k is not None and len(picks) < k:
        determined |= codes == Verdict.DETERMINED
        more, gain = _sharpen(design, known.features, picks, pool, determined, k - len(picks), criterion, seed)
        picks += more
    enough = not picks and not len(pool.cells)
    if k is not None and not len(opened) and not (codes == Verdict.UNDECIDED).any():
        enough |= gain is not None and gain < ENOUGH
    blocked = int((~pool.allowed).sum())
    chosen = () if enough else tuple(picks)
    numbers = needed, pool.sampled, blocked, beyond, pool.scale, gain, enough, pool.departures
    return Plan(design, chosen, *numbers, outside=_outside(design, pool.cells[codes == Verdict.BEYOND]))


def _outside(design: Design, cells: IntArray) -> str:
    """Say what to collect for ``cells`` (N, C) outside the seen range: the furthest value on each side."""
    words: dict[str, None] = {}
    for place, scale in enumerate(design.scales):
        levels = sorted(set(cells[:, place].tolist()), key=None if scale is None else scale.places.__getitem__)
        for level in (levels[0], levels[-1]) if scale is not None and levels else ():
            cell = design.seen[0].copy()
            cell[place] = level
            words |= dict.fromkeys(outside_words(design, cell))
    return f"Beyond the seen range nothing is planned: {'; '.join(words)}." if words else ""


def _limits(design: Design, known: Identification, pool: Pool, opened: IntArray, seed: int) -> tuple[int | None, int]:
    """Return how many cells it takes to determine what can be, and how many unseen cells never will be."""
    rank = known.rank
    if rank is None:
        return None, 0
    if (pool.allowed[opened] | _told_by_others(design, known.features, pool.cells[opened])).all():
        full = possible_rank(known.features, design.possible, seed, null_vectors_for)
        return None if full is None else full - rank, 0
    if pool.sampled:
        return None, 0
    allowed = pool.cells[opened[pool.allowed[opened]]]
    best = null_vectors_for(known.features, np.vstack([known.seen.cells, allowed]), 1, seed=seed)
    if best.rank is None or best.modulus is None:
        return None, 0
    return best.rank - rank, int(best.values(pool.cells[opened]).any(axis=1).sum())


def _connect(
    design: Design, known: Identification, pool: Pool, opened: IntArray, k: int | None, needed: int | None, seed: int
) -> tuple[list[Pick], BoolArray]:
    """Pick cells until all that can be are determined or ``k`` are picked; also say which pool cells they determine."""
    determined = np.zeros(len(pool.cells), dtype=bool)
    most = len(opened) if k is None else k
    if not pool.allowed[opened].any():
        return [], determined
    ranked, rank = _ranking(design, pool, opened)
    groups = Directions(
        known.features,
        known.seen.cells if known.null.spanning is None else known.seen.cells[known.null.spanning],
        pool.cells[opened],
        pool.counted[opened].astype(np.int64),
        rank,
        most if needed is None else min(most, needed),
        exact=known.null.modulus is not None,
        seed=seed,
    )
    thrifty = k is None or (needed is not None and k >= needed)
    picks: list[Pick] = []
    while len(picks) < most and (found := _best(groups, pool.costs[opened[ranked]], thrifty)) is not None:
        tell("cells to collect", len(picks) / most)
        place, size = ranked[found[0]], found[1]
        cell, price = pool.cells[opened[place]], float(pool.costs[opened[place]])
        gain = (size - int(pool.counted[opened[place]])) * pool.scale
        picks.append(Pick(tuple(map(int, cell)), "connect", gain, price))
        groups.collect(int(place))
    determined[opened] = ~groups.opened
    return picks, determined


def _ranking(design: Design, pool: Pool, opened: IntArray) -> tuple[IntArray, IntArray]:
    """Order the open cells that may be collected, cheap and well known first; also the place of each in that order."""
    order = np.lexsort((-_familiarity(design, pool.cells[opened]), pool.costs[opened]))
    ranked = order[pool.allowed[opened][order]]
    rank = np.full(len(opened), np.iinfo(np.int64).max)
    rank[ranked] = np.arange(len(ranked))
    return ranked, rank


def _best(groups: Directions, costs: FloatArray, thrifty: bool) -> tuple[int, int] | None:
    """Return the rank of the best cell to collect and the size of its group; ``costs`` are in order of rank."""
    useful = groups.offer < len(costs)
    if not useful.any():
        return None
    offer, size = groups.offer[useful], groups.size[useful]
    price = costs[offer]
    # A cheapest set of independent cells takes the cheapest first, whatever they bring: independence is a matroid.
    worth = np.where(price == price.min(), size, -1) if thrifty else size / price
    top = np.flatnonzero(worth >= worth.max() * (1 - 1e-12))
    best = top[np.argmin(offer[top])]
    return int(offer[best]), int(size[best])


def _familiarity(design: Design, cells: IntArray) -> FloatArray:
    """Score cells by how often their levels were measured: among equals, link through the best-known levels."""
    weight = design.precision[design.train]
    counts = [np.bincount(design.seen[:, place], weight, size) for place, size in enumerate(design.sizes)]
    total: FloatArray = np.sum([np.log1p(count[cells[:, place]]) for place, count in enumerate(counts)], axis=0)
    return np.round(total, 9)  # the last digit of a logarithm is not the same on every machine


def _told_by_others(design: Design, features: Conjunctions, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (P, C) follow from cells that can be collected.

    They hold a value between seen ones, or pair a level with itself while pairs of different levels can tell all
    effects.
    """
    plenty = all(design.sizes[group[0]] > len(group) for group in design.symmetric)
    if design.listed is not None:
        return np.zeros(len(cells), dtype=bool)
    told = between_knots(design, cells)
    return told if features.order > 1 or not plenty else told | pairs_itself(design, cells)


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
    if len(candidates) > VARIANCE_CANDIDATES:
        candidates = np.sort(np.random.default_rng(seed).choice(candidates, VARIANCE_CANDIDATES, replace=False))
    measured = design.typical_precision
    weights = np.append(design.precision[design.train], np.full(len(picks), measured))
    variance = VariancePlan(features, seen, pool.cells[targets & pool.counted], weights, measured)
    chosen = variance.choose(pool.cells[candidates], pool.costs[candidates], k, criterion)
    picked = [
        Pick(tuple(map(int, pool.cells[candidates[index]])), "sharpen", gain, float(pool.costs[candidates[index]]))
        for index, gain in chosen
        if gain >= SMALLEST_GAIN
    ]
    left = float(np.prod([1.0 - gain for _, gain in chosen]))
    return picked, 1.0 - left if variance.affordable else None
