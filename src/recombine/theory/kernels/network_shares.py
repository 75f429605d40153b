"""How much of the variance over cells a wide network begins with on single factors, on pairs, on larger sets.

Its kernel is a sum over conjunctions with saliences that depend on the size of a set alone (Lippl & Stachenfeld 2025,
Prop. 4.1), so it lies on one axis with saliences that are learned from an outcome.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.theory.kernels.overlap import OverlapKernel

#: Factors beyond which the saliences of a network lose digits, which alternating sums of binomials cost.
MAX_NETWORK_FACTORS = 20
#: Cells that a network's shares are read from, drawn at random from more.
MAX_WEIGHED_CELLS = 1_000


def network_shares(cells: IntArray, kernel: OverlapKernel, sizes: int = 3) -> FloatArray:
    """Return the shares of variance over cells (N, C) that a kernel begins with: by size of set (K,), K <= ``sizes``.

    The last is that of all larger sets together.

    Examples
    --------
    >>> cells = np.indices((8, 6)).reshape(2, -1).T
    >>> network_shares(cells, OverlapKernel.ntk(depth=1, factors=2)).round(2)
    array([0.72, 0.28])
    """
    count = cells.shape[1]
    if not 1 <= count <= MAX_NETWORK_FACTORS:
        raise InputError(f"{count} factors are too many to weigh; use at most {MAX_NETWORK_FACTORS}")
    if len(cells) > MAX_WEIGHED_CELLS:
        cells = np.random.default_rng(0).permutation(cells)[:MAX_WEIGHED_CELLS]
    saliences, singled_out = kernel.salience, count if count <= sizes else sizes - 1
    powers = [
        saliences[size - 1] * sum(_scatter(cells, chosen) for chosen in combinations(range(count), size))
        for size in range(1, singled_out + 1)
    ]
    if singled_out < count:
        powers.append(_total_scatter(cells, saliences) - sum(powers))
    return np.asarray(np.array(powers) / sum(powers))


def _scatter(cells: IntArray, chosen: Sequence[int]) -> float:
    """Return the chance that two cells of (N, C), drawn with replacement, differ in a set of factors."""
    _, counts = np.unique(cells[:, list(chosen)], axis=0, return_counts=True)
    return 1 - float(np.square(counts / len(cells)).sum())


def _total_scatter(cells: IntArray, saliences: FloatArray) -> float:
    """Return the mean over pairs of cells (N, C) of what all sets in which they differ weigh together."""
    count = cells.shape[1]
    shared = np.zeros((len(cells), len(cells)), dtype=np.int64)
    for levels in cells.T:
        shared += levels[:, None] == levels
    weighed = [
        sum(math.comb(overlap, size) * saliences[size - 1] for size in range(1, overlap + 1))
        for overlap in range(count + 1)
    ]
    return float(weighed[-1] - np.array(weighed)[shared].mean())
