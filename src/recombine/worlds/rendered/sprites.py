"""Two coloured sprites on a black canvas: the image world of Wiedemer et al. 2023, pixel for pixel.

A sprite is a regular polygon without anti-aliasing whose corners are cut to whole pixels, so every row of it is one
span of columns. That makes the drawing a few array operations, the same in NumPy and in torch: hand over a tensor and
everything happens on its device. Sprites have no derivatives; ``blobs`` do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError, listing, near_miss

#: Side of an image in pixels.
SIDE = 64
#: What the five numbers of a sprite say; each is drawn from 0 to 1 and then mapped to its range.
LATENTS = ("x", "y", "shape", "scale", "hue")
LOWEST = np.array([0.1, 0.2, 0.0, 0.09, 0.05])
WIDTHS = np.array([0.8, 0.6, 2.0, 0.13, 0.9])
#: Corners and direction of the first corner in degrees.
SHAPES = {"triangle": (3, 90.0), "square": (4, 45.0), "circle": (30, 0.0)}
#: How layers become an image.
RULES = ("hard", "soft", "rgba")
#: A span ends at the last column whose centre lies inside; exact halves are outside.
HALF = 0.5 - 1e-3
#: Images drawn at once on a CPU, so that the work stays close to a core.
CHUNK = 512
#: Tensors or arrays: what goes in is what comes out.
Array = Any


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
    units = checked(units)
    space = namespace(units)
    values = units * like(WIDTHS, units) + like(LOWEST, units)
    values[..., 2] = space.round(2 * units[..., 2])
    return values


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
    values = sprite_latents(cast(checked(units), "float64"))
    flat = values.reshape(-1, 5)
    space = namespace(flat)
    first, last = (cast(flat[:, :1] * like(np.zeros(SIDE), flat), "float32") for _ in range(2))
    for number, (corners, start) in enumerate(SHAPES.values()):
        chosen = flat[:, 2] == number
        if bool(chosen.any()):
            first[chosen], last[chosen] = _spans(_corners(flat[chosen], corners, start))
    # Whole columns outside the canvas count as just outside it, so that one byte holds them.
    first = cast(space.ceil(first - HALF).clip(0, SIDE), "int8")
    last = cast(space.floor(last + HALF).clip(-1, SIDE - 1), "int8")
    columns = cast(like(np.arange(SIDE), flat), "int8")
    filled = (columns >= first[..., None]) & (columns <= last[..., None])
    return filled.reshape(*values.shape[:-1], SIDE, SIDE)


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
    bright = hue_colours(sprite_latents(cast(checked(units), "float64"))[..., 4])
    return cast(namespace(bright).floor(255 * bright), "uint8")


def hue_colours(hue: Array) -> Array:
    """Return red, green and blue (..., 3) from 0 to 1 of a hue (...) at full saturation and value.

    Examples
    --------
    >>> hue_colours(np.array([0.0, 0.5])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    space = namespace(hue)
    sixth = space.floor(6 * hue)
    part = 6 * hue - sixth
    zero, one = space.zeros_like(hue), space.ones_like(hue)
    # The order of operations is colorsys's, so that floors of 255 times this agree to the last digit.
    falling, rising = 1 - part, 1 - (1 - part)
    places = [(one, rising, zero), (falling, one, zero), (zero, one, rising)]
    places += [(zero, falling, one), (rising, zero, one), (one, zero, falling)]
    colour = space.zeros_like(space.stack([hue] * 3, -1))
    for number, channels in enumerate(places):
        here = sixth % 6 == number
        colour = space.where(here[..., None], space.stack(list(channels), -1), colour)
    return colour


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
    covered = cast(sprite_masks(units), "float32")[..., None, :, :]
    colour = cast(sprite_colours(units), "float32")[..., None, None] / 255
    space = namespace(covered)
    return space.concatenate([covered * colour, covered], -3) if alpha else covered * colour


def compose_layers(images: Array, rule: str = "hard") -> Array:
    """Compose layers, the first in front, into images.

    Parameters
    ----------
    images : array or Tensor, shape (..., K, 3 or 4, H, W)
        ``rgba`` needs the fourth channel, the others do without.
    rule : {"hard", "soft", "rgba"}
        ``hard``: the front pixel where it is not black, else the one behind. ``soft``: a s(q) + b s(-q) with s the
        sigmoid and q the sum of a's channels, folded from the front. ``rgba``: "over", on an opaque black canvas.

    Returns
    -------
    array or Tensor, shape (..., 3, H, W)

    Examples
    --------
    >>> both = np.stack([np.zeros((3, 1, 1)), np.ones((3, 1, 1))])
    >>> compose_layers(both).ravel().tolist(), compose_layers(both, "soft").ravel().tolist()
    ([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    """
    channels = _rule_channels(rule)
    if np.ndim(images) < 4 or images.shape[-3] < channels:
        raise InputError(
            f"layers have shape {tuple(images.shape)}; the rule {rule!r} needs (..., slots, {channels} channels, H, W)"
        )
    slots = images.shape[-4]
    parts = [images[..., slot, :, :, :] for slot in range(slots)]
    if rule == "soft":
        image = parts[0][..., :3, :, :]
        for behind in parts[1:]:
            image = soft_addition(image, behind[..., :3, :, :])
        return image
    image = 0 * parts[0][..., :3, :, :]
    for part in reversed(parts):
        colour = part[..., :3, :, :]
        opaque = part[..., 3:4, :, :] if rule == "rgba" else 1.0 * (colour.sum(-3)[..., None, :, :] > 0)
        image = opaque * colour + (1 - opaque) * image
    return image


def soft_addition(front: Array, behind: Array, gain: float = 1.0) -> Array:
    """Return a s(gain q) + b s(-gain q), with q the sum of the channels (third axis from the last) of a.

    Examples
    --------
    >>> float(soft_addition(np.zeros((3, 1, 1)), np.ones((3, 1, 1)))[0, 0, 0])
    0.5
    """
    amount = gain * front.sum(-3)[..., None, :, :]
    share = 1 / (1 + namespace(front).exp(-amount))
    return front * share + behind * (1 - share)


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
    units = checked(units)
    if units.ndim != 3:
        raise InputError(f"units have shape {tuple(units.shape)}; give (images, sprites, 5)")
    _rule_channels(rule)
    kind, shape = "float32" if rule == "soft" else "uint8", (len(units), 3, SIDE, SIDE)
    # What is drawn goes where it belongs, so that a large set needs its own memory and no more.
    if isinstance(units, np.ndarray):
        chunk, images = CHUNK, np.empty(shape, kind)
    else:
        chunk, images = 16 * CHUNK, units.new_empty(shape, dtype=getattr(namespace(units), kind))
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


def _corners(values: Array, corners: int, start: float) -> Array:
    """Return the corners (S, n, 2) in whole pixels, y pointing up."""
    angles = np.deg2rad(start) + 2 * np.pi * np.arange(corners) / corners
    outline = like(polygon_radius(corners) * np.stack([np.cos(angles), np.sin(angles)], 1), values)
    exact = SIDE * (values[:, None, :2] + values[:, None, 3:4] * outline)
    return cast(namespace(values).trunc(exact), "float32")


def _spans(vertices: Array) -> tuple[Array, Array]:
    """Return the leftmost and rightmost crossing (S, 64) of each row from the top with the polygon's edges.

    An edge reaches the rows of both its ends, so a horizontal one needs no care: its neighbours bring its ends.
    """
    space = namespace(vertices)
    rows = like(np.arange(SIDE)[::-1].copy(), vertices)
    far = 4.0 * SIDE
    first = vertices[:, :1, 0] * 0 + far + 0 * rows
    last = -first
    for corner in range(vertices.shape[1]):
        following = (corner + 1) % vertices.shape[1]
        x, y = vertices[:, corner, 0], vertices[:, corner, 1]
        ahead, above = vertices[:, following, 0], vertices[:, following, 1]
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
    space = namespace(units)
    image = colour[:, -1] * covered[:, -1]
    for slot in reversed(range(units.shape[1] - 1)):
        image = space.where(covered[:, slot], colour[:, slot], image)
    return image


def _rule_channels(rule: str) -> int:
    if rule not in RULES:
        raise InputError(f"{rule!r} is not a way to compose;{near_miss(rule, RULES)} Rules: {listing(RULES)}")
    return 4 if rule == "rgba" else 3


def checked(units: Array) -> Array:
    """Return latents as floats, or say what is wrong with them.

    Examples
    --------
    >>> checked([0.1, 0.2, 0.3])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: latents have shape (3,); the last axis must hold x, y, shape, scale, hue
    """
    if not hasattr(units, "detach"):
        try:
            units = np.asarray(units, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("latents are not numbers in rows of equal length; give an array (..., 5)") from None
    if units.ndim < 1 or units.shape[-1] != len(LATENTS):
        raise InputError(f"latents have shape {tuple(units.shape)}; the last axis must hold {', '.join(LATENTS)}")
    # Written so that what is not a number is caught too.
    if not bool(((units >= -1e-9) & (units <= 1 + 1e-9)).all()):
        raise InputError("some latents lie outside 0 to 1 or are not numbers; give them in the unit cube")
    return units


def namespace(values: Array) -> Any:
    """Return NumPy or torch, whichever these values belong to.

    Examples
    --------
    >>> namespace(np.zeros(2)).__name__
    'numpy'
    """
    if not hasattr(values, "detach"):
        return np
    import torch

    return torch


def like(numbers: npt.NDArray[Any], values: Array) -> Array:
    """Return numbers as an array of the kind, precision and place of some values.

    Examples
    --------
    >>> like(np.arange(2), np.zeros(1, np.float32)).dtype
    dtype('float32')
    """
    if not hasattr(values, "detach"):
        return numbers.astype(values.dtype)
    import torch

    return torch.as_tensor(numbers, dtype=values.dtype, device=values.device)


def cast(values: Array, name: str) -> Array:
    """Return values as another dtype, named as in NumPy and torch alike.

    Examples
    --------
    >>> cast(np.array([1.5]), "uint8")
    array([1], dtype=uint8)
    """
    if not hasattr(values, "detach"):
        return values.astype(name)
    import torch

    return values.to(getattr(torch, name))
