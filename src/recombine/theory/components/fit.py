"""Fit variance components to a table: terms, saliences, the scale of the outcome, and ranges that cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import contains
from recombine.cells.threads import one_thread
from recombine.errors import InputError
from recombine.theory.components.criterion import Criterion, Saliences, best_saliences, prior_centres, with_replicates
from recombine.theory.components.factors import Factors
from recombine.theory.components.guard import beats_mean, confirmed_share
from recombine.theory.components.posterior import MeanPosterior, Posterior, posterior_of
from recombine.theory.components.ranges import level_width, near_sd, seen_width, unseen_width
from recombine.theory.components.scales import IDENTITY, SCALES, OutcomeScale, are_counts
from recombine.theory.components.screening import screen_features, screen_terms
from recombine.theory.components.sparse.mixed_equations import term_columns
from recombine.theory.components.sparse.solver import SparsePosterior, fit_sparse
from recombine.theory.components.terms import ComponentTerm, candidate_terms, exact_features, exact_order

#: Cells up to which the covariance of all of them is a dense matrix; beyond fewer, only if terms have more columns.
MAX_COVARIANCE_CELLS, MAX_SMALL_CELLS = 1_500, 400
#: How many times smaller the left-out error on another scale has to be than on the outcome's.
MIN_GAIN_RATIO = 1.05
#: Standard deviations of left-out cells count as this share of the largest, at least.
MIN_SD_SHARE = 1e-6
#: Half a range that holds nine in ten normal errors, in standard deviations.
NORMAL_HALF_WIDTH = 1.645
#: Noise, as a share of the outcome's variance, below which a table may have none at all.
EXACT_NOISE_SHARE = 1e-4
#: The noise that an exact table is given, as a share of the outcome's variance: more blurs, less loses digits.
MIN_NOISE_SHARE = 1e-10
#: In an exact table a smaller variance of a value, as a share of the outcome's, is of that noise: the value is exact.
EXACT_VARIANCE_SHARE = 1e-8


@record
class SeenTable:
    """Seen cells (n, F) with outcomes and counts (n,), and the terms they may carry with covariances (T, n, n)."""

    factors: Factors
    codes: IntArray
    y: FloatArray
    counts: FloatArray
    terms: tuple[ComponentTerm, ...]
    covariances: FloatArray | None  #: None where they would be too large; equations are sparse then.
    #: Squares of rows about the mean of their cell, and rows less one, (n,) each; None where rows do not say.
    replicates: tuple[FloatArray, FloatArray] | None = None

    @property
    def cell_size(self) -> int:
        """Factors of the term that is left to every cell alone, beside noise that shrinks with rows."""
        return self.codes.shape[1] if tells_cells(self.counts, self.replicates) else 0

    def covariances_among(self, members: IntArray) -> FloatArray:
        """Return covariances (2, m, m) between some of the seen cells: by single factors alike, and by all terms."""
        grams = covariances_of(self.factors, self.codes[members], self.terms)
        grams /= np.maximum(grams.diagonal(axis1=1, axis2=2).mean(axis=1), 1e-300)[:, None, None]
        single = [len(term.factors) == 1 for term in self.terms]
        return np.stack([grams[single].sum(axis=0), grams.sum(axis=0)])


@record
class CellValues:
    """Values of M cells, (M,) each, on the scale of the outcomes; ``sd`` and ranges are those of a new outcome."""

    mean: FloatArray
    error: FloatArray  #: Standard error of the value, without the noise of a new outcome, calibrated as ranges are.
    sd: FloatArray
    low: FloatArray
    high: FloatArray

    def towards(self, values: CellValues, shares: FloatArray | float) -> CellValues:
        """Return values between these and others: a share (M,) of these, what is missing to 1 of the others."""
        return CellValues(
            mean=shares * self.mean + (1 - shares) * values.mean,
            error=shares * self.error + (1 - shares) * values.error,
            sd=shares * self.sd + (1 - shares) * values.sd,
            low=shares * self.low + (1 - shares) * values.low,
            high=shares * self.high + (1 - shares) * values.high,
        )


@record
class ComponentsFit:
    """Variance components of a table and the values they give."""

    terms: tuple[ComponentTerm, ...]
    variances: FloatArray  #: Of the terms (T,), on the outcome's scale or on its logs, as ``scale`` says.
    standard_errors: FloatArray  #: Of the variances, and last of the noise (T + 1,).
    noise: float  #: Variance of one row about the value of its cell.
    scale: OutcomeScale
    mean: float
    saliences: Saliences  #: As fitted, on outcomes of variance 1.
    posterior: Posterior | SparsePosterior | MeanPosterior  #: Of outcomes of variance 1.
    counts: FloatArray  #: Rows of each seen cell (n,).
    y: FloatArray  #: Outcomes of the seen cells (n,).
    centre: float
    spread: float
    width: float  #: Half a range of cells whose levels were all seen, in posterior standard deviations.
    exact: bool = False  #: Whether effects give the outcomes to rounding.
    #: The fit without components, towards which values of unseen cells go, and the share of the components in them.
    plain: ComponentsFit | None = None
    confirmed: float = 1.0

    def predict(self, codes: npt.ArrayLike, counts: npt.ArrayLike = 1.0) -> CellValues:
        """Return values of cells (M, F) and ranges for the mean of ``counts`` new rows of each."""
        cells = np.asarray(codes, dtype=np.int64)
        rows = np.broadcast_to(np.asarray(counts, dtype=float), (len(cells),))
        mean, variance = self.posterior.predict(cells)
        if self.exact:
            variance = np.where(variance < EXACT_VARIANCE_SHARE, 0.0, variance)
        # Without components noise is what cells differ by, however many rows each has.
        noise = self.saliences.noise / (rows if self.terms else 1.0)
        values = self._on_scale(mean, variance, variance + noise, self._widths(cells, variance))
        if self.plain is None:
            return values
        among = contains(1 + np.maximum(self.posterior.codes, -1), 1 + np.maximum(cells, -1))
        shares = np.where(among, 1.0, self.confirmed)
        return values.towards(self.plain.predict(cells), shares)

    def with_levels(
        self,
        coordinates: Mapping[int, npt.ArrayLike] | None = None,
        features: Mapping[int, npt.ArrayLike] | None = None,
    ) -> ComponentsFit:
        """Return the fit with further levels by coordinates (K,) or features (K, D) of factors, coded after others."""
        factors = self.posterior.factors.extended(coordinates, features)
        plain = None if self.plain is None else self.plain.with_levels(coordinates, features)
        return replace(self, posterior=self.posterior.with_factors(factors), plain=plain)

    def leave_one_out(self) -> CellValues:
        """Return what would be said of every seen cell (n,) had it been left out, saliences as they are."""
        mean, variance = self.posterior.leave_one_out()
        settled = np.maximum(variance - self.saliences.noise / self.counts, 0.0)
        values = self._on_scale(mean, settled, variance, np.full(len(self.y), self.width))
        return values if self.plain is None else values.towards(self.plain.leave_one_out(), self.confirmed)

    def effects(self, factor: int) -> tuple[FloatArray, FloatArray]:
        """Return what each level of a factor adds by itself (L,), with standard errors, on the fit's scale."""
        levels = np.arange(self.posterior.factors.sizes[factor])
        mean, sd = self.posterior.effects(factor, levels)
        return self.spread * mean, self.spread * sd

    @cached_property
    def _near_sd(self) -> float:
        return near_sd(self.posterior)

    @cached_property
    def _level_width(self) -> float:
        return level_width(self.posterior)

    def _widths(self, cells: IntArray, variances: FloatArray) -> FloatArray:
        """Return half ranges (M,) of cells (M, F) with variances (M,) in standard deviations, by what was seen."""
        widths, posterior = np.full(len(cells), self.width), self.posterior
        open_cells = np.sqrt(variances) > self._near_sd
        if open_cells.any():
            widths[open_cells] = self._level_width
        for factor in range(cells.shape[1]):
            unseen = ~np.isin(cells[:, factor], posterior.codes[:, list(posterior.factors.twins(factor))])
            if unseen.any():
                widths[unseen] = np.maximum(widths[unseen], unseen_width(posterior, factor))
        return widths

    def _on_scale(self, mean: FloatArray, settled: FloatArray, variance: FloatArray, width: FloatArray) -> CellValues:
        """Return values with variances (M,), without and with the noise of an outcome, on the scale of outcomes."""
        centre, sd = self.centre + self.spread * mean, self.spread * np.sqrt(variance)
        middle, low, high = (self.scale.back(centre + side * width * sd) for side in (0, -1, 1))
        if are_counts(self.y):  # no count is below 0
            middle, low = np.maximum(middle, 0.0), np.maximum(low, 0.0)
        # Calibrated as ranges are: a standard error is to a range what it is where errors are normal.
        settled_sd = self.spread * np.sqrt(settled) * width / NORMAL_HALF_WIDTH
        # Half of what one standard deviation to either side makes of the outcome.
        back = self.scale.back
        error, spread = (np.asarray(back(centre + each) - back(centre - each)) / 2 for each in (settled_sd, sd))
        return CellValues(middle, error, spread, low, high)


def fit_components(
    codes: npt.ArrayLike,
    values: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    coordinates: Mapping[int, npt.ArrayLike] | None = None,
    features: Mapping[int, npt.ArrayLike] | None = None,
    symmetric: Sequence[Sequence[int]] = (),
    replicates: tuple[FloatArray, FloatArray] | None = None,
    order: int = 2,
    scales: Sequence[OutcomeScale] = SCALES,
) -> ComponentsFit:
    """Fit the components of mean outcomes ``values`` (n,) of seen cells (n, F), ``counts`` (n,) rows each.

    ``coordinates`` are numbers of levels (L,) by factor, ``features`` descriptors (L, D) by factor, for unseen levels
    too. Factors of a ``symmetric`` group are interchangeable: their levels have the same codes and effects, whichever
    of them has them. ``replicates`` are squares of rows about the mean of their cell and rows less one, (n,) each: they
    tell what is left to every cell from noise. The scale is the one with the smallest leave-one-out error on the
    outcome's scale. Values of unseen cells leave the mean as far as left-out cells confirm; where no component is
    beyond chance, the value of every cell is the mean.

    Examples
    --------
    >>> codes = np.indices((6, 5)).reshape(2, -1).T
    >>> fit = fit_components(codes[:-1], 10.0 * codes[:-1, 0] + codes[:-1, 1])
    >>> fit.predict(codes[-1:]).mean.round(3)
    array([54.])
    """
    cells, y = as_cells(codes), np.asarray(values, dtype=float)
    if len(cells) < 2 or y.shape != (len(cells),) or not np.isfinite(y).all():
        raise InputError(f"values have shape {y.shape} for {len(cells)} cells; give one finite number each, 2 or more")
    rows = np.ones(len(y)) if counts is None else np.asarray(counts, dtype=float)
    if rows.shape != y.shape or not (rows > 0).all():
        raise InputError(f"counts have shape {rows.shape} for {len(cells)} cells; give a positive number for each")
    factors = Factors.of(cells, coordinates, features, symmetric)
    if symmetric and len(cells) > MAX_COVARIANCE_CELLS:
        raise InputError(
            f"{len(cells)} cells of interchangeable factors are more than {MAX_COVARIANCE_CELLS}; give fewer"
        )
    terms = candidate_terms(factors, cells, order, cells=tells_cells(rows, replicates))
    terms = screen_features(factors, cells, y, terms)
    with one_thread():
        dense = _is_dense(factors, cells, terms)
        terms = screen_terms(factors, cells, y, rows, terms) if dense else terms
        covariances = covariances_of(factors, cells, terms) if dense else None
        table = SeenTable(factors, cells, y, rows, terms, covariances, replicates)
        fits = [fit_on_scale(table, scale) for scale in scales if scale.fits(y)]
        errors = [np.mean((fit.leave_one_out().mean - y) ** 2) for fit in fits]
        penalties = [1.0 if fit.scale is IDENTITY else MIN_GAIN_RATIO for fit in fits]
        exact = [fit for fit in fits if fit.exact]
        best = exact[0] if exact else fits[int(np.argmin(np.multiply(errors, penalties)))]
        return best if best.exact else _confirmed(best, table)


def _confirmed(fit: ComponentsFit, table: SeenTable) -> ComponentsFit:
    """Return the fit with values of unseen cells as far from the mean as left-out cells confirm, if not by chance."""
    left_out, plain = fit.leave_one_out(), mean_only(table)
    # A cell whose value others give without any noise would count more than all the rest together.
    sd = np.maximum(left_out.sd, MIN_SD_SHARE * left_out.sd.max())
    weights = sd**-2 if np.ptp(fit.counts) > 0 and sd.all() else np.ones(len(fit.y))
    share = confirmed_share(fit.y, left_out.mean, weights)
    if share <= 0 or not beats_mean(table.codes, table.covariances_among, fit.y, left_out.mean, weights):
        return plain
    return replace(fit, plain=plain, confirmed=share)


def tells_cells(counts: FloatArray, replicates: tuple[FloatArray, FloatArray] | None) -> bool:
    """Say whether what is left to every cell can be told from noise: rows repeat cells, or noise differs by counts."""
    return replicates is not None or bool(np.ptp(counts) > 0)


def _is_dense(factors: Factors, codes: IntArray, terms: Sequence[ComponentTerm]) -> bool:
    """Whether a dense covariance of seen cells (n, F) is faster than sparse equations, which say the same."""
    if factors.symmetric or not MAX_SMALL_CELLS < len(codes) <= MAX_COVARIANCE_CELLS:
        return len(codes) <= MAX_COVARIANCE_CELLS
    counts = [term_columns(term, factors, codes).count for term in terms]
    # At as many columns as cells both take as long to fit, and sparse equations give values of further cells sooner.
    eliminated = max((count for term, count in zip(terms, counts, strict=True) if term.is_labels), default=0)
    return sum(counts) - eliminated > len(codes)


def covariances_of(factors: Factors, codes: IntArray, terms: Sequence[ComponentTerm]) -> FloatArray:
    """Return covariances (T, n, n) of terms between cells (n, F)."""
    total = np.empty((len(terms), len(codes), len(codes)))
    for index, term in enumerate(terms):
        total[index] = term.covariance(factors, codes, codes)
    return total


def _exact(table: SeenTable, y: FloatArray) -> SeenTable:
    """Return the table with the terms that give outcomes (n,) exactly where some do: more would only blur them."""
    if len(y) > MAX_COVARIANCE_CELLS:
        return table
    order = exact_order(table.codes, y, symmetric=table.factors.symmetric)
    if order is None:
        return table
    exact = exact_features(table.factors, table.codes, y) if order == 1 else ()
    stay = [
        index
        for index, term in enumerate(table.terms)
        if len(term.kernels) <= order and (term.factors[0] not in exact or (term.features and term.is_lines))
    ]
    covariances = None if table.covariances is None else table.covariances[stay]
    return replace(table, terms=tuple(table.terms[index] for index in stay), covariances=covariances)


def _solved(
    table: SeenTable, y: FloatArray, within: tuple[float, float] | None
) -> tuple[Saliences, Posterior | SparsePosterior | MeanPosterior]:
    """Return saliences and posterior of standardized outcomes (n,), given squares and freedom within cells.

    Priors are of the noise of a usual cell, so that counts that are all larger by the same factor say nothing new.
    """
    unit = 1 / float(np.mean(1 / table.counts))
    factors, codes, terms, noise = table.factors, table.codes, table.terms, unit / table.counts
    within = None if within is None else (within[0] / unit, within[1])
    if not terms:
        variance = float(y @ y) / max(len(y) - 1, 1)
        saliences = Saliences(np.zeros(0), variance, 0.0, np.full((1, 1), 2 / len(y)), 0)
        return saliences, MeanPosterior(factors, codes, y, variance)
    centres = prior_centres(terms, table.cell_size)
    posterior: Posterior | SparsePosterior
    if table.covariances is None:
        saliences, posterior = fit_sparse(factors, codes, y, noise, terms, centres, within)
    else:
        criterion = with_replicates(Criterion(table.covariances, noise, y, centres), within)
        saliences = best_saliences(criterion, terms)
        posterior = posterior_of(factors, codes, y, terms, saliences.variances, saliences.noise * noise)
    return replace(saliences, noise=unit * saliences.noise), posterior


def _may_be_exact(table: SeenTable, saliences: Saliences, within: tuple[float, float] | None) -> bool:
    """Whether effects may give the outcomes exactly: always in few cells, which do not tell how small noise is."""
    small = len(table.y) <= MAX_SMALL_CELLS and (within is None or within[0] == 0)
    return bool(table.terms) and (small or saliences.noise < EXACT_NOISE_SHARE)


def _without_noise(
    table: SeenTable, y: FloatArray, saliences: Saliences, posterior: Posterior | SparsePosterior | MeanPosterior
) -> tuple[Saliences, Posterior | SparsePosterior | MeanPosterior]:
    """Return saliences and posterior of exact outcomes (n,) with next to no noise, where few cells left some."""
    if table.covariances is None or saliences.noise <= MIN_NOISE_SHARE:
        return saliences, posterior
    noise = MIN_NOISE_SHARE / (table.counts * float(np.mean(1 / table.counts)))
    posterior = posterior_of(table.factors, table.codes, y, table.terms, saliences.variances, noise)
    return replace(saliences, noise=MIN_NOISE_SHARE), posterior


def mean_only(table: SeenTable) -> ComponentsFit:
    """Return the fit without components: every cell has the mean of the seen cells, whatever their counts."""
    size = len(table.y)
    plain = replace(table, counts=np.ones(size), terms=(), covariances=np.empty((0, 0, 0)), replicates=None)
    return fit_on_scale(plain, IDENTITY)


def fit_on_scale(table: SeenTable, scale: OutcomeScale) -> ComponentsFit:
    """Fit the saliences of the terms of a table on one scale, by dense covariances or by sparse equations."""
    values = scale.forward(table.y)
    centre, spread = float(values.mean()), float(values.std()) or 1.0
    standard = (values - centre) / spread
    within = None
    if table.replicates is not None:
        squares, freedom = table.replicates
        within = float(squares @ (scale.slope(table.y) / spread) ** 2), float(freedom.sum())
    saliences, posterior = _solved(table, standard, within)
    given, table = table, _exact(table, standard) if _may_be_exact(table, saliences, within) else table
    if table is not given:
        saliences, posterior = _solved(table, standard, within)
        saliences, posterior = _without_noise(table, standard, saliences, posterior)
    return ComponentsFit(
        terms=table.terms,
        variances=spread**2 * saliences.variances,
        standard_errors=spread**2 * saliences.standard_errors,
        noise=spread**2 * saliences.noise,
        scale=scale,
        mean=centre + spread * posterior.mean,
        saliences=saliences,
        posterior=posterior,
        counts=table.counts,
        y=table.y,
        centre=centre,
        spread=spread,
        width=seen_width(posterior),
        exact=table is not given,
    )
