"""Checks of what a caller hands in: whole numbers, real numbers, arrays of them, and functions that may fail."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from recombine.arrays import FloatArray, as_numbers
from recombine.errors import InputError


def whole(number: Any, name: str, least: int = 1) -> int:
    """Return an integer of at least ``least``, or say what is wrong with it.

    Examples
    --------
    >>> whole(1.5, "dimensions")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: dimensions is 1.5; give a whole number, at least 1
    """
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise InputError(f"{name} is {number!r}; give a whole number, at least {least}")
    return int(number)


def real(number: Any, name: str, *, above: float = -np.inf, below: float = np.inf) -> float:
    """Return a finite number strictly between two others, or say what is wrong with it.

    Examples
    --------
    >>> real("wide", "width", above=0)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: width is 'wide'; give a finite number above 0
    """
    if isinstance(number, bool) or not isinstance(number, Real) or not above < float(number) < below:
        low = f" above {above:g}" if above > -np.inf else ""
        high = f" below {below:g}" if below < np.inf else ""
        raise InputError(f"{name} is {number!r}; give a finite number{low}{' and' if low and high else ''}{high}")
    return float(number)


def reals(values: Any, name: str) -> FloatArray:
    """Return finite numbers as an array of float64, or say which is not finite.

    Examples
    --------
    >>> reals([[1.0, float("nan")]], "weights")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: weights are not all finite: [0, 1] is nan; replace or leave out what is missing
    """
    array: FloatArray = np.asarray(as_numbers(values, name), dtype=float)
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        where = f": {list(place)} is {array[place]}" if place else ""
        raise InputError(f"{name} are not all finite{where}; replace or leave out what is missing")
    return array


def generator(seed: Any) -> np.random.Generator:
    """Return the generator of a seed, or say what is wrong with it.

    Examples
    --------
    >>> generator("today")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: seed is 'today'; give a whole number from 0 up, or a numpy Generator
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed is {seed!r}; give a whole number from 0 up, or a numpy Generator") from None


def called(function: Callable[..., Any], name: str, *inputs: Any) -> Any:
    """Call a function of the caller's and say whose it was where it fails.

    Examples
    --------
    >>> called(lambda z: z["x"], "component 1", {})
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: component 1 raised KeyError: 'x'; try it alone on arrays of such shapes
    """
    try:
        return function(*inputs)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{name} raised {type(error).__name__}: {error}; try it alone on arrays of such shapes"
        ) from error


def callable_or_refuse(function: Any, name: str) -> None:
    """Raise unless ``function`` can be called.

    Examples
    --------
    >>> callable_or_refuse(3, "the composition")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: the composition is 3, which cannot be called; give a function
    """
    if not callable(function):
        raise InputError(f"{name} is {function!r}, which cannot be called; give a function")
