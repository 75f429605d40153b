"""The cells that may be collected: the whole product where it is small, else a sample; costs and forbidden cells.

These come as mappings and rules, or from tables: what a person who plans data collection writes in a spreadsheet.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from recombine.cells.arrays import product_size
from recombine.cells.conjunctions import canonical, contains, distinct, every_cell, places_among
from recombine.cells.possible import Combinations
from recombine.design.notes import levels_alike
from recombine.design.restriction import level_texts
from recombine.design.scaling import between_knots
from recombine.errors import InputError, near_miss
from recombine.jobs.limits import PLAN_LIMITS
from recombine.jobs.listing import NearCells, keep_unseen, near_cells
from recombine.tables.frames import open_table
from recombine.tables.numbers import filled_values
from recombine.tables.table import Table
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.design.design import Design
    from recombine.jobs.importance import Importance

#: Cells that stand for a larger product: at random, near the commonest one, and as links to a well-known one.
CELLS_SAMPLED, NEAR_CELLS_SAMPLED, MAX_LINKS = 50_000, 20_000, 50_000

Cell = Mapping[str, object] | Sequence[object]
Costs = Mapping[Any, float] | Callable[[dict[str, str]], float]


class Collecting(TypedDict, total=False):
    """What may be collected, at what cost, and how much each cell matters; see `recombine.plan`."""

    cost: Costs | None
    forbidden: Sequence[Cell]
    self_pairs: bool
    importance: Importance | None


@dataclass(frozen=True, eq=False)
class Pool:
    """Unseen cells (P, C), and which of them may be collected at what cost (P,)."""

    cells: IntArray
    costs: FloatArray
    allowed: BoolArray
    counted: BoolArray  #: Cells that gains are counted on: all, or the random sample.
    scale: float  #: How many unseen cells of the product each counted cell stands for.
    departures: int | None = None  #: If cells are near the commonest one: how many departures they have at most.
    worth: FloatArray | None = None  #: Importance of each cell, the largest 1; None where all cells matter alike.
    whole: bool = True  #: Whether these are all unseen cells.

    @property
    def sampled(self) -> bool:
        """Whether the product was too large to search whole."""
        return self.scale != 1.0


def gather(
    design: Design,
    order: int,
    seed: int = 0,
    *,
    cost: Costs | None = None,
    forbidden: Sequence[Cell] = (),
    self_pairs: bool = False,
    importance: Importance | None = None,
) -> Pool:
    """Gather the unseen cells of ``design`` that can exist; a level is paired with itself on demand only.

    Given their importance, gains are counted on cells that matter; of a large product these are gathered if possible.

    Examples
    --------
    >>> from recombine.design import Design
    >>> pool = gather(Design.from_cells([[0, 0], [1, 1]]), 1, forbidden=[[0, 1]])
    >>> pool.cells.tolist(), pool.allowed.tolist()
    ([[0, 1], [1, 0]], [False, True])
    """
    # Symmetric cells are listed in every order before one of each is kept, so it is the span that counts.
    complete = design.possible.span <= PLAN_LIMITS.max_product
    matter = None if complete or importance is None else importance.support(design.possible, PLAN_LIMITS.max_product)
    if complete:
        cells = keep_unseen(design, design.possible.cells())
        counted, scale, near = np.ones(len(cells), dtype=bool), 1.0, None
    elif matter is not None:
        cells, counted = _with_links(design, order, matter[~contains(design.seen, matter)])
        scale, near = 1.0, None
    else:
        near = near_cells(design)
        cells, counted, scale = _sample(design, order, seed, near)
    # A value between seen ones would become a knot of its own, and what was said of it would no longer hold.
    allowed = ~_forbidden(design, forbidden, cells) & ~between_knots(design.scales, cells) & ~_in_doubt(design, cells)
    if not self_pairs:
        allowed &= ~pairs_itself(design, cells)
    costs, worth = _costs(design, cost, cells), None
    if importance is not None:
        worth = importance.of(cells)
        worth, counted = worth / max(float(worth.max(initial=0.0)), np.finfo(float).tiny), counted & (worth > 0)
    return Pool(cells, costs, allowed, counted, scale, None if near is None else near.most, worth, complete)


def pairs_itself(design: Design, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (P, C) hold a level of interchangeable factors twice.

    Examples
    --------
    >>> from recombine.design import Design
    >>> pairs_itself(Design.from_cells([[0, 1]], symmetric=[(0, 1)]), np.array([[0, 0], [0, 1]])).tolist()
    [True, False]
    """
    twice = np.zeros(len(cells), dtype=bool)
    for group in design.symmetric:
        for first, second in itertools.combinations(group, 2):
            twice |= cells[:, first] == cells[:, second]
    return twice


def _in_doubt(design: Design, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (P, C) hold a rarer spelling of a level, or are seen in another spelling."""
    if not (alike := levels_alike(design.reading.notes)):
        return np.zeros(len(cells), dtype=bool)
    seen, merged = design.seen.copy(), cells.copy()
    for index, factor in enumerate(design.factors):
        twins, commonest = design.space.twins(index), np.arange(len(factor.levels))
        held = np.concatenate([design.cells[:, twin] for twin in twins])
        rows = np.bincount(held, np.tile(design.observed.rows, len(twins)), len(commonest))
        for group in alike.get(design.names[twins[0]], []):
            codes = [factor.labels.index(label) for label in group]
            commonest[codes] = max(codes, key=rows.__getitem__)
        seen[:, index], merged[:, index] = commonest[seen[:, index]], commonest[cells[:, index]]
    rarer: BoolArray = (merged != cells).any(axis=1)
    return rarer | contains(canonical(seen, design.symmetric), canonical(merged, design.symmetric))


def _sample(design: Design, order: int, seed: int, near: NearCells | None) -> tuple[IntArray, BoolArray, float]:
    generator = np.random.default_rng(seed)
    if near is None:
        drawn, there_are = design.possible.draw(CELLS_SAMPLED, generator), design.possible.count
    else:
        drawn, there_are = near.uniform(NEAR_CELLS_SAMPLED, generator), sum(near.counts)
    drawn = distinct(canonical(drawn, design.symmetric))[0]
    drawn = drawn[~contains(design.seen, drawn)]
    cells, counted = _with_links(design, order, drawn)
    return cells, counted, (there_are - len(design.seen)) / max(len(drawn), 1)


def _with_links(design: Design, order: int, cells: IntArray) -> tuple[IntArray, BoolArray]:
    """Return unseen ``cells`` (N, C) with those that link them to a well-known one, and which are the former."""
    links = _links(design, order)
    links = links[~(contains(design.seen, links) | contains(cells, links))]
    return np.vstack([cells, links]), np.arange(len(cells) + len(links)) < len(cells)


def _links(design: Design, order: int) -> IntArray:
    """Return cells that differ from a well-known one in at most ``order`` parts: together they determine everything.

    Parts (factors, or factors with those they lie inside) are left out, last first, where there would be too many.
    """
    singles = [single for combinations in design.possible.parts for single in _single(combinations)]
    hub = np.empty(len(design.sizes), dtype=np.int64)
    for combinations in singles:
        rows, inverse = distinct(design.seen[:, list(combinations.places)])
        hub[list(combinations.places)] = rows[np.bincount(inverse).argmax()]
    cell_blocks, total = [hub[None]], 1
    for changes in range(1, min(order, len(singles)) + 1):
        for chosen in itertools.combinations(singles, changes):
            sizes = [len(combinations.table) for combinations in chosen]
            total += product_size(sizes)
            if total > MAX_LINKS:
                break
            cells = np.repeat(hub[None], product_size(sizes), axis=0)
            for combinations, rows in zip(chosen, every_cell(sizes).T, strict=True):
                cells[:, list(combinations.places)] = combinations.table[rows]
            cell_blocks.append(cells)
    return distinct(canonical(np.vstack(cell_blocks), design.symmetric))[0]


def _single(group: Combinations) -> list[Combinations]:
    """Take interchangeable factors apart."""
    return [Combinations((factor,), group.table) for factor in group.places] if group.twins else [group]


def _forbidden(design: Design, forbidden: Sequence[Cell], cells: IntArray) -> BoolArray:
    """Say which ``cells`` (P, C) a rule matches; among symmetric factors any may hold a level, each level once."""
    if not forbidden:
        return np.zeros(len(cells), dtype=bool)
    from recombine.jobs.importance import ANY, Importance

    rules = np.full((len(forbidden), len(design.names)), ANY)
    for row, rule in zip(rules, forbidden, strict=True):
        if not isinstance(rule, Mapping):
            row[:] = design.space.cell(rule)
            continue
        if not rule:
            raise InputError("a forbidden cell names no factor, which would forbid everything; name at least one")
        for name, level in rule.items():
            if name not in design.names:
                near = near_miss(name, design.names, f"Factors: {listing(design.names)}")
                raise InputError(f"forbidden cell {dict(rule)!r}: {name!r} is not a factor;{near}")
            factor = design.names.index(name)
            row[factor] = design.factors[factor].code(level)
    patterns = canonical(rules, design.symmetric)
    return Importance(patterns, np.ones(len(patterns)), design.symmetric).of(cells) > 0


def _costs(design: Design, cost: Costs | None, cells: IntArray) -> FloatArray:
    if not cost:
        return np.ones(len(cells))
    if callable(cost):
        costs = np.array([float(cost(row)) for row in Table(design.space.decode(cells)).rows()])
    else:
        named = np.array([design.space.cell(levels) for levels in cost])
        prices = np.array([*map(float, cost.values()), 1.0])  # the last one is that of all other cells
        costs = prices[places_among(named, cells)]
    good = np.isfinite(costs) & (costs > 0)
    if not good.all():
        bad = int(np.flatnonzero(~good)[0])
        raise InputError(f"the cost of {design.label(cells[bad])} is {costs[bad]:g}; costs are positive numbers")
    return costs


def read_costs(data: object, design: Design) -> dict[tuple[str, ...], float]:
    """Return the cost of each cell of a table with every factor column and a ``cost`` column.

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["colour", "shape"])
    >>> read_costs(pd.DataFrame({"colour": [0], "shape": [1], "cost": [2.5]}), design)
    {('0', '1'): 2.5}
    """
    source = open_table(data)
    if "cost" in design.names:
        raise InputError(f"one factor is itself named 'cost', so {source.name} cannot hold both; rename that factor")
    for name in design.names:
        source.require(name, "factor")
    column = source.require("cost", "cost column")
    if source.kind(column) not in ("integer", "number"):
        raise InputError(f"column 'cost' of {source.name} is {source.kind(column)}; costs are positive numbers")
    read = source.read([*design.names, column])
    rows = zip(*(level_texts(read[name]) for name in design.names), strict=True)
    costs = {}
    for levels, cost in zip(rows, filled_values(read[column]), strict=True):
        if any(level is None for level in levels) or cost is None:
            raise InputError(f"{source.name} has a row with a blank level or cost; fill it in or remove it")
        cell = tuple(factor.labels[factor.code(level)] for level, factor in zip(levels, design.factors, strict=True))
        costs[cell] = float(cost)
    return costs


def read_forbidden(data: object, design: Design) -> list[dict[str, str]]:
    """Return the rules of a table with some factor columns; a blank level matches every level.

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["colour", "shape"])
    >>> read_forbidden(pd.DataFrame({"shape": [1]}), design)
    [{'shape': '1'}]
    """
    source = open_table(data)
    named = [name for name in design.names if name in source.columns]
    if not named:
        raise InputError(f"{source.name} has none of the factor columns {listing(design.names)}; add at least one")
    columns = {name: level_texts(values) for name, values in source.read(named).items()}
    factors = {factor.name: factor for factor in design.factors}
    rules = []
    for row in zip(*columns.values(), strict=True):
        there = {name: level for name, level in zip(named, row, strict=True) if level is not None}
        rule = {name: factors[name].labels[factors[name].code(level)] for name, level in there.items()}
        if not rule:
            raise InputError(f"{source.name} has a blank row, which would forbid every cell; remove it")
        rules.append(rule)
    return rules


def spec_constraints(design: Design, cost: Costs | None, forbidden: Sequence[Cell]) -> Collecting:
    """Return costs and forbidden cells as they are given, or as the design's spec names them."""
    if cost is None and design.spec.cost is not None:
        cost = read_costs(design.spec.cost, design)
    if not forbidden and design.spec.forbidden is not None:
        forbidden = read_forbidden(design.spec.forbidden, design)
    return Collecting(cost=cost, forbidden=forbidden)
