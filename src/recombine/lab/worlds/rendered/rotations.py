"""One image at every angle: the rotated digit of Liang et al. 2025, with a gap of angles held out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, as_numbers
from recombine.cells.brief import brief_repr
from recombine.errors import InputError


@dataclass(frozen=True, eq=False)
class RotationWorld:
    """An image that is turned about its middle; angles are in degrees and those inside the gap are not trained on.

    Parameters
    ----------
    image : array of shape (side, side)
    gap : tuple of float
        First and last angle that are held out, both included.

    Examples
    --------
    >>> world = RotationWorld(np.eye(8), gap=(160, 200))
    >>> world.codes([0, 90]).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> world.seen([0.0, 180.0]).tolist(), world.images([0.0, 90.0]).shape
    ([True, False], (2, 8, 8))
    """

    image: FloatArray
    gap: tuple[float, float]

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        image = as_numbers(self.image, "the image").astype(np.float64)
        if image.ndim != 2 or image.shape[0] != image.shape[1]:
            raise InputError(f"the image has shape {image.shape}; give a square one, (side, side)")
        if not 0 <= self.gap[0] < self.gap[1] <= 360:
            raise InputError(f"the gap {self.gap} is not an interval of angles; give two angles from 0 to 360 degrees")
        object.__setattr__(self, "image", image)

    def angles(self, count: int) -> FloatArray:
        """Return ``count`` equally spaced angles from 0 up to 360 degrees."""
        return np.linspace(0.0, 360.0, count, endpoint=False)

    def seen(self, angles: npt.ArrayLike) -> BoolArray:
        """Return whether each angle (K,) may be trained on."""
        values = np.asarray(angles, dtype=float)
        return (values < self.gap[0]) | (values > self.gap[1])

    def codes(self, angles: npt.ArrayLike) -> FloatArray:
        """Return the cosine and sine (K, 2) of angles (K,)."""
        turned = np.asarray(angles, dtype=float) * (math.pi / 180)
        return np.stack([np.cos(turned), np.sin(turned)], axis=1)

    def images(self, angles: npt.ArrayLike) -> FloatArray:
        """Return the image turned by each angle (K,), interpolated linearly, shape (K, side, side)."""
        from scipy.ndimage import rotate

        turned = [rotate(self.image, angle, reshape=False, order=1) for angle in np.asarray(angles, dtype=float)]
        return np.stack(turned)

    def blends(self, angles: npt.ArrayLike) -> FloatArray:
        """Return, for angles (K,) in the gap, the images at its two edges mixed in proportion to how near they are.

        Examples
        --------
        >>> world = RotationWorld(np.eye(8), gap=(100, 200))
        >>> bool(np.allclose(world.blends([150.0])[0], world.images([100.0, 200.0]).mean(axis=0)))
        True
        """
        first, last = self.images(self.gap)
        share = (np.asarray(angles, dtype=float) - self.gap[0]) / (self.gap[1] - self.gap[0])
        mixed: FloatArray = (1 - share)[:, None, None] * first + share[:, None, None] * last
        return mixed
