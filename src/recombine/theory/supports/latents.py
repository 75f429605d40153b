"""Latents as arrays: the checks and draws that every support shares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, as_numbers
from recombine.checks import reals, whole
from recombine.errors import InputError

#: Values that differ by less are the same value of a slot.
SAME_VALUE_WITHIN = 1e-9
#: Rounds of rejection before a set counts as empty; each proposes at least this many points.
MAX_REJECTION_ROUNDS, MIN_PROPOSED_POINTS = 200, 256


def as_latents(latents: npt.ArrayLike, slots: int, dimensions: int) -> FloatArray:
    """Return points as floats of shape (N, K, D), or say what is wrong with them.

    Examples
    --------
    >>> as_latents([[[0.5], [1]]], 2, 1).shape
    (1, 2, 1)
    >>> as_latents([[0.5, 1]], 2, 1)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: latents have shape (1, 2); give points of shape (N, 2, 1): 2 slots of 1 coordinates
    """
    points = np.asarray(as_numbers(latents, "latents"), dtype=float)
    if points.ndim != 3 or points.shape[1:] != (slots, dimensions):
        raise InputError(
            f"latents have shape {points.shape}; give points of shape (N, {slots}, {dimensions}): "
            f"{slots} slots of {dimensions} coordinates"
        )
    return points


def as_value(value: npt.ArrayLike, dimensions: int) -> FloatArray:
    """Return one slot's value as floats of shape (D,).

    Examples
    --------
    >>> as_value(0.5, 1).tolist()
    [0.5]
    """
    chosen = np.atleast_1d(reals(value, "coordinates of a value"))
    if chosen.shape != (dimensions,):
        raise InputError(f"value {as_text(chosen)} has shape {chosen.shape}; give {dimensions} coordinates")
    return chosen


def as_values(values: npt.ArrayLike, dimensions: int) -> FloatArray:
    """Return values of one slot as floats of shape (N, D); one value may be given as (D,).

    Examples
    --------
    >>> as_values([0.5, 1.0], 2).shape
    (1, 2)
    """
    rows = np.atleast_2d(np.asarray(as_numbers(values, "values"), dtype=float))
    if rows.ndim != 2 or rows.shape[1] != dimensions:
        raise InputError(f"values have shape {np.shape(values)}; give (N, {dimensions}), one row per value")
    return rows


def slot_number(slot: int, slots: int) -> int:
    """Return a slot's number, or say which there are."""
    whole(slot, "slot", 0)
    if slot >= slots:
        raise InputError(f"slot {slot} does not exist; slots are numbered 0 to {slots - 1}")
    return int(slot)


def as_text(value: FloatArray) -> str:
    """Return a value as a message writes it.

    Examples
    --------
    >>> as_text(np.array([0.25])), as_text(np.array([0.25, 1 / 3]))
    ('0.25', '(0.25, 0.333333)')
    """
    texts = [f"{number:.6g}" for number in np.ravel(value).tolist()]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def as_bounds(low: npt.ArrayLike, high: npt.ArrayLike, dimensions: int) -> tuple[FloatArray, FloatArray]:
    """Return both bounds with shape (D,)."""
    try:
        lower, upper = (np.broadcast_to(reals(bound, "bounds"), (dimensions,)).copy() for bound in (low, high))
    except InputError:
        raise
    except ValueError:
        raise InputError(f"bounds {low!r} and {high!r} do not fit {dimensions} coordinates; give one or all") from None
    if not (lower < upper).all():
        raise InputError(f"low {as_text(lower)} is not below high {as_text(upper)}; give a range that is not empty")
    return lower, upper


def between(values: FloatArray, low: npt.ArrayLike, high: npt.ArrayLike) -> BoolArray:
    """Say which values (..., D) lie between two bounds (D,) in every coordinate, shape (...)."""
    return np.asarray(((values >= np.asarray(low)) & (values <= np.asarray(high))).all(axis=-1))


def draw_until(
    propose: Callable[[int], FloatArray], accept: Callable[[FloatArray], BoolArray], count: int, region: str
) -> FloatArray:
    """Draw ``count`` points by rejection.

    Parameters
    ----------
    propose : callable
        Number -> that many points (number, ...).
    accept : callable
        Points -> which of them to keep (number,).
    region : str
        What to call the set when it seems to be empty.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool((draw_until(lambda n: rng.uniform(size=(n, 1)), lambda x: x[:, 0] > 0.9, 5, "the top") > 0.9).all())
    True
    """
    accepted: list[FloatArray] = []
    total = 0
    for _ in range(MAX_REJECTION_ROUNDS):
        if total >= count:
            break
        points = propose(max(2 * (count - total), MIN_PROPOSED_POINTS))
        accepted.append(points[accept(points)])
        total += len(accepted[-1])
    if total < count:
        raise InputError(
            f"{region}: only {total} of {count} points were found by rejection; it is (almost) empty there"
        )
    return np.concatenate([*accepted, propose(0)])[:count]
