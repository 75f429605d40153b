"""First principles: the supports of the paper by name, in the unit cube of two slots' latents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, near_miss
from recombine.theory.supports import Support, band, box, gap, planes
from recombine.writing import listing

#: Latents of a sprite and of a blob; anchors of sprites have the smallest size.
SPRITE, BLOB = ("x", "y", "shape", "scale", "hue"), ("x", "y", "hue")
#: The x of the front sprite that the gap leaves out.
GAP_X = (0.05, 0.45)
#: Width of the normal law that "orthogonal normal" draws the free slot from.
NORMAL_WIDTH = 1.0
PLANES = ("orthogonal", "orthogonal normal", "orthogonal+", "orthogonal*", "orthogonal gap")
NAMES = ("random", *PLANES, "diagonal 0.2", "diagonal 0.1", "diagonal 0.05", "diagonal 0.01")


def anchor(value: float, latents: Sequence[str] = SPRITE) -> FloatArray:
    """Return a held sprite: all latents equal, except that its size is the smallest.

    Examples
    --------
    >>> anchor(0.5).tolist()
    [0.5, 0.5, 0.5, 0.0, 0.5]
    """
    return np.array([0.0 if name == "scale" else value for name in latents])


def support(name: str, latents: Sequence[str] = SPRITE) -> Support:
    """Return a support of the paper.

    Parameters
    ----------
    name : str
        One of ``NAMES``; "diagonal" goes with any width.
    latents : sequence of str
        Of one slot.

    Examples
    --------
    >>> support("orthogonal*").sample(4).shape
    (4, 2, 5)
    >>> support("orthogonal gap", BLOB).contains([[[0.3, 0, 0], [1, 1, 1]]]).tolist()
    [False]
    """
    word, _, width = name.partition(" ")
    if word == "diagonal" and width.replace(".", "", 1).isdecimal():
        return band(float(width), dimensions=len(latents))
    if name == "random":
        return box(2, len(latents))
    origin, half, far = (anchor(value, latents) for value in (0.0, 0.5, 1.0))
    anchors = {
        "orthogonal": {0: [far], 1: [origin, half]},
        "orthogonal+": {0: [far, anchor(0.7, latents)], 1: [origin, anchor(0.3, latents)]},
        "orthogonal*": {0: [far], 1: [origin]},
    }
    if name in anchors:
        return planes(anchors[name])
    if name == "orthogonal normal":
        return planes(anchors["orthogonal"], spread=NORMAL_WIDTH)
    if name == "orthogonal gap":
        return gap(planes(anchors["orthogonal"]), 0, 0, *GAP_X)
    raise InputError(f"support {name!r} is unknown;{near_miss(name, NAMES, f'Supports: {listing(NAMES)}')}")
