"""Paths inside a support that can only be sampled and asked: which drawn points are joined, and what pieces share.

Theorem 1 of Wiedemer et al. (2023) integrates the derivative of each component along a path of its slot, from a point
where all components are known. Here drawn points are joined by steps whose every place was asked. What is not joined
may be in pieces, or the drawn points may be too few to tell; what is joined holds no gap wider than `MAX_STEP_SHARE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.theory.supports.sets import Support

#: Points that are drawn to find out about a support.
DRAWN_POINTS = 4000
#: Longest way between two places that are asked, as a share of a coordinate's range, and places asked of any step.
MAX_STEP_SHARE, MIN_PLACES_PER_STEP = 1 / 500, 4
#: Nearest points to which a step is tried: of all points, of those in other pieces, and of values in other pieces.
NEIGHBOURS, OUTSIDE_NEIGHBOURS, VALUE_NEIGHBOURS = 12, 4, 3
#: Members of a piece from which steps into others are tried, rounds of them, and members whose values are looked for.
MEMBERS_PER_PIECE, OUTSIDE_ROUNDS, VALUES_ASKED_PER_PIECE = 64, 3, 256
#: Pieces beyond which nothing is decided: the points are too few for a support of this shape.
MAX_PIECES = 16
#: Places that are asked at once.
PLACES_PER_CALL = 2**17
#: Narrower ranges of a coordinate count as a single number.
MIN_RANGE_SIZE = 1e-12


@dataclass(frozen=True, eq=False)
class DrawnPaths:
    """Drawn points of a support, and the pieces that steps inside it make of them.

    Attributes
    ----------
    points : float array, (N, K, D)
    ranges : float array, (K, D)
        How far the points spread in each coordinate.

    Examples
    --------
    >>> from recombine.theory.supports import box, region
    >>> blocks = region(lambda z: (z < 0.4).all(axis=(1, 2)) | (z > 0.5).all(axis=(1, 2)), box(2, 2))
    >>> paths = DrawnPaths.of(blocks)
    >>> int(paths.pieces.max()) + 1, paths.connected(0), paths.lead_everywhere()
    (2, False, False)
    """

    support: Support
    points: FloatArray
    ranges: FloatArray

    @classmethod
    def of(cls, support: Support) -> DrawnPaths:
        """Draw the points."""
        points = support.sample(DRAWN_POINTS, 0)
        return cls(support, points, np.maximum(np.ptp(points, axis=0), MIN_RANGE_SIZE))

    def connected(self, slot: int) -> bool:
        """Say whether steps lead from each value of the slot to every other; False also where that stays open."""
        count = self._count
        if count > MAX_PIECES:
            return False
        asked = self.pieces[self._asked]
        common = np.array([self._shared[slot][asked == piece].any(axis=0) for piece in range(count)])
        return int(connected_components(common, directed=False)[0]) == 1

    def lead_everywhere(self) -> bool:
        """Say whether each piece leads into all: through points whose every value is known from pieces before."""
        count = self._count
        return count <= MAX_PIECES and all(self._reached_from(start).all() for start in range(count))

    def _reached_from(self, start: int) -> BoolArray:
        reached: BoolArray = np.arange(self._count) == start
        for _ in range(self._count):
            determined = np.all([shared[:, reached].any(axis=1) for shared in self._shared], axis=0)
            reached[self.pieces[self._asked[determined]]] = True
        return reached

    @property
    def _count(self) -> int:
        return int(self.pieces.max()) + 1

    @cached_property
    def pieces(self) -> IntArray:
        """The piece of each point, (N,): points of one piece are joined by steps inside the support."""
        flat = (self.points / self.ranges).reshape(len(self.points), -1)
        near = _nearest(flat, flat, NEIGHBOURS + 1)
        pieces = np.arange(len(flat))
        for column in near.T[1:]:
            pieces = self._joined(pieces, np.arange(len(flat)), column)
        for _ in range(OUTSIDE_ROUNDS):
            before = pieces.max()
            if not 0 < before < DRAWN_POINTS // MEMBERS_PER_PIECE:
                break
            for start, end in _outward(flat, pieces):
                pieces = self._joined(pieces, start, end, around_corners=True)
            if pieces.max() == before:
                break
        return pieces

    def _joined(self, pieces: IntArray, starts: IntArray, ends: IntArray, *, around_corners: bool = False) -> IntArray:
        """Return the pieces after those steps that lead from one into another and stay inside."""
        across = pieces[starts] != pieces[ends]
        origins, targets = starts[across], ends[across]
        inside = self._stays_inside(self.points[origins], self.points[targets])
        if around_corners:
            for begin, end in ((origins, targets), (targets, origins)):
                inside[~inside] = self._one_slot_at_a_time(begin[~inside], end[~inside])
        return _merged(pieces, pieces[origins[inside]], pieces[targets[inside]])

    def _one_slot_at_a_time(self, starts: IntArray, ends: IntArray) -> BoolArray:
        """Say from which points the first slot can move to its new value, then the second, and so on."""
        current, inside = self.points[starts].copy(), np.ones(len(starts), dtype=bool)
        for slot in range(self.support.slots):
            moved = current.copy()
            moved[:, slot] = self.points[ends, slot]
            inside &= self._stays_inside(current, moved)
            current = moved
        return inside

    def _stays_inside(self, starts: FloatArray, ends: FloatArray) -> BoolArray:
        """Say which straight steps (E, K, D) lie in the support, at places close to each other and at the end."""
        lengths = (np.abs(ends - starts) / self.ranges).max(axis=(1, 2), initial=0.0)
        inside = np.ones(len(starts), dtype=bool)
        # Most steps out of the support are found by a few places, before the many are asked.
        for longest in (np.inf, MAX_STEP_SHARE):
            (open_steps,) = np.nonzero(inside)
            places = np.maximum(np.ceil(lengths[open_steps] / longest).astype(np.int64), MIN_PLACES_PER_STEP)
            for batch in _batches(places):
                inside[open_steps[batch]] = self._all_inside(
                    starts[open_steps[batch]], ends[open_steps[batch]], places[batch]
                )
        return inside

    def _all_inside(self, starts: FloatArray, ends: FloatArray, places: IntArray) -> BoolArray:
        begins = np.cumsum(places) - places
        which = np.repeat(np.arange(len(places)), places)
        share = ((np.arange(len(which)) - begins[which] + 1) / places[which])[:, None, None]
        # Exactly the start where nothing moves: planes hold a value to the last digits.
        asked = self.support.contains(starts[which] + share * (ends - starts)[which])
        return np.asarray(np.logical_and.reduceat(asked, begins))

    @cached_property
    def _asked(self) -> IntArray:
        """Some points of each piece, whose values are looked for in the others."""
        members = (np.flatnonzero(self.pieces == piece) for piece in range(self._count))
        rng = np.random.default_rng(0)
        return np.concatenate([rng.permutation(chosen)[:VALUES_ASKED_PER_PIECE] for chosen in members])

    @cached_property
    def _shared(self) -> list[BoolArray]:
        """For each slot, which of the points asked have a value that occurs in which piece, (asked, pieces)."""
        return [
            np.stack([self._occurs(slot, piece) for piece in range(self._count)], axis=1)
            for slot in range(self.support.slots)
        ]

    def _occurs(self, slot: int, piece: int) -> BoolArray:
        """Say which points have a value of the slot that points of the piece can move to while the others stay."""
        occurs: BoolArray = self.pieces[self._asked] == piece
        members, others = np.flatnonzero(self.pieces == piece), self._asked[~occurs]
        if not len(others):
            return occurs
        values = self.points[:, slot] / self.ranges[slot]
        near = _nearest(values[members], values[others], VALUE_NEIGHBOURS)
        moves = np.zeros(len(others), dtype=bool)
        for column in near.T:
            places = self.points[members[column]]
            moved = places.copy()
            moved[:, slot] = self.points[others, slot]
            moves |= self._stays_inside(places, moved)
        occurs[~occurs] = moves
        return occurs


def _batches(places: IntArray) -> Iterator[slice]:
    """Slices of steps with not too many places together."""
    total = np.cumsum(places)
    start = 0
    while start < len(places):
        limit = PLACES_PER_CALL + (total[start - 1] if start else 0)
        end = max(int(np.searchsorted(total, limit)), start + 1)
        yield slice(start, end)
        start = end


def _nearest(points: FloatArray, asked: FloatArray, number: int) -> IntArray:
    """Numbers of the nearest points, (asked, up to number)."""
    ranks = range(1, min(number, len(points)) + 1)
    return np.asarray(KDTree(points).query(asked, ranks)[1], dtype=np.int64)


def _merged(pieces: IntArray, first: IntArray, second: IntArray) -> IntArray:
    """Pieces, numbered from 0, after some of them were joined."""
    count = int(pieces.max()) + 1
    links = coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1][pieces], dtype=np.int64)


def _outward(flat: FloatArray, pieces: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Steps from members of each piece but the largest to the nearest points of others, as (starts, ends)."""
    rng = np.random.default_rng(0)
    for piece in np.argsort(np.bincount(pieces))[:-1]:
        (members,), (others,) = np.nonzero(pieces == piece), np.nonzero(pieces != piece)
        chosen = rng.permutation(members)[:MEMBERS_PER_PIECE]
        near = _nearest(flat[others], flat[chosen], OUTSIDE_NEIGHBOURS)
        yield np.repeat(chosen, near.shape[1]), others[near].ravel()


def known_from(values: npt.NDArray[np.float64], reach: float, start: int, slots: list[int]) -> BoolArray:
    """Say which samples are known from one: in each slot, their value is within reach of a known sample's.

    Parameters
    ----------
    values : float array, (N, K, D)
    reach : float
        Largest difference of a coordinate.
    start : int
        The sample that is known.
    slots : list of int
        Slots whose values have to be known.

    Examples
    --------
    >>> line = np.array([0.0, 0.1, 0.2, 0.5])[:, None, None]
    >>> known_from(line, 0.11, 0, [0]).tolist()
    [True, True, True, False]
    """
    close = np.zeros((len(slots), len(values)), dtype=bool)
    determined: BoolArray = np.arange(len(values)) == start
    fresh = np.flatnonzero(determined)
    while len(fresh):
        for row, slot in zip(close, slots, strict=True):
            (waiting,) = np.nonzero(~row)
            far, _ = KDTree(values[fresh, slot]).query(values[waiting, slot], p=np.inf, distance_upper_bound=2 * reach)
            row[waiting[far <= reach]] = True
        fresh = np.flatnonzero(close.all(axis=0) & ~determined)
        determined[fresh] = True
    return determined
