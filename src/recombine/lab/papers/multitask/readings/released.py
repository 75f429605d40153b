"""Multi-task learning and pretraining: what is read off students of the authors' draws, seed by seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.losses_by_seed import LINEAR_LOSSES, LOSSES
from recombine.lab.papers.multitask.readings.rows import paired_by_seed
from recombine.lab.papers.multitask.readings.students import STUDENTS_STOP
from recombine.lab.papers.seeds import require, several
from recombine.tables.table import Column, Table

#: Samples up to which the released training has one batch.
BATCH = 128

#: Students as wide as the authors'.
WIDTH = 1000


def with_published(rows: Table, method: str) -> tuple[Table, Column]:
    """Return students of a method that the authors' files have too, and the losses there."""
    found = rows.only(method=method).where(rows.only(method=method)["width"] >= WIDTH)
    places = [(str(name), int(n), int(seed)) for name, n, seed in zip(*_columns(found), strict=True)]
    known = [LOSSES[name, method].get(n, ())[seed : seed + 1] for name, n, seed in places]
    there = np.array([len(one) == 1 for one in known], dtype=bool)
    if not there.any():
        raise MissingRowsError(f"needs students of the authors' draws, {method}: run with --scale full --device cuda")
    return found.where(there), np.array([one[0] for one in known if one])


def _columns(rows: Table) -> tuple[Column, Column, Column]:
    return rows["cosines"], rows["n"], rows["seed"]


#: How near, in words -> the largest ratio of two losses.
NEAR = {"within 1%": 1.01, "within a third": 4 / 3}


def seed_by_seed(rows: Table, method: str, near: str) -> Measured:
    """Return how many least test losses over training are near the authors', student by student."""
    found, published = with_published(rows, method)
    ratios = found["best"] / published
    share, last = (
        float(np.mean(np.abs(np.log(one)) < np.log(NEAR[near]))) for one in (ratios, found["loss"] / published)
    )
    numbers: dict[str, Any] = {near: share, "geometric ratio": float(np.exp(np.log(ratios).mean()))}
    numbers |= {"students": len(found), "final losses": f"{last:.0%}"}
    right = np.abs(np.log(ratios)) < np.log(NEAR[near])
    whole = found["n"] <= BATCH
    if whole.any() and not whole.all():
        numbers |= {"one batch": f"{right[whole].mean():.0%}", "several batches": f"{right[~whole].mean():.0%}"}
    samples = ", ".join(f"{n} ({right[found['n'] == n].mean():.0%})" for n in sorted(found.by("n")))
    detail = (
        f"least test loss over training over the authors'; {several(len(found.by('cosines')), 'set')} of cosines, "
        f"{several(len(found.by('seed')), 'seed')}, by samples {samples} of them {near}; final losses: how many "
        f"are; "
        f"{_rested(found)}"
    )
    return Measured(numbers, detail)


def _rested(found: Table) -> str:
    reached = int((found["train loss"] < STUDENTS_STOP).sum())
    return f"{reached} of {several(len(found), 'student')} reached a training loss of {STUDENTS_STOP:.0e}"


def lead_by_seed(rows: Table, n: int, better: str, worse: str) -> Measured:
    """Return the loss of one method over another's where features are the same, seed by seed; MTL has come to rest."""
    wide = rows.where(rows["width"] >= WIDTH).only(cosines="1 x 6", n=n)
    first, second = (wide.only(method=name) for name in (better, worse))
    joint = first if better == "mtl" else second
    if len(joint) and not (joint["train loss"] < STUDENTS_STOP).all():
        raise MissingRowsError(f"needs MTL that has come to rest: {_rested(joint)}; lower the rate or add steps")
    own, other = paired_by_seed(first, second, "loss")
    least, most = paired_by_seed(first, second, "best")
    theirs = (np.array(LOSSES["1 x 6", name][n]) for name in (better, worse))
    ahead = np.divide(*reversed(list(theirs)))
    numbers = {"geometric ratio": np.exp(np.log(other / own).mean()), "seeds ahead": int((own < other).sum())}
    detail = (
        f"{several(len(own), 'seed')}; of least losses over training {np.exp(np.log(most / least).mean()):.2g}; in the "
        f"authors' files {np.exp(np.log(ahead).mean()):.2g}, {(ahead > 1).sum()} of {len(ahead)} ahead"
    )
    return Measured(numbers | {"largest of a seed": (other / own).max()}, detail)


def forms_by_seed(rows: Table, n: int) -> Measured:
    """Return losses that both forms of the penalty predict, over those of the authors' networks."""
    published = np.array(LINEAR_LOSSES[n])
    parts = {form: require(rows, len(published), n=n, form=form) for form in ("exact", "symmetric")}
    losses = {form: part["loss"][np.argsort(part["seed"])] for form, part in parts.items()}
    ratios = {form: published / values for form, values in losses.items()}
    numbers = {
        "over the exact form": np.exp(np.log(ratios["exact"]).mean()),
        "over the plotted form": np.exp(np.log(ratios["symmetric"]).mean()),
        "seeds nearer to the exact form": int(
            (np.abs(np.log(ratios["exact"])) < np.abs(np.log(ratios["symmetric"]))).sum()
        ),
        "trained, seed 0": published[0],
        "exact, seed 0": losses["exact"][0],
        "plotted, seed 0": losses["symmetric"][0],
    }
    return Measured(numbers, f"losses of the authors' networks over predictions for them, {len(published)} seeds")
