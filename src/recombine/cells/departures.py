"""Rows of a model as departures from the commonest column of each block: sparse where most factors sit at one level.

A protein with two mutations is at the wild type in all but two of its positions. What takes a step for each factor of
every cell (sums of effects, counts of pairs of levels, quadratic forms) takes one for each departure instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import sparse_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Rows with an entry for so many columns or fewer are multiplied as dense ones, so many at once: 200 factors of four
#: levels take a second in place of ten.
COLUMNS_PER_ENTRY_OF_DENSE_ROWS, ROWS_AT_ONCE = 8, 4_096
#: Rows are sparse if there are at least so many blocks, and if they depart in at most this share of them on average.
MIN_SPARSE_BLOCKS, MAX_DEPARTING_SHARE = 12, 0.25


@dataclass(frozen=True, eq=False)
class Departures:
    """Rows with one unit entry per block, as departures from a home column of each; make them with `departures`."""

    home: IntArray  #: (S,): the commonest column of each block.
    home_of: IntArray  #: (K,): for each column, the home of its block.
    pointers: IntArray  #: (N + 1,): departures of row i are numbers ``pointers[i]`` up to ``pointers[i + 1]``.
    columns: IntArray  #: (D,): the columns departed to.

    def __len__(self) -> int:
        return len(self.pointers) - 1

    @property
    def sparse(self) -> bool:
        """Whether rows depart so rarely that it pays to go by departures."""
        share = len(self.columns) / max(len(self) * len(self.home), 1)
        return len(self.home) >= MIN_SPARSE_BLOCKS and share <= MAX_DEPARTING_SHARE

    @cached_property
    def incidence(self) -> csr_array:
        """The departures as a 0/1 matrix of shape (N, K)."""
        from scipy.sparse import csr_array

        shape = (len(self), len(self.home_of))
        return csr_array((np.ones(len(self.columns)), self.columns, self.pointers), shape=shape)

    def sums(self, table: FloatArray) -> FloatArray:
        """Return the sum of ``table`` (K,) over each row's columns, shape (N,)."""
        return np.asarray(table[self.home].sum() + self.incidence @ (table - table[self.home_of]))

    def gathered(self, values: FloatArray) -> FloatArray:
        """Return the sum of ``values`` (N,) over the rows that hold each column, shape (K,)."""
        sums = np.asarray(self.incidence.T @ values)
        sums[self.home] = values.sum() - np.bincount(self.home_of, sums, len(sums))[self.home]
        return sums

    def pair_counts(self, weights: FloatArray | None = None) -> FloatArray:
        """Return how many rows (or what weight of them) hold each pair of columns, shape (K, K).

        Pairs of departures are counted; what they leave falls to the home columns, so whole weights give exact counts.
        """
        from scipy.sparse import csr_array, diags_array

        incidence = self.incidence
        amounts = np.ones(len(self)) if weights is None else weights
        counts = csr_array(incidence.T @ csr_array(diags_array(amounts) @ incidence)).toarray()
        single = self.gathered(amounts)
        inside = self._blocks  # (K, S)
        counts[:, self.home] = single[:, None] - counts @ inside
        counts[self.home] = 0.0
        counts[self.home] = single - inside.T @ counts
        counts[self.home_of[:, None] == self.home_of] = 0.0  # no row holds two columns of a block
        np.fill_diagonal(counts, single)
        return np.asarray(counts)

    @cached_property
    def _blocks(self) -> FloatArray:
        """Which columns belong to which block, shape (K, S)."""
        block = np.zeros(len(self.home_of), dtype=np.int64)
        block[self.home] = np.arange(len(self.home))
        inside = np.zeros((len(self.home_of), len(self.home)))
        inside[np.arange(len(self.home_of)), block[self.home_of]] = 1.0
        return inside

    def quadratic(self, matrix: FloatArray) -> FloatArray:
        """Return x M x' for each row x and a symmetric ``matrix`` (K, K), shape (N,)."""
        beside = matrix[:, self.home].sum(axis=1)
        moved = matrix - matrix[:, self.home_of]
        moved = moved - moved[self.home_of]
        total = np.full(len(self), float(beside[self.home].sum()))
        step = 2 * (beside - beside[self.home_of])
        count = np.diff(self.pointers)
        for number in np.unique(count).tolist():
            rows = np.flatnonzero(count == number)
            mine = self.columns[self.pointers[rows][:, None] + np.arange(number)]
            total[rows] += step[mine].sum(axis=1)
            for i in range(number):
                total[rows] += moved[mine[:, i], mine[:, i]]
                for j in range(i):
                    total[rows] += 2 * moved[mine[:, i], mine[:, j]]
        return total


def departures(blocks: Iterable[IntArray], columns: int, home: IntArray | None = None) -> Departures:
    """Return rows given block by block, the columns (N,) that they hold of each, as departures from the commonest ones.

    There are S blocks and K ``columns``; ``home`` (S,) are columns to depart from instead.

    Examples
    --------
    >>> found = departures(np.array([[0, 4], [0, 3], [1, 4]]).T, 5)
    >>> found.home.tolist(), found.columns.tolist(), found.pointers.tolist(), found.home_of.tolist()
    ([0, 4], [3, 1], [0, 0, 1, 2], [0, 0, 2, 4, 4])
    """
    homes, rows, departed, length = [], [], [], 0
    home_of = np.arange(columns)
    for index, block in enumerate(blocks):
        counts = np.bincount(block, minlength=1)
        homes.append(int(counts.argmax()) if home is None else int(home[index]))
        home_of[np.flatnonzero(counts)] = homes[-1]
        away = np.flatnonzero(block != homes[-1])
        rows.append(away)
        departed.append(block[away])
        length = len(block)
    row_ids = np.concatenate(rows)
    order = np.argsort(row_ids, kind="stable")
    pointers = np.concatenate([[0], np.cumsum(np.bincount(row_ids, minlength=length))])
    return Departures(
        np.array(homes), home_of, pointers.astype(np.int64), np.concatenate(departed)[order].astype(np.int64)
    )


def normal_matrix(ids: IntArray, weights: FloatArray, columns: int) -> FloatArray:
    """Return Phi' W Phi for rows ``ids`` (N, S) of unit entries, (K, K)."""
    if columns**2 > len(ids):
        rows = sparse_rows(ids, columns)
        if columns <= COLUMNS_PER_ENTRY_OF_DENSE_ROWS * ids.shape[1]:
            gram = np.zeros((columns, columns))
            for start in range(0, len(ids), ROWS_AT_ONCE):
                dense = rows[start : start + ROWS_AT_ONCE].toarray()
                gram += dense.T @ (weights[start : start + ROWS_AT_ONCE, None] * dense)
            return gram
        weighted = sparse_rows(ids, columns, np.repeat(weights, ids.shape[1]))
        return np.asarray((rows.T @ weighted).toarray())
    total = np.zeros(columns**2)
    for i in range(ids.shape[1]):
        for j in range(ids.shape[1]):
            total += np.bincount(ids[:, i] * columns + ids[:, j], weights, columns**2)
    return total.reshape(columns, columns)


def quadratic_form(matrix: FloatArray, ids: IntArray) -> FloatArray:
    """Return x M x' for rows x of unit entries in columns ``ids`` (N, S) and a symmetric ``matrix`` (K, K), (N,).

    Examples
    --------
    >>> quadratic_form(np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([[0, 1], [1, 1]])).tolist()
    [10.0, 20.0]
    """
    if ids.shape[1] >= MIN_SPARSE_BLOCKS and len(matrix) <= COLUMNS_PER_ENTRY_OF_DENSE_ROWS * ids.shape[1]:
        rows, forms = sparse_rows(ids, len(matrix)), []
        for start in range(0, len(ids), ROWS_AT_ONCE):
            dense = rows[start : start + ROWS_AT_ONCE].toarray()
            forms.append(np.einsum("nk,nk->n", dense @ matrix, dense))
        return np.concatenate(forms) if forms else np.zeros(0)
    total = np.zeros(len(ids))
    for i in range(ids.shape[1]):
        total += matrix[ids[:, i], ids[:, i]]
        for j in range(i):
            total += 2 * matrix[ids[:, i], ids[:, j]]
    return total
