"""Forced rendering: means over chosen networks, what they were trained on, and of which size their images are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.forced_rendering.experiments.training import IMAGES, INVERTED
from recombine.lab.papers.measured import Measured
from recombine.tables.table import Table

#: Sides of the images that the paper paints, from here up.
PAPER_SIDE = 28
#: Scales that bounds may differ by.
PAPER_SIZE, SMALL = "paper's size", "16 pixels"
RAMPS = ("ramp", "scaled-ramp")
NAN = float("nan")
#: Fewer leave no interval over seeds.
MIN_SEEDS_OF_AN_INTERVAL = 2
#: Targets of training in formulas.
TARGET_WORDS = {IMAGES: "G", INVERTED: "1 - G"}
Reading = Callable[[Table], Measured]


def image_size(rows: Table) -> str:
    """Return the scale of rows: whether all images are as large as the paper's."""
    return PAPER_SIZE if len(rows) and (rows["side"] >= PAPER_SIDE).all() else SMALL


def donut_learned(rows: Table) -> float:
    """Return the error on the donut below which it counts as learned: 1e-3 per pixel at the paper's size.

    On 16 x 16 pixels a bump covers more of the image, which has more error when it is blank.

    Examples
    --------
    >>> donut_learned(Table({"side": [28, 32]})), round(donut_learned(Table({"side": [16]})), 5)
    (0.001, 0.00306)
    """
    return 1e-3 if image_size(rows) == PAPER_SIZE else 1e-3 * (PAPER_SIDE / 16) ** 2


def trained_on(rows: Table, target: str) -> Table:
    """Return the rows of networks trained on a target; where rows do not say, it was the images G.

    Examples
    --------
    >>> both = Table({"target": ["images", "inverted images"], "peaks": [0.4, 0.2]})
    >>> trained_on(both, "images")["peaks"].tolist(), len(trained_on(Table({"peaks": [0.4]}), "inverted images"))
    ([0.4], 0)
    """
    if "target" in rows.columns:
        return rows.only(target=target)
    return rows if target == IMAGES else rows.head(0)


def one_target(rows: Table) -> Table:
    """Return the rows of networks trained on 1 - G, as the released scripts do, or on G where no others are there.

    Networks of two targets differ, so that no mean is ever taken over both.

    Examples
    --------
    >>> one_target(Table({"target": ["images", "inverted images"], "peaks": [0.4, 0.2]}))["peaks"].tolist()
    [0.2]
    """
    return trained_on(rows, INVERTED) if len(trained_on(rows, INVERTED)) else trained_on(rows, IMAGES)


def reads_one_target(reading: Reading) -> Reading:
    """Make a reading look at `one_target` alone, and say at which."""

    @wraps(reading)
    def read(rows: Table) -> Measured:
        chosen = one_target(rows)
        target = INVERTED if len(trained_on(rows, INVERTED)) else IMAGES
        answer = reading(chosen)
        return replace(answer, detail="; ".join(filter(None, [answer.detail, f"trained on {TARGET_WORDS[target]}"])))

    return read


def picture_of(rows: Table) -> FloatArray:
    """Return one picture (lines, columns) from its rows.

    Examples
    --------
    >>> picture_of(Table({"line": [0, 1], "column": [1, 0], "value": [0.5, 2.0]})).tolist()
    [[0.0, 0.5], [2.0, 0.0]]
    """
    picture = np.zeros((int(rows["line"].max()) + 1, int(rows["column"].max()) + 1))
    picture[rows["line"], rows["column"]] = rows["value"]
    return picture


def row_mean(rows: Table, column: str, **values: Any) -> float:
    """Return the mean of a column over chosen rows; NaN when there are none, which no bound accepts.

    Examples
    --------
    >>> row_mean(Table({"code": ["bump", "ramp"], "peaks": [0.2, 0.4]}), "peaks", code="ramp")
    0.4
    """
    chosen = rows.only(**values)
    return float(chosen[column].mean()) if len(chosen) else NAN


def means_of(groups: Mapping[Any, Table], column: str) -> dict[str, float]:
    """Return the mean of a column over each part; NaN alone when there is none, which no bound accepts.

    Examples
    --------
    >>> means_of(Table({"code": ["bump", "bump", "ramp"], "peaks": [0.25, 0.75, 0.2]}).by("code"), "peaks")
    {'bump': 0.5, 'ramp': 0.2}
    """
    return {str(name): row_mean(group, column) for name, group in groups.items()} or {"none": NAN}


def ratios_of(groups: Mapping[Any, Table], above: str, below: str) -> dict[str, float]:
    """Return the mean of one column over that of another, for each part.

    Examples
    --------
    >>> ratios_of(Table({"gap": [10, 10], "blend": [1.0, 2.0], "truth": [2.0, 4.0]}).by("gap"), "blend", "truth")
    {'10': 0.5}
    """
    numerators, denominators = means_of(groups, above), means_of(groups, below)
    return {name: numerators[name] / denominators[name] for name in numerators}
