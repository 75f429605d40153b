"""What a support of latents can be asked, and the two that every other leads to: a box, and all recombinations.

A support can be sampled, asked whether it contains a point, and asked for *anchors*: its points that share one value
of one slot (Wiedemer et al. 2023, the sets P'(z_k) of the sufficient-support condition). Latents are arrays of shape
(N, K, D): K slots of D coordinates. Densities are there to sample from; every verdict depends on the support alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import record
from recombine.checks import whole
from recombine.errors import InputError
from recombine.sample_checks import generator
from recombine.theory.supports.latents import as_bounds, as_latents, as_text, as_value, as_values, between, slot_number

#: What randomness comes from.
Seed = int | np.random.Generator
#: Anchors asked for when nothing else is said.
DEFAULT_ANCHORS = 16


class Support(ABC):
    """A set of latents of shape (K, D); see the module for what its methods mean."""

    slots: int
    dimensions: int

    @abstractmethod
    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw ``count`` points, shape (count, K, D)."""

    @abstractmethod
    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which of the points (N, K, D) lie in the support, shape (N,)."""

    @abstractmethod
    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values (N, D) the slot takes somewhere in the support, shape (N,)."""

    @abstractmethod
    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Return anchors, shape (up to count, K, D): points of the support whose ``slot`` has the ``value`` (D,).

        Where the support holds only some points with that value, they are all returned, even if more than ``count``.
        """

    def product(self) -> Support:
        """Return every combination of the values that the slots take: what a model is asked to generalise to."""
        return Recombined(self)

    def radius(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS) -> float:
        """Return how far the anchors' slot is from the value asked for; 0 unless they are nearest neighbours."""
        return 0.0

    @property
    def sampled(self) -> bool:
        """Whether slices and paths are found out on drawn points, so that some may be overlooked."""
        return False

    def has_slices(self, slot: int) -> bool:
        """Say whether the slot can move while the others stay, so that data show derivatives by it.

        False unless it is known: a support of your own has to say so.
        """
        return False

    def connected(self, slot: int) -> bool:
        """Say whether a path inside the slot's values leads from each to every other; False unless it is known."""
        return False

    def crosses(self) -> bool:
        """Say whether the parts of the support meet, so that a known point of one leads into all others."""
        return True

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest number of each coordinate of the slot, both (D,); infinite if unknown."""
        wide = np.full(self.dimensions, np.inf)
        return -wide, wide

    def without(self, slot: int, coordinate: int, low: float, high: float) -> Support:
        """Return what is left of the support's parts when those vanish that hold a coordinate in a range."""
        return self

    def _drawn_with(self, slot: int, value: npt.ArrayLike, count: int, seed: Seed) -> FloatArray:
        """Draw points and give one slot its value: anchors, where slots do not depend on each other."""
        chosen = as_value(value, self.dimensions)
        if not self.has_value(slot, chosen)[0]:
            raise self._no_anchor(slot, chosen)
        anchors = self.sample(count, seed)
        anchors[:, slot] = chosen
        return anchors

    def _no_anchor(self, slot: int, value: FloatArray) -> InputError:
        return InputError(
            f"slot {slot} never takes the value {as_text(value)} in this support, so it has no anchors there; "
            "ask for a value that .has_value, or add a training point with it"
        )


def require_support(support: object, name: str) -> None:
    """Raise unless this is a support.

    Examples
    --------
    >>> require_support([[0, 0]], "train")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: train is a list, not a support; make one with theory.supports, such as finite(...)
    """
    if not isinstance(support, Support):
        kind = type(support).__name__
        raise InputError(f"{name} is a {kind}, not a support; make one with theory.supports, such as finite(...)")


@record
class Box(Support):
    """Every point between ``low`` and ``high``; see `box`."""

    slots: int
    dimensions: int
    low: FloatArray
    high: FloatArray

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw uniformly."""
        whole(count, "count", 0)
        return generator(seed).uniform(self.low, self.high, (count, self.slots, self.dimensions))

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points lie between the bounds."""
        points = as_latents(latents, self.slots, self.dimensions)
        return np.asarray(between(points, self.low, self.high).all(axis=1))

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values lie between the bounds."""
        slot_number(slot, self.slots)
        points = as_values(values, self.dimensions)
        return between(points, self.low, self.high)

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Draw the other slots uniformly."""
        return self._drawn_with(slot, value, count, seed)

    def has_slices(self, slot: int) -> bool:
        """Every slot moves on its own."""
        return True

    def connected(self, slot: int) -> bool:
        """Values fill a box."""
        return True

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Return the bounds."""
        return self.low, self.high

    def product(self) -> Support:
        """Return the box itself."""
        return self


@dataclass(frozen=True, eq=False)
class Derived(Support):
    """A support that is made from another one, with its slots and coordinates."""

    of: Support

    @property
    def slots(self) -> int:  # type: ignore[override]
        """Number of slots, K."""
        return self.of.slots

    @property
    def dimensions(self) -> int:  # type: ignore[override]
        """Coordinates of a slot, D."""
        return self.of.dimensions

    @property
    def sampled(self) -> bool:
        """What it is like is known as well as of the other support."""
        return self.of.sampled


class Recombined(Derived):
    """Every combination of the values that the slots of another support take."""

    def sample(self, count: int, seed: Seed = 0) -> FloatArray:
        """Draw each slot from a point of its own."""
        rng = generator(seed)
        return np.stack([self.of.sample(count, rng)[:, slot] for slot in range(self.slots)], axis=1)

    def contains(self, latents: npt.ArrayLike) -> BoolArray:
        """Say which points have only values that occur."""
        points = as_latents(latents, self.slots, self.dimensions)
        inside: BoolArray = np.all([self.of.has_value(slot, points[:, slot]) for slot in range(self.slots)], axis=0)
        return inside

    def has_value(self, slot: int, values: npt.ArrayLike) -> BoolArray:
        """Say which values the slot takes."""
        return self.of.has_value(slot, values)

    def conditional(self, slot: int, value: npt.ArrayLike, count: int = DEFAULT_ANCHORS, seed: Seed = 0) -> FloatArray:
        """Draw the other slots, each from a point of its own."""
        return self._drawn_with(slot, value, count, seed)

    def has_slices(self, slot: int) -> bool:
        """A slot moves on its own if its values are connected."""
        return self.of.connected(slot)

    def connected(self, slot: int) -> bool:
        """Values are those of the other support."""
        return self.of.connected(slot)

    def ends(self, slot: int) -> tuple[FloatArray, FloatArray]:
        """Values are those of the other support."""
        return self.of.ends(slot)

    def product(self) -> Support:
        """Return itself."""
        return self


def box(slots: int, dimensions: int = 1, *, low: npt.ArrayLike = 0.0, high: npt.ArrayLike = 1.0) -> Box:
    """Return the support that holds everything between two bounds.

    Parameters
    ----------
    slots, dimensions : int
        K and D.
    low, high : float or array (D,)

    Examples
    --------
    >>> whole = box(2, 5)
    >>> whole.sample(3).shape, whole.conditional(0, [0.5] * 5, count=4).shape
    ((3, 2, 5), (4, 2, 5))
    """
    whole(slots, "slots")
    whole(dimensions, "dimensions")
    return Box(slots, dimensions, *as_bounds(low, high, dimensions))
