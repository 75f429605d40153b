"""Multi-task learning and pretraining: what is read off students of the authors' draws, seed by seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.losses_by_seed import LINEAR_LOSSES, LOSSES
from recombine.lab.papers.multitask.readings.rows import ahead, paired_by_seed
from recombine.lab.papers.multitask.readings.students import STUDENTS_STOP_LOSS
from recombine.lab.papers.seeds import require, several
from recombine.tables.table import Column, Table

#: Samples up to which the released training has one batch.
ONE_BATCH_SAMPLES = 128

#: Students as wide as the authors'.
RELEASED_WIDTH = 1000


def with_published(rows: Table, method: str) -> tuple[Table, Column]:
    """Return students of a method that the authors' files have too, and the losses there."""
    students = rows.only(method=method).where(rows.only(method=method)["width"] >= RELEASED_WIDTH)
    keys = [(str(name), int(n), int(seed)) for name, n, seed in zip(*_columns(students), strict=True)]
    published = [LOSSES[name, method].get(n, ())[seed : seed + 1] for name, n, seed in keys]
    in_files = np.array([len(losses) == 1 for losses in published], dtype=bool)
    if not in_files.any():
        raise MissingRowsError(f"needs students of the authors' draws, {method}: run with --scale full --device cuda")
    return students.where(in_files), np.array([losses[0] for losses in published if losses])


def _columns(rows: Table) -> tuple[Column, Column, Column]:
    return rows["cosines"], rows["n"], rows["seed"]


#: How near, in words -> the largest ratio of two losses.
MAX_RATIOS = {"within 1%": 1.01, "within a third": 4 / 3}


def seed_by_seed(rows: Table, method: str, near: str, judged: str = "") -> Measured:
    """Return how many least test losses over training are near the authors', student by student.

    Of these shares the one that is judged is a number, by default that of all; the others are texts.
    """
    students, published = with_published(rows, method)
    ratios = students["best"] / published
    is_near = np.abs(np.log(ratios)) < np.log(MAX_RATIOS[near])
    single = students["n"] <= ONE_BATCH_SAMPLES
    if not single.any():
        raise MissingRowsError(f"needs students with up to {ONE_BATCH_SAMPLES} samples")
    chosen = {near: is_near, f"{near}, one batch": is_near[single]}
    chosen |= {f"{near}, several batches": is_near[~single]} if not single.all() else {}
    final = np.abs(np.log(students["loss"] / published)) < np.log(MAX_RATIOS[near])
    shares = {name: float(np.mean(flags)) for name, flags in (chosen | {f"{near}, final losses": final}).items()}
    numbers: dict[str, Any] = {
        name: share if name == (judged or near) else f"{share:.0%}" for name, share in shares.items()
    }
    numbers |= {"geometric ratio": float(np.exp(np.log(ratios).mean())), "students": len(students)}
    samples = ", ".join(f"{n} ({is_near[students['n'] == n].mean():.0%})" for n in sorted(students.by("n")))
    detail = (
        f"least test loss over training over the authors'; {several(len(students.by('cosines')), 'set')} of cosines, "
        f"{several(len(students.by('seed')), 'seed')}, by samples {samples} of them {near}; {_rested(students)}"
    )
    return Measured(numbers, detail)


def _rested(students: Table) -> str:
    reached = int((students["train loss"] < STUDENTS_STOP_LOSS).sum())
    return f"{reached} of {several(len(students), 'student')} reached a training loss of {STUDENTS_STOP_LOSS:.0e}"


def lead_by_seed(rows: Table, n: int, better: str, worse: str) -> Measured:
    """Return the loss of one method over another's where features are the same, seed by seed; MTL has come to rest."""
    wide = rows.where(rows["width"] >= RELEASED_WIDTH).only(cosines="1 x 6", n=n)
    a, b = (wide.only(method=name) for name in (better, worse))
    joint = a if better == "mtl" else b
    if len(joint) and not (joint["train loss"] < STUDENTS_STOP_LOSS).all():
        raise MissingRowsError(f"needs MTL that has come to rest: {_rested(joint)}; lower the rate or add steps")
    loss_a, loss_b = paired_by_seed(a, b, "loss")
    best_a, best_b = paired_by_seed(a, b, "best")
    theirs = (np.array(LOSSES["1 x 6", name][n]) for name in (better, worse))
    published = np.divide(*reversed(list(theirs)))
    detail = (
        f"{several(len(loss_a), 'seed')}; of least losses over training {np.exp(np.log(best_b / best_a).mean()):.2g}; "
        f"in the authors' files {np.exp(np.log(published).mean()):.2g}, {(published > 1).sum()} of {len(published)} "
        "ahead"
    )
    return Measured(ahead(loss_a, loss_b), detail)


def forms_by_seed(rows: Table, n: int) -> Measured:
    """Return losses that both forms of the penalty predict, over those of the authors' networks."""
    published = np.array(LINEAR_LOSSES[n])
    by_form = {form: require(rows, len(published), n=n, form=form) for form in ("exact", "symmetric")}
    losses = {form: predictions["loss"][np.argsort(predictions["seed"])] for form, predictions in by_form.items()}
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
