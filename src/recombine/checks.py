"""Checks of what a caller hands in: numbers, words and arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.errors import InputError, near_miss


def whole(number: Any, name: str, at_least: int = 1, at_most: int | None = None) -> int:
    """Return an integer of at least ``at_least`` and at most ``at_most``, or say what is wrong with it."""
    try:
        value = None if isinstance(number, bool | np.bool_) else operator.index(number)
    except TypeError:
        value = None
    if value is None or value < at_least or (at_most is not None and value > at_most):
        span = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise InputError(f"{name} is {number!r}; give a whole number {span}")
    return value


def real(
    number: Any,
    name: str,
    *,
    above: float = -np.inf,
    below: float = np.inf,
    at_least: float = -np.inf,
    at_most: float = np.inf,
    finite: bool = True,
) -> float:
    """Return a number strictly between two others, and not beyond two others, or say what is wrong with it.

    It has to be finite, unless ``finite`` is false.
    """
    is_number = isinstance(number, Real) and not isinstance(number, bool) and not (finite and np.isinf(float(number)))
    inside = is_number and above < float(number) and (float(number) < below or np.isinf(below))
    if not inside or not at_least <= float(number) <= at_most:
        limits = _limits(above=above, of_at_least=at_least, below=below, of_at_most=at_most)
        raise InputError(f"{name} is {number!r}; give a {'finite ' if finite else ''}number {limits}".rstrip())
    return float(number)


def check_bounds(
    array: FloatArray, name: str, *, above: float = -np.inf, at_least: float = -np.inf, at_most: float = np.inf
) -> FloatArray:
    """Return numbers as they are if all are above one and not beyond two others, or name the first that is not."""
    wrong = ~((array > above) & (array >= at_least) & (array <= at_most))
    if wrong.any():
        index = np.argwhere(wrong)[0].tolist()
        limits = _limits(above=above, of_at_least=at_least, of_at_most=at_most)
        raise InputError(f"{name}{index or ''} is {array[tuple(index)]:g}; give numbers {limits}")
    return array


def _limits(**bounds: float) -> str:
    """Return finite bounds in words, each after its name."""
    return " and ".join(f"{name.replace('_', ' ')} {bound:g}" for name, bound in bounds.items() if np.isfinite(bound))


def known_or_refuse(word: Any, name: str, choices: Sequence[str]) -> None:
    """Raise unless ``word`` is one of ``choices``."""
    if not isinstance(word, str) or word not in choices:
        title = f"{name[:1].upper()}{name[1:]}s"
        raise InputError(f"{name} {word!r} is unknown;{near_miss(word, choices, f'{title}:')}")


def reals(values: Any, name: str) -> FloatArray:
    """Return finite numbers as an array of float64, or say which is not finite."""
    array: FloatArray = np.asarray(as_numbers(values, name), dtype=float)
    if not np.isfinite(array).all():
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        location = f": {list(index)} is {array[index]}" if index else ""
        raise InputError(f"{name} are not all finite{location}; replace or leave out what is missing")
    return array
