"""Gated linear networks on images: how claims read the rows, in percent, and on digits by direction alone.

Numbers belong to MNIST with 500, 1000 and 2000 training images. Where the 8x8 digits stood in, a check judges the
direction alone and says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import Outcome
from recombine.papers.seeds import MissingRowsError
from recombine.tables.table import Table

#: What tells one row from another.
ROW = ("layers", "units", "bits", "thresholds", "samples", "momentum", "seed", "classifier")


#: Classifiers of a ReLU network that are compared with each other: itself, and limits that are given parts of it.
RELU_KINDS = ("network", "hidden layer", "learned contexts", "random contexts")


def complete(rows: Table, kinds: tuple[str, ...], by: tuple[str, ...] = ("units", "samples", "seed")) -> Table:
    """Return those of ``kinds`` for networks, named by ``by``, for which every one of them has a hard margin.

    Examples
    --------
    >>> about = {"units": [10, 10, 20, 20], "samples": [200] * 4, "seed": [1] * 4}
    >>> rows = Table(about | {"classifier": ["network", "limit"] * 2, "error": [0.1, float("nan"), 0.1, 0.2]})
    >>> complete(rows, ("network", "limit"))["units"].tolist()
    [20, 20]
    """
    rows = rows.where(np.isin(rows["classifier"], kinds))
    keys = list(zip(*(rows[name].tolist() for name in by), strict=True))
    lacking = {key for key, error in zip(keys, rows["error"].tolist(), strict=True) if not np.isfinite(error)}
    return rows.where(np.array([key not in lacking for key in keys], dtype=bool))


def percent(rows: Table, column: str, **condition: Any) -> float:
    """Return the mean of a column over a condition, in percent; classifiers without a hard margin do not count.

    Examples
    --------
    >>> percent(Table({"error": [0.25, 0.75, float("nan")], "units": [10, 10, 10]}), "error", units=10)
    50.0
    """
    values = rows.only(**condition)[column]
    values = values[np.isfinite(values)]
    if not len(values):
        words = ", ".join(f"{name} {value}" for name, value in condition.items())
        raise MissingRowsError(f"nothing was run, or nothing is separable, at {words}")
    return 100 * float(values.mean())


def paired(rows: Table, column: str, by: str, one: str, other: str) -> FloatArray:
    """Return a column of rows that differ in ``by`` alone, in percent, shape (pairs, 2).

    Examples
    --------
    >>> about = {"layers": 2, "units": 10, "bits": 1, "thresholds": "median", "samples": 200, "momentum": 0.0}
    >>> named = [about | {"seed": 1, "classifier": name} for name in ("group", "zeta")]
    >>> rows = Table({name: [row[name] for row in named] for name in named[0]} | {"inconsistency": [0.5, 0.25]})
    >>> paired(rows, "inconsistency", "classifier", "group", "zeta").tolist()
    [[50.0, 25.0]]
    """
    found: dict[str, dict[tuple[Any, ...], float]] = {one: {}, other: {}}
    keys = [name for name in ROW if name != by]
    for row in rows.rows():
        if row[by] in found and np.isfinite(row[column]):
            found[row[by]][tuple(row[name] for name in keys)] = 100 * row[column]
    both = [(value, found[other][key]) for key, value in found[one].items() if key in found[other]]
    if not both:
        raise MissingRowsError(f"no network has both {by} {one!r} and {other!r}")
    return np.array(both)


def change(pairs: FloatArray) -> str:
    """Say how much the second of pairs (pairs, 2) exceeds the first, with two standard errors.

    Examples
    --------
    >>> change(np.array([[5.0, 4.0], [6.0, 6.0]]))
    '-0.50 ± 1.00 points over 2 pairs'
    """
    more = pairs[:, 1] - pairs[:, 0]
    spread = f" ± {2 * np.std(more, ddof=1) / len(more) ** 0.5:.2f}" if len(more) > 1 else ""
    return f"{more.mean():+.2f}{spread} points over {len(more)} pairs"


def on_digits(rows: Table) -> bool:
    """Say whether digits stood in for MNIST.

    Examples
    --------
    >>> on_digits(Table({"images": ["digits", "digits"]}))
    True
    """
    return set(rows["images"].tolist()) == {"digits"}


def verdict(rows: Table, value: str, direction: bool, numbers: bool, detail: str) -> Outcome:
    """Judge direction and numbers, or on digits the direction alone.

    Examples
    --------
    >>> verdict(Table({"images": ["digits"]}), "1.2 times", True, False, "").value
    '1.2 times (digits: direction only)'
    """
    if on_digits(rows):
        note = "8x8 digits stand in for MNIST, so only the direction is judged"
        return Outcome.of(f"{value} (digits: direction only)", direction, f"{detail}; {note}")
    return Outcome.of(value, direction and numbers, detail)


def ten_units(rows: Table, thresholds: str = "median") -> Table:
    """Return the setting in which most statements are made: 10 units, one bit, fewest samples.

    Examples
    --------
    >>> columns = {"layers": [2, 2], "units": [10, 10], "bits": [1, 1], "thresholds": ["median", "median"]}
    >>> ten_units(Table(columns | {"momentum": [0.0, 0.0], "samples": [400, 200]}))["samples"].tolist()
    [200]
    """
    chosen = rows.only(layers=2, units=10, bits=1, thresholds=thresholds, momentum=0.0)
    return fewest(chosen, f"two-layer networks with 10 units, one bit and {thresholds} thresholds")


def fewest(rows: Table, words: str) -> Table:
    """Return the rows with fewest training samples, or say that there are none of what ``words`` name.

    Examples
    --------
    >>> fewest(Table({"samples": [400, 200]}), "networks")["samples"].tolist()
    [200]
    """
    if not len(rows):
        raise MissingRowsError(f"no {words}")
    return rows.only(samples=int(rows["samples"].min()))


def where(rows: Table) -> str:
    """Say which images, how many training samples and how many seeds.

    Examples
    --------
    >>> where(Table({"images": ["digits"], "samples": [200], "seed": [1]}))
    'digits, 200 samples, 1 seeds'
    """
    return f"{rows['images'][0]}, {rows['samples'][0]} samples, {len(set(rows['seed'].tolist()))} seeds"
