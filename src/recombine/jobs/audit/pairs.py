"""The numbers behind the verdict map: verdict counts for every pair of levels, in an order that shows structure."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions, Subset
from recombine.cells.scales import FactorScale
from recombine.design.design import Design
from recombine.errors import InputError, SolverError
from recombine.jobs.audit.parts import Decided, Values
from recombine.jobs.listing import ListingKind, holds_first
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: Products up to this many cells are mapped whole; of larger ones the listed cells stand for all.
MAX_MAPPED_CELLS = 1_000_000
#: More levels than this along an axis are gathered into bins.
MAX_MAP_COLUMNS, MAX_MAP_ROWS, MAP_BINS = 110, 60, 40
#: A share read off fewer sampled cells than this would be noise.
MIN_CELLS_SAMPLED = 25
#: Unseen cells whose standard errors are worked out for the map alone, where only targets are listed.
MAX_CELLS_WEIGHED = 20_000


@dataclass(frozen=True, eq=False)
class MappedCells:
    """Cells (N, C) with verdict codes (N,): all possible ones, or seen and listed ones where those are too many."""

    cells: IntArray
    codes: IntArray
    whole: bool


def cells_to_map(decided: Decided) -> MappedCells:
    """Return the cells that a map counts; cells of interchangeable factors once."""
    design = decided.design
    if design.possible.span <= MAX_MAPPED_CELLS:
        cells = design.possible.cells()
        if design.possible.whole and not design.symmetric and decided.choice.structure.is_sum:
            codes = decided.identification.verdicts_on_grid().reshape(-1).astype(np.int64)  # ten times faster
        else:
            codes = decided.verdicts_of(cells)
        return MappedCells(cells, codes, True)
    plain = decided.listing.plain
    rows = np.arange(len(decided.codes)) if plain is None else plain
    rows = rows[decided.codes[rows] != Verdict.SEEN]
    cells = np.vstack([design.seen, decided.listing.cells[rows]])
    return MappedCells(cells, np.append(np.full(len(design.seen), Verdict.SEEN), decided.codes[rows]), False)


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


def sureness_of(values: Values, mapped: MappedCells) -> Sureness | None:
    """Return what tells unseen cells apart where all of them are determined; None elsewhere, and where it is not known.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [3, 1]]))
    >>> sureness_of(audit.values, cells_to_map(audit.decided)).values.round(2).tolist()
    [2.0, 2.0]
    """
    unseen, decided = mapped.codes != Verdict.SEEN, values.decided
    if not unseen.any() or (mapped.codes[unseen] != Verdict.DETERMINED).any():
        return None
    if decided.listing.kind is ListingKind.TARGETS:
        cells, leverage = mapped.cells[unseen], np.full(int(unseen.sum()), np.nan)
        # Too many columns for an inverse, or one that cannot be had: nothing is known of so many cells.
        with suppress(SolverError, InputError):
            leverage = decided.leverage_of(cells) if len(cells) <= MAX_CELLS_WEIGHED else leverage
    else:
        cells, leverage = decided.listing.cells, decided.leverage
    solved = ~np.isnan(leverage)
    if 2 * int(solved.sum()) < len(cells):
        return None
    errors = values.ranges_of(cells[solved], leverage[solved]).standard_error
    if np.isnan(errors).any():
        return Sureness("leverage", cells[solved], leverage[solved])
    return Sureness("standard error", cells[solved], errors)


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
    total: FloatArray
    single: bool
    triangle: bool
    typical: FloatArray | None = None

    @cached_property
    def unseen(self) -> IntArray:
        """Unseen cells behind each place, shape (rows, columns)."""
        return np.asarray(self.counts[:, :, Verdict.DETERMINED :].sum(axis=2))

    @cached_property
    def share(self) -> FloatArray:
        """Share of the unseen cells that are determined, shape (rows, columns); NaN where none is unseen."""
        shares = self.counts[:, :, Verdict.DETERMINED] / np.maximum(self.unseen, 1)
        return np.where(self.unseen > 0, shares, np.nan)

    @cached_property
    def unsampled(self) -> BoolArray:
        """Whether no unseen cell was counted although not all cells are seen, shape (rows, columns)."""
        return np.asarray((self.unseen == 0) & (self.counts[:, :, Verdict.SEEN] < self.total))

    @cached_property
    def impossible(self) -> BoolArray:
        """Whether no cell behind a place can exist, shape (rows, columns)."""
        empty = self.total == 0
        return np.asarray(np.triu(empty) if self.triangle else empty)

    @cached_property
    def leading(self) -> IntArray:
        """Code of the most frequent verdict among the unseen cells, `seen` where all are seen, -1 where none counts."""
        codes = self.counts[:, :, Verdict.DETERMINED :].argmax(axis=2) + int(Verdict.DETERMINED)
        codes[self.unseen == 0] = Verdict.SEEN
        codes[(self.counts.sum(axis=2) == 0) | self.unsampled] = -1
        return np.asarray(codes, dtype=np.int64)


def level_order(decided: Decided) -> list[IntArray]:
    """Order the levels of each factor so that structure shows, and return one array of codes per factor.

    Levels that seen cells connect stand together, largest group first; among those, levels that the data treat alike
    (the same unseen cells are determined for them, if effects add); then often seen ones first. Unseen levels are last.
    Levels on a scale stand in their order.

    Examples
    --------
    >>> import recombine as rc
    >>> [order.tolist() for order in level_order(rc.audit(rc.Design.from_cells([[0, 0], [2, 1], [1, 1]])).decided)]
    [[1, 2, 0], [1, 0]]
    """
    design = decided.design
    groups = _groups(design)
    weight = np.bincount(groups[0][design.seen[:, 0]], minlength=max(int(group.max()) for group in groups) + 1)
    orders = []
    for factor, size in enumerate(design.sizes):
        if design.scales and (scale := design.scales[factor]) is not None:
            orders.append(scale.in_order)
            continue
        group, alike = groups[factor], _alike(decided, factor)
        seen = np.bincount(design.seen[:, list(design.space.twins(factor))].reshape(-1), minlength=size)
        kin = np.bincount(alike, weights=seen)[alike]
        orders.append(np.lexsort((np.arange(size), -seen, alike, -kin, group, -weight[group], seen == 0)))
    return orders


def _alike(decided: Decided, factor: int) -> IntArray:
    """Number the levels of a factor by their value under a random function that vanishes on all seen cells."""
    null, size = decided.first.null, decided.design.sizes[factor]
    if factor in null.features.following:
        return np.zeros(size, dtype=np.int64)
    columns = np.arange(size) + null.features.blocks[(decided.design.space.twins(factor)[0],)].start
    rows = np.minimum(np.searchsorted(null.columns, columns), len(null.columns) - 1)
    values = null.table[rows, 0]
    if null.modulus is None:
        values = np.round(values / max(float(np.abs(values).max()), 1e-300), 6)
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _groups(design: Design) -> list[IntArray]:
    """Number the connected groups of levels, of every factor (L,): a seen cell links its levels."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    features = Conjunctions(design.sizes, 1, design.symmetric)
    ids = features.ids(design.seen)
    links = np.repeat(ids[:, 0], ids.shape[1]), ids.reshape(-1)
    graph = coo_array((np.ones(ids.size, dtype=bool), links), shape=(features.columns, features.columns))
    labels = connected_components(graph, directed=False)[1].astype(np.int64)
    blocks = [features.blocks[design.space.twins(factor)[:1]] for factor in range(len(design.sizes))]
    return [labels[block.start : block.stop] for block in blocks]


def _axis(design: Design, index: int, order: IntArray, limit: int) -> Axis:
    factor, size = design.factors[index], design.sizes[index]
    bins = size if size <= limit else min(limit, MAP_BINS)
    position = np.empty(size, dtype=np.int64)
    position[order] = np.arange(size)
    labels = [factor.labels[code] for code in order]
    if bins < size:
        edges = [-(-size * number // bins) for number in range(bins + 1)]
        labels = [_span(labels[start:stop]) for start, stop in itertools.pairwise(edges)]
    in_order = factor.scale is not FactorScale.LABELS
    return Axis(factor.name, size, position * bins // size, tuple(labels), in_order)


def _span(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{labels[0]} … {labels[-1]} ({len(labels)} levels)"


def panels(decided: Decided, mapped: MappedCells, sure: Sureness | None = None) -> list[Panel]:
    """Return one panel per pair of factors (symmetric twins once), the longer axis across."""
    design, orders = decided.design, level_order(decided)
    pairs = Conjunctions(design.sizes, 2, design.symmetric).blocks
    return [_panel(design, mapped, orders, pair, sure) for pair in pairs]


def _panel(design: Design, mapped: MappedCells, orders: list[IntArray], pair: Subset, sure: Sureness | None) -> Panel:
    triangle = set(pair) <= set(design.space.twins(pair[0]))
    row, column = sorted(pair, key=design.sizes.__getitem__)
    rows, columns = MAX_MAP_ROWS, MAX_MAP_COLUMNS
    if not mapped.whole:
        rows = columns = int(np.clip(np.sqrt(len(mapped.cells) / MIN_CELLS_SAMPLED), 2, MAP_BINS))
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
            places = _places(axes, down, across, triangle)
            np.add.at(sums[0], places, values**sure.power)
            np.add.at(sums[1], places, 1)
        typical = np.where(sums[1] > 0, (sums[0] / np.maximum(sums[1], 1)) ** (1 / sure.power), np.nan)
    return Panel(*axes, counts, total, single, triangle, typical)


def _places(axes: tuple[Axis, Axis], down: IntArray, across: IntArray, triangle: bool) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the grid that levels fall into."""
    places = axes[0].bins[down], axes[1].bins[across]
    return (np.minimum(*places), np.maximum(*places)) if triangle else places


def _projections(
    design: Design, cells: IntArray, values: npt.NDArray[Any], row: int, column: int
) -> list[tuple[IntArray, IntArray, npt.NDArray[Any]]]:
    """Project cells on a pair; a level of interchangeable factors counts wherever it stands, once per cell."""
    rows, columns = design.space.twins(row), design.space.twins(column)
    if rows == columns:
        return [(cells[:, row], cells[:, column], values)]
    projections = []
    for down, across in itertools.product(rows, columns):
        once = holds_first(cells, rows, down) & holds_first(cells, columns, across)
        projections.append((cells[once, down], cells[once, across], values[once]))
    return projections


def pair_table(panels: list[Panel]) -> Table:
    """Return the counts as a table: one row per place of a panel that holds cells, one column per verdict."""
    rows: list[list[Any]] = []
    for panel in panels:
        for down, across in np.argwhere(panel.counts.sum(axis=2)).tolist():
            levels = [panel.row.factor, panel.row.labels[down], panel.column.factor, panel.column.labels[across]]
            rows.append([*levels, *panel.counts[down, across].tolist()])
    return _counted(["factor", "level", "other factor", "other level"], rows)


def level_table(decided: Decided, mapped: MappedCells) -> Table:
    """Return verdict counts for every level, levels as in `level_order`; a cell counts for each level it holds."""
    design, orders = decided.design, level_order(decided)
    rows: list[list[Any]] = []
    for group in design.space.groups:
        labels = design.factors[group[0]].labels
        counts = np.zeros((len(labels), len(Verdict)), dtype=np.int64)
        for member in group:
            once = holds_first(mapped.cells, group, member)
            np.add.at(counts, (mapped.cells[once, member], mapped.codes[once]), 1)
        name = " / ".join(design.names[member] for member in group)
        rows += [[name, labels[code], *counts[code].tolist()] for code in orders[group[0]].tolist()]
    return _counted(["factor", "level"], rows)


def _counted(names: list[str], rows: list[list[Any]]) -> Table:
    columns = [*names, *(verdict.word for verdict in Verdict)]
    return Table({name: [row[column] for row in rows] for column, name in enumerate(columns)})
