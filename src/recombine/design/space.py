"""What the cells of a design are cells of: factors with their levels, and what is said of cells that can exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical
from recombine.cells.scales import FactorScale
from recombine.design.factors import Factor
from recombine.design.nesting import Nested
from recombine.design.parts import Parts
from recombine.errors import InputError
from recombine.tables.frames import Source
from recombine.tables.numbers import missing_values
from recombine.writing import listing, printable


@dataclass(frozen=True, eq=False)
class FactorSpace:
    """Factors, which of them are interchangeable, and which of their cells cannot exist.

    Examples
    --------
    >>> space = FactorSpace((Factor("colour", ("blue", "red")), Factor("shape", ("ball", "cube"))))
    >>> space.title, space.label([1, 0]), space.cell(["red", "ball"]).tolist()
    ('colour (2) × shape (2)', 'red · ball', [1, 0])
    """

    factors: tuple[Factor, ...]
    symmetric: tuple[tuple[int, ...], ...] = ()  #: Groups of interchangeable factors.
    parts: tuple[Parts, ...] = ()  #: Columns that were taken apart into several factors: sequences and sets.
    nesting: tuple[Nested, ...] = ()  #: Which factors lie inside others, so that most of the product cannot exist.
    listed: IntArray | None = None  #: (L, C): the cells that a list named ``listed_in`` says can exist.
    listed_in: str = ""
    asked: IntArray | None = None  #: (T, C): cells that were asked about; they can exist.

    def __post_init__(self) -> None:
        # In whichever order they were named: the first of a group owns the columns of all.
        object.__setattr__(self, "symmetric", tuple(sorted(tuple(sorted(group)) for group in self.symmetric)))

    @property
    def names(self) -> tuple[str, ...]:
        """Factor names."""
        return tuple(factor.name for factor in self.factors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(len(factor.levels) for factor in self.factors)

    @property
    def taken_apart(self) -> frozenset[str]:
        """Names of the factors that are positions of a sequence or members of a set."""
        return frozenset(name for column in self.parts for name in column.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that hold the factors: the factors' names, then those of sequences and sets."""
        apart = self.taken_apart
        plain = (name for name in self.names if name not in apart)
        return (*plain, *(column.column for column in self.parts))

    @property
    def title(self) -> str:
        """Factor names with their numbers of levels: ``"carrier (16) × origin (3)"``."""
        texts = {factor.name: f"{factor.name} ({len(factor.levels):,})" for factor in self.factors}
        texts |= {column.column: column.title for column in self.parts}
        return printable(" × ".join(texts[name] for name in self.columns))

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the factors, interchangeable ones together: ``((0, 1), (2,))``."""
        paired = {index for group in self.symmetric for index in group}
        single = ((index,) for index in range(len(self.factors)) if index not in paired)
        return tuple(sorted([*self.symmetric, *single]))

    def twins(self, factor: int) -> tuple[int, ...]:
        """Return the positions of the factors that are interchangeable with ``factor``, its own among them."""
        return next(group for group in self.groups if factor in group)

    @property
    def nested_pairs(self) -> list[tuple[int, int]]:
        """Positions of child and parent of each nesting."""
        return [(self.names.index(item.child), self.names.index(item.parent)) for item in self.nesting]

    @property
    def labelled(self) -> FactorSpace:
        """The same with every factor's levels as labels."""
        plain = tuple(replace(factor, scale=FactorScale.LABELS, in_order=()) for factor in self.factors)
        return replace(self, factors=plain) if any(factor.on_scale for factor in self.factors) else self

    def with_levels(self, factor: int, levels: Sequence[Any]) -> FactorSpace:
        """Return the space with more ``levels`` of one factor and of those interchangeable with it."""
        factors = list(self.factors)
        for twin in self.twins(factor) if levels else ():
            factors[twin] = replace(factors[twin], levels=(*factors[twin].levels, *levels))
        return replace(self, factors=tuple(factors))

    def decode(self, cells: IntArray) -> dict[str, npt.NDArray[Any]]:
        """Return the level labels of ``cells`` (N, C), one column for each of `columns`."""
        labels = {
            factor.name: np.array(factor.labels, dtype=object)[cells[:, index]]
            for index, factor in enumerate(self.factors)
        }
        for column in self.parts:
            levels = zip(*(labels.pop(name) for name in column.names), strict=True)
            labels[column.column] = np.array([column.text(row) for row in levels], dtype=object)
        return labels

    def label(self, cell: Sequence[int] | IntArray) -> str:
        """Return one cell as text to read: ``"AA · JFK · LAX"``; `decode` returns levels as they are."""
        labels = [factor.labels[int(code)] for factor, code in zip(self.factors, cell, strict=True)]
        apart = {index for column in self.parts for index in column.places}
        texts = [label for index, label in enumerate(labels) if index not in apart]
        texts += [column.text([labels[index] for index in column.places]) for column in self.parts]
        return printable(" · ".join(texts))

    def by_factor(self, columns: Mapping[str, npt.NDArray[Any]], owner: str) -> dict[str, npt.NDArray[Any]]:
        """Return ``columns`` of N values each with sequences and sets replaced by one column for each factor."""
        apart = {column.column for column in self.parts}
        levels = {name: values for name, values in columns.items() if name not in apart}
        for column in self.parts:
            levels |= column.levels(columns[column.column].tolist(), owner)
        return levels

    def levels_of(self, cell: Mapping[str, object] | Sequence[object]) -> list[Any]:
        """Return one level of each factor (C,), given by factor or column, by name or in order."""
        levels, columns = cell, self.columns
        if isinstance(levels, Mapping):
            names = columns if set(columns) <= set(levels) else self.names
            if any(name not in levels for name in names):
                missing = listing([name for name in columns if name not in levels])
                raise InputError(f"cell {dict(levels)!r} lacks a level of {missing}; name one of each factor")
            levels = [levels[name] for name in names]
        if self.parts and isinstance(levels, str):
            levels = [levels]
        if isinstance(levels, str) or len(levels) not in (len(columns), len(self.names)):
            raise InputError(f"cell {levels!r} must give one level of each factor: {listing(columns)}")
        if not self.parts or len(levels) != len(columns):
            return list(levels)
        by_column = {name: np.array([level], dtype=object) for name, level in zip(columns, levels, strict=True)}
        by_factor = self.by_factor(by_column, "the cell")
        return [by_factor[name][0] for name in self.names]

    def cell(self, levels: Mapping[str, object] | Sequence[object]) -> IntArray:
        """Return the codes, shape (C,), of one cell given by its levels (in factor order, or by factor name)."""
        levels = self.levels_of(levels)
        codes = np.array([[factor.code(level) for factor, level in zip(self.factors, levels, strict=True)]])
        ordered: IntArray = canonical(codes, self.symmetric)[0]
        return ordered

    def codes_of_rows(self, source: Source) -> IntArray:
        """Return the cell of every row of a table, shape (R, C), as codes; -1 throughout where a row has none.

        A row has none if it lacks a factor, or has a level that is no level here.
        """
        for name in self.columns:
            source.require(name, "factor")
        values = source.read(self.columns)
        usable = ~np.logical_or.reduce([missing_values(column) for column in values.values()])
        levels = {name: column[usable] for name, column in values.items()}
        coded: dict[str, IntArray] = {}
        for column in self.parts:
            # Each text is taken apart once, in however many rows it stands.
            texts, inverse = np.unique(levels.pop(column.column).astype(str), return_inverse=True)
            taken = column.levels(texts.tolist(), source.name)
            for index, name in zip(column.places, column.names, strict=True):
                coded[name] = self.factors[index].codes(taken[name], unknown=-1)[inverse.reshape(-1)]
        codes = np.full((len(usable), len(self.factors)), -1, dtype=np.int64)
        for index, factor in enumerate(self.factors):
            codes[usable, index] = (
                coded[factor.name] if factor.name in coded else factor.codes(levels[factor.name], unknown=-1)
            )
        codes[(codes < 0).any(axis=1)] = -1
        return codes
