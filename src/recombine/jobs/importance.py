"""Deployment weights: how much each cell matters to the reader, from a table of patterns or a column of rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, product_size
from recombine.cells.conjunctions import Subset, canonical, distinct, every_cell, places_among
from recombine.cells.possible import Possible
from recombine.design.design import Design
from recombine.errors import InputError, near_miss
from recombine.tables.frames import Source, open_table
from recombine.tables.numbers import filled_values, level_text
from recombine.writing import listing, plural, printable

#: The column of a table of importances.
COLUMN = "importance"
#: A level that is left open.
ANY = -1
#: Larger numbers could not be added up.
MAX_IMPORTANCE = 1e150


@dataclass(frozen=True, eq=False)
class Importance:
    """How much each cell matters: numbers from 0 on, of which only ratios count; read one with `read_importance`.

    Of the patterns that match a cell the one that names most levels counts, among those the first. A cell that none
    matches has importance 0.

    Examples
    --------
    >>> weights = Importance(np.array([[0, ANY], [0, 1]]), np.array([1.0, 5.0]))
    >>> weights.of(np.array([[0, 0], [0, 1], [1, 1]])).tolist()
    [1.0, 5.0, 0.0]
    """

    patterns: IntArray  #: Codes of the levels that each pattern names, (R, C), -1 where any level will do.
    values: FloatArray  #: Importance of the cells that each pattern matches, (R,).
    symmetric: tuple[Subset, ...] = ()  #: Interchangeable factors: any may hold a level that a pattern names for one.
    name: str = "the table"  #: The table, or the column, for messages.
    averaged: bool = False  #: Whether values are means of a column over the rows of each cell.

    def __repr__(self) -> str:
        return printable(f"Importance({plural(len(self.values), 'pattern')} of {self.name})")

    def of(self, cells: IntArray) -> FloatArray:
        """Return the importance of ``cells`` (N, C), (N,)."""
        ordered, none = canonical(cells, self.symmetric), len(self.values)
        best = np.full(len(cells), none)
        for alike in self._same_counts():
            # Patterns that name equally many levels: the first of all that match counts.
            earliest = np.full(len(cells), none)
            for rows in alike:
                for mine, theirs in self._ways(self.patterns[rows[0]] != ANY):
                    matches = _first_match(self.patterns[rows][:, mine], rows, ordered[:, theirs], none)
                    earliest = np.minimum(earliest, matches)
            best = np.where(best == none, earliest, best)
        return np.asarray(np.append(self.values, 0.0)[best])

    def _same_counts(self) -> list[list[IntArray]]:
        """The rows of patterns with the same blanks, those that name equally many levels together, most first."""
        named = self.patterns != ANY
        kinds, inverse = distinct(named.astype(np.int64))
        rows = [np.flatnonzero(inverse == kind) for kind in range(len(kinds))]
        counts = kinds.sum(axis=1).tolist()
        return [
            [mine for mine, count in zip(rows, counts, strict=True) if count == many]
            for many in sorted(set(counts), reverse=True)
        ]

    def _ways(self, named: BoolArray) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the places that a pattern names (C,) and those of a cell that may hold these levels, way by way."""
        grouped = {factor for group in self.symmetric for factor in group}
        alone = [factor for factor in np.flatnonzero(named).tolist() if factor not in grouped]
        mine = [*alone, *(factor for group in self.symmetric for factor in group if named[factor])]
        counts = [int(named[list(group)].sum()) for group in self.symmetric]
        chosen = (itertools.combinations(group, many) for group, many in zip(self.symmetric, counts, strict=True))
        for theirs in itertools.product(*chosen):
            yield mine, [*alone, *itertools.chain.from_iterable(theirs)]

    @property
    def everywhere(self) -> bool:
        """Whether no cell has importance 0: a pattern matches every cell, and no value is 0."""
        return bool((self.patterns == ANY).all(axis=1).any() and (self.values > 0).all())

    def support(self, possible: Possible, max_cells: int) -> IntArray | None:
        """Return ``possible`` cells whose importance is over 0, (M, C), sorted; None if over ``max_cells`` may match.

        Examples
        --------
        >>> weights = Importance(np.array([[0, ANY], [0, 1]]), np.array([2.0, 0.0]))
        >>> weights.support(Possible.product((2, 3)), max_cells=10).tolist()
        [[0, 0], [0, 2]]
        """
        rules, sizes = self.patterns[self.values > 0], possible.sizes
        free = [np.flatnonzero(rule == ANY).tolist() for rule in rules]
        if sum(product_size([sizes[factor] for factor in factors]) for factors in free) <= max_cells:
            filled = [_filled_in(rule, factors, sizes) for rule, factors in zip(rules, free, strict=True)]
            none = np.empty((0, len(sizes)), dtype=np.int64)
            cells = distinct(canonical(np.vstack([none, *filled]), self.symmetric))[0]
            cells = cells[possible.holds(cells)]
        elif possible.span <= max_cells:
            cells = possible.cells()
        else:
            return None
        return cells[self.of(cells) > 0]


def _filled_in(rule: IntArray, free: list[int], sizes: tuple[int, ...]) -> IntArray:
    """Write out the cells (M, C) of one pattern (C,) that leaves the factors ``free`` open."""
    cells = np.repeat(rule[None], product_size([sizes[factor] for factor in free]), axis=0)
    if free:
        cells[:, free] = every_cell([sizes[factor] for factor in free])
    return cells


def _first_match(patterns: IntArray, rows: IntArray, cells: IntArray, none: int) -> IntArray:
    """Return for each of ``cells`` (N, J) the smallest of ``rows`` (R,) whose pattern (R, J) it equals, or ``none``."""
    if not patterns.shape[1]:
        return np.full(len(cells), rows[0])
    return np.asarray(np.append(rows[::-1], none)[places_among(patterns[::-1], cells)])


def read_importance(data: object, design: Design, column: str | None = None) -> Importance:
    """Return the importance of the cells of ``design``: from a table of patterns, or the mean of a ``column`` of rows.

    Parameters
    ----------
    data : path, dataframe, (table, column) or Importance
        Without ``column``: some factor columns and a column ``importance`` of numbers from 0 on. A blank level, or a
        factor without a column, stands for every level; a row that names no level gives the importance of all cells
        that no other row matches. With ``column``: any table that has every factor column.
    design : Design
    column : str, optional
        The column whose mean over a cell's rows is the importance of the cell; cells without rows have 0.

    Examples
    --------
    >>> import pandas as pd
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["colour", "shape"])
    >>> table = pd.DataFrame({"shape": [1, None], "importance": [3.0, 0.5]})
    >>> read_importance(table, design).of(np.array([[0, 1], [1, 0]])).tolist()
    [3.0, 0.5]
    """
    if isinstance(data, Importance):
        if data.patterns.shape[1] != len(design.factors):
            raise InputError(f"{data!r} was read for another design; read it for the one that is asked about")
        return data
    table: Any = data
    if isinstance(data, tuple) and len(data) == 2:
        table, column = data[0], str(data[1])
    source = open_table(table, None if column is None else design.spec)
    patterns, values = _patterns(source, design) if column is None else _means(source, design, column)
    name = source.name if column is None else f"column {column!r} of {source.name}"
    if not (values > 0).any():
        raise InputError(f"every importance in {name} is 0, so nothing would matter; give some cell a larger one")
    return Importance(patterns, values, design.symmetric, name, column is not None)


def _patterns(source: Source, design: Design) -> tuple[IntArray, FloatArray]:
    """Read a table of patterns: codes (R, C) and importances (R,)."""
    if COLUMN in (*design.names, *design.space.columns):
        raise InputError(
            f"one factor is itself named {COLUMN!r}, so {source.name} cannot hold both; rename that factor"
        )
    taken_apart = [column for column in design.space.parts if column.column in source.columns]
    inside = {name for column in taken_apart for name in column.names}
    named = [name for name in design.names if name in source.columns and name not in inside]
    source.require(COLUMN, "importance column")
    if not named and not taken_apart:
        raise InputError(
            f"{source.name} has none of the factor columns {listing(design.space.columns)}; add at least one"
        )
    columns = source.read([*named, *(column.column for column in taken_apart), COLUMN])
    count = len(columns[COLUMN])
    if not count:
        raise InputError(f"{source.name} has no rows, so nothing would matter; list at least one cell")
    levels = {name: filled_values(values) for name, values in columns.items()}
    for row, cells in enumerate(zip(*levels.values(), strict=True), 1):
        if all(value is None for value in cells):
            raise InputError(f"row {row:,} of {source.name} is blank; remove it")
    values = np.array([_number(value, f"row {row:,} of {source.name}") for row, value in enumerate(levels[COLUMN], 1)])
    for column in taken_apart:
        levels |= _members(design, column.column, levels[column.column], source.name)
    patterns = canonical(_codes(design, levels, count, source.name, numbered=True), design.symmetric)
    _refuse_repeats(patterns, design, source)
    return patterns, values


def _refuse_repeats(patterns: IntArray, design: Design, source: Source) -> None:
    _, inverse = distinct(patterns - ANY)
    first: dict[int, int] = {}
    for row, same in enumerate(inverse.tolist()):
        if same in first:
            texts = [
                factor.labels[code] if code != ANY else f"any {factor.name}"
                for factor, code in zip(design.factors, patterns[row].tolist(), strict=True)
            ]
            raise InputError(
                f"rows {first[same] + 1:,} and {row + 1:,} of {source.name} both give the importance of "
                f"{listing(texts)}; keep one of them"
            )
        first[same] = row


def _members(design: Design, column: str, texts: list[Any], source: str) -> dict[str, list[Any]]:
    """Take the texts of a sequence or set apart; a blank one leaves all its factors open."""
    apart = next(apart for apart in design.space.parts if apart.column == column)
    example = design.space.decode(design.seen[:1])[column][0]
    by_factor = apart.levels([example if text is None else text for text in texts], source)
    return {
        name: [None if text is None else level for text, level in zip(texts, levels.tolist(), strict=True)]
        for name, levels in by_factor.items()
    }


def _number(value: Any, row: str) -> float:
    """Return an importance as a number from 0 on, or raise with the row it stands in."""
    if value is None:
        raise InputError(f"{row} has no importance; give a number, 0 where it does not matter")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= MAX_IMPORTANCE:
        raise InputError(f"the importance {value!r} in {row} is no number from 0 on; correct it")
    return number


def _codes(design: Design, levels: dict[str, list[Any]], count: int, source: str, numbered: bool) -> IntArray:
    """Code the levels of each factor, (count, C), any level where it has none; rows of a table are ``numbered``."""
    codes = np.full((count, len(design.names)), ANY)
    for index, factor in enumerate(design.factors):
        coded: dict[Any, int] = {None: ANY}
        for row, level in enumerate(levels.get(factor.name, ())):
            if level not in coded and factor.unknown(np.array([level], dtype=object)):
                row_text, text = f"row {row + 1:,} of {source}" if numbered else source, level_text(level)
                raise InputError(
                    f"{row_text}: {text!r} is not a level of factor {factor.name!r} in {design.reading.source};"
                    f"{near_miss(text, factor.labels, 'Name levels never seen in --targets with --new-levels')}"
                )
            if level not in coded:
                coded[level] = factor.code(level)
            codes[row, index] = coded[level]
    return codes


def _means(source: Source, design: Design, column: str) -> tuple[IntArray, FloatArray]:
    """Read the mean of a column over the rows of each cell: cells (R, C) and means (R,)."""
    for name in design.space.columns:
        source.require(name, "factor")
    source.require(column, "importance")
    if column in design.space.columns:
        raise InputError(f"column {column!r} is both a factor and the importance; give it one part")
    if (kind := source.kind(column)) not in ("integer", "number"):
        raise InputError(f"column {column!r} of {source.name} is of kind {kind}; importances are numbers from 0 on")
    groups = _grouped(source, design, column)
    if not len(groups["rows"]):
        raise InputError(f"no row of {source.name} has a level of each factor; fill them in")
    plain = design.space.by_factor({name: groups[name] for name in design.space.columns}, source.name)
    levels = {name: values.tolist() for name, values in plain.items()}
    codes = _codes(design, levels, len(groups["rows"]), source.name, numbered=False)
    lacking = np.flatnonzero(groups["absent"] > 0)
    if len(lacking):
        rows, cell = plural(int(groups["absent"].sum()), "row"), design.label(codes[lacking[0]])
        raise InputError(
            f"column {column!r} of {source.name} holds no finite number in {rows}, such as one of {cell}; give a "
            "number, 0 where it does not matter"
        )
    wrong = np.flatnonzero(~((groups["least"] >= 0) & (groups["sum"] <= MAX_IMPORTANCE)))
    if len(wrong):
        cell = design.label(codes[wrong[0]])
        raise InputError(
            f"column {column!r} of {source.name} is {groups['least'][wrong[0]]:g} in a row of {cell}; importances are "
            "numbers from 0 on"
        )
    cells, inverse = distinct(canonical(codes, design.symmetric))
    return cells, np.bincount(inverse, groups["sum"]) / np.bincount(inverse, groups["rows"])


def _grouped(source: Source, design: Design, column: str) -> dict[str, npt.NDArray[Any]]:
    """Return rows, sum, least and number of absent values of ``column`` by factor levels, in one pass."""
    import narwhals as nw

    source = source.kept([*design.space.columns, column])
    frame, value = source.rows_with(design.space.columns), source.col(column).cast(nw.Float64)
    finite = ~source.col(column).is_null() & value.is_finite()
    by = [source.keys[name] for name in design.space.columns]
    frame = frame.select(
        *by,
        nw.when(finite).then(value).otherwise(0.0).alias("__value"),
        nw.when(finite).then(0).otherwise(1).alias("__absent"),
    )
    sums = [nw.col("__value").sum().alias("__sum"), nw.col("__value").min().alias("__least")]
    columns = source.fetch(frame.group_by(*by).agg(nw.len().alias("__rows"), nw.col("__absent").sum(), *sums))
    numbers = {name: columns[f"__{name}"].astype(float) for name in ("rows", "absent", "sum", "least")}
    return {name: columns[source.keys[name]] for name in design.space.columns} | numbers
