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
from enum import StrEnum, auto
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import InputError


class FactorScale(StrEnum):
    """What the levels of a factor are: labels, values in order, or numbers whose effect is a smooth curve."""

    LABELS = auto()
    ORDERED = auto()
    NUMERIC = auto()


Polynomials = tuple[tuple[tuple[Fraction, ...], ...], ...]

#: Fewer seen values than this carry no curve, only a straight line.
MIN_VALUES_CURVED = 4
#: Values seen, up to which a numeric factor has so many knots; with more it has the last number.
KNOTS_BY_VALUES = ((6, 3), (12, 4))
MAX_KNOTS = 5


@dataclass(frozen=True, eq=False)
class Scale:
    """The levels of one factor on a line; build one with `place_levels`.

    A curve is made of pieces, each a polynomial in the distance from where it begins. The last piece is the last knot.

    Examples
    --------
    >>> dose = place_levels("ordered", [0, 10, 40, 25, 80], [True, True, True, False, False])
    >>> dose.knots.tolist(), dose.weights[3].tolist(), dose.beyond.tolist()
    ([0, 1, 2], [0.5, 0.5], [False, False, False, False, True])
    """

    kind: FactorScale
    places: tuple[Fraction, ...]  #: (L,): where each level lies.
    knots: IntArray  #: (K,): the levels at which the curve is known, by place.
    #: (L,): the piece on which each level lies. One beyond the seen range counts as the nearest knot, which means
    #: nothing.
    pieces: IntArray
    piece_knots: IntArray  #: (P, J): the knots that the levels of a piece are weighted sums of.
    polynomials: Polynomials  #: (P, D, J): their weights as polynomials, constant first.

    def __repr__(self) -> str:
        return f"Scale({self.kind}; {len(self.places):,} levels, {len(self.knots)} knots)"

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest seen level."""
        return int(self.knots[0]), int(self.knots[-1])

    @cached_property
    def slots(self) -> IntArray:
        """The knots that each level is a weighted sum of, (L, J); some may have weight 0."""
        return np.asarray(self.piece_knots[self.pieces])

    @cached_property
    def distances(self) -> tuple[Fraction, ...]:
        """How far each level lies from the beginning of its piece, (L,)."""
        starts = [self.places[knot] for knot in self.knots.tolist()]
        inside = zip(self.places, self.pieces.tolist(), self.beyond.tolist(), strict=True)
        return tuple(Fraction(0) if outside else position - starts[piece] for position, piece, outside in inside)

    def shares(self, level: int) -> tuple[Fraction, ...]:
        """Return the weights of one level exactly, (J,): of the knots in its row of `slots`."""
        total = [Fraction(0)] * self.piece_knots.shape[1]
        for coefficients in reversed(self.polynomials[int(self.pieces[level])]):
            total = [value * self.distances[level] + more for value, more in zip(total, coefficients, strict=True)]
        return tuple(total)

    @cached_property
    def weights(self) -> FloatArray:
        """The weights of all levels as floats, (L, J)."""
        at = np.array([float(distance) for distance in self.distances])
        tables = np.array([[[float(share) for share in row] for row in piece] for piece in self.polynomials])
        total = np.zeros(self.slots.shape)
        for degree in reversed(range(tables.shape[1])):
            total = total * at[:, None] + tables[self.pieces, degree]
        return total

    @cached_property
    def beyond(self) -> BoolArray:
        """Which levels lie outside the seen range, (L,)."""
        low, high = (self.places[end] for end in self.ends)
        return np.array([not low <= position <= high for position in self.places])

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


def place_levels(kind: str, positions: Sequence[Fraction | int], seen: Sequence[bool] | BoolArray) -> Scale:
    """Put levels at ``positions`` (L,) on a scale whose knots are among those ``seen`` (L,).

    Examples
    --------
    >>> place_levels("numeric", list(range(9)), [True] * 9).knots.tolist()
    [0, 3, 5, 8]
    >>> place_levels("numeric", [0, 1, 4], [True] * 3).shares(1)
    (Fraction(3, 4), Fraction(1, 4))
    """
    exact = tuple(map(Fraction, positions))
    levels = sorted((level for level, yes in enumerate(seen) if yes), key=exact.__getitem__)
    if not levels:
        raise InputError("a scale needs at least one seen level; give some")
    if any(exact[low] == exact[high] for low, high in pairwise(levels)):
        raise InputError("two seen levels lie at the same place; give each a place of its own")
    knots = levels if kind == FactorScale.ORDERED else _spread(levels)
    at = [exact[knot] for knot in knots]
    piece_knots, polynomials = _curved(at) if kind == FactorScale.NUMERIC and len(knots) > 2 else _straight(at)
    pieces = np.array([max(bisect_right(at, position) - 1, 0) for position in exact])
    return Scale(FactorScale(kind), exact, np.array(knots), pieces, np.array(knots)[piece_knots], polynomials)


def _spread(levels: list[int]) -> list[int]:
    """Choose knots among the seen levels, evenly by rank, the ends among them."""
    if len(levels) < MIN_VALUES_CURVED:
        return levels if len(levels) < 2 else [levels[0], levels[-1]]
    count = next((knots for limit, knots in KNOTS_BY_VALUES if len(levels) <= limit), MAX_KNOTS)
    return [levels[rank] for rank in np.round(np.linspace(0, len(levels) - 1, count)).astype(int)]


def _straight(at: list[Fraction]) -> tuple[IntArray, Polynomials]:
    """Return the pieces of a line through values at knots ``at`` (K,): which knots, (K, 2), and their weights."""
    zero, unit = Fraction(0), Fraction(1)
    slopes = [1 / (high - low) for low, high in pairwise(at)]
    piece_knots = [[index, index + 1] for index in range(len(slopes))] + [[len(slopes)] * 2]
    return np.array(piece_knots), (*(((unit, zero), (-slope, slope)) for slope in slopes), ((unit, zero), (zero, zero)))


def _curved(at: list[Fraction]) -> tuple[IntArray, Polynomials]:
    """Return the same of the natural cubic spline: every piece has all K knots."""
    count, bends = len(at), _bends(at)
    unit = [tuple(Fraction(int(row == column)) for column in range(count)) for row in range(count)]
    pieces = []
    for i, (low, high) in enumerate(pairwise(at)):
        step = high - low
        slope = tuple(
            (b - a) / step - step * (2 * m + n) / 6
            for a, b, m, n in zip(unit[i], unit[i + 1], bends[i], bends[i + 1], strict=True)
        )
        bend = tuple(m / 2 for m in bends[i])
        turn = tuple((n - m) / (6 * step) for m, n in zip(bends[i], bends[i + 1], strict=True))
        pieces.append((unit[i], slope, bend, turn))
    flat = (Fraction(0),) * count
    return np.tile(np.arange(count), (count, 1)), (*pieces, (unit[-1], flat, flat, flat))


def _bends(at: list[Fraction]) -> list[list[Fraction]]:
    """Second derivatives at the knots of the natural cubic spline through each unit vector: row i is knot i's, (K, K).

    At inner knots h[i-1] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i] m[i+1] = 6 (slope after - slope before); m is 0 at both
    ends.
    """
    count = len(at)
    steps = [high - low for low, high in pairwise(at)]
    rows: list[list[Fraction]] = []
    for i in range(1, count - 1):
        coefficients = [Fraction(0)] * (count - 2)
        constants = [Fraction(0)] * count
        for column, value in ((i - 1, steps[i - 1]), (i, 2 * (steps[i - 1] + steps[i])), (i + 1, steps[i])):
            if 1 <= column <= count - 2:
                coefficients[column - 1] = value
        constants[i - 1], constants[i + 1] = 6 / steps[i - 1], 6 / steps[i]
        constants[i] = -constants[i - 1] - constants[i + 1]
        rows.append(coefficients + constants)
    # The matrix is diagonally dominant: pivots in order are never zero.
    for i, row in enumerate(rows):
        rows[i] = [value / row[i] for value in row]
        for j, rival in enumerate(rows):
            if j != i and rival[i]:
                rows[j] = [value - rival[i] * mine for value, mine in zip(rival, rows[i], strict=True)]
    flat = [Fraction(0)] * count
    return [flat, *(row[count - 2 :] for row in rows), flat]
