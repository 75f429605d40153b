"""Multi-task learning and pretraining: what is read off the rows of ReLU students."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.readings.rows import MIN_SEEDS, ahead, of_enough_seeds, paired_by_seed
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
    ("pt+ft", 0.1): (2.6e-4, 8.9e-3),
    ("pt+ft", 10.0): (3.7e-6, 6.2e-7),
    ("mtl", 1.0): (4.4e-4, 8.2e-5),
}
#: Two known, two correlated and two new features; number of samples -> loss of MTL over that of PT+FT, as published.
MIXED = "1 x 2, 0.9 x 2, 0 x 2"
PUBLISHED_CROSSOVER = {16: 0.88, 32: 0.9, 64: 0.64, 128: 0.91, 256: 1.7, 512: 3.6}
#: Correlation -> number of samples -> how far ahead the better method is, as published.
PUBLISHED_LEADS = {"1 x 6": {16: 650.0, 32: 865.0, 64: 329.0}, "1 x 5, 0": {32: 1.7, 64: 4.9, 128: 6.8, 256: 2.8}}


#: Numbers of samples of the study of correlations.
ALL_SAMPLES = (16, 32, 64, 128, 256, 512)
#: Methods in words.
WORDS = {"pt+ft": "PT+FT", "mtl": "MTL", "stl": "STL", "pt+ft probe": "linear probe"}
#: Cosines and magnitude at which features are alike neither in direction nor in size.
UNLIKE_COSINES, SMALL_MAGNITUDE_SHARE = (0.8, 0.9, 0.95, 0.99), 0.01
#: Who learns one unit: method and scaling.
ONE_UNIT = {
    "PT+FT": ("pt+ft", 1.0),
    "PT+FT at a tenth": ("pt+ft", 0.1),
    "PT+FT at a hundredth": ("pt+ft", 0.01),
    "MTL": ("mtl", 1.0),
}


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
    numbers |= ahead(loss_a, loss_b)
    published = " and ".join(f"{loss:.1e}" for loss in PUBLISHED[correlation, n])
    detail = (
        f"{len(loss_a)} seeds; ratio of the least losses over training "
        f"{b['best'].mean() / a['best'].mean():.2g}; published {published} for PT+FT and MTL. {reached} of "
        f"{len(joint)} MTL students reached a training loss of {STUDENTS_STOP_LOSS:.0e}"
    )
    return Measured(numbers, detail)


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
    """Return how far a single task is ahead of PT+FT where features differ in direction and in magnitude."""
    numbers: dict[str, Any] = {}
    for cosine in UNLIKE_COSINES:
        chosen = _students(rows, n=128, cosine=cosine, magnitude=SMALL_MAGNITUDE_SHARE)
        alone, tuned = paired_by_seed(chosen.only(method="stl"), chosen.only(method="pt+ft"), "loss")
        numbers[f"% more loss, cosine {cosine:g}"] = Interval.of(100 * (tuned / alone - 1))
    detail = (
        f"loss of PT+FT over that of STL with 128 samples, main task times {SMALL_MAGNITUDE_SHARE:g}; "
        f"{several(len(alone), 'seed')}, with one-sided 95% bounds "
        "on either side; the authors' one seed: 1.1 times at a cosine of 0.8, about 0.55 at 0.9"
    )
    return Measured(numbers, detail)


def lead_over_samples(
    rows: Table, correlation: str, better: str, worse: str, samples: tuple[int, ...] = ALL_SAMPLES
) -> dict[str, Any]:
    """Return how far a method is ahead, in powers of ten of its loss, as a mean over samples within a seed, and where.

    The rule is that of accuracies on images: a t-interval of means within a seed.
    """
    logs, wins, pairs = [], [], 0
    for n in samples:
        chosen = _students(rows, correlation=correlation, n=n)
        low, high = paired_by_seed(chosen.only(method=better), chosen.only(method=worse), "loss")
        logs.append(np.log10(high / low))
        wins.append(int((low < high).sum()))
        pairs += len(low)
    if len({len(values) for values in logs}) > 1:
        raise MissingRowsError("some seeds lack some numbers of samples")
    over = f"{WORDS[better]} over {WORDS[worse]}"
    by_samples = " + ".join(map(str, wins))
    return {
        f"{over}, powers of ten": Interval.of(np.mean(logs, axis=0)),
        f"{over}, pairs by samples": f"{by_samples} = {sum(wins)} of {pairs}",
    }


def leads_over_all_samples(
    rows: Table, correlation: str, pairs: tuple[tuple[str, str], ...], samples: tuple[int, ...] = ALL_SAMPLES
) -> Measured:
    """Return how far methods are ahead of others where features are of one kind, each pair over all samples."""
    numbers: dict[str, Any] = {}
    for better, worse in pairs:
        numbers |= lead_over_samples(rows, correlation, better, worse, samples)
    counted = listing_of(samples)
    return Measured(numbers, f"means over {counted} samples within a seed, with one-sided 95% bounds over seeds")


def listing_of(samples: tuple[int, ...]) -> str:
    """Return numbers of samples in words.

    Examples
    --------
    >>> listing_of((16, 32, 64)), listing_of((512,))
    ('16 to 64', '512')
    """
    return f"{samples[0]} to {samples[-1]}" if len(samples) > 1 else f"{samples[0]}"


def new_over_known(rows: Table) -> Measured:
    """Return the loss with one new unit over that with one known unit, by method and scaling, in powers of ten."""
    logs, shown = {}, {}
    for name, (method, scaling) in ONE_UNIT.items():
        chosen = _students(rows, n=64, units=1, method=method, scaling=scaling)
        new_loss, old_loss = paired_by_seed(chosen.only(cosine=0.0), chosen.only(cosine=1.0), "loss")
        logs[name] = np.log10(new_loss / old_loss)
        shown[f"{name}, times"] = 10 ** logs[name].mean()
    if len({len(values) for values in logs.values()}) > 1:
        raise MissingRowsError("some seeds lack some scalings")
    shrinks = Interval.of(logs["PT+FT"] - logs["PT+FT at a tenth"])
    powers = {f"{name}, powers of ten": Interval.of(logs[name]) for name in ("PT+FT", "MTL")}
    detail = "loss with one new unit over that with one known unit, 64 samples; seeds share inputs, not teachers"
    return Measured({**shown, **powers, "PT+FT over PT+FT at a tenth, powers of ten": shrinks}, detail)


def leads(rows: Table, correlation: str, better: str, rivals: tuple[str, ...]) -> Measured:
    """Return how many times less loss a method has than the best of others, and in how many pairs of a seed less."""
    published, ratios, wins = PUBLISHED_LEADS[correlation], [], []
    for n in published:
        leading, *trailing = (_students(rows, correlation=correlation, n=n, method=name) for name in (better, *rivals))
        for students in trailing:
            leading_loss, trailing_loss = paired_by_seed(leading, students, "loss")
            wins += (leading_loss < trailing_loss).tolist()
        ratios.append(min(float(students["loss"].mean()) for students in trailing) / float(leading["loss"].mean()))
    listed = ", ".join(f"{lead:g} with {n} samples" for n, lead in published.items())
    detail = f"least mean loss of the others over its own; published {listed}; {len(wins)} pairs of one seed"
    numbers = {f"{n} samples": ratio for n, ratio in zip(published, ratios, strict=True)}
    return Measured({**numbers, "pairs ahead": float(np.mean(wins))}, detail)


def crossover(rows: Table) -> Measured:
    """Return the loss of MTL over that of PT+FT by samples, where known, correlated and new features come together.

    Who is ahead is the mean over seeds, and over the small numbers of samples, of 100 times the logarithm of the ratio.
    """
    numbers: dict[str, Any] = {}
    leading, logs = [], {}
    for n in PUBLISHED_CROSSOVER:
        joint, tuned = (_students(rows, correlation=MIXED, n=n, method=name) for name in ("mtl", "pt+ft"))
        joint_loss, tuned_loss = paired_by_seed(joint, tuned, "loss")
        logs[n] = 100 * np.log(joint_loss / tuned_loss)
        numbers[f"{n} samples"] = np.exp(logs[n].mean() / 100)
        leading.append(f"{(joint_loss < tuned_loss).sum()} of {len(joint_loss)} with {n}")
    seeds = min(map(len, logs.values()))
    few_samples = np.mean([-logs[n][:seeds] for n in logs if n <= 128], axis=0)
    numbers["MTL ahead with 16 to 128, %"] = Interval.of(few_samples)
    numbers["PT+FT ahead with 512, %"] = Interval.of(logs[512])
    published = ", ".join(f"{ratio:g} with {n}" for n, ratio in PUBLISHED_CROSSOVER.items())
    detail = f"MTL's loss over PT+FT's, geometric mean over seeds; published {published}"
    return Measured(numbers, f"{detail}; seeds in which MTL is ahead: {', '.join(leading)}")


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
