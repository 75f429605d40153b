"""Maximum likelihood for 0/1 outcomes, classes and counts on cells; where no maximum exists, the fit on the face."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, minres

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.errors import SolverError
from recombine.theory.structures.existence import Existence, existence
from recombine.theory.structures.separation.families import Family, Limit

#: Values of the model up to which matrices are dense; beyond, Newton's equations are solved by minimal residuals.
DENSE_VALUES = 1500
#: Newton's method ends when a step moves every effect by less than this share of its standard error (squared), or when
#: steps below the second no longer shrink; after so many steps it gives up.
NEWTON_DONE_GAIN, NEWTON_FLAT_GAIN, MAX_NEWTON_STEPS = 1e-20, 1e-9, 200
#: Heights closer than this share of them are equal: the log-likelihood is a sum of rounded terms.
HEIGHT_ROUNDING = 1e-13
#: Eigenvalues of an integer Gram matrix below this share of the largest are zero.
RANK_SHARE = 1e-10


@record
class LikelihoodFit:
    """A fit; see `fit_likelihood`."""

    existence: Existence
    #: (F, K): finite part of the values, one column per class for softmax, else one. One of many equivalent choices:
    #: read `predict` and `fitted_effects`.
    table: FloatArray
    #: (N, K): chance of each class in each seen cell, limits included; for log, one column of means.
    fitted: FloatArray
    log_likelihood: float  #: Its supremum, without terms that no fit changes.

    def predict(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the chance of 1 (N,), of each class (N, K), or the mean count (N,) of any cells.

        Limits are exact: 0, 1 or inf. What the data do not determine is NaN.
        """
        codes = as_cells(cells, factors=len(self.existence.features.sizes))
        limits = self.existence.limits_of(codes)
        values = np.full(limits.shape, np.nan)
        values[limits == Limit.ZERO], values[limits == Limit.ONE] = 0.0, 1.0
        values[limits == Limit.INFINITE] = np.inf
        finite = np.flatnonzero(_some(limits == Limit.FINITE))
        sums = self.existence.rows(codes[finite]) @ self.table
        means = self._family.means(sums, (limits[finite] == Limit.FINITE).reshape(sums.shape))
        values[finite] = means if self._family.per_class else means[:, 0]
        return values

    @property
    def _family(self) -> Family:
        return self.existence.outcomes.family

    @cached_property
    def solve_information(self) -> Callable[[FloatArray], FloatArray]:
        """Solve the information matrix at the fit for a vector (W,) on the face."""
        return _Problem(self.existence).solver(self.table.reshape(-1))

    def standard_errors(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the standard errors of `predict` (delta method); NaN unless the limit is finite."""
        codes = as_cells(cells, factors=len(self.existence.features.sizes))
        finite = self.existence.limits_of(codes) == Limit.FINITE
        errors = np.full(finite.shape, np.nan)
        values = self.predict(codes)
        for row in np.flatnonzero(_some(finite)):
            features = self.existence.rows(codes[row : row + 1]).toarray()[0].astype(float)
            for slope, target in self._family.slopes(values[row], finite[row]):
                function = np.outer(features, slope).reshape(-1)
                error = np.sqrt(max(float(function @ self.solve_information(function)), 0.0))
                errors[(row, target) if finite.ndim == 2 else row] = error
        return errors


def _some(marks: BoolArray) -> BoolArray:
    """Return marks (N,) as they are, and of (N, K) whether a row has some; N may be zero."""
    return marks if marks.ndim == 1 else np.asarray(marks.any(axis=1))


class _Problem:
    """The likelihood on the face as a function of the values (W,), W = F times the classes of softmax."""

    def __init__(self, limits: Existence) -> None:
        outcomes = limits.outcomes
        self.family = outcomes.family
        face = np.flatnonzero(limits.support.sum(axis=1) > self.family.classes_left)
        self.X: csr_array = limits.rows(outcomes.cells[face]).astype(float)
        self.totals, self.exposure = outcomes.totals[face], outcomes.exposure[face]
        self.support = limits.support[face]
        self.classes = outcomes.classes if self.family.per_class else 1
        self.width = self.X.shape[1] * self.classes

    def _sums(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.X @ values.reshape(-1, self.classes))

    def means(self, values: FloatArray) -> FloatArray:
        """Return what is expected of each class, (n, classes); for logit of class 1, for log of the count."""
        return self.exposure[:, None] * self.family.means(self._sums(values), self.support)

    def value(self, values: FloatArray) -> float:
        """Return the log-likelihood."""
        return self.family.value(self._sums(values), self.totals, self.exposure, self.support)

    def gradient(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.X.T @ (self.family.observed(self.totals) - self.means(values))).reshape(-1)

    def information(self, means: FloatArray, vector: FloatArray) -> FloatArray:
        """Return the information matrix at these means times a vector (W,)."""
        moved = np.asarray(self.X @ vector.reshape(-1, self.classes))
        return np.asarray(self.X.T @ self.family.spread(means, self.exposure, moved)).reshape(-1)

    @cached_property
    def basis(self) -> FloatArray:
        """Orthonormal basis (W, r) of what the face determines."""
        number, support = self.support.sum(axis=1), self.support
        if self.family.per_class:
            gram = self._gram(lambda a, b: (support[:, a] & support[:, b]).astype(float) * ((a == b) - 1 / number))
        else:
            gram = (self.X.T @ self.X).toarray()
        sizes, vectors = eigh(gram)
        return np.asarray(vectors[:, sizes > RANK_SHARE * max(sizes.max(initial=0.0), 1.0)])

    def solver(self, values: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return a function that solves the information matrix at ``values`` (W,) for a vector on the face."""
        means = self.means(values)
        if self.width > DENSE_VALUES:
            return lambda right: self._by_residuals(means, right)
        information = self._gram(lambda a, b: self.family.covariance(means, self.exposure, a, b))
        factor = cho_factor(self.basis.T @ information @ self.basis)
        return lambda right: np.asarray(self.basis @ cho_solve(factor, self.basis.T @ right))

    def _gram(self, weights: Callable[[int, int], FloatArray]) -> FloatArray:
        """Return the matrix (W, W) in which rows count by their ``weights`` (N,) for each pair of classes."""
        total = np.zeros((self.width, self.width))
        for first in range(self.classes):
            for second in range(self.classes):
                block = (self.X.T @ self.X.multiply(weights(first, second)[:, None]).tocsr()).toarray()
                total[first :: self.classes, second :: self.classes] = block
        return total

    def _by_residuals(self, means: FloatArray, right: FloatArray) -> FloatArray:
        """Solve by MINRES: the matrix is singular, and conjugate gradients leap where the right side is rounding."""
        squares = np.asarray(self.X.multiply(self.X).T @ self.family.variances(means, self.exposure)).reshape(-1)
        scale = 1 / np.maximum(squares, 1e-12 * squares.max(initial=1e-300))
        shape = (self.width, self.width)
        operator = LinearOperator(shape, matvec=lambda vector: self.information(means, vector), dtype=float)
        jacobi = LinearOperator(shape, matvec=lambda vector: scale * vector, dtype=float)
        return np.asarray(minres(operator, right, rtol=1e-10, maxiter=10 * self.width, M=jacobi)[0])


def _newton(problem: _Problem) -> FloatArray:
    """Climb to the maximum on the face, halving steps that do not climb."""
    start = problem.family.start(problem.X, problem.totals, problem.exposure)
    values = np.zeros(problem.width) if start is None else start
    if not problem.X.shape[0]:
        return values
    height, last = problem.value(values), np.inf
    for _ in range(MAX_NEWTON_STEPS):
        slope = problem.gradient(values)
        step = problem.solver(values)(slope)
        gain = float(slope @ step)
        if gain <= NEWTON_DONE_GAIN or (gain <= NEWTON_FLAT_GAIN and gain > last / 4):
            return values + step
        size, slack = 1.0, HEIGHT_ROUNDING * (1 + abs(height))
        while problem.value(values + size * step) < height + 1e-4 * size * gain - slack and size > 1e-12:
            size /= 2
        values, last = values + size * step, gain
        height = problem.value(values)
    raise SolverError(
        f"maximum likelihood did not settle in {MAX_NEWTON_STEPS} Newton steps; merge rare levels or leave out pairs"
    )


def fit_likelihood(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    family: str = "logit",
    *,
    order: int = 1,
    sizes: Sequence[int] | None = None,
    classes: int | None = None,
    weights: npt.ArrayLike | None = None,
) -> LikelihoodFit:
    """Fit chances of 0/1 outcomes (logit), of classes (softmax) or means of counts (log) by maximum likelihood.

    Whether the maximum exists is decided first and exactly. Where it does not, the fit is the limit: exact zeros and
    ones (or counts of zero) on separated cells, and a finite fit to the rest. The arguments are those of `existence`.

    Examples
    --------
    A table of counts in which rows and columns are independent, with one cell that was never looked at:

    >>> fit = fit_likelihood([[0, 0], [0, 1], [1, 0]], [10, 20, 30], "log")
    >>> fit.predict([[1, 1]]).round(6)
    array([60.])

    A level that only ever succeeded has a chance of one:

    >>> fit = fit_likelihood([[0], [0], [1]], [0, 1, 1], "logit")
    >>> fit.predict([[0], [1]]).round(6).tolist()
    [0.5, 1.0]
    """
    limits = existence(cells, y, family, order=order, sizes=sizes, classes=classes, weights=weights)
    problem = _Problem(limits)
    values = _newton(problem)
    table = values.reshape(-1, problem.classes)
    sums = np.asarray(limits.rows(limits.outcomes.cells) @ table)
    return LikelihoodFit(limits, table, problem.family.fitted(sums, limits.support), problem.value(values))


@dataclass(frozen=True, eq=False)
class ChancesFit:
    """A fit, and whether the data alone had one: ``overlap``, ``quasi-complete`` or ``complete`` separation."""

    fit: LikelihoodFit
    separation: str


def fit_chances(
    cells: IntArray,
    labels: IntArray,
    classes: int,
    order: int,
    sizes: Sequence[int],
    separated: str = "prior",
    weights: FloatArray | None = None,
) -> ChancesFit:
    """Fit the chances of classes (N,) on cells (N, C) by maximum likelihood, with prior observations where it has none.

    Those are as many as there are effects, spread evenly over the seen cells, with the classes' shares. Each row stands
    for as many as ``weights`` (N,) say.

    Examples
    --------
    >>> chances = fit_chances(np.array([[0], [0], [1], [1]]), np.array([0, 1, 1, 1]), 2, 1, (2,))
    >>> chances.separation, chances.fit.predict([[0], [1]]).round(3).tolist()
    ('quasi-complete', [0.583, 0.917])
    """
    family = "logit" if classes == 2 else "softmax"
    fit = fit_likelihood(cells, labels, family, order=order, sizes=sizes, classes=classes, weights=weights)
    limits = fit.existence
    if limits.exists or separated == "limits":
        return ChancesFit(fit, limits.separation)
    rank, seen = limits.linear.rank, limits.outcomes.cells
    total = len(limits.columns) if rank is None else rank
    rows = np.repeat(seen, classes, axis=0)
    shares = np.bincount(labels, weights, minlength=classes)
    shares = shares / shares.sum()
    prior = np.tile(shares * total / len(seen), len(seen))
    with_prior = fit_likelihood(
        np.vstack([rows, rows]),
        np.tile(np.arange(classes), 2 * len(seen)),
        family,
        order=order,
        sizes=sizes,
        classes=classes,
        weights=np.concatenate([limits.outcomes.totals.reshape(-1), prior]),
    )
    return ChancesFit(with_prior, limits.separation)
