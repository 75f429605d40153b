"""Do the factors of a representation move it in orthogonal directions, and is its kernel a product?

The metric-tensor measure F looks at directions cell by cell; the operator-Schmidt measure F_K looks at all inner
products at once. F = 1 does not mean that a model composes: decoders that are wrong on every unseen cell have F near 1.
F_K = 1 means K(z, z') = k_1(z_1, z'_1) ... k_C(z_C, z'_C) exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.measures.activations.geometry import as_metric
from recombine.measures.activations.grid import as_grid, as_seen


def factorization(metric: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> float:
    """Return F = 1 - mean abs(g_01) / mean (g_00 + g_11), from 1/2 to 1: orthogonal directions.

    Invariant to rotations and to one scale of feature space, not to how the levels are spaced. With C factors the
    numerator is the sum over pairs divided by C - 1, which keeps the range. ``metric`` is that of `metric_tensor`; the
    average is over the cells of ``mask`` (levels_1, ..., levels_C), all by default.

    Examples
    --------
    >>> from recombine.measures.activations import metric_tensor
    >>> x, y = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    >>> factorization(metric_tensor(np.stack([x, y], axis=-1)))
    1.0
    >>> factorization(metric_tensor(np.stack([x + y, x + y], axis=-1)))
    0.5
    """
    tensor = as_metric(metric)
    levels, factors = tensor.shape[:-2], int(tensor.shape[-1])
    if factors == 1:
        raise InputError("one factor alone has nothing to be separated from; give activations over two or more factors")
    chosen = np.ones(levels, dtype=bool) if mask is None else as_seen(mask, levels, both=False)
    mixed = np.abs(tensor[..., *np.triu_indices(factors, 1)]).sum(axis=-1)
    total = float(np.trace(tensor, axis1=-2, axis2=-1)[chosen].mean())
    return 1.0 - (float(mixed[chosen].mean()) / total if total > 0 else float("nan")) / (factors - 1)


def kernel_factorization(activations: Any, background: str | None = None) -> float:
    """Return F_K, the weight of the best product kernel in the kernel of activations: 1 iff the kernel is a product.

    The kernel K is laid out as a matrix with rows (x, x') and columns (y, y'); with singular values s_i,
    F_K = s_1² / sum s_i². Invariant to rotations of feature space and to any relabelling of the levels of a factor.
    With more than two factors, each is split from all others and the smallest value counts: K is a product iff it is 1.

    ``background`` is taken away first, as in `as_grid`: a large constant makes any kernel look like a product.

    Examples
    --------
    The code of two one-hot factors is a sum of kernels, not a product:

    >>> code = np.concatenate(np.broadcast_arrays(np.eye(28)[:, None], np.eye(28)[None]), axis=-1)
    >>> round(kernel_factorization(code), 4)
    0.6825
    """
    grid = as_grid(activations, background)
    if grid.factors < 2:
        raise InputError("one factor alone has nothing to be separated from; give activations over two or more factors")
    return min(
        product_share(grid.gram, grid.levels, factor) for factor in range(1 if grid.factors == 2 else grid.factors)
    )


def product_share(gram: npt.ArrayLike, levels: tuple[int, ...], factor: int = 0) -> float:
    """Return the weight of the best k_1(x, x') k_2(y, y') in a kernel (P, P), with x one factor and y all others.

    Examples
    --------
    >>> product_share(np.kron([[2, 1], [1, 2]], [[3, 0], [0, 1]]), (2, 2))
    1.0
    """
    matrix = _realigned(np.asarray(gram, dtype=float), levels, factor)
    total = float((matrix**2).sum())
    if total == 0:
        raise InputError("the activations are zero on every cell, so their kernel has no factors")
    return min(_largest_square(matrix) / total, 1.0)


def _realigned(gram: FloatArray, levels: tuple[int, ...], factor: int) -> FloatArray:
    """Rows (x, x') and columns (y, y') of a kernel on cells (x, y)."""
    count = len(levels)
    tensor = np.moveaxis(gram.reshape(*levels, *levels), (factor, count + factor), (0, 1))
    return np.ascontiguousarray(tensor.reshape(levels[factor] ** 2, -1))


def _largest_square(matrix: FloatArray) -> float:
    """Square of the largest singular value, from the smaller of the two products with the transpose."""
    from scipy.linalg import eigh

    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    last = len(product) - 1
    return float(eigh(product, eigvals_only=True, subset_by_index=[last, last], check_finite=False)[0])
