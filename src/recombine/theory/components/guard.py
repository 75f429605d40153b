"""Is there anything to say beyond the mean: a permutation test of all components together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray

#: Permutations, the chance of a false alarm, and how sure leave-one-out alone has to be for none to be drawn.
PERMUTATIONS, FALSE_ALARM_RATE, OBVIOUS_SCORE = 199, 0.05, 3.0
#: Cells that are permuted at most.
MAX_PERMUTED_CELLS = 400


def permutation_p(covariances: FloatArray, y: FloatArray, draws: int = PERMUTATIONS, seed: int = 0) -> float:
    """Return how often permuted outcomes (n,) agree as well with the components (T, n, n) as the outcomes themselves.

    A component agrees by its score y' K y, in standard deviations over permutations; what all exceed their mean by is
    added up, so that both one strong component and many weak ones count.

    Examples
    --------
    >>> group = np.repeat(np.arange(6), 5)
    >>> same = (group[:, None] == group).astype(float)[None]
    >>> permutation_p(same, group + 0.1 * np.arange(30) % 1), permutation_p(same, np.arange(30) * 7 % 30 + 0.0) > 0.1
    (0.005, True)
    """
    rng = np.random.default_rng(seed)
    centred = y - y.mean()
    drawn = np.column_stack([centred, *(rng.permutation(centred) for _ in range(draws))])
    scores = np.stack([np.einsum("ib,ib->b", drawn, gram @ drawn) for gram in covariances])
    chance = scores[:, 1:]
    spread = chance.std(axis=1, keepdims=True)
    excess = (scores - chance.mean(axis=1, keepdims=True)) / np.where(
        spread > 1e-12 * np.abs(scores).max(), spread, np.inf
    )
    totals = np.maximum(excess, 0.0).sum(axis=0)
    return float((1 + np.count_nonzero(totals[1:] >= totals[0] * (1 - 1e-9))) / (draws + 1))


def beats_mean(
    covariances: Callable[[IntArray], FloatArray], y: FloatArray, left_out: FloatArray, weights: FloatArray
) -> bool:
    """Whether values are worth more than the mean: left-out values (n,) are nearer, and it is no chance.

    The left-out error alone does not suffice: saliences were learned with every cell. Outcomes count by ``weights``
    (n,), one over their variances up to a factor. Where there are many cells, ``covariances`` of the terms are asked
    for among some of them only.
    """
    shares = weights / weights.sum()
    apart = (y - shares @ y) / np.maximum(1 - shares, 1e-12)
    explained = 1 - float(shares @ (y - left_out) ** 2) / max(float(shares @ apart**2), 1e-300)
    # As many cells as weights leave: all where they are equal.
    size = 1 / float(shares @ shares)
    if explained * np.sqrt(size) > OBVIOUS_SCORE or explained <= 0:
        return bool(explained > 0)
    members = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_PERMUTED_CELLS])
    # In units of their noise outcomes can change places if nothing but noise tells them apart.
    standard = np.sqrt(weights) * (y - shares @ y)
    return permutation_p(covariances(members), standard[members]) <= FALSE_ALARM_RATE
