"""Salience of a representation, measured on samples: how similar are cells that share some of their factors?"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells, as_numbers
from recombine.cells.conjunctions import Subset, distinct, subsets
from recombine.errors import InputError
from recombine.theory.kernels.given_kernels import kernel_of_sets, kernel_of_values
from recombine.theory.kernels.overlap import OverlapKernel


def measured_salience(
    features: npt.ArrayLike, cells: npt.ArrayLike, *, itself: bool = False, by_set: bool = False
) -> OverlapKernel:
    """Return the overlap kernel that comes closest to the inner products of features: its ``salience`` is S(1..C;C).

    For each pair of cells the inner products of their samples are averaged; kappa_o is the mean of these averages over
    the pairs of distinct cells that share o factors, and kappa_C over cells with themselves (Lippl & Stachenfeld 2025,
    figure 5). For two factors S(1;2) = (overlapping - distinct) / (identical - distinct). Everything is a sum over
    groups of samples, so the cost is linear in the number of samples and no matrix of pairs is formed.

    Parameters
    ----------
    features : array of float, shape (S, D) or (N, M, D)
        One row per sample, or M samples for each of N cells. Flatten the activations of a layer first.
    cells : array of int, shape (S, C) or (N, C)
        The cell of each sample, or of each block of samples.
    itself : bool
        Whether a sample is paired with itself too. The paper does so; it adds the spread of a cell's M samples, divided
        by M, to kappa_C, which lowers the salience of everything but whole cells. Needed where each cell has one sample
        (inputs without noise). Without it cells of one sample do not count towards kappa_C.
    by_set : bool
        Whether to keep apart *which* factors two cells share, instead of how many: a kernel by sets, whose
        ``salience_by_set`` tells a loud factor from a quiet one.

    Examples
    --------
    >>> from recombine.cells import every_cell
    >>> cells = every_cell((4, 4))
    >>> one_hot = np.concatenate([np.eye(4)[cells[:, 0]], np.eye(4)[cells[:, 1]]], axis=1)
    >>> kernel = measured_salience(one_hot, cells, itself=True)
    >>> kernel.values.round(6).tolist(), kernel.salience.round(6).tolist()
    ([0.0, 1.0, 2.0], [0.5, 0.0])
    >>> loud = one_hot * [3, 3, 3, 3, 1, 1, 1, 1]
    >>> measured_salience(loud, cells, itself=True, by_set=True).salience_by_set
    {(0,): 0.9, (1,): 0.1, (0, 1): 0.0}
    """
    samples, codes = _checked(features, cells)
    types, cell = distinct(codes)
    counts = np.bincount(cell)
    means = _sums(samples, cell) / counts[:, None]
    lengths = np.einsum("td,td->t", means, means)
    across = _across_sets(types, means) if by_set else _across(types, means, lengths)
    if itself:
        return _kernel(across, lengths.mean(), types.shape[1])
    if counts.max() == 1:
        raise InputError("each cell has one sample, which leaves no pair; give more, or pair it with itself=True")
    squares = np.bincount(cell, weights=np.einsum("sd,sd->s", samples, samples, dtype=np.float64))
    repeated = counts > 1
    # Of the n*n pairs in a cell, n are a sample with itself.
    identical = (counts**2 * lengths - squares)[repeated] / (counts * (counts - 1))[repeated]
    return _kernel(across, identical.mean(), types.shape[1])


def _kernel(across: list[float] | dict[Subset, float], identical: float, factors: int) -> OverlapKernel:
    if isinstance(across, dict):
        return kernel_of_sets({**across, tuple(range(factors)): identical})
    return kernel_of_values([*across, identical])


def _across_sets(types: IntArray, means: FloatArray) -> dict[Subset, float]:
    """Mean inner product of distinct cells by the set of factors on which they agree, and on no other.

    As in `_across`, with the inversion over sets: pairs that agree on more are taken off, and put back.
    """
    factors = types.shape[1]
    every = [subset for order in range(factors + 1) for subset in subsets(factors, order)]
    products, pairs = {}, {}
    for subset in every:
        group = distinct(types[:, list(subset)])[1] if subset else np.zeros(len(types), dtype=np.int64)
        sums = _sums(means, group)
        products[subset] = float(np.einsum("gd,gd->", sums, sums))
        pairs[subset] = int((np.bincount(group) ** 2).sum())
    means_by_set = {}
    for subset in every[:-1]:
        larger = [superset for superset in every if set(subset) <= set(superset)]
        signs = [(-1) ** (len(superset) - len(subset)) for superset in larger]
        number = sum(sign * pairs[superset] for sign, superset in zip(signs, larger, strict=True))
        if not number:
            raise InputError(f"no two cells share exactly the factors {subset}; give samples of more cells")
        means_by_set[subset] = (
            sum(sign * products[superset] for sign, superset in zip(signs, larger, strict=True)) / number
        )
    return means_by_set


def _across(types: IntArray, means: FloatArray, lengths: FloatArray) -> list[float]:
    """Mean inner product of distinct cells by the number of factors they share, 0..C-1.

    Sums over groups that agree on a subset count a pair once for every subset it agrees on; Moebius inversion leaves
    the pairs that share exactly o factors.
    """
    factors = types.shape[1]
    products, pairs = np.zeros(factors + 1), [0] * (factors + 1)
    for order in range(factors):
        for subset in subsets(factors, order):
            group = distinct(types[:, list(subset)])[1] if subset else np.zeros(len(types), dtype=np.int64)
            sums = _sums(means, group)
            products[order] += np.einsum("gd,gd->", sums, sums)
            pairs[order] += int((np.bincount(group) ** 2).sum())
    products[factors], pairs[factors] = lengths.sum(), len(types)
    means_by_overlap = []
    for shared in range(factors):
        signs = [(-1) ** (k - shared) * math.comb(k, shared) for k in range(shared, factors + 1)]
        number = sum(sign * count for sign, count in zip(signs, pairs[shared:], strict=True))
        if not number:
            raise InputError(
                f"no two cells share exactly {shared} of the {factors} factors; give samples of more cells"
            )
        means_by_overlap.append(float(signs @ products[shared:]) / number)
    return means_by_overlap


def _sums(rows: npt.NDArray[np.floating], group: IntArray) -> FloatArray:
    """Sum of the ``rows`` (S, D) of each group, shape (G, D); groups are numbered without gaps."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)


def _checked(features: npt.ArrayLike, cells: npt.ArrayLike) -> tuple[npt.NDArray[np.floating], IntArray]:
    samples, codes = as_numbers(features, "features"), as_cells(cells)
    if samples.ndim not in (2, 3) or samples.shape[0] != len(codes):
        raise InputError(
            f"features have shape {samples.shape} for {len(codes)} cells; "
            "give (samples, units) with the cell of each sample, or (cells, samples, units)"
        )
    if samples.ndim == 3:
        codes = np.repeat(codes, samples.shape[1], axis=0)
        samples = samples.reshape(-1, samples.shape[2])
    if not samples.size:
        raise InputError(f"features have shape {samples.shape}, which holds no number; give at least two cells")
    if not np.isfinite(samples).all():
        raise InputError("features hold values that are not finite; leave out the units that overflowed")
    return samples, codes
