"""What to collect next: the fewest cells that determine everything, then the cells that lower the variance most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from recombine.cells.conjunctions import contains
from recombine.errors import InputError
from recombine.jobs.advice.candidates import Collecting, Pool, gather, spec_constraints
from recombine.jobs.advice.reach import Reach, reach_all, reach_what_matters
from recombine.jobs.advice.variance import VariancePlan
from recombine.jobs.limits import PLAN_LIMITS
from recombine.jobs.listing import furthest_outside, level_columns
from recombine.jobs.outputs import render, widget
from recombine.progress import tell
from recombine.tables.table import Table
from recombine.theory.identification.identify import Identification, identify
from recombine.verdicts import Verdict
from recombine.writing import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.cells.conjunctions import Conjunctions
    from recombine.design.design import Design
    from recombine.jobs.advice.directions import Directions
    from recombine.theory.identification.counts import Counts


@dataclass(frozen=True)
class Pick:
    """One cell to collect: its codes, why, and what it brings.

    ``gain`` counts the other unseen cells that become determined (`connect`) or is the share by which the mean variance
    of the determined unseen cells falls (`sharpen`); either way on top of the picks before it. Given an importance,
    only cells that matter are counted, variances are weighted by it, and ``importance`` is the share of the unseen
    cells' importance that a `connect` settles, its own included.
    """

    cell: tuple[int, ...]
    reason: Literal["connect", "sharpen"]
    gain: float
    cost: float
    importance: float | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Cells to collect, in order. Given an importance, all numbers are those of cells that matter."""

    design: Design
    picks: tuple[Pick, ...]
    needed: int | None  #: Fewest cells that determine everything that can be; None where that is not known exactly.
    sampled: bool  #: Whether gains were estimated on a random sample of a large product.
    blocked: int  #: Unseen cells that may not be collected (of those searched).
    beyond: int = 0  #: Unseen cells that stay open, because the cells that would tell are forbidden.
    unit: float = 1.0  #: Unseen cells each sampled one stands for; 1 when the whole product was searched.
    #: Share by which the best further cells would lower the mean variance of the unseen ones; None if not worked out.
    gain: float | None = None
    enough: bool = False  #: Whether nothing is open and that share is under 1 %: then nothing is proposed.
    departures: int | None = None  #: If gains are those of cells near the commonest one: the most these have.
    outside: tuple[tuple[int, ...], ...] = ()  #: Far ends of what lies outside the seen range of a factor.
    weighted: bool = False  #: Whether cells were weighted by an importance.
    several: int = 0  #: Unseen cells that matter and take several cells that do not, which is not planned for.
    beyond_curve: Counts | None = None  #: Verdict counts where cells lie beyond the seen range of a curve.

    def __repr__(self) -> str:
        if self.enough:
            return "Plan(nothing to collect: enough)"
        needed = f"; {self.needed:,} needed to determine what can be" if self.needed else ""
        return f"Plan({plural(len(self.picks), 'cell')} to collect{needed})"

    def __str__(self) -> str:
        return f"{self!r}\n{self.table}" if self.picks else repr(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw what each cell to collect brings and return the matplotlib axes: those given as ``ax``, or new ones."""
        return widget(self, "plot", ax)

    def _repr_html_(self) -> str:
        return render(self, "notebook")

    @property
    def ranged(self) -> bool:
        """Whether some cells lie beyond a seen range, so that nothing is planned for them."""
        return bool(self.outside) or self.beyond_curve is not None

    @cached_property
    def table(self) -> Table:
        """One row per pick: its levels, the reason, the gain and the cost."""
        cells = np.array([pick.cell for pick in self.picks], dtype=np.int64).reshape(-1, len(self.design.factors))
        columns: dict[str, Any] = {
            "reason": np.array([pick.reason for pick in self.picks], dtype=object),
            "gain": [pick.gain for pick in self.picks],
            "cost": [pick.cost for pick in self.picks],
        }
        return Table({**level_columns(self.design, cells, columns), **columns})


def plan(
    design: Design,
    order: int = 1,
    k: int | None = 5,
    *,
    criterion: Literal["V", "D"] = "V",
    seed: int = 0,
    identification: Identification | None = None,
    **asked: Unpack[Collecting],
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
    criterion : {"V", "D"}
        Lower the mean variance of unseen cells, or the volume of the confidence region.
    seed : int
        Fixes the random choices.
    identification : Identification, optional
        What `identify` said of the seen cells at this order, if it was asked already.
    cost : mapping or callable, optional
        Cost of a cell: a mapping from level tuples to costs (others cost 1), or a function of ``{factor: level}``. By
        default as the design's spec says.
    forbidden : sequence of cells
        Cells that cannot be collected; a mapping with some factors only forbids every cell that matches it. By default
        those that the design's spec names.
    self_pairs : bool
        Whether cells that pair a level of interchangeable factors with itself may be proposed.
    importance : Importance, optional
        How much each cell matters. What is determined is then weighted by it, and what does not matter is not planned
        for.

    Examples
    --------
    >>> from recombine.design import Design
    >>> proposed = plan(Design.from_cells([[0, 0], [1, 1], [2, 1]]), k=1)
    >>> proposed
    Plan(1 cell to collect; 1 needed to determine what can be)
    >>> proposed.picks[0].reason, proposed.picks[0].gain
    ('connect', 2.0)
    """
    if not hasattr(design, "seen"):
        raise InputError(f"plan takes a Design, not a {type(design).__name__}; of a table, rc.audit(table, ...).plan()")
    if k is not None and k < 1:
        raise InputError(f"k = {k} asks for no cell; ask for at least one")
    if criterion not in ("V", "D"):
        raise InputError(f"criterion {criterion!r} is neither 'V' (mean variance) nor 'D' (volume); choose one")
    if identification is None:
        identification = identify(design.seen, order=order, **design.shape, seed=seed)
    asked |= spec_constraints(design, asked.get("cost"), asked.get("forbidden", ()))
    pool, importance = gather(design, order, seed, **asked), asked.get("importance")
    blocked = int((~pool.allowed).sum())
    if pool.worth is not None and not pool.counted.any() and not pool.sampled:
        return Plan(design, (), 0, False, blocked, enough=True, weighted=True)
    codes = identification.verdicts_of(pool.cells)
    opened = np.flatnonzero((codes == Verdict.DISCONNECTED) | (codes == Verdict.UNSEEN_LEVEL))
    some = importance is not None and not importance.everywhere and not pool.counted[opened].all()
    if some:
        reach = reach_what_matters(identification, pool, opened, seed)
    else:
        reach = reach_all(design, identification, pool, opened, seed)
    picks, determined = _connect(design, identification, pool, reach, k, seed, some)
    # Whatever else is open does not matter; of a sample, links stand for cells that were not drawn.
    opened = opened[pool.counted[opened]] if some and not pool.sampled else opened
    several = int((~determined[opened]).sum()) - reach.beyond if reach.apart and (k is None or len(picks) < k) else 0
    gain = None
    if k is not None and len(picks) < k:
        determined |= codes == Verdict.DETERMINED
        more, gain = _sharpen(design, identification.features, picks, pool, determined, k - len(picks), criterion, seed)
        picks += more
    enough = not picks and not len(pool.cells)
    if k is not None and not len(opened) and not (pool.counted & (codes == Verdict.UNDECIDED)).any():
        enough |= gain is not None and gain < PLAN_LIMITS.min_total_gain
    outside = pool.cells[(codes == Verdict.BEYOND) & (pool.counted if some else True)]
    ends = tuple(cell for cells in furthest_outside(design, outside).values() for cell in cells)
    numbers = reach.needed, pool.sampled, blocked, reach.beyond, pool.scale, gain, enough, pool.departures
    return Plan(design, () if enough else tuple(picks), *numbers, ends, importance is not None, several)


def _connect(
    design: Design, decided: Identification, pool: Pool, reach: Reach, k: int | None, seed: int, some: bool
) -> tuple[list[Pick], BoolArray]:
    """Pick cells until all that can be are determined or ``k`` are picked; also say which pool cells they determine.

    Where only ``some`` cells matter, no cell is picked that brings nothing, unless it is part of a cheapest set.
    """
    determined, opened, needed = np.zeros(len(pool.cells), dtype=bool), reach.opened, reach.needed
    max_picks = len(opened) if k is None else k
    if not pool.allowed[opened].any():
        return [], determined
    ranked, rank = _ranking(design, pool, opened)
    from recombine.jobs.advice.directions import Directions

    groups = Directions(
        decided,
        pool.cells[opened],
        pool.counted[opened].astype(np.int64),
        rank,
        max_picks if needed is None else min(max_picks, needed),
        None if pool.worth is None else np.where(pool.counted, pool.worth, 0.0)[opened],
        seed,
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
    if len(candidates) > PLAN_LIMITS.max_candidates:
        candidates = np.sort(np.random.default_rng(seed).choice(candidates, PLAN_LIMITS.max_candidates, replace=False))
    measured = design.observed.typical_precision
    weights = np.append(design.precision[design.train], np.full(len(picks), measured))
    aimed = targets & pool.counted
    matters = None if pool.worth is None else pool.worth[aimed]
    variance = VariancePlan(features, seen, pool.cells[aimed], weights, measured, matters)
    chosen = variance.choose(pool.cells[candidates], pool.costs[candidates], k, criterion, PLAN_LIMITS.min_gain)
    picked = [
        Pick(tuple(map(int, pool.cells[candidates[index]])), "sharpen", gain, float(pool.costs[candidates[index]]))
        for index, gain in chosen
        if gain >= PLAN_LIMITS.min_gain
    ]
    remaining = float(np.prod([1.0 - gain for _, gain in chosen]))
    return picked, 1.0 - remaining if variance.affordable else None
