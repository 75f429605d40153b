"""Checks of what a caller hands in: numbers, words, arrays, samples, and functions that may fail."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, as_numbers
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Part of the targets, relative to the largest, that no coefficients fit: below it, rounding may be to blame.
UNREACHABLE_SHARE = 1e-9


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


def wholes(numbers: Any, name: str, at_least: int = 1) -> list[int]:
    """Return a sequence of integers, each of at least ``at_least``."""
    try:
        listed = list(numbers)
    except TypeError:
        raise InputError(f"{name} is {numbers!r}; give a sequence of whole numbers") from None
    return [whole(number, f"{name}[{index}]", at_least) for index, number in enumerate(listed)]


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


def of_kind(value: Any, name: str, kind: type) -> None:
    """Raise unless ``value`` is of a kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOaeio" else "a"
        raise InputError(f"{name} is {value!r}; give {article} {kind.__name__}")


def known_or_refuse(word: Any, name: str, choices: Sequence[str]) -> None:
    """Raise unless ``word`` is one of ``choices``."""
    if not isinstance(word, str) or word not in choices:
        title = f"{name[:1].upper()}{name[1:]}s"
        raise InputError(f"{name} {word!r} is unknown;{near_miss(word, choices, f'{title}: {listing(choices)}')}")


def reals(values: Any, name: str) -> FloatArray:
    """Return finite numbers as an array of float64, or say which is not finite."""
    array: FloatArray = np.asarray(as_numbers(values, name), dtype=float)
    if not np.isfinite(array).all():
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        location = f": {list(index)} is {array[index]}" if index else ""
        raise InputError(f"{name} are not all finite{location}; replace or leave out what is missing")
    return array


def moderate(values: Any, name: str, limit: float = 1e30) -> FloatArray:
    """Return finite numbers whose largest is zero or from 1 / ``limit`` to ``limit``, so that it has powers."""
    array = reals(values, name)
    largest = float(np.abs(array).max(initial=0.0))
    if largest and not 1 / limit <= largest <= limit:
        raise InputError(
            f"{name} reach {largest:.3g}, so that powers of them overflow or vanish; rescale them: the largest may be "
            f"from {1 / limit:g} to {limit:g}"
        )
    return array


def broadcast(**values: npt.ArrayLike) -> tuple[FloatArray, ...]:
    """Return finite numbers of one shape, each array repeated where another is longer."""
    arrays = {name: reals(value, name) for name, value in values.items()}
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"{shapes} do not fit each other; give arrays of one shape, or numbers") from None


def samples(
    inputs: npt.ArrayLike, targets: npt.ArrayLike, width: int | None = None, of: str = ""
) -> tuple[FloatArray, FloatArray]:
    """Return inputs (n, width) and targets (n,), finite and at least one, or say what is wrong with them."""
    X, y = reals(inputs, f"inputs{of}"), reals(targets, f"targets{of}")
    if X.ndim != 2 or not len(X) or y.shape != (len(X),) or (width is not None and X.shape[1] != width):
        columns = "D" if width is None else width
        raise InputError(
            f"inputs{of} have shape {X.shape} and targets {y.shape}; give (n, {columns}) and (n,), n at least 1"
        )
    return X, y


def task_samples(
    tasks: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], width: int | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the samples of several tasks with the same inputs, or say which task does not fit."""
    pairs: list[tuple[FloatArray, FloatArray]] = []
    for task, (inputs, targets) in enumerate(tasks):
        pairs.append(samples(inputs, targets, width, f" of task {task}"))
        width = pairs[0][0].shape[1]
    if not pairs:
        raise InputError("no task was given; give inputs (n, D) and targets (n,) of at least one")
    return pairs


def reachable(inputs: FloatArray, targets: FloatArray, moving: BoolArray | None = None, of: str = "") -> None:
    """Raise if no coefficients fit targets (n,): a part of them is no combination of columns of inputs (n, D).

    ``moving`` (D,) are the coefficients that training can change, where some start from weights that are zero.
    """
    which = "" if moving is None else " whose weights are not zero"
    columns = inputs if moving is None else inputs[:, moving]
    if not columns.shape[1]:
        raise InputError("all weights are zero at the start, where gradient flow stays for ever; give some a size")
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    basis = basis[:, sizes > sizes[0] * max(inputs.shape) * np.finfo(float).eps]
    missed = float(np.abs(targets - basis @ (basis.T @ targets)).max()) / float(np.abs(targets).max() or 1.0)
    if missed > UNREACHABLE_SHARE:
        raise InputError(
            f"the targets{of} cannot be reached: no coefficients of the {columns.shape[1]} inputs{which} "
            f"come closer than about {missed:.1e} of the largest; drop samples that contradict each other or add inputs"
        )


def generator(seed: Any) -> np.random.Generator:
    """Return the generator of a seed, or say what is wrong with it."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed is {seed!r}; give a whole number from 0 up, or a numpy Generator") from None


def call(function: Callable[..., Any], name: str, *inputs: Any) -> Any:
    """Call a function of the caller's and say whose it was where it fails."""
    try:
        return function(*inputs)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{name} raised {type(error).__name__}: {error}; try it alone on arrays of such shapes"
        ) from error


def callable_or_refuse(function: Any, name: str) -> None:
    """Raise unless ``function`` can be called."""
    if not callable(function):
        raise InputError(f"{name} is {function!r}, which cannot be called; give a function")
