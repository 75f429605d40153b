"""What a model's errors stand beside: verdicts, adding, the chosen structure, the plain mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.design.design import Design
from recombine.jobs.audit.audit import Audit
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.determined import additive_fit
from recombine.jobs.score.predictions import observed_outcomes
from recombine.tables.grouping import RowsAre
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: A chance of none costs as much as one of this, so that one confident miss does not drown all other cells.
MIN_CHANCE = 1e-6


def mean_amount(values: FloatArray, weights: FloatArray | None = None) -> Amount:
    """Return the mean of values (N,), each of which counts its weight, with its range over cells.

    Examples
    --------
    >>> mean_amount(np.array([1.0, 2.0, 3.0]))
    Amount(2 [-0.484, 4.48])
    """
    shares = np.ones(len(values)) if weights is None else weights
    if not shares.sum() > 0:
        return Amount(float("nan"), float("nan"), float("nan"))
    shares = shares / shares.sum()
    mean, counted = float(shares @ values), int((shares > 0).sum())
    if counted < 2:
        return Amount(mean, float("nan"), float("nan"))
    error = float(np.sqrt(np.sum((shares * (values - mean)) ** 2) * counted / (counted - 1)))
    return Amount.about(mean, error, counted - 1.0)


def by_verdict(
    designs: Sequence[Design], predicted: FloatArray, codes: IntArray, weights: FloatArray | None = None
) -> Table:
    """Return one row per verdict of the held-out cells: how many, error and its range, and that of the plain mean.

    ``predicted`` (H, K) are one model's predictions, ``codes`` (H,) the verdicts and ``weights`` (H,) how much each
    cell counts; with these there is the share of what matters. Where predictions are chances there
    are log loss and accuracy, too: the share of measurements whose likeliest class is right.

    Examples
    --------
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 4], train=[True, True, True, False])
    >>> by_verdict([design], np.array([[4.5]]), np.array([Verdict.DETERMINED]))["squared error"].tolist()
    [0.25]
    """
    observed = observed_outcomes(designs)
    squares = np.sum((predicted - observed) ** 2, axis=1)
    plain = np.sum((observed - _plain_means(designs)) ** 2, axis=1)
    counts = np.ones(len(codes)) if weights is None else weights
    unseen = codes != Verdict.SEEN
    total = float((counts * squares)[unseen].sum())
    chances = _chances(designs, predicted)
    rows = []
    for verdict in Verdict:
        chosen = codes == verdict
        if not chosen.any():
            continue
        share = float((counts * squares)[chosen].sum()) / total if total > 0 and verdict != Verdict.SEEN else np.nan
        error = mean_amount(squares[chosen], counts[chosen])
        row: dict[str, Any] = {
            "verdict": verdict.word,
            "cells": int(chosen.sum()),
            "squared error": error.value,
            "low": error.low,
            "high": error.high,
            "share": share,
            "plain mean": mean_amount(plain[chosen], counts[chosen]).value,
        }
        if weights is not None:
            row["importance"] = (
                float(counts[chosen].sum() / counts[unseen].sum()) if verdict != Verdict.SEEN else np.nan
            )
        if chances is not None:
            row |= _of_chances(
                chances[chosen], _as_chances(designs, observed)[chosen], counts[chosen], _all_classes(chances)
            )
        rows.append(row)
    return Table.from_rows(rows)


def beside(audits: Sequence[Audit], places: IntArray) -> dict[str, FloatArray]:
    """Return what adding, the chosen structure and the plain mean miss the design's rows ``places`` (T,) by, (T, K).

    Examples
    --------
    >>> from recombine.jobs.audit.audit import audit
    >>> square = Design.from_cells([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 6], train=[True, True, True, False])
    >>> beside([audit(square)], np.array([3]))["adding"].round(9)
    array([[-2.]])
    """
    columns: list[dict[str, FloatArray]] = []
    for audit in audits:
        design = audit.design
        assert design.outcome is not None
        cells, observed = design.cells[places], design.outcome[places]
        misses = {"adding": design.bounded(additive_fit(audit).predict(cells)) - observed}
        if not audit.choice.structure.adds:
            misses[f"chosen structure: {audit.choice.name}"] = design.bounded(audit.values.predict(cells)) - observed
        columns.append(misses | {"plain mean": float(design.outcome[design.train].mean()) - observed})
    return {name: np.stack([misses[name] for misses in columns], axis=1) for name in columns[0]}


def _plain_means(designs: Sequence[Design]) -> FloatArray:
    return np.array([np.mean(design.outcome[design.train]) for design in designs if design.outcome is not None])


def _as_chances(designs: Sequence[Design], values: FloatArray) -> FloatArray:
    """Return values (N, K) of an outcome with two values, or with classes, as chances of classes."""
    if len(designs) > 1:
        return values
    assert designs[0].two_values is not None
    low, high = designs[0].two_values
    second = (values[:, 0] - low) / (high - low)
    return np.stack([1 - second, second], axis=1)


def _chances(designs: Sequence[Design], predicted: FloatArray) -> FloatArray | None:
    """Return predictions (H, K) as chances of classes; None where they are none."""
    if len(designs) == 1 and designs[0].two_values is None:
        return None
    chances = _as_chances(designs, predicted)
    return chances if ((chances >= -1e-3) & (chances <= 1 + 1e-3)).all() else None


def _of_chances(chances: FloatArray, observed: FloatArray, counts: FloatArray, classes: bool) -> dict[str, float]:
    """Return the share of measurements whose likeliest class is right of N cells (N, K); unless classes, log loss."""
    right = observed[np.arange(len(chances)), chances.argmax(axis=1)]
    measures = {"accuracy": mean_amount(right, counts).value}
    if not classes:
        loss = -np.sum(observed * np.log(np.clip(chances, MIN_CHANCE, 1.0)), axis=1)
        measures["log loss"] = mean_amount(np.maximum(loss, 0.0), counts).value
    return measures


def _all_classes(chances: FloatArray) -> bool:
    """Say whether chances (N, K) are classes: none and all."""
    return bool(np.isin(chances, (0.0, 1.0)).all())


@dataclass(frozen=True)
class Misses:
    """Classes that a model got wrong on unseen cells, as shares of the measurements there.

    Attributes
    ----------
    wrong : float
        All of them.
    undetermined : float
        Those on cells that the seen ones do not determine.
    least, most : float
        Those that the commonest class of each determined cell would get wrong, too: as counted, which is too few
        because it is chosen by the same measurements, and by the other measurements of the cell, which is too many.
    """

    wrong: float
    undetermined: float
    least: float
    most: float


def wrong_classes(designs: Sequence[Design], predicted: FloatArray, codes: IntArray) -> Misses | None:
    """Return whose the wrong classes of predictions (H, K) are; None where predictions are no classes.

    Examples
    --------
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1]]
    >>> design = Design.from_cells(rows, [0, 1, 0, 1, 1, 0], train=[True] * 3 + [False] * 3)
    >>> wrong_classes([design], np.array([[1.0]]), np.array([Verdict.DETERMINED])).wrong.__round__(3)
    0.333
    """
    chances = _chances(designs, predicted)
    if chances is None or not _all_classes(chances):
        return None
    unseen = codes != Verdict.SEEN
    rows = designs[0].weight[~designs[0].train][unseen]
    observed = _as_chances(designs, observed_outcomes(designs))[unseen]
    total = max(float(rows.sum()), 1e-300)
    missed = rows * (1 - observed[np.arange(len(rows)), chances[unseen].argmax(axis=1)])
    determined = codes[unseen] == Verdict.DETERMINED
    counts = rows[:, None] * observed
    fewest = rows - counts.max(axis=1)
    return Misses(
        float(missed.sum()) / total,
        float(missed[~determined].sum()) / total,
        min(float(fewest[determined].sum()), float(missed[determined].sum())) / total,
        min(float(_by_others(counts)[determined].sum()), float(missed[determined].sum())) / total,
    )


def _by_others(counts: FloatArray) -> FloatArray:
    """Return how many of each cell's measurements (N, K) the commonest class of its other ones gets wrong, (N,)."""
    wrong = np.zeros(len(counts))
    for column in range(counts.shape[1]):
        others = counts.copy()
        others[:, column] -= 1
        best = others == others.max(axis=1, keepdims=True)
        right = best[:, column] / best.sum(axis=1)
        wrong += counts[:, column] * (1 - right)
    return wrong


def row_error(designs: Sequence[Design], predicted: FloatArray, codes: IntArray) -> tuple[float, float] | None:
    """Return the squared error of single measurements of unseen cells, and the noise in it; None without replicates.

    Examples
    --------
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
    >>> design = Design.from_cells(rows, [0.0, 1.0, 2.0, 3.0, 5.0], train=[True] * 3 + [False] * 2)
    >>> row_error([design], np.array([[4.0]]), np.array([Verdict.DETERMINED]))
    (1.0, 1.0)
    """
    unseen = codes != Verdict.SEEN
    error = noise = total = 0.0
    for column, design in enumerate(designs):
        if design.spread is None or design.freedom is None or design.outcome is None or not unseen.any():
            return None
        held_out = ~design.train
        rows, spread, freedom = (values[held_out][unseen] for values in (design.weight, design.spread, design.freedom))
        if not freedom.sum() > 0 or design.rows_are is RowsAre.MEANS:
            return None
        missed = rows * (predicted[unseen, column] - design.outcome[held_out][unseen]) ** 2
        error, total = error + float(missed.sum() + spread.sum()), float(rows.sum())
        noise += float(spread.sum() / freedom.sum())
    error /= max(total, 1e-300)
    return (error, min(noise, error)) if error > 0 else None
