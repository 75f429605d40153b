"""From a table to the parts of a design, as its spec says: columns, groups, levels, scales, cells that can exist."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from recombine.design import naming
from recombine.design.notes import TableNote, feature_notes, level_doubts, reading_notes
from recombine.design.observed import Observed, OutcomeColumn, coded_groups, with_held_out
from recombine.design.parts import take_apart
from recombine.design.restriction import restrict
from recombine.design.scaling import put_on_scales, scales_asked
from recombine.errors import InputError, near_miss
from recombine.progress import tell
from recombine.table_spec import TableSpec, spec_command
from recombine.tables.columns import check_factor, factor_profile
from recombine.tables.grouping import Columns, Groups, group, training_rows
from recombine.tables.guesses import Proposal, propose_factors
from recombine.tables.trials import open_counted
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.design.space import FactorSpace
    from recombine.sheets.notes import Note
    from recombine.tables.frames import Source
    from recombine.tables.level_features import LevelFeatures


@dataclass(frozen=True)
class Reading:
    """What a table is called, what was noticed while it was read, why columns are factors, what describes levels."""

    source: str = "the table"
    notes: tuple[TableNote, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    rows: tuple[int, ...] = (0, 0)  #: How many the table has, and how many of them are used.
    sheet: tuple[Note, ...] = ()  #: What the reader of the file read otherwise than it was written.
    path: str = ""  #: What names the table in a command; empty of a dataframe.
    level_features: Mapping[str, LevelFeatures] = field(default_factory=dict)  #: Descriptors of levels, by factor.


def read_table(
    data: object, spec: TableSpec, held_out: object
) -> tuple[FactorSpace, Observed, OutcomeColumn, Reading, TableSpec]:
    """Return the parts of the design of a table that is read as its spec says; see `Design.from_frame`."""
    given = spec
    source, spec = open_counted(data, spec)
    split_column, split_value = naming.split_parts(spec.split, source)
    outcome, chosen = _outcome(spec, source)
    roles = {"outcome": outcome, "weight": spec.weight, "sd": spec.sd, "split": split_column}
    taken = naming.taken_columns(source, roles)
    kinds = {"sequence": spec.sequence, "set": spec.sets}
    apart = naming.apart_columns(source, kinds, taken, spec.separator, spec.control)
    curved = scales_asked(spec.ordered, spec.numeric, tuple(source.columns))
    names, proposals = _factors(source, spec, taken, apart, curved)
    naming.check_insisted(source, spec.as_levels, names)
    columns = Columns((*names, *apart), outcome, spec.weight, spec.sd, split_column, chosen)
    tell("rows to cells", 0.3)
    groups, columns = _grouped(source, columns, spec, proposals)
    train = np.ones(len(groups.rows), dtype=bool)
    if groups.split is not None:
        train = training_rows(groups.split, str(split_column), split_value)
    title, path = source.name, _named_in_commands(data)
    if held_out is not None:
        tested, _ = open_counted(held_out, given)
        groups, train = with_held_out(groups, source, tested, columns)
        title = f"{tested.name} (training rows: {source.name})" if tested.name != source.name else title
    _refuse_few_rows(groups, columns, spec, source.name, path)
    tell("levels of the factors", 0.7)
    factors = take_apart(source, apart, groups.levels[len(names) :], len(names), spec.separator, spec.control)
    space, observed = coded_groups(groups, names, train, spec.symmetric, title, factors, spec.merge_alike)
    space = put_on_scales(space, curved, source)
    for factor in space.factors[: len(names)]:
        insisted = factor.name in spec.as_levels or factor.on_scale
        check_factor(factor_profile(source, factor.name, factor.levels), source.name, insisted)
    features = _features(spec, space)
    notes = (*reading_notes(groups.left_out, proposals, space.parts, columns.outcome), *level_doubts(source, space))
    notes = (*notes, *feature_notes(features, space))
    reading = Reading(title, notes, tuple(proposals), groups.counted[:2], source.reader.notes, path, features)
    space = restrict(space, observed.cells, observed.rows, spec)
    name = columns.outcome if chosen is None else f"{outcome}={chosen}"
    column = OutcomeColumn(name, groups.labels, groups.two_values)
    return space, observed, column, reading, _with_data(given, data, source)


def _outcome(spec: TableSpec, source: Source) -> tuple[str | None, str | None]:
    """Return the column of the outcome that was named, and the class of it."""
    outcome, chosen = naming.outcome_parts(spec.outcome, source)
    if spec.classes and outcome is not None and chosen is None:
        raise InputError(
            f"outcome {outcome!r} holds classes, and effects are read of one at a time; name it: {outcome}=class"
        )
    if spec.counts is not None and spec.weight is None:
        raise InputError("counts or means of how many measurements? Name the column of counts with --weight")
    return outcome, chosen


def _features(spec: TableSpec, space: FactorSpace) -> dict[str, LevelFeatures]:
    """Read descriptors of levels by factor, of those that are labels and no parts of a sequence or set."""
    tables: dict[str, LevelFeatures] = {}
    if not spec.features:
        return tables
    from recombine.tables.level_features import read_features

    for name, data in spec.features.items():
        factor = next((factor for factor in space.factors if factor.name == name), None)
        if factor is None:
            near = near_miss(name, space.names, "Factors:")
            raise InputError(f"features are of {name!r}, which is no factor;{near}")
        if factor.on_scale or name in space.taken_apart:
            kind = "on a scale" if factor.on_scale else "taken apart from a column"
            raise InputError(f"features are of {name!r}, which is {kind}; describe levels of factors that are labels")
        tables[name] = read_features(data, name)
        tables[name].shared(factor.levels, name)
    return tables


def _factors(
    source: Source, spec: TableSpec, taken: dict[str, str], apart: dict[str, str], curved: dict[str, Any]
) -> tuple[tuple[str, ...], list[Proposal]]:
    """Return the factor columns, those on scales last, and why they were taken where they are a guess."""
    proposals: list[Proposal] = []
    factors: Sequence[str] | None = () if spec.factors is None and apart else spec.factors
    if factors is None:
        tell("which columns are factors", 0.0)
        proposals = _laid_out(source, taken) or propose_factors(source, taken | dict.fromkeys(curved, "factor"))
        factors = naming.guessed_names(proposals, source, len(curved))
    more = (name for name in curved if name not in factors)  # named as ordered or numeric only
    return naming.factor_names(source, (*factors, *more), taken | apart), proposals


def _laid_out(source: Source, taken: dict[str, str]) -> list[Proposal]:
    """Return the factors and the outcome that the layout of a sheet tells, none where it does not."""
    file = source.reader.file
    factors, outcome = ((), None) if file is None else (file.factors, file.outcome)
    if len(factors) < 2 or {*factors} & {*taken} or ("outcome" in taken.values() and outcome not in taken):
        return []
    why, likely = "as the sheet is laid out", "looks like the outcome, as the sheet is laid out"
    proposals = (Proposal(name, name in factors, why) for name in source.columns if name != outcome)
    return [*proposals, *([Proposal(outcome, False, likely, "outcome")] if outcome in source.columns else [])]


def _grouped(
    source: Source, columns: Columns, spec: TableSpec, proposals: Sequence[Proposal]
) -> tuple[Groups, Columns]:
    """Group the rows; a column that looks like the outcome is it, unless one was named or it cannot be used."""
    likely = next((item.column for item in proposals if item.role == "outcome" and not item.taken), None)
    if likely is None and spec.wide is not None and source.reader.file is not None:  # it names the outcome too
        named = source.reader.file.outcome
        likely = named if named in source.columns and named not in columns.factors else None
    if likely is not None and spec.outcome is None:
        try:
            with_outcome = replace(columns, outcome=likely)
            return group(source, with_outcome, spec.counts), with_outcome
        except InputError:  # what is wrong besides shows without it too
            pass
    try:
        return group(source, columns, spec.counts), columns
    except InputError:
        if columns.split is not None:  # a slip in the split would show only once this is put right
            subset = source.only([columns.split])
            parts = subset.fetch(subset.frame.drop_nulls().unique())["c0"]
            if len(parts):
                training_rows(parts, columns.split, naming.split_parts(spec.split, source)[1])
        raise


def _named_in_commands(data: object) -> str:
    """Return what names a table in a command: its path, or - for a pipe, which the command wrote to a file."""
    if not isinstance(data, str | Path):
        return ""
    piped = Path(data).parent.name.startswith("recombine-") and Path(data).name.startswith("stdin.")
    return "-" if piped else os.fsencode(data).decode("utf-8", "surrogateescape")  # in whatever locale


def _refuse_few_rows(groups: Groups, columns: Columns, spec: TableSpec, name: str, path: str) -> None:
    """Raise where more than half of the rows lack a level, with the columns to leave out."""
    table, _, unplaced = groups.counted
    if spec.allow_missing or 2 * unplaced <= table:
        return
    lacking = {column: groups.left_out.get(f"no value of {column!r}", 0) for column in columns.factors}
    sparse = [column for column, count in lacking.items() if 2 * count > max(lacking.values())]
    others, cure = tuple(column for column in columns.factors if column not in sparse), "fill them in"
    if len(others) > 1 and spec.sequence is None and spec.sets is None:
        named = msgspec.structs.replace(spec, factors=others, outcome=spec.outcome or columns.outcome)
        cure = f"without: {spec_command('audit', path, named) or f'factors={list(others)}'}"
    raise InputError(
        f"{unplaced:,} of {table:,} rows of {name} lack a level of {listing(sparse)}, and the others are under half of "
        f"the table (--allow-missing: go on with them); {cure}"
    )


def _with_data(spec: TableSpec, data: object, source: Source) -> TableSpec:
    """Return the spec with a column of importances as (table, column), so that it can be read later."""
    if isinstance(spec.importance, str) and spec.importance in source.columns:
        return msgspec.structs.replace(spec, importance=(data, spec.importance))
    return spec
