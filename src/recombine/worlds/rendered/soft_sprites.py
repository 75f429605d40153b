"""Sprites with soft edges, smooth in every latent: a stand-in that has the derivatives the theory asks for."""

from __future__ import annotations

import numpy as np

from recombine.errors import InputError
from recombine.worlds.rendered.sprites import (
    LOWEST,
    SHAPES,
    SIDE,
    WIDTHS,
    Array,
    checked,
    hue_colours,
    like,
    namespace,
    polygon_radius,
)


def soft_layers(units: Array, softness: float = 1.0, side: int = SIDE) -> Array:
    """Return sprites with soft edges, smooth in every latent: a generator that has derivatives.

    Shapes blend as the shape latent moves; a pixel's opacity is the sigmoid of its distance to the edge.

    Parameters
    ----------
    units : array or Tensor, shape (..., 5)
    softness : float
        Width of the edge in pixels.
    side : int
        Pixels along a side.

    Returns
    -------
    array or Tensor, shape (..., 4, side, side)
        Colours times opacity, and opacity.

    Examples
    --------
    >>> soft = soft_layers([0.62, 0.31, 1, 0.8, 0.15], softness=0.2)
    >>> abs(float(soft[3].sum()) / 170 - 1) < 0.1
    True
    """
    if not softness > 0:
        raise InputError(f"softness is {softness}; give the width of the edge in pixels, above 0")
    units = checked(units)
    space = namespace(units)
    values = units * like(WIDTHS, units) + like(LOWEST, units)
    centres = (like(np.arange(side), units) + 0.5) / side
    right = centres - values[..., 0, None, None]
    up = (1 - centres)[:, None] - values[..., 1, None, None]
    distance: Array = 0.0
    for number, (corners, start) in enumerate(SHAPES.values()):
        share = (1 - abs(values[..., 2] - number)).clip(0, 1)[..., None, None]
        distance = distance + share * _inside(right, up, values[..., 3, None, None], corners, start)
    # Half the tanh form never overflows.
    opacity = (0.5 + 0.5 * space.tanh(distance * side / softness / 2))[..., None, :, :]
    colour = hue_colours(values[..., 4])[..., None, None]
    return space.concatenate([opacity * colour, opacity], -3)


def _inside(right: Array, up: Array, scale: Array, corners: int, start: float) -> Array:
    """Return how far points lie inside a regular polygon of area scale squared (negative: outside)."""
    apothem = polygon_radius(corners) * np.cos(np.pi / corners)
    middles = np.deg2rad(start) + (2 * np.arange(corners) + 1) * np.pi / corners
    space = namespace(right)
    reach = [np.cos(angle) * right + np.sin(angle) * up for angle in middles]
    farthest = reach[0]
    for one in reach[1:]:
        farthest = space.maximum(farthest, one)
    return apothem * scale - farthest
