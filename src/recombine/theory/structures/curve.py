"""Increasing curves: straight beyond their knots, with a slope that is linear between them.

A curve is its value at the first knot and its slope at every knot. It is increasing exactly if no slope is negative,
and its roughness, the integral of the squared second derivative, is a sum of squared differences of neighbouring
slopes. Smoothed without limit it is a straight line, so that a link shrinks to plain addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Slopes stay above this share of their mean, so that the curve can be read backwards.
MIN_SLOPE_SHARE = 1e-4


@dataclass(frozen=True, eq=False)
class Curve:
    """An increasing curve: its increasing ``knots`` (K,), value at the first, and ``slopes`` (K,), none negative.

    Examples
    --------
    >>> bend = Curve(np.array([0.0, 1.0]), 0.0, np.array([0.0, 2.0]))
    >>> bend(np.array([-1.0, 0.5, 1.0, 2.0]))
    array([0.  , 0.25, 1.  , 3.  ])
    """

    knots: FloatArray
    start: float
    slopes: FloatArray

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Return the curve's height at ``x``."""
        points = np.asarray(x, dtype=float)
        bent = np.concatenate([[self.start], self.slopes])
        return pieces_of(self.knots, points.ravel()).heights(bent).reshape(points.shape)


def rises(knots: FloatArray) -> FloatArray:
    """Return the matrix (K, K) that takes slopes to heights above the first knot."""
    halves = np.diff(knots) / 2
    each = np.diag(np.append(0.0, halves)) + np.diag(halves, -1)
    return np.cumsum(each, axis=0)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Points (N,) on a curve's pieces: height there is that of the left knot, and a share of the two slopes."""

    knots: FloatArray
    #: (N,): interval between knots in which each point lies, and ``share``, how far into it, from 0 to 1.
    piece: IntArray
    #: (N,): how much of the slopes at the piece's ends the height holds.
    start: FloatArray
    stop: FloatArray
    share: FloatArray

    @cached_property
    def turn(self) -> FloatArray:
        """The matrix (2 K, K + 1) of `from_slopes`."""
        return from_slopes(self.knots)

    @cached_property
    def rough(self) -> FloatArray:
        """The matrix (K + 1, K + 1) of `roughness`."""
        return roughness(self.knots)

    def heights(self, bent: FloatArray) -> FloatArray:
        """Return the heights (N,) of the curve with first height and slopes ``bent`` (K + 1,)."""
        slopes = bent[1:]
        knots = bent[0] + self.turn[: len(slopes), 1:] @ slopes
        return np.asarray(knots[self.piece] + self.start * slopes[self.piece] + self.stop * slopes[self.piece + 1])

    def steepness(self, bent: FloatArray) -> FloatArray:
        """Return the slopes (N,) of the same curve."""
        slopes = bent[1:]
        return np.asarray(slopes[self.piece] + self.share * (slopes[self.piece + 1] - slopes[self.piece]))

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return the weighted normal matrix (K + 1, K + 1) of first height and slopes."""
        count, pieces = len(self.knots), len(self.knots) - 1
        local = np.zeros((2 * count, 2 * count))
        columns = (np.arange(pieces), count + np.arange(pieces), count + np.arange(pieces) + 1)
        entries = (np.ones(len(self.start)), self.start, self.stop)
        for row, entry in enumerate(entries):
            for column, factor in enumerate(entries[: row + 1]):
                sums = np.bincount(self.piece, weights * entry * factor, minlength=pieces)
                local[columns[row], columns[column]] += sums
                if row != column:
                    local[columns[column], columns[row]] += sums
        return np.asarray(self.turn.T @ local @ self.turn)

    def dot(self, values: FloatArray) -> FloatArray:
        """Return the products (K + 1,) of first height and slopes with ``values`` (N,)."""
        count, pieces = len(self.knots), len(self.knots) - 1
        local = np.zeros(2 * count)
        local[:pieces] = np.bincount(self.piece, values, minlength=pieces)
        local[count:-1] = np.bincount(self.piece, values * self.start, minlength=pieces)
        local[count + 1 :] += np.bincount(self.piece, values * self.stop, minlength=pieces)
        return np.asarray(self.turn.T @ local)

    def rows(self, weights: FloatArray) -> csr_array:
        """Return the weighted sparse matrix (N, 2 K) that takes heights and slopes at the knots to the points."""
        from scipy.sparse import csr_array

        count, cells = len(self.knots), len(self.piece)
        entries = np.stack([weights, weights * self.start, weights * self.stop], axis=1).ravel()
        columns = np.stack([self.piece, count + self.piece, count + self.piece + 1], axis=1).ravel()
        return csr_array((entries, columns, np.arange(0, 3 * cells + 1, 3)), shape=(cells, 2 * count))


def pieces_of(knots: FloatArray, x: FloatArray) -> Pieces:
    """Return where the points ``x`` (N,) lie on a curve with the given knots."""
    inside = np.clip(x, knots[0], knots[-1])
    piece = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    step = np.diff(knots)[piece]
    share = (inside - knots[piece]) / step
    beyond = x - inside  # there the curve is straight
    half = share**2 / 2
    start, stop = step * (share - half) + np.minimum(beyond, 0.0), step * half + np.maximum(beyond, 0.0)
    return Pieces(knots, piece, start, stop, share)


def from_slopes(knots: FloatArray) -> FloatArray:
    """Return the matrix (2 K, K + 1) from the first height and the slopes to heights and slopes at the knots."""
    turn, count = np.eye(2 * len(knots), len(knots) + 1, 1 - len(knots)), len(knots)
    turn[:count, 0], turn[:count, 1:] = 1.0, rises(knots)
    return turn


def roughness(knots: FloatArray) -> FloatArray:
    """Return the matrix (K + 1, K + 1) of the integral of the squared second derivative, in height and slopes."""
    apart = np.diff(np.eye(len(knots), len(knots) + 1, 1), axis=0) / np.sqrt(np.diff(knots))[:, None]
    return np.asarray(apart.T @ apart)


def increasing(gram: FloatArray, right: FloatArray) -> FloatArray:
    """Return the height and slopes (K + 1,), no slope negative, that minimize c' gram c - 2 right' c."""
    from scipy.linalg import cholesky, solve_triangular

    # The first height is free: eliminated, it leaves slopes alone.
    head, cross = gram[0, 0], gram[0, 1:]
    inner = gram[1:, 1:] - np.outer(cross, cross) / head
    aim = right[1:] - cross * right[0] / head
    size = max(float(inner.diagonal().max()), 1e-300)
    upper = cholesky(inner + 1e-11 * size * np.eye(len(inner)))
    free = solve_triangular(upper, solve_triangular(upper, aim, trans="T"))
    slopes = free
    if free.min() < 0:
        from scipy.optimize import nnls  # a quarter of a second, which curves that rise by themselves do not need

        slopes, _ = nnls(upper, solve_triangular(upper, aim, trans="T"), maxiter=50 * len(inner))
    slopes = np.maximum(slopes, MIN_SLOPE_SHARE * max(float(slopes.mean()), 0.0))
    return np.concatenate([[(right[0] - cross @ slopes) / head], slopes])
