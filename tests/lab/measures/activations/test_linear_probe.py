"""Linear readouts of factors: least squares with a constant, on seen cells and on unseen ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.worlds.rendered.bumps import ENCODINGS, BumpWorld, Hole
from recombine.measures.activations.additive import additive_share
from recombine.measures.activations.linear_probe import linear_probe
from recombine.measures.activations.peaks import peak_accuracy
from recombine.measures.activations.superposition import superposition
from recombine.measures.activations.surrogate import surrogate

WORLD = BumpWorld(side=12, hole=Hole.square(3, 8))

SEEN, IMAGES = WORLD.seen(), WORLD.grid().images.reshape(12, 12, -1)


def mixed_mask(rng: np.random.Generator, levels: tuple[int, ...]) -> Any:
    seen = rng.random(levels) < 0.6
    seen.reshape(-1)[:2] = True, False
    return seen


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_codes_are_additive_and_can_be_read_out(encoding: str) -> None:
    codes = BumpWorld(side=12, encoding=encoding).grid().codes.reshape(12, 12, -1)
    assert additive_share(codes) == pytest.approx(1.0, abs=1e-12)
    assert surrogate(codes, SEEN).explained == pytest.approx(1.0, abs=1e-8)
    assert min(linear_probe(codes, SEEN).unseen or (0.0,)) > 0.99


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
