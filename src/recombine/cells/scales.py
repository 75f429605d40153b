"""Scales: where the levels of an ordered or numeric factor lie on a line, and how a value follows from those at knots.

Labels have an effect each. Levels on a scale share a curve, which is known by its values at a few of them, the knots:
the effect of any other level is a weighted sum of these, and the weights add up to 1. An ordered factor has a knot at
every seen level and runs straight between neighbours. A numeric factor has at most five, and runs through them as a
natural cubic spline (a straight line where fewer than four values were seen). Weights are fractions, so that whether a
cell is determined stays a question of exact arithmetic. Outside the seen range a curve says nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import InputError

ScaleKind = Literal["ordered", "numeric"]

#: Fewer seen values than this carry no curve, only a straight line.
FEWEST_CURVED = 4
#: Values seen, up to which a numeric factor has so many knots; with more it has the last number.
KNOTS_BY_VALUES = ((6, 3), (12, 4))
MOST_KNOTS = 5


@dataclass(frozen=True, eq=False)
class Scale:
    """The levels of one factor on a line; build one with `place_levels`.

    Attributes
    ----------
    kind : {"ordered", "numeric"}
    places : tuple of Fraction, (L,)
        Where each level lies.
    knots : IntArray, (K,)
        The levels at which the curve is known, by place.
    slots : IntArray, (L, J)
        The knots that each level is a weighted sum of; those with weight 0 only fill the row.
    shares : tuple of tuple of Fraction, (L, J)
        Their weights. A level beyond the seen range has those of the nearest knot, which mean nothing.

    Examples
    --------
    >>> dose = place_levels("ordered", [0, 10, 40, 25, 80], [True, True, True, False, False])
    >>> dose.knots.tolist(), dose.weights.round(3).tolist()[3], dose.beyond.tolist()
    ([0, 1, 2], [0.5, 0.5], [False, False, False, False, True])
    """

    kind: ScaleKind
    places: tuple[Fraction, ...]
    knots: IntArray
    slots: IntArray
    shares: tuple[tuple[Fraction, ...], ...]

    def __repr__(self) -> str:
        return f"Scale({self.kind}; {len(self.places):,} levels, {len(self.knots)} knots)"

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest seen level."""
        return int(self.knots[0]), int(self.knots[-1])

    @cached_property
    def weights(self) -> FloatArray:
        """The weights as floats, (L, J)."""
        return np.array([[float(share) for share in row] for row in self.shares])

    @cached_property
    def beyond(self) -> BoolArray:
        """Which levels lie outside the seen range, (L,)."""
        low, high = (self.places[end] for end in self.ends)
        return np.array([not low <= place <= high for place in self.places])

    @cached_property
    def between(self) -> BoolArray:
        """Which levels are no knots, so that their effect follows from others', (L,)."""
        return ~np.isin(np.arange(len(self.places)), self.knots)

    @cached_property
    def nearest(self) -> IntArray:
        """The knot that counts most for each level, (L,)."""
        return np.take_along_axis(self.slots, np.abs(self.weights).argmax(axis=1)[:, None], axis=1)[:, 0]

    @cached_property
    def in_order(self) -> IntArray:
        """The levels by place, (L,)."""
        return np.array(sorted(range(len(self.places)), key=self.places.__getitem__), dtype=np.int64)


def place_levels(kind: ScaleKind, places: Sequence[Fraction | int], seen: Sequence[bool] | BoolArray) -> Scale:
    """Put levels at ``places`` (L,) on a scale whose knots are among those ``seen`` (L,).

    Examples
    --------
    >>> place_levels("numeric", list(range(9)), [True] * 9).knots.tolist()
    [0, 3, 5, 8]
    >>> place_levels("numeric", [0, 1, 4], [True] * 3).shares[1]
    (Fraction(3, 4), Fraction(1, 4))
    """
    exact = tuple(Fraction(place) for place in places)
    known = sorted((level for level, yes in enumerate(seen) if yes), key=exact.__getitem__)
    if not known:
        raise InputError("a scale needs at least one seen level; give some")
    if len({exact[level] for level in known}) < len(known):
        raise InputError("two seen levels lie at the same place; give each a place of its own")
    knots = known if kind == "ordered" else _spread(known)
    if kind == "numeric" and len(knots) > 2:
        return _curved(exact, knots)
    at = [exact[knot] for knot in knots]
    rows = [_straight(at, knots, place) for place in exact]
    width = max(len(slots) for slots, _ in rows)
    slots = [(*some, *some[-1:] * (width - len(some))) for some, _ in rows]
    shares = tuple((*some, *(Fraction(0),) * (width - len(some))) for _, some in rows)
    return Scale(kind, exact, np.array(knots), np.array(slots), shares)


def _spread(known: list[int]) -> list[int]:
    """Choose knots among the seen levels, evenly by rank, the ends among them."""
    if len(known) < FEWEST_CURVED:
        return known if len(known) < 2 else [known[0], known[-1]]
    count = next((knots for most, knots in KNOTS_BY_VALUES if len(known) <= most), MOST_KNOTS)
    return [known[rank] for rank in np.round(np.linspace(0, len(known) - 1, count)).astype(int)]


def _straight(at: list[Fraction], knots: list[int], place: Fraction) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Return the knots on either side of a place, and their weights."""
    above = bisect_right(at, place)
    if above == 0 or above == len(at) or at[above - 1] == place:
        return (knots[max(above - 1, 0)],), (Fraction(1),)
    share = (place - at[above - 1]) / (at[above] - at[above - 1])
    return (knots[above - 1], knots[above]), (1 - share, share)


def _curved(places: tuple[Fraction, ...], knots: list[int]) -> Scale:
    at = [places[knot] for knot in knots]
    bends = _bends(at)
    shares = tuple(_spline(at, bends, min(max(place, at[0]), at[-1])) for place in places)
    slots = np.tile(np.array(knots), (len(places), 1))
    return Scale("numeric", places, np.array(knots), slots, shares)


def _bends(at: list[Fraction]) -> list[list[Fraction]]:
    """Second derivatives at the knots of the natural cubic spline through each unit vector: row i is knot i's, (K, K).

    At inner knots h[i-1] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i] m[i+1] = 6 (slope after - slope before); m is 0 at both
    ends.
    """
    count = len(at)
    steps = [right - left for left, right in pairwise(at)]
    rows: list[list[Fraction]] = []
    for i in range(1, count - 1):
        left = [Fraction(0)] * (count - 2)
        right = [Fraction(0)] * count
        for column, value in ((i - 1, steps[i - 1]), (i, 2 * (steps[i - 1] + steps[i])), (i + 1, steps[i])):
            if 1 <= column <= count - 2:
                left[column - 1] = value
        right[i - 1], right[i + 1] = 6 / steps[i - 1], 6 / steps[i]
        right[i] = -right[i - 1] - right[i + 1]
        rows.append(left + right)
    # The matrix is diagonally dominant: pivots in order are never zero.
    for i, row in enumerate(rows):
        rows[i] = [value / row[i] for value in row]
        for j, other in enumerate(rows):
            if j != i and other[i]:
                rows[j] = [value - other[i] * mine for value, mine in zip(other, rows[i], strict=True)]
    flat = [Fraction(0)] * count
    return [flat, *(row[count - 2 :] for row in rows), flat]


def _spline(at: list[Fraction], bends: list[list[Fraction]], place: Fraction) -> tuple[Fraction, ...]:
    """Weights of the knots at one place inside their range, (K,)."""
    i = min(bisect_right(at, place), len(at) - 1) - 1
    step = at[i + 1] - at[i]
    a, b = (at[i + 1] - place) / step, (place - at[i]) / step
    low, high = (a**3 - a) * step**2 / 6, (b**3 - b) * step**2 / 6
    found = [low * left + high * right for left, right in zip(bends[i], bends[i + 1], strict=True)]
    found[i] += a
    found[i + 1] += b
    return tuple(found)
