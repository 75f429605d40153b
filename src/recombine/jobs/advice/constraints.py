"""Costs and forbidden cells from tables: what a person who plans data collection writes in a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.design.design import Design
from recombine.design.restriction import level_texts
from recombine.errors import InputError
from recombine.jobs.advice.candidates import Cell, Collecting, Costs
from recombine.tables.frames import open_table
from recombine.tables.numbers import filled_values
from recombine.writing import listing


def read_costs(data: object, design: Design) -> dict[tuple[str, ...], float]:
    """Return the cost of each cell of a table with every factor column and a ``cost`` column.

    Examples
    --------
    >>> import pandas as pd
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["colour", "shape"])
    >>> read_costs(pd.DataFrame({"colour": [0], "shape": [1], "cost": [2.5]}), design)
    {('0', '1'): 2.5}
    """
    source = open_table(data)
    if "cost" in design.names:
        raise InputError(f"one factor is itself named 'cost', so {source.name} cannot hold both; rename that factor")
    for name in design.names:
        source.require(name, "factor")
    column = source.require("cost", "cost column")
    if source.kind(column) not in ("integer", "number"):
        raise InputError(f"column 'cost' of {source.name} is {source.kind(column)}; costs are positive numbers")
    read = source.read([*design.names, column])
    rows = zip(*(level_texts(read[name]) for name in design.names), strict=True)
    costs = {}
    for levels, cost in zip(rows, filled_values(read[column]), strict=True):
        if any(level is None for level in levels) or cost is None:
            raise InputError(f"{source.name} has a row with a blank level or cost; fill it in or remove it")
        cell = tuple(factor.labels[factor.code(level)] for level, factor in zip(levels, design.factors, strict=True))
        costs[cell] = float(cost)
    return costs


def read_forbidden(data: object, design: Design) -> list[dict[str, str]]:
    """Return the rules of a table with some factor columns; a blank level matches every level.

    Examples
    --------
    >>> import pandas as pd
    >>> design = Design.from_cells([[0, 0], [1, 1]], names=["colour", "shape"])
    >>> read_forbidden(pd.DataFrame({"shape": [1]}), design)
    [{'shape': '1'}]
    """
    source = open_table(data)
    named = [name for name in design.names if name in source.columns]
    if not named:
        raise InputError(f"{source.name} has none of the factor columns {listing(design.names)}; add at least one")
    columns = {name: level_texts(values) for name, values in source.read(named).items()}
    factors = {factor.name: factor for factor in design.factors}
    rules = []
    for row in zip(*columns.values(), strict=True):
        there = {name: level for name, level in zip(named, row, strict=True) if level is not None}
        rule = {name: factors[name].labels[factors[name].code(level)] for name, level in there.items()}
        if not rule:
            raise InputError(f"{source.name} has a blank row, which would forbid every cell; remove it")
        rules.append(rule)
    return rules


def spec_constraints(design: Design, cost: Costs | None, forbidden: Sequence[Cell]) -> Collecting:
    """Return costs and forbidden cells as they are given, or as the design's spec names them."""
    if cost is None and design.spec.cost is not None:
        cost = read_costs(design.spec.cost, design)
    if not forbidden and design.spec.forbidden is not None:
        forbidden = read_forbidden(design.spec.forbidden, design)
    return Collecting(cost=cost, forbidden=forbidden)
