"""Values of held-out cells by components: beside a dense posterior, and what they say of pairs, logs and curves."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.cells.conjunctions import every_cell
from recombine.theory.components import HeldOutComponents, label_term, posterior_of
from recombine.theory.components.scales import IDENTITY, LOG

CELLS = every_cell((7, 6, 5))


def effects(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(sum(rng.normal(size=size)[CELLS[:, factor]] for factor, size in enumerate((7, 6, 5))))


def components(y: np.ndarray, seed: int = 0) -> HeldOutComponents:
    fold = np.random.default_rng(seed).permutation(len(y)) % 5
    return HeldOutComponents(CELLS, y, np.ones(len(y)), fold)


def test_values_are_those_of_a_dense_posterior_that_did_not_see_the_fold() -> None:
    y = effects(0) + 0.3 * np.random.default_rng(1).normal(size=len(CELLS))
    held_out = components(y)
    values = held_out.values()
    assert values is not None
    fit = held_out._fit(1, IDENTITY)
    assert fit is not None
    standard, train = (y - y.mean()) / y.std(), held_out.fold != 2
    terms = [label_term(factor) for factor in range(3)]
    noise = np.full(int(train.sum()), fit[0].noise)
    dense = posterior_of(held_out.factors, CELLS[train], standard[train], terms, fit[0].variances, noise)
    expected = y.mean() + y.std() * dense.predict(CELLS[~train])[0]
    np.testing.assert_allclose(values[~train], expected, rtol=1e-6, atol=1e-6)


def test_cells_in_no_fold_have_no_value() -> None:
    fold = np.where(np.arange(len(CELLS)) % 3 == 0, np.random.default_rng(0).integers(5, size=len(CELLS)), -1)
    values = HeldOutComponents(CELLS, effects(0), np.ones(len(CELLS)), fold).values()
    assert values is not None
    assert np.array_equal(np.isfinite(values), fold >= 0)


def test_only_pairs_beyond_chance_are_fitted() -> None:
    rng = np.random.default_rng(2)
    noise, pairs = 0.3 * rng.normal(size=len(CELLS)), rng.normal(size=(7, 6))[CELLS[:, 0], CELLS[:, 1]]
    held_out = components(effects(2) + pairs + noise)
    assert held_out.carries(2)
    assert (0, 1) in [term.factors for term in held_out._terms(2, IDENTITY)]
    single, both = held_out.values(1), held_out.values(2)
    assert single is not None
    assert both is not None
    assert np.mean((both - held_out.y) ** 2) < 0.7 * np.mean((single - held_out.y) ** 2)
    alarms = [components(effects(seed) + 0.3 * np.random.default_rng(seed).normal(size=210)) for seed in range(12)]
    assert sum(each.carries(2) for each in alarms) <= 8


def test_values_of_logarithms_are_means() -> None:
    rng = np.random.default_rng(3)
    y = np.exp(effects(3) + 0.5 * rng.normal(size=len(CELLS)))
    values = components(y).values(1, LOG)
    assert values is not None
    # The mean of a log-normal outcome is above its median, by half the variance of the logarithm.
    assert np.mean(np.log(values)) == pytest.approx(np.mean(np.log(y)) + 0.5 * 0.5**2, abs=0.08)


def test_a_curve_shows_along_held_out_values() -> None:
    noise = 0.1 * np.random.default_rng(4).normal(size=len(CELLS))
    assert components(np.tanh(effects(4)) + noise).curved()
    assert components(np.exp(effects(4) / 2) + noise).curved()
    plain = [components(effects(seed) + 0.5 * np.random.default_rng(seed + 50).normal(size=210)) for seed in range(12)]
    assert sum(each.curved() for each in plain) <= 4


def test_what_would_take_too_long_is_not_read() -> None:
    wide = np.column_stack([np.arange(4_000) % 1_000, np.arange(4_000) // 4])
    assert HeldOutComponents(wide, np.arange(4_000.0), np.ones(4_000), np.arange(4_000) % 5).values() is None
