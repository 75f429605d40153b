"""How far values leave the mean: left-out cells decide, seen cells and exact tables stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.components.fit import fit_components
from recombine.theory.components.guard import added_p, beats_mean, confirmed_share, permutation_p

CODES = np.indices((8, 9)).reshape(2, -1).T


def test_left_out_values_that_say_nothing_or_the_opposite_are_not_followed():
    rng = np.random.default_rng(0)
    y, ones = rng.normal(size=60), np.ones(60)
    assert confirmed_share(y, -y, ones) == 0
    assert np.mean([confirmed_share(y, rng.normal(size=60), ones) for _ in range(200)]) < 0.1


def test_the_share_is_the_slope_where_errors_are_small_and_less_of_it_where_they_are_large():
    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=2000), rng.normal(size=2000)
    shares = [confirmed_share(signal + size * noise, 2 * signal, np.ones(2000)) for size in (1e-6, 1.0, 4.0)]
    assert shares[0] == pytest.approx(0.5, abs=1e-3)
    assert shares[0] > shares[1] > shares[2] > 0.35


def test_a_weight_counts_as_so_many_outcomes():
    rng = np.random.default_rng(0)
    y = rng.normal(size=30) - 5.0
    left_out = y + rng.normal(size=30)
    heavy = np.where(np.arange(30) < 20, 1.0, 1e-9)
    # Without the outcomes of no weight the mean is another; what is left to it is small beside the distances.
    assert confirmed_share(y, left_out, heavy) == pytest.approx(
        confirmed_share(y[:20], left_out[:20], heavy[:20]), abs=0.1
    )


def test_values_of_unseen_cells_lie_between_the_mean_and_the_components_and_seen_cells_stay():
    rng = np.random.default_rng(1)
    y = rng.normal(size=8)[CODES[:, 0]] + 1.2 * rng.normal(size=72)
    seen = rng.random(72) < 0.7
    fit = fit_components(CODES[seen], y[seen])
    assert fit.plain is not None
    assert 0 < fit.confirmed < 1
    values, plain = fit.predict(CODES), fit.plain.predict(CODES)
    alone = fit_components(CODES[seen], y[seen]).posterior.predict(CODES)[0] * fit.spread + fit.centre
    expected = np.where(seen, alone, fit.confirmed * alone + (1 - fit.confirmed) * y[seen].mean())
    np.testing.assert_allclose(values.mean, expected)
    assert np.all(values.high[~seen] - values.low[~seen] <= plain.high[~seen] - plain.low[~seen])


def test_small_values_of_products_are_not_lifted_by_the_mean_of_large_ones():
    """On logs what is not confirmed is a factor; as outcomes it was the same amount of the mean in every cell."""
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = 50 * np.exp(rng.normal(0, 0.8, 8)[CODES[:, 0]] + rng.normal(0, 0.8, 9)[CODES[:, 1]])
        y, seen = truth * np.exp(0.2 * rng.normal(size=72)), CODES.sum(axis=1) % 3 > 0
        fit = fit_components(CODES[seen], y[seen])
        small = ~seen & (truth < np.quantile(truth[~seen], 0.25))
        ratios.append(np.mean(fit.predict(CODES[small]).mean / truth[small]))
    assert np.mean(ratios) < 1.15  # before, 1.35


def same_groups(size, *counts):
    groups = [np.arange(size) * 7 // (index + 1) % count for index, count in enumerate(counts)]
    return sum((group[:, None] == group).astype(float) for group in groups), groups


def test_chances_of_noise_are_uniform():
    gram, _ = same_groups(40, 5, 4)
    chances = [permutation_p(gram, np.random.default_rng(seed).normal(size=40), seed=seed) for seed in range(200)]
    assert 0.4 < np.mean(chances) < 0.6
    assert 0.01 <= np.mean(np.array(chances) <= 0.05) <= 0.1


def test_structure_is_found_and_permuting_rows_changes_nothing():
    gram, groups = same_groups(40, 5, 4)
    rng = np.random.default_rng(0)
    y = rng.normal(size=5)[groups[0]] + 0.5 * rng.normal(size=40)
    assert permutation_p(gram, y) <= 0.01
    order = rng.permutation(40)
    assert permutation_p(gram[np.ix_(order, order)], y[order]) <= 0.01


def test_left_out_values_worse_than_the_mean_are_not_taken():
    gram, groups = same_groups(40, 5, 4)
    y, grams, codes = groups[0] + 0.0, np.stack([gram, gram]), np.stack(groups, axis=1)
    assert not beats_mean(codes, lambda members: grams[:, members][:, :, members], y, -y, np.ones(len(y)))
    assert beats_mean(codes, lambda members: grams[:, members][:, :, members], y, y, np.ones(len(y)))


def test_pairs_without_single_factors_are_found():
    rng = np.random.default_rng(3)
    codes = np.indices((6, 5, 4)).reshape(3, -1).T
    pair = np.where((codes[:, 0] + codes[:, 1]) % 2, 1.0, -1.0) * 1.0
    y = pair * (1 + rng.random((6, 5))[codes[:, 0], codes[:, 1]]) + 0.8 * rng.normal(size=len(codes))
    assert fit_components(codes, y).terms


def test_chances_of_added_effects_are_uniform_in_noise_and_small_where_effects_add():
    codes = np.indices((4, 4)).reshape(2, -1).T
    rng = np.random.default_rng(0)
    seen = [np.sort(rng.permutation(16)[:11]) for _ in range(300)]
    chances = [added_p(codes[some], rng.normal(size=11), np.ones(11)) for some in seen]
    assert 0.42 < np.mean(chances) < 0.58
    strong = [
        added_p(codes[some], rng.normal(size=4)[codes[some, 0]] * 3 + 0.2 * rng.normal(size=11), np.ones(11))
        for some in seen[:60]
    ]
    assert np.mean(np.array(strong) <= 0.01) > 0.7
