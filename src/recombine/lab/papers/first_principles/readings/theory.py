"""First principles: what is read off the experiments of the theory."""

from __future__ import annotations

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import estimate
from recombine.tables.table import Table


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
    """Return by support the worst R2 of blockwise networks, and the best or worst of plain ones, at the end."""
    largest = _longest(rows)
    largest = largest.only(samples=int(largest["samples"].max()))
    scores = {name: (group["blockwise"], group["plain"]) for name, group in largest.by("support").items()}
    numbers = {
        "blockwise, worst from planes": scores["orthogonal"][0].min(),
        "blockwise, worst from the diagonal": scores["diagonal"][0].min(),
        "plain, mean from the diagonal": estimate(scores["diagonal"][1]),
        "plain, from the diagonal": scores["diagonal"][1].tolist(),
        "plain, worst from everything": scores["random"][1].min(),
    }
    return Measured(numbers, f"{_generators(rows)}, {largest['samples'][0]:,} training points, {_steps(rows)}")


def scores_from_planes(rows: Table) -> Measured:
    """Return the mean R2 of networks trained on the most points of planes, how far apart they are, and the rise."""
    planes = rows.only(support="orthogonal", samples=int(rows["samples"].max())).by("steps")
    early, late = (planes[steps] for steps in sorted(planes)[-2:])
    numbers = {
        "R2, plain": estimate(late["plain"], "planes"),
        "blockwise less plain": estimate(late["blockwise"] - late["plain"], "planes"),
        "rise of plain in the second half": estimate(late["plain"] - early["plain"], "planes"),
    }
    return Measured(numbers, f"{_generators(rows)}, {_steps(rows)}")


def scores_by_size(rows: Table) -> Measured:
    """Return the best R2 from one point, over supports, models and seeds, and that from four points of the diagonal."""
    end = _longest(rows).by("samples")
    if not {1, 4} <= end.keys():
        raise MissingRowsError("needs training sets of 1 and of 4 points")
    numbers = {
        "best from one point": max(end[1]["blockwise"].max(), end[1]["plain"].max()),
        "blockwise, four points of the diagonal": estimate(end[4].only(support="diagonal")["blockwise"], "diagonal"),
    }
    return Measured(numbers, f"{_generators(rows)}, {_steps(rows)}")


def training_sets(rows: Table) -> int:
    """Return how many sizes of training set there are."""
    return len(rows.by("samples"))


def _longest(rows: Table) -> Table:
    return rows.only(steps=int(rows["steps"].max()))


def _generators(rows: Table) -> str:
    return f"{len(rows.by('seed'))} generators"


def _steps(rows: Table) -> str:
    return f"{rows['steps'].max():,} steps"
