"""Widths are quantiles of left-out distances, by levels where a level was not seen."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.components import Factors, candidate_terms, fit_components, posterior_of
from recombine.theory.components.ranges import RangeWidths, calibrated, level_blocks


def drawn(seed, coordinates=None):
    rng = np.random.default_rng(seed)
    codes = np.indices((10, 8)).reshape(2, -1).T
    factors = Factors.of(codes, coordinates)
    terms = candidate_terms(factors, codes)
    y = rng.normal(size=10)[codes[:, 0]] + rng.normal(size=8)[codes[:, 1]] + rng.normal(size=80)
    return posterior_of(factors, codes, y, terms, np.ones(len(terms)), np.ones(80))


def widths_of(posterior):
    """Return the widths by how far left-out outcomes of a posterior lie, in standard deviations."""
    away = lambda members, means, variances: np.abs(posterior.y[members] - means) / np.sqrt(variances)  # noqa: E731
    return RangeWidths(posterior, away, posterior.leave_one_out()[1])


def test_a_width_is_near_the_normal_quantile_where_the_model_is_right():
    posteriors = [drawn(seed) for seed in range(12)]
    seen = [widths_of(posterior).seen for posterior in posteriors]
    unseen = [widths_of(posterior).unseen(0) for posterior in posteriors]
    assert np.mean(seen) == pytest.approx(1.645 * 1.05, abs=0.12)
    assert np.mean(unseen) == pytest.approx(1.645 * 1.05, abs=0.25)


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


def two_halves(levels, noise, seed):
    """Return cells of two factors, outcomes that add, and which cells were seen: those within either half of levels."""
    rng = np.random.default_rng(seed)
    codes = np.indices((levels, levels)).reshape(2, -1).T
    y = rng.normal(size=levels)[codes[:, 0]] + rng.normal(size=levels)[codes[:, 1]] + noise * rng.normal(size=levels**2)
    return codes, y, (codes[:, 0] < levels // 2) == (codes[:, 1] < levels // 2)


@pytest.mark.parametrize(("levels", "noise"), [(6, 0.0), (6, 1e-6), (10, 0.03)])
def test_ranges_of_open_cells_of_seen_levels_do_not_shrink_with_noise(levels, noise):
    """Left-out cells are exact to their noise; open ones differ by what levels do, which no seen cell shows."""
    held = []
    for seed in range(20):
        codes, y, seen = two_halves(levels, noise, seed)
        values = fit_components(codes[seen], y[seen]).predict(codes[~seen])
        held.append(np.mean((values.low <= y[~seen]) & (y[~seen] <= values.high)))
        assert np.ptp(values.high - values.low) < 0.5 * np.max(values.high - values.low)
    assert np.mean(held) > 0.7  # before, at most one in three; nominal is .9, and ten levels tell little of variances


def test_cells_that_the_seen_ones_determine_keep_their_narrow_ranges():
    codes, y, seen = two_halves(8, 1e-6, 0)
    seen[np.flatnonzero(~seen)[:12]] = True
    values = fit_components(codes[seen], y[seen]).predict(codes[~seen])
    assert np.max(np.abs(values.mean - y[~seen])) < 0.02
    assert np.max(values.high - values.low) < 0.05  # beside 2 and more of an open cell


def test_the_only_cell_of_a_level_does_not_stand_for_single_cells():
    """To leave it out is to leave out its level: whoever takes it for a single cell takes open cells for near ones."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]])
    fit = fit_components(codes, np.array([0.0, 1.0, 2.0, 3.0, 9.0]))
    assert widths_of(fit.posterior).near_sd < 0.1
    assert widths_of(fit.posterior).level > 1.0


def test_cells_of_new_levels_are_judged_by_left_out_levels_alone():
    """What holds of open cells of seen levels is wider: it stands for the worst cell of a level, and few levels."""
    rng = np.random.default_rng(4)
    codes = np.indices((9, 8)).reshape(2, -1).T
    y = rng.normal(size=9)[codes[:, 0]] + rng.normal(size=8)[codes[:, 1]] + 0.1 * rng.normal(size=72)
    seen = codes[:, 0] < 8
    fit = fit_components(codes[seen], y[seen])
    expected = max(fit.widths.seen, fit.widths.unseen(0))
    assert fit.widths.level > 1.2 * expected
    widths = fit.widths.of(codes[~seen], fit.posterior.predict(codes[~seen])[1])
    assert widths == pytest.approx(expected)
