"""The world of bumps: images by their formula, codes that keep factors apart, holes by their published sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.worlds.rendered.bumps import ENCODINGS, BumpWorld, Hole, places

EACH = pytest.mark.parametrize("encoding", ENCODINGS)


def test_an_image_is_the_formula_with_rows_for_y() -> None:
    world = BumpWorld(side=12, width=1.5)
    image = world.images([[3.25, 8.0]])[0]
    for row, column in [(8, 3), (0, 0), (5, 11)]:
        squared = (column - 3.25) ** 2 + (row - 8.0) ** 2
        assert image[row, column] == pytest.approx(math.exp(-squared / (2 * 1.5**2)), rel=1e-12)
    assert np.unravel_index(image.argmax(), image.shape) == (8, 3)


def test_inverted_images_add_up_to_one_with_the_plain_ones() -> None:
    centres = places(9).reshape(-1, 2)
    plain, inverted = BumpWorld(side=9), BumpWorld(side=9, inverted=True)
    np.testing.assert_allclose(plain.images(centres) + inverted.images(centres), 1.0, atol=1e-15)
    np.testing.assert_allclose(plain.stripes().images + inverted.stripes().images, 1.0, atol=1e-15)


@pytest.mark.parametrize(("side", "width"), [(28, 1.0), (32, 1.5)])
def test_painting_nothing_costs_the_blank_error(side: int, width: float) -> None:
    world = BumpWorld(side=side, width=width)
    middle = world.images([[side / 2, side / 2 + 0.3]])
    assert (middle**2).mean() == pytest.approx(world.blank_error, rel=1e-4)


@pytest.mark.parametrize(
    ("hole", "side", "unseen"),
    [
        (Hole.square(6, 22), 28, 289),
        (Hole.square(10, 18), 28, 81),
        (Hole.corner(12), 32, 400),
        (Hole.corner(14), 28, 196),
        (Hole.centred(40, 0.3), 40, 144),
        (Hole.cross(6, 21), 28, 28**2 - 12**2),
        (Hole.none(), 28, 0),
    ],
)
def test_holes_have_their_published_sizes(hole: Hole, side: int, unseen: int) -> None:
    assert int(hole.mask(side).sum()) == unseen
    seen = ~hole.mask(side)
    if hole.shape in ("square", "corner"):
        assert all(seen.any(axis=axis).all() for axis in (0, 1)), "every level of either factor must be seen"


def test_a_centred_hole_is_in_the_middle() -> None:
    for share in (0.2, 0.25, 0.5):
        mask = Hole.centred(24, share).mask(24)
        assert abs(np.argwhere(mask).mean() - 11.5) <= 0.5


@EACH
def test_codes_keep_x_and_y_in_separate_units(encoding: str) -> None:
    world = BumpWorld(side=10, encoding=encoding)
    codes = world.grid().codes.reshape(10, 10, -1)
    half = world.units // 2
    assert codes.shape[-1] == world.units
    assert (codes[:, :1, :half] == codes[:, :, :half]).all()
    assert (codes[:1, :, half:] == codes[:, :, half:]).all()
    assert len(np.unique(codes.reshape(100, -1), axis=0)) == 100


def test_codes_are_the_formulas() -> None:
    centre = [[3.5, 2.0]]
    bump = BumpWorld(side=8, width=2.0, encoding="bump", spread=3.0).codes(centre)[0]
    assert bump[5] == pytest.approx(math.exp(-(1.5**2) / (2 * 3 * 4)))
    assert BumpWorld(side=8, encoding="ramp").codes(centre)[0].tolist() == [3.5, 2.0]
    assert BumpWorld(side=8, encoding="scaled-ramp").codes(centre)[0].tolist() == [0.0, pytest.approx(4 / 7 - 1)]
    wave = BumpWorld(side=8, encoding="positional").codes(centre)[0]
    assert wave[:2].tolist() == pytest.approx([math.sin(math.pi * 3.5 / 8), math.sin(2 * math.pi * 3.5 / 8)])
    assert wave[12 + 6] == pytest.approx(math.cos(math.pi * 2 / 8))


@EACH
def test_stripes_show_one_factor_and_silence_the_other(encoding: str) -> None:
    world = BumpWorld(side=8, hole=Hole.square(2, 5), encoding=encoding)
    data = world.stripes(repeats=3)
    assert len(data) == 48
    half = world.units // 2
    assert not data.codes[:24, half:].any()
    assert not data.codes[24:, :half].any()
    assert (data.images[:24] == data.images[:24, :1]).all(), "a stripe for x is the same in every row"
    assert (data.images[24:] == data.images[24:, :, :1]).all()
    # A bump is the product of its two stripes.
    x, y = data.images[3 * 4], data.images[24 + 3 * 6]
    np.testing.assert_allclose(x * y, world.images([[4, 6]])[0], atol=1e-15)


def test_on_a_wider_canvas_bumps_beyond_the_edge_paint_almost_nothing() -> None:
    world = BumpWorld(side=28, hole=Hole.square(6, 22), encoding="bump", margin=6)
    assert world.units == 80
    data = world.draw(2000, seed=0)
    outside = ((data.centres < 0) | (data.centres > 27)).any(axis=1)
    assert outside.mean() == pytest.approx((40**2 - 28**2) / (40**2 - 289), abs=0.04)
    energy = (data.images**2).sum(axis=(1, 2))
    assert np.median(energy[outside]) < 0.01 < np.median(energy[~outside])
    inner = BumpWorld(side=28, encoding="bump")
    np.testing.assert_array_equal(world.images([[3, 9]]), inner.images([[3, 9]]))
    np.testing.assert_array_equal(world.codes([[3, 9]])[0, 6:34], inner.codes([[3, 9]])[0, :28])


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_draws_stay_on_their_side_of_the_hole_and_follow_the_seed(seed: int, held_out: bool, real: bool) -> None:
    world = BumpWorld(side=12, hole=Hole.square(3, 8), encoding="ramp")
    data = world.draw(50, seed, held_out=held_out, real=real)
    assert (world.hole(data.centres) == held_out).all()
    assert data.centres.min() >= 0
    assert data.centres.max() < 12
    assert real or (data.centres == np.floor(data.centres)).all()
    np.testing.assert_array_equal(world.draw(50, seed, held_out=held_out, real=real).codes, data.codes)


def test_every_seen_place_is_drawn_equally_often() -> None:
    world = BumpWorld(side=8, hole=Hole.square(2, 5))
    counts = np.zeros((8, 8))
    np.add.at(counts, tuple(world.draw(48_000, seed=3).centres.astype(int).T), 1)
    assert (counts[world.hole.mask(8)] == 0).all()
    assert np.abs(counts[world.seen()] - 1000).max() < 5 * math.sqrt(1000)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BumpWorld(encoding="onehot"), "did you mean 'one-hot'"),
        (lambda: BumpWorld(side=1), "side is 1"),
        (lambda: BumpWorld(width=0.0), "width is 0.0"),
        (lambda: BumpWorld().codes([[0.5, 1.0]]), "not one of the levels"),
        (lambda: BumpWorld().draw(3, 0, real=True), "no units between"),
        (lambda: BumpWorld().draw(3, 0, held_out=True), "no place lies inside"),
        (lambda: BumpWorld().images([1.0, 2.0]), "one row (x, y)"),
        (lambda: Hole("disc"), "is not one of"),
        (lambda: Hole.square(5, 2), "is empty"),
        (lambda: Hole.centred(10, 1.0), "share between 0 and 1"),
    ],
)
def test_bad_input_is_named(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        call()  # type: ignore[operator]
