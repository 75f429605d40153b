"""Kernel theory: what is read off averages over random images, and off item values of dispersed sets."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import several
from recombine.tables.table import Table

#: Tasks that permutations of items keep.
ANCHOR_TASKS = ("one anchor", "two anchors")


def averaged_interactions(rows: Table) -> Measured:
    """Return what is no sum after averaging, over that of single models, and how it falls with the number averaged."""
    largest = int(rows["assignments"].max())
    if largest < 16:
        raise MissingRowsError("needs averages over 16 assignments and more")
    ratios, slopes = {}, {}
    for name, group in rows.by("task").items():
        means = {
            count: float(np.mean(averaged["interaction"]))
            for count, averaged in sorted(group.by("assignments").items())
        }
        ratios[name] = means[largest] / means[1]
        slopes[name] = float(np.polyfit(np.log([*means]), np.log([*means.values()]), 1)[0])
    if set(ANCHOR_TASKS) - set(ratios):
        raise MissingRowsError("needs both anchor sets")
    numbers = {
        "left of one model's": {name: ratios[name] for name in ANCHOR_TASKS},
        "power of the number averaged": {name: slopes[name] for name in ANCHOR_TASKS},
        "left, dispersed set": ratios.get("dispersed", float("nan")),
        "assignments": largest,
    }
    return Measured(
        numbers, f"{several(len(rows.by('seed')), 'seed')}, two 8x8 digits as inputs, kernel of a ReLU layer"
    )


def dispersed_item_values(rows: Table) -> Measured:
    """Return how slopes of item values and the scatter around them go with salience."""
    means = {
        amount: [float(sets[name].mean()) for name in ("slope", "scatter")]
        for amount, sets in sorted(rows.by("salience").items())
    }
    inside = {amount: pair for amount, pair in means.items() if 0 < amount < 0.5}
    if len(inside) < 3:
        raise MissingRowsError("needs three saliences between 0 and 1/2")
    numbers = {
        "slope": {f"S = {amount:g}": slope for amount, (slope, _) in inside.items()},
        "least scatter": min(scatter for _, scatter in inside.values()),
        "scatter at the smallest and largest S": [[*inside.values()][end][1] for end in (0, -1)],
    }
    return Measured(numbers, f"{several(len(rows.by('seed')), 'shuffled set')}, exact interpolation")
