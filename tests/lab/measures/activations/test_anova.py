"""Shares of effects: nested least squares, known codes, constants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.lab.worlds.rendered.bumps import BumpWorld
from recombine.measures.activations.additive import additive_share
from recombine.measures.activations.anova import effect_shares
from recombine.measures.activations.grid import as_grid


def test_the_share_of_true_images_is_the_known_one() -> None:
    images = BumpWorld(side=28).grid().images.reshape(28, 28, -1)
    assert additive_share(images) == pytest.approx(0.2188, abs=5e-5)


@given(st.integers(0, 99))
@settings(max_examples=15)
def test_shares_are_those_of_nested_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = (2, 3, 4)
    values = rng.standard_normal((*levels, 3))
    shares = effect_shares(values)
    assert sum(shares.values()) == pytest.approx(1.0)
    flat = values.reshape(24, -1) - values.reshape(24, -1).mean(axis=0)
    cells = as_grid(values).cells
    design = np.concatenate([np.eye(size)[cells[:, axis]] for axis, size in enumerate(levels)], axis=1)
    rest = flat - design @ np.linalg.lstsq(design, flat, rcond=None)[0]
    explained = 1 - (rest**2).sum() / (flat**2).sum()
    assert additive_share(values) == pytest.approx(explained, abs=1e-10)
    assert additive_share(values, order=3) == pytest.approx(1.0)
    assert additive_share(values + 1e6) == pytest.approx(additive_share(values), abs=1e-6)


def test_constant_activations_have_no_shares() -> None:
    assert np.isnan(additive_share(np.full((3, 3, 2), 7.0)))
