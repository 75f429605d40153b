"""What to collect next: the fewest cells that determine everything, then the cells that lower the variance most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from recombine.arrays import BoolArray, FloatArray, IntArray
from recombine.audit.variance import VariancePlan
from recombine.conjunctions import Conjunctions, canonical, contains, distinct, every_cell
from recombine.design import Design
from recombine.errors import InputError, listing
from recombine.tables import Table
from recombine.theory.nullspace import NullVectors, null_vectors

#: Products up to this size are searched whole; larger ones through a random sample of cells.
WHOLE_PRODUCT = 300_000
SAMPLE = 50_000
#: Candidates for the variance phase: each costs one quadratic form per pick.
VARIANCE_CANDIDATES = 20_000

Cell = Mapping[str, object] | Sequence[object]


@dataclass(frozen=True)
class Pick:
    """One cell to collect: its codes, why, and what it brings.

    ``gain`` counts the unseen cells that become determined (`connect`) or is the share by which the mean variance of
    the unseen cells falls (`sharpen`).
    """

    cell: tuple[int, ...]
    reason: Literal["connect", "sharpen"]
    gain: float
    cost: float


@dataclass(frozen=True, eq=False)
class Plan:
    """Cells to collect, in order.

    ``needed`` is the smallest number of cells that determines everything (None where it cannot be known exactly);
    ``sampled`` says that gains were estimated on a random sample of a large product.
    """

    design: Design
    picks: tuple[Pick, ...]
    needed: int | None
    sampled: bool
    blocked: int

    @cached_property
    def table(self) -> Table:
        """One row a pick: its levels, the reason, the gain in words and the cost."""
        cells = np.array([pick.cell for pick in self.picks], dtype=np.int64).reshape(-1, len(self.design.factors))
        return Table(
            {
                **self.design.decode(cells),
                "reason": np.array([pick.reason for pick in self.picks], dtype=object),
                "gain": np.array([self._gain(pick) for pick in self.picks], dtype=object),
                "cost": [pick.cost for pick in self.picks],
            }
        )

    def _gain(self, pick: Pick) -> str:
        if pick.reason == "sharpen":
            return f"mean variance of unseen cells -{pick.gain:.1%}"
        about = "about " if self.sampled else ""
        return f"{about}{int(pick.gain):,} unseen cell{'s' if pick.gain != 1 else ''} become determined"


@dataclass(frozen=True, eq=False)
class _Pool:
    """Cells that may be collected, with their costs; ``scale`` is how many product cells each stands for."""

    cells: IntArray
    costs: FloatArray
    allowed: BoolArray
    scale: float


def plan(
    design: Design,
    order: int = 1,
    k: int | None = 5,
    *,
    cost: Mapping[Any, float] | Callable[[dict[str, str]], float] | None = None,
    forbidden: Sequence[Cell] = (),
    criterion: Literal["V", "D"] = "V",
    seed: int = 0,
) -> Plan:
    """Choose the next ``k`` cells to collect.

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
    criterion : {"V", "D"}
        Lower the mean variance of unseen cells, or the volume of the confidence region.

    Examples
    --------
    >>> found = plan(Design.from_cells([[0, 0], [1, 1], [2, 1]]), k=1)
    >>> found.needed, found.picks[0].reason, found.picks[0].gain
    (1, 'connect', 2.0)
    """
    if k is not None and k < 1:
        raise InputError(f"k = {k} asks for no cell; ask for at least one")
    pool = _pool(design, cost, forbidden, seed)
    features = Conjunctions(design.sizes, order, design.symmetric)
    picks, seen, needed = _connect(design, features, pool, k, seed)
    if k is not None and len(picks) < k:
        picks += _sharpen(features, seen, pool, k - len(picks), criterion, seed)
    return Plan(design, tuple(picks), needed, pool.scale != 1.0, int((~pool.allowed).sum()))


def _pool(design: Design, cost: Any, forbidden: Sequence[Cell], seed: int) -> _Pool:
    if design.product <= WHOLE_PRODUCT:
        cells = every_cell(design.sizes)
        cells = cells[(canonical(cells, design.symmetric) == cells).all(axis=1)]
        scale = 1.0
    else:
        generator = np.random.default_rng(seed)
        draws = np.stack([generator.integers(size, size=SAMPLE) for size in design.sizes], axis=1)
        cells = distinct(canonical(draws, design.symmetric))[0]
        scale = design.product / len(cells)
    cells = cells[~contains(design.seen, cells)]
    allowed = ~_forbidden(design, forbidden, cells)
    return _Pool(cells, _costs(design, cost, cells), allowed, scale)


def _forbidden(design: Design, forbidden: Sequence[Cell], cells: IntArray) -> BoolArray:
    mask = np.zeros(len(cells), dtype=bool)
    for rule in forbidden:
        if not isinstance(rule, Mapping):
            mask |= (cells == design.cell(rule)).all(axis=1)
            continue
        unknown = [name for name in rule if name not in design.names]
        if unknown or not rule:
            raise InputError(f"forbidden cell {dict(rule)!r} must name factors among {listing(design.names)}")
        mask |= _matches(design, rule, cells)
    return mask


def _matches(design: Design, rule: Mapping[str, object], cells: IntArray) -> BoolArray:
    match = np.ones(len(cells), dtype=bool)
    for name, level in rule.items():
        place = design.names.index(name)
        members = next((group for group in design.symmetric if place in group), (place,))
        match &= (cells[:, list(members)] == design.factors[place].code(level)).any(axis=1)
    return match


def _costs(design: Design, cost: Any, cells: IntArray) -> FloatArray:
    if cost is None:
        return np.ones(len(cells))
    if callable(cost):
        labels = Table(design.decode(cells))
        costs = np.array([float(cost(row)) for row in labels.rows()])
    else:
        costs = np.ones(len(cells))
        for levels, price in cost.items():
            costs[(cells == design.cell(levels)).all(axis=1)] = float(price)
    if len(costs) and not (np.isfinite(costs) & (costs > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))[0])
        raise InputError(f"the cost of {design.label(cells[bad])} is {costs[bad]}; costs are positive numbers")
    return costs


def _connect(
    design: Design, features: Conjunctions, pool: _Pool, k: int | None, seed: int
) -> tuple[list[Pick], IntArray, int | None]:
    """Pick cells that each make the most unseen cells determined per cost, until all are or ``k`` are picked."""
    seen, needed = design.seen, None
    picks: list[Pick] = []
    degree = _degrees(design)
    while k is None or len(picks) < k:
        vectors = null_vectors(features, seen, 2, seed=seed + len(picks))
        if not picks and vectors.rank is not None:
            needed = features.rank - vectors.rank
        classes = _directions(vectors, pool.cells)
        if not (pool.allowed & (classes >= 0)).any():
            break
        best, gain = _best(classes, pool, degree)
        picks.append(Pick(tuple(map(int, pool.cells[best])), "connect", gain * pool.scale, float(pool.costs[best])))
        seen = np.vstack([seen, pool.cells[best]])
    return picks, seen, needed


def _degrees(design: Design) -> Callable[[IntArray], FloatArray]:
    """Score cells by how often their levels were seen: among equals, link through the best-known levels."""
    counts = [np.bincount(design.seen[:, place], minlength=size) for place, size in enumerate(design.sizes)]
    return lambda cells: np.sum([np.log1p(c[cells[:, place]]) for place, c in enumerate(counts)], axis=0)


def _directions(vectors: NullVectors, cells: IntArray) -> IntArray:
    """Number the undetermined cells by what would determine them; -1 where already determined.

    A cell's values under the null vectors form a vector; measuring one cell determines just those whose vectors are
    parallel to its own. Two random null vectors tell parallel vectors apart by the ratio of their values.
    """
    values = vectors.values(cells)
    distinct_values, where = np.unique(values, axis=0, return_inverse=True)
    ratios: list[object] = []
    for first, second in distinct_values.tolist():
        ratios.append(_ratio(first, second, vectors.modulus))
    labels = {ratio: number for number, ratio in enumerate(dict.fromkeys(r for r in ratios if r is not None))}
    numbers = np.array([-1 if ratio is None else labels[ratio] for ratio in ratios], dtype=np.int64)
    return numbers[where.reshape(-1)]


def _ratio(first: Any, second: Any, modulus: int | None) -> object | None:
    if modulus is None:
        size = float(np.hypot(first, second))
        return None if size < 1e-7 else round(float(np.arctan2(second, first)) % np.pi, 6)
    if not first and not second:
        return None
    return "infinite" if not second else first * pow(second, -1, modulus) % modulus


def _best(classes: IntArray, pool: _Pool, degree: Callable[[IntArray], FloatArray]) -> tuple[int, int]:
    """Return the candidate with the largest gain per cost and its gain (itself not counted)."""
    sizes = np.bincount(classes[classes >= 0])
    candidates = np.flatnonzero(pool.allowed & (classes >= 0))
    worth = sizes[classes[candidates]] / pool.costs[candidates]
    top = candidates[worth >= worth.max() * (1 - 1e-12)]
    best = int(top[np.argmax(degree(pool.cells[top]))])
    return best, int(sizes[classes[best]]) - 1


def _sharpen(features: Conjunctions, seen: IntArray, pool: _Pool, k: int, criterion: str, seed: int) -> list[Pick]:
    """Pick unseen determined cells that lower the variance most per cost."""
    vectors = null_vectors(features, seen, 2, seed=seed)
    known = _directions(vectors, pool.cells) < 0
    open_cells = known & ~contains(seen, pool.cells)
    candidates = np.flatnonzero(open_cells & pool.allowed)
    if not len(candidates):
        return []
    if len(candidates) > VARIANCE_CANDIDATES:
        chosen = np.random.default_rng(seed).choice(candidates, VARIANCE_CANDIDATES, replace=False)
        candidates = np.sort(chosen)
    variance = VariancePlan(features, seen, pool.cells[open_cells])
    chosen_cells = variance.choose(pool.cells[candidates], pool.costs[candidates], k, criterion)
    return [
        Pick(tuple(map(int, pool.cells[candidates[index]])), "sharpen", gain, float(pool.costs[candidates[index]]))
        for index, gain in chosen_cells
    ]
