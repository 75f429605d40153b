"""Least squares for the additive model of order k: fit, predict, and what each cell looks like without itself."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import Conjunctions
from recombine.cells.threads import one_thread
from recombine.errors import InputError, SolverError
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.scaled.routes import leverage_for

#: Entries of the design matrix, and operations (rows times columns times the fewer of the two), up to which a dense
#: singular value decomposition is used: less than a second.
MAX_DENSE_SVD_ENTRIES, MAX_DENSE_SVD_OPERATIONS = 4_000_000, 5e8
#: Singular values below this share of the largest are zero: the incidence matrix holds small integers.
RANK_SHARE = 1e-10


@record
class AdditiveFit:
    """A fitted additive model, with ``fitted`` values (N,); its ``rank`` is None on the iterative route."""

    conjunctions: Conjunctions
    #: (F,): value of each conjunction: a minimum-norm solution, so values of conjunctions never seen are zero.
    table: FloatArray
    fitted: FloatArray
    rank: int | None
    #: (N, rank): orthonormal basis of the fitted values (of the weighted cells), on the dense route.
    basis: FloatArray | None = None
    weights: FloatArray | None = None  #: (N,): what each cell counted; None for all alike.
    normal: Leverage | None = field(default=None, repr=False)  #: The inverted normal matrix, on the route of that name.

    @cached_property
    def leverage(self) -> FloatArray | None:
        """Diagonal of the hat matrix, shape (N,); None on the iterative route."""
        if self.basis is not None:
            return np.asarray(np.square(self.basis).sum(axis=1))
        if self.normal is not None:
            return self.normal.of_seen if self.weights is None else self.weights * self.normal.of_seen
        return None

    @property
    def alone(self) -> float:
        """1 - h below this is rounding: the cell is known from itself alone."""
        return 1e-8 if self.basis is not None else 1e-7

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the model's value at ``cells`` (N, C); meaningful only where the verdict is ``determined``."""
        return np.asarray(self.conjunctions.values(self.table, as_cells(cells, factors=len(self.conjunctions.sizes))))


def fit_additive(
    conjunctions: Conjunctions,
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    normal: Leverage | None = None,
) -> AdditiveFit:
    """Fit f(z) = sum of f_J(z_J) over subsets J of the model's order to ``y`` (N,) on ``cells`` (N, C).

    By least squares with ``weights`` (N,), on three routes by size: a dense decomposition, the inverse of the normal
    matrix (``normal``, if there is one of the same cells and weights already), and iteration where neither fits.

    Examples
    --------
    >>> fit = fit_additive(Conjunctions((2, 2)), [[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 11.0])
    >>> fit.predict([[1, 1]]).round(9), fit.rank
    (array([12.]), 3)
    """
    codes = as_cells(cells, factors=len(conjunctions.sizes))
    values = np.asarray(y, dtype=float)
    if values.shape != (len(codes),) or not len(codes):
        raise InputError(f"y has shape {values.shape} but there are {len(codes)} cells; give one value per cell")
    counted = None if weights is None else np.asarray(weights, dtype=float)
    if counted is not None and (counted.shape != values.shape or not np.all(counted > 0)):
        raise InputError(f"weights must be {len(codes)} positive numbers, one for each cell")
    scale = np.ones(len(codes)) if counted is None else np.sqrt(counted)
    if is_dense(len(codes), conjunctions.columns):
        return replace(_dense(conjunctions, codes, values, scale), weights=counted)
    direct = _direct(conjunctions, codes, values, normal or leverage_for(conjunctions, codes, counted))
    return replace(direct or _sparse(conjunctions, codes, values, scale), weights=counted)


def is_dense(cells: int, columns: int) -> bool:
    """Say whether so many cells and columns are fitted by a dense decomposition."""
    entries = cells * columns
    return entries <= MAX_DENSE_SVD_ENTRIES and entries * min(cells, columns) <= MAX_DENSE_SVD_OPERATIONS


def _direct(conjunctions: Conjunctions, cells: IntArray, values: FloatArray, normal: Leverage) -> AdditiveFit | None:
    """Fit by the inverse of the normal matrix; None where that is too large or too near to singular."""
    if normal.solved_singly:
        return None
    try:
        table = normal.solve(values)
    except SolverError:
        return None
    return AdditiveFit(conjunctions, table, conjunctions.values(table, cells), normal.found_rank, normal=normal)


def _dense(conjunctions: Conjunctions, cells: IntArray, values: FloatArray, scale: FloatArray) -> AdditiveFit:
    incidence = conjunctions.incidence(cells)
    used = np.unique(incidence.indices)  # conjunctions never seen stay at zero, as in the minimum-norm solution
    design = incidence[:, used].toarray()
    U, singular, Vt = _decomposed(design * scale[:, None])
    nonzero = singular > RANK_SHARE * singular[0]
    U, singular, Vt = U[:, nonzero], singular[nonzero], Vt[nonzero]
    solution = Vt.T @ ((U.T @ (scale * values)) / singular)
    table = np.zeros(conjunctions.columns)
    table[used] = solution
    return AdditiveFit(conjunctions, table, design @ solution, int(nonzero.sum()), U)


def _decomposed(matrix: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular value decomposition of a finite matrix."""
    from scipy.linalg import LinAlgError, svd

    with one_thread():  # a second thread made the decomposition of a few hundred cells ten times slower
        try:
            U, singular, Vt = svd(matrix, full_matrices=False, check_finite=False)
        except LinAlgError:
            # Divide and conquer fails on some tables of ones and zeros, whose singular values come in clusters.
            U, singular, Vt = svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return U, singular, Vt


def _sparse(conjunctions: Conjunctions, cells: IntArray, values: FloatArray, scale: FloatArray) -> AdditiveFit:
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lsmr

    design = conjunctions.incidence(cells)
    weighted = diags_array(scale) @ design
    # Levels that were measured a thousand times beside others measured once make thousands of steps of what takes tens.
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=0))
    units = 1 / np.where(lengths > 0, lengths, 1.0)
    with one_thread():
        solution = lsmr(weighted @ diags_array(units), scale * values, atol=1e-12, btol=1e-12, maxiter=5_000)[0]
    table = units * solution
    return AdditiveFit(conjunctions, table, design @ table, None)


def leave_one_out(fit: AdditiveFit, y: npt.ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Return each cell's prediction from all the others, shape (N,), and whether the others determine it.

    The prediction without cell i is y_i - r_i / (1 - h_i); a cell with leverage h_i = 1 is known from itself alone.

    Examples
    --------
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> fit = fit_additive(Conjunctions((2, 2)), square, [1.0, 2.0, 11.0, 15.0])
    >>> predicted, determined = leave_one_out(fit, [1.0, 2.0, 11.0, 15.0])
    >>> predicted.round(9).tolist(), determined.all()
    ([-2.0, 5.0, 14.0, 12.0], np.True_)
    """
    if fit.leverage is None:
        raise InputError("leave-one-out needs leverages; this design has too many conjunctions for them")
    values = np.asarray(y, dtype=float)
    determined = fit.leverage < 1.0 - fit.alone
    unexplained = np.where(determined, 1.0 - fit.leverage, np.nan)
    return values - (values - fit.fitted) / unexplained, determined


def leave_one_out_noise(fit: AdditiveFit, variance: npt.ArrayLike) -> FloatArray:
    """Return the variance that noise alone gives each leave-one-out error, shape (N,), if effects truly add.

    With residuals r = (I - H) y and noise variances v, the error r_i / (1 - h_i) has variance
    sum_j (I - H)_ij^2 v_j / (1 - h_i)^2. It counts the noise of the cell itself and of those that predict it. In a
    weighted fit the same holds of outcomes and noise times the square root of the weights.

    Examples
    --------
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> fit = fit_additive(Conjunctions((2, 2)), square, [1.0, 2.0, 11.0, 15.0])
    >>> leave_one_out_noise(fit, [1.0, 1.0, 1.0, 1.0]).round(9).tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    if fit.leverage is None:
        raise InputError("leave-one-out needs leverages; this design has too many conjunctions for them")
    counted = np.ones(len(fit.fitted)) if fit.weights is None else fit.weights
    noise = np.asarray(variance, dtype=float) * counted
    spread = noise * (1.0 - 2.0 * fit.leverage) + _carried(fit, noise)
    unexplained = np.where(fit.leverage < 1.0 - fit.alone, 1.0 - fit.leverage, np.nan)
    return np.asarray(spread / unexplained**2 / counted)


def _carried(fit: AdditiveFit, noise: FloatArray) -> FloatArray:
    """Return the variance that noise (N,) of the weighted cells gives to their fitted values, (N,)."""
    if fit.basis is None:
        assert fit.normal is not None
        return fit.normal.carried_noise(noise)
    inner = (fit.basis * noise[:, None]).T @ fit.basis
    return np.asarray(np.einsum("ij,jk,ik->i", fit.basis, inner, fit.basis, optimize=True))
