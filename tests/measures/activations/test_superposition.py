"""Pasting, probes, the additive stand-in and analysis of variance: models whose answer is known, and slow oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.measures.activations.anova import additive_share, effect_shares
from recombine.measures.activations.grid import as_grid
from recombine.measures.activations.linear_probe import linear_probe
from recombine.measures.activations.superposition import (
    correlations,
    pasted_outputs,
    peak_accuracy,
    peaks,
    superposition,
)
from recombine.measures.activations.surrogate import additive_prediction, additive_weights, surrogate
from recombine.worlds.rendered.bumps import ENCODINGS, BumpWorld, Hole, places

WORLD = BumpWorld(side=12, hole=Hole.square(3, 8))
SEEN, IMAGES = WORLD.seen(), WORLD.grid().images.reshape(12, 12, -1)
PASTED = np.where(SEEN[..., None], IMAGES, pasted_outputs(IMAGES, SEEN))


def mixed_mask(rng: np.random.Generator, levels: tuple[int, ...]) -> Any:
    seen = rng.random(levels) < 0.6
    seen.reshape(-1)[:2] = True, False
    return seen


@given(st.integers(0, 99))
@settings(max_examples=15)
def test_the_statistics_are_what_loops_over_cells_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = (4, 5)
    seen, outputs, truth = mixed_mask(rng, levels), *rng.standard_normal((2, *levels, 30))
    found = superposition(outputs, seen, truth)
    pasted, spanned, on, off, right = [], [], [], [], []
    for x, y in np.argwhere(~seen):
        column, row = outputs[x, seen[x]], outputs[seen[:, y], y]
        mixture = sum(part.mean(axis=0) for part in (column, row) if len(part))
        right.append(np.corrcoef(outputs[x, y], truth[x, y])[0, 1])
        others = [outputs[u, v] for u, v in np.argwhere(seen) if u != x and v != y]
        if others:
            off.append(np.mean([outputs[x, y] @ other for other in others]))
        cross = np.concatenate([column, row])
        if not len(cross):
            continue
        pasted.append(np.corrcoef(outputs[x, y], mixture)[0, 1])
        basis = np.linalg.qr(cross.T)[0]
        spanned.append(((basis.T @ outputs[x, y]) ** 2).sum() / (outputs[x, y] ** 2).sum())
        on.append((cross @ outputs[x, y]).mean())
    assert found.pasted == pytest.approx(np.mean(pasted), abs=1e-10)
    assert found.spanned == pytest.approx(np.mean(spanned), abs=1e-8)
    assert found.on_cross == pytest.approx(np.mean(on), abs=1e-10)
    assert found.off_cross == pytest.approx(np.mean(off), abs=1e-10)
    assert found.truth == pytest.approx(np.mean(right), abs=1e-10)


def test_a_model_that_pastes_and_one_that_composes() -> None:
    pasting, right = superposition(PASTED, SEEN, IMAGES), superposition(IMAGES, SEEN, IMAGES)
    assert pasting.pasted == pytest.approx(1.0)
    assert pasting.spanned == pytest.approx(1.0)
    assert pasting.truth is not None
    assert pasting.truth < 0.2
    assert pasting.cross_ratio > 3
    assert right.truth == pytest.approx(1.0)
    assert right.pasted < right.pasted_seen < pasting.pasted


def test_a_white_page_changes_nothing_once_it_is_taken_away() -> None:
    plain, white = superposition(PASTED, SEEN), superposition(1 - PASTED, SEEN, background="median")
    for name in ("pasted", "pasted_seen", "spanned", "on_cross"):
        assert getattr(white, name) == pytest.approx(getattr(plain, name), abs=0.01)


def test_cells_without_a_cross_are_left_out() -> None:
    cross = Hole.cross(4, 6).mask(12)
    found = superposition(IMAGES, ~cross)
    assert np.isfinite([found.pasted, found.spanned, found.on_cross]).all()
    flat = superposition(np.ones((3, 3, 4)), np.arange(9).reshape(3, 3) < 8)
    assert np.isnan(flat.pasted)
    assert np.isnan(flat.pasted_seen)


def test_peaks_are_column_then_row() -> None:
    data = BumpWorld(side=10).grid()
    assert (peaks(data.images) == data.centres).all()
    swapped = data.images.swapaxes(-1, -2)
    assert peak_accuracy(swapped, data.centres, within=0.5) == pytest.approx(0.1)
    # The additive cheat: two stripes meet at the right place, and correlate far less than a bump does.
    world = BumpWorld(side=28, hole=Hole.square(6, 22))
    stripes, unseen = world.stripes().images, ~world.seen()
    cheat = (stripes[:28][:, None] + stripes[28:][None])[unseen]
    assert peak_accuracy(cheat, places(28)[unseen]) == 1.0
    right = world.images(places(28)[unseen])
    assert np.mean(correlations(cheat.reshape(289, -1), right.reshape(289, -1))) == pytest.approx(0.474, abs=0.001)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_codes_are_additive_and_can_be_read_out(encoding: str) -> None:
    codes = BumpWorld(side=12, encoding=encoding).grid().codes.reshape(12, 12, -1)
    assert additive_share(codes) == pytest.approx(1.0, abs=1e-12)
    assert surrogate(codes, SEEN).explained == pytest.approx(1.0, abs=1e-8)
    assert min(linear_probe(codes, SEEN).unseen or (0.0,)) > 0.99


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


def test_a_probe_is_least_squares_with_a_constant() -> None:
    rng = np.random.default_rng(0)
    values, seen = rng.standard_normal((6, 7, 5)), mixed_mask(rng, (6, 7))
    found = linear_probe(values, seen)
    design = np.concatenate([values, np.ones((6, 7, 1))], axis=-1)
    assert found.unseen is not None
    for factor in (0, 1):
        target = np.indices((6, 7))[factor].astype(float)
        guess = design @ np.linalg.lstsq(design[seen], target[seen], rcond=None)[0]
        for region, measured in ((seen, found.fitted[factor]), (~seen, found.unseen[factor])):
            spread = ((target[region] - target[region].mean()) ** 2).sum()
            assert measured == pytest.approx(1 - ((target - guess)[region] ** 2).sum() / spread, abs=1e-9)


def test_many_features_fit_seen_cells_and_need_not_know_unseen_ones() -> None:
    noise = np.random.default_rng(0).standard_normal((8, 8, 200))
    found = linear_probe(noise, np.arange(64).reshape(8, 8) < 50)
    assert found.unseen is not None
    assert min(found.fitted) > 1 - 1e-9
    assert max(found.unseen) < 0.5


def test_positions_of_levels_can_be_given() -> None:
    x = np.array([0.0, 1.0, 10.0])
    assert linear_probe(x[:, None], positions=[x]).fitted == pytest.approx((1.0,))
    assert linear_probe(x[:, None]).fitted[0] < 0.9
    with pytest.raises(InputError, match="3 levels"):
        linear_probe(x[:, None], positions=[[1.0]])
    with pytest.raises(InputError, match="one right output each"):
        superposition(IMAGES, SEEN, IMAGES[..., :-1])
    with pytest.raises(InputError, match="one \\(x, y\\) per image"):
        peak_accuracy(np.zeros((3, 4, 4)), [[0, 0]])
