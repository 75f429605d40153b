"""Which columns of a table are factors, and which look like its outcome, counts or split: guesses with reasons."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recombine.errors import InputError
from recombine.sheets.notes import UNNAMED_FACTOR
from recombine.sheets.rules import role_rules
from recombine.tables.columns import Profile, profile
from recombine.tables.frames import Source
from recombine.tables.numbers import is_nothing, kind_of_texts, level_text
from recombine.tables.roles import GuessedColumn, guess_roles
from recombine.writing import listing

#: Rows of the first look, and values in all: a wide table is looked at by fewer rows.
SAMPLED_ROWS, SAMPLED_VALUES = 10_000, 2_000_000
MAX_GUESSED_FACTORS = int(role_rules().limits["factors"])
#: Columns whose every row is looked at together, the first time; then twice as many.
FIRST_BATCH = 2 * MAX_GUESSED_FACTORS


@dataclass(frozen=True)
class Proposal:
    """Whether a column is proposed as a factor, and why; ``role`` is what else it looks like.

    Where the outcome is not clear, no column has that role; each that may be it, or may be it too, is a ``candidate``.
    """

    column: str
    taken: bool
    reason: str
    role: str = ""
    candidate: bool = False


@dataclass(frozen=True, eq=False)
class _Sample:
    """The first rows of a table, None where a value is missing, and how many there are in all."""

    rows: int
    values: dict[str, list[Any]]
    whole: bool

    def profile(self, column: str, kind: str) -> Profile:
        values = self.values[column]
        return Profile(column, kind, len(set(values) - {None}), values.count(None))

    def pairs(self, first: str, second: str) -> int:
        """Count distinct pairs of values that two columns have in rows with both."""
        both = zip(self.values[first], self.values[second], strict=True)
        return len({(a, b) for a, b in both if a is not None and b is not None})


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
    taken = [Proposal(column, False, f"is the {role}", role) for column, role in roles.items()]
    if (told := _told_by_layout(source, roles)) is not None:
        return taken + told
    sample = _sample(source, free)
    profiles = {name: sample.profile(name, _kind(source, name, sample.values[name])) for name in free}
    guessed = guess_roles(profiles.values(), sample.values, len(next(iter(sample.values.values()), ())))
    judged = {name: _judge(item, sample) for name, item in profiles.items()}
    for role, column in guessed.columns.items():
        if role not in roles.values():
            many = role == "outcome" and guessed.candidates
            among = f" (rather than {listing(guessed.candidates, 4)})" if many else ""
            option = _option(role, profiles[column], sample)
            judged[column] = Proposal(column, False, f"looks like the {role}{among}: name it with {option}", role)
    ranked = [profiles[name] for name, proposal in judged.items() if proposal.taken]
    # Labels are likelier factors than numbers; among equals the table's own order decides.
    ranked.sort(key=lambda item: item.kind not in ("text", "flag"))
    judged |= _chosen(source, sample, ranked, tuple(roles))
    for column in guessed.candidates if "outcome" not in roles.values() else ():
        option = _option("outcome", profiles[column], sample)
        maybe = "" if "outcome" in guessed.columns else f"; it may be the outcome ({option})"
        judged[column] = replace(judged[column], reason=f"{judged[column].reason}{maybe}", candidate=True)
    return [*taken, *judged.values()]


def _option(role: str, item: Profile, sample: _Sample) -> str:
    """Return the option that gives a column a role; of more than two classes one has to be named."""
    column = item.column
    if role == "outcome" and item.kind == "text" and item.distinct > 2:
        column += "=" + min(level_text(value) for value in sample.values[column] if value is not None)
    return shlex.join([f"--{role}", column])


def _told_by_layout(source: Source, roles: Mapping[str, str]) -> list[Proposal] | None:
    """Propose what the layout of a sheet tells: labels and the name of columns that were levels, and their numbers."""
    file = source.reader.file
    for note in source.reader.notes if "outcome" not in roles.values() else ():
        if note.kind == "looks_wide" and note.column == UNNAMED_FACTOR:
            raise InputError(
                f"columns {listing(note.values, 4)} of {source.name} may be levels of one factor or different "
                f"measurements; say --wide {UNNAMED_FACTOR}=value, or which is the outcome: --outcome {note.values[0]}"
            )
    if file is None or not file.factors or set(roles) & set(file.factors):
        return None
    likely = {file.outcome: "outcome"} if "outcome" not in roles.values() else {}
    told = {note.column: "numbers repeated measurements" for note in file.notes if note.kind == "repeats"}
    return [
        Proposal(column, column in file.factors, told.get(column, "the layout tells"), likely.get(column, ""))
        for column in source.columns
        if column not in roles
    ]


def _sample(source: Source, columns: Sequence[str]) -> _Sample:
    subset = source.only(columns or source.columns[:1])
    max_rows = max(100, min(SAMPLED_ROWS, SAMPLED_VALUES // max(len(columns), 1)))
    columns_read = subset.fetch(subset.frame.head(max_rows))
    read = {name: columns_read[subset.keys[name]].tolist() for name in columns}
    values = {name: [None if is_nothing(value) else value for value in column] for name, column in read.items()}
    count = len(next(iter(columns_read.values())))
    if count == 0:
        raise InputError(f"{source.name} has a header but no rows; add data")
    if count < max_rows:
        return _Sample(count, values, whole=True)
    column = subset.only(subset.columns[:1])
    rows = column.count_rows(column.frame)
    return _Sample(rows, values, whole=rows <= max_rows)


def _kind(source: Source, column: str, values: list[Any]) -> str:
    """Of a text file the kind of the first values; they suffice to leave a column out."""
    if source.reader.typed:
        return source.kind(column)
    return kind_of_texts({value for value in values if value is not None})


def _judge(item: Profile, sample: _Sample, complete: bool = False) -> Proposal:
    """Judge a column by its profile; where that is of the first rows only, the rest may still decide."""
    complete = complete or sample.whole
    more = "" if complete else " or more"
    values = f"{item.kind} with {item.distinct:,}{more} distinct value{'s' if item.distinct != 1 or more else ''}"
    doubt = GuessedColumn(item, sample.values[item.column], sample.rows).doubt
    if not doubt or (doubt == "constant" and not complete):
        return Proposal(item.column, True, values)
    more = f", empty in {item.missing / sample.rows:.0%} of rows" if doubt == "sparse" else ""
    more = f" in {sample.rows:,} rows" if doubt == "identifier" else more
    return Proposal(item.column, False, f"{values}{more}: {role_rules().doubts[doubt]}")


def _chosen(source: Source, sample: _Sample, ranked: Sequence[Profile], taken: Sequence[str]) -> dict[str, Proposal]:
    """Judge the likeliest columns by all their rows until there are enough; the others come after them."""
    accepted: list[Profile] = []
    result: dict[str, Proposal] = {}
    for item in _profiled(source, sample, ranked, taken):
        proposal = _judge(item, sample, complete=True)
        if proposal.taken and len(accepted) == MAX_GUESSED_FACTORS:
            proposal = Proposal(item.column, False, f"{proposal.reason}, but it comes after {len(accepted)} others")
        twin = next((earlier for earlier in accepted if proposal.taken and _told(source, sample, earlier, item)), None)
        if twin is not None:
            verb = "renames" if twin.distinct == item.distinct else "is told by"
            proposal = Proposal(item.column, False, f"{proposal.reason}, but it {verb} {twin.column}")
        if proposal.taken:
            accepted.append(item)
        result[item.column] = proposal
        if len(accepted) == MAX_GUESSED_FACTORS and not sample.whole:
            break
    for item in ranked:
        if item.column not in result:
            reason = f"{_judge(item, sample).reason}, but it comes after {len(accepted)} others"
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


def _told(source: Source, sample: _Sample, earlier: Profile, item: Profile) -> bool:
    """Say whether an earlier column tells a column that renames it, or codes one of its levels (educ and educ1)."""
    codes_level = item.distinct < earlier.distinct and item.column.startswith(earlier.column)
    if earlier.distinct != item.distinct and not codes_level:
        return False
    if sample.pairs(earlier.column, item.column) > sample.profile(earlier.column, earlier.kind).distinct:
        return False
    subset = source.only([earlier.column, item.column])
    return sample.whole or subset.count_rows(subset.frame.drop_nulls().unique()) == earlier.distinct
