"""Multiply by the Gram matrix of an overlap kernel without ever forming it.

The Gram matrix is sum_T w_T Z_T Z_T' with Z_T the indicator of conjunction T. So a product is, for each T, "sum over
the cells that share a conjunction, then give the sum back to each of them": group, count, gather. On a grid the same
sums are marginals, and the cost falls to the number of entries of all marginals together, prod(n_c + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, product_size
from recombine.cells.conjunctions import Subset, distinct, mixed_radix
from recombine.theory.kernels.overlap import OverlapKernel

#: Entries of a Gram block that is formed at once.
MAX_GRAM_BLOCK_ENTRIES = 2**20
#: Up to this many cells the whole Gram matrix is held, 128 MB: forming it takes as long as a hundred products with it.
MAX_CELLS_HELD = 4_000
#: A conjunction's ids stay a plain mixed-radix number while the product is at most this many times the cells.
MAX_NUMBERS_PER_CELL = 8
#: Reflections of consecutive factors are merged up to this size (measured: best of 8 to 100).
MAX_REFLECTION_SIZE = 16

#: Shape (before, own, after) that brings some consecutive factors to the middle, and their merged reflection.
Turn = tuple[tuple[int, int, int], FloatArray | None]


def eigenvalues_from_weights(weights: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Return lambda_T from w_T, both of shape (2,)*C, one factor at a time."""
    result = np.array(weights, dtype=float)
    for axis, size in enumerate(sizes):
        front = np.moveaxis(result, axis, 0)
        front[0] = front[0] * size + front[1]
    return result


def weights_from_eigenvalues(eigenvalues: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Return w_T from lambda_T: the inverse of `eigenvalues_from_weights`."""
    result = np.array(eigenvalues, dtype=float)
    for axis, size in enumerate(sizes):
        front = np.moveaxis(result, axis, 0)
        front[0] = (front[0] - front[1]) / size
    return result


@dataclass(frozen=True, eq=False)
class GridGram:
    """Gram operator on the full product of ``sizes``.

    ``weights`` are w_T, (2,)*C, index 1 along axis c where c is in T (`OverlapKernel.cube`).

    Examples
    --------
    >>> operator = GridGram(np.array([[0.0, 0.5], [0.5, 0.0]]), (2, 2))
    >>> operator.apply(np.array([[1.0, 0.0], [0.0, 0.0]])).round(12).tolist()
    [[1.0, 0.5], [0.5, 0.0]]
    """

    weights: FloatArray
    sizes: tuple[int, ...]

    def apply(self, array: FloatArray) -> FloatArray:
        """Return the operator applied to ``array`` of shape ``sizes``."""
        # An entry of a marginal costs about three times as much as an entry of a turn (measured).
        by_marginals = 3 * product_size([size + 1 for size in self.sizes])
        by_turns = 2 * len(self._turns) * product_size(self.sizes)
        if by_marginals <= by_turns:
            return _spread(array, self.weights, 0, owned=False)
        return self._turned(array)

    def _turned(self, array: FloatArray) -> FloatArray:
        """Many factors of few levels: one reflection per factor diagonalises every overlap kernel at once."""
        result = _turn(array, self._turns).reshape(self.sizes)
        result *= self._diagonal
        return _turn(result, self._turns).reshape(self.sizes)

    def solve(self, array: FloatArray, ridge: float = 0.0) -> FloatArray:
        """Return the inverse of the operator + ridge, or its pseudo-inverse, applied to ``array`` (shape ``sizes``)."""
        return self.filtered(self.inverse(ridge), array)

    def inverse(self, ridge: float) -> FloatArray:
        """Return one over each eigenvalue of the operator + ridge, 0 where that is zero, (2,)*C."""
        null = self.null(ridge)
        return np.where(null, 0.0, 1 / np.where(null, 1.0, self.eigenvalues + ridge))

    def filtered(self, factors: FloatArray, array: FloatArray) -> FloatArray:
        """Multiply each analysis-of-variance part by its entry of ``factors`` (2,)*C: an overlap kernel again."""
        return GridGram(weights_from_eigenvalues(factors, self.sizes), self.sizes).apply(array)

    def null(self, ridge: float) -> BoolArray:
        """Say which eigenvalues are zero with a ridge, (2,)*C."""
        # Eigenvalues are sums of weights: what is below the rounding of their sizes is zero, however small the rest.
        size = eigenvalues_from_weights(np.abs(self.weights), self.sizes) + ridge
        return np.asarray(np.abs(self.eigenvalues + ridge) <= 8 * np.finfo(float).eps * size)

    @cached_property
    def eigenvalues(self) -> FloatArray:
        """Eigenvalue lambda_T of the parts that vary with the factors of T, (2,)*C."""
        return eigenvalues_from_weights(self.weights, self.sizes)

    @cached_property
    def _turns(self) -> list[Turn]:
        """The reflections of consecutive small factors, merged: one product with a 16 x 16 matrix beats four passes."""
        groups: list[list[int]] = [[]]
        for size in self.sizes:
            if groups[-1] and product_size(groups[-1]) * size > MAX_REFLECTION_SIZE:
                groups.append([])
            groups[-1].append(size)
        before, turns = 1, []
        for group in groups:
            block = product_size(group)
            turns.append(((before, block, product_size(self.sizes) // (before * block)), _merged(group)))
            before *= block
        return turns

    @cached_property
    def _diagonal(self) -> FloatArray:
        """Eigenvalue of each reflected coordinate, shape ``sizes``: lambda_T of its non-zero positions T."""
        return np.asarray(self.eigenvalues[np.ix_(*[np.minimum(np.arange(size), 1) for size in self.sizes])])


def _spread(array: FloatArray, weights: FloatArray, axis: int, owned: bool) -> FloatArray:
    """Sum over all subsets of the axes from ``axis`` on: keep an axis, or sum it out and broadcast back.

    ``owned`` says that ``array`` is ours to overwrite.
    """
    if axis == array.ndim:
        return np.multiply(array, weights, out=array) if owned else array * weights
    summed = array.sum(axis=axis, keepdims=True)
    total = _spread(array, weights[1], axis + 1, owned)
    if weights[0].any():
        total += _spread(summed, weights[0], axis + 1, owned=True)
    return total


def _merged(sizes: Sequence[int]) -> FloatArray | None:
    """Return the Kronecker product of the factors' reflections, or None for one large factor."""
    if product_size(sizes) > MAX_REFLECTION_SIZE:
        return None
    matrix: FloatArray = np.eye(1)
    for size in sizes:
        reflection = np.eye(size)
        _reflect(reflection[None])
        matrix = np.kron(matrix, reflection).astype(np.float64)
    return matrix


def _turn(array: FloatArray, turns: Sequence[Turn]) -> FloatArray:
    """Return ``array`` with every factor reflected, as a new array."""
    result = array
    for (before, size, after), matrix in turns:
        if matrix is None:
            result = result.reshape(before, size, after).copy()
            _reflect(result)
        elif after == 1:
            result = result.reshape(before, size) @ matrix
        else:
            result = np.matmul(matrix, result.reshape(before, size, after))
    return result


def _reflect(array: FloatArray) -> None:
    """Apply along axis 1, in place, the Householder reflection that swaps the first unit vector and the constant."""
    size = array.shape[1]
    if size == 1:
        return
    root = math.sqrt(size)
    gap = (array[:, 0] - array.sum(axis=1) / root) / (1 - 1 / root)
    array += gap[:, None] / root
    array[:, 0] -= gap


@dataclass(frozen=True, eq=False)
class MaskedGram:
    """Gram operator on some cells of a product, through the product: scatter, multiply, gather.

    ``places`` (M,) are the increasing positions of the cells in the flattened product.
    """

    grid: GridGram
    places: IntArray

    def multiply(self, vector: FloatArray) -> FloatArray:
        """Return the Gram matrix times ``vector`` (M,)."""
        self._buffer[self.places] = vector
        result = self.grid.apply(self._buffer.reshape(self.grid.sizes))
        return result.reshape(-1)[self.places]

    @cached_property
    def _buffer(self) -> FloatArray:
        # Cells outside the mask stay zero for good, so one buffer serves every product.
        return np.zeros(product_size(self.grid.sizes))


@dataclass(frozen=True, eq=False)
class GroupGram:
    """Gram operator on distinct ``cells`` (M, C), by group ids; nothing of the size of the product is allocated.

    ``weights`` are w_T, (2,)*C (`OverlapKernel.cube`).

    Examples
    --------
    >>> cells = np.array([[0, 0], [0, 1], [1, 1]])
    >>> GroupGram(np.array([[0.0, 0.5], [0.5, 0.0]]), cells, (2, 2)).multiply(np.array([1.0, 0.0, 0.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    weights: FloatArray
    cells: IntArray
    sizes: tuple[int, ...]

    @cached_property
    def _groups(self) -> list[tuple[float, IntArray]]:
        """Weight and group ids of every proper, non-empty subset that counts."""
        corners = [tuple(corner) for corner in np.argwhere(self.weights)]
        middle = [corner for corner in corners if 0 < sum(corner) < len(self.sizes)]
        subsets = [tuple(np.flatnonzero(corner).tolist()) for corner in middle]
        ids = [group_ids(self.cells, subset, self.sizes) for subset in subsets]
        return list(zip([float(self.weights[corner]) for corner in middle], ids, strict=True))

    def multiply(self, vector: FloatArray) -> FloatArray:
        """Return the Gram matrix times ``vector`` (M,)."""
        result: FloatArray = vector * self.weights[(1,) * len(self.sizes)]
        result += vector.sum() * self.weights[(0,) * len(self.sizes)]
        for weight, ids in self._groups:
            result += (weight * np.bincount(ids, weights=vector))[ids]
        return result


@dataclass(frozen=True, eq=False)
class BlockGram:
    """Gram operator of ``cells`` (M, C) block by block of rows, for more factors than subsets can be summed over."""

    kernel: OverlapKernel
    cells: IntArray

    def multiply(self, vector: FloatArray, at: IntArray | None = None) -> FloatArray:
        """Return the Gram matrix times ``vector`` (M,) or (M, D), in rows of other cells ``at`` (P, C) if given."""
        if at is None and len(self.cells) <= MAX_CELLS_HELD:
            return np.asarray(self.matrix @ vector)
        rows = self.cells if at is None else at
        result = np.empty((len(rows), *vector.shape[1:]))
        chunk = max(MAX_GRAM_BLOCK_ENTRIES // max(len(self.cells), 1), 1)
        for start in range(0, len(rows), chunk):
            stop = start + chunk
            result[start:stop] = self.kernel(rows[start:stop], self.cells) @ vector
        return result

    @cached_property
    def matrix(self) -> FloatArray:
        """The Gram matrix itself, (M, M): of few cells it is formed once for all products."""
        return self.kernel(self.cells, self.cells)


def group_ids(cells: IntArray, subset: Subset, sizes: Sequence[int]) -> IntArray:
    """Number the conjunctions of ``cells`` (M, C) on one subset of factors, shape (M,), with few numbers unused."""
    levels = cells[:, list(subset)]
    radix = [sizes[factor] for factor in subset]
    if product_size(radix) <= max(MAX_NUMBERS_PER_CELL * len(cells), 1000):
        return mixed_radix(levels, radix)
    return distinct(levels)[1]
