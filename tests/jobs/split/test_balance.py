"""Whole cells that add up: what is missing is less than every cell left, and outcomes are as alike as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.jobs.split.balance import bin_outcomes, draw_cells, outcome_counts, unlike


@pytest.mark.parametrize("seed", range(40))
def test_what_is_missing_is_less_than_every_cell_left(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.ceil(rng.pareto(1.0, size=50) + 1e-9).astype(np.int64)
    pool = np.sort(rng.permutation(50)[: int(rng.integers(1, 51))])
    aim = int(rng.integers(1, 2 * rows[pool].sum()))
    chosen = draw_cells(pool, rows, aim, rng)
    assert len(set(chosen.tolist())) == len(chosen)
    assert set(chosen.tolist()) <= set(pool.tolist())
    left = np.setdiff1d(pool, chosen)
    missing = aim - int(rows[chosen].sum())
    if missing > 0 and len(left):
        assert missing < rows[left].min()
    if missing < 0:
        assert -missing < rows[chosen].max() / 2 or len(chosen) == 1


@pytest.mark.parametrize("seed", range(10))
def test_outcomes_come_near_the_goal_and_rows_stay_near_the_aim(seed: int) -> None:
    rng = np.random.default_rng(seed)
    where = rng.integers(120, size=2_000)
    bins = np.clip(where // 24 + rng.integers(-1, 2, size=2_000), 0, 4)
    counts = outcome_counts(bins, where, 120)
    rows = counts.sum(axis=1).astype(np.int64)
    goal = counts.sum(axis=0) * 0.2
    plain = draw_cells(np.arange(120), rows, 400, rng)
    alike = draw_cells(np.arange(120), rows, 400, rng, counts, goal)
    assert abs(int(rows[alike].sum()) - 400) <= 2
    assert unlike(counts[alike].sum(axis=0), goal) <= 0.01
    assert unlike(counts[alike].sum(axis=0), goal) <= unlike(counts[plain].sum(axis=0), goal)


def test_tenths_have_equally_many_rows_and_ties_stay_together() -> None:
    assert np.bincount(bin_outcomes(np.random.default_rng(0).normal(size=1_000))).tolist() == [100] * 10
    tied = bin_outcomes(np.repeat(np.arange(30.0), [70] + [1] * 29))
    assert len(set(tied[:70].tolist())) == 1
    assert np.all(np.diff(tied) >= 0)


def test_outcomes_with_too_many_classes_are_refused() -> None:
    with pytest.raises(InputError, match="101 classes, more than 100; give numbers, or merge classes"):
        bin_outcomes(np.array([f"class {number}" for number in range(101)]))


def test_histograms_are_counted_by_cell_and_compared_by_rows_that_would_have_to_move() -> None:
    assert outcome_counts(np.array([0, 1, 1]), np.array([0, 0, 1]), 2).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert unlike(np.array([1.0, 3.0]), np.array([50.0, 50.0])) == 0.25
    assert draw_cells(np.arange(4), np.array([5, 1, 2, 3]), 3, np.random.default_rng(0)).tolist() == [1, 2]
