"""The columns of a table as slots: which values each slot takes, which of them every row has, and their components."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.checks import real, reals, whole
from recombine.errors import InputError, near_miss
from recombine.sample_checks import call
from recombine.tables.frames import open_table
from recombine.theory.compositions.composition import Composition
from recombine.theory.sufficiency.component_grid import ComponentGrid
from recombine.theory.sufficiency.stacked_rank import require_small
from recombine.theory.supports.latents import as_text
from recombine.writing import listing

#: Share of a reach by which rounding may move a number over the edge between two values.
EDGE_ROUNDING_SHARE = 1e-9
#: Unknown numbers beyond which the equations are too many: ten seconds of one core each time they are solved.
MAX_UNKNOWNS = 1000
#: How often components are drawn where none are given: what every draw says holds for almost all of them.
COMPONENT_DRAWS = 2
#: Numbers of a component that a message shows.
MAX_NUMBERS_SHOWN = 3

Column = npt.NDArray[Any]
#: How many numbers a component has, or the component itself: coordinates (P, D) -> (P, ..., M).
Given = int | Callable[[FloatArray], npt.ArrayLike]


@record
class SlotValues:
    """The distinct values of each slot.

    Attributes
    ----------
    values : mapping of slot to mapping of column to array (n_k,)
        Every value that the rows take, by its coordinates.
    cells : int array, (N, K)
        Which value each row has.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.0, 0.04, 1.0], "hue": ["red", "blue", "red"]})
    >>> read = SlotValues.of(frame, {"arm": ["x"], "lamp": ["hue"]}, {"x": 0.1})
    >>> read.cells.tolist(), read.text([1, 0])
    ([[0, 1], [0, 0], [1, 1]], 'arm (x = 1), lamp (hue = blue)')
    """

    values: Mapping[str, Mapping[str, Column]]
    cells: IntArray

    @classmethod
    def of(
        cls, table: object, slots: Mapping[str, Sequence[str]], reach: float | Mapping[str, float] | None
    ) -> SlotValues:
        """Read the slots' columns; numbers of a column with a reach are one value within steps as long as it."""
        named = _named_columns(slots)
        columns = _columns(table, named)
        steps = _steps(reach, columns)
        values, codes = {}, []
        for slot, names in named.items():
            marks = [_marks(columns[name], steps.get(name)) for name in names]
            _, inverse = np.unique(np.stack(marks, axis=1), axis=0, return_inverse=True)
            code = np.asarray(inverse.reshape(-1), dtype=np.int64)
            values[slot] = {name: _typical(columns[name], code, name in steps) for name in names}
            codes.append(code)
        return cls(values, np.stack(codes, axis=1))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each slot."""
        return tuple(len(next(iter(columns.values()))) for columns in self.values.values())

    def coordinates(self, slot: str) -> FloatArray:
        """Return the values of a slot as numbers (n_k, D)."""
        for name, column in self.values[slot].items():
            if column.dtype.kind not in "biuf":
                raise InputError(
                    f"column {name!r} of slot {slot!r} holds {column[0]!r}, not numbers, so no function takes it; "
                    "say how many numbers its component has"
                )
        return np.stack([column.astype(float) for column in self.values[slot].values()], axis=1)

    def value_text(self, slot: int, value: int) -> str:
        """Write a value with the name of its slot and columns."""
        name, columns = list(self.values.items())[slot]
        parts = [f"{column} = {_text(numbers[value])}" for column, numbers in columns.items()]
        return f"{name} ({', '.join(parts)})"

    def text(self, cell: Sequence[int] | IntArray) -> str:
        """Write a combination of values."""
        return ", ".join(self.value_text(slot, int(value)) for slot, value in enumerate(cell))

    def columns_of(self, cells: IntArray) -> dict[str, Column]:
        """Return the coordinates of cells (P, K), each column (P,)."""
        pairs = zip(self.values.values(), cells.T, strict=True)
        return {name: column[codes] for columns, codes in pairs for name, column in columns.items()}


def seen_rows(table: object, seen: Any, rows: int) -> BoolArray:
    """Return which rows (N,) were seen: all, those that a mask marks, or those that a column of the table marks."""
    name = f"column {seen!r}" if isinstance(seen, str) else "seen"
    if seen is None:
        return np.ones(rows, dtype=bool)
    if isinstance(seen, str):
        source = open_table(table)
        seen = source.read([source.require(seen, "seen:")])[seen]
    marks = np.asarray(seen)
    if marks.shape != (rows,) or not all(mark in (True, False) for mark in marks.tolist()):
        raise InputError(
            f"{name} has shape {marks.shape} and kind {marks.dtype} for {rows} rows; give True or False for each row"
        )
    if not (marks == True).any():  # noqa: E712 (marks may be objects)
        raise InputError(f"{name} marks no row as seen; mark those that the model was trained on")
    return marks.astype(bool)


def component_grids(
    rule: Composition,
    components: Given | Mapping[str, Given],
    read: SlotValues,
    cells: IntArray,
    rng: np.random.Generator,
) -> list[ComponentGrid]:
    """Return the values' components as given, or several draws of them, under a rule that is defined at all cells."""
    givens = components if isinstance(components, Mapping) else dict.fromkeys(read.values, components)
    if set(givens) != set(read.values):
        raise InputError(f"components name {sorted(givens)} and slots {sorted(read.values)}; give one for each slot")
    draws = 1 if all(callable(given) for given in givens.values()) else COMPONENT_DRAWS
    pairs = [(slot, size, givens[slot]) for slot, size in zip(read.values, read.sizes, strict=True)]
    grids = [ComponentGrid.of(rule, [_component(*pair, read, rng) for pair in pairs]) for _ in range(draws)]
    unknowns = sum(columns.size for columns in grids[0].columns)
    if unknowns > MAX_UNKNOWNS:
        sizes = ", ".join(f"{slot} {size:,}" for slot, size, _ in pairs)
        raise InputError(
            f"the slots take too many values ({sizes}), {unknowns:,} unknown numbers where {MAX_UNKNOWNS:,} can be "
            "handled; give a reach, or a longer one, within which values count as one"
        )
    require_small(grids[0].components[0].shape[1:-1], unknowns)
    for grid in grids:
        _require_defined(grid, cells, list(read.values), draws > 1)
    return grids


def _component(slot: str, size: int, given: Given, read: SlotValues, rng: np.random.Generator) -> FloatArray:
    if not callable(given):
        return rng.standard_normal((size, whole(given, f"component of slot {slot!r}")))
    name = f"component of slot {slot!r}"
    rows = reals(call(given, f"the {name}", read.coordinates(slot)), name)
    if rows.ndim < 2 or len(rows) != size:
        raise InputError(f"the {name} gave shape {rows.shape} for {size} values; return one row for each: ({size}, M)")
    return rows


def _require_defined(grid: ComponentGrid, cells: IntArray, slots: Sequence[str], drawn: bool) -> None:
    """Refuse components at which the composition has no value."""
    counts = {slot: component.shape[-1] for slot, component in zip(slots, grid.components, strict=True)}
    try:
        with np.errstate(all="ignore"):
            outputs = grid.outputs(cells).reshape(len(cells), -1)
    except InputError as error:
        if not drawn:
            raise
        raise InputError(f"{error}, or say how many numbers each slot has, not components={counts}") from error
    if not outputs.size:
        raise InputError(
            f"{grid.composition.name} gave no numbers; say how many each slot has, not components={counts}"
        )
    (beyond,) = np.nonzero(~np.isfinite(outputs).all(axis=1))
    if len(beyond):
        components = grid.parts(cells[beyond[:1]])
        numbers = ", ".join(as_text(component.reshape(-1)[:MAX_NUMBERS_SHOWN]) for component in components)
        signs = "; draws have either sign" if drawn else ""
        raise InputError(
            f"{grid.composition.name} gave no finite number for components {numbers}; give components as functions "
            f"that return what it takes{signs}"
        )


def _named_columns(slots: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    if not isinstance(slots, Mapping) or not slots:
        raise InputError(
            f"slots are {slots!r}; map each slot to its columns, as {{'arm': ['x', 'y'], 'lamp': ['lux']}}"
        )
    named = {str(slot): [names] if isinstance(names, str) else list(names) for slot, names in slots.items()}
    for slot, names in named.items():
        if not names:
            raise InputError(f"slot {slot!r} has no columns; name those that hold its coordinates, or leave it out")
    listed = [name for names in named.values() for name in names]
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"column {twice!r} is named twice in slots; a column belongs to one slot")
    return named


def _columns(table: object, named: Mapping[str, Sequence[str]]) -> dict[str, Column]:
    source = open_table(table)
    pairs = [(slot, name) for slot, names in named.items() for name in names]
    read = source.read([source.require(name, f"slot {slot!r}: column") for slot, name in pairs])
    columns = {}
    for _, name in pairs:
        column = read[name]
        if source.kind(name) in ("integer", "number") and column.dtype.kind not in "iuf":
            column = np.array([np.nan if entry in (None, "") else float(entry) for entry in column.tolist()])
        columns[name] = column
        if not len(column):
            raise InputError("the table has no rows; give at least one")
        empty = np.array([entry is None or entry != entry for entry in column.tolist()])
        beyond = np.isinf(column) if column.dtype.kind == "f" else empty
        if (empty | beyond).any():
            row = int((empty | beyond).argmax())
            what = "no value" if empty[row] else f"the value {column[row]}"
            raise InputError(
                f"column {name!r} has {what} in row {row}, counted from 0, and such rows are "
                f"{int((empty | beyond).sum())} in all; leave them out or fill them in"
            )
    return columns


def _steps(reach: float | Mapping[str, float] | None, columns: Mapping[str, Column]) -> dict[str, float]:
    """Return the reach of each column that has one."""
    if reach is None:
        return {}
    given = reach if isinstance(reach, Mapping) else dict.fromkeys(columns, reach)
    for name, step in given.items():
        if name not in columns:
            names = f"Columns: {listing(columns)}"
            raise InputError(f"reach names {name!r}, which is no column of a slot;{near_miss(name, columns, names)}")
        real(step, f"reach of {name!r}", above=0)
        if columns[name].dtype.kind not in "biuf":
            raise InputError(
                f"column {name!r} holds {columns[name][0]!r}, not numbers, so it has no reach; give reach as a mapping "
                "of the numeric columns alone, as {'x': 0.1}"
            )
    return {name: float(step) for name, step in given.items()}


def _marks(column: Column, step: float | None) -> IntArray:
    """Number the values of a column (N,): the same where they are equal, or in the same step."""
    if step is not None:
        numbers = column.astype(float)
        column = np.floor((numbers - numbers.min()) / step + EDGE_ROUNDING_SHARE)
    elif column.dtype.kind == "O":
        column = column.astype(str)
    return np.asarray(np.unique(column, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _typical(column: Column, codes: IntArray, averaged: bool) -> Column:
    """Return the coordinate of each value (n,): that of its rows, or their mean where they may differ."""
    if averaged:
        return np.asarray(np.bincount(codes, column.astype(float)) / np.bincount(codes))
    return np.asarray(column[np.unique(codes, return_index=True)[1]])


def _text(entry: Any) -> str:
    return f"{entry:.4g}" if isinstance(entry, float | np.floating) else str(entry)
