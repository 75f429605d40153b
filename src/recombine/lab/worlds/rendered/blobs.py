"""Two coloured blobs on a black canvas of 12 x 12 pixels: the sprite world in small, for networks trained on a CPU.

A blob has three latents from 0 to 1, x, y and hue, and no corners, so that it is smooth wherever it is lit.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.worlds.rendered.canvas import (
    compose_layers,
    hue_colours,
    refuse_unknown,
    soft_addition,
    unit_latents,
)

BLOB_SIDE = 12
LATENTS = ("x", "y", "hue")
#: Ranges of the latents: the first values and the widths.
LOWEST, WIDTHS = np.array([0.15, 0.15, 0.05]), np.array([0.7, 0.7, 0.6])
#: Width of a blob as a share of the side, the level that is cut off, and the gain that makes its middle full.
RADIUS, CUT_LEVEL, GAIN = 0.13, 0.3, 2.2
#: Gain of the sigmoid in soft addition.
SIGMOID_GAIN = 3.0
RULES = ("soft", "rgba", "add")


def blob_opacities(units: npt.ArrayLike) -> FloatArray:
    """Return how much each blob covers each pixel, from 0 to 1.

    Parameters
    ----------
    units : array, shape (..., 3)
        x, y and hue from 0 to 1.

    Returns
    -------
    array of float, shape (..., 12, 12)

    Examples
    --------
    >>> blob_opacities([0.5, 0.5, 0.5]).max().round(2)
    np.float64(1.0)
    """
    values = blob_latents(units)
    centres = (np.arange(BLOB_SIDE) + 0.5) / BLOB_SIDE
    across = centres - values[..., 0, None, None]
    down = (1 - centres)[:, None] - values[..., 1, None, None]
    lit = np.exp(-(across**2 + down**2) / (2 * RADIUS**2))
    return np.clip((lit - CUT_LEVEL) * GAIN, 0, 1)


def blob_latents(units: npt.ArrayLike) -> FloatArray:
    """Map latents (..., 3) from the unit cube to their ranges.

    Examples
    --------
    >>> blob_latents([0, 1, 1]).round(2).tolist()
    [0.15, 0.85, 0.65]
    """
    values: FloatArray = LOWEST + WIDTHS * unit_latents(np.asarray(units), LATENTS)
    return values


def blob_layers(units: npt.ArrayLike, *, alpha: bool = False) -> FloatArray:
    """Return each blob alone: its colour times its opacity, or with ``alpha`` its colour and its opacity.

    Parameters
    ----------
    units : array, shape (..., 3)
    alpha : bool

    Returns
    -------
    array of float, shape (..., 3 or 4, 12, 12)

    Examples
    --------
    >>> blob_layers([[0.5] * 3, [0.1] * 3]).shape
    (2, 3, 12, 12)
    """
    covered = blob_opacities(units)[..., None, :, :]
    colour = hue_colours(blob_latents(units)[..., 2])[..., None, None] * np.ones_like(covered)
    return np.concatenate([colour, covered], -3) if alpha else colour * covered


def render_blobs(units: npt.ArrayLike, rule: str = "soft") -> FloatArray:
    """Draw images of several blobs each, the first in front.

    Parameters
    ----------
    units : array, shape (N, K, 3)
    rule : {"soft", "rgba", "add"}
        Soft addition with gain 3, "over", or a plain sum.

    Returns
    -------
    array of float, shape (N, 3, 12, 12)

    Examples
    --------
    >>> units = np.array([[[0.2, 0.2, 0.1], [0.8, 0.8, 0.9]]])
    >>> bool(np.allclose(render_blobs(units, "add"), blob_layers(units).sum(1)))
    True
    """
    refuse_unknown(rule, RULES)
    if rule == "rgba":
        over: FloatArray = compose_layers(blob_layers(units, alpha=True), "rgba")
        return over
    layers = blob_layers(units)
    image: FloatArray = layers[..., 0, :, :, :]
    for slot in range(1, layers.shape[-4]):
        behind = layers[..., slot, :, :, :]
        image = image + behind if rule == "add" else soft_addition(image, behind, SIGMOID_GAIN)
    return image


def blob_regions(units: npt.ArrayLike) -> Mapping[str, BoolArray]:
    """Return the pixels (N, 12, 12) that the front blob covers, those of the back one that remain, and the others.

    Examples
    --------
    >>> found = blob_regions([[[0, 0, 0], [1, 1, 1]]])
    >>> bool((found["front"] | found["back"] | found["empty"]).all())
    True
    """
    both = blob_opacities(units) > 0
    front, back = both[:, 0], both[:, 1]
    return {"front": front, "back": back & ~front, "empty": ~front & ~back, "hidden": back & front}
