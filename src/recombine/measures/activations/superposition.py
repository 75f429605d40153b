"""Does a model paste? Outputs on unseen cells next to the seen outputs that share a level with them.

A decoder that has not learned to compose answers an unseen pair (x, y) with a mixture of what it paints at seen cells
of column x and of row y (Liang et al. 2025). Everything here takes outputs on the whole grid and a mask of seen cells;
"the cross" of a cell are the seen cells that share at least one level with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_numbers
from recombine.errors import InputError
from recombine.measures.activations.grid import ActivationGrid, as_grid, as_seen, shared_factors

#: Eigenvalues of a matrix of inner products below this share of the largest are zero (1e-5 in the features).
RANK_SHARE = 1e-10


@dataclass(frozen=True)
class Superposition:
    """How much outputs on unseen cells look like mixtures of seen ones. Correlations run over features."""

    #: Mean over unseen cells of the correlation of the output with the sum over factors of the mean output at seen
    #: cells that share the factor's level (c_sup).
    pasted: float
    #: The same on seen cells, each left out of its own mean: how much of it is the shape of the outputs alone.
    pasted_seen: float
    spanned: float  #: Mean share of an unseen output's energy in the span of the outputs on its cross (R²_span).
    #: Mean inner product of unseen outputs with seen outputs on their cross, and off it.
    on_cross: float
    off_cross: float
    #: Mean correlation of unseen outputs with the right ones (c_gt), where these were given.
    truth: float | None = None

    @property
    def cross_ratio(self) -> float:
        """Similarity to outputs on the cross over that to outputs off it."""
        return self.on_cross / self.off_cross if self.off_cross else float("nan")


def superposition(outputs: Any, seen: npt.ArrayLike, truth: Any = None, background: str | None = None) -> Superposition:
    """Compare outputs on unseen cells with seen outputs that share a level, and with the right ones if given.

    Outputs and ``truth`` are (levels_1, ..., levels_C, D); ``background`` is taken away first, as in `as_grid`. NaN
    where nothing can be said: outputs that are constant over features, or no seen cell on any cross.

    Examples
    --------
    An image of 12 by 12 pixels shows a spot at (x, y); spots near the middle were never seen.

    >>> x, y = np.indices((12, 12))
    >>> spots = np.exp(-((np.arange(12) - np.arange(12)[:, None]) ** 2) / 2)
    >>> right = (spots[x][:, :, None, :] * spots[y][:, :, :, None]).reshape(12, 12, -1)
    >>> seen = ~((x >= 3) & (x < 8) & (y >= 3) & (y < 8))
    >>> from recombine.measures.activations import pasted_outputs
    >>> outputs = np.where(seen[..., None], right, pasted_outputs(right, seen))
    >>> found = superposition(outputs, seen, truth=right)
    >>> round(found.pasted, 3), round(found.spanned, 3), found.truth < 0.2
    (1.0, 1.0, True)
    """
    grid = as_grid(outputs, background)
    mask = as_seen(seen, grid.levels).reshape(-1)
    shared = shared_factors(grid.cells)
    cross, unrelated = (shared > 0) & mask, (shared == 0) & mask
    unseen = np.flatnonzero(~mask)
    right = None if truth is None else _mean(correlations(grid.values, truth).reshape(-1)[unseen])
    return Superposition(
        _pasted(grid, mask, unseen),
        _pasted(grid, mask, np.flatnonzero(mask)),
        _mean(_spanned(grid.gram, cross, unseen)),
        _mean(_averages(grid.gram[unseen], cross[unseen])),
        _mean(_averages(grid.gram[unseen], unrelated[unseen])),
        right,
    )


def paste_weights(cells: IntArray, seen: BoolArray, rows: IntArray) -> FloatArray:
    """Return the weights (R, P) of the seen cells in the sum, over factors, of the mean at cells that share a level.

    ``rows`` (R,) of ``cells`` (P, C) are pasted; a seen cell is left out of its own means.
    """
    weights = np.zeros((len(rows), len(cells)))
    distinct_cells = rows[:, None] != np.arange(len(cells))
    for levels in cells.T:
        same = (levels[rows][:, None] == levels) & seen & distinct_cells
        weights += same / np.maximum(same.sum(axis=1, keepdims=True), 1)
    return weights


def correlations(outputs: Any, truth: Any) -> FloatArray:
    """Return the correlation over the last axis of two arrays of one shape (..., D), shape (...).

    NaN where one of them is constant.

    Examples
    --------
    >>> correlations([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]], [[2.0, 4.0, 6.0], [0.0, 1.0, 2.0]]).round(6).tolist()
    [1.0, nan]
    """
    predicted = as_numbers(outputs, "outputs").astype(np.float64, copy=False)
    right = as_numbers(truth, "the truth").astype(np.float64, copy=False)
    if predicted.shape != right.shape:
        raise InputError(
            f"outputs have shape {predicted.shape} and the truth has {right.shape}; give one right output each"
        )
    predicted, right = (values - values.mean(axis=-1, keepdims=True) for values in (predicted, right))
    squares = (predicted**2).sum(axis=-1) * (right**2).sum(axis=-1)
    return _quotient((predicted * right).sum(axis=-1), np.sqrt(squares))


def _pasted(grid: ActivationGrid, seen: BoolArray, rows: IntArray) -> float:
    weights = paste_weights(grid.cells, seen, rows)
    covariance = grid.covariance
    mixed = weights @ covariance
    product = mixed[np.arange(len(rows)), rows]
    squares = covariance[rows, rows] * np.einsum("rp,rp->r", mixed, weights)
    # Constants over features have variance zero up to rounding, of the size of their squares.
    floor = (1e-14 * grid.gram.diagonal().max()) ** 2
    return _mean(_quotient(product, np.sqrt(np.where(squares > floor, squares, 0.0))))


def _spanned(gram: FloatArray, cross: BoolArray, rows: IntArray) -> FloatArray:
    """Share of each row's energy in the span of its cross, cells with crosses of one size together."""
    shares = np.full(len(rows), np.nan)
    sizes = cross[rows].sum(axis=1)
    for size in np.unique(sizes[sizes > 0]):
        these = np.flatnonzero(sizes == size)
        # A batch holds at most a few million numbers.
        for batch in np.array_split(these, max(1, len(these) * int(size) ** 2 // 4_000_000)):
            cells = rows[batch]
            neighbours = np.nonzero(cross[cells])[1].reshape(len(cells), size)
            inner = gram[neighbours[:, :, None], neighbours[:, None, :]]
            toward = np.take_along_axis(gram[cells], neighbours, axis=1)
            inverse = np.linalg.pinv(inner, rcond=RANK_SHARE, hermitian=True)
            shares[batch] = _quotient(np.einsum("ri,rij,rj->r", toward, inverse, toward), gram[cells, cells])
    return shares


def _averages(values: FloatArray, mask: BoolArray) -> FloatArray:
    """Mean of each row over the places where the mask is set; NaN where there are none."""
    return _quotient(np.where(mask, values, 0.0).sum(axis=1), mask.sum(axis=1).astype(float))


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def _mean(values: FloatArray) -> float:
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if finite.size else float("nan")
