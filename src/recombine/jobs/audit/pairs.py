"""The numbers behind the verdict map: verdict counts for every pair of levels, in an order that shows structure."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.cells.conjunctions import Conjunctions, Subset, canonical, every_cell
from recombine.cells.scales import FactorScale
from recombine.design.design import Design
from recombine.errors import InputError, SolverError
from recombine.jobs.listing import ListingKind, holds_first
from recombine.tables.table import Table
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Products up to this many cells are mapped whole; of larger ones the listed cells stand for all.
MAX_MAPPED_CELLS = 1_000_000
#: More levels than this along an axis are gathered into bins.
MAX_MAP_COLUMNS, MAX_MAP_ROWS, MAP_BINS = 110, 60, 40
#: A share read off fewer sampled cells than this would be noise.
FEWEST_SAMPLED = 25
#: Unseen cells whose standard errors are worked out for the map alone, where only targets are listed.
MOST_WEIGHED = 20_000


@dataclass(frozen=True, eq=False)
class MappedCells:
    """Cells (N, C) with verdict codes (N,): all possible ones, or seen and listed ones where those are too many."""

    cells: IntArray
    codes: IntArray
    whole: bool


def cells_to_map(audit: Audit) -> MappedCells:
    """Return the cells that a map of ``audit`` counts; cells of interchangeable factors once."""
    design = audit.design
    if not design.possible.whole and design.possible.span <= MAX_MAPPED_CELLS:
        cells = design.possible.cells()
        return MappedCells(cells, audit.decided.verdicts_of(cells), True)
    if design.possible.whole and product_size(design.sizes) <= MAX_MAPPED_CELLS:
        cells = every_cell(design.sizes)
        codes = audit.decided.identification.verdicts_on_grid().reshape(-1).astype(np.int64)
        if not audit.choice.structure.is_sum:
            codes = audit.decided.verdicts_of(cells)
        if design.symmetric:
            kept = (canonical(cells, design.symmetric) == cells).all(axis=1)
            cells, codes = cells[kept], codes[kept]
        return MappedCells(cells, codes, True)
    plain = audit.decided.listing.plain
    rows = np.arange(len(audit.decided.codes)) if plain is None else plain
    rows = rows[audit.decided.codes[rows] != Verdict.SEEN]
    cells = np.vstack([design.seen, audit.decided.listing.cells[rows]])
    codes = np.concatenate([np.full(len(design.seen), Verdict.SEEN), audit.decided.codes[rows]])
    return MappedCells(cells, codes, False)


@dataclass(frozen=True, eq=False)
class Sureness:
    """How well the values of determined cells (N, C) are known: standard errors, or leverages without an outcome."""

    what: Literal["standard error", "leverage"]
    cells: IntArray
    values: FloatArray

    @property
    def power(self) -> int:
        """The power of the values that is averaged: variances are what adds up."""
        return 2 if self.what == "standard error" else 1


def sureness_of(audit: Audit, mapped: MappedCells) -> Sureness | None:
    """Return what tells unseen cells apart where all of them are determined; None elsewhere, and where it is not known.

    Examples
    --------
    >>> import recombine as rc
    >>> found = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [3, 1]]))
    >>> sureness_of(found, cells_to_map(found)).values.round(2).tolist()
    [2.0, 2.0]
    """
    unseen = mapped.codes != Verdict.SEEN
    if not unseen.any() or (mapped.codes[unseen] != Verdict.DETERMINED).any():
        return None
    cells, leverage = audit.decided.listing.cells, audit.decided.leverage
    if audit.decided.listing.kind is ListingKind.TARGETS:
        cells, leverage = mapped.cells[unseen], np.full(int(unseen.sum()), np.nan)
        # Too many columns for an inverse, or one that cannot be had: nothing is known of so many cells.
        with suppress(SolverError, InputError):
            leverage = audit.decided.leverage_of(cells) if len(cells) <= MOST_WEIGHED else leverage
    known = ~np.isnan(leverage)
    if 2 * int(known.sum()) < len(cells):
        return None
    errors = audit.values.ranges_of(cells[known], leverage[known]).standard_error
    if np.isnan(errors).any():
        return Sureness("leverage", cells[known], leverage[known])
    return Sureness("standard error", cells[known], errors)


@dataclass(frozen=True, eq=False)
class Axis:
    """One factor along an axis: the bin of each level, the label of each bin, and whether levels are by their value."""

    factor: str
    levels: int
    bins: IntArray
    labels: tuple[str, ...]
    in_order: bool = False

    @property
    def binned(self) -> bool:
        """Whether a bin holds more than one level."""
        return len(self.labels) < self.levels


@dataclass(frozen=True, eq=False)
class Panel:
    """Verdict counts of one pair of factors, shape (rows, columns, verdicts).

    ``single`` says that each place is one cell rather than several; ``triangle`` that the two axes are one factor.
    ``total`` (rows, columns) is the number of possible cells behind each place, counted or not; for
    interchangeable factors in a sampled product, where twins are counted apart, it is more than that. ``typical``
    (rows, columns) is what `sureness_of` says of the unseen cells there, variances averaged; NaN where it is silent.
    """

    row: Axis
    column: Axis
    counts: IntArray
    total: npt.NDArray[np.float64]
    single: bool
    triangle: bool
    typical: npt.NDArray[np.float64] | None = None

    @cached_property
    def unseen(self) -> IntArray:
        """Unseen cells behind each place, shape (rows, columns)."""
        total: IntArray = self.counts[:, :, Verdict.DETERMINED :].sum(axis=2)
        return total

    @cached_property
    def share(self) -> npt.NDArray[np.float64]:
        """Share of the unseen cells that are determined, shape (rows, columns); NaN where none is unseen."""
        return np.where(
            self.unseen > 0, self.counts[:, :, Verdict.DETERMINED] / np.maximum(self.unseen, 1), np.nan
        ).astype(np.float64)

    @cached_property
    def unsampled(self) -> npt.NDArray[np.bool_]:
        """Whether no unseen cell was counted although not all cells are seen, shape (rows, columns)."""
        return np.asarray((self.unseen == 0) & (self.counts[:, :, Verdict.SEEN] < self.total))

    @cached_property
    def impossible(self) -> npt.NDArray[np.bool_]:
        """Whether no cell behind a place can exist, shape (rows, columns)."""
        empty = self.total == 0
        return np.asarray(np.triu(empty) if self.triangle else empty)

    @cached_property
    def leading(self) -> IntArray:
        """Code of the most frequent verdict among the unseen cells, `seen` where all are seen, -1 where none counts."""
        codes = self.counts[:, :, Verdict.DETERMINED :].argmax(axis=2) + int(Verdict.DETERMINED)
        codes[self.unseen == 0] = Verdict.SEEN
        codes[(self.counts.sum(axis=2) == 0) | self.unsampled] = -1
        found: IntArray = codes.astype(np.int64)
        return found


def level_order(audit: Audit) -> list[IntArray]:
    """Order the levels of each factor so that structure shows, and return one array of codes per factor.

    Levels that seen cells connect stand together, largest group first; among those, levels that the data treat alike
    (the same unseen cells are determined for them, if effects add); then often seen ones first. Unseen levels are last.
    Levels on a scale stand in their order.

    Examples
    --------
    >>> import recombine as rc
    >>> [order.tolist() for order in level_order(rc.audit(rc.Design.from_cells([[0, 0], [2, 1], [1, 1]])))]
    [[1, 2, 0], [1, 0]]
    """
    design, alike = audit.design, _alike(audit)
    groups = _groups(design)
    weight = np.zeros(int(groups.max()) + 1)
    np.add.at(weight, groups[design.seen[:, 0]], 1)
    orders, start = [], 0
    for place, size in enumerate(design.sizes):
        mine = groups[start : start + size]
        seen = _level_counts(design, place)
        kin = np.bincount(alike[place], weights=seen)[alike[place]]
        orders.append(np.lexsort((np.arange(size), -seen, alike[place], -kin, mine, -weight[mine], seen == 0)))
        start += size
    for place, scale in enumerate(design.scales):
        if scale is not None:
            orders[place] = scale.in_order
    return orders


def _alike(audit: Audit) -> list[IntArray]:
    """Number the levels of each factor by their value under a random function that vanishes on all seen cells."""
    null = audit.decided.first.null
    found = []
    for place, size in enumerate(audit.design.sizes):
        if place in null.features.following:
            found.append(np.zeros(size, dtype=np.int64))
            continue
        columns = np.arange(size) + null.features.blocks[(audit.design.space.twins(place)[0],)].start
        where = np.minimum(np.searchsorted(null.columns, columns), len(null.columns) - 1)
        values = null.table[where, 0]
        if null.modulus is None:
            values = np.round(values / max(float(np.abs(values).max()), 1e-300), 6)
        found.append(np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64))
    return found


def _level_counts(design: Design, place: int) -> IntArray:
    """Return the number of seen cells that hold each level of factor ``place``, symmetric twins included."""
    levels = design.seen[:, list(design.space.twins(place))]
    return np.bincount(levels.reshape(-1), minlength=design.sizes[place])


def _groups(design: Design) -> IntArray:
    """Number the connected groups of levels (all factors one after another): a seen cell links its levels."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    starts = np.concatenate([[0], np.cumsum(design.sizes)])
    first = {member: group[0] for group in design.symmetric for member in group}
    nodes = design.seen + starts[:-1]
    links = [(nodes[:, 0], nodes[:, place]) for place in range(len(design.sizes))]
    twins = [(starts[member] + np.arange(design.sizes[member]), head) for member, head in first.items()]
    links += [(left, starts[head] + np.arange(len(left))) for left, head in twins]
    left, right = (np.concatenate(side) for side in zip(*links, strict=True))
    graph = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(starts[-1], starts[-1]))
    labels: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _axis(design: Design, place: int, order: IntArray, most: int) -> Axis:
    size = design.sizes[place]
    bins = size if size <= most else min(most, MAP_BINS)
    position = np.empty(size, dtype=np.int64)
    position[order] = np.arange(size)
    labels = [design.factors[place].labels[code] for code in order]
    if bins < size:
        edges = [-(-size * number // bins) for number in range(bins + 1)]
        labels = [_span(labels[start:stop]) for start, stop in itertools.pairwise(edges)]
    in_order = design.factors[place].scale is not FactorScale.LABELS
    return Axis(design.names[place], size, position * bins // size, tuple(labels), in_order)


def _span(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{labels[0]} … {labels[-1]} ({len(labels)} levels)"


def panels(audit: Audit, mapped: MappedCells, sure: Sureness | None = None) -> list[Panel]:
    """Return one panel per pair of factors (symmetric twins once), the longer axis across."""
    design = audit.design
    orders = level_order(audit)
    pairs = Conjunctions(design.sizes, 2, design.symmetric).blocks
    return [_panel(design, mapped, orders, pair, sure) for pair in pairs]


def _panel(design: Design, mapped: MappedCells, orders: list[IntArray], pair: Subset, sure: Sureness | None) -> Panel:
    triangle = set(pair) <= set(design.space.twins(pair[0]))
    row, column = sorted(pair, key=lambda place: design.sizes[place])
    rows, columns = MAX_MAP_ROWS, MAX_MAP_COLUMNS
    if not mapped.whole:
        rows = columns = int(np.clip(np.sqrt(len(mapped.cells) / FEWEST_SAMPLED), 2, MAP_BINS))
    axes = _axis(design, row, orders[row], rows), _axis(design, column, orders[column], rows if triangle else columns)
    counts = np.zeros((len(axes[0].labels), len(axes[1].labels), len(Verdict)), dtype=np.int64)
    for down, across, codes in _projections(design, mapped.cells, mapped.codes, row, column):
        np.add.at(counts, (*_places(axes, down, across, triangle), codes), 1)
    single = len(design.sizes) == 2 and mapped.whole and not (axes[0].binned or axes[1].binned)
    total = counts.sum(axis=2).astype(np.float64)
    if not mapped.whole:
        total = np.zeros(counts.shape[:2])
        np.add.at(total, np.ix_(axes[0].bins, axes[1].bins), design.possible.behind(row, column))
        total = np.triu(total) if triangle else total
    typical = None
    if sure is not None:
        sums = np.zeros((2, *counts.shape[:2]))
        for down, across, values in _projections(design, sure.cells, sure.values, row, column):
            place = _places(axes, down, across, triangle)
            np.add.at(sums[0], place, values**sure.power)
            np.add.at(sums[1], place, 1)
        typical = np.where(sums[1] > 0, (sums[0] / np.maximum(sums[1], 1)) ** (1 / sure.power), np.nan)
    return Panel(*axes, counts, total, single, triangle, typical)


def _places(axes: tuple[Axis, Axis], down: IntArray, across: IntArray, triangle: bool) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the grid that levels fall into."""
    place = axes[0].bins[down], axes[1].bins[across]
    return (np.minimum(*place), np.maximum(*place)) if triangle else place


def _projections(
    design: Design, cells: IntArray, values: npt.NDArray[Any], row: int, column: int
) -> list[tuple[IntArray, IntArray, npt.NDArray[Any]]]:
    """Project cells on a pair; a level of interchangeable factors counts wherever it stands, once per cell."""
    rows, columns = design.space.twins(row), design.space.twins(column)
    if rows == columns:
        return [(cells[:, row], cells[:, column], values)]
    found = []
    for left, right in itertools.product(rows, columns):
        first = holds_first(cells, rows, left) & holds_first(cells, columns, right)
        found.append((cells[first, left], cells[first, right], values[first]))
    return found


def pair_table(found: list[Panel]) -> Table:
    """Return the counts as a table: one row per place of a panel that holds cells, one column per verdict."""
    rows: list[list[Any]] = []
    for panel in found:
        for down, across in np.argwhere(panel.counts.sum(axis=2)).tolist():
            levels = [panel.row.factor, panel.row.labels[down], panel.column.factor, panel.column.labels[across]]
            rows.append([*levels, *panel.counts[down, across].tolist()])
    names = ["factor", "level", "other factor", "other level", *(verdict.word for verdict in Verdict)]
    return Table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def level_table(audit: Audit, mapped: MappedCells) -> Table:
    """Return verdict counts for every level, levels as in `level_order`; a cell counts for each level it holds."""
    design, orders = audit.design, level_order(audit)
    rows: list[list[Any]] = []
    for group in design.space.groups:
        labels = design.factors[group[0]].labels
        counts = np.zeros((len(labels), len(Verdict)), dtype=np.int64)
        for place in group:
            first = holds_first(mapped.cells, group, place)
            np.add.at(counts, (mapped.cells[first, place], mapped.codes[first]), 1)
        name = " / ".join(design.names[place] for place in group)
        rows += [[name, labels[code], *counts[code].tolist()] for code in orders[group[0]].tolist()]
    names = ["factor", "level", *(verdict.word for verdict in Verdict)]
    return Table({name: [row[place] for row in rows] for place, name in enumerate(names)})
