"""Gradient resists, two dimensions: does a network that could use X_1 alone use X_2 as well?

Setting A trains on three quadrants, where X_2 tells something about the label; setting B redraws X_2 at every visit,
so that it tells nothing. What counts is the fourth quadrant, where a network that uses X_1 alone answers 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.lab.nets.by_hand.playground import Playground, train_playground
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds import plane as world
from recombine.tables.table import Table

Rows = list[dict[str, Any]]

#: Epochs after which networks are looked at.
RECORDED_EPOCHS = (0, 1, 4, 16, 64, 256, 1024)
MODELS = ("network", "two nodes", "linear")
SETTINGS = ("A", "B")


def plane(unit: Unit) -> Rows:
    """What models do on seen quadrants and on the held-out one: one row per seed and epoch.

    "held-out accuracy" is the share of the held-out quadrant that is labelled 1, "slope 1" and "slope 2" are the mean
    sizes of the output's derivatives there, and "tilt" is minus the mean derivative by X_2 over that by X_1: of a
    linear model -w_2 / w_1 (not a number before the first update).

    Examples
    --------
    >>> setting = {"reading": "text", "setting": "A", "model": "linear", "epochs": 1, "seeds": [0, 1]}
    >>> rows = plane(Unit("plane", 1, setting))
    >>> [(row["seed"], row["epoch"]) for row in rows]
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    setting = unit.setting
    samples, recorded = train_models(unit)
    points = world.draw_held_out(setting["reading"])
    about = {name: setting[name] for name in ("reading", "setting", "model")}
    rows = []
    for epoch, networks in recorded.items():
        columns = {
            "train accuracy": accuracy(samples, networks),
            "held-out accuracy": (networks.outputs(points) > 0).mean(axis=1),
            **_slopes(networks.slopes(points)),
        }
        measured = zip(unit.seeds, Table(columns).rows(), strict=True)
        rows += [{**about, "seed": seed, "epoch": epoch, **measures} for seed, measures in measured]
    return rows


def boundaries(unit: Unit, side: int = 41) -> Rows:
    """Where the output is positive: one row per seed, epoch, line of equal X_2 and stretch of X_1 along it.

    A stretch is made of whole squares of a grid with ``side`` squares per side. Keys of the setting as for ``plane``.

    Examples
    --------
    >>> setting = {"reading": "text", "setting": "A", "model": "network", "epochs": 64, "seeds": [0]}
    >>> rows = [row for row in boundaries(Unit("boundaries", 1, setting), side=10) if row["epoch"] == 64]
    >>> rows[0]["X2"], rows[0]["to"]
    (-0.9, 1.0)
    """
    setting = unit.setting
    points = world.square_centres(setting["reading"], side)
    half = world.plane_reading(setting["reading"]).edge / side
    about = {name: setting[name] for name in ("reading", "setting", "model")}
    _, recorded = train_models(unit)
    return [
        {**about, "seed": seed, "epoch": epoch, **stretch}
        for epoch, networks in recorded.items()
        for seed, outputs in zip(unit.seeds, networks.outputs(points), strict=True)
        for stretch in _stretches(points, outputs, side, half)
    ]


def train_models(unit: Unit) -> tuple[world.PlaneSamples, dict[int, Playground]]:
    """Train one model per seed as the setting says: its samples, and the models after each of ``RECORDED_EPOCHS``.

    The setting has "reading", "setting" ("A" or "B"), "model" ("network", "two nodes" or "linear"), "epochs" and
    "seeds"; a seed decides samples and first weights. Networks have one output node, as released, or two, one per
    class, as the appendix says. The linear model is logistic regression from zero weights, trained on the same batches.
    """
    setting = unit.setting
    for name, choices in (("setting", SETTINGS), ("model", MODELS)):
        if setting[name] not in choices:
            raise InputError(f"{name} is {setting[name]!r}; give one of {', '.join(choices)}")
    reading, linear = setting["reading"], setting["model"] == "linear"
    samples = world.stack_samples([world.draw_training(reading, seed) for seed in unit.seeds])
    points = world.Redraw(reading, samples, unit.seeds) if setting["setting"] == "B" else samples.points
    nodes = 2 if setting["model"] == "two nodes" else 1
    recorded = train_playground(
        Playground.zero(len(unit.seeds)) if linear else Playground.initial(unit.seeds, nodes=nodes),
        points,
        samples.labels,
        record=recorded_epochs(setting["epochs"]),
        loss="logistic" if linear else "squared",
    )
    return samples, recorded


def recorded_epochs(epochs: int) -> list[int]:
    """Return those of ``RECORDED_EPOCHS`` that a run of so many epochs reaches, and its last.

    Examples
    --------
    >>> recorded_epochs(64), recorded_epochs(10)
    ([0, 1, 4, 16, 64], [0, 1, 4, 10])
    """
    return sorted({epoch for epoch in RECORDED_EPOCHS if epoch < epochs} | {epochs})


def accuracy(samples: world.PlaneSamples, networks: Playground) -> FloatArray:
    """Return the share of each network's samples (E,) that it labels right; an output of 0 says -1.

    Examples
    --------
    >>> samples = world.stack_samples([world.draw_training("text", seed=0)])
    >>> share = float(accuracy(samples, Playground.zero(1))[0])
    >>> share == float((samples.labels == -1).mean())
    True
    """
    there = samples.labels != 0
    right = there & ((networks.outputs(samples.points) > 0) == (samples.labels > 0))
    share: FloatArray = right.sum(axis=1) / there.sum(axis=1)
    return share


def _slopes(slopes: FloatArray) -> dict[str, FloatArray]:
    """Mean size of each slope (E, N, 2) over points, and the tilt of the boundary they make."""
    by_x1, by_x2 = slopes.mean(axis=1).T
    tilt = np.divide(-by_x2, by_x1, out=np.full_like(by_x1, np.nan), where=by_x1 != 0)
    sizes = np.abs(slopes).mean(axis=1)
    return {"slope 1": sizes[:, 0], "slope 2": sizes[:, 1], "tilt": tilt}


def _stretches(points: FloatArray, outputs: FloatArray, side: int, half: float) -> Sequence[dict[str, float]]:
    """Runs of positive outputs along each line of the grid."""
    positive = np.pad((outputs > 0).reshape(side, side).astype(np.int8), ((0, 0), (1, 1)))
    change = np.diff(positive, axis=1)
    starts, ends = np.argwhere(change == 1), np.argwhere(change == -1)
    across = points[:side, 0]
    return [
        {
            "X2": round(float(across[line]), 6),
            "from": round(float(across[start]) - half, 6),
            "to": round(float(across[end - 1]) + half, 6),
        }
        for (line, start), (_, end) in zip(starts, ends, strict=True)
    ]
