"""Kernel theory: what is read off the rows of smoothed labels."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.kernel_theory.readings.context import MAX_SHALLOW_DEPTH
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table

#: From this smoothing on, networks are expected to have arrived within their steps.
MIN_FAST_SMOOTHED_SHARE = 0.01


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
