"""The shape of a representation: how fast activations move along each factor, and where they stop moving.

A layer maps the grid of factor levels into feature space. Distances there, pulled back to the grid, are the metric
tensor g_ab(z) = <d_a h, d_b h>; its volume element is the area that a unit square of levels becomes. Training holds the
sheet in place on seen cells only, so a model that fails to compose lets it shrink where nothing was seen (Liang et al.
2025). Levels are taken in the order given and one unit apart: order them, if they have an order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.errors import InputError
from recombine.measures.activations.grid import as_grid, as_seen


def metric_tensor(activations: Any) -> FloatArray:
    """Return inner products of derivatives along the factors: (levels_1, ..., levels_C, D) -> (levels..., C, C).

    Differences are central, and one-sided at the ends of a factor. Constants that all cells share do not matter.

    Examples
    --------
    A sheet that is stretched twofold along its second factor:

    >>> x, y = np.meshgrid(np.arange(3.0), np.arange(4.0), indexing="ij")
    >>> metric_tensor(np.stack([x, 2 * y], axis=-1))[1, 2].tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """
    grid = as_grid(activations)
    axes = tuple(range(grid.factors))
    metric = np.zeros((*grid.levels, grid.factors, grid.factors))
    for block in grid.raw_blocks():
        slopes = np.gradient(block.reshape(*grid.levels, -1), axis=axes)
        slopes = [slopes] if grid.factors == 1 else slopes
        for row in axes:
            for column in axes[row:]:
                metric[..., row, column] += np.einsum("...d,...d->...", slopes[row], slopes[column])
    upper = np.triu(np.ones((grid.factors, grid.factors)), 1).astype(bool)
    metric.swapaxes(-1, -2)[..., upper] = metric[..., upper]
    return metric


def volume_element(metric: npt.ArrayLike) -> FloatArray:
    """Return sqrt(det g), the volume that a unit cube of levels becomes: `metric_tensor` (..., C, C) -> (...).

    Examples
    --------
    >>> volume_element([[4.0, 0.0], [0.0, 9.0]]).tolist()
    6.0
    """
    tensor = as_metric(metric)
    # A sheet that does not move along some direction has determinant zero up to rounding of either sign.
    return np.asarray(np.sqrt(np.maximum(np.linalg.det(tensor), 0.0)))


def volume_ratio(metric: npt.ArrayLike, seen: npt.ArrayLike, *, border: bool = True) -> float:
    """Return the mean volume element on unseen cells over that on seen ones; below 1 where the sheet contracts.

    ``metric`` is that of `metric_tensor` and ``seen`` a mask (levels_1, ..., levels_C); ``border`` says whether cells
    at the ends of a factor count. Differences are one-sided there, which makes codes with one unit per level look twice
    as fast; they are kept all the same where nothing seen, or nothing unseen, would be left.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 2.1, 2.2])
    >>> volume_ratio(metric_tensor(x[:, None]), [True, True, True, False, False]) < 0.2
    True
    """
    volume = volume_element(metric)
    unseen, mask = unseen_and_seen(seen, volume.shape, border=border)
    return _ratio(float(volume[unseen].mean()), float(volume[mask].mean()))


def speed_ratios(metric: npt.ArrayLike, seen: npt.ArrayLike, *, border: bool = True) -> FloatArray:
    """Return, for each factor, the mean speed sqrt(g_aa) on unseen cells over that on seen ones, shape (C,).

    Parameters are those of `volume_ratio`.

    Examples
    --------
    >>> x, y = np.meshgrid(np.arange(4.0), np.minimum(np.arange(4.0), 1.5), indexing="ij")
    >>> seen = np.arange(16).reshape(4, 4) % 4 < 2
    >>> speed_ratios(metric_tensor(np.stack([x, y], axis=-1)), seen).round(2).tolist()
    [1.0, 0.14]
    """
    speeds = np.sqrt(np.maximum(np.diagonal(as_metric(metric), axis1=-2, axis2=-1), 0.0))
    unseen, mask = unseen_and_seen(seen, speeds.shape[:-1], border=border)
    inside, outside = speeds[unseen].mean(axis=0), speeds[mask].mean(axis=0)
    return np.array([_ratio(float(inner), float(outer)) for inner, outer in zip(inside, outside, strict=True)])


def unseen_and_seen(
    seen: npt.ArrayLike, levels: tuple[int, ...], *, border: bool = True
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the unseen and of the seen cells, without the border of the grid if asked and possible."""
    mask = as_seen(seen, levels)
    inner = np.zeros(levels, dtype=bool)
    inner[tuple(slice(1, -1) for _ in levels)] = True
    if border or not (inner & mask).any() or not (inner & ~mask).any():
        return ~mask, mask
    return ~mask & inner, mask & inner


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else float("nan")


def as_metric(metric: npt.ArrayLike) -> FloatArray:
    """Return a metric tensor (..., C, C) as floats, or say what is wrong with it."""
    tensor = np.asarray(metric, dtype=float)
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise InputError(f"a metric has shape {tensor.shape}; give (levels..., C, C), as metric_tensor returns it")
    return tensor
