"""What a kernel model fitted to all seen cells but one says about that one: every cell left out, from one inverse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.conjunctions import column_orders
from recombine.errors import InputError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.routes import MAX_DENSE_CELLS

#: Added to the diagonal, as a share of it: kernels that hardly tell whole cells apart are singular up to rounding.
LEFT_OUT_JITTER = 1e-9


def predict_left_out(
    kernel: OverlapKernel, cells: npt.ArrayLike, y: npt.ArrayLike, symmetric: Sequence[tuple[int, ...]] = ()
) -> FloatArray:
    """Return, for each cell, what the interpolant of all other cells predicts there, shape (N,).

    The model has a free intercept. With the Gram matrix bordered by ones, M = [[K, 1], [1', 0]], the error at a cell
    left out is its dual weight over the diagonal of the inverse of M, so nothing is fitted N times. ``cells`` (N, C)
    are distinct, at most 2,000 of them; with ``symmetric`` factors, a cell is left out in every order of their levels.

    Examples
    --------
    >>> kernel = OverlapKernel.relu(depth=1, factors=2)
    >>> predict_left_out(kernel, [[0, 0], [0, 1], [1, 0], [1, 1]], [0.0, 1.0, 1.0, 2.0]).round(6).tolist()
    [0.454776, 1.0, 1.0, 1.545224]
    """
    seen, outcome = as_cells(cells, factors=kernel.factors), np.asarray(y, dtype=float)
    if outcome.shape != (len(seen),) or len(seen) < 2:
        raise InputError(f"y has shape {outcome.shape} for {len(seen)} cells; give two cells or more, an outcome each")
    if len(seen) > MAX_DENSE_CELLS:
        raise InputError(f"{len(seen):,} cells are too many to leave out one by one; give at most {MAX_DENSE_CELLS:,}")
    inverse = _inverse(_symmetric_gram(kernel, seen, symmetric))
    ones = inverse.sum(axis=1)
    # The inverse of the bordered matrix is that of K less what the intercept takes up.
    dual = inverse @ outcome - ones * float(ones @ outcome) / float(ones.sum())
    return np.asarray(outcome - dual / (np.diag(inverse) - ones**2 / float(ones.sum())))


def _symmetric_gram(kernel: OverlapKernel, cells: IntArray, symmetric: Sequence[tuple[int, ...]]) -> FloatArray:
    """Average the Gram matrix over the orders of interchangeable levels: a model that was shown all of them."""
    orders = list(column_orders(cells.shape[1], symmetric))
    gram: FloatArray = sum((kernel(cells, cells[:, order]) for order in orders), np.zeros((len(cells),) * 2))
    return gram / len(orders)


def _inverse(gram: FloatArray) -> FloatArray:
    from scipy.linalg import cho_factor, cho_solve

    padded = gram + LEFT_OUT_JITTER * float(np.max(np.diag(gram))) * np.eye(len(gram))
    return np.asarray(cho_solve(cho_factor(padded, lower=True), np.eye(len(gram))))
