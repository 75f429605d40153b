"""Forced rendering: how claims read rows of networks, and what counts as composing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import claims_of
from recombine.tables.table import Table

#: Sides of the images that the paper paints, from here up.
PAPER_SIDE = 28
RAMPS = ("ramp", "scaled-ramp")
#: What counts as composing: share of peaks in the hole, and correlation with the truth (a sum of two stripes has 0.47).
IN_PLACE, COMPOSES = 0.95, 0.7


def mean(rows: Table, column: str, **values: Any) -> float:
    """Return the mean of a column over chosen rows; NaN when there are none, which no comparison accepts.

    Examples
    --------
    >>> mean(Table({"code": ["bump", "ramp"], "peaks": [0.2, 0.4]}), "peaks", code="ramp")
    0.4
    """
    chosen = rows.only(**values)
    return float(chosen[column].mean()) if len(chosen) else float("nan")


def worst(values: FloatArray) -> float:
    """Return the largest value; NaN when there are none.

    Examples
    --------
    >>> import numpy as np
    >>> worst(np.array([1.0, 3.0])), worst(np.array([]))
    (3.0, nan)
    """
    return float(values.max()) if len(values) else float("nan")


def paper_size(rows: Table) -> bool:
    """Say whether all rows are of images as large as the paper's."""
    return bool(len(rows)) and bool((rows["side"] >= PAPER_SIDE).all())


def codes_of(rows: Table) -> list[str]:
    """Return the codes in their order."""
    return list(dict.fromkeys(rows["code"].tolist()))


def words(values: dict[str, float], form: str = ".2f") -> str:
    """Return named numbers as text.

    Examples
    --------
    >>> words({"bump": 0.281, "ramp": 0.3})
    'bump 0.28, ramp 0.30'
    """
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def all_of(conditions: Iterable[bool]) -> bool:
    """Say whether there are conditions and all are met: nothing measured is not a success."""
    met = [bool(condition) for condition in conditions]
    return bool(met) and all(met)


claim = claims_of("forced-rendering")
