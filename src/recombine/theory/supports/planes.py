"""Planes: one slot is free while the others are held, the paper's "orthogonal" supports (Wiedemer et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.checks import real, reals, whole
from recombine.errors import InputError
from recombine.sample_checks import generator
from recombine.theory.supports.latents import (
    SAME_VALUE_WITHIN,
    as_bounds,
    as_latents,
    as_value,
    as_values,
    between,
    slot_number,
)
from recombine.theory.supports.sets import DEFAULT_ANCHORS, Box, Recombined, Seed, Support


@record
class Planes(Support):
    """One slot is free and the others are held; see `planes`.

    Attributes
    ----------
    free : int array, (L,)
        Which slot is free on each plane.
    held : float array, (L, K, D)
        What the other slots are held at; the free slot's entries are not used.
    """

    slots: int
    dimensions: int
    free: IntArray
    held: FloatArray
    low: FloatArray
    high: FloatArray
    spread: float | None

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw a plane for each point in equal parts, then its free slot."""
        rng = generator(seed)
        whole(count, "count", 0)
        which = rng.permutation(np.arange(count) % len(self.free))
        points = self.held[which].copy()
        points[np.arange(count), self.free[which]] = self._free_values(count, rng)
        return np.asarray(points)

    def _free_values(self, count: int, rng: np.random.Generator) -> FloatArray:
        if self.spread is None:
            return rng.uniform(self.low, self.high, (count, self.dimensions))
        from scipy.special import ndtr, ndtri

        # By the inverse distribution function: in many dimensions hardly any point of a wide normal is in the box.
        middle = (self.low + self.high) / 2
        ends = ndtr((self.low - middle) / self.spread), ndtr((self.high - middle) / self.spread)
        chance = rng.uniform(*ends, (count, self.dimensions))
        return np.clip(middle + self.spread * ndtri(chance), self.low, self.high)

    def _inside(self, values: FloatArray) -> BoolArray:
        return between(values, self.low, self.high)

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points lie on one of the planes."""
        points = as_latents(latents, self.slots, self.dimensions)
        inside = np.zeros(len(points), dtype=bool)
        for slot, held in zip(self.free, self.held, strict=True):
            others = np.delete(np.arange(self.slots), slot)
            near = (np.abs(points[:, others] - held[others]) <= SAME_VALUE_WITHIN).all(axis=(1, 2))
            inside |= near & self._inside(points[:, slot])
        return inside

    def _holds(self, slot: int, values: FloatArray) -> BoolArray:
        """Which planes hold the slot at which values, (L, N)."""
        near = (np.abs(self.held[:, slot][:, None] - values) <= SAME_VALUE_WITHIN).all(axis=2)
        holds: BoolArray = near & (self.free != slot)[:, None]
        return holds

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values the slot takes: inside the box on its own planes, or held on another."""
        slot_number(slot, self.slots)
        points = as_values(values, self.dimensions)
        free = self._inside(points) & bool((self.free == slot).any())
        taken: BoolArray = free | self._holds(slot, points).any(axis=0)
        return taken

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Return one anchor for each plane on which the slot is free, and draws from planes that hold the value."""
        chosen = as_value(value, self.dimensions)
        if not self.has_value(slot, chosen)[0]:
            raise self._no_anchor(slot, chosen)
        anchors = self.held[(self.free == slot) & bool(self._inside(chosen))].copy()
        anchors[:, slot] = chosen
        (holding,) = np.nonzero(self._holds(slot, chosen[None])[:, 0])
        missing = max(count - len(anchors), 0) if len(holding) else 0
        which = holding[np.arange(missing) % max(len(holding), 1)]
        more = self.held[which].copy()
        more[np.arange(missing), self.free[which]] = self._free_values(missing, generator(seed))
        return np.concatenate([anchors, more])

    def has_slices(self, slot: int) -> bool:
        """Say whether the slot is free on a plane, or has one value alone and need not move."""
        return bool((self.free == slot).any()) or self._alone(slot)

    def connected(self, slot: int) -> bool:
        """Say whether all values held for the slot lie in the range where it is free."""
        if not (self.free == slot).any():
            return self._alone(slot)
        return bool(self._inside(self.held[self.free != slot, slot]).all())

    def crosses(self) -> bool:
        """Say whether every plane can be reached from the first by planes that cross; skew ones cannot."""
        reached, waiting = [0], list(range(1, len(self.free)))
        for plane in reached:
            crossing = [other for other in waiting if self._cross(plane, other)]
            reached += crossing
            waiting = [other for other in waiting if other not in crossing]
        return not waiting

    def _cross(self, plane1: int, plane2: int) -> bool:
        """Two planes cross if they agree on what both hold, and each holds the other's free slot in its range."""
        first, second = self.free[plane1], self.free[plane2]
        both = [slot for slot in range(self.slots) if slot not in (first, second)]
        agree = bool((np.abs(self.held[plane1, both] - self.held[plane2, both]) <= SAME_VALUE_WITHIN).all())
        if first == second:
            return agree
        return agree and bool(self._inside(self.held[plane1, second]) & self._inside(self.held[plane2, first]))

    def _alone(self, slot: int) -> bool:
        """Whether the slot is only ever held, and at one value."""
        values = self.held[:, slot]
        return bool(
            len(values) and (self.free != slot).all() and (np.abs(values - values[0]) <= SAME_VALUE_WITHIN).all()
        )

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return the range of the free slot and of the values held."""
        values = self.held[self.free != slot, slot]
        if (self.free == slot).any():
            values = np.concatenate([values, [self.low, self.high]])
        return values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf)

    def without(self, slot: int, coordinate: int, low: float, high: float) -> Support:
        """Return the planes that do not hold the coordinate in the range."""
        number = self.held[:, slot, coordinate]
        allowed = (self.free == slot) | (number < low) | (number > high)
        return replace(self, free=self.free[allowed], held=self.held[allowed])

    def product(self) -> Support:
        """Return the whole box where every slot is free on some plane."""
        if set(self.free.tolist()) == set(range(self.slots)):
            return Box(self.slots, self.dimensions, self.low, self.high)
        return Recombined(self)


def _is_list(values: object) -> bool:
    return isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str)


def planes(
    held: Mapping[int, Sequence[npt.ArrayLike]],
    *,
    low: npt.ArrayLike = 0.0,
    high: npt.ArrayLike = 1.0,
    spread: float | None = None,
) -> Planes:
    """Return a union of planes on which one slot is free and the others are held (the paper's "orthogonal").

    Parameters
    ----------
    held : mapping of slot to sequence of array
        For each free slot, what the other slots are held at: values (D,) of the one other slot, or arrays (K-1, D) of
        the others in order. A slot with two values lies on two planes.
    low, high : float or array (D,)
        Range of the free slot.
    spread : float, optional
        Draw the free slot from a normal law of this width around the middle, cut to its range, instead of uniformly.

    Examples
    --------
    >>> corner = planes({0: [[1.0]], 1: [[0.0], [0.5]]})
    >>> corner.contains([[[0.3], [1.0]], [[0.5], [0.2]], [[0.3], [0.2]]]).tolist()
    [True, True, False]
    >>> corner.conditional(1, [0.2])[:, :, 0].tolist()
    [[0.0, 0.2], [0.5, 0.2]]
    >>> corner.conditional(1, [7.0])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: slot 1 never takes the value 7 in this support, so it has no anchors there; ask for
    a value that .has_value, or add a training point with it
    """
    if spread is not None:
        real(spread, "spread", above=0)
    if not isinstance(held, Mapping) or not all(_is_list(values) for values in held.values()):
        raise InputError(f"held is {held!r}; map each free slot to a list of what the others are held at")
    listed = [(slot, reals(value, "held values")) for slot, values in held.items() for value in values]
    if not listed:
        raise InputError("no planes were given; map a free slot to what the others are held at, as {0: [[1.0]]}")
    shapes = {value.shape if value.ndim == 2 else (1, *value.shape) for _, value in listed}
    if len(shapes) > 1 or len(next(iter(shapes))) != 2:
        raise InputError(f"held values have shapes {sorted(shapes)}; give all as (K-1, D), or (D,) for two slots")
    ((others, dimensions),) = shapes
    slots = others + 1
    points = np.zeros((len(listed), slots, dimensions))
    for index, (slot, value) in enumerate(listed):
        points[index, np.delete(np.arange(slots), slot_number(slot, slots))] = value
    free = np.array([slot for slot, _ in listed], dtype=np.int64)
    return Planes(slots, dimensions, free, points, *as_bounds(low, high, dimensions), spread)
