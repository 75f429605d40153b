"""How far are a model's outputs on unseen cells sums of one value per seen conjunction?

Kernel models of overlap are such sums exactly (Lippl & Stachenfeld 2025, Theorem 4.2); trained networks need not be.
The outputs are regressed on indicators of all seen conjunctions, with a free constant and a vanishing penalty on the
weights, and the share of variance that this explains is the measure. A conjunction of all factors belongs to one seen
cell, so seen cells are fitted whatever the model does: only the unseen ones say anything.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells, as_numbers
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset, distinct, subsets
from recombine.errors import InputError
from recombine.measures.outputs.scores import mask_diverged
from recombine.theory.kernels.representability import seen_incidence

#: Singular values below this share of the largest are zero: the features are centred indicators.
RANK_SHARE = 1e-10
#: Outputs that vary by less than this share of the largest one are constant: there is nothing to explain.
FLAT_SHARE = 1e-12


@record
class ConjunctionFit:
    """The smallest weights on seen conjunctions, and a free constant, that come closest to some outputs.

    Attributes
    ----------
    family : tuple of subsets
        Subsets of the factors whose seen conjunctions have a weight, in the order of the weights.
    constant : float array of shape (...)
    weights : float array of shape (..., F)
        Within a subset, conjunctions are sorted by their levels.
    fitted : float array of shape (..., R)
    """

    family: tuple[Subset, ...]
    constant: FloatArray
    weights: FloatArray
    fitted: FloatArray


def additivity(
    cells: npt.ArrayLike,
    seen: npt.ArrayLike,
    outputs: npt.ArrayLike,
    split: npt.ArrayLike | None = None,
    *,
    order: int | None = None,
    published: bool = False,
) -> FloatArray:
    """Share of the variance of outputs that sums of seen conjunctions explain, on unseen cells unless told otherwise.

    Parameters
    ----------
    cells : array of int, shape (R, C)
        One row per averaged output: each cell once, or each cell once per split.
    seen : array of bool, shape (R,)
        Whether the row's cell was trained on (the cell, not these very samples).
    outputs : array of float, shape (..., R)
        Any number of models; one factorisation serves them all.
    split : array of R labels, optional
        Which samples the row averages, say ``"train"``, ``"val_1"``, ``"val_2"``. Only the published measure reads it.
    order : int, optional
        Largest order of the conjunctions; all of them by default. A smaller order leaves seen cells without a value of
        their own, so that they too bind the fit.
    published : bool
        Average the share over all groups of rows (seen or unseen, times split) instead, as the paper's plots do. It is
        inflated: with one row per cell the seen group is 1 by construction, so this is (1 + share on unseen cells) / 2.

    Returns
    -------
    float array of shape (...)
        At most 1. NaN where the judged outputs are constant, so that there is nothing to explain, and for models with
        an output that is not finite.

    Notes
    -----
    Without ``order`` the rows of seen cells do not change the share on unseen ones, since each seen cell has a value of
    its own. To judge one split, pass its rows alone.

    Examples
    --------
    >>> from recombine.cells import every_cell
    >>> cells = every_cell((9, 9))
    >>> seen, sums, smaller = (cells == 4).any(axis=1), cells.sum(axis=1), cells.min(axis=1)
    >>> additivity(cells, seen, [sums, smaller]).round(4).tolist()
    [1.0, 0.7737]
    >>> additivity(cells, seen, smaller, published=True).round(4).tolist()
    0.8869
    """
    codes, mask, values = as_outputs(cells, seen, outputs)
    if mask.all():
        raise InputError("every row is of a seen cell; additivity is judged on unseen cells, so pass their outputs too")
    fitted = fit_conjunctions(codes, mask, values, order).fitted
    smallest = FLAT_SHARE * np.abs(values).max(axis=-1)
    groups = _groups(mask, split) if published else [~mask]
    shares = [_explained(values[..., rows], fitted[..., rows], smallest) for rows in groups]
    return np.mean(shares, axis=0)  # type: ignore[no-any-return]


def fit_conjunctions(cells: IntArray, seen: BoolArray, outputs: FloatArray, order: int | None = None) -> ConjunctionFit:
    """Regress ``outputs`` (..., R) on the seen conjunctions of orders 1 to ``order`` of ``cells`` (R, C).

    The published regression is a ridge of 1e-10 with a free constant; this is its limit, the smallest weights of least
    squares. Works on a dense matrix with one column a seen conjunction.

    Examples
    --------
    >>> fit = fit_conjunctions(np.array([[0], [1]]), np.array([True, True]), np.array([1.0, 3.0]))
    >>> fit.family, float(fit.constant), fit.weights.round(6).tolist()
    (((0,),), 2.0, [-1.0, 1.0])
    """
    factors = cells.shape[1]
    highest = factors if order is None else order
    if not 1 <= highest <= factors:
        raise InputError(f"order {order} does not fit {factors} factors; choose one from 1 to {factors}")
    family = tuple(subset for size in range(1, highest + 1) for subset in subsets(factors, size))
    features = seen_incidence(cells, seen, family).toarray()[:, 1:]
    means, level = features.mean(axis=0), outputs.mean(axis=-1)
    U, sizes, Vt = np.linalg.svd(features - means, full_matrices=False)
    nonzero = sizes > RANK_SHARE * sizes.max(initial=0.0)
    weights = ((outputs - level[..., None]) @ U[:, nonzero] / sizes[nonzero]) @ Vt[nonzero]
    constant = level - weights @ means
    return ConjunctionFit(family, constant, weights, constant[..., None] + weights @ features.T)


def as_outputs(
    cells: npt.ArrayLike, seen: npt.ArrayLike, outputs: npt.ArrayLike
) -> tuple[IntArray, BoolArray, FloatArray]:
    """Return cells (R, C), seen (R,) and outputs (..., R) as arrays that fit together, or say what is wrong.

    Examples
    --------
    >>> as_outputs([[0, 0], [0, 0]], [True, False], [1.0, 2.0])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: cell (0, 0) is marked seen in one row and unseen in another; mark cells, not samples
    """
    codes = as_cells(cells)
    mask, values = np.asarray(seen), as_numbers(outputs, "outputs").astype(np.float64, copy=False)
    if mask.dtype != np.bool_ or mask.shape != (len(codes),):
        raise InputError(f"seen must be {len(codes)} True/False values, one per row; got {mask.dtype} {mask.shape}")
    if values.ndim < 1 or values.shape[-1] != len(codes):
        raise InputError(f"outputs have shape {values.shape}; the last axis must be the {len(codes)} rows of cells")
    if not mask.any():
        raise InputError("no row is of a seen cell; mark in seen which cells were trained on")
    rows, inverse = distinct(codes)
    both = np.intersect1d(inverse[mask], inverse[~mask])
    if both.size:
        cell = tuple(rows[both[0]].tolist())
        raise InputError(f"cell {cell} is marked seen in one row and unseen in another; mark cells, not samples")
    return codes, mask, mask_diverged(values)


def _groups(seen: BoolArray, split: npt.ArrayLike | None) -> list[BoolArray]:
    """Rows of each group that the published measure averages over, as masks."""
    labels = np.zeros(len(seen), dtype=np.int64) if split is None else np.asarray(split)
    if labels.shape != seen.shape:
        raise InputError(f"split has shape {labels.shape}; give one label for each of the {len(seen)} rows")
    masks = [(labels == label) & side for label in np.unique(labels) for side in (seen, ~seen)]
    return [mask for mask in masks if mask.any()]


def _explained(outputs: FloatArray, fitted: FloatArray, smallest: FloatArray) -> FloatArray:
    """R² along the last axis; NaN where the root mean square around the mean is at most ``smallest``."""
    residual = ((outputs - fitted) ** 2).mean(axis=-1)
    spread = ((outputs - outputs.mean(axis=-1, keepdims=True)) ** 2).mean(axis=-1)
    varies = spread > smallest**2
    return np.where(varies, 1 - residual / np.where(varies, spread, 1.0), np.nan)
