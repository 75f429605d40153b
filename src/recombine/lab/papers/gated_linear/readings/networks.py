"""Gated linear networks on images: which trained networks, and which of their limits, are compared."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.papers.seeds import several
from recombine.tables.table import Table

#: What tells one row from another.
ROW = ("layers", "units", "bits", "thresholds", "samples", "momentum", "seed", "classifier")
#: Classifiers of a ReLU network that are compared with each other: itself, and limits that are given parts of it.
RELU_KINDS = ("network", "hidden layer", "learned contexts", "random contexts")


def complete_networks(rows: Table, kinds: tuple[str, ...], by: tuple[str, ...] = ("units", "samples", "seed")) -> Table:
    """Return those of ``kinds`` for networks, named by ``by``, for which every one of them has a hard margin.

    Examples
    --------
    >>> about = {"units": [10, 10, 20, 20], "samples": [200] * 4, "seed": [1] * 4}
    >>> rows = Table(about | {"classifier": ["network", "limit"] * 2, "error": [0.1, float("nan"), 0.1, 0.2]})
    >>> complete_networks(rows, ("network", "limit"))["units"].tolist()
    [20, 20]
    """
    rows = rows.where(np.isin(rows["classifier"], kinds))
    keys = list(zip(*(rows[name].tolist() for name in by), strict=True))
    lacking = {key for key, error in zip(keys, rows["error"].tolist(), strict=True) if not np.isfinite(error)}
    return rows.where(np.array([key not in lacking for key in keys], dtype=bool))


def network_pairs(rows: Table, column: str, by: str, value1: str, value2: str) -> tuple[FloatArray, FloatArray]:
    """Return a column of rows that differ in ``by`` alone, in percent; those without a hard margin are left out.

    Examples
    --------
    >>> about = dict.fromkeys(ROW, 1)
    >>> rows = Table.from_rows(about | {"classifier": name, "error": 0.5} for name in ("group", "zeta"))
    >>> network_pairs(rows, "error", "classifier", "group", "zeta")
    (array([50.]), array([50.]))
    """
    there = rows.where(np.isfinite(rows[column]))
    keys = [name for name in ROW if name != by]
    a, b = there.only(**{by: value1}).paired(there.only(**{by: value2}), column, on=keys)
    if not len(a):
        raise MissingRowsError(f"no network has both {by} {value1!r} and {value2!r}")
    return 100 * a, 100 * b


def ten_units(rows: Table) -> Table:
    """Return the setting in which most statements are made: 10 units, one bit, median thresholds, fewest samples.

    Examples
    --------
    >>> columns = {"layers": [2, 2], "units": [10, 10], "bits": [1, 1], "thresholds": ["median", "median"]}
    >>> ten_units(Table(columns | {"momentum": [0.0, 0.0], "samples": [400, 200]}))["samples"].tolist()
    [200]
    """
    chosen = rows.only(layers=2, units=10, bits=1, thresholds="median", momentum=0.0)
    return fewest_samples(chosen, "two-layer networks with 10 units, one bit and median thresholds")


def fewest_samples(rows: Table, words: str) -> Table:
    """Return the rows with fewest training samples, or say that there are none of what ``words`` name."""
    if not len(rows):
        raise MissingRowsError(f"no {words}")
    return rows.only(samples=int(rows["samples"].min()))


def setting_of(rows: Table) -> str:
    """Say which images, how many training samples and how many seeds.

    Examples
    --------
    >>> setting_of(Table({"images": ["digits"], "samples": [200], "seed": [1]}))
    'digits, 200 samples, 1 seed'
    """
    return f"{rows['images'][0]}, {rows['samples'][0]} samples, {several(len(rows.by('seed')), 'seed')}"


def best_gaps(rows: Table, names: tuple[str, str]) -> tuple[dict[int, FloatArray], dict[str, dict[int, FloatArray]]]:
    """Return how much larger the second classifier's least error over all shapes is, seed by seed, and both errors.

    Both by number of samples and in percent; only shapes of which both classifiers have an error are looked at.

    Examples
    --------
    >>> about = {name: 1 for name in ROW}
    >>> errors = [("group", 10, 0.2), ("effective", 10, 0.25), ("group", 20, 0.3), ("effective", 20, 0.21)]
    >>> rows = Table.from_rows(about | {"classifier": c, "units": u, "error": e} for c, u, e in errors)
    >>> gaps, _ = best_gaps(rows, ("group", "effective"))
    >>> gaps[1].round(6).tolist()
    [1.0]
    """
    gaps, errors = {}, {name: dict[int, FloatArray]() for name in names}
    for size, group in sorted(rows.by("samples").items()):
        seeds = [
            [values.min() for values in network_pairs(of_seed, "error", "classifier", *names)]
            for _, of_seed in sorted(group.by("seed").items())
        ]
        first, second = np.array(seeds).T
        gaps[size] = second - first
        errors[names[0]][size], errors[names[1]][size] = first, second
    if not gaps:
        raise MissingRowsError(f"no networks with limits {names[0]!r} and {names[1]!r}")
    return gaps, errors
