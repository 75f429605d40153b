"""The additive kernel as a stand-in for a network: fit it to the network's seen outputs, predict the unseen ones.

The binary factorized kernel counts shared levels, K(z, z') = sum_a [z_a = z'_a]: an `OverlapKernel` whose salience is
all on single factors. Regression with it is least squares on indicators of levels, so it can only give sums of one part
per factor (Liang et al. 2025; Lippl & Stachenfeld 2025, Thm 4.2). A network whose unseen outputs it predicts adds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.measures.activations.grid import as_grid, as_seen


@record
class Surrogate:
    """How well the additive kernel, fitted to seen outputs, predicts a model's outputs."""

    errors: FloatArray  #: Mean square, over features, of output minus prediction at each cell.
    #: Means of ``errors`` over seen and unseen cells.
    seen_error: float
    unseen_error: float
    #: Share of the variance of the unseen outputs (around their mean) that it predicts; below 0 if it does worse than
    #: their mean. NaN where they do not vary.
    explained: float


def additive_weights(cells: IntArray, seen: BoolArray) -> FloatArray:
    """Return the weight (P, S) of each seen cell's output in the additive prediction at each cell.

    Least squares on indicators of levels, the solution of smallest norm; the same as regression with the binary kernel.
    """
    indicators = np.concatenate([column[:, None] == np.arange(column.max() + 1) for column in cells.T], axis=1)
    design = indicators.astype(float)
    return design @ np.linalg.pinv(design[seen], rcond=1e-10)


def surrogate(activations: Any, seen: npt.ArrayLike) -> Surrogate:
    """Say how well sums of one part per factor, fitted to seen cells, predict activations on unseen ones.

    Works from inner products of activations (levels_1, ..., levels_C, D), so it costs the same for any D.

    Examples
    --------
    >>> x, y = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    >>> seen = ~((x > 2) & (y > 2))
    >>> round(surrogate(np.stack([x, y], axis=-1), seen).explained, 9)
    1.0
    >>> surrogate((x * y)[..., None], seen).explained < 0
    True
    """
    grid = as_grid(activations)
    mask = as_seen(seen, grid.levels).reshape(-1)
    weights = np.zeros((grid.count, grid.count))
    weights[:, mask] = additive_weights(grid.cells, mask)
    residual_map = np.eye(grid.count) - weights
    errors = np.maximum(np.einsum("pq,pq->p", residual_map @ grid.gram, residual_map), 0.0) / grid.features
    unseen = grid.gram[np.ix_(~mask, ~mask)]
    variance = float(unseen.trace() / len(unseen) - unseen.mean()) / grid.features
    missed = float(errors[~mask].mean())
    varies = variance > 1e-14 * float(unseen.trace()) / len(unseen) / grid.features
    return Surrogate(
        errors.reshape(grid.levels),
        float(errors[mask].mean()),
        missed,
        1 - missed / variance if varies else float("nan"),
    )
