"""From a table to the parts of a design, as its spec says: columns, groups, levels, scales, cells that can exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from recombine.table_spec import TableSpec
from recombine.tables.columns import check_factor, factor_profile
from recombine.tables.frames import Source, open_table
from recombine.tables.grouping import Columns, group, training_rows
from recombine.tables.guesses import Proposal, propose_factors
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.design.space import FactorSpace
    from recombine.tables.level_features import LevelFeatures


@dataclass(frozen=True)
class Reading:
    """What a table is called, what was noticed while it was read, why columns are factors, what describes levels."""

    source: str = "the table"
    notes: tuple[TableNote, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    level_features: Mapping[str, LevelFeatures] = field(default_factory=dict)  #: Descriptors of levels, by factor.


def read_table(
    data: object, spec: TableSpec, held_out: object
) -> tuple[FactorSpace, Observed, OutcomeColumn, Reading, TableSpec]:
    """Return the parts of the design of a table that is read as its spec says; see `Design.from_frame`."""
    source = open_table(data, spec)
    split_column, split_value = naming.split_parts(spec.split, source)
    outcome, chosen = naming.outcome_parts(spec.outcome, source)
    if spec.classes and outcome is not None and chosen is None:
        raise InputError(
            f"outcome {outcome!r} holds classes, and effects are read of one at a time; name it: {outcome}=class"
        )
    if spec.counts is not None and spec.weight is None:
        raise InputError("counts or means of how many measurements? Name the column of counts with --weight")
    roles = {"outcome": outcome, "weight": spec.weight, "sd": spec.sd, "split": split_column}
    taken = naming.taken_columns(source, roles)
    kinds = {"sequence": spec.sequence, "set": spec.sets}
    apart = naming.apart_columns(source, kinds, taken, spec.separator, spec.control)
    curved = scales_asked(spec.ordered, spec.numeric, tuple(source.columns))
    names, proposals = _factors(source, spec, taken, apart, curved)
    naming.check_insisted(source, spec.as_levels, names)
    columns = Columns((*names, *apart), outcome, spec.weight, spec.sd, split_column, chosen)
    tell("rows to cells", 0.3)
    groups = group(source, columns, spec.counts)
    train = np.ones(len(groups.rows), dtype=bool)
    if groups.split is not None:
        train = training_rows(groups.split, str(split_column), split_value)
    title = source.name
    if held_out is not None:
        tested = open_table(held_out, spec)
        groups, train = with_held_out(groups, source, tested, columns)
        title = f"{tested.name} (training rows: {source.name})" if tested.name != source.name else title
    tell("levels of the factors", 0.7)
    factors = take_apart(source, apart, groups.levels[len(names) :], len(names), spec.separator, spec.control)
    space, observed = coded_groups(groups, names, train, spec.symmetric, title, factors, spec.merge_alike)
    space = put_on_scales(space, curved, source)
    for factor in space.factors[: len(names)]:
        insisted = factor.name in spec.as_levels or factor.on_scale
        check_factor(factor_profile(source, factor.name, factor.levels), source.name, insisted)
    features = _features(spec, space)
    notes = (*reading_notes(groups.left_out, proposals, space.parts), *level_doubts(source, space))
    reading = Reading(title, (*notes, *feature_notes(features, space)), tuple(proposals), features)
    space = restrict(space, observed.cells, observed.rows, spec)
    column = OutcomeColumn(outcome if chosen is None else f"{outcome}={chosen}", groups.labels, groups.two_values)
    return space, observed, column, reading, _with_data(spec, data, source)


def _features(spec: TableSpec, space: FactorSpace) -> dict[str, LevelFeatures]:
    """Read descriptors of levels by factor, of those that are labels and no parts of a sequence or set."""
    tables: dict[str, LevelFeatures] = {}
    if not spec.features:
        return tables
    from recombine.tables.level_features import read_features

    for name, data in spec.features.items():
        factor = next((factor for factor in space.factors if factor.name == name), None)
        if factor is None:
            names = f"Factors: {listing(space.names)}"
            raise InputError(f"features are of {name!r}, which is no factor;{near_miss(name, space.names, names)}")
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
        proposals = propose_factors(source, taken | dict.fromkeys(curved, "factor"))
        factors = naming.guessed_names(proposals, source.name, len(curved))
    more = (name for name in curved if name not in factors)  # named as ordered or numeric only
    return naming.factor_names(source, (*factors, *more), taken | apart), proposals


def _with_data(spec: TableSpec, data: object, source: Source) -> TableSpec:
    """Return the spec with a column of importances as (table, column), so that it can be read later."""
    if isinstance(spec.importance, str) and spec.importance in source.columns:
        return msgspec.structs.replace(spec, importance=(data, spec.importance))
    return spec
