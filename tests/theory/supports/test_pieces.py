"""Regions in pieces: whatever is called determined has no second additive solution, by linear algebra on a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy.ndimage import label

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.theory.compositions import add, product
from recombine.theory.sufficiency import sufficient_support
from recombine.theory.supports import Support, around, box, gap, planes, region

WAVES = [lambda z: np.sin(z[:, :1] + z[:, 1:]), lambda z: np.cos(z[:, :1] - 2 * z[:, 1:])]
#: Places a side of the grid on which pieces are counted, and the narrowest gap and bridge that it resolves.
SIDE, MIN_GAP, MIN_BRIDGE = 200, 0.015, 0.03
GRID = np.stack(np.meshgrid(*[(np.arange(SIDE) + 0.5) / SIDE] * 2, indexing="ij"), axis=-1).reshape(-1, 2)

#: Values of a slot (N, 2) -> which of several overlapping parts each lies in, (N, parts).
Parts = Callable[[FloatArray], BoolArray]


def blocks(rng: np.random.Generator, bridged: bool) -> Parts:
    """Two blocks on both sides of a slanted gap, with or without a thin bridge."""
    angle, middle = rng.uniform(0, np.pi), rng.uniform(-0.1, 0.1)
    across, along = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    half, width = rng.uniform(MIN_GAP, 0.12) / 2, rng.uniform(MIN_BRIDGE, 0.1)

    def parts(z: FloatArray) -> BoolArray:
        x, y = (z - 0.5) @ across - middle, (z - 0.5) @ along
        bridge = bridged & (abs(y) < width / 2) & (abs(x) < 0.2)
        return np.stack([(x < -half) | bridge, (x > half) | bridge], axis=1)

    return parts


def disc_and_ring(rng: np.random.Generator, bridged: bool) -> Parts:
    """A disc in a ring, which a bridge joins or not."""
    inner = rng.uniform(0.12, 0.25)
    outer, width = inner + rng.uniform(MIN_GAP, 0.15), rng.uniform(MIN_BRIDGE, 0.1)

    def parts(z: FloatArray) -> BoolArray:
        radius = np.hypot(*(z - 0.5).T)
        bridge = bridged & (abs(z[:, 1] - 0.5) < width / 2) & (z[:, 0] > 0.5)
        return np.stack([(radius < inner) | bridge, (radius > outer) & (radius < 0.5) | bridge], axis=1)

    return parts


def cut_ring(rng: np.random.Generator, bridged: bool) -> Parts:
    """A ring with one cut, or with two, which make two arcs of it."""
    inner, turn, half = rng.uniform(0.15, 0.35), rng.uniform(0, 2 * np.pi), rng.uniform(0.1, 0.4)

    def parts(z: FloatArray) -> BoolArray:
        radius = np.hypot(*(z - 0.5).T)
        angle = (np.arctan2(*(z - 0.5).T) + turn) % (2 * np.pi)
        ring = (radius > inner) & (radius < 0.5) & (angle > half)
        second = ring & (angle > np.pi + half)
        return np.stack([ring & (angle < np.pi + half * bridged), second], axis=1)

    return parts


def islands(rng: np.random.Generator, bridged: bool) -> Parts:
    """Four squares in the corners; bars join three of them, or none."""
    size = rng.uniform(0.3, 0.48)
    bar = rng.uniform(MIN_BRIDGE, 0.1) if bridged else 0.0

    def parts(z: FloatArray) -> BoolArray:
        low, high = z < size, z > 1 - size
        lower, left = (z[:, 1] < bar), (z[:, 0] < bar)
        corners = [low.all(axis=1), low[:, 0] & high[:, 1], high[:, 0] & low[:, 1], high.all(axis=1)]
        corners[0] = corners[0] | lower | left
        return np.stack(corners, axis=1)

    return parts


def everything(rng: np.random.Generator, bridged: bool) -> Parts:
    return lambda z: np.ones((len(z), 1), dtype=bool)


@dataclass(frozen=True)
class Case:
    """Parts of both slots, and which parts occur together."""

    parts: tuple[Parts, Parts]
    together: BoolArray

    @classmethod
    def drawn(cls, seed: int) -> Case:
        rng = np.random.default_rng(seed)
        kinds = (blocks, disc_and_ring, cut_ring, islands)
        first = kinds[seed % 4](rng, bool(rng.integers(2)))
        second = (*kinds, everything)[rng.integers(5)](rng, bool(rng.integers(2))) if rng.integers(2) else first
        shape = tuple(parts(GRID[:1]).shape[1] for parts in (first, second))
        together = rng.random(shape) < 0.2
        together[np.arange(max(shape)) % shape[0], np.arange(max(shape)) % shape[1]] = True
        return cls((first, second), together)

    def seen(self, z: FloatArray) -> BoolArray:
        first, second = (parts(z[:, slot]) for slot, parts in enumerate(self.parts))
        return np.asarray(((first @ self.together) & second).any(axis=1))

    @cached_property
    def support(self) -> Support:
        return region(self.seen, box(2, 2))

    @cached_property
    def pieces(self) -> list[tuple[int, BoolArray]]:
        """For each slot, how many connected pieces its values have, and which parts reach into each."""
        found = []
        for parts, occurs in zip(self.parts, (self.together.any(axis=1), self.together.any(axis=0)), strict=True):
            members = parts(GRID) & occurs
            numbers, count = label(members.any(axis=1).reshape(SIDE, SIDE), np.ones((3, 3)))
            inside = numbers.ravel()[:, None] == np.arange(1, count + 1)
            found.append((count, inside.T @ members))
        return found

    @property
    def unique(self) -> bool:
        """Whether components that fit the support and are right up to a constant on each piece agree elsewhere."""
        (first, reach), (second, other) = self.pieces
        rows = np.array([[*a, *b] for a in np.eye(first) for b in np.eye(second)])
        joint = np.einsum("ip,pq,jq->ij", reach, self.together, other).ravel() > 0
        return bool(np.linalg.matrix_rank(rows[joint]) == np.linalg.matrix_rank(rows))


def holds(support: Support) -> bool:
    return sufficient_support(support, add(), WAVES, probes=2).holds


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 304, 38))
def test_no_region_with_a_second_solution_is_called_determined(start: int) -> None:
    cases = [Case.drawn(seed) for seed in range(start, start + 38)]
    second = [case for case in cases if not case.unique]
    assert not [case for case in second if holds(case.support)]
    # Both kinds occur, and where the values of every slot are in one piece a path is mostly found.
    assert 5 <= len(second) <= 33
    assert np.mean([holds(case.support) for case in cases if all(count == 1 for count, _ in case.pieces)]) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 320, 80))
def test_no_samples_of_such_a_region_are(start: int) -> None:
    for case in map(Case.drawn, range(start, start + 80)):
        if not case.unique:
            assert not holds(around(case.support.sample(2000, 1), 0.9 * MIN_GAP))


@pytest.mark.parametrize("width", [0.004, 0.01, 0.05])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_narrow_gap_between_two_blocks_is_found(width: float, dimensions: int) -> None:
    """Either block alone says nothing of how far apart the other's values are."""

    def apart(z: FloatArray) -> BoolArray:
        low, high = z[:, :, 0] < 0.5 - width / 2, z[:, :, 0] > 0.5 + width / 2
        return np.asarray(low.all(axis=1) | high.all(axis=1))

    assert [region(apart, box(2, dimensions)).connected(slot) for slot in (0, 1)] == [False, False]
    whole = region(lambda z: z[:, 0, 0] < 2, box(2, dimensions))
    assert whole.connected(0)
    assert whole.crosses()


def test_a_gap_at_an_end_may_cut_a_region_in_two() -> None:
    """A U whose base is taken away."""
    bent = region(lambda z: (z[:, 0, 1] < 0.2) | (abs(z[:, 0, 0] - 0.5) > 0.3), box(2, 2))
    assert bent.connected(0)
    assert not gap(bent, 0, 1, -1.0, 0.25).connected(0)
    assert not gap(bent.product(), 0, 1, -1.0, 0.25).connected(0)
    assert gap(bent, 0, 1, 0.8, 2.0).connected(0)


def test_samples_are_joined_over_steps_no_longer_than_the_radius() -> None:
    steps = np.repeat(np.arange(0.0, 1.0, 0.1)[:, None, None], 2, axis=1)
    assert around(steps, 0.101).connected(0)
    assert not around(steps, 0.099).connected(0)
    # Values of either slot leave no gap, but no sample of one half has both values known from the other.
    points = np.random.default_rng(0).random((3000, 2))
    x, y = points.T
    halves = ((x < 0.5) & (y > 0.5)) | ((x > 0.3) & (y < 0.3)) | ((x > 0.7) & (y < 0.7))
    apart = around(points[halves], 0.05)
    assert [apart.connected(slot) for slot in (0, 1)] == [True, True]
    assert not apart.crosses()
    assert around(points, 0.05).crosses()


def test_planes_of_a_region_are_joined_where_they_cross() -> None:
    """No two drawn points of different planes lie on a line in the support, but a path turns the corner."""
    crossing = planes({0: [[1.0, 0.3]], 1: [[0.0, 0.2]]})
    skew = planes({0: [[1.0, 0.3]], 1: [[0.0, 2.0]]}, high=[1.0, 1.0])
    for support, answer in ((crossing, True), (skew, False)):
        assert region(lambda z: z[:, 0, 0] < 3, support).crosses() is answer
        assert region(lambda z: z[:, 0, 0] < 3, support).connected(0) is answer


def test_what_the_points_cannot_tell_is_undecided() -> None:
    touching = region(lambda z: (z[:, :, 0] < 0.5).all(axis=1) | (z[:, :, 0] > 0.51).all(axis=1), box(2))
    found = sufficient_support(touching, product(), [lambda z: 2 + np.sin(z), lambda z: 2 + np.cos(z)])
    assert str(found) == "undecided: full rank, but slots 0, 1: no path was found"
