"""Ordered and numeric factors: which columns they are, where their levels lie, and which lie outside what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.scales import FactorScale, Scale, place_levels
from recombine.design.factors import Factor
from recombine.design.restriction import refuse_curved
from recombine.design.space import FactorSpace
from recombine.errors import InputError, near_miss
from recombine.tables.frames import Source
from recombine.tables.numbers import level_text
from recombine.writing import listing, option_text

#: Of each column: its kind, and its levels in order where those are no numbers.
Asked = dict[str, tuple[FactorScale, tuple[str, ...]]]
#: One for each factor, None for labels; empty where all are labels.
Scales = Sequence[Scale | None]


def scales_asked(ordered: Sequence[str], numeric: Sequence[str], columns: Sequence[str]) -> Asked:
    """Read which columns are ordered (``"dose"``, or ``"grade=low<mid<high"``) and which numeric."""
    scales: Asked = {}
    for kind, texts in ((FactorScale.ORDERED, ordered), (FactorScale.NUMERIC, numeric)):
        if isinstance(texts, str):
            raise InputError(f"{kind} is the text {texts!r}; give a list of column names")
        for text in texts:
            name, levels = (text, ()) if text in columns or kind is FactorScale.NUMERIC else _in_order(text)
            if name not in columns:
                raise InputError(
                    f"{kind} factor {name!r} is not a column of the table;{near_miss(name, columns, 'Columns:')}"
                )
            if name in scales:
                raise InputError(f"{name!r} is named twice, as {scales[name][0]} and as {kind}; name it once")
            scales[name] = kind, levels
    return scales


def _in_order(text: str) -> tuple[str, tuple[str, ...]]:
    name, equals, order = text.partition("=")
    levels = tuple(level.strip() for level in order.split("<")) if equals else ()
    if equals and (len(levels) < 2 or len(set(levels)) < len(levels) or not all(levels)):
        raise InputError(f"ordered {text!r}: give two or more levels, each once, such as {name}=low<mid<high")
    return name.strip(), levels


def put_on_scales(space: FactorSpace, scales: Asked, source: Source | None = None) -> FactorSpace:
    """Return the space with the factors ``scales`` on their scales; ``source`` tells the row of a wrong level."""
    factors = list(space.factors)
    for name, (kind, in_order) in scales.items():
        if name not in space.names or name in space.taken_apart:
            raise InputError(f"{kind} {name!r} is not one of the factors {listing(space.columns)}; name it among them")
        for index in space.twins(space.names.index(name)):
            factor = replace(factors[index], scale=kind, in_order=in_order)
            for level in factor.levels:
                _check_level(factor, level, source)
            more = [level for level in in_order if level not in factor.labels]
            factors[index] = replace(factor, levels=(*factor.levels, *more))
            _refuse_same_place(factors[index])
    refuse_curved([item for item in space.nesting if not item.inferred], factors)
    curved = {factor.name for factor in factors if factor.on_scale}
    nesting = tuple(item for item in space.nesting if not curved & {item.child, item.parent})
    return replace(space, factors=tuple(factors), nesting=nesting)


def _check_level(factor: Factor, level: object, source: Source | None) -> None:
    """Raise if a level has no place on its factor's scale."""
    if factor.placed(level):
        return
    text, row = level_text(level), ""
    if source is not None:
        values = source.read([factor.name])[factor.name].tolist()
        index = next((index for index, value in enumerate(values) if level_text(value) == text), None)
        row = "" if index is None else f" (row {index + 1:,})"
    if factor.in_order:
        order = "<".join(factor.in_order)
        raise InputError(f"{text!r}{row} is not in the order {factor.name}={order}; list every level of {factor.name}")
    advice = "correct it, or leave the factor as labels"
    if factor.scale is FactorScale.ORDERED:
        order = option_text("--ordered", f"{factor.name}=low<mid<high")
        advice = f"correct it, or say in which order its levels come: {order}"
    raise InputError(f"{text!r}{row} of the {factor.scale} factor {factor.name!r} is not a number; {advice}")


def _refuse_same_place(factor: Factor) -> None:
    there: dict[object, str] = {}
    for position, label in zip(factor.places, factor.labels, strict=True):
        twin = there.setdefault(position, label)
        if twin != label:
            raise InputError(
                f"{twin!r} and {label!r} of the {factor.scale} factor {factor.name!r} are one number; write it one way"
            )


def scales_of(space: FactorSpace, seen: IntArray) -> tuple[Scale | None, ...]:
    """Return where the levels of each factor lie, None for labels; empty if there are labels only.

    Knots are levels of the cells ``seen`` (N, C).
    """
    if not any(factor.on_scale for factor in space.factors):
        return ()
    scales: list[Scale | None] = [None] * len(space.factors)
    for index, factor in enumerate(space.factors):
        if factor.on_scale:
            occurs = np.isin(np.arange(len(factor.levels)), seen[:, list(space.twins(index))])
            scales[index] = place_levels(factor.scale, factor.places, occurs)
    return tuple(scales)


def add_levels(space: FactorSpace, index: int, levels: Sequence[Any], row: str = "") -> FactorSpace:
    """Return the space with new ``levels`` of the factor at ``index``, which lies on a scale; those have a place."""
    factor = space.factors[index]
    for level in levels:
        if not factor.placed(level):
            numbers = "among " + listing(factor.in_order) if factor.in_order else "a number"
            text = f"{row}{level_text(level)!r} of the {factor.scale} factor {factor.name!r}"
            raise InputError(f"{text} is not {numbers}; correct it")
    return space.with_levels(index, [_tidy(level, factor) for level in levels])


def _tidy(level: Any, factor: Factor) -> Any:
    """Write the number of a text as short as it goes: 2020 for 2020.0."""
    short = level_text(level) if factor.in_order else level_text(float(level))
    return short if isinstance(level, str) and factor.place(short) == factor.place(level) else level


def nearest_knots(scales: Scales, cells: IntArray) -> IntArray:
    """Return ``cells`` (N, C) with each level on a scale replaced by the knot that counts most for it."""
    nearest = cells.copy() if scales else cells
    for factor, scale in enumerate(scales):
        if scale is not None:
            nearest[:, factor] = scale.nearest[cells[:, factor]]
    return nearest


def between_knots(scales: Scales, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (N, C) hold a level of an ordered factor that was not seen, (N,)."""
    between = np.zeros(len(cells), dtype=bool)
    for factor, scale in enumerate(scales):
        if scale is not None and scale.kind is FactorScale.ORDERED:
            between |= scale.between[cells[:, factor]]
    return between


def on_curve(scales: Scales, cells: IntArray) -> BoolArray:
    """Say of which ``cells`` (N, C) the value is read off a curve: of a numeric factor, or between ordered levels."""
    numeric = any(scale is not None and scale.kind is FactorScale.NUMERIC for scale in scales)
    return np.ones(len(cells), dtype=bool) if numeric else between_knots(scales, cells)
