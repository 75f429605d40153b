"""Multi-task learning and pretraining: what is read off the rows of ReLU students."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.readings.rows import MIN_SEEDS, of_enough_seeds, paired_by_seed
from recombine.lab.papers.seeds import Interval, require, several
from recombine.tables.table import Table

#: Training loss at which published students stop.
STUDENTS_STOP_LOSS = 1e-8
#: Method -> words for students.
STUDENTS = {"pt+ft": "PT+FT", "mtl": "MTL", "slow mtl": "MTL at a rate of 0.3"}
#: Correlation and samples -> published losses of PT+FT and MTL.
PUBLISHED = {("0.9 x 6", 256): (4.2e-6, 5.1e-3), ("1 x 6", 16): (0.089, 0.020), ("1 x 6", 128): (6.1e-5, 7.1e-4)}
#: Method and scaling -> published losses with one and with six known units.
PUBLISHED_BY_UNITS = {
    ("pt+ft", 1.0): (2.3e-6, 2.2e-4),
    ("pt+ft", 10.0): (3.7e-6, 6.2e-7),
    ("mtl", 1.0): (4.4e-4, 8.2e-5),
}
#: Two known, two correlated and two new features; number of samples -> loss of MTL over that of PT+FT, as published.
MIXED = "1 x 2, 0.9 x 2, 0 x 2"
PUBLISHED_CROSSOVER = {16: 0.88, 32: 0.9, 64: 0.64, 128: 0.91, 256: 1.7, 512: 3.6}
#: Correlation -> number of samples -> how far ahead the better method is, as published.
PUBLISHED_LEADS = {"1 x 6": {16: 650.0, 32: 865.0, 64: 329.0}, "1 x 5, 0": {32: 1.7, 64: 4.9, 128: 6.8, 256: 2.8}}


def _students(rows: Table, **condition: Any) -> Table:
    """Return students as wide as published ones; smaller ones, from larger weights, say nothing about them."""
    return of_enough_seeds(rows.where(rows["width"] >= 1000), "students of 1000 units", **condition)


def loss_ratio(rows: Table, correlation: str, n: int, better: str, worse: str) -> Measured:
    """Return mean losses of two methods, one of them PT+FT, and their ratio: of means, and the largest of a seed."""
    chosen = _students(rows, correlation=correlation, n=n)
    a, b = (_students(chosen, method=name) for name in (better, worse))
    # At a rate of 1, few multi-task students with few samples converge.
    joint = b if better == "pt+ft" else a
    reached = int((joint["train loss"] < STUDENTS_STOP_LOSS).sum())
    if "slow mtl" in (better, worse) and reached < len(joint):
        raise MissingRowsError(f"only {reached} of {len(joint)} students converged at a rate of 0.3")
    loss_a, loss_b = paired_by_seed(a, b, "loss")
    mean_a, mean_b = a["loss"].mean(), b["loss"].mean()
    numbers = {STUDENTS[better]: mean_a, STUDENTS[worse]: mean_b, "ratio": mean_b / mean_a}
    numbers |= {"geometric ratio": np.exp(np.log(loss_b / loss_a).mean()), "seeds ahead": int((loss_a < loss_b).sum())}
    published = " and ".join(f"{loss:.1e}" for loss in PUBLISHED[correlation, n])
    detail = (
        f"{len(loss_a)} seeds; ratio of the least losses over training "
        f"{b['best'].mean() / a['best'].mean():.2g}; published {published} for PT+FT and MTL. {reached} of "
        f"{len(joint)} MTL students reached a training loss of {STUDENTS_STOP_LOSS:.0e}"
    )
    return Measured({**numbers, "largest of a seed": (loss_b / loss_a).max()}, detail)


def losses_by_units(rows: Table, method: str, scaling: float) -> Measured:
    """Return mean losses with one to six known units, the last over the first, and how they change on the whole."""
    chosen = _students(rows, n=64, cosine=1.0, method=method, scaling=scaling)
    losses = np.array([require(chosen, MIN_SEEDS, units=units)["loss"].mean() for units in range(1, 7)])
    centred = np.arange(6) - 2.5
    # Of a line through the logarithms: losses need not rise or fall at every step.
    slope = np.log(losses) @ centred / (centred @ centred)
    listed = {several(units, "unit"): losses[units - 1] for units in (1, 3, 6)}
    numbers = {**listed, "6 units over 1": losses[5] / losses[0], "slope": slope}
    smallest, largest = PUBLISHED_BY_UNITS[method, scaling]
    detail = f"{len(chosen) // 6} seeds; slope of the logarithm per unit; published {smallest:.1e} to {largest:.1e}"
    return Measured(numbers, detail)


def losses_by_magnitude(rows: Table) -> Measured:
    """Return losses of PT+FT over those of a single task with fewer samples, for a large and a small main task."""
    ratios = []
    for size in (1.0, 0.01):
        tuned = _students(rows, n=128, method="pt+ft", cosine=0.9, magnitude=size)
        single_task = _students(rows, n=32, method="stl", cosine=0.9, magnitude=size)
        ratios.append(tuned["loss"].mean() / single_task["loss"].mean())
    numbers = {"magnitude 1": ratios[0], "magnitude 0.01": ratios[1], "small over large": ratios[1] / ratios[0]}
    detail = f"over STL's loss with 32 samples, cosine 0.9 (published 0.013, 0.107); {len(tuned)} seeds"
    return Measured(numbers, detail)


def leads(rows: Table, correlation: str, better: str, rivals: tuple[str, ...]) -> Measured:
    """Return how many times less loss a method has than the best of others, and in how many pairs of a seed less."""
    published, ratios, ahead = PUBLISHED_LEADS[correlation], [], []
    for n in published:
        leading, *trailing = (_students(rows, correlation=correlation, n=n, method=name) for name in (better, *rivals))
        for students in trailing:
            leading_loss, trailing_loss = paired_by_seed(leading, students, "loss")
            ahead += (leading_loss < trailing_loss).tolist()
        ratios.append(min(float(students["loss"].mean()) for students in trailing) / float(leading["loss"].mean()))
    listed = ", ".join(f"{lead:g} with {n} samples" for n, lead in published.items())
    detail = f"least mean loss of the others over its own; published {listed}; {len(ahead)} pairs of one seed"
    numbers = {f"{n} samples": ratio for n, ratio in zip(published, ratios, strict=True)}
    return Measured({**numbers, "pairs ahead": float(np.mean(ahead))}, detail)


def crossover(rows: Table) -> Measured:
    """Return the loss of MTL over that of PT+FT by samples, where known, correlated and new features come together.

    Who is ahead is the mean over seeds, and over the small numbers of samples, of 100 times the logarithm of the ratio.
    """
    numbers: dict[str, Any] = {}
    ahead, logs = [], {}
    for n in PUBLISHED_CROSSOVER:
        joint, tuned = (_students(rows, correlation=MIXED, n=n, method=name) for name in ("mtl", "pt+ft"))
        joint_loss, tuned_loss = paired_by_seed(joint, tuned, "loss")
        logs[n] = 100 * np.log(joint_loss / tuned_loss)
        numbers[f"{n} samples"] = np.exp(logs[n].mean() / 100)
        ahead.append(f"{(joint_loss < tuned_loss).sum()} of {len(joint_loss)} with {n}")
    seeds = min(map(len, logs.values()))
    few_samples = np.mean([-logs[n][:seeds] for n in logs if n <= 128], axis=0)
    numbers["MTL ahead with 16 to 128, %"] = Interval.of(few_samples)
    numbers["PT+FT ahead with 512, %"] = Interval.of(logs[512])
    published = ", ".join(f"{ratio:g} with {n}" for n, ratio in PUBLISHED_CROSSOVER.items())
    detail = f"MTL's loss over PT+FT's, geometric mean over seeds; published {published}"
    return Measured(numbers, f"{detail}; seeds in which MTL is ahead: {', '.join(ahead)}")


def errors_of_new_units(rows: Table) -> Measured:
    """Return how losses over the targets' power rise from one new unit to six, by method."""
    numbers, listed = {}, []
    for method, word in (("pt+ft", "PT+FT"), ("mtl", "MTL"), ("stl", "STL")):
        chosen = _students(rows, n=64, cosine=0.0, method=method, scaling=1.0)
        by_units = [require(chosen, MIN_SEEDS, units=units) for units in range(1, 7)]
        losses = [float((students["loss"] / students["power"]).mean()) for students in by_units]
        numbers[f"{word}, 6 units over 1"] = losses[-1] / losses[0]
        listed.append(f"{word} {', '.join(f'{loss:.2g}' for loss in losses)}")
    return Measured(numbers, f"test loss over power of targets, 1 to 6 units: {'; '.join(listed)}; published 13 and 31")
