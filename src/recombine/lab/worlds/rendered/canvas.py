"""What drawn worlds share: latents in the unit cube, colours by hue, and layers that become an image.

Everything works alike on NumPy arrays and on torch tensors, which stay on their device; nothing here imports torch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: How layers become an image.
RULES = ("hard", "soft", "rgba")
#: Tensors or arrays: what goes in is what comes out.
Array = Any


def array_namespace(values: Array) -> Any:
    """Return NumPy or torch, whichever these values belong to.

    Examples
    --------
    >>> array_namespace(np.zeros(2)).__name__
    'numpy'
    """
    return sys.modules["torch"] if hasattr(values, "detach") else np


def astype(values: Array, dtype: str) -> Array:
    """Return values as another dtype, named as in NumPy and torch alike.

    Examples
    --------
    >>> astype(np.array([1.5]), "uint8")
    array([1], dtype=uint8)
    """
    space = array_namespace(values)
    return space.asarray(values, dtype=getattr(space, dtype))


def unit_latents(units: Array, names: Sequence[str]) -> Array:
    """Return latents (..., one per name) from 0 to 1 as floats, or say what is wrong with them.

    Examples
    --------
    >>> unit_latents([0.1, 0.2], ("x", "y", "hue"))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: latents have shape (2,); the last axis must hold x, y, hue
    """
    if array_namespace(units) is np:
        try:
            units = np.asarray(units, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"latents are not numbers in rows of equal length; give (..., {len(names)})") from None
    if units.ndim < 1 or units.shape[-1] != len(names):
        raise InputError(f"latents have shape {tuple(units.shape)}; the last axis must hold {', '.join(names)}")
    # Written so that what is not a number is caught too.
    if not bool(((units >= -1e-9) & (units <= 1 + 1e-9)).all()):
        raise InputError("some latents lie outside 0 to 1 or are not numbers; give them in the unit cube")
    return units


def hue_colours(hue: Array) -> Array:
    """Return red, green and blue (..., 3) from 0 to 1 of a hue (...) at full saturation and value.

    Examples
    --------
    >>> hue_colours(np.array([0.0, 0.5])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    space = array_namespace(hue)
    sixth = space.floor(6 * hue)
    fraction = 6 * hue - sixth
    zero, full = space.zeros_like(hue), space.ones_like(hue)
    # The order of operations is colorsys's, so that floors of 255 times this agree to the last digit.
    falling, rising = 1 - fraction, 1 - (1 - fraction)
    sectors = [(full, rising, zero), (falling, full, zero), (zero, full, rising)]
    sectors += [(zero, falling, full), (rising, zero, full), (full, zero, falling)]
    colour = space.zeros_like(space.stack([hue] * 3, -1))
    for number, channels in enumerate(sectors):
        mask = sixth % 6 == number
        colour = space.where(mask[..., None], space.stack(list(channels), -1), colour)
    return colour


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
    refuse_unknown(rule)
    channels = 4 if rule == "rgba" else 3
    if np.ndim(images) < 4 or images.shape[-3] < channels:
        raise InputError(
            f"layers have shape {tuple(images.shape)}; the rule {rule!r} needs (..., slots, {channels} channels, H, W)"
        )
    layers = [images[..., slot, :, :, :] for slot in range(images.shape[-4])]
    if rule == "soft":
        image = layers[0][..., :3, :, :]
        for behind in layers[1:]:
            image = soft_addition(image, behind[..., :3, :, :])
        return image
    image = 0 * layers[0][..., :3, :, :]
    for layer in reversed(layers):
        colour = layer[..., :3, :, :]
        opaque = layer[..., 3:4, :, :] if rule == "rgba" else 1.0 * (colour.sum(-3)[..., None, :, :] > 0)
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
    share = 1 / (1 + array_namespace(front).exp(-amount))
    return front * share + behind * (1 - share)


def refuse_unknown(rule: str, rules: Sequence[str] = RULES) -> None:
    """Raise unless a rule is one of those that compose layers.

    Examples
    --------
    >>> refuse_unknown("sofft")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: 'sofft' is not a way to compose; did you mean 'soft'? Rules: hard, soft, rgba
    """
    if rule not in rules:
        raise InputError(f"{rule!r} is not a way to compose;{near_miss(rule, rules, f'Rules: {listing(rules)}')}")
