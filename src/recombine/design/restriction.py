"""What a design leaves out of the product: nesting that was said or inferred, and cells that a list lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray, product_size
from recombine.cells.conjunctions import canonical, contains, distinct, every_cell
from recombine.cells.possible import Combinations, Possible, broken_at, follows
from recombine.design.factors import Factor
from recombine.design.nesting import Nested, declare_nesting, infer_nesting, nested_product
from recombine.design.space import FactorSpace
from recombine.errors import InputError
from recombine.table_spec import TableSpec
from recombine.tables.frames import open_table
from recombine.tables.numbers import filled_values, level_text
from recombine.writing import listing

#: Cells that a list may stand for once its blanks are filled in.
MAX_CELLS_IN_LIST = 2_000_000


def restrict(space: FactorSpace, cells: IntArray, rows: IntArray, spec: TableSpec) -> FactorSpace:
    """Return the space with the nesting that is said or inferred, and with the cells of a list.

    ``rows`` (N,) of a table are in each of ``cells`` (N, C). A list says what can exist, so nothing is inferred beside
    one.
    """
    skip = [index for group in space.symmetric for index in group]
    nesting = declare_nesting(spec.nested, space.factors, cells, skip)
    refuse_curved(nesting, space.factors)
    if spec.possible is None and not spec.crossed:
        declared = {(item.child, item.parent) for item in nesting}
        inside = [index for column in space.parts for index in column.places]  # positions and members are crossed
        inside += [index for index, factor in enumerate(space.factors) if factor.on_scale]
        inferred = infer_nesting(space.factors, cells, rows, [*skip, *inside])
        nesting += [item for item in inferred if (item.child, item.parent) not in declared]
    space = replace(space, nesting=tuple(nesting))
    _check_placed(space, cells)
    if spec.possible is None:
        return space
    larger, listed, name = read_listed(spec.possible, space)
    for child, parent in space.nested_pairs:
        listed = listed[_agrees(cells, listed, child, parent)]
    return replace(larger, listed=listed, listed_in=name)


def refuse_curved(nesting: Sequence[Nested], factors: Sequence[Factor]) -> None:
    """Raise if an ordered or numeric factor is said to lie inside another, or another inside it."""
    curved = {factor.name: factor.scale for factor in factors if factor.on_scale}
    for item in nesting:
        for name in (item.child, item.parent):
            if name in curved:
                raise InputError(
                    f"{item}, but {name} is {curved[name]}: only labels can be nested; drop one of the two"
                )


def _check_placed(space: FactorSpace, cells: IntArray) -> None:
    for item, (child, _) in zip(space.nesting, space.nested_pairs, strict=True):
        factor = space.factors[child]
        unused = np.setdiff1d(np.arange(len(factor.levels)), cells[:, child])
        if len(unused):
            raise InputError(
                f"{item}, but {item.child} {factor.labels[unused[0]]!r} is in no row, so its {item.parent} is unknown; "
                "leave that level out, or list the possible cells instead"
            )


def _agrees(cells: IntArray, listed: IntArray, child: int, parent: int) -> IntArray:
    """Return the positions of ``listed`` (N, C) that pair no child with a parent it does not have in ``cells``."""
    only = np.full(int(max(cells[:, child].max(), listed[:, child].max(initial=0))) + 1, -1)
    only[cells[:, child]] = cells[:, parent]
    has = only[listed[:, child]]
    return np.flatnonzero((has < 0) | (has == listed[:, parent]))


def read_listed(data: object, space: FactorSpace) -> tuple[FactorSpace, IntArray, str]:
    """Return the space (with levels that only the list has), the listed cells (N, C) and the name of the list.

    A blank level, or a factor without a column, stands for every level.
    """
    source = open_table(data)
    names = [name for name in space.names if name in source.columns]
    if not names:
        raise InputError(f"{source.name} has none of the factor columns {listing(space.names)}; add at least one")
    columns = {name: level_texts(values) for name, values in source.read(names).items()}
    count = len(columns[names[0]])
    if not count:
        raise InputError(f"{source.name} lists no cell, so nothing could exist; list at least one")
    space = _with_new_levels(space, columns)
    rules = np.full((count, len(space.factors)), -1)
    for index, factor in enumerate(space.factors):
        texts = columns.get(factor.name, [None] * count)
        rules[:, index] = [-1 if text is None else factor.code(text) for text in texts]
    blank = np.flatnonzero((rules < 0).all(axis=1))
    if len(blank):
        raise InputError(f"{source.name}: row {blank[0] + 1} is blank, which would allow every cell; remove it")
    # Blanks are -1, and rows are told apart by numbers from 0 on.
    cells = _filled_in(distinct(rules + 1)[0] - 1, space.sizes, source.name)
    return space, distinct(canonical(cells, space.symmetric))[0], source.name


def level_texts(values: npt.NDArray[Any]) -> list[str | None]:
    """Return the values of a column as levels are written, None where a field is blank."""
    return [None if value is None else level_text(value) for value in filled_values(values)]


def _with_new_levels(space: FactorSpace, columns: dict[str, list[str | None]]) -> FactorSpace:
    for index, name in enumerate(space.names):
        texts = [text for text in columns.get(name, ()) if text is not None]
        factor = space.factors[index]
        fresh = factor.unknown(np.array(texts, dtype=object))
        for text in fresh:
            if factor.on_scale and not factor.placed(text):
                raise InputError(f"{text!r} of the {factor.scale} factor {name!r} has no place there; correct it")
        space = space.with_levels(index, fresh)
    return space


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
        alike = rules[inverse == kind]
        cells = np.repeat(alike, each[kind], axis=0)
        if factors:
            cells[:, factors] = np.tile(every_cell([sizes[factor] for factor in factors]), (len(alike), 1))
        blocks.append(cells)
    return np.vstack(blocks)


def possible_cells(space: FactorSpace, cells: IntArray) -> Possible:
    """Return the cells that can exist; those of the table, ``cells`` (N, C), and those asked about are among them."""
    cells = cells if space.asked is None else np.vstack([cells, space.asked])
    if space.listed is not None:
        everything = distinct(np.vstack([space.listed, cells]))[0]
        return Possible(space.sizes, space.symmetric, (Combinations(tuple(range(len(space.sizes))), everything),))
    return nested_product(space.sizes, space.symmetric, space.nested_pairs, cells)


def allow(space: FactorSpace, cells: IntArray, targets: IntArray) -> FactorSpace:
    """Return the space of ``cells`` (N, C) with ``targets`` (T, C) among the possible ones.

    They may refute a nesting that was inferred; against what was said they are an error.
    """
    if space.listed is not None:
        missing = np.flatnonzero(~contains(np.vstack([space.listed, cells]), targets))
        if len(missing):
            raise InputError(
                f"target {space.label(targets[missing[0]])} is not among the possible cells of {space.listed_in}; "
                "list it there, or leave it out of the targets"
            )
    valid = []
    cells = np.vstack([cells, targets])
    for item, (child, parent) in zip(space.nesting, space.nested_pairs, strict=True):
        if follows(cells, child, parent):
            valid.append(item)
        elif not item.inferred:
            level = space.factors[child].labels[broken_at(cells, child, parent) or 0]
            raise InputError(
                f"targets put {item.child} {level!r} into two levels of {item.parent}, but it was said that {item}; "
                "correct one of the two"
            )
    return replace(space, nesting=tuple(valid), asked=targets)
