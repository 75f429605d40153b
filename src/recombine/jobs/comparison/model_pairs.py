"""Which of several models misses unseen cells least, beyond chance: their errors set against each other by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.amounts import Amount, ChanceSpread
from recombine.jobs.score.score import Score
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: Levels of a factor from which on they tell how differences vary from level to level.
MIN_LEVELS_OF_CLUSTERS = 5


@dataclass(frozen=True)
class ModelPair:
    """Two models on the same unseen cells."""

    better: str  #: The one with less error, by chance or not.
    other: str
    difference: Amount  #: The squared error of the other one less that of the better one, with its own 95 % range.
    adjusted: float  #: The p-value times what Holm's method asks for, given how many pairs there are.

    @property
    def beyond_chance(self) -> bool:
        """Whether one is better than the other, all pairs considered."""
        return self.adjusted <= SCORE_LIMITS.share_outside


def model_pairs(score: Score) -> tuple[ModelPair, ...]:
    """Set the squared errors of every two models against each other, cell by cell.

    Differences vary from cell to cell, from level to level and, where several folds each trained a model of their own,
    from fold to fold: of these errors of the mean difference the one counts that leaves most room for chance.

    Examples
    --------
    >>> import recombine as rc
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> right, noise = design.held_out @ [1.0, 2.0], np.random.default_rng(0).normal(size=27)
    >>> pair = model_pairs(rc.score(design, {"rough": right + noise, "near": right + 0.1 * noise}))[0]
    >>> pair.better, pair.other, pair.beyond_chance
    ('near', 'rough', True)
    """
    unseen = score.codes != Verdict.SEEN
    weights = score.counts[unseen]
    if len(score.models) < 2 or (weights > 0).sum() < 2:
        return ()
    squares = {model.name: np.sum((model.predicted - score.observed)[unseen] ** 2, axis=1) for model in score.models}
    cells = score.design.held_out[unseen]
    clusters = [codes for codes in cells.T if len(np.unique(codes)) >= MIN_LEVELS_OF_CLUSTERS]
    clusters += [] if score.fold is None else [score.fold[unseen]]
    pairs, chances = [], []
    for names in combinations(squares, 2):
        better, worse = sorted(names, key=lambda name: float(weights @ squares[name]))
        difference, chance = _difference(squares[worse] - squares[better], weights / weights.sum(), clusters)
        pairs.append((better, worse, difference))
        chances.append(chance)
    adjusted, highest = np.ones(len(pairs)), 0.0
    for rank, index in enumerate(np.argsort(chances, kind="stable")):
        highest = max(highest, min(1.0, (len(pairs) - rank) * chances[index]))
        adjusted[index] = highest
    return tuple(ModelPair(*pair, float(value)) for pair, value in zip(pairs, adjusted, strict=True))


def pairs_table(score: Score) -> Table:
    """Return one row per two models."""
    columns = ("better", "other", "difference", "low", "high", "adjusted p")
    rows = [
        (pair.better, pair.other, pair.difference.value, pair.difference.low, pair.difference.high, pair.adjusted)
        for pair in model_pairs(score)
    ]
    return Table({name: [row[column] for row in rows] for column, name in enumerate(columns)})


def _difference(values: FloatArray, shares: FloatArray, clusters: Sequence[IntArray]) -> tuple[Amount, float]:
    """Return the mean of ``values`` (N,), which count their ``shares``, with its range and how likely it is by chance.

    ``clusters`` (N,) number the groups of values that may vary together.
    """
    from scipy.special import stdtr

    mean = float(shares @ values)
    departures = shares * (values - mean)
    errors = []
    for cluster in (np.arange(len(values)), *clusters):
        summed = np.bincount(cluster, departures)[np.bincount(cluster, shares) > 0]
        errors.append(float(np.sqrt(np.sum(summed**2) * len(summed) / max(len(summed) - 1, 1))))
    error, freedom = max(errors), float((shares > 0).sum() - 1)
    chance = 2 * float(stdtr(freedom, -abs(mean) / error)) if error > 0 else float(mean == 0)
    return Amount.about(mean, ChanceSpread(error**2), freedom), chance
