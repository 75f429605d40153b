"""Random floating-point vectors projected on the null space of the seen rows, with an estimate of their error.

Columns are scaled to unit length first, so a cell's value can be read as a fraction of its row's length: about zero if
the row lies in the span of the seen rows, else of the order of its distance from the span. Nothing here turns a value
into a verdict; see `Judgement` for the thresholds and what happens between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.threads import one_thread
from recombine.progress import each

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to here the null space comes from a dense eigendecomposition.
MAX_EIGH_COLUMNS = 800

#: Rows kept per column at first; the others are only checked.
ROWS_PER_COLUMN = 4

#: A projection has converged when the estimated error of its entries (of order one) is below this.
PROJECTION_ERROR = 1e-10

#: Eigenvalues of the scaled Gram matrix below the first are null, above the second are not.
MAX_NULL_EIGENVALUE, MIN_FULL_EIGENVALUE = 1e-13, 1e-9

MAX_PROJECTION_ROUNDS = 6
MAX_LSMR_STEPS = 20_000


@dataclass(frozen=True)
class Projection:
    """Null vectors as floats."""

    #: (K, r), (K,): Values of the columns, and what each column was multiplied by to have unit length.
    table: FloatArray
    scale: FloatArray
    error: float  #: Estimated error of an entry, in units of the scaled vectors (whose entries are of order one).
    rank: int | None  #: Rank of the rows where the method can know it.

    @property
    def converged(self) -> bool:
        """Whether the estimated error is small enough to be read."""
        return self.error <= PROJECTION_ERROR


def project(ids: IntArray | csr_array, columns: int, count: int, generator: np.random.Generator) -> Projection:
    """Project ``count`` random vectors on the null space of rows over ``columns`` columns.

    Rows are ``ids`` (N, S) of unit entries, or a sparse matrix (N, K).
    """
    start = generator.standard_normal((columns, count))
    rows = _matrix(ids, columns) if isinstance(ids, np.ndarray) else ids
    number = rows.shape[0]
    with one_thread():
        if columns <= MAX_EIGH_COLUMNS and (projection := _dense(rows, start)).converged:
            return projection
        chosen = np.arange(number)
        if number > 2 * ROWS_PER_COLUMN * columns:
            chosen = np.sort(generator.permutation(number)[: ROWS_PER_COLUMN * columns])
        projection = _iterative(rows[chosen], start)
        # Rows left out mostly follow from the chosen ones; if not, they must take part.
        if len(chosen) < number and _largest(projection, rows) > PROJECTION_ERROR:
            projection = _iterative(rows, start)
    return projection


def _largest(projection: Projection, rows: csr_array) -> float:
    """Return the largest value of the null vectors on the rows, relative to the rows' scaled length."""
    length = np.sqrt(rows.multiply(rows) @ projection.scale**2)
    return float(np.max(np.abs(rows @ projection.table) / length[:, None], initial=0.0))


def _matrix(ids: IntArray, columns: int) -> csr_array:
    from scipy.sparse import csr_array

    pointers = np.arange(0, ids.size + 1, ids.shape[1])
    matrix = csr_array((np.ones(ids.size), ids.reshape(-1), pointers), shape=(len(ids), columns))
    matrix.sum_duplicates()
    return matrix


def _scaled(matrix: csr_array) -> tuple[csr_array, FloatArray]:
    from scipy.sparse import csr_array

    squares = np.bincount(matrix.indices, weights=matrix.data**2, minlength=matrix.shape[1])
    scale = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
    scaled = matrix.data * scale[matrix.indices]
    return csr_array((scaled, matrix.indices, matrix.indptr), shape=matrix.shape), scale


def _dense(rows: csr_array, start: FloatArray) -> Projection:
    matrix, scale = _scaled(rows)
    gram = (matrix.T @ matrix).toarray()
    eigenvalues, vectors = np.linalg.eigh(gram)
    null = eigenvalues < MIN_FULL_EIGENVALUE
    vectors = vectors[:, null]
    null_vectors = vectors @ (vectors.T @ start)
    # An eigenvalue between the two bounds means that the split itself is in doubt.
    doubt = bool(np.any(np.abs(eigenvalues[null]) > MAX_NULL_EIGENVALUE * len(start)))
    smallest = float(eigenvalues[~null].min(initial=1.0))
    # Rounding mixes a null vector with the nearest other eigenvector in proportion to one over their distance.
    error = np.inf if doubt else 10 * float(np.finfo(float).eps) / smallest + float(np.abs(matrix @ null_vectors).max())
    return Projection(null_vectors * scale[:, None], scale, error, None if doubt else int((~null).sum()))


def _iterative(rows: csr_array, start: FloatArray) -> Projection:
    matrix, scale = _scaled(rows)
    vectors = np.empty_like(start)
    error = 0.0
    for vector in each("null vectors", range(start.shape[1])):
        vectors[:, vector], vector_error = _project_one(matrix, start[:, vector])
        error = max(error, vector_error)
    return Projection(vectors * scale[:, None], scale, error, None)


def _project_one(matrix: csr_array, vector: FloatArray) -> tuple[FloatArray, float]:
    """Take the row-space part off ``vector`` until what the rows still see of it is at rounding level."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    # Two gathers per step: the transpose kept as rows is faster than scattering.
    transposed = matrix.T.tocsr()
    operator = LinearOperator(matrix.shape, matvec=matrix.__matmul__, rmatvec=transposed.__matmul__, dtype=float)
    error = np.inf
    for _ in range(MAX_PROJECTION_ROUNDS):
        seen = matrix @ vector
        solved = lsmr(operator, seen, atol=1e-9, btol=1e-9, conlim=0, maxiter=MAX_LSMR_STEPS)
        row_part, condition = solved[0], float(solved[6])
        vector = vector - row_part
        previous, error = error, float(np.abs(matrix @ vector).max(initial=0.0)) * max(condition, 1.0)
        if error <= PROJECTION_ERROR / 100 or error > previous / 2:
            break
    return vector, min(error, previous)
