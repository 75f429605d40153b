"""Null vectors and leverages of any model: the code for scales is loaded where a factor has one."""

from __future__ import annotations

from typing import Literal

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.cells.scaled import ScaledConjunctions
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.nullspace import NullVectors, null_vectors


def leverage_for(
    features: Conjunctions, seen: IntArray, weights: FloatArray | None = None, rank: int | None = None
) -> Leverage:
    """Return the leverages of a model, by the way that fits it; see `Leverage`.

    Examples
    --------
    >>> import numpy as np
    >>> leverage_for(Conjunctions((2, 2)), np.array([[0, 0], [0, 1], [1, 0]])).of(np.array([[1, 1]])).round(6).tolist()
    [3.0]
    """
    if not isinstance(features, ScaledConjunctions):
        return Leverage(features, seen, weights, rank)
    from recombine.theory.identification.scaled.leverage import ScaledLeverage

    return ScaledLeverage(features, seen, weights, rank)


def null_vectors_for(
    features: Conjunctions,
    seen: IntArray,
    count: int | Literal["all"] | None = None,
    *,
    route: str | None = None,
    seed: int = 0,
) -> NullVectors:
    """Return random null vectors of the seen cells, by the way that fits the model; see `null_vectors`.

    Examples
    --------
    >>> import numpy as np
    >>> null_vectors_for(Conjunctions((2, 2)), np.array([[0, 0], [0, 1], [1, 0]])).rank
    3
    """
    if not isinstance(features, ScaledConjunctions):
        return null_vectors(features, seen, count, route=route, seed=seed)
    from recombine.theory.identification.scaled.nullspace import scaled_null_vectors

    return scaled_null_vectors(features, seen, count, route=route, seed=seed)
