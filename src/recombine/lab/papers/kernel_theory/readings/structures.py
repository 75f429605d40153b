"""Kernel theory: what is read off sparse designs, exposure, uneven salience and the table of tasks."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.kernel_theory.experiments.kernels import CONTROL
from recombine.lab.papers.measured import Measured
from recombine.tables.table import Table

#: Class of each task: whether sums of seen conjunctions can give any unseen answers at all, those of the task and not
#: any, their signs, or neither.
CLASSES = {
    "anything": {"CD-1", "stimulus composition", "invariance", "partial exposure"},
    "exact": {"symbolic addition", "dispersed addition", "CD-2", "CD-3"},
    "sign only": {"transitive ordering"},
    "neither": {"transitive equivalence", "equivalence of A to F", "context substitution"},
}


def sparse_interactions(rows: Table) -> Measured:
    """Return how far predictions on sparse designs are from sums of seen conjunctions, and random outputs."""
    structured, control = rows.but(model=CONTROL), rows.only(model=CONTROL)
    numbers = {
        "largest residual": float(structured["residual"].max()),
        "random outputs, median": float(np.median(control["residual"])),
    }
    return Measured(numbers, f"{len(control)} random designs of 3 or 4 factors, 15% of cells seen, two kinds of model")


def exposure_margins(rows: Table) -> Measured:
    """Return how far margins of invariance and partial exposure are from their closed forms."""
    miss = float(np.abs(rows["margin"] - rows["closed form"]).max())
    numbers = {"largest difference": miss, "smallest margin": float(rows["margin"].min())}
    return Measured(numbers, f"{len(rows)} fits")


def uneven_slopes(rows: Table) -> Measured:
    """Return how far slopes of unequally salient factors are from the closed form, and whether the louder is larger."""
    louder = rows.only(slot=0)["salience"] > rows.only(slot=1)["salience"]
    gap = (rows.only(slot=0)["slope"] - rows.only(slot=1)["slope"])[louder]
    numbers = {
        "largest difference": float(np.abs(rows["slope"] - rows["closed form"]).max()),
        "bend": float(rows["bend"].max()),
        "smallest lead of the more salient factor": float(gap.min()),
    }
    return Measured(numbers, f"{len(rows) // 2} fits")


def classes_of_tasks(rows: Table) -> Measured:
    """Return how many tasks are of each class, and how many are not where they should be."""
    classes = {str(row["task"]): str(row["class"]) for row in rows.rows()}
    wrong = [name for kind, names in CLASSES.items() for name in names if classes.get(name) != kind]
    numbers = {kind: sum(kind_found == kind for kind_found in classes.values()) for kind in CLASSES}
    listed = ", ".join(wrong) or "all as told"
    return Measured({**numbers, "tasks of another class": len(wrong)}, f"{len(classes)} tasks; {listed}")
