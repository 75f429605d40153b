"""The additive kernel as a stand-in: least squares on indicators of levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.measures.activations.grid import as_grid
from recombine.measures.activations.stand_ins import additive_prediction
from recombine.measures.activations.surrogate import additive_weights, surrogate


def mixed_mask(rng: np.random.Generator, levels: tuple[int, ...]) -> Any:
    seen = rng.random(levels) < 0.6
    seen.reshape(-1)[:2] = True, False
    return seen


@given(st.integers(0, 99), st.integers(2, 3))
@settings(max_examples=20)
def test_the_binary_kernel_is_least_squares_on_indicators(seed: int, factors: int) -> None:
    rng = np.random.default_rng(seed)
    levels = tuple(rng.integers(2, 5, size=factors).tolist())
    seen, outputs = mixed_mask(rng, levels), rng.standard_normal((*levels, 4))
    kernel = additive_prediction(outputs, seen)
    cells = as_grid(outputs).cells
    design = np.concatenate([np.eye(size)[cells[:, axis]] for axis, size in enumerate(levels)], axis=1)
    mask = seen.reshape(-1)
    weights = np.linalg.lstsq(design[mask], outputs.reshape(len(cells), -1)[mask], rcond=None)[0]
    np.testing.assert_allclose(kernel.reshape(len(cells), -1), design @ weights, atol=1e-8)
    direct = additive_weights(cells, mask) @ outputs.reshape(len(cells), -1)[mask]
    np.testing.assert_allclose(kernel.reshape(len(cells), -1), direct, atol=1e-8)
    found = surrogate(outputs, seen)
    np.testing.assert_allclose(found.errors, ((outputs - kernel) ** 2).mean(axis=-1), atol=1e-8)
    rest = outputs[~seen] - outputs[~seen].mean(axis=0)
    if len(rest) > 1:
        assert found.explained == pytest.approx(1 - found.unseen_error / (rest**2).mean(), abs=1e-6)
