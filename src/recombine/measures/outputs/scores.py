"""Scores of outputs against targets, for many models at once: line, sign accuracy, margin.

A model that diverged (an output that is not finite) scores NaN and leaves the others alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.errors import InputError


def fitted_line(target: npt.ArrayLike, outputs: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return slope and offset of the least-squares line of outputs on targets.

    A slope below 1 on unseen cells is the memorization leak (Lippl & Stachenfeld 2025, Eq. 3).

    Parameters
    ----------
    target : array of float, shape (N,)
    outputs : array of float, shape (..., N)

    Returns
    -------
    slope, offset : float arrays of shape (...)

    Examples
    --------
    >>> slope, offset = fitted_line([0, 1, 2], [[1, 3, 5], [0, 0, 0]])
    >>> slope.tolist(), offset.tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """
    truth, values = _checked(target, outputs)
    centred = truth - truth.mean()
    spread = centred @ centred
    if spread == 0:
        raise InputError(f"all {len(truth)} targets are equal; a slope needs at least two different ones")
    slope = values @ centred / spread
    return slope, values.mean(axis=-1) - slope * truth.mean()


def sign_accuracy(target: npt.ArrayLike, outputs: npt.ArrayLike) -> FloatArray:
    """Return the share of outputs that have the sign of their target; an output of 0 is a coin toss and counts half.

    Parameters
    ----------
    target : array of float, shape (N,)
        Not zero.
    outputs : array of float, shape (..., N)

    Returns
    -------
    float array of shape (...)

    Examples
    --------
    >>> float(sign_accuracy([1, -1, 1, -1], [0.2, -3.0, 0.0, 0.1]))
    0.625
    """
    truth, values = _checked(target, outputs)
    if not truth.all():
        raise InputError(f"target {np.flatnonzero(truth == 0)[0]} is 0, which has no sign; leave it out")
    return np.mean((1 + np.sign(truth) * np.sign(values)) / 2, axis=-1)  # type: ignore[no-any-return]


def margin(target: npt.ArrayLike, outputs: npt.ArrayLike) -> FloatArray:
    """Return the mean of target times output.

    Parameters
    ----------
    target : array of float, shape (N,)
    outputs : array of float, shape (..., N)

    Returns
    -------
    float array of shape (...)

    Examples
    --------
    >>> margin([1, -1], [[0.5, -0.5], [1.0, 1.0]]).tolist()
    [0.5, 0.0]
    """
    truth, values = _checked(target, outputs)
    return np.mean(truth * values, axis=-1)  # type: ignore[no-any-return]


def mask_diverged(outputs: FloatArray) -> FloatArray:
    """Return ``outputs`` (..., N) with every model that has an output that is not finite set to NaN throughout.

    Examples
    --------
    >>> mask_diverged(np.array([[1.0, np.inf], [1.0, 2.0]])).tolist()
    [[nan, nan], [1.0, 2.0]]
    """
    return np.where(np.isfinite(outputs).all(axis=-1, keepdims=True), outputs, np.nan)


def _checked(target: npt.ArrayLike, outputs: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    truth, values = (
        as_numbers(array, name).astype(np.float64, copy=False)
        for array, name in ((target, "targets"), (outputs, "outputs"))
    )
    if truth.ndim != 1 or not truth.size:
        raise InputError(f"target has shape {truth.shape}; give at least one number, all in one row")
    if values.ndim < 1 or values.shape[-1] != len(truth):
        raise InputError(f"outputs have shape {values.shape}; the last axis must be the {len(truth)} targets")
    if not np.isfinite(truth).all():
        raise InputError(f"target {np.flatnonzero(~np.isfinite(truth))[0]} is not finite; leave it out")
    return truth, mask_diverged(values)
