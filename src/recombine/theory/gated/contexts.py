"""Context functions of gated linear networks: half-spaces that say which weights of a unit are in use.

A unit with s hyperplanes has 2^s contexts; bit j of the context of x is [<g_j, x> > t_j], the first hyperplane being
the most significant bit. Hyperplanes and thresholds are one object that is kept, saved and loaded as a whole: a network
without its thresholds is another network (Lippl, Abbott & Chung 2022, whose published runs lost them).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from recombine.cells.array_files import read_arrays, write_arrays
from recombine.cells.arrays import FloatArray, IntArray, affordable, as_cells, as_numbers
from recombine.cells.brief import record
from recombine.checks import whole
from recombine.errors import InputError

#: Standard deviations of hyperplanes and of thresholds that do not come from data, as published.
NORMAL_SD, THRESHOLD_SD = 36.0, 9.0
#: Contexts are numbered with 64 bits, and a unit with this many hyperplanes has far more than any data set can fill.
MAX_HYPERPLANES = 40


@record
class HalfSpaces:
    """The context functions of all units of a layer.

    Parameters
    ----------
    normals : ndarray (H, s, d)
        Hyperplanes of each of H units.
    thresholds : ndarray (H, s)

    See Also
    --------
    HalfSpaces.balanced : thresholds at the median of data, so that contexts are about equally frequent.
    HalfSpaces.random : random thresholds.

    Examples
    --------
    >>> contexts = HalfSpaces(np.eye(2)[:, None, :], np.zeros((2, 1)))
    >>> contexts.ids([[0.2, 0.3], [-0.3, 0.1]]).tolist()
    [[1, 1], [0, 1]]
    >>> contexts.units, contexts.contexts
    (2, 2)
    """

    normals: FloatArray
    thresholds: FloatArray

    def __post_init__(self) -> None:
        normals = as_numbers(self.normals, "hyperplanes").astype(np.float64)
        thresholds = as_numbers(self.thresholds, "thresholds").astype(np.float64)
        if normals.ndim != 3 or 0 in (normals.shape[0], normals.shape[2]) or thresholds.shape != normals.shape[:2]:
            raise InputError(
                f"hyperplanes have shape {normals.shape} and thresholds {thresholds.shape}; "
                "give (units, bits, inputs) and (units, bits)"
            )
        if normals.shape[1] > MAX_HYPERPLANES:
            raise InputError(
                f"{normals.shape[1]} bits per unit are 2^{normals.shape[1]} contexts; give at most {MAX_HYPERPLANES}"
            )
        if not (np.isfinite(normals).all() and np.isfinite(thresholds).all()):
            raise InputError("hyperplanes and thresholds have entries that are not finite; leave those units out")
        object.__setattr__(self, "normals", normals)
        object.__setattr__(self, "thresholds", thresholds)

    @classmethod
    def random(cls, units: int, bits: int, inputs: int, seed: int) -> Self:
        """Draw hyperplanes N(0, 36^2) and thresholds N(0, 9^2).

        Examples
        --------
        >>> HalfSpaces.random(units=3, bits=2, inputs=5, seed=0).normals.shape
        (3, 2, 5)
        """
        units, bits, inputs = whole(units, "units"), whole(bits, "bits", 0), whole(inputs, "inputs")
        affordable("the hyperplanes", units, bits, inputs)
        generator = np.random.default_rng(np.random.SeedSequence([whole(seed, "seed", 0), units, bits]))
        normals = generator.normal(scale=NORMAL_SD, size=(units, bits, inputs))
        return cls(normals, generator.normal(scale=THRESHOLD_SD, size=(units, bits)))

    @classmethod
    def balanced(cls, units: int, bits: int, X: npt.ArrayLike, seed: int) -> Self:
        """Draw hyperplanes, and put each threshold at the median of its projection of ``X`` (n, d).

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(100, 4))
        >>> HalfSpaces.balanced(3, 1, X, seed=0).ids(X).mean(axis=0).tolist()
        [0.5, 0.5, 0.5]
        """
        points = as_points(X)
        if not len(points):
            raise InputError("median thresholds need data; X has no rows")
        plain = cls.random(units, bits, points.shape[1], seed)
        affordable("projections of samples", len(points), units, bits)
        projected = points @ plain.normals.reshape(units * bits, points.shape[1]).T
        return replace(plain, thresholds=np.median(projected, axis=0).reshape(units, bits))

    @property
    def units(self) -> int:
        """Number H of units."""
        return len(self.normals)

    @property
    def contexts(self) -> int:
        """Number C = 2^s of contexts of a unit."""
        return int(2 ** self.normals.shape[1])

    def ids(self, X: npt.ArrayLike) -> IntArray:
        """Return the context of each unit, shape (n, H), at inputs ``X`` (n, d)."""
        points = as_points(X, self.normals.shape[2])
        units, bits, inputs = self.normals.shape
        projected = points @ self.normals.reshape(units * bits, inputs).T
        above = projected.reshape(len(points), units, bits) > self.thresholds
        weights: IntArray = 2 ** np.arange(bits, dtype=np.int64)[::-1]
        return above @ weights

    def without_thresholds(self, seed: int) -> Self:
        """Return what is left when thresholds are not saved: the same hyperplanes with newly drawn thresholds.

        This is the published defect, kept so that its effect can be measured. Never use it to restore a network.
        """
        generator = np.random.default_rng(np.random.SeedSequence([whole(seed, "seed", 0), 1]))
        return replace(self, thresholds=generator.normal(scale=THRESHOLD_SD, size=self.thresholds.shape))

    def save(self, path: str | Path) -> None:
        """Write hyperplanes and thresholds to one ``.npz`` file."""
        write_arrays(path, normals=self.normals, thresholds=self.thresholds)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; a file that lacks the thresholds is refused."""
        stored = read_arrays(path, "context functions")
        if set(stored) != {"normals", "thresholds"}:
            raise InputError(f"{path} holds {sorted(stored)}; context functions need both normals and thresholds")
        return cls(**stored)


def as_points(X: npt.ArrayLike, inputs: int | None = None) -> FloatArray:
    """Return inputs as floats of shape (n, d), or say what is wrong with them.

    Examples
    --------
    >>> as_points([[1, 2]], inputs=3)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: X has 2 columns and 3 were expected; give the inputs that the contexts were made for
    """
    points = as_numbers(X, "X").astype(np.float64)
    if points.ndim != 2 or points.shape[1] == 0:
        raise InputError(f"X has shape {points.shape}; give one row per sample and one column per input")
    if inputs is not None and points.shape[1] != inputs:
        raise InputError(
            f"X has {points.shape[1]} columns and {inputs} were expected; "
            "give the inputs that the contexts were made for"
        )
    if not np.isfinite(points).all():
        raise InputError("X has entries that are not finite; leave those samples out")
    return points


def relu_gates(weights: npt.ArrayLike, X: npt.ArrayLike) -> IntArray:
    """Return the gates [<w_h, x> >= 0] of ReLU units with ``weights`` (H, d) at ``X`` (n, d), shape (n, H).

    Examples
    --------
    >>> relu_gates([[1.0, 0.0], [0.0, 1.0]], [[2.0, -1.0], [-1.0, 3.0]]).tolist()
    [[1, 0], [0, 1]]
    """
    hidden = as_points(weights)
    return (as_points(X, hidden.shape[1]) @ hidden.T >= 0).astype(np.int64)


def joint_contexts(ids: npt.ArrayLike) -> IntArray:
    """Number the joint contexts that occur: ids (n, H) -> one number per row, shape (n,), in lexical order.

    Examples
    --------
    >>> joint_contexts([[1, 0], [0, 1], [1, 0]]).tolist()
    [1, 0, 1]
    """
    number: IntArray = np.unique(as_cells(ids, "ids"), axis=0, return_inverse=True)[1].reshape(-1)
    return number
