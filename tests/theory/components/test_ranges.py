"""Widths are quantiles of left-out distances, by levels where a level was not seen."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.components import Factors, candidate_terms, posterior_of
from recombine.theory.components.ranges import calibrated, level_blocks, seen_width, unseen_width


def drawn(seed, coordinates=None):
    rng = np.random.default_rng(seed)
    codes = np.indices((10, 8)).reshape(2, -1).T
    factors = Factors.of(codes, coordinates)
    terms = candidate_terms(factors, codes)
    y = rng.normal(size=10)[codes[:, 0]] + rng.normal(size=8)[codes[:, 1]] + rng.normal(size=80)
    return posterior_of(factors, codes, y, terms, np.ones(len(terms)), np.ones(80))


def test_a_width_is_near_the_normal_quantile_where_the_model_is_right():
    assert np.mean([seen_width(drawn(seed)) for seed in range(12)]) == pytest.approx(1.645 * 1.05, abs=0.12)
    assert np.mean([unseen_width(drawn(seed), 0) for seed in range(12)]) == pytest.approx(1.645 * 1.05, abs=0.25)


def test_blocks_are_levels_or_neighbouring_levels():
    by_level = [np.unique(drawn(0).codes[members, 1]) for members in level_blocks(drawn(0), 1)]
    assert [levels.tolist() for levels in by_level] == [[level] for level in range(8)]
    line = np.array([5.0, 1.0, 3.0, 0.0, 2.0, 7.0, 4.0, 6.0])
    posterior = drawn(0, {1: line})
    for members in level_blocks(posterior, 1):
        spots = np.sort(line[np.unique(posterior.codes[members, 1])])
        assert len(spots) == 2
        assert spots[1] - spots[0] == 1


def test_few_distances_are_widened():
    assert calibrated(np.ones(4)) > calibrated(np.ones(400)) > 1
