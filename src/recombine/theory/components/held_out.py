"""Values of seen cells from the others, by components of one order on one scale: what structures are read from.

Variances are learned once, from all cells; those outside a fold then give the values of its cells. Terms of several
factors are only fitted where what the smaller ones leave of the outcome asks for them, by `excess_scores`, those that
it asks for most where there are too many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.threads import one_thread
from recombine.theory.components.criterion import Saliences, prior_centres
from recombine.theory.components.factors import Factors
from recombine.theory.components.scales import IDENTITY, OutcomeScale
from recombine.theory.components.screening import excess_scores
from recombine.theory.components.sparse.mixed_equations import mixed_equations, term_columns
from recombine.theory.components.sparse.solver import SparsePosterior, fit_sparse, sparse_posterior
from recombine.theory.components.terms import ComponentTerm, candidate_terms

#: Columns beside the largest term's up to which variances are learned: a second of work.
MAX_COLUMNS_READ = 800
#: Nanoseconds on a laptop of learning variances: for columns cubed, and for entries of products of two terms.
NANOSECONDS_PER_COLUMN_CUBED, NANOSECONDS_PER_ENTRY_OF_PRODUCT = 2.0, 10.0
#: Standard deviations above chance from which on a term of several factors is fitted.
MIN_EXCESS_SCORE = 2.0
#: Degree of the polynomial that looks for a curve, and how many times its gain by chance it has to gain per degree.
CURVE_DEGREE, MIN_GAIN_OF_CURVE = 4, 2.0
#: Quantiles of residuals by which values on another scale become means of outcomes.
SMEARING_QUANTILES = 41


class HeldOutComponents:
    """Seen cells (N, F) with outcomes and weights (N,), and the fold (N,) with which each is held out, -1 for none.

    ``spend`` is told the nanoseconds that variances are going to take on a laptop, and may refuse.

    Examples
    --------
    >>> cells = np.indices((6, 5)).reshape(2, -1).T
    >>> components = HeldOutComponents(cells, cells @ [10.0, 1.0], np.ones(30), np.arange(30) % 4)
    >>> components.values().round(2)[:7]
    array([ 0.,  1.,  2.,  3.,  4., 10., 11.])
    """

    def __init__(
        self,
        codes: IntArray,
        y: FloatArray,
        weights: FloatArray,
        fold: IntArray,
        spend: Callable[[float], None] | None = None,
    ) -> None:
        self.codes, self.y, self.weights, self.fold, self.factors = codes, y, weights, fold, Factors.of(codes)
        self._spend = spend or (lambda nanoseconds: None)
        self._chosen: dict[tuple[int, OutcomeScale], tuple[ComponentTerm, ...]] = {}
        self._values: dict[tuple[object, ...], FloatArray | None] = {}
        self._fits: dict[tuple[object, ...], tuple[Saliences, SparsePosterior] | None] = {}

    def values(self, order: int = 1, scale: OutcomeScale = IDENTITY) -> FloatArray | None:
        """Return values (N,) of cells that are held out, NaN for the others, by terms of up to ``order`` factors.

        Values are means on the outcome's own scale. None where learning variances would take too long.
        """
        key = (scale, *self._terms(order, scale))
        if key not in self._values:
            with one_thread():
                fit = self._fit(order, scale)
                self._values[key] = None if fit is None else self._held_out(fit, scale)
        return self._values[key]

    def _held_out(self, fit: tuple[Saliences, SparsePosterior], scale: OutcomeScale) -> FloatArray:
        result = np.full(len(self.y), np.nan)
        standard, noise, centre, spread = self._standard(scale)
        for number in np.unique(self.fold[self.fold >= 0]):
            rows, tested = np.flatnonzero(self.fold != number), np.flatnonzero(self.fold == number)
            posterior = self._posterior(fit, rows, standard, noise)
            result[tested] = sums = centre + spread * posterior.means(self.codes[tested])
            if scale is not IDENTITY:
                residuals = spread * (standard[rows] - posterior.means(self.codes[rows]))
                # Means of outcomes, which differ from sums on the scale as residuals do.
                quantiles = np.quantile(residuals, (np.arange(SMEARING_QUANTILES) + 0.5) / SMEARING_QUANTILES)
                result[tested] = scale.back(sums[:, None] + quantiles).mean(axis=1)
        return result

    def carries(self, order: int) -> bool:
        """Whether some term of ``order`` factors carries more than chance, or might: where it takes too long to say."""
        more = len(self._terms(order, IDENTITY)) > len(self._terms(order - 1, IDENTITY))
        return more or self._fit(order - 1, IDENTITY) is None

    def curved(self, order: int = 1) -> bool:
        """Whether outcomes bend as held-out values of an ``order`` grow: polynomials say more of them than a line."""
        values = self.values(order)
        if values is None:
            return True
        scored = np.isfinite(values)
        along, y = values[scored], self.y[scored]
        along = (along - along.mean()) / (along.std() or 1.0)
        misfits = []
        for degree in (1, CURVE_DEGREE):
            powers = np.polynomial.legendre.legvander(np.clip(along / 3, -1.0, 1.0), degree)
            powers[:, 1] = along
            effects = np.linalg.lstsq(powers, y, rcond=None)[0]
            misfits.append(float(np.sum((y - powers @ effects) ** 2)))
        spare = len(y) - CURVE_DEGREE - 1
        gain = (misfits[0] - misfits[1]) / (CURVE_DEGREE - 1)
        return spare > 0 and gain > MIN_GAIN_OF_CURVE * misfits[1] / spare

    def _standard(self, scale: OutcomeScale) -> tuple[FloatArray, FloatArray, float, float]:
        """Return outcomes on a scale, of mean 0 and variance 1, their noise up to a factor, (N,) each; mean and sd."""
        values, noise = scale.forward(self.y), 1 / self.weights
        centre, spread = float(values.mean()), float(values.std()) or 1.0
        if np.ptp(self.weights) > 0:
            noise = noise * scale.slope(self.y) ** 2
        return (values - centre) / spread, noise / noise.mean(), centre, spread

    def _posterior(
        self, fit: tuple[Saliences, SparsePosterior], rows: IntArray, standard: FloatArray, noise: FloatArray
    ) -> SparsePosterior:
        """Return the posterior given some rows (n,), at variances learned from all."""
        saliences, whole_table = fit
        terms = tuple(columns.term for columns in whole_table.system.equations.columns)
        equations = mixed_equations(self.factors, self.codes[rows], standard[rows], noise[rows], terms)
        return sparse_posterior(self.factors, standard[rows], equations, saliences.variances, saliences.noise)

    def _fit(self, order: int, scale: OutcomeScale) -> tuple[Saliences, SparsePosterior] | None:
        terms = self._terms(order, scale)
        key = (scale, *terms)
        if key not in self._fits:
            counts = self._counts(terms)
            columns = sum(counts) - max(counts, default=0)
            if not terms or columns > MAX_COLUMNS_READ:
                self._fits[key] = None
            else:
                entries = float(len(self.y)) * len(terms) ** 2
                self._spend(NANOSECONDS_PER_COLUMN_CUBED * columns**3 + NANOSECONDS_PER_ENTRY_OF_PRODUCT * entries)
                standard, noise, _, _ = self._standard(scale)
                centres = prior_centres(terms, 0)
                self._fits[key] = fit_sparse(self.factors, self.codes, standard, noise, terms, centres)
        return self._fits[key]

    def _terms(self, order: int, scale: OutcomeScale) -> tuple[ComponentTerm, ...]:
        """Return terms of single factors, and those of several that the smaller ones leave something to."""
        if (order, scale) not in self._chosen:
            self._chosen[order, scale] = self._choose_terms(order, scale)
        return self._chosen[order, scale]

    def _choose_terms(self, order: int, scale: OutcomeScale) -> tuple[ComponentTerm, ...]:
        candidates = [term for term in candidate_terms(self.factors, self.codes, order) if len(term.kernels) == order]
        if order == 1:
            return tuple(candidates)
        smaller = self._terms(order - 1, scale)
        fit = self._fit(order - 1, scale)
        if fit is None or not candidates:
            return smaller
        scores = excess_scores(fit[1], fit[0].variances, candidates)
        counts = self._counts(smaller)
        for index in np.argsort(-scores, kind="stable")[: np.count_nonzero(scores > MIN_EXCESS_SCORE)]:
            more = counts + self._counts((candidates[index],))
            if sum(more) - max(more) <= MAX_COLUMNS_READ:
                smaller, counts = (*smaller, candidates[index]), more
        return smaller

    def _counts(self, terms: tuple[ComponentTerm, ...]) -> list[int]:
        """Return how many columns each term has."""
        return [term_columns(term, self.factors, self.codes).count for term in terms]
