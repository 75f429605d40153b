"""Where images have their largest value, and whether that is the right place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.errors import InputError


def peaks(images: npt.ArrayLike) -> IntArray:
    """Return the place (x, y) = (column, row) of the largest value of each image (..., rows, columns), shape (..., 2).

    Examples
    --------
    >>> image = np.zeros((4, 6))
    >>> image[1, 5] = 1
    >>> peaks(image).tolist()
    [5, 1]
    """
    array = np.asarray(images)
    if array.ndim < 2:
        raise InputError(f"images have shape {array.shape}; give (..., rows, columns)")
    rows, columns = np.divmod(array.reshape(*array.shape[:-2], -1).argmax(axis=-1), array.shape[-1])
    return np.stack([columns, rows], axis=-1).astype(np.int64)


def peak_accuracy(images: npt.ArrayLike, centres: npt.ArrayLike, within: float = 1.5) -> float:
    """Return the share of images (..., rows, columns) whose largest value lies within ``within`` pixels of its centre.

    ``centres`` (..., 2) are (x, y) = (column, row); a distance of 1.5 allows the eight neighbours. A sum of two stripes
    has its largest value in the right place too: look at the correlation with the truth as well.

    Examples
    --------
    >>> centres = np.array([[x, y] for x in range(8) for y in range(8)])
    >>> spots = np.exp(-((np.arange(8) - np.arange(8)[:, None]) ** 2) / 2)
    >>> peak_accuracy(spots[centres[:, 1], :, None] * spots[centres[:, 0], None, :], centres)
    1.0
    """
    maxima, positions = peaks(images), np.asarray(centres, dtype=float)
    if maxima.shape != positions.shape:
        raise InputError(
            f"{maxima.shape[:-1]} images but centres of shape {positions.shape}; give one (x, y) per image"
        )
    return float((np.sqrt(((maxima - positions) ** 2).sum(axis=-1)) <= within).mean())
