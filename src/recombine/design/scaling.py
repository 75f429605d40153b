"""Ordered and numeric factors: which columns they are, where their levels lie, and which lie outside what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.conjunctions import canonical
from recombine.cells.scales import FactorScale, Scale, place_levels
from recombine.design.factors import Factor
from recombine.design.parts import one_cell
from recombine.design.restriction import allow, refuse_curved
from recombine.errors import InputError, near_miss
from recombine.tables.frames import Source
from recombine.tables.numbers import level_text
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.design.design import Design

#: Of each column: its kind, and its levels in order where those are no numbers.
Asked = dict[str, tuple[FactorScale, tuple[str, ...]]]


def scales_asked(ordered: Sequence[str], numeric: Sequence[str], columns: Sequence[str]) -> Asked:
    """Read which columns are ordered (``"dose"``, or ``"grade=low<mid<high"``) and which numeric.

    Examples
    --------
    >>> scales_asked(["grade=low<mid<high"], [], ["grade", "year"])
    {'grade': (<FactorScale.ORDERED: 'ordered'>, ('low', 'mid', 'high'))}
    """
    scales: Asked = {}
    for kind, texts in ((FactorScale.ORDERED, ordered), (FactorScale.NUMERIC, numeric)):
        if isinstance(texts, str):
            raise InputError(f"{kind} is the text {texts!r}; give a list of column names")
        for text in texts:
            name, levels = (text, ()) if text in columns or kind is FactorScale.NUMERIC else _in_order(text)
            if name not in columns:
                raise InputError(
                    f"{kind} factor {name!r} is not a column of the table;{near_miss(name, columns)} "
                    f"Columns: {listing(columns)}"
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


def put_on_scales(design: Design, scales: Asked, source: Source | None = None) -> Design:
    """Return the design with the factors ``scales`` on their scales; ``source`` tells the row of a level that is wrong.

    Examples
    --------
    >>> from recombine.design.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 2]], sizes=(2, 4), names=["plant", "dose"])
    >>> put_on_scales(design, {"dose": (FactorScale.ORDERED, ())}).scales[1]
    Scale(ordered; 4 levels, 2 knots)
    """
    factors = list(design.factors)
    inside = {name for column in design.parts for name in column.names}
    for name, (kind, in_order) in scales.items():
        if name not in design.names or name in inside:
            raise InputError(f"{kind} {name!r} is not one of the factors {listing(design.columns)}; name it among them")
        for index in design.twins(design.names.index(name)):
            factor = replace(factors[index], scale=kind, in_order=in_order)
            for level in factor.levels:
                _check_level(factor, level, source)
            labels = set(factor.labels)
            factors[index] = replace(
                factor, levels=(*factor.levels, *(level for level in in_order if level not in labels))
            )
            _refuse_same_place(factors[index])
    refuse_curved([item for item in design.nesting if not item.inferred], factors)
    named = {factor.name for factor in factors if factor.scale is not FactorScale.LABELS}
    nesting = tuple(item for item in design.nesting if not named & {item.child, item.parent})
    return replace(design, factors=tuple(factors), nesting=nesting)


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
        advice = f"correct it, or say in which order its levels come: --ordered '{factor.name}=low<mid<high'"
    raise InputError(f"{text!r}{row} of the {factor.scale} factor {factor.name!r} is not a number; {advice}")


def _refuse_same_place(factor: Factor) -> None:
    there: dict[object, str] = {}
    for position, label in zip(factor.places, factor.labels, strict=True):
        twin = there.setdefault(position, label)
        if twin != label:
            raise InputError(
                f"{twin!r} and {label!r} of the {factor.scale} factor {factor.name!r} are one number; write it one way"
            )


def scales_of(design: Design, seen: IntArray | None = None) -> tuple[Scale | None, ...]:
    """Return where the levels of each factor lie, None for labels; empty if there are labels only.

    Knots are levels of the cells ``seen`` (N, C), by default those of training.
    """
    if all(factor.scale is FactorScale.LABELS for factor in design.factors):
        return ()
    cells = design.seen if seen is None else seen
    scales: list[Scale | None] = []
    for index, factor in enumerate(design.factors):
        if factor.scale is FactorScale.LABELS:
            scales.append(None)
            continue
        occurs = np.isin(np.arange(len(factor.levels)), cells[:, list(design.twins(index))])
        scales.append(place_levels(factor.scale, factor.places, occurs))
    return tuple(scales)


def add_levels(design: Design, index: int, levels: Sequence[Any], row: str = "") -> tuple[Factor, ...]:
    """Return the factors with new ``levels`` of the factor at ``index``, which lies on a scale; those have a place."""
    factors = list(design.factors)
    for level in levels:
        if not factors[index].placed(level):
            text, factor = level_text(level), factors[index]
            numbers = "among " + listing(factor.in_order) if factor.in_order else "a number"
            raise InputError(f"{row}{text!r} of the {factor.scale} factor {factor.name!r} is not {numbers}; correct it")
    tidy = tuple(_tidy(level, factors[index]) for level in levels)
    for member in design.twins(index):
        factors[member] = replace(factors[member], levels=(*factors[member].levels, *tidy))
    return tuple(factors)


def _tidy(level: Any, factor: Factor) -> Any:
    """Write the number of a text as short as it goes: 2020 for 2020.0."""
    short = level_text(level) if factor.in_order else level_text(float(level))
    return short if isinstance(level, str) and factor.place(short) == factor.place(level) else level


def place_cell(design: Design, levels: Mapping[str, object] | Sequence[object]) -> tuple[Design, IntArray]:
    """Return the codes (C,) of one cell, and the design they refer to: a new one if a level on a scale is new.

    Examples
    --------
    >>> from recombine.design.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 2]], names=["plant", "dose"])
    >>> design = put_on_scales(design, {"dose": (FactorScale.ORDERED, ())})
    >>> larger, cell = place_cell(design, {"plant": 0, "dose": 1.5})
    >>> cell.tolist(), larger.label(cell)
    ([0, 3], '0 · 1.5')
    """
    values = one_cell(levels, design.parts, design.names)
    larger = design
    for index, value in enumerate(values):
        factor = larger.factors[index]
        if factor.scale is not FactorScale.LABELS and factor.unknown(np.array([value], dtype=object)):
            larger = replace(larger, factors=add_levels(larger, index, [value]))
    if larger is design:
        return design, design.cell(levels)
    codes = np.array([[factor.code(value) for factor, value in zip(larger.factors, values, strict=True)]])
    cells = canonical(codes, design.symmetric)
    targets = cells if design.asked is None else np.vstack([design.asked, cells])
    return allow(larger, targets), cells[0]


def nearest_knots(design: Design, cells: IntArray) -> IntArray:
    """Return ``cells`` (N, C) with each level on a scale replaced by the knot that counts most for it."""
    curved = [(factor, scale) for factor, scale in enumerate(design.scales) if scale is not None]
    if not curved:
        return cells
    nearest = cells.copy()
    for factor, scale in curved:
        nearest[:, factor] = scale.nearest[cells[:, factor]]
    return nearest


def between_knots(design: Design, cells: IntArray) -> BoolArray:
    """Say which ``cells`` (N, C) hold a level of an ordered factor that was not seen, (N,)."""
    between = np.zeros(len(cells), dtype=bool)
    for factor, scale in enumerate(design.scales):
        if scale is not None and scale.kind is FactorScale.ORDERED:
            between |= scale.between[cells[:, factor]]
    return between


def on_curve(design: Design, cells: IntArray) -> BoolArray:
    """Say of which ``cells`` (N, C) the value is read off a curve: of a numeric factor, or between ordered levels."""
    numeric = any(scale is not None and scale.kind is FactorScale.NUMERIC for scale in design.scales)
    return np.ones(len(cells), dtype=bool) if numeric else between_knots(design, cells)


def outside_words(design: Design, cell: IntArray) -> list[str]:
    """Say of each level of ``cell`` (C,) outside the seen range which range that is, and what to collect.

    Examples
    --------
    >>> from recombine.design.design import Design
    >>> design = Design.from_cells([[0, 0], [1, 2]], sizes=(2, 4), names=["plant", "dose"])
    >>> outside_words(put_on_scales(design, {"dose": (FactorScale.ORDERED, ())}), np.array([0, 3]))
    ['dose 3 lies above the seen range 0 to 2: collect a row with dose 3 or above']
    """
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
