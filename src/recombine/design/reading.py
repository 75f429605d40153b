"""From a table to a design, as its spec says: columns, groups, levels, scales, and the cells that can exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.scales import FactorScale
from recombine.design import naming
from recombine.design.coding import coded_design, with_held_out
from recombine.design.factors import Factor
from recombine.design.notes import level_doubts
from recombine.design.parts import Parts, take_apart, with_levels
from recombine.design.restriction import restrict
from recombine.design.scaling import put_on_scales, scales_asked
from recombine.errors import InputError
from recombine.progress import tell
from recombine.table_spec import TableSpec, plain_spec
from recombine.tables.columns import check_factor, factor_profile
from recombine.tables.frames import Source, open_table
from recombine.tables.grouping import Columns, RowsAre, group, training_rows
from recombine.tables.guesses import Proposal, propose_factors

if TYPE_CHECKING:
    from recombine.design.design import Design


def design_of_table(kind: type[Design], data: object, spec: TableSpec, held_out: object) -> Design:
    """Return the design of a table that is read as its spec says; see `Design.from_frame`."""
    source = open_table(data)
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
        tested = open_table(held_out)
        groups, train = with_held_out(groups, source, tested, columns)
        title = f"{tested.name} (training rows: {source.name})" if tested.name != source.name else title
    tell("levels of the factors", 0.7)
    factors = take_apart(source, apart, groups.levels[len(names) :], len(names), spec.separator, spec.control)
    plain = replace(columns, factors=names)
    design = coded_design(kind, groups, plain, train, spec.symmetric, title, proposals, factors)
    design = put_on_scales(design, curved, source)
    for factor in design.factors[: len(names)]:
        insisted = factor.name in spec.as_levels or factor.scale is not FactorScale.LABELS
        check_factor(factor_profile(source, factor.name, factor.levels), source.name, insisted)
    design = replace(design, notes=(*design.notes, *level_doubts(source, design)), spec=_with_data(spec, data, source))
    return restrict(design, spec.nested, spec.crossed, spec.possible)


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
    return naming.factor_names(source, naming.with_curved(factors, curved), taken | apart), proposals


def _with_data(spec: TableSpec, data: object, source: Source) -> TableSpec:
    """Return the spec with a column of importances as (table, column), so that it can be read later."""
    if isinstance(spec.importance, str) and spec.importance in source.columns:
        return msgspec.structs.replace(spec, importance=(data, spec.importance))
    return spec


def used_spec(design: Design) -> tuple[TableSpec, dict[str, str]]:
    """Return the spec with what was guessed, and how each guessed field came about.

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.design.design import Design
    >>> frame = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "mass": [1.5, 2.5, 3.5, 4.5]})
    >>> spec, guessed = used_spec(Design.from_frame(frame, outcome="mass"))
    >>> spec.factors, guessed
    (('colour', 'shape'), {'factors': 'guessed'})
    """
    spec, guessed = design.spec, {}
    inside = {name for column in design.parts for name in column.names}
    changes: dict[str, Any] = {}
    if spec.factors is None:
        curved = {factor.name for factor in design.factors if factor.scale is not FactorScale.LABELS}
        if plain := [name for name in design.names if name not in inside | curved]:
            changes["factors"], guessed["factors"] = tuple(plain), "guessed"
    if spec.weight is not None and spec.counts is None and design.rows_are is not RowsAre.MEASUREMENTS:
        changes["counts"], guessed["counts"] = design.rows_are is RowsAre.COUNTS, "guessed"
    if spec.sets is not None and spec.separator is None:
        changes["separator"] = next(column.separator for column in design.parts if column.kind == "set")
        guessed["separator"] = "recognised"
    inferred = tuple(f"{item.child}/{item.parent}" for item in design.nesting if item.inferred)
    if inferred:
        changes["nested"], guessed["nested"] = (*spec.nested, *inferred), "inferred from the rows"
    return msgspec.structs.replace(spec, **changes), guessed


def used_table(design: Design) -> dict[str, Any]:
    """Return how a table was read, guesses included, as documents hold it."""
    return plain_spec(used_spec(design)[0])


def codes_of_rows(
    factors: Sequence[Factor], parts: Sequence[Parts], columns: Sequence[str], source: Source
) -> IntArray:
    """Return the codes (R, C) of every row of a table, -1 where it has no cell; see `Design.codes_of_rows`."""
    for name in columns:
        source.require(name, "factor")
    values = source.read(columns)
    usable = ~np.logical_or.reduce([missing_values(column) for column in values.values()])
    levels = {name: column[usable] for name, column in values.items()}
    inside = {name for column in parts for name in column.names}
    codes = np.full((len(usable), len(factors)), -1, dtype=np.int64)
    coded = np.empty((int(usable.sum()), len(factors)), dtype=np.int64)
    for index, factor in enumerate(factors):
        if factor.name not in inside:
            coded[:, index] = _codes(factor, levels[factor.name])
    for column in parts:
        # Each text is taken apart once, in however many rows it stands.
        texts, inverse = np.unique(levels[column.column].astype(str), return_inverse=True)
        taken = with_levels([column], {column.column: texts.astype(object)}, source.name)
        for index, name in zip(column.places, column.names, strict=True):
            coded[:, index] = _codes(factors[index], taken[name])[inverse.reshape(-1)]
    codes[usable] = coded
    codes[(codes < 0).any(axis=1)] = -1
    return codes


def _codes(factor: Factor, values: npt.NDArray[Any]) -> IntArray:
    """Return the codes of ``values`` (N,), -1 for what is no level."""
    listed = values.tolist()
    codes = dict.fromkeys(factor.unknown(values), -1)
    codes |= {value: factor.code(value) for value in set(listed) if value not in codes}
    return np.fromiter(map(codes.__getitem__, listed), dtype=np.int64, count=len(listed))


def missing_values(values: npt.NDArray[Any]) -> BoolArray:
    """Say which of ``values`` (N,) are missing, whatever stands for that.

    Examples
    --------
    >>> missing_values(np.array(["a", None], dtype=object)).tolist()
    [False, True]
    """
    if values.dtype.kind == "O":
        listed = values.tolist()
        if not any(map(is_nothing, set(listed))):  # of the few values that stand in many rows each is looked at once
            return np.zeros(len(listed), dtype=bool)
        return np.fromiter(map(is_nothing, listed), dtype=bool, count=len(listed))
    if values.dtype.kind in "fmM":
        return np.asarray(values != values)
    return np.zeros(len(values), dtype=bool)


def is_nothing(value: Any) -> bool:
    """Say whether a value of a table is missing; pandas has missing values that refuse to be compared."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)
