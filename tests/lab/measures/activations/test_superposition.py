"""Pasting: models whose answer is known, and slow oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole, places
from recombine.measures.activations.peaks import peak_accuracy, peaks
from recombine.measures.activations.stand_ins import pasted_outputs
from recombine.measures.activations.superposition import correlations, superposition

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
