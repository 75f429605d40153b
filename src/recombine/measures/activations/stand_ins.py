"""Outputs of what stands in for a network: sums of one part per factor, and means of seen outputs pasted together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.measures.activations.grid import as_grid, as_seen
from recombine.measures.activations.superposition import paste_weights
from recombine.theory.kernels.given_kernels import kernel_of_values


def additive_prediction(outputs: Any, seen: npt.ArrayLike) -> FloatArray:
    """Fit the binary kernel to seen outputs and return its outputs at every cell, (levels_1, ..., levels_C, D).

    Examples
    --------
    >>> outputs = np.array([[1.0, 2.0], [11.0, 0.0]])[..., None]
    >>> additive_prediction(outputs, [[True, True], [True, False]])[1, 1].round(9).tolist()
    [12.0]
    """
    from recombine.theory.kernels.estimators import KernelRegressor

    grid = as_grid(outputs)
    mask = as_seen(seen, grid.levels, both=False).reshape(-1)
    flat = grid.values.reshape(grid.count, -1).astype(np.float64, copy=False)
    model = KernelRegressor(kernel_of_values(np.arange(grid.factors + 1.0))).fit(grid.cells[mask], flat[mask])
    return model.predict(grid.cells).reshape(grid.values.shape)


def pasted_outputs(outputs: Any, seen: npt.ArrayLike) -> FloatArray:
    """Return the sum over factors of the mean seen output that shares the level, (levels_1, ..., levels_C, D).

    A seen cell is left out of its own means.

    Examples
    --------
    >>> outputs = np.array([[1.0, 2.0], [10.0, 0.0]])[..., None]
    >>> pasted_outputs(outputs, [[True, True], [True, False]])[1, 1].tolist()
    [12.0]
    """
    grid = as_grid(outputs)
    mask = as_seen(seen, grid.levels).reshape(-1)
    weights = paste_weights(grid.cells, mask, np.arange(grid.count))
    flat = grid.values.reshape(grid.count, -1).astype(np.float64, copy=False)
    return (weights @ flat).reshape(grid.values.shape)
