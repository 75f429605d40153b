"""Scales go there and back, and are tried where they are defined; counts differ by chance as they should."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.components import SCALES, fit_components
from recombine.theory.components.scales import COUNTS, LOG, ScaledValues, are_counts

OUTCOMES = {
    "identity": np.array([-3.0, 0.0, 5.0]),
    "log": np.array([0.01, 1.0, 900.0]),
    "log of counts": np.array([0.0, 1.0, 40.0]),
    "counts": np.array([1.0, 3.0, 40.0]),
    "log odds": np.array([0.0, 0.2, 0.9, 1.0]),
}


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_there_and_back(scale):
    y = OUTCOMES[scale.name]
    assert scale.fits(y, np.ones(len(y)))
    assert np.allclose(scale.back(scale.forward(y)), y)
    assert np.all(np.diff(scale.forward(y)) > 0)
    assert np.isfinite(scale.back(np.array([-1e6, 1e6]))).all()


@pytest.mark.parametrize("scale", SCALES[1:], ids=lambda scale: scale.name)
def test_outcomes_below_zero_stay_as_they_are(scale):
    assert not scale.fits(np.array([-1.0, 0.5, 0.7]), np.ones(3))


def test_means_of_counts_are_counts():
    means, rows = np.array([0.5, 2.0, 9.0]), np.array([2.0, 1.0, 2.0])
    assert are_counts(means, rows)
    assert not are_counts(means)
    assert not COUNTS.fits(np.array([400.0, 2000.0]), np.ones(2))


def expected_count(mean, settled, noise, width=1.6, rows=1.0):
    one = np.ones(1)
    return ScaledValues.of(np.log(mean) * one, settled * one, noise * one, rows * one, width)


def test_ranges_of_counts_are_those_of_roots_without_doubt_about_the_mean_and_of_logs_without_noise():
    low, high = COUNTS.ends(expected_count(50.0, 0.0, 1 / 50))  # the noise of one count of 50
    assert low + 0.5 == pytest.approx((np.sqrt(50) - 0.8) ** 2, rel=1e-3)
    assert high - 0.5 == pytest.approx((np.sqrt(50) + 0.8) ** 2, rel=1e-3)
    low, high = COUNTS.ends(expected_count(5e6, 0.3, 0.0))
    assert np.log([low[0] / 5e6, high[0] / 5e6]) == pytest.approx([-1.6 * np.sqrt(0.3), 1.6 * np.sqrt(0.3)], abs=1e-4)


@pytest.mark.parametrize("settled", [0.0, 0.05, 1.0])
def test_what_lies_at_the_end_of_a_range_is_as_far_away_as_the_range_is_wide(settled):
    values = expected_count(20.0, settled, 1 / 20)
    for end in COUNTS.ends(values):
        assert COUNTS.distances(end, values) == pytest.approx([1.6], rel=1e-6)


def test_most_poisson_counts_lie_in_their_ranges():
    rng = np.random.default_rng(0)
    for mean in (0.3, 2.0, 20.0):
        low, high = COUNTS.ends(expected_count(mean, 0.0, 1 / mean, width=1.645))
        drawn = rng.poisson(mean, 4000)
        assert 0.88 < np.mean((low <= drawn) & (drawn <= high)) < 1 - (mean > 10) * 0.05


def table_of_counts(seed, rows=2):
    rng = np.random.default_rng(seed)
    codes = np.indices((8, 7)).reshape(2, -1).T
    expected = 8 * np.exp(rng.normal(0, 0.7, 8)[codes[:, 0]] + rng.normal(0, 0.7, 7)[codes[:, 1]])
    seen = rng.random(56) < 0.7
    seen[np.unique(codes[:, 0], return_index=True)[1]] = seen[np.unique(codes[:, 1], return_index=True)[1]] = True
    counts = rng.poisson(expected, (rows, 56)).astype(float)
    means = counts.mean(axis=0)
    squares, freedom = np.sum((counts - means) ** 2, axis=0), np.full(56, rows - 1.0)
    return codes, expected, seen, means, (squares[seen], freedom[seen])


def test_expected_counts_are_nearer_with_the_noise_that_counts_have():
    """A Poisson regression, which is told that effects add on logs, is the oracle; logs alone are the peer."""
    from sklearn.linear_model import PoissonRegressor

    errors = []
    for seed in range(12):
        codes, expected, seen, means, replicates = table_of_counts(seed)
        rows = np.full(seen.sum(), 2.0)
        fit = fit_components(codes[seen], means[seen], rows, replicates=replicates)
        logs = fit_components(codes[seen], np.maximum(means[seen], 0.25), rows, scales=[LOG])
        columns = np.hstack([np.eye(8)[codes[:, 0]], np.eye(7)[codes[:, 1]]])
        glm = PoissonRegressor(alpha=1e-3, max_iter=1000).fit(columns[seen], means[seen]).predict(columns[~seen])
        values = [fit.predict(codes[~seen]).mean, logs.predict(codes[~seen]).mean, glm]
        errors.append([float(np.mean(np.log(np.maximum(each, 0.05) / expected[~seen]) ** 2)) for each in values])
    ours, on_logs, regression = np.sqrt(np.mean(errors, axis=0))
    assert ours < 0.9 * on_logs
    assert ours < 1.25 * regression


def test_noise_of_counts_is_that_of_poisson():
    factors = []
    for seed in range(8):
        codes, _, seen, means, replicates = table_of_counts(seed, rows=30)
        rows = np.full(seen.sum(), 30.0)
        fit = fit_components(codes[seen], means[seen], rows, replicates=replicates, scales=[COUNTS])
        factors.append(fit.spread**2 * fit.saliences.noise)
    assert np.mean(factors) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("seed", range(24))
def test_any_counts_have_finite_values_within_their_ranges(seed):
    """Also a table of zeros but for one, and counts from 0 to millions."""
    rng = np.random.default_rng(seed)
    sizes = [(3, 3), (5, 4), (8, 7), (4, 3, 3)][seed % 4]
    codes = np.indices(sizes).reshape(len(sizes), -1).T
    logs = sum(rng.normal(0, [0.1, 2.0, 6.0][seed % 3], size)[codes[:, place]] for place, size in enumerate(sizes))
    rows = rng.integers(1, 4, len(codes)).astype(float) if seed % 2 else np.ones(len(codes))
    totals = rng.poisson(np.exp(np.clip(logs, -20, 16)) * rows).astype(float)
    if seed >= 20:
        totals[:] = 0
        totals[rng.integers(len(codes))] = 10.0**seed % 999_983
    values = fit_components(codes, totals / rows, rows).predict(codes, 2.0)
    for each in (values.mean, values.error, values.sd, values.low, values.high):
        assert np.isfinite(each).all()
    assert (values.low >= 0).all() or not are_counts(totals / rows, rows)
    assert (values.low <= values.mean + 1e-9).all()
    assert (values.mean <= values.high + 1e-9).all()
