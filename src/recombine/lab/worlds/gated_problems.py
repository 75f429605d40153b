"""Small two-class problems with fixed contexts, on which limits of gated linear networks are known to six digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.errors import InputError, near_miss
from recombine.writing import listing

_X1 = (0.2, 0.4, 0.8, 0.6, -0.3, -0.5, -0.8, -0.6, 0.3, 0.3, 0.9, 0.8, -0.2, -0.1, -0.6, -0.95)
_X2 = (0.3, 0.1, 0.9, 0.9, 0.1, 0.25, 0.75, 0.8, -0.3, -0.25, -0.85, -0.6, -0.2, -0.35, -0.9, -0.65)


@dataclass(frozen=True, eq=False)
class GatedProblem:
    """Inputs (n, d), labels -1 and +1 (n,), and contexts (n, H), each 0 or 1.

    Examples
    --------
    >>> gated_problem("toy").X.shape, gated_problem("G1").ids.shape
    ((16, 3), (10, 3))
    """

    name: str
    X: FloatArray
    y: FloatArray
    ids: IntArray

    __repr__ = brief_repr

    @property
    def gates(self) -> IntArray:
        """Contexts as gates of frozen ReLU units, with a last unit that is always on, shape (n, H + 1)."""
        return np.column_stack([self.ids, np.ones(len(self.ids), dtype=np.int64)])


def gated_problem(name: str) -> GatedProblem:
    """Return a problem by name.

    "toy" are the points of Fig. 1 of Lippl, Abbott & Chung 2022: a diamond around the origin, a constant third input,
    and two units that look at the sign of one coordinate each. "G1" are ten points on curves with three such units, of
    which the limit switches one off.

    Examples
    --------
    >>> gated_problem("tooy")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: no problem is called 'tooy'; did you mean 'toy'? Problems: toy, G1
    """
    makers = {"toy": _toy, "G1": _curves}
    if name not in makers:
        raise InputError(f"no problem is called {name!r};{near_miss(name, makers, f'Problems: {listing(makers)}')}")
    return makers[name]()


def _toy() -> GatedProblem:
    X = np.column_stack([_X1, _X2, np.ones(16)])
    return GatedProblem("toy", X, np.tile([-1.0, -1.0, 1.0, 1.0], 4), (X[:, :2] > 0).astype(np.int64))


def _curves() -> GatedProblem:
    index = np.arange(10)
    X = np.column_stack([np.cos(1.3 * index + 0.5), np.sin(0.7 * index + 0.3), np.cos(0.4 * index + 1)])
    return GatedProblem("G1", X, np.where((index // 2) % 2 == 0, 1.0, -1.0), (X > 0).astype(np.int64))
