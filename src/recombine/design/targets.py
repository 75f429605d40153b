"""What is asked of a design that was read: targets and single cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical
from recombine.design.design import Design
from recombine.design.restriction import allow
from recombine.design.scaling import add_levels
from recombine.errors import InputError, near_miss
from recombine.tables.frames import open_table
from recombine.tables.numbers import missing_values


def encode_targets(design: Design, data: object, *, new_levels: bool = False) -> tuple[Design, IntArray]:
    """Return the cells of a target table as codes, shape (T, C), and the design they refer to.

    Unknown levels raise, unless ``new_levels``: then the returned design knows them too, as levels never seen.
    """
    source, space = open_table(data), design.space
    for name in space.columns:
        source.require(name, "factor")
    columns = source.read(space.columns)
    for name, values in columns.items():
        blank = int(missing_values(values).sum())
        if blank or not len(values):
            lack = f"{blank:,} of {len(values):,} rows lack a level of {name!r}" if blank else "no row"
            raise InputError(f"{source.name}: {lack}; give one level of each factor in every target row")
    columns = space.by_factor(columns, source.name)
    for index, name in enumerate(space.names):
        factor = space.factors[index]
        fresh = factor.unknown(columns[name])
        if factor.on_scale:
            wrong = [value for value in fresh if not factor.placed(value)][:1]
            rows = "".join(f", row {columns[name].tolist().index(value) + 1:,}" for value in wrong)
            space = add_levels(space, index, fresh, f"{source.name}{rows}: ")
            continue
        if fresh and not new_levels:
            cure = "To ask about levels that were never seen, pass --new-levels (new_levels=True in Python)"
            raise InputError(
                f"{source.name}: {fresh[0]!r} is not a level of factor {name!r} in {design.reading.source};"
                f"{near_miss(fresh[0], factor.labels, cure)}"
            )
        space = space.with_levels(index, fresh)
    codes = np.stack([factor.codes(columns[factor.name]) for factor in space.factors], axis=1)
    cells = canonical(codes, space.symmetric)
    return replace(design, space=allow(space, design.cells, cells)), cells


def with_described(design: Design) -> Design:
    """Return the design with levels that no row has and descriptors name, as levels never seen."""
    space = design.space
    for name, features in design.reading.level_features.items():
        index = space.names.index(name)
        space = space.with_levels(index, features.beyond(space.factors[index].levels))
    return design if space is design.space else replace(design, space=space)


def place_cell(design: Design, levels: Mapping[str, object] | Sequence[object]) -> tuple[Design, IntArray]:
    """Return the codes (C,) of one cell, and the design they refer to: a new one if a level on a scale is new."""
    values = design.space.levels_of(levels)
    space = design.space
    for index, value in enumerate(values):
        factor = space.factors[index]
        if factor.on_scale and factor.unknown(np.array([value], dtype=object)):
            space = add_levels(space, index, [value])
    cell = space.cell(values)
    if space is design.space:
        return design, cell
    targets = cell[None] if space.asked is None else np.vstack([space.asked, cell[None]])
    return replace(design, space=allow(space, design.cells, targets)), cell


def why_impossible(design: Design, cell: IntArray) -> str:
    """Say why ``cell`` (C,) cannot exist, in a sentence without its end; empty if it can."""
    if design.possible.holds(cell[None])[0]:
        return ""
    space = design.space
    unlisted = f"it is not among the possible cells of {space.listed_in}" if space.listed is not None else ""
    return why_not_nested(design, cell) or unlisted or "factors clash"


def why_not_nested(design: Design, cell: IntArray) -> str:
    """Say which level of ``cell`` (C,) lies inside another one than it has there; empty where none does."""
    space = design.space
    cells = design.cells if space.asked is None else np.vstack([design.cells, space.asked])
    for item, (child, parent) in zip(space.nesting, space.nested_pairs, strict=True):
        has = cells[cells[:, child] == cell[child], parent]
        if len(has) and has[0] != cell[parent]:
            inner, outer = space.factors[child].labels[cell[child]], space.factors[parent].labels[has[0]]
            return f"{item}, and {inner} is inside {outer}"
    return ""


def outside_words(design: Design, cell: IntArray) -> list[str]:
    """Say of each level of ``cell`` (C,) outside the seen range which range that is, and what to collect."""
    sentences = []
    for index, (factor, scale) in enumerate(zip(design.factors, design.scales or (), strict=False)):
        level = int(cell[index])
        if scale is None or not scale.beyond[level]:
            continue
        low, high = (factor.labels[end] for end in scale.ends)
        side = "above" if scale.places[level] > scale.places[scale.ends[1]] else "below"
        text = f"{factor.name} {factor.labels[level]}"
        sentences.append(f"{text} lies {side} the seen range {low} to {high}: collect a row with {text} or {side}")
    return sentences
