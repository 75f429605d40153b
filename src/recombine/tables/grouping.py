"""Rows to cells: one group-by in the table's own engine, so that only distinct cells come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, near_miss
from recombine.tables.columns import no_number, one_class, two_classes
from recombine.tables.frames import Source, count_of
from recombine.tables.numbers import level_text
from recombine.writing import listing, plural

FloatArray = npt.NDArray[np.float64]

#: Squares of larger outcomes overflow.
MAX_OUTCOME = 1e150
#: Counts of an outcome with more values than this would be long tables; means are the likelier reading.
MAX_COUNTED_VALUES = 20
#: Fewer measurements than this take two values other than 0 and 1 by chance.
MIN_TWO_VALUED_ROWS = 8


class RowsAre(StrEnum):
    """What a row with weight n is: one measurement (no weights), n equal measurements, or the mean of n."""

    MEASUREMENTS = auto()
    COUNTS = auto()
    MEANS = auto()


@dataclass(frozen=True)
class Columns:
    """The columns of a table and the part each plays."""

    factors: tuple[str, ...]
    outcome: str | None = None
    weight: str | None = None
    sd: str | None = None
    split: str | None = None
    #: The value of the outcome that counts as 1, where all others count as 0.
    chosen: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """Every column in use."""
        roles = (self.split, self.outcome, self.weight, self.sd)
        return (*self.factors, *(name for name in roles if name is not None))


@dataclass(frozen=True, eq=False)
class Groups:
    """Distinct (cell, split) groups of a table.

    ``levels`` holds one array of raw level values per factor, ``split`` the raw split values, ``rows`` the number of
    rows, ``weight`` their total weight, ``mean`` the weighted mean outcome, ``spread`` the sum of squares within the
    group and ``freedom`` its degrees of freedom. All have shape (M,). ``rows_are`` says how weights were read,
    ``two_values`` are the values of an outcome that has two only, and ``counted`` how many rows the table has, how many
    of them are used, and how many lack a level.
    """

    levels: list[npt.NDArray[Any]]
    split: npt.NDArray[Any] | None
    rows: npt.NDArray[np.int64]
    weight: FloatArray
    mean: FloatArray | None
    spread: FloatArray
    freedom: FloatArray
    left_out: dict[str, int]
    labels: tuple[str, str] | None
    two_values: tuple[float, float] | None = None
    rows_are: RowsAre = RowsAre.MEASUREMENTS
    counted: tuple[int, ...] = (0, 0, 0)


@dataclass(frozen=True)
class _Values:
    """What tells counts from means: mean, extremes and number of distinct outcomes; rows; weights that are no count."""

    centre: float = 0.0
    ends: tuple[float, float] = (0.0, 0.0)
    distinct: int = 0
    rows: int = 0
    broken: int = 0


def group(
    source: Source, columns: Columns, counts: bool | None = None, labels: tuple[str, str] | None = None
) -> Groups:
    """Group the usable rows of ``source`` by their factors (and split).

    With a weight n, ``counts`` says that a row is n equal measurements (True) or the mean of n (False); None decides by
    the values: two-valued or often repeated outcomes with whole weights are counts. ``labels`` are the two values of a
    text outcome, where another table said which they are.
    """
    import narwhals as nw

    source = source.kept(columns.all)
    if columns.outcome is not None and columns.chosen is not None:
        classes: tuple[Any, Any] | None = one_class(source, columns.outcome, columns.chosen, labels)
    else:
        classes = two_classes(source, columns.outcome, labels)
    labels = (str(classes[0]), level_text(classes[1])) if classes else None
    measures = _measures(source, columns, classes)
    usable, left_out, (table, unplaced) = _usable(source, columns, measures)
    values = _values(source, usable, measures)
    keys = [source.keys[name] for name in [*columns.factors, *([columns.split] if columns.split else [])]]
    sums = _summands(columns, measures, values.centre)
    frame = usable.select(*keys, *[expression.alias(name) for name, expression in sums.items()])
    totals = [nw.col(name).sum() for name in sums]
    result = source.fetch(frame.group_by(*keys).agg(nw.len().alias("__rows"), *totals))
    if len(result["__rows"]) == 0:
        reasons = "; ".join(
            f"{plural(count, 'row has', 'rows have')} {reason}" for reason, count in left_out.items() if count
        )
        empty = f"every weight {columns.weight!r} is 0" if columns.weight else "it has a header but no rows"
        limit = f"; an outcome is a number below {MAX_OUTCOME:g}" if "no usable outcome" in reasons else ""
        raise InputError(f"{source.name} has no usable row ({reasons or empty}); nothing to audit{limit}")
    rows_are = _rows_are(source.name, columns, values, len(result["__rows"]), counts)
    counted = (table, values.rows if any(left_out.values()) else table, unplaced)
    return replace(_groups(result, source, columns, values, left_out, labels, rows_are), counted=counted)


def _measures(source: Source, columns: Columns, classes: tuple[Any, Any] | None) -> dict[str, Any]:
    """Return narwhals expressions for outcome, weight and sd as floats."""
    import narwhals as nw

    measures: dict[str, Any] = {}
    if columns.outcome is not None:
        column = source.col(columns.outcome)
        measures["outcome"] = ((column == classes[1]) if classes else column).cast(nw.Float64)
    for role in ("weight", "sd"):
        name = getattr(columns, role)
        if name is not None:
            if source.kind(name) not in ("integer", "number"):
                raise InputError(
                    f"{role} {name!r} of {source.name} is {source.kind(name)}{no_number(source, name)}; "
                    "it must be a number"
                )
            measures[role] = source.col(name).cast(nw.Float64)
    if "sd" in measures and "weight" not in measures:
        raise InputError(
            f"sd {columns.sd!r} of {source.name} says how much each row's measurements differ but not how many there "
            "are; name the column of counts with --weight"
        )
    return measures


def _usable(source: Source, columns: Columns, measures: dict[str, Any]) -> tuple[Any, dict[str, int], tuple[int, int]]:
    """Return the rows with every needed value, how many lack which, how many there are and how many lack a level."""
    import narwhals as nw

    present: dict[str, Any] = {}
    for name in [*columns.factors, *([columns.split] if columns.split else [])]:
        present[f"no value of {name!r}"] = source.has_value(name)
    for role, expression in measures.items():
        name = getattr(columns, role)
        condition = ~source.col(name).is_null() & expression.is_finite()
        if role == "outcome":
            condition = condition & (expression.abs() < MAX_OUTCOME)
        if role == "weight":
            condition = condition & (expression >= 0) & (expression < MAX_OUTCOME)
        if role == "sd":
            condition = condition & (expression >= 0)
        present[f"no usable {role} {name!r}"] = condition
    frame: Any = source.frame
    lacking = [(~c).cast(nw.Int64).sum().alias(f"n{i}") for i, c in enumerate(present.values())]
    counts = source.fetch(frame.select(nw.len().alias("rows"), *lacking))
    rows, unplaced, left_out = count_of(counts["rows"][0]), 0, {}
    for index, (reason, condition) in enumerate(present.items()):
        left_out[reason] = count_of(counts[f"n{index}"][0])
        if left_out[reason]:
            frame = frame.filter(condition)
        if index == len(columns.factors) - 1 and any(left_out.values()):
            unplaced = rows - source.count_rows(frame)
    if "weight" in measures:
        frame = frame.filter(measures["weight"] > 0)  # a count of none is no measurement, and nothing is missing
    return frame, left_out, (rows, unplaced)


def _values(source: Source, frame: Any, measures: dict[str, Any]) -> _Values:
    """Look at outcome and weight over usable rows. Sums of squares are taken about the mean, so that none cancels."""
    import narwhals as nw

    outcome, weight = measures.get("outcome"), measures.get("weight")
    looks = {"rows": nw.len()}
    if outcome is not None:
        looks |= {"mean": outcome.mean(), "low": outcome.min(), "high": outcome.max(), "distinct": outcome.n_unique()}
    if weight is not None:
        looks["broken"] = (weight.round(0) != weight).cast(nw.Int64).sum()
    expressions = [expression.alias(name) for name, expression in looks.items()]
    summary = {name: value[0] for name, value in source.fetch(frame.select(*expressions)).items()}
    if not count_of(summary["rows"]):
        return _Values()
    ends = (float(summary["low"]), float(summary["high"])) if outcome is not None else (0.0, 0.0)
    return _Values(
        float(summary.get("mean", 0.0)),
        ends,
        count_of(summary.get("distinct", 0)),
        count_of(summary["rows"]),
        count_of(summary.get("broken", 0)),
    )


def _rows_are(source: str, columns: Columns, values: _Values, cells: int, counts: bool | None) -> RowsAre:
    """Say whether a row with weight n is n equal measurements or the mean of n."""
    if columns.weight is None:
        return RowsAre.MEASUREMENTS
    name = f"weight {columns.weight!r} of {source}"
    if counts and columns.sd:
        raise InputError(f"{name}: rows with an sd ({columns.sd!r}) are means, not counts; leave out --sd or --counts")
    if counts and values.broken:
        raise InputError(f"{name} has values that are not whole ({values.broken:,} rows), so rows are not counts")
    if counts is None:
        # Counts list each cell once per outcome; a cell's mean stands in one row and hardly ever twice in a table.
        repeated = values.rows >= 2 * max(cells, values.distinct) and values.distinct <= MAX_COUNTED_VALUES
        counts = not columns.sd and not values.broken and (values.distinct <= 2 or repeated)
    return RowsAre.COUNTS if counts else RowsAre.MEANS


def _summands(columns: Columns, measures: dict[str, Any], centre: float) -> dict[str, Any]:
    """Return the columns whose sums over a group give its weight, mean, and sum of squares."""
    weight = measures.get("weight")
    summands: dict[str, Any] = {} if weight is None else {"__total": weight}
    if columns.outcome:
        shifted = measures["outcome"] - centre
        summands["__first"] = shifted if weight is None else weight * shifted
        summands["__second"] = shifted * shifted if weight is None else weight * shifted * shifted
    if columns.sd:
        squared = measures["sd"] * measures["sd"]
        summands["__within"] = squared if weight is None else (weight - 1.0) * squared
    return summands


def _groups(
    result: dict[str, npt.NDArray[Any]],
    source: Source,
    columns: Columns,
    values: _Values,
    left_out: dict[str, int],
    labels: tuple[str, str] | None,
    rows_are: RowsAre,
) -> Groups:
    rows = result["__rows"].astype(np.int64)
    weight = result["__total"].astype(float) if columns.weight else rows.astype(float)
    if rows_are is RowsAre.COUNTS:
        rows = np.rint(weight).astype(np.int64)  # a row with count n is n rows, written short
    mean: FloatArray | None = None
    spread: FloatArray = np.zeros(len(rows))
    freedom: FloatArray = np.zeros(len(rows))
    if columns.outcome:
        first, second = result["__first"].astype(float), result["__second"].astype(float)
        mean = np.asarray(values.centre + first / weight, dtype=np.float64)
        spread = np.asarray(np.maximum(second - first**2 / weight, 0.0), dtype=np.float64)
        freedom = rows.astype(np.float64) - 1.0
    if columns.sd:
        # A row that is itself an aggregate of `weight` measurements brings weight-1 degrees of freedom of its own.
        spread = spread + result["__within"].astype(np.float64)
        freedom = freedom + np.maximum(weight - rows, 0.0)
    levels = [result[source.keys[name]] for name in columns.factors]
    split = result[source.keys[columns.split]] if columns.split else None
    # Means of two-valued measurements have more values than two; two means say nothing about what they average.
    two = None if rows_are is RowsAre.MEANS else two_values(values.ends, values.distinct, int(rows.sum()))
    if two is not None and mean is not None:
        mean = np.clip(mean, *two)  # sums about the centre can leave a mean of equal values off by a rounding
    return Groups(levels, split, rows, weight, mean, spread, freedom, left_out, labels, two, rows_are)


def joined(first: Groups, second: Groups) -> Groups:
    """Return the groups of two tables with the same columns; a two-valued outcome stays one if the second's fits it."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("rows", "weight", "spread", "freedom", *(["mean"] if first.mean is not None else []))
    }
    fits = first.two_values is not None and _has_only(second, first.two_values)
    return replace(
        first,
        levels=[np.concatenate(pair) for pair in zip(first.levels, second.levels, strict=True)],
        split=None,
        left_out=dict(Counter(first.left_out) + Counter(second.left_out)),
        two_values=first.two_values if fits else None,
        counted=tuple(map(sum, zip(first.counted, second.counted, strict=True))),
        **arrays,
    )


def _has_only(groups: Groups, ends: tuple[float, float]) -> bool:
    """Say whether every measurement was one of two values: then mean and sum of squares of a group tell each other."""
    if groups.mean is None:
        return False
    low, high = ends
    expected = groups.weight * (groups.mean - low) * (high - groups.mean)
    return bool(np.allclose(groups.spread, expected, rtol=1e-6, atol=1e-9 * (high - low) ** 2))


def two_values(ends: tuple[float, float], distinct: int, measurements: int) -> tuple[float, float] | None:
    """Return the ``ends`` of an outcome if it is two-valued: 0 and 1, or two numbers that come again and again."""
    return ends if distinct == 2 and (ends == (0.0, 1.0) or measurements >= MIN_TWO_VALUED_ROWS) else None


_TRAIN_WORDS = {"train", "training", "trn", "tr", "fit", "seen"}
_NO_WORDS, _YES_WORDS = {"0", "0.0", "false", "f", "no", "n"}, {"1", "1.0", "true", "t", "yes", "y"}


def training_rows(split: npt.NDArray[Any], column: str, value: str | None) -> npt.NDArray[np.bool_]:
    """Say which groups are training: those whose split is ``value``, or the value that says so by its name."""
    texts = np.array([level_text(entry) for entry in split.tolist()])
    values: Sequence[str] = sorted(set(texts.tolist()))
    if value is None:
        # A 1 means training only in a column of yes and no; among fold numbers it is a fold.
        is_flag = {text.casefold() for text in values} <= _NO_WORDS | _YES_WORDS
        words = _TRAIN_WORDS | _YES_WORDS if is_flag else _TRAIN_WORDS
        named = [text for text in values if text.casefold() in words]
        if len(named) != 1:
            raise InputError(
                f"split column {column!r} has the values {listing(values)}; say which one is training: "
                f"{column}={values[0]}, for instance"
            )
        value = named[0]
    if value not in values:
        raise InputError(f"split column {column!r} has no value {value!r};{near_miss(value, values, 'Values:')}")
    chosen: npt.NDArray[np.bool_] = texts == value
    return chosen
