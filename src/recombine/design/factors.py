"""Factors: names, levels and the integer codes that stand for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray, sizes_of
from recombine.cells.scales import FactorScale
from recombine.errors import InputError, near_miss
from recombine.tables.numbers import is_number, level_text, look_alikes, spelled
from recombine.tables.table import Table
from recombine.writing import listing, printable

#: From here on floating point skips integers, so two levels could be read as one.
MAX_EXACT_INTEGER = 2**53


@dataclass(frozen=True, eq=False)
class Factor:
    """A named factor and its levels, in the order of their codes.

    ``scale`` says whether levels are labels or lie on a line: an ordered or numeric factor. They lie where the numbers
    do that they write, or one step apart as ``in_order`` lists them. ``merged`` are spellings that were taken for one
    level, the level first; where it is not None, any other spelling of a level is that level too.

    Examples
    --------
    >>> Factor("colour", ("blue", "red")).labels
    ('blue', 'red')
    """

    name: str
    levels: tuple[Any, ...]
    scale: FactorScale = FactorScale.LABELS
    in_order: tuple[str, ...] = ()
    merged: tuple[tuple[str, ...], ...] | None = None

    def __repr__(self) -> str:
        return printable(f"Factor({self.name!r}, {len(self.levels):,} levels)")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Levels as text."""
        return tuple(level_text(level) for level in self.levels)

    @property
    def on_scale(self) -> bool:
        """Whether levels lie on a line, as those of ordered and numeric factors do."""
        return self.scale is not FactorScale.LABELS

    def placed(self, level: object) -> bool:
        """Say whether ``level`` has a place on the factor's scale."""
        text = level_text(level)
        return text in self.in_order if self.in_order else is_number(text)

    def place(self, level: object) -> Fraction:
        """Return where ``level`` lies on the factor's scale."""
        text = level_text(level)
        return Fraction(self.in_order.index(text) if self.in_order else text)

    @cached_property
    def places(self) -> tuple[Fraction, ...]:
        """Where every level lies on the factor's scale."""
        return tuple(map(self.place, self.levels))

    def code(self, level: object) -> int:
        """Return the code of ``level`` (the value, its text or what reports write), or raise with the nearest level."""
        code = self._find(level)
        code = self._written.get(level_text(level)) if code is None else code
        if code is not None:
            return code
        raise InputError(f"{level!r} is not a level of factor {self.name!r};{near_miss(level, self.labels, 'Levels:')}")

    @cached_property
    def _codes(self) -> dict[object, int]:
        texts: dict[object, int] = {label: code for code, label in enumerate(self.labels)}
        return texts | {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def _written(self) -> dict[str, int | None]:
        """Codes by what reports write for labels that are not printable as they are, None where several are alike."""
        codes: dict[str, int | None] = {}
        for code, label in enumerate(self.labels):
            if (text := printable(label)) != label:
                codes[text] = None if text in codes else code
        return codes

    @cached_property
    def _readings(self) -> dict[object, int | None]:
        """Codes by what labels can be read as, None where several can: a table that asks may write 2.0 for 2."""
        readings: dict[object, int | None] = {}
        for code, label in enumerate(self.labels):
            reading = _reading(label, self.merged is not None)
            readings[reading] = None if reading in readings else code
        return readings

    def _find(self, value: object) -> int | None:
        text = level_text(value)
        for key in (value, text):
            if key in self._codes:
                return self._codes[key]
        reading = _reading(text, self.merged is not None)
        return None if reading is None else self._readings.get(reading)

    def unknown(self, values: npt.NDArray[Any]) -> list[Any]:
        """Return the distinct ``values`` that are not levels, in order of appearance."""
        return [value for value in dict.fromkeys(values.tolist()) if self._find(value) is None]

    def codes(self, values: npt.NDArray[Any], unknown: int | None = None) -> IntArray:
        """Return the codes of ``values`` (N,); what is no level is an error, or gets the code ``unknown``."""
        listed = values.tolist()
        codes: dict[Any, int] = {} if unknown is None else dict.fromkeys(self.unknown(values), unknown)
        codes |= {value: self.code(value) for value in set(listed) if value not in codes}
        return np.fromiter(map(codes.__getitem__, listed), dtype=np.int64, count=len(listed))


def _reading(text: str, spelling: bool) -> object:
    """Parse a label as number or boolean, or as any other ``spelling`` of a level, to match one; None if it is none."""
    if spelling:
        return spelled(text)
    if is_number(text):
        return float(text)
    flag = text.casefold()
    return flag if flag in ("true", "false") else None


def place_of(factors: Sequence[str], name: str) -> int:
    """Return the position of the symmetric factor ``name``, or raise with the nearest name."""
    if name not in factors:
        raise InputError(f"symmetric factor {name!r} is not one of the factors;{near_miss(name, factors, 'Factors:')}")
    return list(factors).index(name)


def code_levels(
    names: Sequence[str],
    columns: Sequence[npt.NDArray[Any]],
    symmetric: Sequence[int],
    source: str,
    merge: IntArray | None = None,
) -> tuple[tuple[Factor, ...], IntArray]:
    """Turn raw level columns into factors and codes (M, C); symmetric factors share one list of levels.

    Where ``merge`` (M,) says how many rows stand behind each, levels that look alike become the most frequent of them.
    """
    values = [_readable(name, column) for name, column in zip(names, columns, strict=True)]
    kinds = {values[index].dtype.kind for index in symmetric}
    if len(kinds) > 1 and not kinds <= set("iuf"):
        values = [_texts(column) if index in symmetric else column for index, column in enumerate(values)]
    groups = [None] * len(names) if merge is None else _spellings(values, symmetric, merge)
    for index, spellings in enumerate(groups):
        level_of = {text: group[0] for group in spellings or () for text in group}
        if level_of:
            values[index] = np.array([level_of.get(level, level) for level in values[index].tolist()], dtype=object)
    joint = _ordered(np.concatenate([values[index] for index in symmetric])) if symmetric else []
    factors, codes = [], []
    for index, (name, column) in enumerate(zip(names, values, strict=True)):
        levels = joint if index in symmetric else _ordered(column)
        if len(levels) < 2:
            raise InputError(
                f"factor {name!r} of {source} has one level only ({levels[0]!s}) in its usable rows; "
                "nothing can be recombined along it, so leave it out"
            )
        factors.append(Factor(name, tuple(levels), merged=groups[index]))
        codes.append(_coded(levels, column))
    return tuple(factors), np.stack(codes, axis=1).astype(np.int64)


def _spellings(
    columns: Sequence[npt.NDArray[Any]], symmetric: Sequence[int], rows: IntArray
) -> list[tuple[tuple[str, ...], ...] | None]:
    """Return by column the groups of texts that look alike, the one with most rows first."""
    groups: list[tuple[tuple[str, ...], ...] | None] = []
    for index in range(len(columns)):
        counts: Counter[str] = Counter()
        for column in [columns[twin] for twin in symmetric] if index in symmetric else [columns[index]]:
            for level, count in zip(column.tolist() if column.dtype.kind in "OUS" else (), rows.tolist(), strict=False):
                counts[level] += count
        alike = look_alikes(sorted(counts))
        groups.append(tuple(tuple(sorted(group, key=lambda level: -counts[level])) for group in alike))
    return groups


def factor_table(factors: Sequence[Factor]) -> Table:
    """Return one row per factor: how many levels it has, and the first of them.

    Examples
    --------
    >>> factor_table([Factor("colour", ("blue", "red"))])
    factor  levels  names
    colour  2       blue, red
    """
    rows = [(factor.name, len(factor.labels), listing(factor.labels, 6)) for factor in factors]
    return Table.from_rows({"factor": name, "levels": count, "names": names} for name, count, names in rows)


def numbered_factors(
    codes: IntArray, names: Sequence[str] | None, sizes: Sequence[int] | None, symmetric: Sequence[Sequence[int]]
) -> tuple[Factor, ...]:
    """Return factors for ``codes`` (N, C) whose levels are their numbers; symmetric ones have as many as each other."""
    counts = list(sizes_of(codes))
    for members in symmetric:
        for index in members:
            counts[index] = max(counts[member] for member in members)
    levels = tuple(sizes) if sizes is not None else tuple(counts)
    labels = list(names) if names is not None else [f"factor {index + 1}" for index in range(codes.shape[1])]
    if len(labels) != codes.shape[1] or len(levels) != codes.shape[1]:
        raise InputError(f"cells have {codes.shape[1]} columns; give as many names and sizes")
    if any(size < count for size, count in zip(levels, counts, strict=True)):
        raise InputError(f"sizes {list(levels)} are too small: cells use {counts} levels")
    return tuple(Factor(label, tuple(range(size))) for label, size in zip(labels, levels, strict=True))


def _readable(name: str, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Mixed types (numbers and text in one column) cannot be sorted: read them as text."""
    if levels.dtype.kind == "O":
        return _texts(levels)
    if levels.dtype.kind == "f" and np.abs(levels).max(initial=0.0) >= MAX_EXACT_INTEGER:
        raise InputError(
            f"factor {name!r} has the level {np.abs(levels).max():.6g}: numbers that large run into each other as "
            "floating point; store the column as text or as 64-bit integers"
        )
    return levels


def _texts(levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    listed = levels.tolist()
    if set(map(type, listed)) <= {str}:
        return levels.astype(object)
    return np.array([level_text(level) for level in listed], dtype=object)


def _ordered(column: npt.NDArray[Any]) -> list[Any]:
    """Return the distinct levels in order; texts that all write numbers are in the order of these numbers."""
    if column.dtype.kind not in "OUS":
        return list(np.unique(column).tolist())
    levels = sorted(set(column.tolist()))
    return sorted(levels, key=float) if all(map(is_number, levels)) else levels


def _coded(levels: list[Any], column: npt.NDArray[Any]) -> IntArray:
    if column.dtype.kind not in "OUS":
        return np.searchsorted(np.array(levels, dtype=column.dtype), column).astype(np.int64)
    codes = {level: code for code, level in enumerate(levels)}
    return np.fromiter(map(codes.__getitem__, column.tolist()), dtype=np.int64, count=len(column))
