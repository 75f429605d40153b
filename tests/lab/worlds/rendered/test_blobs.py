"""Blobs: three ways to compose, and the regions they cover."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.worlds.rendered import blobs


@pytest.fixture
def units() -> np.ndarray:
    return np.random.default_rng(0).random((50, 2, 3))


def test_rules_agree_where_blobs_do_not_touch(units):
    parts = blobs.blob_layers(units)
    covered = blobs.blob_opacities(units)
    np.testing.assert_allclose(blobs.render_blobs(units, "add"), parts.sum(1))
    over = (
        covered[:, 0, None] * blobs.blob_layers(units, alpha=True)[:, 0, :3] + (1 - covered[:, 0, None]) * parts[:, 1]
    )
    np.testing.assert_allclose(blobs.render_blobs(units, "rgba"), over)
    gate = 1 / (1 + np.exp(-3 * parts[:, 0].sum(1, keepdims=True)))
    np.testing.assert_allclose(blobs.render_blobs(units, "soft"), gate * parts[:, 0] + (1 - gate) * parts[:, 1])


def test_a_blob_is_the_clamped_gaussian_where_it_says(units):
    x, y, _ = blobs.blob_latents(units[0, 0])
    middles = (np.arange(12) + 0.5) / 12
    row, column = 3, 8
    distance = (middles[column] - x) ** 2 + (1 - middles[row] - y) ** 2
    expected = np.clip((np.exp(-distance / (2 * 0.13**2)) - 0.3) * 2.2, 0, 1)
    assert blobs.blob_opacities(units[0, 0])[row, column] == pytest.approx(expected)


def test_regions_cover_every_pixel_once(units):
    found = blobs.blob_regions(units)
    total = sum(found[name].astype(int) for name in ("front", "back", "empty"))
    assert (total == 1).all()
    assert (found["hidden"] <= found["front"]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blobs.render_blobs(np.zeros((1, 2, 3)), "ad"), "did you mean 'add'"),
        (lambda: blobs.blob_layers(np.zeros((1, 2))), "last axis must hold x, y, hue"),
        (lambda: blobs.blob_layers(np.full((1, 3), 1.1)), "outside 0 to 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
