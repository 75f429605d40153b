"""From grouped rows to cells: levels become codes, and repeated cells one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import BoolArray
from recombine.cells.conjunctions import canonical
from recombine.design import naming
from recombine.design.factors import code_levels, place_of
from recombine.design.observed import Observed
from recombine.design.parts import TakenApart
from recombine.design.space import FactorSpace
from recombine.errors import InputError
from recombine.tables.frames import Source
from recombine.tables.grouping import Columns, Groups, RowsAre, group, joined
from recombine.writing import listing


def coded_groups(
    groups: Groups,
    names: Sequence[str],
    train: BoolArray,
    symmetric: Sequence[str],
    source: str,
    apart: Sequence[TakenApart],
) -> tuple[FactorSpace, Observed]:
    """Return the factors ``names`` and those that columns were taken ``apart`` into, and the cells of grouped rows."""
    members = tuple(place_of(names, name) for name in symmetric)
    if members and len(set(members)) < max(2, len(members)):
        raise InputError(f"symmetric factors {listing(symmetric)}: name two or more, each once")
    plain = groups.levels[: len(names)]
    coded = [code_levels(names, plain, members, source)] if plain else []
    coded += [(column.factors, column.codes) for column in apart]
    factors = tuple(factor for some, _ in coded for factor in some)
    codes = np.hstack([some for _, some in coded]) if len(coded) > 1 else coded[0][1]
    naming.refuse_alike([factor.name for factor in factors], source)
    if not train.any():
        raise InputError(f"no row of {source} is training; check the split column")
    space = FactorSpace(factors, (members,) if members else (), tuple(column.parts for column in apart))
    observed = Observed(canonical(codes, space.symmetric), train, groups.rows, groups.weight, rows_are=groups.rows_are)
    if groups.mean is not None:
        observed = replace(observed, outcome=groups.mean, spread=groups.spread, freedom=groups.freedom)
    return space, observed.merged()


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
