"""What a linear readout can tell of each factor from activations, on the cells it was fitted to and on unseen ones.

A layer with more features than cells can be fitted exactly whatever it represents; only unseen cells say something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.measures.activations.grid import as_grid, as_seen

#: Eigenvalues of a matrix of inner products below this share of the largest are zero.
RANK_SHARE = 1e-10


@dataclass(frozen=True)
class LinearProbe:
    """R² of a linear readout of each factor."""

    #: On the cells that it was fitted to; 1 when there are as many independent features as cells.
    fitted: tuple[float, ...]
    #: On the other cells; below 0 where the mean would do better. None if there are no others.
    unseen: tuple[float, ...] | None


def linear_probe(
    activations: Any, seen: npt.ArrayLike | None = None, positions: Sequence[npt.ArrayLike] | None = None
) -> LinearProbe:
    """Read each factor's level out of activations (levels_1, ..., levels_C, D), by least squares, the smallest weights.

    There is a free constant. ``seen`` (levels_1, ..., levels_C) are the cells to fit, all by default; ``positions`` the
    numbers that the levels of each factor stand for, 0, 1, 2, ... by default.

    Examples
    --------
    >>> x, y = np.meshgrid(np.arange(6.0), np.arange(6.0), indexing="ij")
    >>> seen = ~((x > 2) & (y > 2))
    >>> found = linear_probe(np.stack([x + y, x - y], axis=-1), seen)
    >>> np.round(found.unseen, 6).tolist()
    [1.0, 1.0]
    >>> found = linear_probe(np.stack([x, y * (x < 3)], axis=-1), seen)
    >>> found.unseen[0] > 0.9, found.unseen[1] < 0.5
    (True, True)
    """
    grid = as_grid(activations)
    mask = np.ones(grid.levels, dtype=bool) if seen is None else as_seen(seen, grid.levels, both=False)
    fit = mask.reshape(-1)
    targets = _targets(grid.cells, grid.levels, positions)
    centre = targets[fit].mean(axis=0)
    around = grid.gram[:, fit] - grid.gram[np.ix_(fit, fit)].mean(axis=0)
    around -= around[:, :].mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(around[fit])
    nonzero = values > RANK_SHARE * max(values[-1], 0.0)
    dual = vectors[:, nonzero] @ ((vectors[:, nonzero].T @ (targets[fit] - centre)) / values[nonzero, None])
    guesses = around @ dual + centre
    unseen_shares = None if fit.all() else _explained(targets[~fit], guesses[~fit])
    return LinearProbe(_explained(targets[fit], guesses[fit]), unseen_shares)


def _targets(
    cells: npt.NDArray[np.int64], levels: tuple[int, ...], positions: Sequence[npt.ArrayLike] | None
) -> FloatArray:
    if positions is None:
        return cells.astype(float)
    if len(positions) != len(levels):
        raise InputError(f"{len(positions)} lists of positions for {len(levels)} factors; give one list per factor")
    columns = []
    for factor, (column, count) in enumerate(zip(positions, levels, strict=True)):
        numbers = np.asarray(column, dtype=float)
        if numbers.shape != (count,) or not np.isfinite(numbers).all():
            raise InputError(f"factor {factor} has {count} levels; give as many finite positions")
        columns.append(numbers[cells[:, factor]])
    return np.stack(columns, axis=1)


def _explained(targets: FloatArray, guesses: FloatArray) -> tuple[float, ...]:
    residuals = ((targets - guesses) ** 2).sum(axis=0)
    spread = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
    shares = np.where(spread > 0, 1 - residuals / np.where(spread > 0, spread, 1.0), np.nan)
    return tuple(shares.tolist())
