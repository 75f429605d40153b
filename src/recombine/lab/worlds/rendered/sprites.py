"""Two coloured sprites on a black canvas: the image world of Wiedemer et al. 2023, pixel for pixel.

A sprite is a regular polygon without anti-aliasing whose corners are cut to whole pixels, so every row of it is one
span of columns. That makes the drawing a few array operations, the same in NumPy and in torch: hand over a tensor and
everything happens on its device. Sprites have no derivatives; ``blobs`` do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError
from recombine.lab.worlds.rendered.canvas import (
    Array,
    array_namespace,
    astype,
    compose_layers,
    hue_colours,
    refuse_unknown,
    unit_latents,
)

#: Side of an image in pixels.
SPRITE_SIDE = 64
#: What the five numbers of a sprite say; each is drawn from 0 to 1 and then mapped to its range.
LATENTS = ("x", "y", "shape", "scale", "hue")
LOWEST, WIDTHS = (0.1, 0.2, 0.0, 0.09, 0.05), (0.8, 0.6, 2.0, 0.13, 0.9)
#: Corners and direction of the first corner in degrees.
SHAPES = {"triangle": (3, 90.0), "square": (4, 45.0), "circle": (30, 0.0)}
#: A span ends at the last column whose centre lies inside; exact halves are outside.
HALF_PIXEL = 0.5 - 1e-3
#: Images drawn at once on a CPU, so that the work stays close to a core.
CHUNK_IMAGES = 512


def sprite_latents(units: Array) -> Array:
    """Map latents from the unit cube to their ranges; the shape becomes 0, 1 or 2.

    Parameters
    ----------
    units : array or Tensor, shape (..., 5)
        x, y, shape, scale and hue, each from 0 to 1.

    Returns
    -------
    array or Tensor, shape (..., 5)
        What a decoder is fed: x and y as shares of the side, the shape as a number (rounded half to even).

    Examples
    --------
    >>> sprite_latents([0.5, 0.5, 0.25, 0.0, 1.0]).round(6).tolist()
    [0.5, 0.5, 0.0, 0.09, 0.95]
    """
    units = unit_latents(units, LATENTS)
    space = array_namespace(units)
    columns_ = [units[..., index] * width + low for index, (width, low) in enumerate(zip(WIDTHS, LOWEST, strict=True))]
    columns_[2] = space.round(2 * units[..., 2])
    return space.stack(columns_, -1)


def sprite_masks(units: Array) -> Array:
    """Return which pixels each sprite covers.

    Parameters
    ----------
    units : array or Tensor, shape (..., 5)

    Returns
    -------
    array or Tensor of bool, shape (..., 64, 64)
        Rows from the top, then columns from the left.

    Examples
    --------
    >>> int(sprite_masks([0.5, 0.5, 0.5, 0.0, 0.5]).sum())
    36
    """
    # Corners are cut to whole pixels, so single precision would move some of them.
    values = sprite_latents(astype(unit_latents(units, LATENTS), "float64"))
    flat = values.reshape(-1, 5)
    space, columns_of_row = array_namespace(flat), _places(flat)
    # Room for the span of each row, which the shapes fill in.
    first, last = (astype(flat[:, :1] * columns_of_row, "float32") for _ in range(2))
    for number, (corners, start) in enumerate(SHAPES.values()):
        chosen = flat[:, 2] == number
        if bool(chosen.any()):
            first[chosen], last[chosen] = _spans(_corners(flat[chosen], corners, start))
    # Whole columns outside the canvas count as just outside it, so that one byte holds them.
    first = astype(space.ceil(first - HALF_PIXEL).clip(0, SPRITE_SIDE), "int8")
    last = astype(space.floor(last + HALF_PIXEL).clip(-1, SPRITE_SIDE - 1), "int8")
    columns = astype(columns_of_row, "int8")
    filled = (columns >= first[..., None]) & (columns <= last[..., None])
    return filled.reshape(*values.shape[:-1], SPRITE_SIDE, SPRITE_SIDE)


def sprite_colours(units: Array) -> Array:
    """Return the colour of each sprite, full and bright, from 0 to 255.

    Parameters
    ----------
    units : array or Tensor, shape (..., 5)

    Returns
    -------
    array or Tensor of uint8, shape (..., 3)

    Examples
    --------
    >>> sprite_colours([0.62, 0.31, 1, 0.8, 0.15]).tolist()
    [226, 255, 0]
    """
    bright = hue_colours(sprite_latents(astype(unit_latents(units, LATENTS), "float64"))[..., 4])
    return astype(array_namespace(bright).floor(255 * bright), "uint8")


def sprite_layers(units: Array, *, alpha: bool = False) -> Array:
    """Return each sprite alone on black: the components of the true generator.

    Parameters
    ----------
    units : array or Tensor, shape (..., 5)
    alpha : bool
        Whether a fourth channel says where the sprite is.

    Returns
    -------
    array or Tensor of float32, shape (..., 3 or 4, 64, 64)
        From 0 to 1.

    Examples
    --------
    >>> sprite_layers([[0.5] * 5, [0.1] * 5], alpha=True).shape
    (2, 4, 64, 64)
    """
    covered = astype(sprite_masks(units), "float32")[..., None, :, :]
    shown = covered * (astype(sprite_colours(units), "float32")[..., None, None] / 255)
    return array_namespace(covered).concatenate([shown, covered], -3) if alpha else shown


def render_sprites(units: Array, rule: str = "hard") -> Array:
    """Draw images of several sprites each, the first in front.

    Parameters
    ----------
    units : array or Tensor, shape (N, K, 5)
        A tensor is drawn on its device at once; an array in chunks.
    rule : {"hard", "soft", "rgba"}
        As in ``compose_layers``; ``rgba`` gives the same image as ``hard``, since sprites are opaque.

    Returns
    -------
    array or Tensor, shape (N, 3, 64, 64)
        uint8 from 0 to 255 for hard edges, float32 from 0 to 1 for the soft rule.

    Examples
    --------
    >>> images = render_sprites([[[0.5, 0.5, 0, 1, 0.1], [0.55, 0.55, 1, 1, 0.6]]])
    >>> images.shape, round(float(images.sum() / 255), 4)
    ((1, 3, 64, 64), 500.3373)
    """
    units = unit_latents(units, LATENTS)
    if units.ndim != 3:
        raise InputError(f"units have shape {tuple(units.shape)}; give (images, sprites, 5)")
    refuse_unknown(rule)
    kind, shape = "float32" if rule == "soft" else "uint8", (len(units), 3, SPRITE_SIDE, SPRITE_SIDE)
    # What is drawn goes where it belongs, so that a large set needs its own memory and no more.
    if isinstance(units, np.ndarray):
        chunk, images = CHUNK_IMAGES, np.empty(shape, kind)
    else:
        chunk, images = 16 * CHUNK_IMAGES, units.new_empty(shape, dtype=getattr(array_namespace(units), kind))
    for start in range(0, len(units), chunk):
        images[start : start + chunk] = _drawn(units[start : start + chunk], rule)
    return images


def sprite_regions(units: npt.ArrayLike) -> dict[str, npt.NDArray[np.bool_]]:
    """Return the pixels of each kind in images of two sprites: front, visible back, overlap and empty.

    Parameters
    ----------
    units : array, shape (N, 2, 5)

    Returns
    -------
    dict of array of bool, shape (N, 64, 64)
        "front", "back" (what can be seen of it), "empty"; together they are all pixels. "hidden" is the part of the
        back sprite behind the front one.

    Examples
    --------
    >>> found = sprite_regions([[[0.5, 0.5, 0, 1, 0.1], [0.55, 0.55, 1, 1, 0.6]]])
    >>> {name: int(pixels.sum()) for name, pixels in found.items()}
    {'front': 230, 'back': 53, 'empty': 3813, 'hidden': 161}
    """
    both = np.asarray(sprite_masks(units))
    front, back = both[:, 0], both[:, 1]
    return {"front": front, "back": back & ~front, "empty": ~front & ~back, "hidden": back & front}


def polygon_radius(corners: int) -> float:
    """Distance from the centre to a corner of the regular polygon of area 1.

    Examples
    --------
    >>> round(polygon_radius(4), 6)
    0.707107
    """
    return float(np.sqrt(2 / (corners * np.sin(2 * np.pi / corners))))


def _places(values: Array) -> Array:
    """Return the numbers 0 to 63 of pixels in a row, as what the values are and where they are."""
    return (
        np.arange(SPRITE_SIDE).astype(values.dtype)
        if array_namespace(values) is np
        else values.new_tensor(range(SPRITE_SIDE))
    )


def _corners(values: Array, corners: int, start: float) -> list[tuple[Array, ...]]:
    """Return x and y (S,) of each corner in whole pixels, y pointing up."""
    angles = np.deg2rad(start) + 2 * np.pi * np.arange(corners) / corners
    outline = polygon_radius(corners) * np.stack([np.cos(angles), np.sin(angles)], 1)
    scale, trunc = values[:, 3], array_namespace(values).trunc
    exact = [(values[:, 0] + scale * across, values[:, 1] + scale * up) for across, up in outline.tolist()]
    return [tuple(astype(trunc(SPRITE_SIDE * coordinate), "float32") for coordinate in corner) for corner in exact]


def _spans(corners: Sequence[tuple[Array, ...]]) -> tuple[Array, Array]:
    """Return the leftmost and rightmost crossing (S, 64) of each row from the top with the polygon's edges.

    An edge reaches the rows of both its ends, so a horizontal one needs no care: its neighbours bring its ends.
    """
    x, _ = corners[0]
    space, rows = array_namespace(x), SPRITE_SIDE - 1 - _places(x)
    first = x[:, None] * 0 + 4.0 * SPRITE_SIDE + 0 * rows
    last = -first
    for (x, y), (ahead, above) in zip(corners, [*corners[1:], corners[0]], strict=True):
        rise = above - y
        slope = (ahead - x) / space.where(rise == 0, space.ones_like(rise), rise)
        crossing = x[:, None] + (rows - y[:, None]) * slope[:, None]
        reached = (rows >= space.minimum(y, above)[:, None]) & (rows <= space.maximum(y, above)[:, None])
        first = space.where(reached, space.minimum(first, crossing), first)
        last = space.where(reached, space.maximum(last, crossing), last)
    return first, last


def _drawn(units: Array, rule: str) -> Array:
    if rule == "soft":
        return compose_layers(sprite_layers(units), "soft")
    covered, colour = sprite_masks(units)[:, :, None], sprite_colours(units)[..., None, None]
    space = array_namespace(units)
    image = colour[:, -1] * covered[:, -1]
    for slot in reversed(range(units.shape[1] - 1)):
        image = space.where(covered[:, slot], colour[:, slot], image)
    return image
