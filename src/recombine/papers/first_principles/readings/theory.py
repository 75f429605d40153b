"""First principles: what is read off the experiments of the theory."""

from __future__ import annotations

import numpy as np

from recombine.papers.measured import Measured
from recombine.tables.table import Table

#: Support, unknowns, outputs -> ranks of J_P and J_grid, then both with the components of one cell known.
GRID_RANKS = {
    ("row 0, columns 0", 3, 2): (18, 30, 16, 24),
    ("row 0, columns 0 2", 3, 2): (24, 30, 21, 24),
    ("row 0, columns 0", 3, 3): (23, 30, 20, 24),
    ("row 0, columns 0 2", 3, 3): (29, 30, 24, 24),
    ("row 0, columns 0 2", 3, 4): (30, 30, 24, 24),
    ("row 0, columns 0", 2, 3): (20, 20, 16, 16),
    ("cross", 1, 1): (9, 9, 8, 8),
    ("diagonal", 1, 1): (5, 9, 4, 8),
    ("band", 1, 1): (9, 9, 8, 8),
    ("whole", 1, 1): (9, 9, 8, 8),
}


def occlusion_determinants(rows: Table) -> Measured:
    """Return the determinant of soft occlusion for two pixels, and how far it is from the closed form for any."""
    example, yellow = (rows.only(pixel=name) for name in ("example", "yellow"))
    numbers = {
        "determinant": example["determinant"][0],
        "smallest singular value": example["smallest"][0],
        "determinant over yellow": abs(yellow["determinant"][0]),
        "from the closed form": np.abs(rows["determinant"] - rows["closed form"]).max(),
    }
    return Measured(numbers, f"{len(rows)} pixels; under a transparent one it is 0 where the channels add up to 2")


def anchors_needed(rows: Table) -> Measured:
    """Return how many anchors six unknowns need by number of outputs, and ranks of stacks and sums."""
    by_outputs = rows.by("outputs")
    few = rows.where(rows["outputs"] < 6)
    numbers = {
        "anchors needed": [np.unique(by_outputs[outputs]["needed"]) for outputs in sorted(by_outputs)],
        "stack of opposite anchors": np.unique(rows["stack"]),
        "sum of opposite anchors": np.unique(rows["opposite sum"]),
        "rank of sums less outputs": int((few["sum"] - few["outputs"]).max()),
    }
    return Measured(numbers, f"{len(rows)} random Jacobians of {', '.join(map(str, sorted(by_outputs)))} outputs")


def refit_agreement(rows: Table) -> Measured:
    """Return on which share of supports refitting agrees with the rank criterion, and what else should be so."""
    identifiable, peeled = rows["identifiable"], rows.where(rows["peeled"])
    numbers = {
        "agreement": (identifiable == rows["generalises"]).mean(),
        "supports": len(rows),
        "largest error on seen cells": rows["seen error"].max(),
        "cover every value, not identifiable": int((rows["covered"] & ~identifiable).sum()),
        "peeled, not identifiable": int((~peeled["identifiable with start"]).sum()),
    }
    return Measured(numbers, f"random supports, {identifiable.sum()} identifiable, {len(peeled)} peeled")


def graph_agreement(rows: Table) -> Measured:
    """Return how many supports the criterion and the graph judge differently for addition."""
    added = rows.only(rule="add")
    differ, apart = (int((~added[name]).sum()) for name in ("as graph", "identifiable"))
    numbers = {"supports that differ": differ, "not connected": apart}
    return Measured(numbers, f"all 36 cells of {len(added)} random supports")


def fixed_ranks(rows: Table) -> Measured:
    """Return how many ranks of the fixed instance and of addition are not the known ones."""
    names = ("rank", "full", "rank with start", "full with start")
    found = {(r["support"], r["unknowns"], r["outputs"]): tuple(r[name] for name in names) for r in rows.rows()}
    wrong = [key for key, ranks in GRID_RANKS.items() if found.get(key) != ranks]
    where = f"; differs at {wrong[0]}" if wrong else ""
    return Measured({"instances that differ": len(wrong)}, f"{len(GRID_RANKS)} instances, four ranks each{where}")


def start_errors(rows: Table) -> Measured:
    """Return errors of components that were rebuilt from a right start, a moved one, and opposite shifts."""
    moved = rows.only(rule="bilinear", start="moved")["error"]
    numbers = {
        "right start": rows.only(start="right")["error"].max(),
        "moved start": moved.min(),
        "opposite shifts, addition": rows.only(rule="add", start="silent")["error"].max(),
    }
    square, tall = (rows.only(rule="bilinear", start="silent", outputs=outputs) for outputs in (3, 5))
    detail = (
        f"{len(moved)} bilinear worlds; a wrong start with the right f there fits both planes to "
        f"{square['seen error'].max():.0e} where N = M and misses by {square['error'].min():.2f} or more off them; "
        f"where N > M it shows on the planes too ({tall['seen error'].min():.2f} or more)"
    )
    return Measured(numbers, detail)


def simulated_scores(rows: Table) -> Measured:
    """Return what the worst blockwise network leaves open, and by support the best or worst R2 of plain ones."""
    plain = {name: part["plain"] for name, part in rows.by("support").items()}
    numbers = {
        "1 - R2, blockwise": 1 - rows["blockwise"].min(),
        "plain, best from the diagonal": plain["diagonal"].max(),
        "plain, best from planes": plain["orthogonal"].max(),
        "plain, worst from everything": plain["random"].min(),
    }
    detail = f"{len(rows.by('seed'))} generators; plain network"
    for low in sorted(rows.by("low")):
        means = [f"{name} {rows.only(support=name, low=low)['plain'].mean():.3f}" for name in plain]
        detail += f"; latents from {low:g} to 1: {', '.join(means)}"
    return Measured(numbers, detail)
