"""Supports made from a test of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.compositions import product
from recombine.theory.sufficiency import compositional_support, sufficient_support
from recombine.theory.supports import around, box, region

WAVES = [lambda z: np.sin(z + np.arange(3.0)), lambda z: np.cos(z * [1.0, 2.0, 3.0])]
APART = region(lambda z: abs(z[:, 0, 0] - z[:, 1, 0]) > 0.25, box(2))


def test_points_values_and_anchors_pass_the_test() -> None:
    assert APART.contains(APART.sample(100)).all()
    anchors = APART.conditional(0, [0.5], 20)
    assert anchors.shape == (20, 2, 1)
    assert (anchors[:, 0] == 0.5).all()
    assert (abs(anchors[:, 1] - 0.5) > 0.25).all()
    assert APART.has_value(0, [[0.5], [1.5]]).tolist() == [True, False]
    assert APART.ends(0)[1].tolist() == [1.0]


def test_the_condition_is_decided() -> None:
    assert compositional_support(APART, box(2)).holds
    assert sufficient_support(APART, product(), WAVES).holds


def test_values_in_pieces_are_found_out() -> None:
    corners = region(lambda z: (z < 0.3).all(axis=(1, 2)) | (z > 0.7).all(axis=(1, 2)), box(2))
    assert [corners.connected(slot) for slot in (0, 1)] == [False, False]
    found = sufficient_support(corners, product(), WAVES)
    assert not found.holds
    assert "slots 0, 1: no path was found" in str(found)
    with pytest.raises(InputError, match=r"never takes the value 0\.5"):
        corners.conditional(0, [0.5])


def test_parts_that_do_not_lead_into_each_other_are_found_out() -> None:
    """Values of both slots leave no gap, but at no point of one part both values are known from the other."""

    def test(z: np.ndarray) -> np.ndarray:
        x, y = z[:, 0, 0], z[:, 1, 0]
        return ((x < 0.5) & (y > 0.5)) | ((x > 0.3) & (y < 0.3)) | ((x > 0.7) & (y < 0.7))

    apart = region(test, box(2))
    assert all(apart.connected(slot) for slot in (0, 1))
    assert not apart.crosses()
    assert APART.crosses()


def test_slots_that_cannot_move_alone_are_found_out() -> None:
    stepped = region(lambda z: (1e4 * z[:, 0, 0]).astype(int) % 2 == 0, box(2))
    assert not stepped.has_slices(0)
    assert stepped.has_slices(1)


def test_a_test_of_another_shape_is_refused() -> None:
    with pytest.raises(InputError, match=r"the test gave bool of shape \(\d+, 2\)"):
        region(lambda z: z[:, :, 0] > 0.5, box(2)).sample(3)
    with pytest.raises(InputError, match=r"the test raised IndexError: .*; try it alone"):
        region(lambda z: z[:, 5, 0] > 0, box(2)).contains([[[0.5], [0.5]]])
    with pytest.raises(InputError, match="within is a list, not a support"):
        region(lambda z: z[:, 0, 0] > 0, [[0.0]])  # type: ignore[arg-type]


def test_scattered_samples_are_decided_by_what_lies_around_them() -> None:
    samples = np.random.default_rng(1).random((400, 2, 1))
    for shape in (samples, samples[..., 0]):
        close = around(shape, 0.05)
        asked = close.sample(200)
        distances = np.abs(asked[:, None] - samples[None]).max(axis=(2, 3)).min(axis=1)
        assert distances.max() <= 0.05
        assert close.contains(samples).all()
    assert sufficient_support(around(samples, 0.05), product(), WAVES).holds
    halves = samples[(samples[:, 0, 0] < 0.3) | (samples[:, 0, 0] > 0.7)]
    assert not sufficient_support(around(halves, 0.05), product(), WAVES).holds
    assert around(samples * [[100.0], [100.0]], 5.0).contains([[[50.0], [50.0]]]).all()


@pytest.mark.parametrize(("points", "radius", "message"), [([], 0.1, "points"), ([[0.1, 0.2]], 0.0, "radius is 0.0")])
def test_samples_or_a_radius_that_say_nothing_are_refused(points: Any, radius: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        around(points, radius)
