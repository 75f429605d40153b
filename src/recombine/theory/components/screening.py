"""Which of many terms are worth fitting: single factors first, then those that the rest of the outcome asks for most.

At saliences of the single factors the derivative of the criterion by the variance of a further term is
1/2 (y' P K P y - tr P K). Its two parts are equal in the mean where the term carries nothing, so their ratio says how
much more alike the rest of the outcome is within the term's groups than by chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.theory.components.criterion import Criterion, maximize_criterion, prior_centres, start_logs
from recombine.theory.components.factors import Factors
from recombine.theory.components.posterior import posterior_of
from recombine.theory.components.sparse.mixed_equations import term_columns
from recombine.theory.components.sparse.solver import SparsePosterior
from recombine.theory.components.terms import ComponentTerm

#: Terms times squared cells that are fitted at once: two seconds of work.
MAX_COVARIANCE_NUMBERS = 25_000_000
#: No more terms than cells are fitted, but so many always.
MIN_TERMS_ALLOWED = 24
#: Tables drawn from the components themselves that say how large scores are by chance.
SIMULATED_TABLES = 30
#: Features of a factor that have terms for themselves at most.
MAX_FEATURES_ALONE = 12


def screen_features(
    factors: Factors, codes: IntArray, y: FloatArray, terms: Sequence[ComponentTerm]
) -> tuple[ComponentTerm, ...]:
    """Return terms without single features that go least with outcomes (n,) of cells (n, F), where there are many.

    All features stay in the terms of all together.
    """
    dropped: set[tuple[int, int]] = set()
    for factor, table in enumerate(factors.features):
        if table is None or table.shape[1] <= MAX_FEATURES_ALONE:
            continue
        rows = np.nan_to_num(table[codes[:, factor]])
        fit = np.abs((y - y.mean()) @ rows) / np.sqrt(np.maximum(np.square(rows).sum(axis=0), 1e-300))
        dropped |= {(factor, int(column)) for column in np.argsort(-fit, kind="stable")[MAX_FEATURES_ALONE:]}
    return tuple(term for term in terms if not (term.is_one_feature and (term.factors[0], term.features[0]) in dropped))


def allowed_terms(cells: int) -> int:
    """Return how many terms are fitted to so many seen cells at most, but for those of single factors."""
    return min(MAX_COVARIANCE_NUMBERS // cells**2, max(cells, MIN_TERMS_ALLOWED))


def screen_terms(
    factors: Factors, codes: IntArray, y: FloatArray, counts: FloatArray, terms: Sequence[ComponentTerm]
) -> tuple[ComponentTerm, ...]:
    """Return the terms of one factor and as many of the others as work allows, given outcomes (n,) of cells (n, F).

    Examples
    --------
    >>> from recombine.theory.components.terms import candidate_terms
    >>> codes = np.random.default_rng(0).integers(0, 3, (900, 9))
    >>> y = codes @ np.arange(9.0) + 9.0 * (codes[:, 2] == codes[:, 5])
    >>> factors = Factors.of(codes)
    >>> terms = screen_terms(factors, codes, y, np.ones(900), candidate_terms(factors, codes))
    >>> len(terms), terms[9].factors
    (30, (2, 5))
    """
    allowed = allowed_terms(len(codes))
    single = [term for term in terms if len(term.kernels) == 1 and not term.is_one_feature]
    joint = [term for term in terms if term not in single]
    if len(terms) <= allowed or not single:
        return tuple(terms)
    standard = (y - y.mean()) / (y.std() or 1.0)
    covariances = np.stack([term.covariance(factors, codes, codes) for term in single])
    criterion = Criterion(covariances, 1 / counts, standard, prior_centres(single, 0))
    saliences = maximize_criterion(criterion, start_logs(len(single)))
    posterior = posterior_of(factors, codes, standard, single, saliences.variances, saliences.noise / counts)
    ratios = []
    for term in joint:
        covariance = term.covariance(factors, codes, codes)
        chance = max(float(np.vdot(posterior.projected, covariance)), 1e-300)
        ratios.append(float(posterior.dual @ covariance @ posterior.dual) / chance)
    best = np.argsort(-np.array(ratios), kind="stable")[: max(allowed - len(single), 0)]
    return (*single, *(joint[index] for index in best))


def excess_scores(
    posterior: SparsePosterior, variances: FloatArray, candidates: Sequence[ComponentTerm], seed: int = 0
) -> FloatArray:
    """Return by how many standard deviations the scores y' P K P y of further terms of labels (T,) are above chance.

    Chance is what tables have that are drawn from the components, of ``variances`` (S,), as they were fitted.
    """
    rng, equations, codes = np.random.default_rng(seed), posterior.system.equations, posterior.codes
    drawn = rng.normal(size=(len(codes), SIMULATED_TABLES)) * np.sqrt(posterior.noise / equations.weights)[:, None]
    for columns, variance in zip(equations.columns, variances, strict=True):
        drawn += columns.rows(codes) @ rng.normal(0.0, np.sqrt(variance), (columns.count, SIMULATED_TABLES))
    duals = posterior.duals(np.column_stack([posterior.y, drawn]))
    scores = np.array(
        [
            np.square(term_columns(term, posterior.factors, codes).rows(codes).T @ duals).sum(axis=0)
            for term in candidates
        ]
    )
    chance = scores[:, 1:]
    return np.asarray((scores[:, 0] - chance.mean(axis=1)) / np.maximum(chance.std(axis=1), 1e-300))
