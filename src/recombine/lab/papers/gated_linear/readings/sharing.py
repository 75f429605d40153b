"""Gated linear networks whose filters are shared over places: how near their flow ends to the limit by formula."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table


def shared_filters(rows: Table) -> Measured:
    """Return how far searched and flowed networks are from the group norm of shared filters, problem by problem."""
    problems = require(rows, at_least=2)
    excess = problems["ratio"] / problems["bound"] - 1
    numbers = {
        "problems": len(problems),
        "search from the bound, share of it": np.abs(problems["shared"] / problems["bound"] - 1).max(),
        "flow, furthest below the bound": -float(excess.min()),
        "flow, median above the bound": float(np.median(excess)),
        "flow, most above the bound": f"{excess.max():.1%}",
        "outputs more like those of shared filters": float(
            (problems["like shared"] > problems["like unshared"]).mean()
        ),
        "correlations with outputs of shared filters": _median_and_least(problems["like shared"]),
        "with those of filters of each place": _median_and_least(problems["like unshared"]),
    }
    detail = f"flows to a margin of {problems['margin'].min():.0e} at least; outputs on 1,000 fresh inputs of a problem"
    return Measured(numbers, detail)


def _median_and_least(values: FloatArray) -> str:
    return f"median {np.median(values):.3f}, least {values.min():.3f}"
