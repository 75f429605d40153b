"""Forced rendering: means over chosen networks, and of which size their images are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.tables.table import Table

#: Sides of the images that the paper paints, from here up.
PAPER_SIDE = 28
#: Scales that bounds may differ by.
PAPER_SIZE, SMALL = "paper's size", "16 pixels"
RAMPS = ("ramp", "scaled-ramp")
NAN = float("nan")


def image_size(rows: Table) -> str:
    """Return the scale of rows: whether all images are as large as the paper's."""
    return PAPER_SIZE if len(rows) and (rows["side"] >= PAPER_SIDE).all() else SMALL


def row_mean(rows: Table, column: str, **values: Any) -> float:
    """Return the mean of a column over chosen rows; NaN when there are none, which no bound accepts.

    Examples
    --------
    >>> row_mean(Table({"code": ["bump", "ramp"], "peaks": [0.2, 0.4]}), "peaks", code="ramp")
    0.4
    """
    chosen = rows.only(**values)
    return float(chosen[column].mean()) if len(chosen) else NAN


def means_of(parts: Mapping[Any, Table], column: str) -> dict[str, float]:
    """Return the mean of a column over each part; NaN alone when there is none, which no bound accepts.

    Examples
    --------
    >>> means_of(Table({"code": ["bump", "bump", "ramp"], "peaks": [0.25, 0.75, 0.2]}).by("code"), "peaks")
    {'bump': 0.5, 'ramp': 0.2}
    """
    return {str(name): row_mean(part, column) for name, part in parts.items()} or {"none": NAN}


def ratios_of(parts: Mapping[Any, Table], above: str, below: str) -> dict[str, float]:
    """Return the mean of one column over that of another, for each part.

    Examples
    --------
    >>> ratios_of(Table({"gap": [10, 10], "blend": [1.0, 2.0], "truth": [2.0, 4.0]}).by("gap"), "blend", "truth")
    {'10': 0.5}
    """
    first, second = means_of(parts, above), means_of(parts, below)
    return {name: first[name] / second[name] for name in first}
