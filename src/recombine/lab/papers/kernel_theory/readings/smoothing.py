"""Kernel theory: what is read off the rows of smoothed labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.kernel_theory.readings.context import MAX_SHALLOW_DEPTH
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import Interval, mean_over_seeds, require
from recombine.tables.table import Table

#: From this smoothing on, networks are expected to have arrived within their steps.
MIN_FAST_SMOOTHED_SHARE = 0.01
#: Chance on two answers, and the share of training images from which on training counts as accurate.
CHANCE, ACCURATE_SHARE = 0.5, 0.99
#: Networks on images by loss and smoothing.
PLAIN, WEAK, STRONG = ({"loss": "logistic", "smoothing": amount} for amount in (0.0, 0.01, 0.1))
SQUARED = {"loss": "mse", "smoothing": 0.0}


def _shallow(rows: Table) -> Table:
    relu = rows.only(activation="relu", task="CD-3")
    return require(relu.where(relu["depth"] <= MAX_SHALLOW_DEPTH))


def kernels_by_smoothing(rows: Table) -> Measured:
    """Return how many shallow ReLU kernels are right on CD-3 with and without, and how far fits are off theory."""
    shallow = _shallow(rows)
    plain, smoothed = (require(shallow.where((shallow["smoothing"] > 0) == with_any)) for with_any in (False, True))
    every = rows.where(rows["smoothing"] > 0)
    numbers = {
        "all right without": int((plain["accuracy"] == 1).sum()),
        "not all right with": int((smoothed["accuracy"] < 1).sum()),
        "seen outputs off the closed form": float(every["from ceiling"].max()),
        "off the squared-loss solution": float(every["from squared"].max()),
        "unseen margin at depth 1, without": float(plain.only(depth=1)["relative margin"][0]),
        "unseen margin at depth 1, with": float(smoothed.only(depth=1)["relative margin"][0]),
    }
    return Measured(numbers, f"{len(plain)} depths, {len(smoothed)} fits with smoothing; margins relative to seen ones")


def networks_by_smoothing(rows: Table) -> Measured:
    """Return how many lazy networks are right on all unseen cells of CD-3 after their last step."""
    last = require(rows.where(rows["step"] == rows["step"].max()).only(task="CD-3"))
    right, amount = last["accuracy"] == 1, last["smoothing"]
    fast = require(last.where(amount >= MIN_FAST_SMOOTHED_SHARE))
    counts = [int((amount == value).sum()) for value in np.unique(amount)]
    numbers = {
        "all right without": int(right[amount == 0].sum()),
        "not all right with 0.01 or more": int((fast["accuracy"] < 1).sum()),
        "all right with 0.001, as many steps": int(right[amount == 0.001].sum()),
        "worst on seen cells": float(last["train accuracy"].min()),
        "networks per smoothing": min(counts),
    }
    listed = ", ".join(f"{value:g}: {int(right[amount == value].sum())}" for value in np.unique(amount))
    return Measured(numbers, f"all right after {last['step'][0]:,} steps by smoothing: {listed}")


def times_by_smoothing(rows: Table) -> Measured:
    """Return by which factor a tenth of the smoothing delays the moment when all unseen cells of CD-3 are right."""
    shallow = _shallow(rows)
    smoothed = shallow.where(shallow["smoothing"] > 0)
    depths, amounts = np.unique(smoothed["depth"]), np.unique(smoothed["smoothing"])
    times = np.array([[smoothed.only(depth=d, smoothing=a)["time"][0] for a in amounts] for d in depths])
    numbers = {
        "ratio of times, a tenth of the smoothing": (times[:, :-1] / times[:, 1:]).ravel().round(3).tolist(),
        "never right": int(np.isnan(times).sum()),
    }
    first = ", ".join(f"{amount:g}: {time:,.0f}" for amount, time in zip(amounts, times[0], strict=True))
    return Measured(numbers, f"{len(depths)} depths; time at depth {depths[0]} by smoothing {first}")


def _networks(rows: Table, **condition: object) -> Table:
    """Rows on CD-3 of two networks or more; seeds can then be compared."""
    networks = require(rows.only(task="CD-3", **condition))
    require(networks.only(step=networks["step"].max()), at_least=2)
    return networks


def _last(rows: Table, **condition: object) -> Table:
    networks = _networks(rows, **condition)
    return networks.only(step=networks["step"].max())


def _interval(values: FloatArray) -> Interval:
    """The interval of a mean over seeds; not a number where fewer than two seeds have a value."""
    return Interval.of(values) if len(values) > 1 else Interval(np.nan, np.nan, np.nan)


def _points(shares: FloatArray) -> Interval:
    return _interval(100 * shares)


def images_by_smoothing(rows: Table) -> Measured:
    """Return how many unseen images of CD-3 ConvNets get right after their last step, with smoothing and without."""
    plain, strong = _last(rows, **PLAIN), _last(rows, **STRONG)
    after, before = strong.paired(plain, "accuracy")
    numbers = {
        "below chance without, points": _points(CHANCE - plain["accuracy"]),
        "above chance with 0.1, points": _points(strong["accuracy"] - CHANCE),
        "gained with 0.1, points": _points(after - before),
        "right without": mean_over_seeds(plain, "accuracy"),
        "right with 0.1": mean_over_seeds(strong, "accuracy"),
        "least on training images": float(min(plain["train accuracy"].min(), strong["train accuracy"].min())),
    }
    return Measured(numbers, f"{len(after)} pairs of networks, step {plain['step'][0]:,}")


def images_against_squared_loss(rows: Table) -> Measured:
    """Return how far ConvNets with smoothed labels are from those of squared loss on unseen images of CD-3."""
    strong, squared = _last(rows, **STRONG), _last(rows, **SQUARED)
    smoothed, reference = strong.paired(squared, "accuracy")
    less = _points(smoothed - reference)
    numbers = {
        "further apart by at most, points": max(abs(less.low), abs(less.high)),
        "0.1 less squared loss, points": less,
        "right with squared loss": mean_over_seeds(squared, "accuracy"),
    }
    return Measured(numbers, f"{len(smoothed)} pairs of networks, step {squared['step'][0]:,}")


def _first_steps(rows: Table, column: str, above: float) -> dict[int, int]:
    """By seed, the first recorded step from which on a column is above a share; seeds that never are have none."""
    steps: dict[int, int] = {}
    for row in sorted(rows.rows(), key=lambda line: int(line["step"])):
        if row[column] > above:
            steps.setdefault(int(row["seed"]), int(row["step"]))
        else:
            steps.pop(int(row["seed"]), None)
    return steps


def images_over_steps(rows: Table) -> Measured:
    """Return when ConvNets with smoothed labels leave chance behind on CD-3, and where they are when training is."""
    weak, strong = _networks(rows, **WEAK), _networks(rows, **STRONG)
    later, sooner = (_first_steps(networks, "accuracy", CHANCE) for networks in (weak, strong))
    last = int(weak["step"].max())
    # One that does not get there within its steps needs at least as many.
    ratios = np.array([later.get(seed, last) / step for seed, step in sooner.items()])
    numbers: dict[str, Any] = {
        "above chance with 0.01, points": _points(_last(rows, **WEAK)["accuracy"] - CHANCE),
        "steps with 0.01 over steps with 0.1": _interval(ratios),
        "never with 0.1": len(set(strong["seed"].tolist())) - len(sooner),
        "right with 0.01": mean_over_seeds(_last(rows, **WEAK), "accuracy"),
    }
    for name, networks in (("0.01", weak), ("0.1", strong)):
        accurate = _first_steps(networks, "train accuracy", ACCURATE_SHARE)
        then = [networks.only(seed=seed, step=step)["accuracy"][0] for seed, step in accurate.items()]
        numbers[f"below chance when training is right, {name}, points"] = _points(CHANCE - np.array(then))
    listed = [", ".join(f"{step:,}" for step in sorted(steps.values())) or "none" for steps in (sooner, later)]
    return Measured(numbers, f"above chance from these steps on: with 0.1 {listed[0]}; with 0.01 {listed[1]}")
