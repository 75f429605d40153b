"""A support of your own: what passes a test of yours, or lies close to scattered samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.checks import real, whole
from recombine.errors import InputError
from recombine.sample_checks import call, generator
from recombine.theory.supports.known import finite
from recombine.theory.supports.latents import as_latents, as_value, as_values, draw_until
from recombine.theory.supports.paths import DRAWN_POINTS, DrawnPaths, known_from
from recombine.theory.supports.sets import DEFAULT_ANCHORS, Derived, Seed, Support, box, require_support

#: Draws of the other slots for each value.
DRAWS_PER_VALUE = 256
#: Samples whose groups are looked at, and the share of all samples with which a group must lead to all others.
MAX_STARTS, MIN_GROUP_SHARE = 64, 0.02
#: A step as a share of a coordinate's range; points that leave the region by it are at its edge.
EDGE_STEP_SHARE = 1e-4


@dataclass(frozen=True, eq=False)
class Region(Derived):
    """The points of another support that pass a test; see `region` and `around`."""

    test: Callable[[FloatArray], npt.ArrayLike]

    def _passes(self, points: FloatArray) -> BoolArray:
        passed = np.asarray(call(self.test, "the test", points)) if len(points) else np.zeros(0, dtype=bool)
        if passed.shape != (len(points),) or passed.dtype != bool:
            raise InputError(
                f"the test gave {passed.dtype} of shape {passed.shape} for {len(points)} points; it takes points "
                "(N, K, D) and returns True or False for each, (N,)"
            )
        return passed

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw from the other support and reject what fails the test."""
        whole(count, "count", 0)
        rng = generator(seed)
        return draw_until(lambda number: self.of.sample(number, rng), self._passes, count, "the region")

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points of the other support pass the test."""
        points = as_latents(latents, self.slots, self.dimensions)
        return np.asarray(self.of.contains(points) & self._passes(points))

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values pass the test with some of the other slots' values that are drawn."""
        points = as_values(values, self.dimensions)
        passing = self.of.has_value(slot, points)
        drawn = self.of.sample(DRAWS_PER_VALUE, 0)
        for index in np.flatnonzero(passing):
            drawn[:, slot] = points[index]
            passing[index] = bool(self._passes(drawn).any())
        return passing

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Draw anchors of the other support and reject what fails the test."""
        chosen = as_value(value, self.dimensions)
        if not self.has_value(slot, chosen)[0]:
            raise self._no_anchor(slot, chosen)
        rng = generator(seed)
        return draw_until(lambda n: self.of.conditional(slot, chosen, n, rng), self._passes, count, "the region")

    def has_slices(self, slot: int) -> bool:
        """Say whether nearly all drawn points stay inside when the slot alone takes a small step."""
        points = self.sample(DRAWN_POINTS, 0)
        low, high = self._range(slot)
        points[:, slot] += EDGE_STEP_SHARE * (high - low) * np.where(points[:, slot] < (low + high) / 2, 1, -1)
        return bool(self.contains(points).mean() > 0.9)

    @property
    def sampled(self) -> bool:
        """What it is like is found out on drawn points."""
        return True

    @cached_property
    def _paths(self) -> DrawnPaths:
        return DrawnPaths.of(self)

    def connected(self, slot: int) -> bool:
        """Say whether steps inside the region lead from each drawn value to every other."""
        return self._paths.connected(slot)

    def crosses(self) -> bool:
        """Say whether steps of one slot at a time, with the others at known values, lead from each point to all."""
        return self._paths.lead_everywhere()

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return those of the other support."""
        return self.of.ends(slot)

    def _range(self, slot: int) -> tuple[FloatArray, FloatArray]:
        values = self.sample(DRAWN_POINTS, 0)[:, slot]
        return values.min(axis=0), values.max(axis=0)


@dataclass(frozen=True, eq=False)
class Around(Region):
    """What lies close to samples; see `around`. Points are drawn beside samples, however thin the region is."""

    seen: FloatArray
    reach: float

    def _beside(self, indices: npt.NDArray[np.intp], rng: np.random.Generator) -> FloatArray:
        samples = self.seen[indices]
        return np.asarray(samples + rng.uniform(-self.reach, self.reach, samples.shape))

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw a sample for each point, and a place beside it."""
        whole(count, "count", 0)
        rng = generator(seed)
        return self._beside(rng.integers(len(self.seen), size=count), rng)

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values some sample's are close to."""
        points = as_values(values, self.dimensions)
        return np.asarray([len(self._sharing(slot, value)) > 0 for value in points])

    def _sharing(self, slot: int, value: FloatArray) -> npt.NDArray[np.intp]:
        return np.flatnonzero((np.abs(self.seen[:, slot] - value) <= self.reach).all(axis=1))

    def connected(self, slot: int) -> bool:
        """Say whether the slot's values lead from one sample to all, over steps no longer than the radius."""
        return bool(known_from(self.seen, self.reach, 0, [slot]).all())

    def crosses(self) -> bool:
        """Say whether each sample leads to all, over samples whose every value is close to a known one.

        Samples next to each other lead to the same ones, so one of a group is asked; stray samples are not.
        """
        slots, joined = list(range(self.slots)), self.seen.reshape(len(self.seen), 1, -1)
        waiting, shares = np.ones(len(self.seen), dtype=bool), dict[int, float]()
        for start in np.unique(np.linspace(0, len(self.seen) - 1, MAX_STARTS).astype(np.int64)).tolist():
            if waiting[start]:
                group = known_from(joined, self.reach, start, [0])
                shares[start], waiting = float(group.mean()), waiting & ~group
        enough = min(MIN_GROUP_SHARE, max(shares.values()))
        starts = (start for start, share in shares.items() if share >= enough)
        return all(known_from(self.seen, self.reach, start, slots).all() for start in starts)

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Draw samples whose value is close, and places beside their other slots."""
        chosen = as_value(value, self.dimensions)
        sharing = self._sharing(slot, chosen)
        if not len(sharing):
            raise self._no_anchor(slot, chosen)
        rng = generator(seed)
        points = self._beside(rng.choice(sharing, size=count), rng)
        points[:, slot] = chosen
        return points


def region(test: Callable[[FloatArray], npt.ArrayLike], within: Support) -> Region:
    """Return the part of a support that passes a test: a region of your own.

    Parameters
    ----------
    test : callable
        Points (N, K, D) -> True or False for each, (N,).
    within : Support
        What to draw from, such as a `box`. Points are drawn by rejection, so the region must not be thin.

    Notes
    -----
    Whether slots move on their own, values leave no gap and parts lead into each other is found out on 4,000 drawn
    points and on places along the steps between them. A gap narrower than a five-hundredth of a coordinate's range is
    overlooked, and so is a piece that holds fewer than about one in a thousand points. Where no path is found,
    because there is none or because the points are too few for a region of this shape, the answer is "undecided".

    Examples
    --------
    >>> from recombine.theory.supports import box
    >>> apart = region(lambda z: abs(z[:, 0, 0] - z[:, 1, 0]) > 0.25, box(2))
    >>> apart.contains([[[0.1], [0.9]], [[0.4], [0.5]]]).tolist()
    [True, False]
    >>> from recombine.theory.compositions import product
    >>> from recombine.theory.sufficiency import sufficient_support
    >>> waves = [lambda z: np.sin(z + [0.0, 1.0, 2.0]), lambda z: np.cos(z * [1.0, 2.0, 3.0])]
    >>> sufficient_support(apart, product(), waves).holds
    True
    """
    require_support(within, "within")
    return Region(within, test)


def around(points: npt.ArrayLike, radius: float) -> Region:
    """Return the support that scattered samples stand for: everything that lies close to one of them.

    Independent samples never share a value, so a list of them (`finite`) shows no slot that moves alone. If what is
    learned at a sample holds up to ``radius`` away, in every coordinate of every slot, the conditions can be asked.

    Parameters
    ----------
    points : array (N, K, D), or (N, K) where a slot has one coordinate
    radius : float
        In units of the coordinates. Try several: a support that only a large one makes sufficient is thin. Values
        further apart than this are never taken to be joined; a narrower gap is bridged.

    Examples
    --------
    >>> samples = np.random.default_rng(0).random((300, 2, 1))
    >>> samples = samples[abs(samples[:, 0, 0] - samples[:, 1, 0]) < 0.3]
    >>> around(samples, 0.05).contains([[[0.5], [0.5]], [[0.1], [0.9]]]).tolist()
    [True, False]
    >>> from recombine.theory.compositions import product
    >>> from recombine.theory.sufficiency import sufficient_support
    >>> waves = [lambda z: np.sin(z + [0.0, 1.0, 2.0]), lambda z: np.cos(z * [1.0, 2.0, 3.0])]
    >>> [sufficient_support(around(samples, radius), product(), waves).holds for radius in (0.001, 0.1)]
    [False, True]
    """
    real(radius, "radius", above=0)
    seen = finite(points).points
    # What is drawn, and from where paths start, is not to hang on the order of rows.
    seen = seen[np.lexsort(seen.reshape(len(seen), -1).T[::-1])]
    tree = KDTree(seen.reshape(len(seen), -1))

    def close(points: FloatArray) -> BoolArray:
        distances, _ = tree.query(points.reshape(len(points), -1), p=np.inf)
        return np.asarray(distances <= radius)

    low, high = seen.min(axis=(0, 1)) - radius, seen.max(axis=(0, 1)) + radius
    return Around(box(*seen.shape[1:], low=low, high=high), close, seen, radius)
