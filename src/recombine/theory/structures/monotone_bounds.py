"""Bounds of an unseen cell when effects add up to an increasing curve that nobody knows.

An unknown increasing curve, which may be flat in places, leaves only the order of the seen outcomes. Where y(a) < y(b),
the hidden sum of a is below that of b; equal outcomes say nothing. An unseen cell u lies at or below the seen cell b,
whatever the curve and whatever the effects, exactly if the difference of their rows is a sum of such differences with
weights that are not negative: x(b) - x(u) = sum of w_k (x(b_k) - x(a_k)). Such weights are found by linear programming
and checked in fractions. The same program with zero on the left side shows that no effects and no curve give the seen
order: the cancellation conditions of conjoint measurement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import Conjunctions
from recombine.checks import real, reals
from recombine.errors import InputError, SolverError
from recombine.theory.identification.signed_sums import balances

if TYPE_CHECKING:
    from scipy.sparse import csc_array

#: Seen cells, and ordered pairs of them, up to which linear programs are solved.
MAX_CELLS_BOUNDED, MAX_PAIRS_ORDERED = 2_000, 50_000
#: Largest denominator of a weight.
MAX_DENOMINATOR_OF_BOUNDS = 10_000


@dataclass(frozen=True)
class OrderCertificate:
    """Ordered pairs of seen cells that prove one cell to lie at or below another."""

    #: The cell that lies at or below, and the one above it. Equal in the proof that no curve exists.
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    #: Seen cells, of which the first has the smaller outcome.
    pairs: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    #: In exact arithmetic, rows of conjunctions satisfy x(upper) - x(lower) = sum of weight * (x(second) - x(first)).
    weights: tuple[Fraction, ...]

    def __str__(self) -> str:
        terms = zip(self.weights, self.pairs, strict=True)
        steps = [f"{weight} x [{_name(lower)} < {_name(upper)}]" for weight, (lower, upper) in terms]
        return f"{_name(self.lower)} <= {_name(self.upper)}" + (f" since {', '.join(steps)}" if steps else "")


@record
class MonotoneBounds:
    """Between which seen cells an unseen one lies, whatever the curve; ``below`` and ``above`` are the proofs."""

    cell: tuple[int, ...]
    #: Outcomes of the seen cells that bound it; minus and plus infinity where none does.
    low: float
    high: float
    below: OrderCertificate | None
    above: OrderCertificate | None
    #: Proof that no effects and no increasing curve give the order of the seen cells; then nothing is bounded.
    contradiction: OrderCertificate | None = None

    def __str__(self) -> str:
        if self.contradiction is not None:
            return f"no increasing curve: {self.contradiction}"
        low = f"{self.low:g}" + (f" = {_name(self.below.lower)}" if self.below else "")
        high = f"{self.high:g}" + (f" = {_name(self.above.upper)}" if self.above else "")
        return f"{low} <= {_name(self.cell)} <= {high}"


def monotone_bounds(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    targets: npt.ArrayLike,
    *,
    order: int = 1,
    sizes: Sequence[int] | None = None,
    margin: float = 0.0,
) -> list[MonotoneBounds]:
    """Bound each of ``targets`` (M, C) if effects add up to ``order`` under an unknown increasing curve.

    ``cells`` (N, C) are those seen, each once, and ``y`` (N,) their outcomes. Only outcomes further apart than
    ``margin``, what noise can do, count as ordered.

    Examples
    --------
    >>> [bound] = monotone_bounds([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 5.0], [[1, 1]])
    >>> print(bound)
    5 = y(1,0) <= y(1,1) <= inf
    >>> print(bound.below)
    y(1,0) <= y(1,1) since 1 x [y(0,0) < y(0,1)]
    """
    seen, values = as_cells(cells), reals(y, "y")
    wanted = as_cells(targets, "targets", factors=seen.shape[1])
    if values.shape != (len(seen),) or not len(seen):
        raise InputError(f"y has shape {values.shape} but there are {len(seen)} cells; give one value per cell")
    if len(seen) > MAX_CELLS_BOUNDED:
        raise InputError(f"{len(seen):,} seen cells are too many for bounds; give at most {MAX_CELLS_BOUNDED:,}")
    tops = np.vstack([seen, wanted]).max(axis=0) + 1
    features = Conjunctions(tuple(tops.tolist()) if sizes is None else tuple(sizes), order=order)
    search = _Search(features, seen, values, real(margin, "margin", at_least=0))
    return [search.bound(cell) for cell in wanted]


class _Search:
    """The ordered pairs of seen cells, and linear programs on the differences of their rows."""

    def __init__(self, features: Conjunctions, seen: IntArray, values: FloatArray, margin: float) -> None:
        self.features = features
        rising = np.argsort(values, kind="stable")
        self.seen, self.values = seen[rising], values[rising]
        self.pairs = _ordered(self.values, margin)
        if len(self.pairs) > MAX_PAIRS_ORDERED:
            raise InputError(f"{len(self.pairs):,} ordered pairs are too many; give fewer cells or another margin")
        self.rows = features.incidence(self.seen)
        first, second = self.pairs.T
        self.steps = (self.rows[second] - self.rows[first]).T.tocsc()
        self.contradiction = self._contradiction()

    def bound(self, cell: IntArray) -> MonotoneBounds:
        name = tuple(cell.tolist())
        if self.contradiction is not None:
            return MonotoneBounds(name, -np.inf, np.inf, None, None, self.contradiction)
        above = self._nearest(cell, up=True)
        below = self._nearest(cell, up=False)
        low = self._value(below.lower) if below else -np.inf
        high = self._value(above.upper) if above else np.inf
        return MonotoneBounds(name, low, high, below, above)

    def _value(self, cell: tuple[int, ...]) -> float:
        return float(self.values[np.flatnonzero((self.seen == cell).all(axis=1))[0]])

    def _nearest(self, cell: IntArray, up: bool) -> OrderCertificate | None:
        """Look by halving for the lowest seen cell above, or the highest below: what holds of one holds of all past it.

        Neighbours that are equal, or within the margin, are not ordered, so that halving may then stop at a wider
        bound than the narrowest, which still holds.
        """
        nearest, low, high = None, 0, len(self.seen) - 1
        while low <= high:
            middle = (low + high) // 2
            proof = self._proof(cell, self.seen[middle], up)
            nearest = proof or nearest
            if (proof is not None) == up:
                high = middle - 1
            else:
                low = middle + 1
        return nearest

    def _proof(self, cell: IntArray, bounding: IntArray, up: bool) -> OrderCertificate | None:
        lower, upper = (cell, bounding) if up else (bounding, cell)
        aim = self.features.incidence(np.stack([lower, upper])).toarray()
        weights = _cheapest(self.steps, aim[1] - aim[0])
        return None if weights is None else self._checked(lower, upper, weights)

    def _contradiction(self) -> OrderCertificate | None:
        """Look for weights of sum one on ordered pairs that cancel."""
        from scipy.sparse import csr_array, vstack

        if not len(self.pairs):
            return None
        total = csr_array(np.ones((1, len(self.pairs))))
        aim = np.concatenate([np.zeros(self.steps.shape[0]), [1.0]])
        weights = _cheapest(vstack([self.steps, total]).tocsc(), aim)
        return None if weights is None else self._checked(self.seen[0], self.seen[0], weights)

    def _checked(self, lower: IntArray, upper: IntArray, weights: FloatArray) -> OrderCertificate:
        used = np.flatnonzero(np.abs(weights) > 1e-9)
        exact = tuple(Fraction(float(weights[row])).limit_denominator(MAX_DENOMINATOR_OF_BOUNDS) for row in used)
        names = tuple((tuple(self.seen[a].tolist()), tuple(self.seen[b].tolist())) for a, b in self.pairs[used])
        terms = defaultdict(Fraction, {tuple(lower.tolist()): Fraction(1)})
        for (below, above), weight in zip(names, exact, strict=True):
            terms[above] += weight
            terms[below] -= weight
        if any(weight < 0 for weight in exact) or not balances(self.features, upper, terms):
            raise SolverError("weights of a bound do not add up exactly; leave out nearly equal outcomes by a margin")
        return OrderCertificate(tuple(lower.tolist()), tuple(upper.tolist()), names, exact)


def _cheapest(steps: csc_array, aim: FloatArray) -> FloatArray | None:
    """Return the weights of least sum, none negative, with steps @ weights = aim; None if there are none."""
    from scipy.optimize import linprog

    if not steps.shape[1]:
        return None if aim.any() else np.zeros(0)
    optimum = linprog(np.ones(steps.shape[1]), A_eq=steps, b_eq=aim, bounds=(0, None))  # type: ignore[call-overload]
    if optimum.status == 2:
        return None
    if optimum.status != 0:
        raise SolverError(f"the linear program of a bound stopped: {optimum.message}")
    return np.asarray(optimum.x)


def _ordered(values: FloatArray, margin: float) -> IntArray:
    """Return pairs (E, 2) of places in increasing ``values`` from which all other ordered pairs follow."""
    count = len(values)
    reach = np.searchsorted(values, values + margin, side="right")  # first that is above by more than the margin
    pairs = [
        (lower, upper)
        for lower in range(count)
        if reach[lower] < count
        # past the first that is above the lowest of these, the pair follows from two others
        for upper in range(reach[lower], reach[reach[lower]])
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _name(cell: Sequence[int]) -> str:
    return f"y({','.join(map(str, cell))})"
