"""Checks of what is handed to theories and networks: samples and tasks, functions that may fail, seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.checks import reals, whole
from recombine.errors import InputError

#: Part of the targets, relative to the largest, that no coefficients fit: below it, rounding may be to blame.
UNREACHABLE_SHARE = 1e-9


def wholes(numbers: Any, name: str, at_least: int = 1) -> list[int]:
    """Return a sequence of integers, each of at least ``at_least``."""
    try:
        listed = list(numbers)
    except TypeError:
        raise InputError(f"{name} is {numbers!r}; give a sequence of whole numbers") from None
    return [whole(number, f"{name}[{index}]", at_least) for index, number in enumerate(listed)]


def of_kind(value: Any, name: str, kind: type) -> None:
    """Raise unless ``value`` is of a kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOaeio" else "a"
        raise InputError(f"{name} is {value!r}; give {article} {kind.__name__}")


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
        shapes = "".join(f" {tuple(array.shape)}" for array in inputs if hasattr(array, "shape"))
        raise InputError(
            f"{name} raised {type(error).__name__}: {error}; try it alone on arrays of such shapes{shapes}"
        ) from error


def callable_or_refuse(function: Any, name: str) -> None:
    """Raise unless ``function`` can be called."""
    if not callable(function):
        raise InputError(f"{name} is {function!r}, which cannot be called; give a function")
