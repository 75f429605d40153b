"""First principles: what is read off the experiments of the theory."""

from __future__ import annotations

from recombine.papers.measured import Measured
from recombine.papers.seeds import estimate
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
    """Return by support the worst R2 of blockwise networks, and the best or worst of plain ones."""
    scores = {name: (part["blockwise"], part["plain"]) for name, part in rows.by("support").items()}
    numbers = {
        "blockwise, worst from planes": scores["orthogonal"][0].min(),
        "blockwise, worst from the diagonal": scores["diagonal"][0].min(),
        "plain, best from the diagonal": scores["diagonal"][1].max(),
        "plain, worst from everything": scores["random"][1].min(),
    }
    return Measured(numbers, f"{len(rows.by('seed'))} generators, {rows['samples'].max():,} training points")


def plain_scores_from_planes(rows: Table) -> Measured:
    """Return the mean R2 of plain networks trained on planes, by the range of latents."""
    planes = rows.only(support="orthogonal").by("low")
    numbers = {f"latents from {low:g} to 1": estimate(planes[low]["plain"], "planes") for low in sorted(planes)}
    return Measured(
        {"R2, plain": numbers}, f"{len(rows.by('seed'))} generators, Adam for {rows['steps'].max():,} steps"
    )
