"""The parts of an error: what was planted is found, and parts always add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.measures.outputs import decompose_error


def planted(seed: int, cells: int = 400, factors: int = 3):
    generator = np.random.default_rng(seed)
    effects = generator.normal(size=(cells, factors))
    return generator, effects, effects + 0.5 * generator.normal(size=(cells, factors))


def test_planted_leak_and_shortcut_are_recovered():
    generator, effects, marginals = planted(1)
    slopes, pulls = np.array([1.0, 0.7, 0.9]), np.array([0.5, 0.0, 0.0])
    told = effects @ slopes + (marginals - effects) @ pulls + 0.3 + 0.1 * generator.normal(size=400)
    found = decompose_error(told, effects.sum(axis=1), effects, marginals)
    assert np.allclose(found.slopes, slopes, atol=0.03)
    assert np.allclose(found.pulls, pulls, atol=0.05)
    assert np.mean(found.offset) == pytest.approx(0.3, abs=0.05)
    assert np.argmax((found.leak * found.error[:, None]).mean(axis=0)) == 1
    assert np.argmax(found.shortcut_shares) == 0


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 4))
def test_parts_add_up_to_the_error_and_shares_to_one(seed, cells, factors):
    generator, effects, marginals = planted(seed, cells, factors)
    told, seen = generator.normal(size=(2, cells))
    found = decompose_error(told, seen, effects, marginals)
    assert np.allclose(found.error, told - seen)
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found.shortcut_shares.sum() == pytest.approx(found.shares["shortcut"])


def test_balanced_designs_have_no_shortcut_to_take():
    _, effects, _ = planted(2)
    found = decompose_error(effects @ [0.5, 1, 1], effects.sum(axis=1), effects, effects)
    assert np.isnan(found.pulls).all()
    assert found.shares["shortcut"] == 0


def test_a_perfect_model_has_no_error_to_share():
    _, effects, marginals = planted(3)
    found = decompose_error(effects.sum(axis=1), effects.sum(axis=1), effects, marginals)
    assert np.allclose(found.slopes, 1)
    assert np.allclose(found.error, 0)


def test_scale_does_not_matter():
    generator, effects, marginals = planted(4)
    told, seen = effects @ [0.6, 1, 1] + 0.2 * generator.normal(size=400), effects.sum(axis=1)
    small, large = (decompose_error(s * told, s * seen, s * effects, s * marginals) for s in (1e-6, 1e6))
    assert np.allclose(small.slopes, large.slopes)
    assert np.allclose(small.shortcut_shares, large.shortcut_shares)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(rc.InputError, match="one number each per cell"):
        decompose_error([1.0], [1.0, 2.0], [[1.0]], [[1.0]])
    with pytest.raises(rc.InputError, match="one row per cell"):
        decompose_error([1.0, 2.0], [1.0, 2.0], [[1.0]], [[1.0]])
