"""What a model's errors stand beside: verdicts, adding, the chosen structure, the plain mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.design.design import Design
from recombine.jobs.audit.audit import Audit
from recombine.jobs.score.causes import Amount
from recombine.jobs.score.determined import additive_fit
from recombine.jobs.score.predictions import observed_outcomes
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: A chance of none costs as much as one of this, so that one confident miss does not drown all other cells.
LEAST_CHANCE = 1e-6


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
    whole = float((counts * squares)[unseen].sum())
    chances = _chances(designs, predicted)
    rows = []
    for verdict in Verdict:
        mine = codes == verdict
        if not mine.any():
            continue
        share = float((counts * squares)[mine].sum()) / whole if whole > 0 and verdict != Verdict.SEEN else np.nan
        error = mean_amount(squares[mine], counts[mine])
        row: dict[str, Any] = {
            "verdict": verdict.word,
            "cells": int(mine.sum()),
            "squared error": error.value,
            "low": error.low,
            "high": error.high,
            "share": share,
            "plain mean": mean_amount(plain[mine], counts[mine]).value,
        }
        if weights is not None:
            row["importance"] = float(counts[mine].sum() / counts[unseen].sum()) if verdict != Verdict.SEEN else np.nan
        if chances is not None:
            row |= _of_chances(chances[mine], _as_chances(designs, observed)[mine], counts[mine])
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
    for found in audits:
        design = found.design
        assert design.outcome is not None
        cells, observed = design.cells[places], design.outcome[places]
        mine = {"adding": design.bounded(additive_fit(found).predict(cells)) - observed}
        if found.choice.name != "add":
            mine[f"chosen structure: {found.choice.name}"] = design.bounded(found.predict(cells)) - observed
        columns.append(mine | {"plain mean": float(design.outcome[design.train].mean()) - observed})
    return {name: np.stack([mine[name] for mine in columns], axis=1) for name in columns[0]}


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
    found = _as_chances(designs, predicted)
    return found if ((found >= -1e-3) & (found <= 1 + 1e-3)).all() else None


def _of_chances(chances: FloatArray, observed: FloatArray, counts: FloatArray) -> dict[str, float]:
    """Return log loss, and the share of measurements whose likeliest class is right, of N cells (N, K)."""
    bounded = np.clip(chances, LEAST_CHANCE, 1.0)
    loss = -np.sum(observed * np.log(bounded), axis=1)
    right = observed[np.arange(len(chances)), chances.argmax(axis=1)]
    return {"log loss": mean_amount(loss, counts).value, "accuracy": mean_amount(right, counts).value}
