"""Which columns a call names, and for what: checked against the table before any row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recombine.errors import InputError
from recombine.tables.frames import Source
from recombine.tables.guesses import Proposal
from recombine.writing import listing

#: What is said for an outcome where there is to be none, not even a guess.
NO_OUTCOME = "none"
#: So many columns of numbers may be one factor, written wide.
MIN_WIDE_COLUMNS = 3


def guessed_names(proposals: list[Proposal], source: Source, more: int = 0) -> list[str]:
    """Return the columns proposed as factors, or say why there are too few even with ``more`` that were named."""
    taken = [proposal.column for proposal in proposals if proposal.taken]
    if len(taken) + more < 2:
        numbers = [proposal for proposal in proposals if proposal.reason.startswith(("number", "integer"))]
        wide = ". If columns of numbers are levels of one factor, say --wide FACTOR=OUTCOME"
        raise InputError(
            f"{source.name} has fewer than two columns that look like factors ({listing(taken) or 'none'}); name them "
            f"with --factors, of {listing([proposal.column for proposal in proposals], 6)}"
            f"{source.other_sheets or wide * (len(numbers) >= MIN_WIDE_COLUMNS)}"
        )
    return taken


def split_parts(split: str | None, source: Source) -> tuple[str | None, str | None]:
    """Take ``column=value`` apart; a column may have an equals sign in its name."""
    if split is None or split in source.columns:
        return split, None
    column, equals, value = split.partition("=")
    if equals and not value:
        raise InputError(f"split {split!r} names no value; say which one is training, {column}=train for instance")
    return column, value or None


def outcome_parts(outcome: str | None, source: Source) -> tuple[str | None, str | None]:
    """Take ``column=class`` apart: the chance of one class; a column may have an equals sign in its name.

    ``none`` is no outcome, unless a column is so called.
    """
    if outcome is None or outcome in source.columns:
        return outcome, None
    if outcome == NO_OUTCOME:
        return None, None
    column, equals, value = outcome.partition("=")
    if not equals or column not in source.columns:
        return outcome, None
    if not value:
        raise InputError(f"outcome {outcome!r} names no class; say which one counts, {column}=yes for instance")
    return column, value


def taken_columns(source: Source, roles: Mapping[str, str | None]) -> dict[str, str]:
    """Return which column has which role, or raise if one has two or the table lacks it."""
    taken: dict[str, str] = {}
    for role, column in roles.items():
        if column is not None and taken.setdefault(source.require(column, role), role) != role:
            raise InputError(f"column {column!r} is both the {taken[column]} and the {role}; give it one part")
    return taken


def factor_names(source: Source, factors: Sequence[str], taken: Mapping[str, str]) -> tuple[str, ...]:
    """Return the factor columns as a tuple, or raise if the table lacks one or it has another role."""
    names = [source.require(name, "factor") for name in factors]
    if len(names) < 2 and not {"sequence", "set"} & set(taken.values()):
        raise InputError(f"{listing(names) or 'no factor'} is too little to recombine; name at least two factors")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"factor {name!r} is named twice; name each factor once")
        if name in taken:
            raise InputError(f"column {name!r} is both a factor and the {taken[name]}; give it one part")
    return tuple(names)


def check_insisted(source: Source, as_levels: Sequence[str], names: Sequence[str]) -> None:
    """Raise if a column that is said to be a label is none of the factors."""
    for name in as_levels:
        if source.require(name, "--as-levels column") not in names:
            raise InputError(
                f"--as-levels {name!r} is a column of {source.name} but not one of the factors {listing(names)}; "
                "name it in --factors too"
            )


def apart_columns(
    source: Source,
    kinds: Mapping[str, str | None],
    taken: Mapping[str, str],
    separator: str | None,
    control: Sequence[str] | None,
) -> dict[str, str]:
    """Return the columns that are taken apart and into what (sequence or set), or raise if one has another role."""
    columns_apart: dict[str, str] = {}
    for kind, column in kinds.items():
        if column is None:
            continue
        role = (dict(taken) | columns_apart).get(source.require(column, kind))
        if role is not None:
            raise InputError(f"column {column!r} is both the {kind} and the {role}; give it one part")
        columns_apart[column] = kind
    for option, value in (("--separator", separator), ("--control", control)):
        if value is not None and "set" not in columns_apart.values():
            raise InputError(f"{option} says how sets are written; name their column with --set (sets in Python)")
    return columns_apart


def refuse_alike(names: Sequence[str], source: str) -> None:
    """Raise if a position or member has the name of another factor."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two factors of {source} would be called {name!r}; rename a column")
