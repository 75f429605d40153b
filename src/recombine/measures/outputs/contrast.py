"""Compositional contrast: how far a decoder is from letting each output depend on one slot alone (arXiv 2310.05327)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import as_numbers
from recombine.errors import InputError


def compositional_contrast(jacobians: npt.ArrayLike, *, weighted: bool = False) -> float:
    """Return the compositional contrast of a decoder: 0 if and only if every output depends on at most one slot.

    From derivatives (N, outputs, slots, latents of a slot) at N points: the mean over points of the sum, over outputs
    and pairs of slots, of the product of both slots' slopes. ``weighted`` divides slopes by each slot's mean size and
    weighs outputs by it, so that a slot that hardly changes anything counts as much as the others and the measure does
    not depend on the outputs' scale.

    Examples
    --------
    >>> own = np.zeros((1, 2, 2, 1))
    >>> own[0, 0, 0], own[0, 1, 1] = 3.0, 4.0
    >>> compositional_contrast(own), compositional_contrast(own + 1)
    (0.0, 9.0)
    """
    values = as_numbers(jacobians, "jacobians")
    if values.ndim != 4 or not values.size:
        raise InputError(f"jacobians have shape {values.shape}; give (points, outputs, slots, latents of a slot)")
    if values.shape[2] < 2:
        raise InputError("there is one slot; contrast is between slots, so give at least two")
    slopes = np.sqrt((values**2).sum(-1))
    # Products of all pairs at once: half of (sum squared minus sum of squares).
    if not weighted:
        return float(_pairs(slopes).sum(-1).mean())
    size = slopes.mean(axis=1, keepdims=True)
    relative = np.divide(slopes, size, out=np.zeros_like(slopes), where=size > 0)
    total = slopes.sum(-1)
    share = np.divide(total, total.sum(-1, keepdims=True), out=np.zeros_like(total), where=total > 0)
    return float((_pairs(relative) * share).sum(-1).mean())


def _pairs(slopes: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Sum of products over pairs of slots, (N, outputs) from (N, outputs, slots)."""
    paired: npt.NDArray[np.floating] = np.maximum((slopes.sum(-1) ** 2 - (slopes**2).sum(-1)) / 2, 0)
    return paired
