"""Posterior values are those of a plain Gaussian process, and what is left out in closed form is as left out."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.components import Factors, candidate_terms, posterior_of


def drawn(seed, cells=40):
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, (6, 5, 4), (cells, 3)), axis=0)
    factors = Factors.of(codes, coordinates={1: np.arange(6.0) ** 1.5}, features={2: rng.normal(size=(5, 2))})
    terms = candidate_terms(factors, codes)
    return (
        factors,
        codes,
        rng.normal(size=len(codes)),
        terms,
        rng.exponential(size=len(terms)),
        rng.exponential(size=len(codes)),
    )


@pytest.mark.parametrize("seed", range(3))
def test_posterior_is_that_of_a_process_with_a_vague_mean(seed):
    factors, codes, y, terms, variances, noise = drawn(seed)
    cells = np.array([[0, 0, 0], [5, 5, 3], [-1, 2, 1], [3, 5, 4], [9, -1, -1]])
    mean, variance = posterior_of(factors, codes, y, terms, variances, noise).predict(cells)
    together = np.concatenate([codes, cells])
    prior = 1e7 + sum(
        s * term.covariance(factors, together, together) for s, term in zip(variances, terms, strict=True)
    )
    solved = np.linalg.solve(prior[: len(y), : len(y)] + np.diag(noise), prior[: len(y), len(y) :])
    assert np.allclose(mean, solved.T @ y, atol=1e-5)
    assert np.allclose(variance, (prior[len(y) :, len(y) :] - prior[len(y) :, : len(y)] @ solved).diagonal(), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_left_out_in_closed_form_is_left_out_and_fitted_again(seed):
    factors, codes, y, terms, variances, noise = drawn(seed)
    posterior = posterior_of(factors, codes, y, terms, variances, noise)
    singles = posterior.leave_one_out()
    level = np.flatnonzero(codes[:, 1] == 2)
    block = posterior.leave_out(level)
    for members, mean, variance in [(np.array([i]), *(a[i : i + 1] for a in singles)) for i in range(4)] + [
        (level, *block)
    ]:
        stay = np.setdiff1d(np.arange(len(y)), members)
        again = posterior_of(factors, codes[stay], y[stay], terms, variances, noise[stay])
        expected = again.predict(codes[members])
        assert np.allclose(mean, expected[0])
        assert np.allclose(variance, expected[1] + noise[members])


def test_effects_of_a_level_never_seen_are_its_prior():
    factors, codes, y, terms, variances, noise = drawn(4)
    posterior = posterior_of(factors, codes, y, terms, variances, noise)
    mean, sd = posterior.effects(0, np.array([0, 77]))
    assert mean[1] == 0
    assert sd[1] == pytest.approx(np.sqrt(variances[0]))
    assert sd[0] < sd[1]


@pytest.mark.parametrize("noise", [1e-4, 1e-7, 1e-9])
def test_next_to_no_noise_variances_are_those_of_least_squares_and_not_what_rounding_leaves(noise):
    cells = np.indices((6, 5)).reshape(2, -1).T
    seen = np.random.default_rng(0).random(len(cells)) < 0.6
    codes, asked = cells[seen], cells[~seen]
    terms = [term for term in candidate_terms(Factors.of(cells), cells) if len(term.factors) == 1]
    posterior = posterior_of(
        Factors.of(cells), codes, codes @ [2.0, -1.0], terms, np.ones(len(terms)), np.full(len(codes), noise)
    )
    columns = np.hstack([np.equal.outer(cells[:, factor], np.unique(cells[:, factor])) for factor in (0, 1)]).astype(
        float
    )
    leverages = np.einsum(
        "ij,jk,ik->i", columns[~seen], np.linalg.pinv(columns[seen].T @ columns[seen]), columns[~seen]
    )
    variance = posterior.predict(asked)[1]
    assert variance == pytest.approx(noise * leverages, rel=1e-3)
    assert np.concatenate([posterior.predict(cell[None])[1] for cell in asked]) == pytest.approx(variance, rel=1e-3)
