"""A table of predictions to counts: bins for measurements, then one group-by per factor in the table's own engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.errors import InputError, near_miss
from recombine.measures.dependence.contingency import MAX_DISTINCT_VALUES, Contingency, bin_edges
from recombine.tables.columns import profile
from recombine.tables.frames import Source
from recombine.tables.numbers import level_text
from recombine.writing import listing

#: Whole numbers are labels more often than other numbers: they are cut into bins beyond so many values.
MOST_WHOLE_VALUES = 100


@dataclass(frozen=True)
class ProbeColumns:
    """The columns of a table of predictions and how to read them."""

    prediction: str
    given: tuple[str, ...]
    factors: tuple[str, ...]
    bins: int = 10
    as_levels: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every column in use."""
        return (self.prediction, *self.given, *self.factors)


@dataclass(frozen=True, eq=False)
class PredictionCounts:
    """Counts by factor, counts of prediction and given columns alone, and what was done to the columns.

    ``bins`` says into how many bins a column was cut; ``left_out`` how many rows lack a value of the named columns.
    """

    tables: dict[str, Contingency]
    both: Contingency
    bins: dict[str, int]
    left_out: dict[str, int]


def read_counts(source: Source, columns: ProbeColumns) -> PredictionCounts:
    """Count how often prediction, given columns and each factor occur together.

    Rows without a value of prediction, given column or factor do not count for that factor.

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.tables import open_table
    >>> frame = pd.DataFrame({"guess": [0, 1, 1, 0], "y": [0, 1, 1, 0], "site": ["a", "b", "a", None]})
    >>> counted = read_counts(open_table(frame), ProbeColumns("guess", ("y",), ("site",)))
    >>> counted.tables["site"].counts.tolist(), counted.left_out
    ([1, 1, 1], {'site': 1})
    """
    table = source.kept(columns.all)
    rows, points = _points(table, columns)
    without_factor = [columns.prediction, *columns.given]
    codes, counts = _grouped(table, without_factor, points)
    complete = int(counts.sum())
    left_out = {" or ".join(without_factor): rows - complete}
    both = Contingency.of(codes[:, 0], 0 * counts, distinct(codes[:, 1:])[1], counts)
    tables = {}
    for factor in columns.factors:
        codes, counts = _grouped(table, [*without_factor, factor], points)
        tables[factor] = Contingency.of(codes[:, 0], codes[:, -1], distinct(codes[:, 1:-1])[1], counts)
        left_out[factor] = complete - int(counts.sum())
    bins = {name: len(edges) + 1 for name, edges in points.items()}
    return PredictionCounts(tables, both, bins, {name: count for name, count in left_out.items() if count})


def _points(source: Source, columns: ProbeColumns) -> tuple[int, dict[str, FloatArray]]:
    """Return the number of rows, and where to cut each column that is a measurement."""
    for name in columns.as_levels:
        if name not in columns.all:
            raise InputError(
                f"--as-levels {name} is not a column in use;{near_miss(name, columns.all)} "
                f"Columns: {listing(columns.all)}"
            )
    kinds = source.look(columns.all)
    numeric = [name for name in columns.all if kinds[name] in ("integer", "number")]
    odd = [name for name in columns.all if kinds[name] == "other"]
    if odd:
        raise InputError(f"column {odd[0]!r} of {source.name} holds neither numbers nor text; convert it first")
    edges = {}
    rows, profiles = profile(source, [name for name in numeric if name not in columns.as_levels])
    for item in profiles:
        if item.distinct > (MAX_DISTINCT_VALUES if item.kind == "number" else MOST_WHOLE_VALUES):
            values = source.read([item.column])[item.column].astype(np.float64)
            edges[item.column] = bin_edges(values[np.isfinite(values)], columns.bins)
    return rows, edges


def _grouped(source: Source, names: Sequence[str], points: dict[str, FloatArray]) -> tuple[IntArray, IntArray]:
    """Codes (M, columns) of the combinations that occur in rows with all values, and how many rows have each."""
    import narwhals as nw

    keys = [f"__key{position}" for position in range(len(names))]
    columns = [_expression(source, name, points).alias(key) for name, key in zip(names, keys, strict=True)]
    # Missing values are dropped before grouping: engines disagree on whether they are a group.
    frame: Any = source.frame.select(*columns).drop_nulls()
    groups = source.fetch(frame.group_by(*keys).agg(nw.len().alias("__rows")))
    there = ~np.any([_missing(groups[key]) for key in keys], axis=0)
    if not there.any():
        raise InputError(f"{source.name} has no row with a value of {' and '.join(names)}; nothing to probe")
    codes = np.stack([_codes(groups[key][there]) for key in keys], axis=1)
    return codes, groups["__rows"][there].astype(np.int64)


def _expression(source: Source, name: str, points: dict[str, FloatArray]) -> Any:
    import narwhals as nw

    column = source.col(name)
    if name not in points:
        return column
    number = column.cast(nw.Float64)
    position = sum(((number > float(point)).cast(nw.Int64) for point in points[name]), start=nw.lit(0))
    return nw.when(number.is_finite()).then(position)


def _missing(values: npt.NDArray[Any]) -> BoolArray:
    """Say which of ``values`` (M,) are missing: only they differ from themselves, apart from None."""
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values.tolist()], dtype=bool)
    return np.asarray(values != values, dtype=bool)


def _codes(values: npt.NDArray[Any]) -> IntArray:
    if values.dtype.kind == "O":
        values = np.array([level_text(value) for value in values.tolist()])
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
