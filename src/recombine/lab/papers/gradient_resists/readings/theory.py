"""Gradient resists: what is read off the rows of the counterexamples."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require, several
from recombine.tables.table import Table


def information_and_slope(rows: Table) -> Measured:
    """Return information and slope of a smooth step across a gap, and of a sine at two of its zeros."""
    gap, sine, plain = (require(rows, map=name) for name in ("step across a gap", "sine at two zeros", "step, no gap"))
    numbers = {
        "step across a gap: information": float(gap["information"][0]),
        "step across a gap: largest slope": max(float(gap[name][0]) for name in ("slope", "quotient")),
        "sine at two zeros: information": float(sine["information"][0]),
        "sine at two zeros: slope": min(float(sine[name][0]) for name in ("slope", "quotient")),
    }
    detail = (
        f"slopes in closed form and as difference quotients, largest over X of {gap['points'][0]:,} values. The same "
        f"smooth step with X uniform on all of [-1, 1] has a slope of up to {plain['slope'][0]:.2f}"
    )
    return Measured(numbers, detail)


def told_by_chains(rows: Table) -> Measured:
    """Return by how much predictions that see X alone tell more about X than about Y, in random worlds."""
    more, about = rows["about X"] - rows["about Y"], rows["about Y"] > 0
    numbers = {
        "least, about X less about Y, bits": float(more.min()),
        "worlds that tell about Y and not about X": int((about & (rows["about X"] <= 0)).sum()),
        "median share of what is told about X": float(np.median(rows["about Y"] / rows["about X"])),
    }
    return Measured(numbers, f"{several(len(rows), 'random world')} of two to seven values each, summed exactly")


def filled_quadrants(rows: Table) -> Measured:
    """Return in which quadrants samples lie that are seen and held out, and whether labels follow X_1."""
    upper = rows.only(right=True, up=True)
    others = rows.where(~(rows["right"] & rows["up"]))
    totals = {key: float(group["seen"].sum()) for key, group in rows.by("reading", "seed").items()}
    shares = [row["seen"] / totals[row["reading"], row["seed"]] for row in others.rows()]
    numbers = {
        "seen in the upper right quadrant": int(upper["seen"].sum()),
        "held out elsewhere": int(others["held out"].sum()),
        "least and most of the seen in each other quadrant": [min(shares), max(shares)],
        "labels that follow X_1": float(others["labels by X1"].min()),
    }
    seeds = several(len(rows.by("seed")), "seed")
    return Measured(numbers, f"{seeds}, data sets of the text and of the code")
