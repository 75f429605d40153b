"""Which columns of a table are factors, and which look like its outcome, counts or split: guesses with reasons."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recombine.errors import InputError
from recombine.tables.columns import Profile, profile
from recombine.tables.frames import Source, count_of
from recombine.tables.numbers import is_nothing, kind_of_texts
from recombine.tables.role_words import likely_roles

#: A number with more values than this is left out of a proposal.
MAX_GUESSED_NUMBERS = 20
MAX_GUESSED_LEVELS = 5_000
MAX_GUESSED_FACTORS = 6
#: Rows of the first look, and values in all: a wide table is looked at by fewer rows.
SAMPLED_ROWS, SAMPLED_VALUES = 10_000, 2_000_000
#: Columns whose every row is looked at together, the first time; then twice as many.
FIRST_BATCH = 2 * MAX_GUESSED_FACTORS


@dataclass(frozen=True)
class Proposal:
    """Whether a column is proposed as a factor, and why; ``role`` is what else it looks like."""

    column: str
    taken: bool
    reason: str
    role: str = ""


@dataclass(frozen=True, eq=False)
class _Sample:
    """The first rows of a table, and how many there are in all."""

    rows: int
    values: dict[str, list[Any]]
    whole: bool

    def profile(self, column: str, kind: str) -> Profile:
        there = [value for value in self.values[column] if not is_nothing(value)]
        return Profile(column, kind, len(set(there)), len(self.values[column]) - len(there))

    def pairs(self, first: str, second: str) -> int:
        """Count distinct pairs of values that two columns have in rows with both."""
        both = zip(self.values[first], self.values[second], strict=True)
        return len({(a, b) for a, b in both if not is_nothing(a) and not is_nothing(b)})


def propose_factors(source: Source, roles: Mapping[str, str]) -> list[Proposal]:
    """Propose factor columns: few distinct values, neither used as something else nor looking like it.

    ``roles`` are the columns that are taken already (as outcome, weight, ...).

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
    free = [column for column in source.columns if column not in roles]
    if (told := _told_by_layout(source, roles)) is not None:
        return told
    sample = _sample(source, free)
    profiles = {name: sample.profile(name, _kind(source, name, sample.values[name])) for name in free}
    likely = likely_roles(profiles.values(), sample.values, sample.rows)
    roles_found = {name: role for role, name in likely.items() if role not in roles.values()}
    judged = {name: _judge(item, sample.rows, sample.whole) for name, item in profiles.items()}
    for column, role in roles_found.items():
        reason = f"looks like the {role}: name it with {shlex.join([f'--{role}', column])}"
        judged[column] = Proposal(column, False, reason, role)
    ranked = [profiles[name] for name, proposal in judged.items() if proposal.taken]
    # Labels are likelier factors than numbers; among equals the table's own order decides.
    ranked.sort(key=lambda item: item.kind not in ("text", "flag"))
    judged |= _chosen(source, sample, ranked, tuple(roles))
    return [*(Proposal(column, False, f"is the {role}", role) for column, role in roles.items()), *judged.values()]


def _told_by_layout(source: Source, roles: Mapping[str, str]) -> list[Proposal] | None:
    """Propose what the layout of a sheet tells: labels and the name of columns that were levels, and their numbers."""
    file = getattr(source.reader, "file", None)
    if file is None or not file.factors or set(roles) & set(file.factors):
        return None
    likely = {file.outcome: "outcome"} if "outcome" not in roles.values() else {}
    return [
        *(Proposal(column, False, f"is the {role}", role) for column, role in roles.items()),
        *(
            Proposal(column, column in file.factors, "the layout of the table tells", likely.get(column, ""))
            for column in source.columns
            if column not in roles
        ),
    ]


def _sample(source: Source, columns: Sequence[str]) -> _Sample:
    import narwhals as nw

    subset = source.only(columns or source.columns[:1])
    max_rows = max(100, min(SAMPLED_ROWS, SAMPLED_VALUES // max(len(columns), 1)))
    columns_read = subset.fetch(subset.frame.head(max_rows))
    values = {name: columns_read[subset.keys[name]].tolist() for name in columns}
    count = len(next(iter(columns_read.values())))
    if count == 0:
        raise InputError(f"{source.name} has a header but no rows; add data")
    if count < max_rows:
        return _Sample(count, values, whole=True)
    column = subset.only(subset.columns[:1])
    rows = count_of(column.fetch(column.frame.select(nw.len().alias("rows")))["rows"][0])
    return _Sample(rows, values, whole=rows <= max_rows)


def _kind(source: Source, column: str, values: list[Any]) -> str:
    """Of a text file the kind of the first values; they suffice to leave a column out."""
    if source.reader.typed:
        return source.kind(column)
    return kind_of_texts({value for value in values if value is not None})


def _judge(item: Profile, rows: int, complete: bool) -> Proposal:
    """Judge a column by its profile; where that is of the first rows only, the rest may still decide."""
    more = "" if complete else " or more"
    values = f"{item.kind} with {item.distinct:,}{more} distinct value{'s' if item.distinct != 1 or more else ''}"
    if item.distinct < 2 and complete:
        return Proposal(item.column, False, f"{values}: nothing to recombine")
    if item.kind in ("integer", "number") and item.distinct > MAX_GUESSED_NUMBERS:
        return Proposal(item.column, False, f"{values}: looks like a measurement")
    if item.kind in ("date", "other"):
        return Proposal(item.column, False, f"{values}: not a label")
    if item.distinct > min(max(2, rows / 2), max(1_000, rows / 10), MAX_GUESSED_LEVELS):
        return Proposal(item.column, False, f"{values} in {rows:,} rows: looks like an identifier or a measurement")
    return Proposal(item.column, True, values)


def _chosen(source: Source, sample: _Sample, ranked: Sequence[Profile], taken: Sequence[str]) -> dict[str, Proposal]:
    """Judge the likeliest columns by all their rows until there are enough; the others come after them."""
    accepted: list[Profile] = []
    result: dict[str, Proposal] = {}
    for item in _profiled(source, sample, ranked, taken):
        proposal = _judge(item, sample.rows, complete=True)
        if proposal.taken and len(accepted) == MAX_GUESSED_FACTORS:
            proposal = Proposal(item.column, False, f"{proposal.reason}, but it comes after {len(accepted)} others")
        twin = next(
            (earlier for earlier in accepted if proposal.taken and _renames(source, sample, earlier, item)), None
        )
        if twin is not None:
            proposal = Proposal(item.column, False, f"{proposal.reason}, but it renames {twin.column}")
        if proposal.taken:
            accepted.append(item)
        result[item.column] = proposal
        if len(accepted) == MAX_GUESSED_FACTORS and not sample.whole:
            break
    for item in ranked:
        if item.column not in result:
            reason = f"{_judge(item, sample.rows, sample.whole).reason}, but it comes after {len(accepted)} others"
            result[item.column] = Proposal(item.column, False, reason)
    return result


def _profiled(source: Source, sample: _Sample, ranked: Sequence[Profile], taken: Sequence[str]) -> Iterator[Profile]:
    if sample.whole:
        yield from ranked
        return
    start, size = 0, FIRST_BATCH
    while start < len(ranked):
        names = [item.column for item in ranked[start : start + size]]
        source.kept([*names, *taken])  # what is parsed now serves the audit too
        yield from profile(source, names)[1]
        start, size = start + size, 2 * size


def _renames(source: Source, sample: _Sample, earlier: Profile, item: Profile) -> bool:
    """Say whether a column is a one-to-one renaming of an earlier one (carrier code and carrier name)."""
    if earlier.distinct != item.distinct:
        return False
    distinct = {profile.column: sample.profile(profile.column, profile.kind).distinct for profile in (earlier, item)}
    if sample.pairs(earlier.column, item.column) > min(distinct.values()):
        return False
    return sample.whole or _distinct_pairs(source, earlier.column, item.column) == item.distinct


def _distinct_pairs(source: Source, first: str, second: str) -> int:
    import narwhals as nw

    subset = source.only([first, second])
    return count_of(subset.fetch(subset.frame.drop_nulls().unique().select(nw.len().alias("pairs")))["pairs"][0])
