"""Whole cells that add up to a number of rows, with outcomes distributed as in the whole table if that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.jobs.limits import SPLIT_LIMITS

#: Exchanges of chosen cells for others that are tried, and others that are looked at each time.
MAX_EXCHANGES, OTHERS_PER_EXCHANGE = 400, 256


def bin_outcomes(outcome: npt.NDArray[Any]) -> IntArray:
    """Return the bin of each row's outcome (N,): its class, or its tenth where it is a number with many values."""
    values, where = np.unique(outcome, return_inverse=True)
    where, bins, most_classes = where.reshape(-1), SPLIT_LIMITS.outcome_bins, SPLIT_LIMITS.max_outcome_classes
    if len(values) > bins and outcome.dtype.kind in "iuf":
        below = np.cumsum(np.bincount(where)) - np.bincount(where)
        where = np.unique((below * bins // len(outcome))[where], return_inverse=True)[1].reshape(-1)
    elif len(values) > most_classes:
        raise InputError(
            f"the outcome to stratify by has {len(values):,} classes, more than {most_classes}; give numbers, or merge "
            "classes"
        )
    return np.asarray(where, dtype=np.int64)


def outcome_counts(bins: IntArray, where: IntArray, cells: int) -> FloatArray:
    """Return how many rows of each cell fall into each bin, (M, B), for rows of cell ``where`` (N,)."""
    width = int(bins.max(initial=0)) + 1
    return np.bincount(where * width + bins, minlength=cells * width).reshape(cells, width).astype(np.float64)


def unlike(first: FloatArray, second: FloatArray) -> float:
    """Return the share of rows that would have to change bins to make two histograms (B,) alike."""
    if not first.sum() or not second.sum():
        return float("nan")
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


def draw_cells(
    pool: IntArray,
    rows: IntArray,
    aim: int,
    generator: np.random.Generator,
    counts: FloatArray | None = None,
    goal: FloatArray | None = None,
) -> IntArray:
    """Draw cells of ``pool`` (P,) whose ``rows`` (M,) add up to ``aim``, as nearly as taking them in turn comes.

    Unless the pool is used up, what is missing is less than every cell that is left, or what is too much is less than
    half of one. With ``counts`` (M, B), the rows of each cell by outcome, their sums come near ``goal`` (B,).
    """
    order = generator.permutation(pool)
    chosen = _filled(order, rows, aim)
    if counts is not None and goal is not None and len(chosen):
        drawn = [chosen, _filled(_by_quota(order, counts, goal, generator), rows, aim)]
        chosen = min(drawn, key=lambda option: float(((goal - counts[option].sum(axis=0)) ** 2).sum()))
        chosen = _exchanged(chosen, pool, rows, aim, counts, goal, generator)
    return np.sort(chosen)


def _filled(order: IntArray, rows: IntArray, aim: int) -> IntArray:
    """Take cells in order, leaving out those that are too large by then, and one more if that is nearer."""
    taken: list[IntArray] = []
    fitting, gap = order, aim
    while len(fitting := fitting[rows[fitting] <= gap]) and gap > 0:
        many = int(np.searchsorted(np.cumsum(rows[fitting]), gap, side="right"))
        taken.append(fitting[:many])
        gap -= int(rows[fitting[:many]].sum())
        fitting = fitting[many:]
    chosen = np.concatenate([np.zeros(0, dtype=np.int64), *taken])
    remaining = np.setdiff1d(order, chosen)
    if gap > 0 and len(remaining):
        last = remaining[np.argmin(rows[remaining])]
        if not len(chosen) or abs(int(rows[last]) - gap) < gap:
            chosen = np.append(chosen, last)
    return chosen


def _by_quota(order: IntArray, counts: FloatArray, goal: FloatArray, generator: np.random.Generator) -> IntArray:
    """Put cells into an order that keeps every bin's share: each comes when the turn of its commonest bin is."""
    bins = (counts[order] + 0.5 * generator.random((len(order), counts.shape[1]))).argmax(axis=1)
    turn = np.empty(len(order))
    for outcome_bin in range(counts.shape[1]):
        mine = np.flatnonzero(bins == outcome_bin)
        turn[mine] = np.cumsum(counts[order[mine]].sum(axis=1)) / max(goal[outcome_bin], 1e-9)
    return order[np.argsort(turn, kind="stable")]


def _exchanged(
    chosen: IntArray,
    pool: IntArray,
    rows: IntArray,
    aim: int,
    counts: FloatArray,
    goal: FloatArray,
    generator: np.random.Generator,
) -> IntArray:
    """Exchange one or two chosen cells for one or two others while that brings outcomes nearer the goal.

    Rows may be off by half a percent for it, though never by more than the largest cell.
    """
    taken = np.zeros(len(rows), dtype=bool)
    taken[chosen] = True
    total, lack = int(rows[chosen].sum()), goal - counts[chosen].sum(axis=0)
    tolerance = max(abs(total - aim), min(aim // SPLIT_LIMITS.rows_per_tolerated_row, int(rows[pool].max())))
    others = np.setdiff1d(pool, chosen)
    for _ in range(MAX_EXCHANGES if len(others) else 0):
        mine, theirs = np.flatnonzero(taken), others[~taken[others]]
        leaving = generator.choice(mine, size=min(int(generator.integers(1, 3)), len(mine)), replace=False)
        into = generator.choice(theirs, size=(OTHERS_PER_EXCHANGE, int(generator.integers(1, 3))))
        sums = total - int(rows[leaving].sum()) + rows[into].sum(axis=1)
        distance = ((lack + counts[leaving].sum(axis=0) - counts[into].sum(axis=1)) ** 2).sum(axis=1)
        distance[(np.abs(sums - aim) > tolerance) | ((into.shape[1] > 1) & (into[:, 0] == into[:, -1]))] = np.inf
        best = int(np.argmin(distance))
        if distance[best] < (lack**2).sum() - 1e-9:
            lack = lack + counts[leaving].sum(axis=0) - counts[into[best]].sum(axis=0)
            total = int(sums[best])
            taken[leaving], taken[into[best]] = False, True
            others = pool[~taken[pool]]
    return np.flatnonzero(taken)
