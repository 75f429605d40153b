"""Values for given saliences: posterior of any cell, and what would be said of seen cells had they been left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.theory.components.criterion import inverse_of
from recombine.theory.components.factors import Factors
from recombine.theory.components.terms import ComponentTerm

#: A variance below so much of the prior one is what rounding has left of a difference, and is worked out as a sum.
ROUNDING_SHARE = 1e-5
#: Rounds in which what the dual weights miss of the outcomes is added to them.
REFINEMENT_ROUNDS = 3


@record
class Posterior:
    """A normal process with a flat mean that saw outcomes (n,) at cells (n, F)."""

    factors: Factors
    codes: IntArray
    terms: tuple[ComponentTerm, ...]
    variances: FloatArray  #: (T,)
    noise: FloatArray  #: Variance of each seen outcome about its cell's value (n,).
    y: FloatArray
    mean: float  #: The mean, by generalized least squares.
    inverse: FloatArray  #: Of the covariance of outcomes (n, n).
    projected: FloatArray  #: The same with the mean projected out (n, n).
    dual: FloatArray  #: Weights of seen cells in any value (n,): projected @ y.

    def with_factors(self, factors: Factors) -> Posterior:
        """Return the posterior with further levels of factors that have coordinates."""
        return replace(self, factors=factors)

    def _prior(self, cells: IntArray, alone: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return covariances (M, n) of cells (M, F) with the seen ones, and variances (M,), of all or one factor."""
        cross, prior = np.zeros((len(cells), len(self.codes))), np.zeros(len(cells))
        for term, variance in zip(self.terms, self.variances, strict=True):
            if alone is None or term.factors == (alone,):
                cross += variance * term.covariance(self.factors, cells, self.codes)
                prior += variance * term.variance(self.factors, cells)
        return cross, prior

    def predict(self, cells: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (M,) of the value, without noise, of cells (M, F)."""
        cross, prior = self._prior(cells)
        weights = self.inverse.sum(axis=0)
        shortfall = 1.0 - cross @ weights
        by_seen = cross @ self.inverse
        spread = prior - np.einsum("ij,ij->i", by_seen, cross) + shortfall**2 / weights.sum()
        lost = np.flatnonzero(spread < ROUNDING_SHARE * prior)
        if len(lost):
            by_seen = by_seen[lost] + np.outer(shortfall[lost], weights / weights.sum())
            spread[lost] = self._variance_about(by_seen, cross[lost], prior[lost])
        return self.mean + cross @ self.dual, np.maximum(spread, 0.0)

    def _variance_about(self, weights: FloatArray, cross: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the variance (M,) of values about weighted seen outcomes (M, n): least, so hardly moved by weights."""
        of_seen = self._prior(self.codes)[0] + np.diag(self.noise)
        return np.asarray(prior + np.einsum("ij,ij->i", weights @ of_seen - 2 * cross, weights))

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (n,), noise included, of every seen outcome had it been left out."""
        precision = np.maximum(self.projected.diagonal(), 1e-300)
        return self.y - self.dual / precision, 1.0 / precision

    def leave_out(self, members: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (k,), noise included, of seen outcomes had all of them been left out together."""
        block = self.projected[np.ix_(members, members)]
        spread = np.linalg.pinv(block, hermitian=True)
        return self.y[members] - spread @ self.dual[members], np.maximum(spread.diagonal(), 0.0)

    def effects(self, factor: int, levels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation (L,) of what the levels of one factor add by themselves."""
        cells = np.full((len(levels), self.codes.shape[1]), -1)
        cells[:, factor] = levels
        cross, prior = self._prior(cells, factor)
        spread = prior - np.einsum("ij,ij->i", cross @ self.projected, cross)
        return cross @ self.dual, np.sqrt(np.maximum(spread, 0.0))


@record
class MeanPosterior:
    """The same without components: every cell has the mean of the seen outcomes (n,)."""

    factors: Factors
    codes: IntArray
    y: FloatArray
    noise: float  #: Variance of an outcome about the mean.

    def with_factors(self, factors: Factors) -> MeanPosterior:
        """Return the posterior with further levels of factors that have coordinates."""
        return replace(self, factors=factors)

    @property
    def mean(self) -> float:
        """The mean of the seen outcomes."""
        return float(self.y.mean())

    def predict(self, cells: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (M,) of the value, without noise, of cells (M, F)."""
        return np.full(len(cells), self.mean), np.full(len(cells), self.noise / len(self.y))

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (n,), noise included, of every seen outcome had it been left out."""
        size = len(self.y)
        return (self.y.sum() - self.y) / (size - 1), np.full(size, self.noise * size / (size - 1))

    def leave_out(self, members: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (k,), noise included, of seen outcomes had all of them been left out together."""
        size = max(len(self.y) - len(members), 1)
        mean = (self.y.sum() - self.y[members].sum()) / size
        return np.full(len(members), mean), np.full(len(members), self.noise * (1 + 1 / size))

    def effects(self, factor: int, levels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation (L,) of what the levels of one factor add by themselves: nothing."""
        return np.zeros(len(levels)), np.zeros(len(levels))


def posterior_of(
    factors: Factors,
    codes: IntArray,
    y: FloatArray,
    terms: Sequence[ComponentTerm],
    variances: FloatArray,
    noise: FloatArray,
) -> Posterior:
    """Return the posterior of cells given outcomes ``y`` (n,) with noise variances (n,) at seen cells (n, F).

    Examples
    --------
    >>> from recombine.theory.components.terms import label_term
    >>> codes = np.indices((4, 4)).reshape(2, -1).T[:-1]
    >>> y, terms = 10.0 * codes[:, 0] + codes[:, 1], (label_term(0), label_term(1))
    >>> posterior = posterior_of(Factors.of(codes), codes, y, terms, np.ones(2), np.full(15, 1e-9))
    >>> posterior.predict(np.array([[3, 3]]))[0].round(4)
    array([33.])
    """
    covariance = np.diag(np.asarray(noise, dtype=float))
    for term, variance in zip(terms, variances, strict=True):
        covariance += variance * term.covariance(factors, codes, codes)
    inverse, _ = inverse_of(covariance)
    weights = inverse.sum(axis=0)
    projected = inverse - np.outer(weights, weights / weights.sum())
    mean, dual = 0.0, np.zeros(len(y))
    for _ in range(REFINEMENT_ROUNDS):  # where noise is next to nothing the inverse alone is not exact enough
        missed = y - mean - covariance @ dual
        mean, dual = mean + float(weights @ missed / weights.sum()), dual + projected @ missed
    return Posterior(factors, codes, tuple(terms), variances, noise, y, mean, inverse, projected, dual)
