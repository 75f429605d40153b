"""Fit variance components to a table: terms, saliences, the scale of the outcome, and ranges that cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

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
from recombine.theory.components.ranges import RangeWidths
from recombine.theory.components.scales import IDENTITY, LOG_TOLERANCE, SCALES, OutcomeScale, ScaledValues, are_counts
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
    precision: FloatArray  #: Rows of each seen cell (n,), by what their noise is on the scale there.
    y: FloatArray  #: Outcomes of the seen cells (n,).
    centre: float
    spread: float
    exact: bool = False  #: Whether effects give the outcomes to rounding.
    #: The fit without components, on the same scale, towards which values of unseen cells go, and the share of the
    #: components in them.
    plain: ComponentsFit | None = None
    confirmed: float = 1.0

    def predict(self, codes: npt.ArrayLike, counts: npt.ArrayLike = 1.0) -> CellValues:
        """Return values of cells (M, F) and ranges for the mean of ``counts`` new rows of each."""
        cells = np.asarray(codes, dtype=np.int64)
        values = self._scaled(cells, np.broadcast_to(np.asarray(counts, dtype=float), (len(cells),)))
        if self.plain is not None:
            among = contains(1 + np.maximum(self.posterior.codes, -1), 1 + np.maximum(cells, -1))
            plain = self.plain._scaled(cells, np.ones(len(cells)))
            values = values.towards(plain, np.where(among, 1.0, self.confirmed))
        return _as_outcomes(self, values)

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
        everywhere, values = np.arange(len(self.y)), []
        for fit in (self, *((self.plain,) if self.plain else ())):
            values.append(fit._left_out(everywhere, *fit.posterior.leave_one_out(), fit.widths.seen))
        return _as_outcomes(self, values[0].towards(values[-1], self.confirmed))

    def effects(self, factor: int) -> tuple[FloatArray, FloatArray]:
        """Return what each level of a factor adds by itself (L,), with standard errors, on the fit's scale."""
        levels = np.arange(self.posterior.factors.sizes[factor])
        mean, sd = self.posterior.effects(factor, levels)
        return self.spread * mean, self.spread * sd

    @cached_property
    def widths(self) -> RangeWidths:
        """Half widths of ranges, in posterior standard deviations."""
        noise = self.saliences.noise / self.precision
        # As if all were measured as a usual cell is.
        variances = self.posterior.leave_one_out()[1] - noise + np.median(noise)
        return RangeWidths(self.posterior, partial(_distances, self), variances)

    def _scaled(self, cells: IntArray, rows: FloatArray) -> ScaledValues:
        """Return values of cells (M, F) and of the mean of new ``rows`` (M,) of each, on the fit's scale."""
        mean, variance = self.posterior.predict(cells)
        if self.exact:
            variance = np.where(variance < EXACT_VARIANCE_SHARE, 0.0, variance)
        return self._with_noise(mean, variance, rows, self.widths.of(cells, variance))

    def _left_out(self, members: IntArray, mean: FloatArray, variance: FloatArray, width: float = 1.0) -> ScaledValues:
        """Return values (k,) of seen cells that were left out, whose variances hold the noise of the cells."""
        settled = np.maximum(variance - self.saliences.noise / self.precision[members], 0.0)
        return self._with_noise(mean, settled, self.counts[members], width)

    def _with_noise(
        self, mean: FloatArray, settled: FloatArray, rows: FloatArray, width: FloatArray | float
    ) -> ScaledValues:
        """Return standardized values with variances (M,), and the noise of the mean of ``rows`` (M,), on the scale."""
        centre = self.centre + self.spread * mean
        # Without components noise is what cells differ by, however many rows each has.
        noise = self.saliences.noise * (self.scale.noise_at(centre) / rows if self.terms else np.ones(len(mean)))
        return ScaledValues.of(centre, self.spread**2 * settled, self.spread**2 * noise, rows, width)


def left_out_deviations(fit: ComponentsFit) -> FloatArray:
    """Return by how many standard deviations seen outcomes (n,) exceed what the other cells say of them.

    Examples
    --------
    >>> codes = np.indices((6, 5)).reshape(2, -1).T
    >>> y = 2.0 ** codes.sum(axis=1) + 0.01 * np.arange(30) % 0.03
    >>> y[7] *= 3
    >>> deviations = left_out_deviations(fit_components(codes, y))
    >>> int(np.argmax(np.abs(deviations))), bool(deviations[7] > 3)
    (7, True)
    """
    mean, variance = fit.posterior.leave_one_out()
    expected = fit.scale.back(fit.centre + fit.spread * mean)
    return np.copysign(_distances(fit, np.arange(len(fit.y)), mean, variance), fit.y - expected)


def _distances(fit: ComponentsFit, members: IntArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return how far seen cells (k,) lie from what is said of them without them, in standard deviations."""
    return fit.scale.distances(fit.y[members], fit._left_out(members, mean, variance))


def _as_outcomes(fit: ComponentsFit, values: ScaledValues) -> CellValues:
    """Return values on the scale of a fit as outcomes."""
    back, (low, high), middle = fit.scale.back, fit.scale.ends(values), fit.scale.back(values.mean)
    if are_counts(fit.y, fit.counts):  # no count is below 0
        middle, low = np.maximum(middle, 0.0), np.maximum(low, 0.0)
    # Half of what one standard deviation to either side makes of the outcome.
    error, sd = (
        np.asarray(back(values.mean + each) - back(values.mean - each)) / 2 for each in (values.error, values.sd)
    )
    return CellValues(middle, error, sd, low, high)


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
        fits = [fit_on_scale(table, scale) for scale in scales if scale.fits(y, rows)]
        errors = [np.mean((fit.leave_one_out().mean - y) ** 2) for fit in fits]
        penalties = [1.0 if fit.scale is IDENTITY else MIN_GAIN_RATIO for fit in fits]
        exact = [fit for fit in fits if fit.exact]
        best = exact[0] if exact else fits[int(np.argmin(np.multiply(errors, penalties)))]
        return best if best.exact else _confirmed(best, table)


def _confirmed(fit: ComponentsFit, table: SeenTable) -> ComponentsFit:
    """Return the fit with values of unseen cells as far from the mean as left-out cells confirm, if not by chance.

    How far is told and done on the fit's scale: the mean of outcomes is far above most of them where effects multiply,
    so that a small share of it would be added to every small value. Chance is told by outcomes: errors of large
    ones, where logs miss them, count in full.
    """
    left_out = fit.leave_one_out()
    mean, variance = fit.posterior.leave_one_out()
    share = confirmed_share(fit.posterior.y, mean, _weights(fit.precision, np.sqrt(variance)))
    weights = _weights(fit.precision, left_out.sd)
    if share <= 0 or not beats_mean(table.codes, table.covariances_among, fit.y, left_out.mean, weights):
        return mean_only(table)
    saliences, posterior = _mean_of(table.factors, table.codes, fit.posterior.y)
    plain = replace(fit, terms=(), saliences=saliences, posterior=posterior, precision=np.ones(len(fit.y)))
    return replace(fit, plain=plain, confirmed=share)


def _weights(precision: FloatArray, sd: FloatArray) -> FloatArray:
    """Return how much left-out cells (n,) count: by their standard deviations (n,) where precision (n,) differs."""
    finite = sd[np.isfinite(sd)]  # logs that are very unsure are outcomes of any size
    if np.ptp(precision) == 0 or not finite.any():
        return np.ones(len(sd))
    # A cell whose value others give without any noise would count more than all the rest together.
    smallest = max(float(finite.min()), MIN_SD_SHARE * float(finite.max()))
    return np.asarray((smallest / np.maximum(sd, smallest)) ** 2)


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


def _mean_of(factors: Factors, codes: IntArray, y: FloatArray) -> tuple[Saliences, MeanPosterior]:
    """Return saliences and posterior without components of standardized outcomes (n,) of cells (n, F)."""
    variance = float(y @ y) / max(len(y) - 1, 1)
    saliences = Saliences(np.zeros(0), variance, 0.0, np.full((1, 1), 2 / len(y)), 0)
    return saliences, MeanPosterior(factors, codes, y, variance)


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
        return _mean_of(factors, codes, y)
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
    return replace(fit_on_scale(plain, IDENTITY), counts=table.counts)


def fit_on_scale(table: SeenTable, scale: OutcomeScale) -> ComponentsFit:
    """Fit the saliences of the terms of a table on one scale, by dense covariances or by sparse equations."""
    fit, fitted = _fit_once(table, scale, None), scale.forward(table.y)
    for _ in range(scale.rounds - 1):
        before, fitted = fitted, fit.centre + fit.spread * fit.posterior.predict(table.codes)[0]
        if np.abs(fitted - before).max() < LOG_TOLERANCE:
            break
        fit = _fit_once(table, scale, fitted)
    return fit


def _fit_once(given: SeenTable, scale: OutcomeScale, fitted: FloatArray | None) -> ComponentsFit:
    """Fit to responses by what was ``fitted`` (n,) before, if anything."""
    values = scale.responses(given.y, fitted)
    centre, spread = float(values.mean()), float(values.std()) or 1.0
    standard = (values - centre) / spread
    noise = scale.noise_at(scale.forward(given.y) if fitted is None else fitted)
    table = replace(given, counts=given.counts / noise)
    within = None
    if table.replicates is not None:
        squares, freedom = table.replicates
        slopes = scale.slope(given.y if fitted is None else scale.back(fitted))
        within = float((squares / noise) @ (slopes / spread) ** 2), float(freedom.sum())
    saliences, posterior = _solved(table, standard, within)
    whole = table
    if scale.rounds == 1 and _may_be_exact(table, saliences, within):
        table = _exact(table, standard)
    if table is not whole:
        saliences, posterior = _solved(table, standard, within)
        saliences, posterior = _without_noise(table, standard, saliences, posterior)
    return ComponentsFit(
        terms=table.terms,
        variances=spread**2 * saliences.variances,
        standard_errors=spread**2 * saliences.standard_errors,
        noise=spread**2 * saliences.noise * float(np.mean(noise)),
        scale=scale,
        mean=centre + spread * posterior.mean,
        saliences=saliences,
        posterior=posterior,
        counts=given.counts,
        precision=table.counts,
        y=table.y,
        centre=centre,
        spread=spread,
        exact=table is not whole,
    )
