"""Labelled images as a problem of two classes: the lower half of the labels against the upper one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.worlds.images.sources import Images
from recombine.sample_checks import wholes


@dataclass(frozen=True, eq=False)
class Halves:
    """Samples of a two-class problem.

    Attributes
    ----------
    X : ndarray (N, d)
        Pixels from -1 to 1, and a last column of ones. Samples to train on come first.
    y : ndarray (N,)
        +1 for the lower half of the labels, -1 for the upper.
    validation : ndarray of int
        Rows of the samples that no network trains on.
    """

    X: FloatArray
    y: FloatArray
    validation: IntArray

    __repr__ = brief_repr

    def rows(self, size: int) -> IntArray:
        """Return the rows of a training set of ``size`` samples; smaller sets lie within larger ones."""
        size, largest = whole(size, "size"), len(self.X) - len(self.validation)
        if size > largest:
            raise InputError(f"a training set of {size} was asked for; give 1 to {largest}")
        return np.arange(size)


def label_halves(images: Images, sizes: Sequence[int], validation: int, seed: int = 1) -> Halves:
    """Draw the samples of a two-class problem.

    Parameters
    ----------
    images : Images
    sizes : sequence of int
        Training set sizes that will be asked for.
    validation : int
        Samples to keep for validation.
    seed : int
        Which images are drawn, in which order.

    Examples
    --------
    >>> from recombine.lab.worlds.images import load_images
    >>> halves = label_halves(load_images("digits"), sizes=[100, 200], validation=500)
    >>> halves.X.shape, len(halves.validation), halves.rows(100)[-1]
    ((700, 65), 500, np.int64(99))
    """
    largest = whole(max(wholes(sizes, "sizes"), default=0), "the largest of sizes")
    validation, seed = whole(validation, "validation"), whole(seed, "seed", 0)
    if largest + validation > len(images):
        raise InputError(
            f"{largest} samples to train on and {validation} for validation of {len(images)} images; ask for fewer"
        )
    order = np.random.default_rng(np.random.SeedSequence([seed, 3])).permutation(len(images))[: largest + validation]
    pixels = images.pixels[order].reshape(len(order), -1) / 127.5 - 1
    labels = np.where(images.labels[order] < images.classes / 2, 1.0, -1.0)
    return Halves(np.column_stack([pixels, np.ones(len(order))]), labels, np.arange(largest, largest + validation))
