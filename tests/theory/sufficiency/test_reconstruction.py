"""Reconstruction: components come back from two planes, a wrong start shows, and ranks are checked on the way."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory.compositions import Composition, add, bilinear
from recombine.theory.sufficiency.reconstruction import Reconstruction, reconstruct_components
from recombine.theory.supports import box
from recombine.theory.supports.planes import Planes, planes

POINTS = np.stack(np.meshgrid(*[np.linspace(0, 1, 4)] * 2), axis=-1).reshape(-1, 2)[..., None]


class World:
    """Smooth random components of three numbers under a composition."""

    def __init__(self, rule: Composition, seed: int = 0, dimensions: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.rule = rule
        self.rates = rng.uniform(0.5, 2.5, (2, dimensions, 3))
        self.shifts = rng.uniform(0, 6, (2, 3))

    asked: list[bool]

    def component(self, slot: int, values: FloatArray) -> FloatArray:
        return np.sin(values @ self.rates[slot] + self.shifts[slot])

    def __call__(self, latents: FloatArray) -> FloatArray:
        return self.rule(*[self.component(slot, latents[:, slot]) for slot in (0, 1)])

    def rebuilt(self, support: Planes, start: FloatArray, move: FloatArray | float = 0.0) -> Reconstruction:
        asked: list[bool] = []

        def observed(latents: FloatArray) -> FloatArray:
            asked.append(bool(support.contains(latents).all()))
            return self(latents)

        parts = [self.component(slot, start[slot][None])[0] for slot in (0, 1)]
        moves = np.broadcast_to(move, (2, 3))
        found = reconstruct_components(
            observed, self.rule, support, start, [p + m for p, m in zip(parts, moves, strict=True)]
        )
        self.asked = asked
        return found


def drawn(outputs: int, seed: int = 1) -> Composition:
    rng = np.random.default_rng(seed)
    return bilinear(
        rng.standard_normal((outputs, 3)), rng.standard_normal((outputs, 3)), rng.standard_normal((outputs, 3, 3)) / 2
    )


CORNER, START = planes({0: [[1.0]], 1: [[0.0]]}), np.array([[0.0], [1.0]])


@pytest.mark.parametrize("rule", [drawn(3), drawn(5), add()], ids=["3 outputs", "5 outputs", "add"])
def test_two_planes_give_every_combination(rule: Composition) -> None:
    world = World(rule)
    found = world.rebuilt(CORNER, START)
    parts = [found.component(slot, POINTS[:, slot]) for slot in (0, 1)]
    for slot in (0, 1):
        assert np.abs(parts[slot] - world.component(slot, POINTS[:, slot])).max() < 1e-8
    assert np.abs(rule(*parts) - world(POINTS)).max() < 1e-8
    assert all(world.asked)


@pytest.mark.slow
def test_f_is_rebuilt_from_any_point_of_the_support() -> None:
    world = World(drawn(3))
    found = world.rebuilt(CORNER, np.array([[0.0], [0.5]]))
    assert np.abs(found(POINTS[::5]) - world(POINTS[::5])).max() < 1e-8


@pytest.mark.slow
def test_a_wrong_start_shows_off_the_support() -> None:
    move = 0.3 * np.random.default_rng(2).standard_normal((2, 3))
    bent = World(drawn(3))
    assert np.abs(bent.rebuilt(CORNER, START, move)(POINTS) - bent(POINTS)).max() > 0.1
    flat = World(add())
    opposite = np.stack([move[0], -move[0]])
    found = flat.rebuilt(CORNER, START, opposite)
    assert np.abs(found(POINTS) - flat(POINTS)).max() < 1e-8
    assert np.abs(found.component(0, [[0.5]]) - flat.component(0, np.array([[0.5]])) - move[0]).max() < 1e-8


def test_a_second_plane_is_reached_through_the_first_slot() -> None:
    # Slot 1 has two equations per anchor for three unknowns: it needs both, and the second lies off the start.
    rng = np.random.default_rng(1)
    seen = np.arange(5)[:, None] < 2
    both = rng.standard_normal((5, 3, 3)) / 2 * seen[..., None]
    wide = bilinear(rng.standard_normal((5, 3)), rng.standard_normal((5, 3)) * seen, both)
    world, support = World(wide), planes({0: [[1.0]], 1: [[0.0], [0.5]]})
    found = world.rebuilt(support, START)
    assert np.abs(found(POINTS) - world(POINTS)).max() < 1e-8
    with pytest.raises(InputError, match=r"slot 1 on the way to .* 1 known anchors do not have full rank"):
        World(wide).rebuilt(CORNER, START).component(1, [[0.5]])


def test_paths_in_more_coordinates() -> None:
    world = World(drawn(3), dimensions=2)
    found = world.rebuilt(planes({0: [[1.0, 0.0]], 1: [[0.0, 0.5]]}), np.array([[0.0, 0.5], [1.0, 0.0]]))
    points = np.random.default_rng(0).uniform(size=(5, 2, 2))
    assert np.abs(found(points) - world(points)).max() < 1e-8


def test_bad_requests_are_named() -> None:
    world = World(add())
    with pytest.raises(InputError, match="not a Box"):
        reconstruct_components(world, add(), box(2), START, [[0.0], [0.0]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"the start \(0.5, 0.5\) is not on any of the planes"):
        reconstruct_components(world, add(), CORNER, [[0.5], [0.5]], [[0.0], [0.0]])
    with pytest.raises(InputError, match="1 start components were given for 2 slots"):
        reconstruct_components(world, add(), CORNER, START, [[0.0]])
    with pytest.raises(InputError, match="slot 0 never takes the value 3 in the support"):
        world.rebuilt(CORNER, START).component(0, [[3.0]])
    with pytest.raises(InputError, match="start at a point where planes of different slots cross"):
        world.rebuilt(planes({0: [[1.0]]}), START).component(1, [[1.0]])
    assert rc.theory.sufficiency.reconstruct_components is reconstruct_components
