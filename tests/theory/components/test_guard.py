"""The permutation test is a test: it seldom cries out at noise, and it finds what is there."""

from __future__ import annotations

import numpy as np

from recombine.theory.components.guard import beats_mean, permutation_p


def same_groups(size, *counts):
    groups = [np.arange(size) * 7 // (index + 1) % count for index, count in enumerate(counts)]
    return np.stack([(group[:, None] == group).astype(float) for group in groups]), groups


def test_chances_of_noise_are_uniform():
    grams, _ = same_groups(40, 5, 4)
    chances = [permutation_p(grams, np.random.default_rng(seed).normal(size=40), seed=seed) for seed in range(200)]
    assert 0.4 < np.mean(chances) < 0.6
    assert 0.01 <= np.mean(np.array(chances) <= 0.05) <= 0.1


def test_structure_is_found_and_permuting_rows_changes_nothing():
    grams, groups = same_groups(40, 5, 4)
    rng = np.random.default_rng(0)
    y = rng.normal(size=5)[groups[0]] + 0.5 * rng.normal(size=40)
    assert permutation_p(grams, y) <= 0.01
    order = rng.permutation(40)
    assert permutation_p(grams[:, order][:, :, order], y[order]) <= 0.01


def test_left_out_values_worse_than_the_mean_are_not_taken():
    grams, groups = same_groups(40, 5, 4)
    y = groups[0] + 0.0
    assert not beats_mean(lambda members: grams[:, members][:, :, members], y, -y, np.ones(len(y)))
    assert beats_mean(lambda members: grams[:, members][:, :, members], y, y, np.ones(len(y)))
