"""What carries an outcome: the share of its variance that each set of factors has, with ranges.

A term's variance over the seen cells is its salience times the scatter of its covariance: the mean of K(z, z) less the
mean of K(z, z') over all cells. `recombine.theory.kernels.network_shares` puts wide networks on the same axis.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset
from recombine.theory.components.fit import ComponentsFit
from recombine.theory.components.sparse.mixed_equations import term_columns

#: Draws of log variances about their mode from which ranges of shares are read.
DRAWS = 2_000
#: Cells up to which shares are those of what the seen levels carry; beyond, of what such levels usually do.
MAX_CELLS_CARRIED = 600
#: A standard error of a log variance above this says nothing of it: the variance may be any.
MAX_LOG_ERROR = 3.0


@record
class VarianceShares:
    """Shares of the variance of the seen cells, (K,) each: ``sets`` of factors, the largest share first, noise last.

    ``low`` and ``high`` are ends of 90 % ranges. Where no rows repeat, the noise and what only whole combinations of
    all factors carry are one share (``noise_is_alone`` is False).
    """

    sets: tuple[Subset, ...]  #: Factors of each set; none for the noise.
    share: FloatArray
    low: FloatArray
    high: FloatArray
    noise_is_alone: bool


def variance_shares(fit: ComponentsFit) -> VarianceShares:
    """Return what share of the variance of the seen cells each set of factors carries, with 90 % ranges.

    Lines, curves and labels of one set count together. Ranges are those of draws about the mode.

    Examples
    --------
    >>> from recombine.theory.components import fit_components
    >>> cells = np.indices((8, 6)).reshape(2, -1).T
    >>> outcome = 3.0 * cells[:, 0] + cells[:, 1] + np.random.default_rng(0).normal(size=len(cells))
    >>> shares = variance_shares(fit_components(cells, outcome))
    >>> shares.sets, shares.share.round(2), shares.noise_is_alone
    (((0,), (1,), ()), array([0.93, 0.06, 0.01]), False)
    """
    owners = [*(tuple(sorted(term.factors)) for term in fit.terms), ()]
    sets = sorted({*owners} - {()}, key=lambda chosen: (len(chosen), chosen))
    weights = np.array([[owner == chosen for owner in owners] for chosen in (*sets, ())], dtype=float)
    scales = _scatter(fit)
    usual = _shares_of(np.append(fit.saliences.variances, fit.saliences.noise)[None], scales, weights)[0]
    low, high = np.quantile(_shares_of(_drawn_variances(fit), scales, weights), (0.05, 0.95), axis=0)
    shares = usual if len(fit.y) > MAX_CELLS_CARRIED else _carried_shares(fit, weights)
    # What these levels carry may be more than levels usually do, as with a slope: ranges move with it, in log odds.
    moved = _log_odds(shares) - _log_odds(usual)
    low, high = (1 / (1 + np.exp(-_log_odds(end) - moved)) for end in (low, high))
    order = [*np.argsort(-shares[:-1], kind="stable"), len(sets)]
    return VarianceShares(
        sets=(*(sets[index] for index in order[:-1]), ()),
        share=shares[order],
        low=np.minimum(low, shares)[order],
        high=np.maximum(high, shares)[order],
        noise_is_alone=any(len(term.factors) == fit.posterior.factors.count and term.is_labels for term in fit.terms),
    )


def _carried_shares(fit: ComponentsFit, weights: FloatArray) -> FloatArray:
    """Return shares (K,) of what the levels that were seen carry: of sets of terms, by weights (K, T + 1) of 0 and 1.

    The variance over cells of a sum of effects, posterior mean: that of its mean, and that of what is uncertain of it.
    """
    codes, factors = fit.posterior.codes, fit.posterior.factors
    grams = [
        variance * term.covariance(factors, codes, codes)
        for term, variance in zip(fit.terms, fit.saliences.variances, strict=True)
    ]
    grams.append(np.diag(fit.saliences.noise / fit.precision))
    inverse = np.linalg.pinv(sum(grams), hermitian=True)
    outcomes = fit.posterior.y - fit.posterior.mean
    powers = []
    for members in weights:
        gram = sum(gram for gram, member in zip(grams, members, strict=True) if member)
        carried = gram @ inverse
        uncertain = gram - carried @ gram
        powers.append(float((carried @ outcomes).var() + np.trace(uncertain) / len(codes) - uncertain.mean()))
    powers_at_least = np.maximum(powers, 1e-12 * max(powers))
    return np.asarray(powers_at_least / powers_at_least.sum())


def _log_odds(shares: FloatArray) -> FloatArray:
    inside = np.clip(shares, 1e-12, 1 - 1e-12)
    return np.asarray(np.log(inside / (1 - inside)))


def _scatter(fit: ComponentsFit) -> FloatArray:
    """Return the variance over the seen cells of each term at salience 1, and of the noise (T + 1,)."""
    codes, factors = fit.posterior.codes, fit.posterior.factors
    rows = [term_columns(term, factors, codes).rows(codes) for term in fit.terms]
    scatter = [row.power(2).sum() / len(codes) - float(np.square(row.mean(axis=0)).sum()) for row in rows]
    return np.append(scatter, np.mean(1 / fit.precision))


def _shares_of(variances: FloatArray, scales: FloatArray, weights: FloatArray) -> FloatArray:
    """Return shares (D, K) of sets from D draws of variances (D, T + 1), what each does over cells, and (K, T + 1)."""
    powers = (variances * scales) @ weights.T
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _drawn_variances(fit: ComponentsFit) -> FloatArray:
    """Return draws (D, T + 1) of the variances of terms and noise about their mode, the same ones every time."""
    covariance = fit.saliences.covariance
    errors = np.sqrt(covariance.diagonal())
    shrink = np.minimum(1.0, MAX_LOG_ERROR / np.maximum(errors, 1e-300))
    values, vectors = np.linalg.eigh(covariance * np.outer(shrink, shrink))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    logs = np.random.default_rng(0).normal(size=(DRAWS, len(errors))) @ root.T
    return np.asarray(np.append(fit.saliences.variances, fit.saliences.noise) * np.exp(logs))
