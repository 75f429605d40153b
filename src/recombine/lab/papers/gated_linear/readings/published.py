"""The errors in the authors' released result files, network by network: what figures draw in grey.

Taken from the last epoch of each trained network and from each convex problem (GitHub ``sflippl/implicit-bias-glns``,
commit 002054c): shapes, seeds, error on 12,000 validation images, and the share of these on which limit and network
differ. Networks that did not finish are left out (one layer, 15 hyperplanes, 500 images).
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.runs.collect import load_table
from recombine.tables.table import Table

#: What tells one published problem from another.
PROBLEM = ("layers", "units", "bits", "thresholds", "samples", "seed", "classifier")


@lru_cache(maxsize=1)
def published_rows() -> Table:
    """Return one row per classifier: "kind" (one layer, two layers, relu), shape, "classifier", error, inconsistency.

    The published limits of two layers are "published group" and "published effective", as that is what was solved.

    Examples
    --------
    >>> rows = published_rows()
    >>> linear = rows.only(kind="one layer", bits=0, samples=500, thresholds="median", seed=1, classifier="one-layer")
    >>> float(linear["error"][0].round(4))
    0.2622
    """
    with as_file(files("recombine.lab.papers.gated_linear") / "published.parquet") as path:
        return load_table(path)


def published(kind: str, **chosen: Any) -> Table:
    """Return the published rows of one kind of network that have an error.

    Examples
    --------
    >>> sorted(published("relu").by("units"))
    [10, 20, 50, 100, 500, 1000]
    """
    rows = published_rows().only(kind=kind, **chosen)
    return rows.where(np.isfinite(rows["error"]))


def beside_published(rows: Table, column: str, **chosen: Any) -> tuple[FloatArray, FloatArray]:
    """Return ``column`` of rows and the published errors of the same problems, in percent.

    Examples
    --------
    >>> rows = Table.from_rows(
    ...     [{"layers": 1, "units": 1, "bits": 0, "thresholds": "median", "samples": 500, "seed": 1, "error": 0.25}]
    ... )
    >>> rows = Table({name: rows[name] for name in rows.columns} | {"classifier": ["one-layer"]})
    >>> [values.round(1).tolist() for values in beside_published(rows, "error")]
    [[25.0], [26.2]]
    """
    released = published_rows()
    layers = np.where(released["kind"] == "one layer", 1, np.where(released["kind"] == "two layers", 2, 0))
    theirs = Table({name: released[name] for name in released.columns} | {"layers": layers, column: released["error"]})
    theirs = theirs.where(np.isfinite(theirs["error"]) & (theirs["layers"] > 0)).only(momentum=0.0)
    ours, published_errors = rows.only(**chosen).paired(theirs, column, on=list(PROBLEM))
    return 100 * ours, 100 * published_errors
