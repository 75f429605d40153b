"""A band along the diagonal, a support with a gap, and a list of points.

All answer ``sample``, ``contains``, ``has_value`` and ``conditional`` (see `recombine.theory.supports.sets`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, as_numbers
from recombine.cells.brief import record
from recombine.checks import real, whole
from recombine.errors import InputError
from recombine.sample_checks import generator
from recombine.theory.supports.latents import (
    SAME_VALUE_WITHIN,
    as_latents,
    as_value,
    as_values,
    between,
    draw_until,
    slot_number,
)
from recombine.theory.supports.paths import DrawnPaths
from recombine.theory.supports.sets import DEFAULT_ANCHORS, Derived, Recombined, Seed, Support, box, require_support

#: Anchors that are drawn before a value counts as one that occurs only in a gap.
MAX_GAP_DRAWS = 2**14


@dataclass(frozen=True, eq=False)
class Band(Support):
    """Points near the diagonal; see `band`."""

    slots: int
    dimensions: int
    width: float
    low: float
    high: float

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw a place on the diagonal and a step away from it, for each coordinate on its own."""
        rng = generator(seed)
        whole(count, "count", 0)
        flat = draw_until(lambda number: self._proposed(number, rng), self._inside, count * self.dimensions, "the band")
        return flat.reshape(count, self.dimensions, self.slots).swapaxes(1, 2)

    def _proposed(self, count: int, rng: np.random.Generator) -> FloatArray:
        centre = rng.uniform(self.low, self.high, (count, 1))
        away = rng.standard_normal((count, self.slots))
        away -= away.mean(axis=1, keepdims=True)
        away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), np.finfo(float).tiny)
        # Uniform in the ball of the slots - 1 directions that leave the diagonal.
        return centre + away * self.width * rng.uniform(size=(count, 1)) ** (1 / (self.slots - 1))

    def _inside(self, rows: FloatArray) -> BoolArray:
        """Which rows (N, K) of one coordinate are near the diagonal and in range."""
        far = np.linalg.norm(rows - rows.mean(axis=-1, keepdims=True), axis=-1)
        return np.asarray((far <= self.width + SAME_VALUE_WITHIN) & between(rows, self.low, self.high))

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points are within ``width`` of the diagonal in every coordinate."""
        points = as_latents(latents, self.slots, self.dimensions)
        return np.asarray(self._inside(points.swapaxes(1, 2)).all(axis=1))

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values are in range: the diagonal itself has them all."""
        slot_number(slot, self.slots)
        points = as_values(values, self.dimensions)
        return between(points, self.low, self.high)

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Draw the other slots uniformly among those near enough."""
        chosen = as_value(value, self.dimensions)
        if not self.has_value(slot, chosen)[0]:
            raise self._no_anchor(slot, chosen)
        if self.width == 0:
            return np.broadcast_to(chosen, (1, self.slots, self.dimensions)).copy()
        rng = generator(seed)
        columns = [self._neighbours(slot, float(number), count, rng) for number in chosen]
        return np.stack(columns, axis=-1)

    def _neighbours(self, slot: int, number: float, count: int, rng: np.random.Generator) -> FloatArray:
        # Two slots are never further apart than sqrt(2) times the distance from the diagonal.
        reach = np.sqrt(2) * self.width
        ends = max(self.low, number - reach), min(self.high, number + reach)

        def propose(amount: int) -> FloatArray:
            rows = rng.uniform(*ends, (amount, self.slots))
            rows[:, slot] = number
            return rows

        return draw_until(propose, self._inside, count, f"slot {slot} = {number:g}")

    def has_slices(self, slot: int) -> bool:
        """Every slot moves on its own, unless the band is the diagonal itself: there all move together."""
        return self.width > 0

    def connected(self, slot: int) -> bool:
        """Values fill the range."""
        return True

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return the range."""
        return np.full(self.dimensions, self.low), np.full(self.dimensions, self.high)

    def product(self) -> Support:
        """Return the whole box."""
        return box(self.slots, self.dimensions, low=self.low, high=self.high)


@dataclass(frozen=True, eq=False)
class Gap(Derived):
    """Another support without the points where one coordinate of one slot is in a range; see `gap`."""

    slot: int
    coordinate: int
    low: float
    high: float

    def _kept(self, points: FloatArray) -> BoolArray:
        number = points[:, self.slot, self.coordinate]
        outside: BoolArray = (number < self.low) | (number > self.high)
        return outside

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw from the other support and reject what lies in the gap."""
        whole(count, "count", 0)
        rng = generator(seed)
        return draw_until(lambda number: self.of.sample(number, rng), self._kept, count, "points outside the gap")

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points of the other support lie outside the gap."""
        points = as_latents(latents, self.slots, self.dimensions)
        inside: BoolArray = self.of.contains(points) & self._kept(points)
        return inside

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values are left."""
        points = as_values(values, self.dimensions)
        possible = self.of.has_value(slot, points)
        if slot == self.slot:
            number = points[:, self.coordinate]
            return possible & ((number < self.low) | (number > self.high))
        return np.array(
            [bool(allowed) and self._reaches(slot, value) for allowed, value in zip(possible, points, strict=True)]
        )

    def _reaches(self, slot: int, value: FloatArray) -> bool:
        return bool(len(self._anchors(slot, value, 1, np.random.default_rng(0))))

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Return the other support's anchors outside the gap, drawn by rejection."""
        chosen = as_value(value, self.dimensions)
        anchors = self._anchors(slot, chosen, count, generator(seed))
        if not len(anchors):
            raise self._no_anchor(slot, chosen)
        return anchors

    def _anchors(self, slot: int, value: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Ask for more and more of the other support's anchors until enough lie outside the gap."""
        anchors = np.empty((0, self.slots, self.dimensions))
        drawn, number = 0, 4 * count
        while len(anchors) < count and drawn < MAX_GAP_DRAWS:
            offered = self.of.conditional(slot, value, number, rng)
            outside = offered[self._kept(offered)]
            if len(offered) != number:
                # These are all there are.
                return outside
            anchors = np.concatenate([anchors, outside])
            drawn, number = drawn + number, min(2 * number, MAX_GAP_DRAWS)
        return anchors[:count]

    @property
    def _left(self) -> Support:
        """The other support without the planes that lie in the gap."""
        return self.of.without(self.slot, self.coordinate, self.low, self.high)

    @property
    def _at_an_end(self) -> bool:
        """Whether the gap has values of its slot on at most one side."""
        low, high = self._left.ends(self.slot)
        return bool(self.low <= low[self.coordinate] or high[self.coordinate] <= self.high)

    @cached_property
    def _paths(self) -> DrawnPaths:
        return DrawnPaths.of(self)

    def has_slices(self, slot: int) -> bool:
        """Say whether the slot moves on its own in what is left."""
        return self._left.has_slices(slot)

    def crosses(self) -> bool:
        """Say whether what is left still meets."""
        return self._paths.lead_everywhere() if self.sampled else self._left.crosses()

    def connected(self, slot: int) -> bool:
        """Values of the slot with the gap are in two pieces, unless the gap is at an end.

        In a band the other slots lose the values that only went with those in the gap. A region may fall into pieces
        even where the gap is at an end, so that paths are looked for in what is left.
        """
        if self.sampled:
            # What recombines a region is asked value by value, which takes minutes for all places of all steps.
            return not isinstance(self.of, Recombined) and self._paths.connected(slot)
        pieces = slot == self.slot or isinstance(self.of, Band)
        return self._left.connected(slot) and (self._at_an_end or not pieces)

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return the other support's, cut where the gap is at an end."""
        low, high = (end.copy() for end in self._left.ends(slot))
        if slot == self.slot:
            coordinate = self.coordinate
            begin, end = low[coordinate], high[coordinate]
            low[coordinate] = max(begin, self.high) if self.low <= begin else begin
            high[coordinate] = min(end, self.low) if end <= self.high else end
        return low, high

    def without(self, slot: int, coordinate: int, low: float, high: float) -> Support:
        """Return the same gap in what is left of the other support."""
        return replace(self, of=self.of.without(slot, coordinate, low, high))

    def product(self) -> Support:
        """Return every combination of the values that are left."""
        if isinstance(self.of, Band):
            return Recombined(self)
        return Gap(self._left.product(), self.slot, self.coordinate, self.low, self.high)


@record
class Finite(Support):
    """A list of points; see `finite`."""

    points: FloatArray
    neighbours: int

    @property
    def slots(self) -> int:  # type: ignore[override]
        """Number of slots, K."""
        return int(self.points.shape[1])

    @property
    def dimensions(self) -> int:  # type: ignore[override]
        """Coordinates of a slot, D."""
        return int(self.points.shape[2])

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw points of the list with replacement."""
        whole(count, "count", 0)
        return self.points[generator(seed).integers(len(self.points), size=count)]

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points are in the list."""
        points = as_latents(latents, self.slots, self.dimensions)
        return np.array(
            [bool((np.abs(self.points - point) <= SAME_VALUE_WITHIN).all(axis=(1, 2)).any()) for point in points]
        )

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values the slot has in the list; with neighbours, any value within the range of the list."""
        points = as_values(values, self.dimensions)
        slot_values = self.points[:, slot_number(slot, self.slots)]
        if self.neighbours:
            return between(points, slot_values.min(axis=0), slot_values.max(axis=0))
        return np.array(
            [bool((np.abs(slot_values - point) <= SAME_VALUE_WITHIN).all(axis=1).any()) for point in points]
        )

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Return the points with that value, or its nearest ``neighbours``, at most as many as there are."""
        far, order = self._distances(slot, value)
        chosen = order[: self.neighbours] if self.neighbours else order[far[order] <= SAME_VALUE_WITHIN]
        if not len(chosen):
            raise self._no_anchor(slot, as_value(value, self.dimensions))
        return self.points[chosen]

    def _distances(self, slot: int, value: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.intp]]:
        chosen = as_value(value, self.dimensions)
        far: FloatArray = np.abs(self.points[:, slot_number(slot, self.slots)] - chosen).max(axis=1)
        return far, np.argsort(far, kind="stable")

    def has_slices(self, slot: int) -> bool:
        """Points are isolated, so no slot moves; one with a single value need not."""
        return self.connected(slot)

    def connected(self, slot: int) -> bool:
        """Values are isolated, unless there is only one."""
        low, high = self.ends(slot)
        return bool((high - low <= SAME_VALUE_WITHIN).all())

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and largest number of each coordinate."""
        return self.points[:, slot].min(axis=0), self.points[:, slot].max(axis=0)

    def radius(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS) -> float:
        """Return the largest difference of a coordinate between the anchors' slot and the value."""
        far, order = self._distances(slot, value)
        return float(far[order[: self.neighbours]].max()) if self.neighbours else 0.0


def band(width: float, *, slots: int = 2, dimensions: int = 1, low: float = 0.0, high: float = 1.0) -> Band:
    """Return the points within ``width`` of the diagonal, coordinate by coordinate (the paper's "diagonal").

    Parameters
    ----------
    width : float
        The paper's delta; 0 is the diagonal itself. Two slots differ by at most sqrt(2) delta in each coordinate.
    low, high : float
        Range of every coordinate.

    Examples
    --------
    >>> narrow = band(0.1, dimensions=5)
    >>> points = narrow.sample(100)
    >>> bool(np.abs(points[:, 0] - points[:, 1]).max() <= 2**0.5 * 0.1), bool(narrow.contains(points).all())
    (True, True)
    >>> band(0.0).conditional(0, [0.3])[:, :, 0].tolist()
    [[0.3, 0.3]]
    """
    whole(dimensions, "dimensions")
    whole(slots, "slots")
    width, low, high = real(width, "width"), real(low, "low"), real(high, "high")
    if width < 0 or slots < 2 or low >= high:
        raise InputError(
            f"a band of width {width:g} for {slots} slots from {low:g} to {high:g} is empty; "
            "give a width >= 0, two or more slots and low < high"
        )
    return Band(slots, dimensions, float(width), float(low), float(high))


def gap(support: Support, slot: int, coordinate: int, low: float, high: float) -> Gap:
    """Return a support without the points whose ``coordinate`` of ``slot`` lies between ``low`` and ``high``.

    Examples
    --------
    >>> from recombine.theory.supports import planes
    >>> holed = gap(planes({0: [[1.0]], 1: [[0.0]]}), slot=0, coordinate=0, low=0.4, high=0.6)
    >>> holed.has_value(0, [[0.5], [0.7]]).tolist()
    [False, True]
    """
    require_support(support, "support of a gap")
    slot_number(slot, support.slots)
    whole(coordinate, "coordinate", 0)
    low, high = (
        end if isinstance(end, float) and np.isinf(end) else real(end, "end of the gap") for end in (low, high)
    )
    if not 0 <= coordinate < support.dimensions or low > high:
        raise InputError(
            f"coordinate {coordinate} from {low:g} to {high:g} is no gap of a slot with {support.dimensions} "
            "coordinates"
        )
    return Gap(support, int(slot), int(coordinate), float(low), float(high))


def finite(points: npt.ArrayLike, *, neighbours: int = 0) -> Finite:
    """Return the support that is a list of points, such as your training set.

    Parameters
    ----------
    points : array (N, K, D), or (N, K) where a slot has one coordinate
    neighbours : int
        Use this many nearest neighbours of a value as its anchors: independent samples never share one exactly. The
        distance of the furthest is reported. With 0 only equal values count.

    Examples
    --------
    >>> seen = finite([[0, 0], [0, 1], [1, 0]])
    >>> seen.conditional(0, [0])[:, :, 0].tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    >>> seen.product().contains([[[1], [1]], [[1], [2]]]).tolist()
    [True, False]
    """
    array = np.asarray(as_numbers(points, "points"), dtype=float)
    array = array[..., None] if array.ndim == 2 else array
    if array.ndim != 3 or not array.size:
        raise InputError(f"points have shape {array.shape}; give (N, K, D), or (N, K) for slots of one coordinate")
    if not np.isfinite(array).all():
        row, slot, _ = np.argwhere(~np.isfinite(array))[0]
        raise InputError(f"point {row} has a coordinate of slot {slot} that is not finite; drop it")
    whole(neighbours, "neighbours", 0)
    if not 0 <= neighbours <= len(array):
        raise InputError(f"{neighbours} neighbours were asked for among {len(array)} points; ask for at most as many")
    return Finite(array, int(neighbours))
