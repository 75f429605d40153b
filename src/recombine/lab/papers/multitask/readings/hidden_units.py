"""Multi-task learning and pretraining: what is read off the hidden units of ReLU students."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.readings.rows import of_enough_seeds, paired_by_seed
from recombine.lab.papers.seeds import Interval, several
from recombine.tables.table import Table

#: Training loss at which a student has learned its samples.
TRAINED_LOSS = 1e-4
#: Samples of the main task, few and many.
FEW_SAMPLES, MANY_SAMPLES = 64, 256
#: Numbers of new units of a single task.
NEW_UNITS = (1, 3, 6)
#: The task of one known unit of six, and the factors on pretrained weights, from large to small.
ONE_KNOWN, FACTORS = "1 of 6 known", (10.0, 1.0, 0.1)
#: Method -> words.
WORDS = {"stl": "single task", "pt+ft": "PT+FT", "mtl": "MTL"}


def _students(rows: Table, **condition: Any) -> Table:
    return of_enough_seeds(rows.where(rows["width"] >= 300), "students of 300 units", **condition)


def _spread(rows: Table, clusters: int) -> float:
    """Return the mean share of the spread of directions that is left around so many centres."""
    return float(rows[f"inertia {clusters}"].mean())


def _said(rows: Table) -> str:
    """Say how many students there are, and how far they learned their training samples."""
    reached = int((rows["train loss"] <= TRAINED_LOSS).sum())
    return f"{several(len(rows), 'student')} of 300 units, {reached} of which have a training loss of at most 1e-4"


def directions_of_single_tasks(rows: Table) -> Measured:
    """Return what clusters leave of the spread of directions of single tasks, by units of the teacher."""
    by_units = {units: _students(rows, n=MANY_SAMPLES, method="stl", task=f"{units} new") for units in NEW_UNITS}
    numbers = {
        "as many clusters as units": {several(u, "unit"): _spread(table, u) for u, table in by_units.items()},
        "one cluster, 6 units": _spread(by_units[6], 1),
        f"with {FEW_SAMPLES} samples": {
            several(u, "unit"): _spread(_students(rows, n=FEW_SAMPLES, method="stl", task=f"{u} new"), u)
            for u in NEW_UNITS
        },
    }
    return Measured(numbers, _said(rows.only(method="stl", n=MANY_SAMPLES)))


def alignment_by_samples(rows: Table) -> Measured:
    """Return how well clusters of a single task of six units fit the teacher's, with few and with many samples."""
    few, many = (_students(rows, n=n, method="stl", task="6 new") for n in (FEW_SAMPLES, MANY_SAMPLES))
    low, high = paired_by_seed(few, many, "alignment")
    numbers: dict[str, Any] = {
        f"{FEW_SAMPLES} samples": float(low.mean()),
        f"{MANY_SAMPLES} samples": float(high.mean()),
    }
    return Measured(numbers | {"many less few, hundredths": Interval.of(100 * (high - low))}, _said(many))


def directions_of_tasks(rows: Table, method: str, tasks: tuple[str, ...]) -> Measured:
    """Return what six clusters, and one, leave of the spread of directions after PT+FT or MTL."""
    chosen = {task: _students(rows, n=FEW_SAMPLES, method=method, task=task) for task in tasks}
    numbers = {
        "six clusters": {task: _spread(table, 6) for task, table in chosen.items()},
        "one cluster": {task: _spread(table, 1) for task, table in chosen.items()},
    }
    return Measured(numbers, _said(rows.only(method=method, n=FEW_SAMPLES)))


def alignment_by_method(rows: Table) -> Measured:
    """Return how much better PT+FT and MTL fit the main teacher's units than a single task does, all shared."""
    chosen = {method: _students(rows, n=FEW_SAMPLES, method=method, task="1 x 6") for method in WORDS}
    numbers: dict[str, Any] = {WORDS[name]: float(table["alignment"].mean()) for name, table in chosen.items()}
    for method in ("pt+ft", "mtl"):
        alone, tuned = paired_by_seed(chosen["stl"], chosen[method], "alignment")
        numbers[f"{WORDS[method]} over single task, hundredths"] = Interval.of(100 * (tuned - alone))
    return Measured(numbers, _said(rows.only(n=FEW_SAMPLES, task="1 x 6")))


def _by_factor(rows: Table, column: str) -> tuple[dict[str, float], Interval]:
    """Return means by factor on pretrained weights, and how much larger the first is than the last."""
    tables = {m: _students(rows, n=FEW_SAMPLES, method="pt+ft", task=ONE_KNOWN, scaling=m) for m in FACTORS}
    large, small = paired_by_seed(tables[FACTORS[0]], tables[FACTORS[-1]], column)
    if not np.isfinite(large).all():
        raise MissingRowsError(f"students without {column}")
    return {f"times {m:g}": float(table[column].mean()) for m, table in tables.items()}, Interval.of(
        100 * (large - small)
    )


def directions_by_factor(rows: Table) -> Measured:
    """Return what one cluster leaves of the spread of directions where one known unit is needed, by factor."""
    means, lead = _by_factor(rows, "inertia 1")
    joint = _spread(_students(rows, n=FEW_SAMPLES, method="mtl", task=ONE_KNOWN), 1)
    return Measured(
        {"one cluster": means, "times 10 less times 0.1, hundredths": lead, "MTL": joint},
        _said(rows.only(n=FEW_SAMPLES)),
    )


def alignment_by_factor(rows: Table) -> Measured:
    """Return how well one cluster fits the one unit that is needed, by factor on pretrained weights."""
    means, lead = _by_factor(rows, "alignment")
    numbers: dict[str, Any] = {
        "alignment": means,
        "times 0.1 less times 10, hundredths": Interval(-lead.mean, -lead.high, -lead.low),
    }
    numbers |= {"at a tenth": means["times 0.1"]}
    return Measured(numbers, _said(rows.only(n=FEW_SAMPLES)))


def dimensions_of_six(rows: Table) -> Measured:
    """Return the dimensions of students of six units, over those of the teacher's units themselves."""
    kinds = {f"single task, {MANY_SAMPLES} samples": ("stl", MANY_SAMPLES, "6 new")}
    kinds |= {f"{WORDS[name]}, {FEW_SAMPLES} samples": (name, FEW_SAMPLES, "1 x 6") for name in ("pt+ft", "mtl")}
    ratios = {}
    for words, (method, n, task) in kinds.items():
        table = _students(rows, n=n, method=method, task=task)
        ratios[words] = float((table["dimensions"] / table["teacher's dimensions"]).mean())
    alone = _students(rows, n=FEW_SAMPLES, method="stl", task="6 new")
    few = float((alone["dimensions"] / alone["teacher's dimensions"]).mean())
    return Measured({"over the teacher's": ratios, f"single task, {FEW_SAMPLES} samples": few}, _said(rows))


def dimensions_by_factor(rows: Table) -> Measured:
    """Return the dimensions after finetuning where one known unit is needed, by factor on pretrained weights."""
    means, lead = _by_factor(rows, "dimensions")
    numbers = {"dimensions": means, "times 10 less times 0.1, hundredths": lead}
    return Measured(numbers, f"uncentred, as published; {_said(rows.only(n=FEW_SAMPLES, task=ONE_KNOWN))}")


def shared_by_factor(rows: Table) -> Measured:
    """Return which part of the dimensions after finetuning was there before, by factor on pretrained weights."""
    tables = {m: _students(rows, n=FEW_SAMPLES, method="pt+ft", task=ONE_KNOWN, scaling=m) for m in FACTORS}
    shares = {f"times {m:g}": float((table["shared"] / table["dimensions"]).mean()) for m, table in tables.items()}
    before = float(tables[1.0]["dimensions before"].mean())
    return Measured({"shared over those after": shares, "dimensions before": before}, "uncentred, as published")
