"""What a design leaves out of the product: nesting that was said or inferred, and cells that a list lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import contains, distinct
from recombine.cells.possible import Combinations, Possible
from recombine.cells.scales import FactorScale
from recombine.design.factors import Factor
from recombine.design.listed import read_listed
from recombine.design.nesting import Nested, broken_at, declare_nesting, follows, infer_nesting, nested_product
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.design.design import Design


def restrict(design: Design, nested: Sequence[str], crossed: bool, possible: object) -> Design:
    """Return the design with the nesting that is said (``nested``) or inferred, and with the cells of a list.

    A list says what can exist, so nothing is inferred beside one.
    """
    skip = [index for group in design.symmetric for index in group]
    nesting = declare_nesting(nested, design.factors, design.cells, skip)
    refuse_curved(nesting, design.factors)
    if possible is None and not crossed:
        declared = {(item.child, item.parent) for item in nesting}
        inside = [index for column in design.parts for index in column.places]  # positions and members are crossed
        inside += [index for index, factor in enumerate(design.factors) if factor.scale is not FactorScale.LABELS]
        inferred = infer_nesting(design.factors, design.cells, design.rows, [*skip, *inside])
        nesting += [item for item in inferred if (item.child, item.parent) not in declared]
    design = replace(design, nesting=tuple(nesting))
    if nesting:
        _check_placed(design)
    if possible is None:
        return design
    factors, listed, name = read_listed(possible, design.factors, design.symmetric)
    for child, parent in _pairs(design):
        listed = listed[_agrees(design.cells, listed, child, parent)]
    return replace(design, factors=factors, listed=listed, listed_in=name)


def refuse_curved(nesting: Sequence[Nested], factors: Sequence[Factor]) -> None:
    """Raise if an ordered or numeric factor is said to lie inside another, or another inside it."""
    kinds = {factor.name: factor.scale for factor in factors}
    for item in nesting:
        for name in (item.child, item.parent):
            if kinds[name] is not FactorScale.LABELS:
                raise InputError(f"{item}, but {name} is {kinds[name]}: only labels can be nested; drop one of the two")


def _pairs(design: Design) -> list[tuple[int, int]]:
    return [(design.names.index(item.child), design.names.index(item.parent)) for item in design.nesting]


def _check_placed(design: Design) -> None:
    for item in design.nesting:
        factor = design.factors[design.names.index(item.child)]
        unused = np.setdiff1d(np.arange(len(factor.levels)), design.cells[:, design.names.index(item.child)])
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


def possible_cells(design: Design) -> Possible:
    """Return the cells that can exist; those of the table and those asked about are always among them."""
    cells = design.cells if design.asked is None else np.vstack([design.cells, design.asked])
    if design.listed is not None:
        everything = distinct(np.vstack([design.listed, cells]))[0]
        return Possible(design.sizes, design.symmetric, (Combinations(tuple(range(len(design.sizes))), everything),))
    return nested_product(design.sizes, design.symmetric, _pairs(design), cells)


def allow(design: Design, targets: IntArray) -> Design:
    """Return the design with ``targets`` cells (T, C) among the possible ones.

    They may refute a nesting that was inferred; against what was said they are an error.
    """
    if design.listed is not None:
        missing = np.flatnonzero(~contains(np.vstack([design.listed, design.cells]), targets))
        if len(missing):
            raise InputError(
                f"target {design.label(targets[missing[0]])} is not among the possible cells of {design.listed_in}; "
                "list it there, or leave it out of the targets"
            )
    valid = []
    cells = np.vstack([design.cells, targets])
    for item, (child, parent) in zip(design.nesting, _pairs(design), strict=True):
        if follows(cells, child, parent):
            valid.append(item)
        elif not item.inferred:
            level = design.factors[child].labels[broken_at(cells, child, parent) or 0]
            raise InputError(
                f"targets put {item.child} {level!r} into two levels of {item.parent}, but it was said that {item}; "
                "correct one of the two"
            )
    return replace(design, nesting=tuple(valid), asked=targets)


def why_impossible(design: Design, cell: IntArray) -> str:
    """Say why ``cell`` (C,) cannot exist, in a sentence without its end; empty if it can.

    Examples
    --------
    >>> from recombine.design.design import Design
    >>> cells = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> design = Design.from_cells(cells, names=["plant", "treatment", "dose"], nested=["plant/treatment"])
    >>> why_impossible(design, np.array([0, 1, 0]))
    'plant lies inside treatment, and 0 is inside 0'
    """
    if design.possible.holds(cell[None])[0]:
        return ""
    cells = design.cells if design.asked is None else np.vstack([design.cells, design.asked])
    for item, (child, parent) in zip(design.nesting, _pairs(design), strict=True):
        has = cells[cells[:, child] == cell[child], parent]
        if len(has) and has[0] != cell[parent]:
            inner, outer = design.factors[child].labels[cell[child]], design.factors[parent].labels[has[0]]
            return f"{item}, and {inner} is inside {outer}"
    return f"it is not among the possible cells of {design.listed_in}" if design.listed is not None else "factors clash"
