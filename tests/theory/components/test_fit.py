"""Fits of tables: exact where tables are, the same whatever labels are called, shares and ranges as planted."""

from __future__ import annotations

import numpy as np
import pytest

from known_shares import term_shares
from recombine.errors import InputError
from recombine.theory.components import fit as module
from recombine.theory.components import fit_components


def grid(*sizes):
    return np.indices(sizes).reshape(len(sizes), -1).T


def planted(seed, sizes=(10, 8, 4), powers=(1.0, 0.5, 0.0), noise=0.3, density=0.6):
    """Cells of a grid with main effects of given standard deviations, and which of them are seen."""
    rng = np.random.default_rng(seed)
    codes = grid(*sizes)
    effects = [power * rng.normal(size=size) for size, power in zip(sizes, powers, strict=True)]
    y = sum(effect[codes[:, factor]] for factor, effect in enumerate(effects)) + noise * rng.normal(size=len(codes))
    return codes, y, rng.random(len(codes)) < density


@pytest.mark.parametrize("seed", range(4))
def test_a_table_without_noise_is_the_exact_sum(seed):
    rng = np.random.default_rng(seed)
    codes = grid(7, 6, 3)
    y = rng.normal(size=7)[codes[:, 0]] + 3 * rng.normal(size=6)[codes[:, 1]] + rng.normal(size=3)[codes[:, 2]]
    seen = rng.random(len(y)) < 0.7
    fit = fit_components(codes[seen], y[seen])
    assert np.abs(fit.predict(codes[~seen]).mean - y[~seen]).max() < 1e-6 * y.std()


def test_a_product_without_noise_is_exact_on_logs():
    codes = grid(6, 5)
    y = np.exp(0.7 * codes[:, 0] + 0.4 * codes[:, 1] ** 2)
    seen = np.random.default_rng(3).random(30) < 0.8
    fit = fit_components(codes[seen], y[seen])
    assert fit.scale.name == "log"
    assert np.allclose(fit.predict(codes[~seen]).mean, y[~seen], rtol=1e-6)


def test_labels_and_the_order_of_rows_do_not_matter():
    codes, y, seen = planted(0)
    counts = np.random.default_rng(1).integers(1, 5, len(y))
    values = fit_components(codes[seen], y[seen], counts[seen]).predict(codes)
    rng = np.random.default_rng(2)
    renamed = np.column_stack([rng.permutation(column.max() + 1)[column] for column in codes.T])
    rows = rng.permutation(np.flatnonzero(seen))
    again = fit_components(renamed[rows], y[rows], counts[rows]).predict(renamed)
    for ours, theirs in zip((values.mean, values.low, values.high), (again.mean, again.low, again.high), strict=True):
        assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_a_shift_and_a_stretch_of_the_outcome_go_through():
    codes, y, seen = planted(4)
    plain, moved = (fit_components(codes[seen], outcome[seen]).predict(codes) for outcome in (y, 50 - 7 * y))
    assert np.allclose(moved.mean, 50 - 7 * plain.mean, atol=1e-3)
    assert np.allclose(moved.high, 50 - 7 * plain.low, atol=1e-3)


def test_shares_are_those_planted():
    shares = np.zeros(3)
    for seed in range(6):
        codes, y, _ = planted(seed, sizes=(24, 14), powers=(1.0, 0.5), noise=0.5)
        fit = fit_components(codes, y)
        assert [term.factors for term in fit.terms] == [(0,), (1,)]
        shares += term_shares(fit) / 6
    assert np.allclose(shares, np.array([1.0, 0.25, 0.25]) / 1.5, atol=0.1)


def test_effects_are_near_those_planted_within_their_errors():
    rng = np.random.default_rng(8)
    codes = grid(12, 10)
    effect = rng.normal(size=12)
    fit = fit_components(codes, effect[codes[:, 0]] + 0.4 * rng.normal(size=120))
    mean, error = fit.effects(0)
    assert np.abs(mean - effect + effect.mean()).max() < 5 * error.max()
    assert np.all(error < 0.4)


def test_a_level_never_seen_has_the_effects_of_the_levels_that_were():
    codes, y, seen = planted(5, powers=(0.3, 2.0, 0.0))
    seen &= codes[:, 0] != 9
    fit = fit_components(codes[seen], y[seen])
    fresh = codes[codes[:, 0] == 9]
    values = fit.predict(fresh)
    assert np.corrcoef(values.mean, y[codes[:, 0] == 9])[0, 1] > 0.9
    unnamed = fit.predict(np.column_stack([np.full(len(fresh), -1), fresh[:, 1:]]))
    assert np.allclose(unnamed.mean, values.mean)
    assert np.all(values.high - values.low > fit.predict(codes[seen][:1]).high - fit.predict(codes[seen][:1]).low)


def test_numbers_of_levels_reach_between_and_beyond_them():
    codes = grid(5, 9)
    rng = np.random.default_rng(6)
    slopes = rng.normal(size=5)
    y = slopes[codes[:, 0]] * codes[:, 1] + 0.05 * rng.normal(size=45)
    seen = (codes[:, 1] != 4) & (codes[:, 1] != 8)
    fit = fit_components(codes[seen], y[seen], coordinates={1: np.arange(9.0)})
    assert np.abs(fit.predict(codes[~seen]).mean - y[~seen]).max() < 0.5


def test_features_tell_of_levels_never_seen_and_those_of_no_use_are_dropped():
    rng = np.random.default_rng(7)
    table = rng.uniform(-1, 1, size=(30, 5))
    codes = grid(30, 4)
    y = 3 * np.sin(1.5 * table[codes[:, 0], 0]) + codes[:, 1] + 0.1 * rng.normal(size=120)
    seen = codes[:, 0] < 24
    plain, described = (fit_components(codes[seen], y[seen], features=given) for given in (None, {0: table}))
    errors = [np.abs(fit.predict(codes[~seen]).mean - y[~seen]).mean() for fit in (plain, described)]
    assert errors[1] < 0.1 * errors[0]
    shares = shares_of_features(described, 5)
    of_levels = [
        share for term, share in zip(described.terms, term_shares(described), strict=False) if 0 in term.factors
    ]
    assert shares[0] > 0.9 * sum(of_levels)
    assert shares[1:].sum() < 0.01


def shares_of_features(fit, count):
    """Shares of the terms of one feature each, lines and curves added up."""
    shares = np.zeros(count)
    for term, share in zip(fit.terms, term_shares(fit), strict=False):
        if len(term.features) == 1:
            shares[term.features[0]] += share
    return shares


def planted_features(seed, levels=30, useful=2, useless=8):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(levels, useful + useless))
    codes = grid(levels, 6)
    effects = table[:, :useful].sum(axis=1)
    y = effects[codes[:, 0]] + rng.normal(size=6)[codes[:, 1]] + 0.2 * rng.normal(size=len(codes))
    return codes, y, table, codes[:, 0] < 0.8 * levels


@pytest.mark.parametrize("seed", range(3))
def test_two_useful_features_of_ten_carry_what_features_carry(seed):
    codes, y, table, seen = planted_features(seed)
    fit = fit_components(codes[seen], y[seen], features={0: table})
    shares = shares_of_features(fit, 10)
    assert shares[:2].min() > 20 * shares[2:].max()
    assert shares[2:].sum() < 0.01
    missed = fit.predict(codes[~seen]).mean - y[~seen]
    assert missed.std() < 0.4


@pytest.mark.parametrize("columns", [1, 4])
def test_a_level_never_seen_is_exact_where_its_features_repeat_its_effect(columns):
    rng = np.random.default_rng(columns)
    codes, effects = grid(12, 5), rng.normal(size=12)
    y = effects[codes[:, 0]] + rng.normal(size=5)[codes[:, 1]]
    table = np.column_stack([7 + 3 * effects, rng.normal(size=(12, columns - 1))])
    seen = codes[:, 0] < 10
    fit = fit_components(codes[seen], y[seen], features={0: table})
    assert np.abs(fit.predict(codes[~seen]).mean - y[~seen]).max() < 1e-6


@pytest.mark.slow
def test_permuted_features_neither_help_nor_harm():
    gaps = []
    for seed in range(6):
        codes, y, table, seen = planted_features(seed)
        shuffled = np.random.default_rng(seed).permutation(table)
        plain, described = (fit_components(codes[seen], y[seen], features=given) for given in (None, {0: shuffled}))
        errors = [np.mean((fit.predict(codes[~seen]).mean - y[~seen]) ** 2) for fit in (plain, described)]
        gaps.append((errors[1] - errors[0]) / y[seen].var())
    assert abs(np.mean(gaps)) < 0.1


def test_a_level_without_features_has_its_label_alone_and_later_levels_those_given_then():
    codes, y, table, seen = planted_features(3)
    table[5] = np.nan
    fit = fit_components(codes[seen], y[seen], features={0: table})
    early = fit_components(codes[seen], y[seen], features={0: table[:24]}).with_levels(features={0: table[24:]})
    for values, expected in zip(vars(early.predict(codes)).values(), vars(fit.predict(codes)).values(), strict=True):
        assert np.allclose(values, expected)
    unnamed = fit.predict(np.column_stack([np.full(6, 99), np.arange(6)]))
    nothing = fit.with_levels(features={0: np.full((1, 10), np.nan)}).predict(
        np.column_stack([np.full(6, 30), np.arange(6)])
    )
    assert np.allclose(nothing.mean, unnamed.mean)
    assert np.allclose(nothing.sd, unnamed.sd)


def test_sparse_equations_know_features_of_later_levels(monkeypatch):
    codes, y, table, seen = planted_features(4, levels=20, useless=1)
    results = []
    for limit in (1_500, 10):
        monkeypatch.setattr(module, "MAX_COVARIANCE_CELLS", limit)
        fit = fit_components(codes[seen], y[seen], features={0: table[:16]}).with_levels(features={0: table[16:]})
        results.append(fit.predict(codes[~seen]))
    assert np.allclose(results[0].mean, results[1].mean, atol=0.02)
    assert np.allclose(results[0].sd, results[1].sd, rtol=0.05)


def test_noise_alone_is_given_its_mean():
    given = 0
    for seed in range(20):
        codes, y, seen = planted(seed, powers=(0.0, 0.0, 0.0), noise=1.0, sizes=(8, 6, 2))
        fit = fit_components(codes[seen], y[seen])
        given += np.allclose(fit.predict(codes).mean, y[seen].mean())
    assert given >= 18


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(8, 6), (10, 8, 4)])
def test_ranges_cover_nine_in_ten(sizes):
    inside, total = 0, 0
    for seed in range(60):
        codes, y, seen = planted(seed, sizes=sizes, powers=(1.0, 0.5, 0.2)[: len(sizes)], noise=0.5)
        values = fit_components(codes[seen], y[seen]).predict(codes[~seen])
        inside += np.count_nonzero((values.low <= y[~seen]) & (y[~seen] <= values.high))
        total += np.count_nonzero(~seen)
    assert 0.88 <= inside / total <= 0.93


def test_constant_outcomes_and_two_cells_are_answered():
    values = fit_components([[0, 0], [1, 1], [0, 1]], [2.0, 2.0, 2.0]).predict([[1, 0]])
    assert values.mean == pytest.approx([2.0])
    assert np.isfinite(fit_components([[0, 0], [1, 1]], [1.0, 2.0]).predict([[0, 1]]).high).all()


def test_what_is_wrong_with_values_is_said():
    with pytest.raises(InputError, match="one finite number"):
        fit_components([[0, 0], [1, 1]], [1.0, np.nan])
    with pytest.raises(InputError, match="counts"):
        fit_components([[0, 0], [1, 1]], [1.0, 2.0], [1.0, 0.0])
