"""Whether values may leave the mean, by a permutation test of all components together, and how far.

As far as left-out cells confirm, less what chance could have done.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import fdtrc

from recombine.cells.arrays import FloatArray, IntArray

#: Permutations, and how sure leave-one-out alone has to be for none to be drawn.
PERMUTATIONS, OBVIOUS_SCORE = 199, 6.0
#: Chances of a false alarm, by single factors and by all terms: 5 % together, most of it where most is found.
FALSE_ALARM_RATES = (0.04, 0.01)
#: That of the test of added effects, which few cells may pass whose permutations are too few.
ADDED_FALSE_ALARM_RATE = 0.01
#: Noise over what components carry, at which left-out outcomes are predicted: almost none, as much, ten times as much.
NOISE_RATIOS = (0.03, 0.3, 1.0, 3.0, 10.0)
#: What the mean may vary by beside the components, far more than any outcome does.
MEAN_VARIANCE = 100.0
#: Cells that are permuted at most.
MAX_PERMUTED_CELLS = 400


def permutation_p(covariance: FloatArray, y: FloatArray, draws: int = PERMUTATIONS, seed: int = 0) -> float:
    """Return how often permuted outcomes (n,) are predicted as well from the others as the outcomes themselves.

    Predicted by a covariance (n, n), with as much noise as suits best: the smallest error counts.

    Examples
    --------
    >>> group = np.repeat(np.arange(6), 5)
    >>> same = (group[:, None] == group).astype(float)
    >>> permutation_p(same, group + 0.1 * np.arange(30) % 1), permutation_p(same, np.arange(30) * 7 % 30 + 0.0) > 0.1
    (0.005, True)
    """
    rng = np.random.default_rng(seed)
    drawn = np.column_stack([y, *(rng.permutation(y) for _ in range(draws))])
    values, vectors = np.linalg.eigh(covariance / max(float(covariance.diagonal().mean()), 1e-300) + MEAN_VARIANCE)
    turned, squares, smallest = vectors.T @ drawn, vectors**2, np.full(draws + 1, np.inf)
    for ratio in NOISE_RATIOS:
        inverse = 1 / (np.maximum(values, 0.0) + ratio)
        misses = vectors @ (inverse[:, None] * turned) / (squares @ inverse)[:, None]
        smallest = np.minimum(smallest, np.square(misses).mean(axis=0))
    return float(np.mean(smallest <= smallest[0] * (1 + 1e-9)))


def added_p(codes: IntArray, y: FloatArray, weights: FloatArray) -> float:
    """Return the p-value of the F test that no level of seen cells (n, F) adds to outcomes (n,), by weights (n,).

    1 where no cell is left to tell noise by.

    Examples
    --------
    >>> codes = np.indices((3, 4)).reshape(2, -1).T
    >>> added_p(codes, codes[:, 0] + 0.01 * (codes.sum(axis=1) % 2), np.ones(12)) < 1e-6
    True
    """
    units = np.sqrt(weights)[:, None]
    columns = [(levels[:, None] == np.unique(levels)).astype(float) for levels in codes.T]
    design = np.hstack([np.ones((len(y), 1)), *columns]) * units
    effects, _, rank, _ = np.linalg.lstsq(design, units[:, 0] * y)
    shares = weights / weights.sum()
    total = float(weights @ (y - shares @ y) ** 2)
    missed = float(np.square(units[:, 0] * y - design @ effects).sum())
    spare = len(y) - int(rank)
    if spare < 1 or rank < 2 or total == 0:
        return 1.0
    explained = (total - missed) / (rank - 1)
    return float(fdtrc(rank - 1, spare, explained / max(missed / spare, 1e-300)))


def beats_mean(
    codes: IntArray,
    covariances: Callable[[IntArray], FloatArray],
    y: FloatArray,
    left_out: FloatArray,
    weights: FloatArray,
) -> bool:
    """Whether values are worth more than the mean: left-out values (n,) are nearer to outcomes (n,), and by no chance.

    The left-out error alone does not suffice: saliences were learned with every cell. Outcomes of seen cells ``codes``
    (n, F) count by ``weights`` (n,), one over their variances up to a factor. Where there are many cells,
    ``covariances`` (2, m, m), by single factors and by all terms, are asked for among some of them only.
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
    units = np.sqrt(weights[members] / weights.mean())
    standard = units * (y - shares @ y)[members]
    if added_p(codes[members], y[members], weights[members]) <= ADDED_FALSE_ALARM_RATE:
        return True
    grams = covariances(members) * np.outer(units, units)
    return any(permutation_p(gram, standard) <= rate for gram, rate in zip(grams, FALSE_ALARM_RATES, strict=True))


def confirmed_share(y: FloatArray, left_out: FloatArray, weights: FloatArray) -> float:
    """Return the share, 0 to 1, of how left-out values (n,) differ from the mean that outcomes (n,) confirm.

    It is the slope of outcomes on left-out values, both about the mean of the other outcomes, less its standard error
    (that of White, as errors differ in size): saliences were learned with every cell, so that left-out values are a
    little too good. Outcomes count by ``weights`` (n,), one over their variances up to a factor.

    Examples
    --------
    >>> y = np.arange(40.0) % 5
    >>> confirmed_share(y, y, np.ones(40)), confirmed_share(y, -y, np.ones(40))
    (1.0, 0.0)
    >>> round(confirmed_share(y, 2 * y + np.arange(40) % 3, np.ones(40)), 2)
    0.21
    """
    mean = (y.sum() - y) / (len(y) - 1)
    distances, outcomes = left_out - mean, y - mean
    total = float(weights @ distances**2)
    if total <= 1e-24 * float(weights @ outcomes**2):
        return 0.0
    slope = float((weights * distances) @ outcomes) / total
    error = float(np.linalg.norm(weights * distances * (outcomes - slope * distances))) / total
    return float(np.clip(slope - error, 0.0, 1.0))
