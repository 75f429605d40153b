"""Quantiles of the misses around each predicted value."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.jobs.structure.held_out_ranges import local_quantiles


def test_a_quantile_is_that_of_the_nearest_scores() -> None:
    rng = np.random.default_rng(0)
    along, scores = rng.uniform(size=300), rng.exponential(size=300)
    at, around = local_quantiles(along, scores, width=80, rank=71.5)
    ordered = scores[np.argsort(along)]
    assert (np.diff(at) > 0).all()
    assert at[[0, -1]].tolist() == np.sort(along)[[40, 260]].tolist()  # the middles of the lowest 80 and the highest 80
    for place, quantile in zip(at, around, strict=True):
        start = int(np.searchsorted(np.sort(along), place)) - 40
        window = np.sort(ordered[start : start + 80])
        assert quantile == pytest.approx((window[71] + window[72]) / 2)


def test_cells_with_the_same_prediction_are_taken_in_their_order() -> None:
    scores = np.random.default_rng(0).exponential(size=400)
    _, around = local_quantiles(np.zeros(400), scores, width=100, rank=90)
    assert around[0] == np.sort(scores[:100])[90]
    assert around[-1] == np.sort(scores[-100:])[90]
