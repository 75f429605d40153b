"""Gradient resists, the theory: its propositions as numbers that can be computed, without training.

The first step of gradient descent weighs an input by its covariance with the label; information about the label that
a prediction has, it has from the input; and a positive information needs no gradient anywhere.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.measures.dependence.information import information_of, tabulate
from recombine.nets.by_hand.playground import Playground, train_playground
from recombine.runs.experiment import Unit
from recombine.worlds import plane as world

Rows = list[dict[str, Any]]


def first_step(unit: Unit) -> Rows:
    """Covariances of the 2-D problem's label with both inputs: exact, in samples, and as one step from zero weights.

    The step is that of logistic regression on centred inputs; its weights are half the covariances. The setting has
    "samples" and "seeds".

    Examples
    --------
    >>> rows = first_step(Unit("first-step", 1, {"samples": 1000, "seeds": [0]}))
    >>> rows[0]["route"], round(rows[0]["first"], 4), round(rows[0]["ratio"], 4)
    ('exact', 0.4444, -0.5)
    """
    rows = [_covariances("exact", 0, exact_covariances())]
    for seed in unit.seeds:
        samples = world.draw_training("text", seed, unit.setting["samples"])
        labels, centred = samples.labels, samples.points - samples.points.mean(axis=0)
        rows.append(_covariances("samples", seed, (labels - labels.mean()) @ centred / len(labels)))
        model, size = Playground.zero(1), len(labels)
        moved = train_playground(model, centred[None], labels[None], record=[1], rate=1.0, batch=size, loss="logistic")
        rows.append(_covariances("one step", seed, moved[1].weights[0].ravel()))
    return rows


def exact_covariances() -> tuple[Fraction, Fraction]:
    """Return Cov(L, X_1) and Cov(L, X_2), with L = 2 Y_1 - 1 and X_k = Y_k - U[0, 1] on the three seen cells.

    Examples
    --------
    >>> exact_covariances()
    (Fraction(4, 9), Fraction(-2, 9))
    """
    labels = [Fraction(2 * first - 1) for first, _ in world.SEEN]
    means = [[Fraction(2 * cell[place] - 1, 2) for cell in world.SEEN] for place in (0, 1)]
    middle = sum(labels) / 3
    first, second = (
        sum((label - middle) * mean for label, mean in zip(labels, column, strict=True)) / 3 for column in means
    )
    return Fraction(first), Fraction(second)


def _covariances(route: str, seed: int, values: Any) -> dict[str, Any]:
    first, second = (float(value) for value in values)
    tilt = float(np.degrees(np.arctan2(-second, first)))
    return {"route": route, "seed": seed, "first": first, "second": second, "ratio": second / first, "tilt": tilt}


def processing(unit: Unit) -> Rows:
    """I(X; prediction) and I(Y; prediction) of random discrete problems, where the prediction sees X alone.

    Every problem is a table of whole numbers, so the informations are exact up to rounding. Half of the predictions
    are functions of X, the others random given X. The setting has "problems" and "seeds".

    Examples
    --------
    >>> rows = processing(Unit("processing", 1, {"problems": 20, "seeds": [0]}))
    >>> len(rows), min(row["of input"] - row["of label"] for row in rows) > -1e-12
    (20, True)
    """
    return [
        {"seed": seed, "problem": problem, **_processed(np.random.default_rng([seed, problem]), problem % 2 == 0)}
        for seed in unit.seeds
        for problem in range(unit.setting["problems"])
    ]


def _processed(generator: np.random.Generator, function: bool) -> dict[str, Any]:
    inputs, labels, outputs = generator.integers(2, 7, size=3)
    joint = generator.integers(0, 20, size=(inputs, labels)) + np.eye(inputs, labels, dtype=np.int64)
    rule = generator.multinomial(12, generator.dirichlet(np.full(outputs, 0.5)), size=inputs)
    if function:
        rule = 12 * np.eye(outputs, dtype=np.int64)[generator.integers(outputs, size=inputs)]
    # Counts of (X, Y, prediction): the prediction depends on X alone.
    counts = joint[:, :, None] * rule[:, None, :]
    kind = "function" if function else "random"
    return {"kind": kind, "of input": _information(counts.sum(axis=1)), "of label": _information(counts.sum(axis=0))}


def _information(counts: IntArray) -> float:
    """Return the information in a table of counts (K, M), in bits."""
    row, column = np.nonzero(counts)
    table, _ = tabulate(row, column, counts=counts[row, column])
    return information_of(table, corrected=False)


def counterexample(unit: Unit) -> Rows:
    """Information and gradient of predictions P(1 | X) = sigmoid(k X) on X uniform in [-1, 1], up to the step itself.

    "information" is I(X; prediction) in bits, "gradient" the mean size of the slope of P, and "share" how much of X
    has a slope above a thousandth. The setting has "steepness" (a list; 0 stands for the step) and "points".

    Examples
    --------
    >>> rows = counterexample(Unit("counterexample", 1, {"steepness": [4, 0], "points": 2000}))
    >>> [(row["steepness"], round(row["information"], 3), round(row["share"], 3)) for row in rows]
    [(4, 0.446, 1.0), (0, 1.0, 0.0)]
    """
    points = unit.setting["points"]
    # Midpoints: none is 0, where alone the step has no slope.
    x = (np.arange(points) + 0.5) / points * 2 - 1
    return [{"steepness": steepness, **_sigmoid(x, steepness)} for steepness in unit.setting["steepness"]]


def _sigmoid(x: FloatArray, steepness: float) -> dict[str, float]:
    if steepness:
        chance = 1 / (1 + np.exp(-np.clip(steepness * x, -700, 700)))
        slope = steepness * chance * (1 - chance)
    else:
        chance = (x > 0).astype(np.float64)
        # Nearer than half a grid step to no other level, so a difference quotient over less than that is the slope.
        reach = 0.25 * (x[1] - x[0])
        slope = ((x + reach > 0).astype(np.float64) - (x - reach > 0)) / (2 * reach)
    information = float(binary_entropy(chance.mean()) - binary_entropy(chance).mean())
    size = np.abs(slope)
    return {"information": information, "gradient": float(size.mean()), "share": float((size > 1e-3).mean())}


def binary_entropy(chance: Any) -> FloatArray:
    """Return the entropy of a coin, in bits.

    Examples
    --------
    >>> binary_entropy([0.0, 0.5, 1.0]).tolist()
    [0.0, 1.0, 0.0]
    """
    from scipy.special import entr

    chance = np.asarray(chance, dtype=np.float64)
    entropy: FloatArray = (entr(chance) + entr(1 - chance)) / np.log(2)
    return entropy


def held_out_information(accuracy: Any) -> FloatArray:
    """Return I(prediction; Y_2 | Y_1) of a model that is right on the three seen quadrants, in bits.

    Its accuracy is the share of the held-out quadrant that it labels 1.

    Examples
    --------
    >>> held_out_information([0.786, 0.924, 0.432]).round(4).tolist()
    [0.0581, 0.0195, 0.1838]
    """
    share = np.asarray(accuracy, dtype=np.float64)
    found: FloatArray = (binary_entropy((1 + share) / 2) - binary_entropy(share) / 2) / 2
    return found
