"""Leverage: how noisy the value of a determined cell is, in units of the noise of one seen cell.

The least-squares value of a cell with row phi has variance phi (Phi' W Phi)^+ phi', the squared length of the shortest
certificate's weights. A seen cell has at most 1, a cell that closes one cube at order k has 2**(k+1) - 1 or less.

Every cell holds one conjunction of each subset of factors, so the columns of one subset are orthogonal: the largest
such block is eliminated by division, and only what is left of the normal matrix is inverted. A table with one factor of
thousands of levels and others of hundreds costs what the others cost. The same inverse gives the least-squares values
of the columns, and what each seen cell looks like without itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import MAX_TABLED_COLUMNS, Conjunctions
from recombine.cells.departures import MIN_SPARSE_BLOCKS, Departures, departures, normal_matrix, quadratic_form
from recombine.cells.threads import one_thread
from recombine.errors import InputError, SolverError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to this many seen columns (beside the largest block, where that can be eliminated) one inverse serves all cells.
MAX_INVERTED_COLUMNS = 4000
#: Below this many columns in all, elimination gains nothing.
MIN_COLUMNS_TO_ELIMINATE = 300
#: Entries of the eliminated block's table that are held at once.
MAX_BLOCK_ENTRIES = 20_000_000

#: Cells solved one by one at most in a call beyond that.
MAX_CELLS_SOLVED_SINGLY = 2000

#: Entries of the basis of functions that vanish on everything seen, up to which it is worked out.
MAX_NULL_BASIS_ENTRIES = 20_000_000
#: Up to this many columns the seen cells' own noise is carried through the fit exactly.
MAX_COLUMNS_WITH_EXACT_NOISE = 1_500
#: What the columns may still see of the residuals, as a share of the outcome's length.
NORMAL_EQUATION_RESIDUAL = 1e-9

#: Pivots of the scaled normal matrix below this, relative to the first, count as zero when the rank is not known.
MIN_CHOLESKY_PIVOT = 1e-11


class Leverage:
    """Leverages of cells under the additive model fitted to the seen ones by least squares.

    ``seen`` (N, C) are distinct; ``weights`` (N,) the precision of each, such as its number of rows, 1 by default;
    ``rank`` that of the seen cells, where it is known.

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
        self.columns = features.occurring(seen)
        self._seen = seen
        self._weights = np.ones(len(seen)) if weights is None else np.asarray(weights, dtype=float)
        if self._weights.shape != (len(seen),) or not np.all(self._weights > 0):
            raise InputError(f"weights must be {len(seen)} positive numbers, one for each seen cell")

    @cached_property
    def _ids(self) -> IntArray:
        """Columns of the seen cells as places among those seen, (N, S)."""
        return self._places(self.features.ids(self._seen))

    @cached_property
    def _sparse(self) -> Departures | None:
        """The seen cells as departures from their commonest levels, where those are few; None elsewhere."""
        if (
            self.features.symmetric
            or len(self.features.subsets) < MIN_SPARSE_BLOCKS
            or len(self.columns) > MAX_INVERTED_COLUMNS
        ):
            return None
        rows = departures(map(self._places, self.features.ids_by_block(self._seen)), len(self.columns))
        return rows if rows.sparse else None

    def of(self, cells: IntArray) -> FloatArray:
        """Return the leverage of determined ``cells`` (N, C), shape (N,); meaningless for any other cell."""
        ids = self.features.ids(cells)
        columns = self._places(ids)
        if np.any(self.columns[columns] != ids):
            raise InputError("a cell has a conjunction that was never seen, so it is not determined; leave it out")
        if not self.solved_singly:
            return self._of_places(columns)
        self._refuse_many(cells)
        return np.array([self._one(np.bincount(row, minlength=len(self.columns)).astype(float)) for row in columns])

    def _refuse_many(self, cells: IntArray) -> None:
        if len(cells) > MAX_CELLS_SOLVED_SINGLY:
            raise InputError(
                f"leverage of {len(cells)} cells over {len(self.columns)} conjunctions is solved cell by cell; "
                f"ask for at most {MAX_CELLS_SOLVED_SINGLY} at a time"
            )

    @cached_property
    def of_seen(self) -> FloatArray:
        """Leverage of the seen cells themselves, shape (N,); only where they need no solve each."""
        if self.solved_singly:
            raise SolverError("there are too many conjunctions to work out the leverage of every seen cell")
        return self._of_places(self._ids) if self._sparse is None else self._sparse.quadratic(self._inverse)

    def _of_places(self, columns: IntArray) -> FloatArray:
        if self._sparse is not None:
            return departures(columns.T, len(self.columns), self._sparse.home).quadratic(self._inverse)
        return quadratic_form(self._inverse, columns) if self._block is None else self._block.quadratic(columns)

    @cached_property
    def _numbers(self) -> IntArray | None:
        """Place of each of the model's columns among the seen ones, (F,), where that is no too large a table."""
        if self.features.columns > MAX_TABLED_COLUMNS:
            return None
        numbers = np.zeros(self.features.columns, dtype=np.int64)
        numbers[self.columns] = np.arange(len(self.columns))
        return numbers

    def _places(self, ids: IntArray) -> IntArray:
        """Return the places of columns ``ids`` among the seen ones; any place for a column never seen."""
        if self._numbers is not None:
            return np.asarray(self._numbers[ids])
        return np.minimum(np.searchsorted(self.columns, ids), len(self.columns) - 1)

    @property
    def cost(self) -> float:
        """Roughly how many operations leverages of all seen cells take: what to compare with a budget."""
        size = len(self.columns)
        if self._sparse is not None:
            return float(size) ** 3 + 10.0 * len(self._sparse.columns)
        if self._block is not None:
            size -= self._block.size
        # Gathers from a large matrix wait for memory: each counts for ten operations in cache.
        gathers = int(self._ids.size) * int(self._ids.shape[1])
        return float(size * size * size + 10 * gathers)

    @property
    def solved_singly(self) -> bool:
        """Whether each cell takes a solve of its own, because there are too many columns for an inverse."""
        return self._block is None and len(self.columns) > MAX_INVERTED_COLUMNS

    @cached_property
    def _block(self) -> _Block | None:
        """The subset with the most columns, where eliminating it makes the rest small enough; else None."""
        if self._sparse is not None or self.features.symmetric or len(self.columns) <= MIN_COLUMNS_TO_ELIMINATE:
            return None  # all is small, or interchangeable factors: one cell may hold two conjunctions of a subset
        sizes = [len(np.unique(self._ids[:, subset])) for subset in range(self._ids.shape[1])]
        largest = int(np.argmax(sizes))
        if len(self.columns) - sizes[largest] > MAX_INVERTED_COLUMNS:
            return None
        return _Block(self._ids, self._weights, len(self.columns), largest, self.rank)

    def solve(self, values: FloatArray) -> FloatArray:
        """Return the least-squares values of all columns, (N,) outcomes -> (F,): the shortest of the solutions.

        Examples
        --------
        >>> seen = np.array([[0, 0], [0, 1], [1, 0]])
        >>> Leverage(Conjunctions((2, 2)), seen).solve(np.array([1.0, 2.0, 11.0])).round(6).tolist()
        [-1.75, 8.25, 2.75, 3.75]
        """
        if self.solved_singly:
            raise SolverError("there are too many conjunctions to invert their normal matrix")
        solution = np.zeros(len(self.columns))
        for _ in range(2):  # the second round takes off the rounding of the first
            solution += self._applied(self._gathered(values - self._sums(solution)))
        lengths = np.sqrt(self._gathered(np.ones(len(values))))
        misfit = self._gathered(values - self._sums(solution)) / lengths
        if np.linalg.norm(misfit) > NORMAL_EQUATION_RESIDUAL * np.sqrt(np.sum(self._weights * values**2)):
            raise SolverError("the normal matrix is too near to singular for floating point")
        with one_thread():
            solution -= self._null @ np.linalg.solve(self._null.T @ self._null, self._null.T @ solution)
        table = np.zeros(self.features.columns)
        table[self.columns] = solution
        return table

    @property
    def found_rank(self) -> int:
        """Rank of the seen cells: what was given, or what floating point sees."""
        if self.rank is not None:
            return self.rank
        if self._block is None:
            return int(np.count_nonzero(np.diag(self._inverse)))
        return self._block.size + int(np.count_nonzero(np.diag(self._block.inverse)))

    def _gathered(self, values: FloatArray) -> FloatArray:
        """Sum weight times ``values`` (N,) over the cells of each column, (K,)."""
        if self._sparse is not None:
            return self._sparse.gathered(self._weights * values)
        shares = np.repeat(self._weights * values, self._ids.shape[1])
        return np.asarray(np.bincount(self._ids.reshape(-1), shares, len(self.columns)), dtype=np.float64)

    def _sums(self, table: FloatArray) -> FloatArray:
        """Sum column values ``table`` (K,) over each seen cell, (N,)."""
        return table[self._ids].sum(axis=1) if self._sparse is None else self._sparse.sums(table)

    def _applied(self, right: FloatArray) -> FloatArray:
        """Apply a generalised inverse of the normal matrix, (K,) or (K, M) -> the same shape."""
        return np.asarray(self._inverse @ right) if self._block is None else self._block.applied(right)

    @cached_property
    def _null(self) -> FloatArray:
        """Basis of the column values that vanish on every seen cell, (K, K - rank); a part of it is the identity."""
        from scipy.sparse import csr_array

        block = self._block
        inverse = self._inverse if block is None else block.inverse
        dropped = np.flatnonzero(np.diag(inverse) == 0)
        if len(self.columns) * len(dropped) > MAX_NULL_BASIS_ENTRIES:
            raise SolverError("too many functions vanish on everything seen to choose among solutions")
        if self._sparse is not None:
            normal = csr_array(self._normal[:, dropped])
        else:
            columns = (
                self._design if block is None else self._design[:, np.delete(np.arange(len(self.columns)), block.own)]
            )
            normal = columns.T @ columns[:, dropped]
        if block is not None:
            normal = normal - block.explained(dropped)
        basis = -(inverse @ normal.toarray())
        basis[dropped, np.arange(len(dropped))] = 1.0
        return np.asarray(basis) if block is None else block.joined(-(block.shares @ basis), basis)

    def carried_noise(self, noise: FloatArray) -> FloatArray:
        """Return sum_j H_ij^2 v_j for noise variances v (N,) of the weighted seen cells, H the hat matrix, (N,).

        Exact where all variances are the same or the columns are few. Elsewhere each row of H is taken to spread over
        cells of the mean variance.
        """
        hat = self._weights * self.of_seen
        mean = float(np.average(noise, weights=hat))
        if np.allclose(noise, mean, rtol=1e-12, atol=0) or len(self.columns) > MAX_COLUMNS_WITH_EXACT_NOISE:
            return np.asarray(hat * mean)
        return self._weights * self._carried(noise)

    def _carried(self, noise: FloatArray) -> FloatArray:
        if self._sparse is not None:
            matrix = self._sparse.pair_counts(noise * self._weights)
            return self._sparse.quadratic(self._inverse @ matrix @ self._inverse)
        from scipy.sparse import diags_array

        spread = self._design.T @ diags_array(noise) @ self._design
        return quadratic_form(self._applied(self._applied(spread.toarray()).T), self._ids)

    @cached_property
    def _design(self) -> csr_array:
        """Seen rows times the square root of their weights, (N, K)."""
        from scipy.sparse import csr_array

        pointers = np.arange(0, self._ids.size + 1, self._ids.shape[1])
        data = np.repeat(np.sqrt(self._weights), self._ids.shape[1])
        return csr_array((data, self._ids.reshape(-1), pointers), shape=(len(self._ids), len(self.columns)))

    @cached_property
    def _inverse(self) -> FloatArray:
        """Inverse of the whole normal matrix, (K, K)."""
        return _inverse(self._normal, np.diag(self._normal).copy(), self.rank)

    @cached_property
    def _normal(self) -> FloatArray:
        """The whole normal matrix, (K, K)."""
        if self._sparse is not None:
            return self._sparse.pair_counts(self._weights)
        return normal_matrix(self._ids, self._weights, len(self.columns))

    def _one(self, row: FloatArray) -> float:
        """Squared length of the shortest weights that give one cell's row (K,)."""
        from scipy.sparse.linalg import lsmr

        with one_thread():
            solved = lsmr(self._design.T, row, atol=1e-12, btol=1e-12, conlim=0, maxiter=20_000)
        if np.abs(self._design.T @ solved[0] - row).max() > 1e-6:
            raise SolverError("the leverage of a cell did not converge; the cell may not be determined")
        return float(solved[0] @ solved[0])


class _Block:
    """The columns of one subset of factors, the one at ``position``, eliminated by division.

    With x = (a, v), a in the block of diagonal D and B the block's rows of the other columns,
    x A^+ x' = 1 / D_a + (v - B_a / D_a) S^+ (v - B_a / D_a)', S the Schur complement.
    """

    def __init__(self, ids: IntArray, weights: FloatArray, columns: int, position: int, rank: int | None) -> None:
        self.position, self._ids, self._weights, self._rank = position, ids, weights, rank
        # Ids of one subset are consecutive.
        self.own = slice(int(ids[:, position].min()), int(ids[:, position].max()) + 1)
        self.size = self.own.stop - self.own.start
        self._others = columns - self.size

    def _divided(self, columns: IntArray) -> tuple[IntArray, IntArray]:
        """Return numbers in the block (N,), and the other columns (N, S - 1) as if the block were not there."""
        others = np.delete(columns, self.position, axis=1)
        others = np.where(others >= self.own.stop, others - self.size, others)
        return columns[:, self.position] - self.own.start, others

    @cached_property
    def diagonal(self) -> FloatArray:
        """Total weight of each conjunction of the block, D, (K1,)."""
        return np.bincount(self._divided(self._ids)[0], self._weights, self.size).astype(np.float64)

    @cached_property
    def shares(self) -> csr_array:
        """B / D: how the weight of each eliminated conjunction divides over the other columns, (K1, K2)."""
        from scipy.sparse import csr_array, diags_array

        heads, others = self._divided(self._ids)
        rows, weights = np.repeat(heads, others.shape[1]), np.repeat(self._weights, others.shape[1])
        table = csr_array((weights, (rows, others.reshape(-1))), shape=(self.size, self._others))
        return csr_array(diags_array(1 / self.diagonal) @ table)

    def explained(self, columns: IntArray) -> csr_array:
        """Return what elimination takes off the other ``columns`` of the normal matrix, (K2, n)."""
        from scipy.sparse import csr_array, diags_array

        return csr_array(self.shares.T @ diags_array(self.diagonal) @ self.shares[:, columns])

    @cached_property
    def inverse(self) -> FloatArray:
        """Inverse of what is left of the normal matrix when the block is eliminated, (K2, K2)."""
        normal = normal_matrix(self._divided(self._ids)[1], self._weights, self._others)
        before = np.diag(normal).copy()
        normal -= self.explained(np.arange(self._others)).toarray()
        return _inverse(normal, before, None if self._rank is None else self._rank - self.size)

    def quadratic(self, columns: IntArray) -> FloatArray:
        """Return x A^+ x' of rows with ``columns`` (N, S), shape (N,)."""
        heads, others = self._divided(columns)
        total = 1 / self.diagonal[heads] + quadratic_form(self.inverse, others)
        width = max(MAX_BLOCK_ENTRIES // max(len(self.inverse), 1), 1)
        order = np.argsort(heads, kind="stable")
        for start in range(0, self.size, width):
            table = self.shares[start : start + width]
            mixed = table @ self.inverse
            diagonal = np.asarray(table.multiply(mixed).sum(axis=1)).reshape(-1)
            mine = order[slice(*np.searchsorted(heads[order], [start, start + width]))]
            row = heads[mine] - start
            total[mine] += diagonal[row] - 2 * mixed[row[:, None], others[mine]].sum(axis=1)
        return total

    def applied(self, right: FloatArray) -> FloatArray:
        """Apply a generalised inverse of the normal matrix, (K,) or (K, M) -> the same shape."""
        head, tail = right[self.own], np.delete(right, self.own, axis=0)
        solution = self.inverse @ (tail - self.shares.T @ head)
        return self.joined((head.T / self.diagonal).T - self.shares @ solution, solution)

    def joined(self, head: FloatArray, tail: FloatArray) -> FloatArray:
        """Put the rows of the block and of the other columns back in order."""
        return np.concatenate([tail[: self.own.start], head, tail[self.own.start :]])


def _inverse(normal: FloatArray, size: FloatArray, rank: int | None) -> FloatArray:
    """Inverse of a normal matrix on a maximal set of independent columns, zero elsewhere, (K, K).

    Constraints on the other columns follow for every determined cell, so they may be dropped. ``size`` (K,) scales the
    columns: a pivot is zero in proportion to what was there before anything was subtracted.
    """
    from scipy.linalg.lapack import dpotri, dpstrf

    with one_thread():
        scale = 1 / np.sqrt(size)
        factor, pivots, float_rank, _ = dpstrf(normal * scale[:, None] * scale, tol=MIN_CHOLESKY_PIVOT)
        if rank is None:
            rank = int(float_rank)
        if rank > float_rank:
            raise SolverError(
                f"the seen cells have rank {rank} but floating point sees {float_rank}; leverage would be unreliable"
            )
        upper, info = dpotri(np.asfortranarray(factor[:rank, :rank])) if rank else (np.zeros((0, 0)), 0)
    if info:
        raise SolverError("the normal matrix could not be inverted; lower the order or merge levels")
    independent = pivots[:rank] - 1
    inverse = np.zeros_like(normal)
    inverse[np.ix_(independent, independent)] = np.triu(upper) + np.triu(upper, 1).T
    return np.asarray(inverse * scale[:, None] * scale)
