"""Kernel theory: what is read off the rows of context dependence."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table
from recombine.theory.kernels.shortcut import context_dependence_margin

#: Depths up to this one are called shallow.
MAX_SHALLOW_DEPTH = 5
#: A margin closer to zero than this is on the line between the phases.
TIE_MARGIN = 1e-9


def phases(rows: Table) -> Measured:
    """Return how many kernels get only some cells right, and how many disagree with the inequality."""
    inner = rows.where((rows["s3"] > 0) & (rows["loss"] == "hinge"))
    decided = inner.where(np.abs(inner["margin"]) > TIE_MARGIN)
    block = decided.only(task="CD-3")
    rule = context_dependence_margin(block["s1"], block["s2"], block["s3"]).correct
    numbers = {
        "kernels that disagree": int((rule != (block["accuracy"] == 1)).sum()),
        "accuracies in between": int((~np.isin(decided["accuracy"], (0.0, 1.0))).sum()),
        "kernels of CD-3": len(block),
    }
    return Measured(numbers, f"{len(inner):,} fits, {len(inner) - len(decided)} on the line itself")


def margins_by_depth(rows: Table) -> Measured:
    """Return how many wide random ReLU networks up to depth 5 are right on CD-3 under either loss."""
    relu = rows.only(activation="relu", task="CD-3")
    shallow = require(relu.where(relu["depth"] <= MAX_SHALLOW_DEPTH))
    hard, squared = (shallow.only(loss=loss) for loss in ("hinge", "squared"))
    numbers = {
        "right under the hard margin": int((hard["margin"] > 0).sum()),
        "wrong under squared loss": int((squared["margin"] <= 0).sum()),
        "margin at depth 1, hard": float(hard.only(depth=1)["margin"][0]),
        "margin at depth 1, squared": float(squared.only(depth=1)["margin"][0]),
    }
    deeper = relu.only(loss="hinge")
    depths = deeper["depth"][deeper["margin"] > 0]
    words = f"; under the hard margin depth {depths.min()} is the first to be right" if len(depths) else ""
    return Measured(numbers, f"{len(hard)} depths, exact fits{words}")


def _solved(rows: Table, task: str, loss: str) -> BoolArray:
    return np.asarray(rows.only(task=task, loss=loss)["margin"] > TIE_MARGIN)


def sides_taken(rows: Table) -> Measured:
    """Return the share of kernels that solve CD-3 under one loss and not under the other."""
    hinge, squared = _solved(rows, "CD-3", "hinge"), _solved(rows, "CD-3", "squared")
    numbers = {
        "kernels that change sides": float((hinge != squared).mean()),
        "only under the hard margin": int((hinge & ~squared).sum()),
        "solve CD-3, hard margin": f"{hinge.mean():.0%}",
        "solve CD-3, squared loss": f"{squared.mean():.0%}",
    }
    return Measured(numbers, f"{len(hinge):,} kernels on a lattice")


def leaned_on(rows: Table) -> Measured:
    """Return what a failing and a working kernel of depth 3 lean on most."""
    three = rows.only(depth=3, task="CD-3", loss="hinge")
    tables = {"ReLU": three.only(activation="relu"), "rectified quadratic": three.only(activation="quadratic")}
    kinds = [str(table["kind"][int(table["size"].argmax())]) for table in tables.values()]
    ratio = {
        name: float(table.only(kind="context")["size"][0] / table.only(kind="right")["size"][0])
        for name, table in tables.items()
    }
    listed = ", ".join(f"{name} {value:.2f}" for name, value in ratio.items())
    return Measured({"failing and working": kinds}, f"context / right at depth 3: {listed}; exact values")


#: Heights of figure 3e's bars: of a kernel that fails CD-3, and of those that solve CD-3 and CD-2.
BARS = {
    ("relu", "CD-3"): {"memorized": 0.67, "context": 0.51, "wrong": 0.31, "sensory": 0.13, "right": 0.08},
    ("quadratic", "CD-3"): {"right": 0.62, "wrong": 0.33, "context": 0.04},
    ("quadratic", "CD-2"): {"right": 0.60, "wrong": 0.31, "context": 0.02},
}


def published_bars(rows: Table) -> Measured:
    """Return how far the sizes of conjunctions are from figure 3e's, fitted to labels and to the models' outputs."""
    three = rows.only(depth=3)

    def off(loss: str) -> float:
        differences = [
            three.only(activation=name, task=task, loss=loss, kind=kind)["size"][0] - height
            for (name, task), bars in BARS.items()
            for kind, height in bars.items()
        ]
        return float(np.abs(differences).max())

    numbers = {"labels, off by at most": off("labels"), "outputs, off by at most": off("hinge")}
    return Measured(numbers, f"{sum(map(len, BARS.values()))} bars with known heights, exact values")
