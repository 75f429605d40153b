"""Which columns of a table are factors: a profile of each column and a proposal with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recombine.errors import InputError, plural
from recombine.tables.frames import Source, count_of, fetch

#: A numeric column with more distinct values than this is a measurement, not a label, unless the user insists.
MOST_NUMERIC_LEVELS = 1_000
#: The guess is more careful: a number with more values than this is left out of a proposal.
MOST_GUESSED_NUMBERS = 20
MOST_GUESSED_LEVELS = 5_000
MOST_GUESSED_FACTORS = 6


@dataclass(frozen=True)
class Profile:
    """What is known of one column before it is used: its kind, distinct values and missing values."""

    column: str
    kind: str
    distinct: int
    missing: int


@dataclass(frozen=True)
class Proposal:
    """Whether a column is proposed as a factor, and why."""

    column: str
    taken: bool
    reason: str


def profile(source: Source, columns: Iterable[str]) -> tuple[int, list[Profile]]:
    """Return the number of rows and a profile of each column, from one query in the table's own engine."""
    import narwhals as nw

    names = list(columns)
    queries: list[Any] = [nw.len().alias("rows")]
    for index, name in enumerate(names):
        queries.append(nw.col(name).n_unique().alias(f"distinct_{index}"))
        queries.append(nw.col(name).is_null().cast(nw.Int64).sum().alias(f"missing_{index}"))
    result = fetch(source.frame.select(*queries))
    rows = count_of(result["rows"][0])
    if rows == 0:
        raise InputError(f"{source.name} has a header but no rows; add data")
    profiles = []
    for index, name in enumerate(names):
        missing = count_of(result[f"missing_{index}"][0])
        distinct = count_of(result[f"distinct_{index}"][0]) - (missing > 0)
        profiles.append(Profile(name, source.kinds[name], distinct, missing))
    return rows, profiles


def propose_factors(source: Source, roles: Mapping[str, str]) -> list[Proposal]:
    """Propose factor columns: few distinct values, not already used as something else.

    Parameters
    ----------
    source : Source
    roles : mapping of column to role
        Columns that are taken already (outcome, weight, ...).

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.tables import open_table
    >>> frame = pd.DataFrame({"colour": list("rgbrgb"), "shape": list("oxoxox"), "mass": [0.1, 2.0, 3.5, 4.1, 5, 6]})
    >>> for proposal in propose_factors(open_table(frame), {"mass": "outcome"}):
    ...     print(proposal.column, proposal.taken, proposal.reason)
    mass False is the outcome
    colour True text with 3 distinct values
    shape True text with 2 distinct values
    """
    proposals = [Proposal(column, False, f"is the {role}") for column, role in roles.items()]
    rows, profiles = profile(source, [column for column in source.kinds if column not in roles])
    judged = [_judge(item, rows) for item in profiles]
    taken = [item for item, proposal in zip(profiles, judged, strict=True) if proposal.taken]
    # Labels are likelier factors than numbers; among equals the table's own order decides.
    ranked = sorted(taken, key=lambda item: item.kind not in ("text", "flag"))
    kept = {item.column for item in _drop_renamings(source, ranked)[:MOST_GUESSED_FACTORS]}
    for proposal in judged:
        if proposal.taken and proposal.column not in kept:
            reason = f"{proposal.reason}, but it renames another factor or comes after {MOST_GUESSED_FACTORS} others"
            proposal = Proposal(proposal.column, False, reason)
        proposals.append(proposal)
    return proposals


def _judge(item: Profile, rows: int) -> Proposal:
    values = f"{item.kind} with {plural(item.distinct, 'distinct value')}"
    if item.distinct < 2:
        return Proposal(item.column, False, f"{values}: nothing to recombine")
    if item.kind in ("integer", "number") and item.distinct > MOST_GUESSED_NUMBERS:
        return Proposal(item.column, False, f"{values}: looks like a measurement")
    if item.kind in ("date", "other"):
        return Proposal(item.column, False, f"{values}: not a label")
    if item.distinct > min(max(2, rows / 2), max(1_000, rows / 10), MOST_GUESSED_LEVELS):
        return Proposal(item.column, False, f"{values} in {rows:,} rows: looks like an identifier or a measurement")
    return Proposal(item.column, True, values)


def _drop_renamings(source: Source, items: list[Profile]) -> list[Profile]:
    """Drop a column that is a one-to-one renaming of an earlier one (carrier code and carrier name)."""
    kept: list[Profile] = []
    for item in items:
        twins = [other for other in kept if other.distinct == item.distinct]
        if not any(_distinct_pairs(source, other.column, item.column) == item.distinct for other in twins):
            kept.append(item)
    return kept


def _distinct_pairs(source: Source, first: str, second: str) -> int:
    import narwhals as nw

    frame: Any = source.frame
    pairs = frame.select(first, second).drop_nulls().unique()
    return int(fetch(pairs.select(nw.len().alias("pairs")))["pairs"][0])


def check_factor(item: Profile, name: str, insisted: bool) -> None:
    """Raise if a column the user named cannot serve as a factor."""
    if item.distinct == 0:
        raise InputError(f"factor {item.column!r} of {name} has no values in any row; leave it out")
    if item.kind in ("integer", "number") and item.distinct > MOST_NUMERIC_LEVELS and not insisted:
        raise InputError(
            f"factor {item.column!r} of {name} is numeric with {item.distinct:,} distinct values: it looks like "
            f"a measurement; bin it first, or say it is a label with --as-levels {item.column} (in Python: as_levels)"
        )
