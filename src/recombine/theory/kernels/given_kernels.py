"""Kernels on overlaps that are given as numbers: values, saliences, or a value for each set of factors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.conjunctions import Subset
from recombine.errors import InputError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.writing import listing


def kernel_of_values(kappa: npt.ArrayLike) -> OverlapKernel:
    """Return the kernel with values ``kappa`` (C+1,), by the number of agreeing factors.

    Examples
    --------
    >>> kernel_of_values([0.0, 0.4, 1.0]).salience.round(6).tolist()
    [0.4, 0.2]
    """
    values = _vector(kappa, "kappa")
    return OverlapKernel(len(values) - 1, tuple(values.tolist()))


def kernel_of_salience(salience: npt.ArrayLike, constant: float = 0.0, factors: int | None = None) -> OverlapKernel:
    """Return the kernel with salience S(1..C) and weight ``constant`` (S0) on the constant conjunction.

    With ``factors`` one larger than the length of ``salience``, S(C;C) is what is missing to the sum rule
    sum_k binom(C,k) S(k;C) = 1. Any scale is accepted; `OverlapKernel.salience` reports the normalised one.

    Examples
    --------
    >>> kernel_of_salience([0.3, 0.4]).values.round(6).tolist()
    [0.0, 0.3, 1.0]
    >>> kernel_of_salience([0.2], factors=2).salience.round(6).tolist()
    [0.2, 0.6]
    """
    saliences = _vector(salience, "salience")
    count = len(saliences) if factors is None else factors
    if count == len(saliences) + 1:
        spent = sum(math.comb(count, order) * value for order, value in enumerate(saliences, start=1))
        saliences = np.append(saliences, 1.0 - spent)
    if count != len(saliences):
        raise InputError(f"{len(saliences)} saliences do not fit {count} factors; give {count}, or {count - 1}")
    weights = np.concatenate([[constant], saliences])
    orders = np.arange(count + 1)
    pascal = np.array([[math.comb(o, k) for k in orders] for o in orders], dtype=float)
    return kernel_of_values(pascal @ weights)


def kernel_of_sets(kappa: Mapping[Subset, float]) -> OverlapKernel:
    """Return the kernel with one value per set of agreeing factors, all 2**C of them.

    Examples
    --------
    >>> kernel = kernel_of_sets({(): 0.0, (0,): 0.5, (1,): 0.2, (0, 1): 1.0})
    >>> {subset: round(weight, 6) for subset, weight in kernel.weights.items()}
    {(): 0.0, (0,): 0.5, (1,): 0.2, (0, 1): 0.3}
    """
    named = {tuple(sorted(subset)): float(value) for subset, value in kappa.items()}
    factors = max(len(named) - 1, 1).bit_length()
    corners = itertools.product((0, 1), repeat=factors)
    subsets = [tuple(factor for factor, inside in enumerate(corner) if inside) for corner in corners]
    missing = sorted((subset for subset in subsets if subset not in named), key=lambda subset: (len(subset), subset))
    if missing or len(named) != 2**factors:
        raise InputError(f"kernel values by set must name every subset of the factors; missing: {listing(missing)}")
    return OverlapKernel(factors, tuple(named[subset] for subset in subsets))


def _vector(values: npt.ArrayLike, name: str) -> FloatArray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or len(array) == 0:
        raise InputError(f"{name} has shape {array.shape}; give a list of numbers, one per order")
    return array
