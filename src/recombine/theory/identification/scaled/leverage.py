"""Leverage and least squares where rows have weights: one inverse over all columns that the seen cells have."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError, SolverError
from recombine.theory.identification.leverage import Leverage

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class ScaledLeverage(Leverage):
    """Leverages of cells under a model with scales; see `Leverage`.

    Examples
    --------
    >>> from recombine.cells.scaled import ScaledConjunctions
    >>> from recombine.cells.scales import place_levels
    >>> dose = place_levels("ordered", [0, 10, 20], [True, False, True])
    >>> model = ScaledConjunctions((2, 3), scales=(None, dose))
    >>> ScaledLeverage(model, np.array([[0, 0], [0, 2], [1, 0]])).of(np.array([[0, 1], [1, 1]])).round(6).tolist()
    [0.5, 1.5]
    """

    @cached_property
    def _rows(self) -> csr_array:
        """Rows of the seen cells, (N, K)."""
        return self.features.incidence(self._seen)[:, self.columns]

    # Weighted rows neither depart from one level nor hold one column of a block.
    _sparse = None
    _block = None

    def of(self, cells: IntArray) -> FloatArray:
        """Return the leverage of determined ``cells`` (N, C), shape (N,); meaningless for any other cell."""
        incidence = self.features.incidence(cells)
        rows = incidence[:, self.columns]
        if rows.nnz < incidence.nnz:
            raise InputError("a cell has a conjunction that was never seen, so it is not determined; leave it out")
        if not self.solved_singly:
            return _quadratic_form(rows, self._inverse)
        self._refuse_many(cells)
        return np.array([self._one(rows[[index]].toarray()[0]) for index in range(len(cells))])

    @cached_property
    def of_seen(self) -> FloatArray:
        """Leverage of the seen cells themselves, shape (N,); only where they need no solve each."""
        if self.solved_singly:
            raise SolverError("there are too many conjunctions to work out the leverage of every seen cell")
        return _quadratic_form(self._rows, self._inverse)

    @property
    def cost(self) -> float:
        """Roughly how many operations leverages of all seen cells take."""
        return float(len(self.columns)) ** 3 + 10.0 * self._rows.nnz * self._rows.nnz / max(len(self._seen), 1)

    def _gathered(self, values: FloatArray) -> FloatArray:
        return np.asarray(self._rows.T @ (self._weights * values))

    def _sums(self, table: FloatArray) -> FloatArray:
        return np.asarray(self._rows @ table)

    def _carried(self, noise: FloatArray) -> FloatArray:
        from scipy.sparse import diags_array

        spread = (self._design.T @ diags_array(noise) @ self._design).toarray()
        return _quadratic_form(self._rows, self._inverse @ spread @ self._inverse)

    @cached_property
    def _design(self) -> csr_array:
        from scipy.sparse import csr_array, diags_array

        return csr_array(diags_array(np.sqrt(self._weights)) @ self._rows)

    @cached_property
    def _normal(self) -> FloatArray:
        return np.asarray((self._design.T @ self._design).toarray())


def _quadratic_form(rows: csr_array, matrix: FloatArray) -> FloatArray:
    """Return x' M x of each row of (N, K), shape (N,)."""
    return np.asarray(rows.multiply(rows @ matrix).sum(axis=1)).reshape(-1)
