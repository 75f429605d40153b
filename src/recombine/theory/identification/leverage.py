"""Leverage: how noisy the value of a determined cell is, in units of the noise of one seen cell.

The least-squares value of a cell with row phi has variance phi (Phi' W Phi)^+ phi', the squared length of the shortest
certificate's weights. A seen cell has at most 1, a cell that closes one cube at order k has 2**(k+1) - 1 or less.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.errors import InputError, SolverError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to this many seen columns one dense inverse serves all cells.
DENSE_COLUMNS = 4000

#: Cells solved one by one at most in a call beyond that.
SINGLE_CELLS = 2000

#: Pivots of the scaled normal matrix below this, relative to the first, count as zero when the rank is not known.
SMALLEST_PIVOT = 1e-11


class Leverage:
    """Leverages of cells under the additive model fitted to the seen ones by least squares.

    Parameters
    ----------
    features : Conjunctions
        The additive model.
    seen : IntArray, (N, C)
        Distinct seen cells.
    weights : FloatArray, (N,), optional
        Precision of each seen cell, such as its number of rows; 1 by default.
    rank : int, optional
        Rank of the seen cells where it is known.

    Examples
    --------
    >>> seen = np.array([[0, 0], [0, 1], [1, 0]])
    >>> Leverage(Conjunctions((2, 2)), seen).of(np.array([[1, 1], [0, 0]])).round(6).tolist()
    [3.0, 1.0]
    """

    def __init__(
        self, features: Conjunctions, seen: IntArray, weights: FloatArray | None = None, rank: int | None = None
    ) -> None:
        self.features = features
        self.rank = rank
        self.columns, ids = np.unique(features.ids(seen), return_inverse=True)
        self._ids = ids.reshape(len(seen), -1)
        self._weights = np.ones(len(seen)) if weights is None else np.asarray(weights, dtype=float)
        if self._weights.shape != (len(seen),) or not np.all(self._weights > 0):
            raise InputError(f"weights must be {len(seen)} positive numbers, one for each seen cell")

    def of(self, cells: IntArray) -> FloatArray:
        """Return the leverage of determined ``cells`` (N, C), shape (N,); meaningless for any other cell."""
        ids = self.features.ids(cells)
        places = np.minimum(np.searchsorted(self.columns, ids), len(self.columns) - 1)
        if np.any(self.columns[places] != ids):
            raise InputError("a cell has a conjunction that was never seen, so it is not determined; leave it out")
        if len(self.columns) <= DENSE_COLUMNS:
            return self._quadratic(places)
        if len(cells) > SINGLE_CELLS:
            raise InputError(
                f"leverage of {len(cells)} cells over {len(self.columns)} conjunctions is solved cell by cell; "
                f"ask for at most {SINGLE_CELLS} at a time"
            )
        return np.array([self._one(row) for row in places])

    def _quadratic(self, places: IntArray) -> FloatArray:
        total = np.zeros(len(places))
        for left in range(places.shape[1]):
            for right in range(places.shape[1]):
                total += self._inverse[places[:, left], places[:, right]]
        return total

    @cached_property
    def _design(self) -> csr_array:
        """Seen rows times the square root of their weights, (N, K)."""
        from scipy.sparse import csr_array

        pointers = np.arange(0, self._ids.size + 1, self._ids.shape[1])
        data = np.repeat(np.sqrt(self._weights), self._ids.shape[1])
        return csr_array((data, self._ids.reshape(-1), pointers), shape=(len(self._ids), len(self.columns)))

    @cached_property
    def _inverse(self) -> FloatArray:
        """Inverse of the normal matrix on a maximal set of independent columns, zero elsewhere, (K, K).

        Constraints on the other columns follow for every determined cell, so they may be dropped.
        """
        from scipy.linalg.lapack import dpotri, dpstrf
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            normal = (self._design.T @ self._design).toarray()
            scale = 1 / np.sqrt(np.diag(normal))
            factor, pivots, found, _ = dpstrf(normal * scale[:, None] * scale, tol=SMALLEST_PIVOT)
            rank = int(found) if self.rank is None else self.rank
            if rank > found:
                raise SolverError(
                    f"the seen cells have rank {rank} but floating point sees {found}; leverage would be unreliable"
                )
            upper, info = dpotri(np.asfortranarray(factor[:rank, :rank]))
        if info:
            raise SolverError("the normal matrix could not be inverted; lower the order or merge levels")
        kept = pivots[:rank] - 1
        inverse = np.zeros_like(normal)
        inverse[np.ix_(kept, kept)] = np.triu(upper) + np.triu(upper, 1).T
        return np.asarray(inverse * scale[:, None] * scale)

    def _one(self, places: IntArray) -> float:
        """Squared length of the shortest weights that give one cell."""
        from scipy.sparse.linalg import lsmr
        from threadpoolctl import threadpool_limits

        wanted = np.bincount(places, minlength=len(self.columns)).astype(float)
        with threadpool_limits(1):
            solved = lsmr(self._design.T, wanted, atol=1e-12, btol=1e-12, conlim=0, maxiter=20_000)
        if np.abs(self._design.T @ solved[0] - wanted).max() > 1e-6:
            raise SolverError("the leverage of a cell did not converge; the cell may not be determined")
        return float(solved[0] @ solved[0])
