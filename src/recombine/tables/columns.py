"""What is known of a column before it is used: its kind, its distinct and its missing values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recombine.errors import InputError
from recombine.tables.frames import Source, count_of
from recombine.tables.numbers import kind_of_texts

#: A numeric column with more distinct values than this is a measurement, not a label, unless the user insists.
MOST_NUMERIC_LEVELS = 1_000


@dataclass(frozen=True)
class Profile:
    """What is known of one column before it is used: its kind, distinct values and missing values."""

    column: str
    kind: str
    distinct: int
    missing: int


def profile(source: Source, columns: Iterable[str]) -> tuple[int, list[Profile]]:
    """Return the number of rows and a profile of each column, from one query in the table's own engine."""
    import narwhals as nw

    names = tuple(columns)
    part = source.kept(names or source.columns[:1])
    queries: list[Any] = [nw.len().alias("rows")]
    for name, key in part.keys.items():
        queries.append(part.col(name).n_unique().alias(f"distinct_{key}"))
        queries.append(part.col(name).is_null().cast(nw.Int64).sum().alias(f"missing_{key}"))
    result = part.fetch(part.frame.select(*queries))
    rows = count_of(result["rows"][0])
    if rows == 0:
        raise InputError(f"{source.name} has a header but no rows; add data")
    kinds = part.look(names)
    profiles = []
    for name in names:
        key = part.keys[name]
        missing = count_of(result[f"missing_{key}"][0])
        distinct = count_of(result[f"distinct_{key}"][0]) - (missing > 0)
        profiles.append(Profile(name, kinds[name], distinct, missing))
    return rows, profiles


def check_factor(item: Profile, name: str, insisted: bool) -> None:
    """Raise if a column the user named cannot serve as a factor."""
    if item.distinct == 0:
        raise InputError(f"factor {item.column!r} of {name} has no values in any row; leave it out")
    if item.kind in ("integer", "number") and item.distinct > MOST_NUMERIC_LEVELS and not insisted:
        raise InputError(
            f"factor {item.column!r} of {name} is numeric with {item.distinct:,} distinct values: it looks like "
            f"a measurement; say --numeric {item.column} for a trend, or --as-levels {item.column} if it is a label "
            "(numeric and as_levels in Python)"
        )


def factor_profile(source: Source, column: str, levels: Sequence[Any]) -> Profile:
    """Return the profile of a factor whose levels are known; texts of a file are of the kind that they all write."""
    kind = source.kind(column) if source.reader.typed else kind_of_texts(levels)
    return Profile(column, kind, len(levels), 0)
