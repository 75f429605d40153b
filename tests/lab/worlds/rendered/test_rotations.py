"""Rotated images: quarter turns are exact, blends meet the edges of the gap."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.worlds.rendered.rotations import RotationWorld

IMAGE = np.random.default_rng(0).random((9, 9))


def test_quarter_turns_are_exact() -> None:
    world = RotationWorld(IMAGE, gap=(160, 200))
    turned = world.images([0, 90, 180, 270])
    for quarter in range(4):
        np.testing.assert_allclose(turned[quarter], np.rot90(IMAGE, quarter), atol=1e-9)


def test_blends_meet_the_edges_and_are_straight_between() -> None:
    world = RotationWorld(IMAGE, gap=(100, 200))
    np.testing.assert_allclose(world.blends([100, 200]), world.images([100, 200]))
    np.testing.assert_allclose(world.blends([130])[0], 0.7 * world.blends([100])[0] + 0.3 * world.blends([200])[0])


def test_the_gap_is_held_out_and_codes_lie_on_the_circle() -> None:
    world = RotationWorld(IMAGE, gap=(160, 200))
    angles = world.angles(360)
    assert (~world.seen(angles)).sum() == 41
    np.testing.assert_allclose((world.codes(angles) ** 2).sum(axis=1), 1)


@pytest.mark.parametrize(("image", "gap"), [(np.zeros((3, 4)), (10, 20)), (IMAGE, (20, 10)), (IMAGE, (10, 400))])
def test_what_does_not_fit_is_refused(image: np.ndarray, gap: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="give"):
        RotationWorld(image, gap)
