"""From grouped rows to a design: levels become codes, and repeated cells one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.design import naming
from recombine.design.factors import code_levels, place_of
from recombine.design.notes import reading_notes
from recombine.design.parts import TakenApart
from recombine.errors import InputError
from recombine.tables.frames import Source
from recombine.tables.grouping import Columns, Groups, RowsAre, group, joined
from recombine.tables.guesses import Proposal
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.design.design import Design


def coded_design(
    kind: type[Design],
    groups: Groups,
    columns: Columns,
    train: BoolArray,
    symmetric: Sequence[str],
    source: str,
    proposals: list[Proposal],
    apart: Sequence[TakenApart],
) -> Design:
    """Return the design of grouped rows: levels as codes, columns ``apart`` as the factors they were taken into."""
    members = tuple(place_of(columns.factors, name) for name in symmetric)
    if members and len(set(members)) < max(2, len(members)):
        raise InputError(f"symmetric factors {listing(symmetric)}: name two or more, each once")
    plain = groups.levels[: len(columns.factors)]
    coded = [code_levels(columns.factors, plain, members, source)] if plain else []
    coded += [(column.factors, column.codes) for column in apart]
    factors = tuple(factor for some, _ in coded for factor in some)
    codes = np.hstack([some for _, some in coded]) if len(coded) > 1 else coded[0][1]
    naming.refuse_alike([factor.name for factor in factors], source)
    design = kind(
        factors,
        canonical(codes, (members,) if members else ()),
        train,
        groups.rows,
        groups.weight,
        groups.mean,
        groups.spread if groups.mean is not None else None,
        groups.freedom if groups.mean is not None else None,
        (members,) if members else (),
        columns.outcome if columns.chosen is None else f"{columns.outcome}={columns.chosen}",
        groups.labels,
        source,
        tuple(reading_notes(groups.left_out, proposals, [column.parts for column in apart])),
        tuple(proposals),
        groups.two_values,
        groups.rows_are,
        parts=tuple(column.parts for column in apart),
    )
    if not train.any():
        raise InputError(f"no row of {source} is training; check the split column")
    return merged(design)


def with_held_out(groups: Groups, source: Source, held_out: Source, columns: Columns) -> tuple[Groups, BoolArray]:
    """Return the groups of a table and of another one whose rows are held out, and which of them are training.

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.tables.frames import open_table
    >>> tables = [open_table(pd.DataFrame({"a": ["x"], "b": [level]})) for level in "pq"]
    >>> columns = Columns(("a", "b"))
    >>> with_held_out(group(tables[0], columns), *tables, columns)[1].tolist()
    [True, False]
    """
    if columns.split is not None:
        raise InputError(
            f"{held_out.name} holds the rows that are held out, so that a split column ({columns.split!r}) would say "
            "so twice; leave one out"
        )
    for name in columns.all:
        held_out.require(name, "outcome" if name == columns.outcome else "column")
    for name in columns.factors:
        kinds = [{"integer": "number"}.get(kind, kind) for kind in (source.kind(name), held_out.kind(name))]
        if source.reader.typed and held_out.reader.typed and kinds[0] != kinds[1]:
            raise InputError(
                f"factor {name!r} is {kinds[0]} in {source.name} and {kinds[1]} in {held_out.name}; "
                "write its levels alike"
            )
    counts = None if columns.weight is None else groups.rows_are is RowsAre.COUNTS
    more = group(held_out, columns, counts, groups.labels)
    train = np.arange(len(groups.rows) + len(more.rows)) < len(groups.rows)
    return joined(groups, more), train


def merged(design: Design) -> Design:
    """Merge rows of the same cell and split (repeated measurements, or (a, b) and (b, a) of symmetric factors)."""
    keyed = np.column_stack([design.cells, design.train.astype(np.int64)])
    rows, inverse = distinct(keyed)
    if len(rows) == len(keyed) and np.array_equal(inverse, np.arange(len(rows))):
        return design

    def total(values: npt.NDArray[Any]) -> FloatArray:
        return np.bincount(inverse, weights=values, minlength=len(rows)).astype(np.float64)

    weight = total(design.weight)
    mean = spread = freedom = None
    if design.outcome is not None:
        mean = total(design.weight * design.outcome) / weight
        within = design.spread if design.spread is not None else np.zeros(len(keyed))
        degrees = design.freedom if design.freedom is not None else np.zeros(len(keyed))
        spread = total(within) + total(design.weight * (design.outcome - mean[inverse]) ** 2)
        freedom = total(degrees) + np.bincount(inverse, minlength=len(rows)) - 1.0
    return replace(
        design,
        cells=rows[:, :-1],
        train=rows[:, -1].astype(bool),
        rows=total(design.rows).astype(np.int64),
        weight=weight,
        outcome=mean,
        spread=spread,
        freedom=freedom,
    )
