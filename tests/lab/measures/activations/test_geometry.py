"""Metric tensor and volume: against formulas, loops, and what they must be blind to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.measures.activations import grid as grid_module
from recombine.measures.activations.factorization import factorization, kernel_factorization
from recombine.measures.activations.geometry import (
    metric_tensor,
    speed_ratios,
    unseen_and_seen,
    volume_element,
    volume_ratio,
)
from recombine.measures.activations.grid import as_grid, as_seen, shared_factors

WORLD = BumpWorld(side=28, hole=Hole.square(6, 22))

IMAGES = WORLD.grid().images.reshape(28, 28, -1)

SHAPES = st.lists(st.integers(2, 5), min_size=1, max_size=3)


@given(SHAPES, st.integers(1, 6), st.integers(0, 99))
def test_the_metric_is_what_a_loop_over_cells_gives(levels: list[int], features: int, seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal((*levels, features))
    metric = metric_tensor(values)
    for cell in np.ndindex(*levels):
        slopes = []
        for axis, size in enumerate(levels):
            low, high = list(cell), list(cell)
            low[axis], high[axis] = max(cell[axis] - 1, 0), min(cell[axis] + 1, size - 1)
            slopes.append((values[tuple(high)] - values[tuple(low)]) / (high[axis] - low[axis]))
        np.testing.assert_allclose(metric[cell], np.array(slopes) @ np.array(slopes).T, atol=1e-12)


def test_wide_layers_in_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).standard_normal((4, 5, 300)).astype(np.float32)
    whole, gram = metric_tensor(values), as_grid(values).gram
    monkeypatch.setattr(grid_module, "GRID_BLOCK_ENTRIES", 20 * 32)
    np.testing.assert_allclose(metric_tensor(values), whole, rtol=1e-12)
    np.testing.assert_allclose(as_grid(values).gram, gram, rtol=1e-12)
    flat = values.reshape(20, -1).astype(float)
    np.testing.assert_allclose(gram, flat @ flat.T, rtol=1e-12)
    centred = flat - flat.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(as_grid(values).covariance, centred @ centred.T, atol=1e-10)


def test_a_bump_moves_evenly_and_at_right_angles() -> None:
    metric = metric_tensor(IMAGES)
    volume = volume_element(metric)
    # |dG/dx|² = pi / 2 in the continuum; central differences over two pixels see (1 - e^-1) pi / 2.
    exact = math.pi / 2 * (1 - math.exp(-1))
    assert volume[14, 14] == pytest.approx(exact, rel=1e-3)
    assert np.ptp(volume[6:22, 6:22]) < 1e-9
    assert factorization(metric) == pytest.approx(0.99995, abs=1e-5)
    assert factorization(metric, ~WORLD.seen()) == pytest.approx(1.0, abs=1e-12)


def test_a_sheet_that_stops_in_the_hole_has_a_small_ratio() -> None:
    x, y = np.meshgrid(np.arange(9.0), np.arange(9.0), indexing="ij")
    seen = y <= 3
    metric = metric_tensor(np.stack([x, np.minimum(y, 3.0)], axis=-1))
    assert volume_ratio(metric_tensor(np.stack([x, y], axis=-1)), seen) == pytest.approx(1.0)
    # Of the seen rows the last moves at half speed, and nothing moves beyond.
    assert volume_ratio(metric, seen) == pytest.approx(0.0, abs=1e-12)
    assert speed_ratios(metric, seen).tolist() == pytest.approx([1.0, 0.0])
    bent = metric_tensor(np.stack([x, np.where((x > 4) & ~seen, 3.0, y)], axis=-1))
    assert factorization(bent, ~seen) < 1
    assert factorization(bent, seen & (x < 4)) == pytest.approx(1.0, abs=1e-12)


def test_the_border_can_be_left_out() -> None:
    codes = WORLD.grid().codes.reshape(28, 28, -1)
    metric = metric_tensor(codes)
    assert volume_ratio(metric, WORLD.seen()) < 0.9
    assert volume_ratio(metric, WORLD.seen(), border=False) == pytest.approx(1.0, abs=1e-12)
    corner = np.ones((3, 3), dtype=bool)
    corner[0, 0] = False
    unseen, _ = unseen_and_seen(corner, (3, 3), border=False)
    assert unseen.sum() == 1, "the border counts where nothing unseen would be left"


def test_sharing_counts_common_levels() -> None:
    cells = np.array([[0, 1, 2], [0, 1, 0], [1, 0, 2]])
    assert shared_factors(cells).tolist() == [[3, 2, 1], [2, 3, 0], [1, 0, 3]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: as_grid(np.zeros(4)), "one axis per factor"),
        (lambda: as_grid(np.zeros((3, 1, 2))), "one level only"),
        (lambda: as_grid(np.zeros((3, 2, 0))), "holds no numbers"),
        (lambda: as_grid([[1.0, np.nan], [0.0, 0.0]]), "not finite"),
        (lambda: as_grid([["a", "b"]]), "not real numbers"),
        (lambda: as_grid(np.eye(2), background="media"), "did you mean 'median'"),
        (lambda: as_seen(np.ones((2, 3)), (3, 2)), "has shape"),
        (lambda: as_seen([[2, 1]], (1, 2)), "True and False"),
        (lambda: as_seen([[0, 0]], (1, 2)), "no cell is marked"),
        (lambda: as_seen([[1, 1]], (1, 2)), "every cell is marked"),
        (lambda: kernel_factorization(np.zeros((2, 2, 3))), "zero on every cell"),
        (lambda: kernel_factorization(np.eye(3)), "one factor alone"),
        (lambda: factorization(metric_tensor(np.eye(3))), "one factor alone"),
        (lambda: volume_element(np.zeros((2, 3))), "as metric_tensor returns"),
        (lambda: as_grid(np.zeros((90, 90, 1))).gram, "too many to compare"),
    ],
)
def test_bad_input_is_named(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
