"""The sprite renderer against published pixel counts and against Pillow's polygons, one sprite at a time."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recombine.errors import InputError
from recombine.lab.worlds.rendered import canvas, sprites

#: Latents, pixels, rows, columns and colour of sprites drawn by the authors' renderer.
KNOWN = [
    ((0, 0, 0, 0, 0), 40, (46, 53), (2, 10), (255, 76, 0)),
    ((0.5, 0.5, 0.5, 0, 0.5), 36, (29, 34), (29, 34), (0, 255, 255)),
    ((1, 1, 1, 0, 1), 46, (9, 16), (54, 60), (255, 0, 76)),
    ((0.62, 0.31, 1, 0.8, 0.15), 170, (32, 46), (31, 45), (226, 255, 0)),
    ((0.8, 0.1, 0.1, 0.5, 0.6), 119, (38, 51), (39, 54), (0, 117, 255)),
]
PAIR = [[[0.5, 0.5, 0, 1, 0.1], [0.55, 0.55, 1, 1, 0.6]]]


def by_pillow(units: np.ndarray) -> np.ndarray:
    """Draw the sprites of one image as the authors do: polygons from back to front, then flipped."""
    canvas = Image.new("RGB", (64, 64))
    for unit in units[::-1]:
        x, y, shape, scale, hue = sprites.sprite_latents(unit)
        corners, start = list(sprites.SHAPES.values())[int(shape)]
        angles = np.deg2rad(start) + 2 * np.pi * np.arange(corners) / corners
        outline = scale * np.sqrt(2 / (corners * np.sin(2 * np.pi / corners)))
        points = 64 * np.stack([x + outline * np.cos(angles), y + outline * np.sin(angles)], 1)
        colour = tuple(int(255 * part) for part in colorsys.hsv_to_rgb(hue, 1, 1))
        ImageDraw.Draw(canvas).polygon([tuple(point) for point in points], fill=colour)
    return np.flipud(np.array(canvas)).transpose(2, 0, 1)


@pytest.mark.parametrize(("unit", "pixels", "rows", "columns", "colour"), KNOWN)
def test_published_sprites(unit, pixels, rows, columns, colour):
    mask = sprites.sprite_masks(unit)
    down, across = np.nonzero(mask)
    assert mask.sum() == pixels
    assert (down.min(), down.max()) == rows
    assert (across.min(), across.max()) == columns
    assert tuple(sprites.sprite_colours(unit)) == colour


def test_published_composites():
    assert sprites.sprite_regions(PAIR)["hidden"].sum() == 161
    assert sprites.render_sprites(PAIR).sum() / 255 == pytest.approx(500.3373, abs=1e-4)
    assert sprites.render_sprites(PAIR, "soft").sum(dtype=np.float64) == pytest.approx(435.8749, abs=1e-4)


def test_equals_pillow_pixel_for_pixel():
    units = np.random.default_rng(0).random((400, 2, 5))
    # The corners of the cube reach the canvas's edges.
    units[:32] = np.random.default_rng(1).integers(0, 2, (32, 2, 5))
    expected = np.stack([by_pillow(unit) for unit in units])
    np.testing.assert_array_equal(sprites.render_sprites(units), expected)


def test_torch_draws_the_same():
    torch = pytest.importorskip("torch")
    units = np.random.default_rng(2).random((200, 2, 5))
    drawn = sprites.render_sprites(torch.tensor(units))
    assert drawn.dtype == torch.uint8
    np.testing.assert_array_equal(drawn.numpy(), sprites.render_sprites(units))
    soft = sprites.render_sprites(torch.tensor(units), "soft")
    np.testing.assert_allclose(soft.numpy(), sprites.render_sprites(units, "soft"), atol=1e-6)


def test_three_routes_to_a_hard_image():
    units = np.random.default_rng(3).random((20, 3, 5))
    drawn = sprites.render_sprites(units) / 255
    np.testing.assert_allclose(canvas.compose_layers(sprites.sprite_layers(units)), drawn, atol=1e-6)
    np.testing.assert_allclose(
        canvas.compose_layers(sprites.sprite_layers(units, alpha=True), "rgba"), drawn, atol=1e-6
    )


def test_shapes_are_shared_out_one_two_one():
    shapes = sprites.sprite_latents(np.random.default_rng(4).random((40_000, 5)))[:, 2]
    np.testing.assert_allclose(np.bincount(shapes.astype(int)) / 40_000, [0.25, 0.5, 0.25], atol=0.01)


def test_chunks_do_not_matter(monkeypatch):
    units = np.random.default_rng(5).random((7, 2, 5))
    whole = sprites.render_sprites(units)
    monkeypatch.setattr(sprites, "CHUNK_IMAGES", 3)
    np.testing.assert_array_equal(sprites.render_sprites(units), whole)
    assert sprites.render_sprites(units[:0]).shape == (0, 3, 64, 64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sprites.render_sprites([[[0.5] * 4]]), "last axis must hold x, y, shape, scale, hue"),
        (lambda: sprites.render_sprites([[0.5] * 5]), r"give \(images, sprites, 5\)"),
        (lambda: sprites.render_sprites([[[1.5] * 5]]), "outside 0 to 1"),
        (lambda: sprites.render_sprites([[[np.nan] * 5]]), "not numbers"),
        (lambda: sprites.render_sprites([[[0.5] * 5]], "sofft"), "did you mean 'soft'"),
        (lambda: canvas.compose_layers(np.zeros((2, 3, 4, 4)), "rgba"), "needs .* 4 channels"),
        (lambda: sprites.sprite_masks("circle"), "not numbers in rows"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
