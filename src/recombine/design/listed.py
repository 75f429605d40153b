"""A list of the cells that can exist, as a table: whole cells, or rules that leave some factors open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.cells.arrays import IntArray, product_size
from recombine.cells.conjunctions import Subset, canonical, distinct, every_cell
from recombine.cells.scales import FactorScale
from recombine.design.factors import Factor
from recombine.errors import InputError
from recombine.tables.frames import open_table
from recombine.tables.numbers import level_text
from recombine.writing import listing

#: Cells that a list may stand for once its blanks are filled in.
MAX_CELLS_IN_LIST = 2_000_000


def read_listed(
    data: object, factors: Sequence[Factor], symmetric: Sequence[Subset] = ()
) -> tuple[tuple[Factor, ...], IntArray, str]:
    """Return the factors (with levels that only the list has), the listed cells (N, C) and the name of the list.

    A blank level, or a factor without a column, stands for every level.

    Examples
    --------
    >>> import pandas as pd
    >>> factors = [Factor("colour", ("blue", "red")), Factor("shape", ("ball", "cube"))]
    >>> read_listed(pd.DataFrame({"colour": ["red", "blue"], "shape": ["ball", None]}), factors)[1].tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    source = open_table(data)
    names = [factor.name for factor in factors if factor.name in source.columns]
    if not names:
        have = listing([factor.name for factor in factors])
        raise InputError(f"{source.name} has none of the factor columns {have}; add at least one")
    columns = {name: _texts(values.tolist()) for name, values in source.read(names).items()}
    if not len(columns[names[0]]):
        raise InputError(f"{source.name} lists no cell, so nothing could exist; list at least one")
    extended = _with_new_levels(factors, columns, symmetric)
    open_rule = np.full(len(columns[names[0]]), -1)
    rules = np.column_stack(
        [_codes(factor, columns[factor.name]) if factor.name in columns else open_rule for factor in extended]
    )
    blank = np.flatnonzero((rules < 0).all(axis=1))
    if len(blank):
        raise InputError(f"{source.name}: row {blank[0] + 1} is blank, which would allow every cell; remove it")
    # Blanks are -1, and rows are told apart by numbers from 0 on.
    cells = _filled_in(distinct(rules + 1)[0] - 1, tuple(len(factor.levels) for factor in extended), source.name)
    return extended, distinct(canonical(cells, symmetric))[0], source.name


def _texts(values: list[Any]) -> list[str | None]:
    blank = [value is None or value == "" or (isinstance(value, float) and np.isnan(value)) for value in values]
    return [None if empty else level_text(value) for empty, value in zip(blank, values, strict=True)]


def _with_new_levels(
    factors: Sequence[Factor], columns: dict[str, list[str | None]], symmetric: Sequence[Subset]
) -> tuple[Factor, ...]:
    extended = list(factors)
    for index, factor in enumerate(factors):
        texts = [text for text in columns.get(factor.name, ()) if text is not None]
        fresh = extended[index].unknown(np.array(texts, dtype=object))
        for text in fresh:
            if factor.scale is not FactorScale.LABELS and not factor.placed(text):
                raise InputError(
                    f"{text!r} of the {factor.scale} factor {factor.name!r} has no place there; correct it"
                )
        members = next((group for group in symmetric if index in group), (index,))
        for member in members if fresh else ():
            extended[member] = replace(extended[member], levels=(*extended[member].levels, *fresh))
    return tuple(extended)


def _codes(factor: Factor, texts: list[str | None]) -> IntArray:
    return np.array([-1 if text is None else factor.code(text) for text in texts], dtype=np.int64)


def _filled_in(rules: IntArray, sizes: tuple[int, ...], name: str) -> IntArray:
    """Write out the cells of each rule; rules with the same blanks are filled in together."""
    blanks, inverse = distinct((rules < 0).astype(np.int64))
    free = [[factor for factor in range(len(sizes)) if blank[factor]] for blank in blanks]
    each = [product_size([sizes[factor] for factor in factors]) for factors in free]
    total = sum(each[kind] for kind in inverse.tolist())
    if total > MAX_CELLS_IN_LIST:
        raise InputError(
            f"{name} stands for {total:,} cells, more than {MAX_CELLS_IN_LIST:,}; name more levels in its rules"
        )
    blocks = []
    for kind, factors in enumerate(free):
        mine = rules[inverse == kind]
        cells = np.repeat(mine, each[kind], axis=0)
        if factors:
            cells[:, factors] = np.tile(every_cell([sizes[factor] for factor in factors]), (len(mine), 1))
        blocks.append(cells)
    return np.vstack(blocks)
