"""A table of predictions to counts: bins for measurements, then group-bys in the table's own engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.errors import InputError, near_miss
from recombine.measures.dependence.contingency import MAX_DISTINCT_VALUES, Contingency, bin_edges
from recombine.tables.columns import profile
from recombine.tables.frames import Source
from recombine.tables.numbers import level_text, missing_values
from recombine.writing import listing, option_text

#: Whole numbers are labels more often than other numbers: they are cut into bins beyond so many values.
MAX_WHOLE_VALUES = 100
#: Engines that do not skip branches compare every row with every cut.
MAX_BINS = 1_000


def bin_cuts(
    source: Source, columns: Sequence[str], as_levels: Sequence[str], bins: int
) -> tuple[int, dict[str, FloatArray]]:
    """Return the number of rows, and where to cut each column that is a measurement."""
    for name in as_levels:
        if name not in columns:
            raise InputError(
                f"--as-levels {name} is not a column in use;{near_miss(name, columns, f'Columns: {listing(columns)}')}"
            )
    kinds = source.look(columns)
    for name in columns:
        if kinds[name] == "other":
            raise InputError(f"column {name!r} of {source.name} holds neither numbers nor text; convert it first")
    numeric = [name for name in columns if kinds[name] in ("integer", "number") and name not in as_levels]
    edges = {}
    rows, profiles = profile(source, numeric)
    for item in profiles:
        if item.distinct > (MAX_DISTINCT_VALUES if item.kind == "number" else MAX_WHOLE_VALUES):
            values = source.read([item.column])[item.column].astype(np.float64)
            edges[item.column] = bin_edges(values[np.isfinite(values)], bins)
            count = len(edges[item.column]) + 1
            if count > MAX_BINS:
                raise InputError(
                    f"{item.column} would be cut into {count:,} bins, and at most {MAX_BINS:,} can be counted; ask for "
                    f"fewer with --bins, or take every value as a level with {option_text('--as-levels', item.column)}"
                )
    return rows, edges


def count_rows(source: Source, names: Sequence[str], cuts: dict[str, FloatArray]) -> tuple[IntArray, IntArray]:
    """Return codes (M, columns) of the combinations in rows with all values, and how many rows have each, (M,)."""
    import narwhals as nw

    keys = [f"__key{position}" for position in range(len(names))]
    columns = []
    for name, key in zip(names, keys, strict=True):
        column = source.col(name)
        if name in cuts:
            number = column.cast(nw.Float64)
            column = nw.when(number.is_finite()).then(_bin_of(number, cuts[name].tolist()))
        columns.append(column.alias(key))
    # Missing values are dropped before grouping: engines disagree on whether they are a group.
    frame: Any = source.frame.select(*columns).drop_nulls()
    groups = source.fetch(frame.group_by(*keys).agg(nw.len().alias("__rows")))
    complete = ~np.any([missing_values(groups[key]) for key in keys], axis=0)
    if not complete.any():
        raise InputError(f"{source.name} has no row with a value of {' and '.join(names)}; nothing to probe")
    codes = np.stack([_codes(groups[key][complete]) for key in keys], axis=1)
    return codes, groups["__rows"][complete].astype(np.int64)


def contingency(
    source: Source, prediction: str, given: Sequence[str], factor: str | None, cuts: dict[str, FloatArray]
) -> Contingency:
    """Return how often predictions and levels of a factor, or nothing, occur at each combination of given columns."""
    codes, counts = count_rows(source, [prediction, *given, *([] if factor is None else [factor])], cuts)
    strata = distinct(codes[:, 1 : 1 + len(given)])[1]
    return Contingency.of(codes[:, 0], 0 * counts if factor is None else codes[:, -1], strata, counts)


def _bin_of(number: Any, cuts: list[float], lowest: int = 0) -> Any:
    """Return the expression for the bin of ``number``, found by halving: as deep as the logarithm of the cuts."""
    import narwhals as nw

    if not cuts:
        return nw.lit(lowest)
    middle = len(cuts) // 2
    above = _bin_of(number, cuts[middle + 1 :], lowest + middle + 1)
    return nw.when(number > cuts[middle]).then(above).otherwise(_bin_of(number, cuts[:middle], lowest))


def _codes(values: npt.NDArray[Any]) -> IntArray:
    if values.dtype.kind == "O":
        values = np.array([level_text(value) for value in values.tolist()])
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
