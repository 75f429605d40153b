"""Supports: samples lie in them, anchors share a value, and what cannot be asked is named."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.errors import InputError
from recombine.theory.supports import Support, band, box, finite, gap, planes

ORIGIN, HALF, FAR = [0.0] * 5, [0.5, 0.5, 0.5, 0.0, 0.5], [1.0, 1.0, 1.0, 0.0, 1.0]
ORTHOGONAL = planes({0: [FAR], 1: [ORIGIN, HALF]})
POINTS = np.random.default_rng(7).uniform(size=(40, 2, 5))

SUPPORTS: dict[str, Support] = {
    "box": box(2, 5),
    "three slots": box(3, 2, low=-1, high=[1, 2]),
    "planes": ORTHOGONAL,
    "normal planes": planes({0: [FAR], 1: [ORIGIN, HALF]}, spread=1.0),
    "one plane, three slots": planes({0: [[[0.1], [0.2]]], 2: [[[0.3], [0.4]]]}),
    "band": band(0.05, dimensions=5),
    "band of three slots": band(0.1, slots=3, dimensions=2),
    "diagonal": band(0.0, dimensions=2),
    "gap": gap(ORTHOGONAL, 0, 0, 0.05, 0.45),
    "gap in a band": gap(band(0.2), 1, 0, 0.3, 0.6),
    "finite": finite(POINTS),
    "product of finite": finite(POINTS).product(),
}


@pytest.mark.parametrize("name", SUPPORTS)
class TestEverySupport:
    """The contract of `Support`."""

    def test_samples_lie_inside_and_repeat_with_their_seed(self, name: str) -> None:
        support = SUPPORTS[name]
        points = support.sample(200, 3)
        assert points.shape == (200, support.slots, support.dimensions)
        assert support.contains(points).all()
        assert np.array_equal(points, support.sample(200, 3))

    def test_anchors_lie_inside_and_share_the_value(self, name: str) -> None:
        support = SUPPORTS[name]
        for point in support.sample(10, 1):
            for slot in range(support.slots):
                assert support.has_value(slot, point[slot])[0]
                anchors = support.conditional(slot, point[slot], 8, 2)
                assert len(anchors)
                assert support.contains(anchors).all()
                assert (anchors[:, slot] == point[slot]).all()

    def test_the_product_holds_every_recombination(self, name: str) -> None:
        support = SUPPORTS[name]
        points = support.sample(50, 5)
        mixed = np.stack([np.roll(points[:, slot], slot, axis=0) for slot in range(support.slots)], axis=1)
        assert support.product().contains(mixed).all()
        assert support.product().contains(support.product().sample(50, 1)).all()

    def test_values_never_taken_are_named(self, name: str) -> None:
        support = SUPPORTS[name]
        with pytest.raises(InputError, match=r"slot 1 never takes the value .*9.* in this support"):
            support.conditional(1, [9.0] * support.dimensions)
        with pytest.raises(InputError, match="slot 7 does not exist"):
            support.has_value(7, [[0.5] * support.dimensions])


def test_planes_give_one_anchor_each_and_more_where_they_hold_the_value() -> None:
    assert ORTHOGONAL.conditional(1, [0.3] * 5, 1)[:, 0].tolist() == [ORIGIN, HALF]
    assert ORTHOGONAL.conditional(0, [0.3] * 5)[:, 1].tolist() == [FAR]
    crossing = ORTHOGONAL.conditional(1, FAR, 10)
    assert len(crossing) == 10
    assert len(np.unique(crossing[:, 0], axis=0)) == 10


def test_shares_and_widths_are_those_of_the_paper() -> None:
    # A gap in slot 0 takes 40 % of one plane and nothing of the two others: shares 0.23, 0.38, 0.38.
    points = gap(ORTHOGONAL, 0, 0, 0.05, 0.45).sample(20_000, 0)
    first = (points[:, 1] == FAR).all(axis=1).mean()
    assert first == pytest.approx(0.6 / 2.6, abs=0.01)
    wide = band(0.05, dimensions=5).sample(5000, 0)
    apart = np.abs(wide[:, 0] - wide[:, 1])
    assert apart.max() <= np.sqrt(2) * 0.05
    assert apart.mean() == pytest.approx(np.sqrt(2) * 0.05 / 2, rel=0.03)


def test_anchors_beside_a_wide_gap_are_found() -> None:
    holed = gap(box(2), 0, 0, 0.002, 1.0)
    assert holed.has_value(1, [[0.5]])[0]
    anchors = holed.conditional(1, [0.5], 8)
    assert anchors.shape == (8, 2, 1)
    assert (anchors[:, 0] < 0.002).all()
    narrow = gap(band(0.05), 1, 0, 0.3, 0.6)
    assert narrow.has_value(0, [[0.25], [0.36], [0.45]]).tolist() == [True, True, False]
    assert not narrow.product().contains([[[0.45], [0.1]]])[0]


def test_a_normal_law_is_centred_and_cut() -> None:
    points = planes({0: [[0.0]], 1: [[0.0]]}, spread=0.2).sample(4000, 0).sum(axis=1)[:, 0]
    assert points.mean() == pytest.approx(0.5, abs=0.02)
    assert points.std() == pytest.approx(0.2, abs=0.02)


def test_neighbours_stand_in_for_equal_values_and_say_how_far_they_are() -> None:
    cloud = finite(np.random.default_rng(0).uniform(size=(500, 2, 1)), neighbours=6)
    anchors = cloud.conditional(0, [0.5])
    far = np.abs(anchors[:, 0] - 0.5).max()
    assert len(anchors) == 6
    assert cloud.radius(0, [0.5]) == far
    assert 0 < far < 0.05
    assert finite([[0, 0]]).radius(0, [0]) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: planes({}), "no planes were given"),
        (lambda: planes({0: [[1.0]], 1: [[0.0, 1.0]]}), "held values have shapes"),
        (lambda: planes({2: [[1.0]]}), "slot 2 does not exist"),
        (lambda: band(-0.1), "a band of width -0.1"),
        (lambda: box(2, low=1, high=0), "low 1 is not below high 0"),
        (lambda: box(2, 3, low=[0, 1]), "do not fit 3 coordinates"),
        (lambda: gap(box(2), 0, 3, 0, 1), "coordinate 3 from 0 to 1 is no gap"),
        (lambda: gap(box(2), 0, 0, -1, 2).sample(3), "outside the gap: only 0 of 3 points"),
        (lambda: finite([[0.0, np.nan]]), "point 0 has a coordinate of slot 1"),
        (lambda: finite(np.zeros(3)), r"points have shape \(3,\)"),
        (lambda: finite([[0, 1]], neighbours=2), "2 neighbours were asked for among 1 points"),
        (lambda: box(2).contains([[0.5, 0.5]]), r"give points of shape \(N, 2, 1\)"),
        (lambda: box(2).conditional(0, [0.5, 0.5]), "give 1 coordinates"),
        (lambda: box(2).conditional(0, [2.0]), "slot 0 never takes the value 2"),
    ],
)
def test_bad_supports_are_refused_in_words(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]


def test_the_package_hands_them_out() -> None:
    assert rc.theory.supports.box(2).sample(1).shape == (1, 2, 1)


def test_wide_normal_planes_in_many_dimensions_are_drawn_at_once() -> None:
    """Of five wide normal coordinates fewer than one in a hundred points is in the box; each must follow the normal."""
    from scipy.stats import kstest, truncnorm

    held = [0.0] * 5
    points = planes({0: [held], 1: [held]}, spread=1.0).sample(100_000, 0)
    free = points.sum(axis=1)[:, 2]
    assert points.shape == (100_000, 2, 5)
    assert kstest(free, truncnorm(-0.5, 0.5, loc=0.5, scale=1.0).cdf).pvalue > 0.001
