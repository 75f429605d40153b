"""Descriptors of the levels of a factor, from a table of their own: one row per level, numbers beside its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError
from recombine.tables.columns import profile
from recombine.tables.frames import Source, open_table
from recombine.tables.numbers import is_number, kind_of_texts, level_text, missing_values
from recombine.writing import listing, plural, printable

FloatArray = npt.NDArray[np.float64]

#: Rows of a table of descriptors at most, and descriptors.
MAX_LEVELS_DESCRIBED, MAX_FEATURES = 20_000, 4_096
#: Values of a text column that are told apart at most; a column with more is left out.
MAX_VALUES_OF_TEXT = 8


@dataclass(frozen=True, eq=False)
class LevelFeatures:
    """Descriptors (L, D) of levels, without missing values and without columns that do not vary."""

    names: tuple[str, ...]  #: Of the D descriptors: a column, or ``column=value`` of a column of texts.
    levels: tuple[Any, ...]  #: Levels as the table has them.
    table: FloatArray
    source: str
    imputed: Mapping[str, int]  #: Columns with missing values, and how many: the median stands there.
    left_out: Mapping[str, str]  #: Columns that are no descriptors, and why.
    other_sheets: str = ""  #: Of a workbook, how to have another sheet.

    def __repr__(self) -> str:
        return printable(f"LevelFeatures({self.source}: {len(self.levels):,} levels, {listing(self.names)})")

    def of(self, levels: Iterable[Any]) -> FloatArray:
        """Return the descriptors (N, D) of levels (N,), NaN where there are none; 1, 1.0 and " 1" are one level.

        Examples
        --------
        >>> import pandas as pd
        >>> drugs = read_features(pd.DataFrame({"drug": ["1", "b"], "mass": [1.0, 2.0]}), "drug")
        >>> drugs.of(["b ", 1.0, "c"]).tolist()
        [[2.0], [1.0], [nan]]
        """
        longer = np.concatenate([self.table, np.full((1, len(self.names)), np.nan)])
        return longer[[self.rows.get(_spelling(level), len(self.table)) for level in levels]]

    @cached_property
    def rows(self) -> dict[object, int]:
        """The row of each level by how it is spelled."""
        return {_spelling(level): row for row, level in enumerate(self.levels)}

    def without(self, levels: Iterable[Any]) -> list[Any]:
        """Return the levels that have no descriptors."""
        return [level for level in levels if _spelling(level) not in self.rows]

    def beyond(self, levels: Iterable[Any]) -> list[Any]:
        """Return the described levels that are not among some."""
        spelled = {_spelling(level) for level in levels}
        return [level for level in self.levels if _spelling(level) not in spelled]

    def shared(self, levels: Sequence[Any], factor: str) -> None:
        """Raise where no level of a factor has descriptors."""
        if len(self.without(levels)) == len(levels):
            texts = [[level_text(level) for level in listed[:3]] for listed in (self.levels, levels)]
            raise InputError(
                f"{self.source} describes no level of factor {factor!r}: it has {listing(texts[0])}, the table has "
                f"{listing(texts[1])}; name the column that holds the levels: {factor}=file:column{self.other_sheets}"
            )


def _spelling(level: object) -> object:
    """What a level is read as: its number, or its text without blanks around it; a padded number is a text."""
    text = level_text(level).strip()
    return float(text) if kind_of_texts([text]) in ("integer", "number") else text


def read_features(data: object, factor: str) -> LevelFeatures:
    """Read descriptors of the levels of a factor from a path, a dataframe, or a pair of either and a column of levels.

    Levels stand in the column of the factor's name, else in the first. Numbers are taken as they are and the median
    where one is missing; texts of few values give a descriptor each. What does not vary is left out.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"drug": ["a", "b", "c"], "mass": [1.0, None, 3.0], "salt": ["Na", "K", "Na"], "n": 1})
    >>> drugs = read_features(frame, "drug")
    >>> drugs.names, drugs.table.tolist()
    (('mass', 'salt=Na'), [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> drugs.imputed, drugs.left_out
    ({'mass': 1}, {'n': 'does not vary'})
    """
    table, column = data if isinstance(data, tuple) else (data, None)
    source = open_table(table)
    if column is None:
        column = factor if factor in source.columns else source.columns[0]
    source.require(column, f"column of levels of {factor!r}")
    levels = _levels(source, column)
    imputed: dict[str, int] = {}
    left_out: dict[str, str] = {}
    columns: dict[str, FloatArray] = {}
    names = [name for name in source.columns if name != column]
    for name, values in source.read(names).items() if names else ():
        columns |= _descriptors(name, values, imputed, left_out)
    varying = {name: numbers for name, numbers in columns.items() if np.ptp(numbers) > 0}
    left_out |= {name: "does not vary" for name in columns if name not in varying}
    if not varying:
        reasons = "; ".join(f"{name} {reason}" for name, reason in list(left_out.items())[:3])
        raise InputError(
            f"{source.name} has no column that describes levels of {factor!r} beside {column!r}"
            f"{f' ({reasons})' if reasons else ''}; give columns of numbers that differ"
        )
    if len(varying) > MAX_FEATURES:
        raise InputError(
            f"{source.name} has {len(varying):,} descriptors of {factor!r}, more than {MAX_FEATURES:,}; leave some out"
        )
    return LevelFeatures(
        tuple(varying),
        levels,
        np.stack(list(varying.values()), axis=1),
        source.name,
        imputed,
        left_out,
        source.other_sheets,
    )


def _levels(source: Source, column: str) -> tuple[Any, ...]:
    """Return the levels of a table of descriptors, each once, or say which is missing or stands twice."""
    rows, _ = profile(source, [column])
    if rows > MAX_LEVELS_DESCRIBED:
        raise InputError(
            f"{source.name} has {rows:,} rows, and descriptors are read of {MAX_LEVELS_DESCRIBED:,} levels at most; "
            "leave out levels that nobody asks about"
        )
    values = source.read([column])[column]
    blank = np.flatnonzero(missing_values(values))
    if len(blank):
        raise InputError(
            f"{source.name} has no level in row {blank[0] + 1:,} of column {column!r}; name it, or leave the row out"
        )
    levels = [value.strip() if isinstance(value, str) else value for value in values.tolist()]
    counts: dict[object, list[str]] = {}
    for level in levels:
        counts.setdefault(_spelling(level), []).append(level_text(level))
    twice = [texts[0] for texts in counts.values() if len(texts) > 1]
    if twice:
        raise InputError(
            f"{source.name} describes {plural(len(twice), 'level')} more than once: {listing(twice)}; keep one row each"
        )
    return tuple(levels)


def _descriptors(
    name: str, values: npt.NDArray[Any], imputed: dict[str, int], left_out: dict[str, str]
) -> dict[str, FloatArray]:
    """Return the descriptors (L,) that one column gives, and note what is missing or left out."""
    absent = missing_values(values)
    numbers = _numbers(values, absent)
    if numbers is not None:
        finite = np.isfinite(numbers)
        if not finite.any():
            left_out[name] = "has no number"
            return {}
        if not finite.all():
            imputed[name] = int((~finite).sum())
        return {name: np.where(finite, numbers, np.median(numbers[finite]))}
    texts = np.array(
        [None if missing else level_text(value) for value, missing in zip(values.tolist(), absent, strict=True)],
        dtype=object,
    )
    distinct = sorted({text for text in texts.tolist() if text is not None})
    if len(distinct) > MAX_VALUES_OF_TEXT:
        left_out[name] = f"has {len(distinct):,} different texts"
        return {}
    chosen = distinct[1:] if len(distinct) == 2 and not absent.any() else distinct
    return {f"{name}={text}": (texts == text).astype(float) for text in chosen}


def _numbers(values: npt.NDArray[Any], absent: npt.NDArray[np.bool_]) -> FloatArray | None:
    """Return a column as numbers (L,), NaN where one is missing; None where it holds texts."""
    if values.dtype.kind in "biuf":
        return values.astype(float)
    listed = [None if missing else value for value, missing in zip(values.tolist(), absent, strict=True)]
    if not all(value is None or isinstance(value, int | float) or _writes_number(value) for value in listed):
        return None
    return np.array([np.nan if value is None else float(value) for value in listed])


def _writes_number(value: object) -> bool:
    return isinstance(value, str) and (is_number(value) or value.strip().casefold() in ("nan", "inf", "-inf"))
