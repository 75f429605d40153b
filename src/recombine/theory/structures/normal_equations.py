"""Normal equations of sparse terms, solved for one shrinkage after another in the way that takes the least work.

All ways give the effects and, for each order of conjunction, the trace of its part of the inverse. Three are exact and
differ by rounding alone: to factor the matrix for each shrinkage; to make it tridiagonal once for all of them; and to
leave out columns that never occur together, such as those of all pairs of two factors, whose part of the matrix is
diagonal. Past a few thousand columns conjugate gradients solve, and random signs estimate traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import SolverError
from recombine.theory.structures.terms import Terms, scaled_rows
from recombine.theory.structures.work import spend

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Columns up to which normal equations are factored for each shrinkage whatever they are, and up to which they are
#: solved exactly; past it by conjugate gradients.
FACTORED_COLUMNS, DENSE_COLUMNS = 200, 3_000
#: Nanoseconds on a laptop for each cubed column: to factor and invert, and to make tridiagonal.
NANOSECONDS_TO_INVERT, NANOSECONDS_TO_TRIDIAGONAL = 0.1, 0.2
#: Nanoseconds for each entry of a sparse product, and of a product with a vector; rounds that a choice of way expects.
NANOSECONDS_PER_ENTRY, NANOSECONDS_PER_ENTRY_OF_VECTOR, ROUNDS_EXPECTED = 10.0, 2.5, 20
#: Random signs that estimate a trace where nothing is factored.
PROBES = 4


def normal_equations(terms: Terms, design: csr_array, y: FloatArray, weights: FloatArray) -> NormalEquations:
    """Return the normal equations of a design (N, P) in the form that takes the least work; ``y`` (N,) is centred."""
    if terms.columns > DENSE_COLUMNS:
        return _Iterated(design, y, weights)
    entries = np.diff(design.indptr).astype(float)
    spend(NANOSECONDS_PER_ENTRY_OF_VECTOR * float(entries @ entries))
    gram = (design.T @ scaled_rows(design, weights)).tocsr()
    if terms.columns <= FACTORED_COLUMNS:
        return _Factored(design, y, weights, gram)
    work = _work_of_elimination(gram, columns_apart(gram))
    if ROUNDS_EXPECTED * work < NANOSECONDS_TO_TRIDIAGONAL * float(np.bincount(terms.size).max()) ** 3:
        return _Eliminated(design, y, weights, gram, terms.size)
    return _Tridiagonal(design, y, weights, gram, terms.size)


def columns_apart(gram: csr_array) -> IntArray:
    """Return columns no two of which have an entry of the symmetric ``gram`` (P, P), those with fewest entries first.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> columns_apart(csr_array(np.array([[3, 1, 1], [1, 1, 0], [1, 0, 2]]))).tolist()
    [1, 2]
    """
    blocked, apart = np.zeros(gram.shape[0], dtype=bool), []
    for column in np.argsort(np.diff(gram.indptr), kind="stable").tolist():
        if not blocked[column]:
            apart.append(column)
            blocked[gram.indices[gram.indptr[column] : gram.indptr[column + 1]]] = True
    return np.array(apart, dtype=np.int64)


def factored(matrix: FloatArray) -> FloatArray:
    """Return the Cholesky factor (P, P) of a positive definite matrix, in its lower triangle."""
    from scipy.linalg.lapack import dpotrf

    lower, failed = dpotrf(matrix, lower=1, clean=0)
    if failed:
        raise SolverError("the normal matrix of the terms is not positive definite; leave out empty or huge columns")
    return np.asarray(lower)


def solved(lower: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with a Cholesky factor."""
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(lower, right, lower=1)[0])


def inverted(lower: FloatArray) -> FloatArray:
    """Return the inverse (P, P) of the matrix with a Cholesky factor."""
    from scipy.linalg.lapack import dpotri

    triangle = np.tril(dpotri(lower, lower=1)[0])
    return np.asarray(triangle + np.tril(triangle, -1).T)


class _Factored:
    """Normal equations of centred columns, inverted once for each shrinkage; ``means`` (P,) are those of the columns.

    What `solve` returns beside the effects adds up, over an order, to the trace of its part of the inverse.
    """

    def __init__(self, design: csr_array, y: FloatArray, weights: FloatArray, gram: csr_array) -> None:
        scaled = scaled_rows(design, weights)
        self.means = np.asarray(scaled.sum(axis=0)).ravel() / weights.sum()
        self.gram = gram.toarray() - weights.sum() * np.outer(self.means, self.means)
        self.right = scaled.T @ y  # y is centred, so that centring the columns changes nothing
        self.total = float(weights @ y**2)
        self.diagonal = self.gram.diagonal().copy()

    def solve(self, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return effects (P,) and the diagonal (P,) of the inverse."""
        spend(NANOSECONDS_TO_INVERT * len(ridge) ** 3)
        lower = factored(self.gram + np.diag(ridge))
        return solved(lower, self.right), inverted(lower).diagonal().copy()

    def misfit(self, effects: FloatArray) -> float:
        """Return the weighted squared residuals of ``effects`` (P,)."""
        return max(float(self.total - 2 * self.right @ effects + effects @ (self.gram @ effects)), 1e-15 * self.total)


class _Tridiagonal(_Factored):
    """The same, with the block of the order that has most columns made tridiagonal once: Q T Q'.

    Its shrinkage is one number, which leaves Q as it is, so that every further shrinkage takes a solve with T and the
    inverse of what the few columns of other orders leave over.
    """

    def __init__(self, design: csr_array, y: FloatArray, weights: FloatArray, gram: csr_array, size: IntArray) -> None:
        from scipy.linalg import lapack

        largest = int(np.bincount(size).argmax())
        self.large, self.small = np.flatnonzero(size == largest), np.flatnonzero(size != largest)
        spend(NANOSECONDS_TO_TRIDIAGONAL * len(self.large) ** 3)
        super().__init__(design, y, weights, gram)
        block = np.asfortranarray(self.gram[np.ix_(self.large, self.large)])
        workspace = int(lapack.dsytrd_lwork(len(block), lower=1)[0])
        reflectors, self.main, self.side, self.tau, _ = lapack.dsytrd(block, lower=1, lwork=workspace, overwrite_a=1)
        self.reflectors = np.asfortranarray(reflectors[1:, :-1])
        self.eigenvalues = np.maximum(lapack.dsterf(self.main, self.side)[0], 0.0)
        self.corner = self.gram[np.ix_(self.small, self.small)]
        right = np.column_stack([self.gram[np.ix_(self.large, self.small)], self.right[self.large]])
        self.turned = self._turn(right, "T")

    def _turn(self, columns: FloatArray, way: str) -> FloatArray:
        """Return Q (way N) or its transpose (T) times ``columns`` (n, k)."""
        from scipy.linalg import lapack

        turned = np.array(columns, order="F")
        turned[1:] = lapack.dormqr("L", way, self.reflectors, self.tau, turned[1:], 64 * columns.shape[1])[0]
        return turned

    def solve(self, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
        from scipy.linalg import lapack

        large, small = self.large, self.small
        spend(
            NANOSECONDS_TO_INVERT * (len(small) ** 3 + 4 * len(small) ** 2 * len(large))
            + NANOSECONDS_PER_ENTRY * len(large) ** 2
        )
        shrink = float(ridge[large[0]])
        main, side, _ = lapack.dpttrf(self.main + shrink, self.side)
        across = lapack.dpttrs(main, side, self.turned)[0]
        effects, spread = np.empty(len(ridge)), np.empty(len(ridge))
        inside, trace = across[:, -1], float((1 / (self.eigenvalues + shrink)).sum())
        if len(small):
            beside, coupling = across[:, :-1], self.turned[:, :-1]
            lower = factored(self.corner + np.diag(ridge[small]) - coupling.T @ beside)
            effects[small] = solved(lower, self.right[small] - coupling.T @ inside)
            inside = inside - beside @ effects[small]
            inverse = inverted(lower)
            spread[small] = inverse.diagonal()
            trace += float((inverse * (beside.T @ beside)).sum())
        effects[large] = self._turn(inside[:, None], "N")[:, 0]
        spread[large] = trace / len(large)
        return effects, spread


def _work_of_elimination(gram: csr_array, apart: IntArray) -> float:
    """Return the work that each shrinkage takes without the columns ``apart``: an inverse and two sparse products."""
    entries = np.diff(gram.indptr)[apart].astype(float)
    dense = gram.shape[0] - len(apart) + 1
    return NANOSECONDS_TO_INVERT * dense**3 + 2 * NANOSECONDS_PER_ENTRY * (float(entries @ entries) + dense**2)


class _Eliminated:
    """The same without columns that never occur together: their block D is diagonal, and what is left is small.

    The matrix is that of columns as they are, beside one of ones: its inverse, without the row and the column of the
    ones, is that of centred columns.
    """

    def __init__(self, design: csr_array, y: FloatArray, weights: FloatArray, gram: csr_array, size: IntArray) -> None:
        from scipy.sparse import csr_array, vstack

        total, apart = float(weights.sum()), columns_apart(gram)
        self.gram, self.apart = gram, apart
        self.others = np.setdiff1d(np.arange(gram.shape[0]), apart)
        self.means = np.asarray(design.T @ weights) / total
        self.weight, self.right = total, np.asarray(design.T @ (weights * y))
        self.total = float(weights @ y**2)
        self.counts = gram.diagonal()
        self.diagonal = self.counts - total * self.means**2
        sums = total * self.means[self.others]
        corner = gram[self.others][:, self.others].toarray()
        self.corner = np.block([[np.array([[total]]), sums[None]], [sums[:, None], corner]])
        self.coupling = vstack([csr_array(total * self.means[None, apart]), gram[self.others][:, apart]], format="csr")
        self.by_order = [np.flatnonzero(size[apart] == order) for order in np.unique(size[apart])]
        self.work = _work_of_elimination(gram, apart)

    def solve(self, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
        apart, others, coupling = self.apart, self.others, self.coupling
        spend(self.work)
        inverse = 1 / (self.counts[apart] + ridge[apart])
        beside = scaled_rows(coupling.T.tocsr(), inverse)
        matrix = self.corner - (coupling @ beside).toarray()
        matrix[np.arange(1, len(matrix)), np.arange(1, len(matrix))] += ridge[others]
        lower = factored(matrix)
        right = np.append(0.0, self.right[others]) - beside.T @ self.right[apart]
        inside = solved(lower, right)
        effects, spread = np.empty(len(ridge)), np.empty(len(ridge))
        effects[others] = inside[1:]
        effects[apart] = inverse * self.right[apart] - beside @ inside
        around = inverted(lower)
        spread[others] = around.diagonal()[1:]
        spread[apart] = inverse
        for members in self.by_order:
            once = beside[members]
            spread[apart[members]] += float((once.T @ once).multiply(around).sum()) / len(members)
        return effects, spread

    def misfit(self, effects: FloatArray) -> float:
        power = float(effects @ (self.gram @ effects)) - self.weight * float(self.means @ effects) ** 2
        return max(self.total - 2 * float(self.right @ effects) + power, 1e-15 * self.total)


class _Iterated:
    """The same by conjugate gradients; the diagonal of the inverse is that of random signs, right in its sums."""

    def __init__(self, design: csr_array, y: FloatArray, weights: FloatArray) -> None:
        self.design, self.y, self.weights = design, y, weights
        self.back = design.T.tocsr()
        total = weights.sum()
        self.means = self.back @ weights / total
        self.right = self.back @ (weights * y)
        self.diagonal = self.back.power(2) @ weights - total * self.means**2
        self.signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(PROBES, design.shape[1]))
        self.start: list[FloatArray | None] = [None] * (PROBES + 1)

    def solve(self, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
        from scipy.sparse.linalg import LinearOperator, cg

        total, size = self.weights.sum(), len(ridge)

        def normal(vector: FloatArray) -> FloatArray:
            spend(NANOSECONDS_PER_ENTRY_OF_VECTOR * (2 * self.design.nnz + NANOSECONDS_PER_ENTRY * size))
            inner = self.back @ (self.weights * (self.design @ vector))
            return np.asarray(inner - total * self.means * (self.means @ vector) + ridge * vector)

        matrix = LinearOperator((size, size), matvec=normal, dtype=float)
        safe = 1 / np.maximum(self.diagonal + ridge, 1e-300)
        jacobi = LinearOperator((size, size), matvec=lambda vector: safe * vector, dtype=float)
        for row, right in enumerate([self.right, *self.signs]):
            tight = 1e-3 if row else 1e-8  # signs only estimate a trace
            self.start[row], short = cg(
                matrix, right, x0=self.start[row], rtol=tight, atol=0.0, maxiter=2_000, M=jacobi
            )
            if short and row == 0:
                raise SolverError(f"conjugate gradients stopped short on {size:,} terms; give a larger ridge")
        probes = np.array([sign * column for sign, column in zip(self.signs, self.start[1:], strict=True)])
        return np.asarray(self.start[0]), np.asarray(probes.mean(axis=0))

    def misfit(self, effects: FloatArray) -> float:
        residuals = self.y - self.design @ effects + self.means @ effects
        return float(self.weights @ residuals**2)


#: Normal equations of centred columns, solved in one way or another.
NormalEquations = _Factored | _Eliminated | _Iterated
