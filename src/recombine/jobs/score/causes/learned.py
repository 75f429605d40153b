"""What no structure says and another model learned from the same seen cells: that share of the structure is no fate.

With u = y - a, what is observed beyond the determined value, and d = q - a, what another model says beyond it, the best
share of d is that of least squares, from none to all of it. Which model and which share is decided on half of the cells
and counted on the other half, so that agreement by chance is as often below zero as above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.amounts import Amount, ChanceSpread
from recombine.jobs.score.causes.cause import Cause
from recombine.jobs.score.regression import ErrorSplit, LearnedElsewhere, Regressors

#: How often cells are halved.
HALVINGS = 20
#: Cells that tell what another model got right, at least.
MIN_CELLS_HALVED = 24


def learned_elsewhere(
    others: Mapping[str, FloatArray], observed: FloatArray, regressors: Regressors, seed: int
) -> LearnedElsewhere | None:
    """Return what the predictions (T,) of ``others`` say beyond the determined values, as far as it was right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> determined, beyond = rng.normal(size=(2, 200))
    >>> regressors = Regressors(determined, determined[:, None], np.zeros((200, 1)), np.zeros(200), ("dose",))
    >>> learned = learned_elsewhere({"boosting": determined + beyond}, determined + beyond, regressors, seed=0)
    >>> learned.by, bool(np.allclose(learned.departure, beyond))
    ('boosting', True)
    """
    cells = len(observed) // regressors.per_cell
    if not others or cells < MIN_CELLS_HALVED:
        return None
    names, roots = tuple(others), regressors.roots
    beyond = roots * (observed - regressors.determined)
    departures = np.stack([roots * (others[name] - regressors.determined) for name in names], axis=1)
    products = (departures * beyond[:, None]).reshape(cells, -1, len(names)).sum(axis=1)
    squares = (departures**2).reshape(cells, -1, len(names)).sum(axis=1)
    rng, chosen = np.random.default_rng(seed), Counter[str]()
    shares = np.zeros((cells, len(names)))
    for _ in range(HALVINGS):
        in_half = rng.permutation(cells) < cells // 2
        for half in (in_half, ~in_half):
            product, square = products[half].sum(axis=0), squares[half].sum(axis=0)
            share = np.clip(product / np.maximum(square, 1e-300), 0.0, 1.0)
            best = int(np.argmax(share * (2 * product - share * square)))
            shares[~half, best] += share[best] / HALVINGS
            chosen[names[best]] += int(share[best] > 0)
    by_value = np.repeat(shares, regressors.per_cell, axis=0)
    return LearnedElsewhere((by_value * departures).sum(axis=1), by_value.sum(axis=1), chosen.most_common(1)[0][0])


def learned_amount(split: ErrorSplit) -> tuple[float, ChanceSpread] | None:
    """Return what another model got right of a model's structure, and its spread; None where that is within chance.

    A model that carries less of the seen cells' noise than determined values do departs from these by noise: as much
    as that may be is not counted.
    """
    learned = split.regressors.learned
    if learned is None:
        return None
    draws = [(determined - split.regressors.determined) ** 2 for determined, _, _ in split.regressors.noisy_draws]
    counts = split.regressors.per_cell * split.regressors.counts * learned.share
    noise = split.carried_share * np.array([float(np.mean(counts * draw)) for draw in draws] or [0.0])
    value = split.amount_of(-learned.departure) - float(noise.mean())
    spread = split.spread_of_mean(-learned.departure * split.error) + ChanceSpread(float(noise.var()))
    return (value, spread) if Amount.about(value, spread, split.freedom).low > 0 else None


class LearnableCause(Cause):
    """Where several models are scored: the share of the structure that another of them got right.

    Counted only beyond chance, and without what less noise of the seen cells would do.
    """

    name = "learnable"
    title = "another model learned it"
    meaning = "what effects do not explain, and another model got right from the same seen cells"
    meaning_by = "what effects do not explain, and {by} got right from the same seen cells"
    action = (
        "Look at what the other model is given and how it is built: the seen cells say more than this one took from "
        "them."
    )
    of = "model"
    colour = "#0072b2"
    hatch = "----"

    def by(self, split: ErrorSplit) -> str:
        """Return the name of the other model."""
        return "" if split.regressors.learned is None else split.regressors.learned.by

    def part(self, split: ErrorSplit) -> FloatArray | None:
        """Return by how much a cell's error would move if the model said what the other one got right, (T,)."""
        learned = split.regressors.learned
        return None if learned is None or learned_amount(split) is None else -learned.departure

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread] | None:
        """Return the mean product of that part with the error, less the noise of the seen cells in it."""
        return learned_amount(split)
