"""Cells that a user asks about: a table of targets as codes of a design."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical
from recombine.cells.scales import FactorScale
from recombine.design.parts import with_levels
from recombine.design.restriction import allow
from recombine.design.scaling import add_levels
from recombine.errors import InputError, near_miss
from recombine.tables.frames import open_table

if TYPE_CHECKING:
    from recombine.design.design import Design


def encode_targets(design: Design, data: object, new_levels: bool) -> tuple[Design, IntArray]:
    """Return the cells of a target table as codes, shape (T, C), and the design they refer to; see `Design.encode`."""
    source = open_table(data)
    for name in design.columns:
        source.require(name, "factor")
    columns = source.read(design.columns)
    for name, values in columns.items():
        blank = sum(value is None or value != value for value in values.tolist())
        if blank or not len(values):
            lack = f"{blank:,} of {len(values):,} rows lack a level of {name!r}" if blank else "no row"
            raise InputError(f"{source.name}: {lack}; give one level of each factor in every target row")
    columns = with_levels(design.parts, columns, source.name)
    factors = list(design.factors)
    for index, name in enumerate(design.names):
        fresh = factors[index].unknown(columns[name])
        if factors[index].scale is not FactorScale.LABELS:
            wrong = [value for value in fresh if not factors[index].placed(value)][:1]
            rows = "".join(f", row {columns[name].tolist().index(value) + 1:,}" for value in wrong)
            extended = replace(design, factors=tuple(factors))
            factors = list(add_levels(extended, index, fresh, f"{source.name}{rows}: "))
            continue
        if fresh and not new_levels:
            raise InputError(
                f"{source.name}: {fresh[0]!r} is not a level of factor {name!r} in {design.source};"
                f"{near_miss(fresh[0], factors[index].labels)} To ask about levels that were never seen, pass "
                "--new-levels (new_levels=True in Python)"
            )
        for member in design.twins(index):
            factors[member] = replace(factors[member], levels=(*factors[member].levels, *fresh))
    codes = np.stack([factor.codes(columns[factor.name]) for factor in factors], axis=1)
    cells = canonical(codes, design.symmetric)
    return allow(replace(design, factors=tuple(factors)), cells), cells
