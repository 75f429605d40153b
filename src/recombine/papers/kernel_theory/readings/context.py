"""Kernel theory: what is read off the rows of context dependence."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray
from recombine.papers.measured import Measured
from recombine.tables.table import Table
from recombine.theory.kernels.shortcut import context_dependence_margin

#: Depth -> margin on CD-3 of a wide random ReLU network: hard margin and squared loss.
RELU_CD3 = {
    "hinge": {1: -0.5589, 2: -0.3436, 3: -0.2167, 5: -0.0775, 10: 0.0478},
    "squared": {1: 0.7951, 2: 0.6356, 3: 0.5223, 5: 0.3701, 10: 0.1759},
}
#: A margin closer to zero than this is on the line between the phases.
TIE = 1e-9


def phases(rows: Table) -> Measured:
    """Return how many kernels get only some cells right, and how many disagree with the inequality."""
    inner = rows.where((rows["s3"] > 0) & (rows["loss"] == "hinge"))
    decided = inner.where(np.abs(inner["margin"]) > TIE)
    block = decided.only(task="CD-3")
    rule = context_dependence_margin(block["s1"], block["s2"], block["s3"]).correct
    numbers = {
        "kernels that disagree": int((rule != (block["accuracy"] == 1)).sum()),
        "accuracies in between": int((~np.isin(decided["accuracy"], (0.0, 1.0))).sum()),
        "kernels of CD-3": len(block),
    }
    return Measured(numbers, f"{len(inner):,} fits, {len(inner) - len(decided)} on the line itself")


def margins_by_depth(rows: Table) -> Measured:
    """Return margins of ReLU networks on CD-3 under both losses, and how many have the wrong sign."""
    relu = rows.only(activation="relu", task="CD-3")
    found = {
        (loss, depth): float(relu.only(loss=loss, depth=depth)["margin"][0])
        for loss, margins in RELU_CD3.items()
        for depth in margins
    }
    known = {(loss, depth): margin for loss, margins in RELU_CD3.items() for depth, margin in margins.items()}
    numbers = {
        "wrong signs": sum((found[one] > 0) != (known[one] > 0) for one in known),
        "largest difference": max(abs(found[one] - known[one]) for one in known),
    }
    first = f"depth 1: hard margin {found['hinge', 1]:.4f}, squared {found['squared', 1]:.4f}"
    return Measured(numbers, f"{len(found)} margins; {first}")


def _solved(rows: Table, task: str, loss: str) -> BoolArray:
    return np.asarray(rows.only(task=task, loss=loss)["margin"] > TIE)


def shares(rows: Table, loss: str) -> list[float]:
    """Return the areas of kernels that solve all three tasks, CD-2 and CD-1 only, CD-1 only, and none, out of one."""
    three, two, one = (_solved(rows, task, loss) for task in ("CD-3", "CD-2", "CD-1"))
    groups = (three & two & one, ~three & two & one, ~three & ~two & one, ~three & ~two & ~one)
    block = rows.only(task="CD-3", loss=loss)
    # A lattice point stands for the area around it: all of it inside, half on an edge, a sixth in a corner.
    sides = np.sum([block[name] == 0 for name in ("s1", "s2", "s3")], axis=0)
    area = np.choose(sides, (1.0, 1 / 2, 1 / 6))
    return [float(area[group].sum() / area.sum()) for group in groups]


def areas(rows: Table) -> Measured:
    """Return the areas of both losses."""
    numbers = {"hard margin": shares(rows, "hinge"), "squared loss": shares(rows, "squared")}
    return Measured(numbers, f"{len(rows.only(task='CD-3', loss='hinge')):,} kernels on a lattice, weighed by area")


def sides_taken(rows: Table) -> Measured:
    """Return the share of kernels that solve CD-3 under one loss and not under the other."""
    hinge, squared = _solved(rows, "CD-3", "hinge"), _solved(rows, "CD-3", "squared")
    detail = (
        f"of {len(hinge):,} kernels {hinge.mean():.1%} solve CD-3 under the hard margin and {squared.mean():.1%} under "
        f"squared loss; {int((hinge & ~squared).sum())} only under the hard margin"
    )
    return Measured({"kernels that change sides": float((hinge != squared).mean())}, detail)


def shallow_accuracy(rows: Table) -> Measured:
    """Return the accuracy on CD-3 of ReLU networks up to depth 5 under the hard margin."""
    relu = rows.only(activation="relu", task="CD-3", loss="hinge")
    shallow = relu.where(relu["depth"] <= 5)
    detail = f"{len(shallow)} depths up to 5; the largest margin is {shallow['margin'].max():.3f}"
    return Measured({"accuracy": float(np.mean(shallow["margin"] > 0))}, detail)


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
