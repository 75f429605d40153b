"""Gradient resists, the theory: Proposition 1 as numbers that can be computed, without training.

It says that X tells something about Y if and only if the derivative of Y by X is not zero, where that is defined. Two
smooth maps for which it is defined everywhere show that neither half is true.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds import plane
from recombine.measures.dependence.columns import mutual_information

Rows = list[dict[str, Any]]


def counterexample(unit: Unit) -> Rows:
    """Information and largest slope of two smooth maps Y = f(X), and of the first one without the gap.

    "step across a gap" is 0 up to -1/2, 1 from 1/2 on and smooth in between, and X is uniform on what is not in
    between: 1 bit and no slope. "sine at two zeros" is sin(pi X) with X either 0 or 1: a slope and no information.
    "information" is I(X; Y) in bits, "slope" the largest |f'(X)| in closed form (of the sine the smallest), "quotient"
    the same as difference quotient. The setting has the number of "points".

    Examples
    --------
    >>> rows = counterexample(Unit("counterexample", 1, {"points": 1000}))
    >>> [(row["map"], round(row["information"], 3), round(row["slope"], 3)) for row in rows[:2]]
    [('step across a gap', 1.0, 0.0), ('sine at two zeros', 0.0, 3.142)]
    """
    points = np.linspace(-1, 1, unit.setting["points"])
    gap, zeros = points[np.abs(points) >= 0.5], np.array([0.0, 1.0])
    return [
        {"map": "step across a gap", "points": len(gap), **_measured(smooth_step, step_slope, gap, np.max)},
        {"map": "sine at two zeros", "points": 2, **_measured(_sine, _sine_slope, zeros, np.min)},
        {"map": "step, no gap", "points": len(points), **_measured(smooth_step, step_slope, points, np.max)},
    ]


def chains(unit: Unit) -> Rows:
    """Information of predictions about X and about Y, where predictions see X alone: one row per random world.

    X has a random law, Y a random law given X and so has the prediction; all are small tables, drawn from Dirichlet
    laws with many small entries.

    Examples
    --------
    >>> row = chains(Unit("chains", 1, {"worlds": 1, "seeds": [0]}))[0]
    >>> row["about X"] > row["about Y"] > 0
    True
    """
    rows: Rows = []
    for seed in unit.seeds:
        rng = np.random.default_rng(seed)
        for world in range(unit.setting["worlds"]):
            inputs, labels, answers = rng.integers(2, 8, 3)
            law = rng.dirichlet(np.full(inputs, 0.5))
            label_given, answer_given = (rng.dirichlet(np.full(size, 0.3), inputs) for size in (labels, answers))
            joint = np.einsum("x,xy,xa->ya", law, label_given, answer_given)
            told = {"about X": bits_of(law[:, None] * answer_given), "about Y": bits_of(joint)}
            rows.append({"seed": seed, "world": world, **told})
    return rows


def bits_of(joint: FloatArray) -> float:
    """Return the mutual information of a joint law (rows, columns), in bits.

    Examples
    --------
    >>> bits_of(np.eye(2) / 2)
    1.0
    """
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    shown = joint > 0
    return float((joint[shown] * np.log2(joint[shown] / apart[shown])).sum())


def quadrants(unit: Unit) -> Rows:
    """How many samples seen in training, and held out, lie in each quadrant: one row per data set, seed and quadrant.

    Examples
    --------
    >>> rows = quadrants(Unit("quadrants", 1, {"reading": "text", "seeds": [0]}))
    >>> sum(row["seen"] for row in rows if row["right"] and row["up"])
    0
    """
    rows: Rows = []
    for seed in unit.seeds:
        reading = unit.setting["reading"]
        samples, held_out = plane.draw_training(reading, seed), plane.draw_held_out(reading, seed=seed)
        for right, up in product((False, True), repeat=2):
            seen, unseen = (((x[:, 0] > 0) == right) & ((x[:, 1] > 0) == up) for x in (samples.points, held_out))
            agree = float(((samples.labels[seen] > 0) == right).mean()) if seen.any() else float("nan")
            rows.append(
                {"reading": reading, "seed": seed, "right": right, "up": up}
                | {"seen": int(seen.sum()), "held out": int(unseen.sum()), "labels by X1": agree}
            )
    return rows


def _measured(
    values: Callable[[FloatArray], FloatArray],
    slopes: Callable[[FloatArray], FloatArray],
    x: FloatArray,
    chosen: Callable[[FloatArray], Any],
) -> dict[str, float]:
    reach = 1e-5
    quotients = np.abs(values(x + reach) - values(x - reach)) / (2 * reach)
    # Y is a function of X, so that what X tells about it is its entropy: I(Y; Y).
    levels = np.unique(values(x).round(12), return_inverse=True)[1]
    information = mutual_information(levels, levels, corrected=False)
    return {
        "information": information,
        "slope": float(chosen(np.abs(slopes(x)))),
        "quotient": float(chosen(quotients.round(12))),
    }


def smooth_step(x: FloatArray) -> FloatArray:
    """Return a map with all derivatives: 0 up to -1/2, 1 from 1/2 on.

    Examples
    --------
    >>> smooth_step(np.array([-1.0, -0.5, 0.0, 0.5, 1.0])).tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    up, down = _flat_root(x + 0.5), _flat_root(0.5 - x)
    step: FloatArray = up / (up + down)
    return step


def step_slope(x: FloatArray) -> FloatArray:
    """Return the derivative of ``smooth_step``.

    Examples
    --------
    >>> step_slope(np.array([-0.5, 0.0, 0.75])).tolist()
    [0.0, 2.0, 0.0]
    """
    up, down = _flat_root(x + 0.5), _flat_root(0.5 - x)
    rises, falls = (
        root / np.where(root > 0, distance, 1.0) ** 2 for root, distance in ((up, x + 0.5), (down, 0.5 - x))
    )
    slope: FloatArray = (rises * down + up * falls) / (up + down) ** 2
    return slope


def _flat_root(distance: FloatArray) -> FloatArray:
    """exp(-1 / t) for t > 0, else 0: a root at which all derivatives are 0."""
    inside = distance > 0
    root: FloatArray = np.where(inside, np.exp(-1 / np.where(inside, distance, 1.0)), 0.0)
    return root


def _sine(x: FloatArray) -> FloatArray:
    return np.sin(np.pi * x)


def _sine_slope(x: FloatArray) -> FloatArray:
    return np.pi * np.cos(np.pi * x)
