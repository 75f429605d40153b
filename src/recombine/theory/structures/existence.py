"""Does the maximum-likelihood fit of 0/1 outcomes, classes or counts exist, and what do its limits say about cells?

Where outcomes are separated (a level that only ever failed, an empty cell in a table of counts) the likelihood has no
maximum: it grows without end in some direction. The fit then lives on a face: some chances are exactly 0 or 1 and some
means exactly 0 in the limit, the rest is an ordinary fit to the other rows (for log-linear models, the facial sets of
Fienberg & Rinaldo 2012; for logit models, the separation of Albert & Anderson 1984).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, kron

from recombine.cells.arrays import BoolArray, IntArray, as_cells, sizes_of
from recombine.cells.conjunctions import Conjunctions
from recombine.errors import InputError
from recombine.theory.identification.identify import Identification, cells_within, identify
from recombine.theory.structures.separation.families import Limit, Outcomes, gather_outcomes
from recombine.theory.structures.separation.rational import Echelon, exact_product, rows_of, signs
from recombine.theory.structures.separation.recession import Recession, Whole, distinct_rays, forced, recession
from recombine.verdicts import Verdict

LimitCodes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False, repr=False)
class Existence:
    """Whether the fit exists, with proofs, and the limits of cells and effects; see `existence`."""

    outcomes: Outcomes
    features: Conjunctions  #: The model: one value per combination of levels of each subset of factors.
    #: Both proofs: the direction in which the likelihood grows without end, and the weights which show that it grows in
    #: no other rows. Columns are those of ``columns``, for softmax each of them once per class.
    recession: Recession
    columns: IntArray  #: (F,): the values of the model that some seen cell has.
    #: (N, K): the face: which classes have a positive chance in the limit in each seen cell (two classes for logit);
    #: for counts, K = 1, whether the mean is positive.
    support: BoolArray
    #: Rows along which the likelihood must not fall, and rows that must stay, both in the columns of ``recession``.
    loose: csr_array
    tied: csr_array

    def __repr__(self) -> str:
        return f"Existence({self.outcomes.family}; {len(self.outcomes.cells)} seen cells; {self.separation})"

    @property
    def exists(self) -> bool:
        """Whether the likelihood has a maximum."""
        return not self.recession.strict.any()

    @property
    def separation(self) -> str:
        """``overlap`` (the fit exists), ``quasi-complete``, or ``complete`` (everything seen is fitted perfectly)."""
        if self.exists:
            return "overlap"
        possible = self.support.sum(axis=1).max()
        return "quasi-complete" if possible > self.outcomes.family.classes_left else "complete"

    @cached_property
    def linear(self) -> Identification:
        """The linear identification of the same sums, with the subsets of factors as factors."""
        sizes = [len(block) for block in self.features.blocks.values()]
        return identify(self._coded(self.outcomes.cells), order=1, sizes=sizes)

    def _coded(self, cells: IntArray) -> IntArray:
        """Return cells with a column per subset of factors, (N, C) -> (N, S): there the model has main effects only."""
        return np.asarray(self.features.ids(cells) - [block.start for block in self.features.blocks.values()], np.int64)

    def rows(self, cells: IntArray) -> csr_array:
        """Return the rows (N, F) of cells in the values that seen cells have."""
        return _rows(self.features, cells, self.columns)

    @cached_property
    def _null(self) -> Whole:
        """Directions (W, n) that leave every value on the face as it is."""
        balanced = csr_array(self.loose[np.flatnonzero(~self.recession.strict)])
        return Echelon(itertools.chain(rows_of(self.tied), rows_of(balanced)), self.loose.shape[1]).null_basis()

    @cached_property
    def _rising(self) -> Whole:
        """What these directions do to the rows that go to infinity, (m, n), each direction once."""
        strict = csr_array(self.loose[np.flatnonzero(self.recession.strict)])
        return distinct_rays(exact_product(strict, self._null))[0]

    def sides_of(self, functionals: csr_array) -> LimitCodes:
        """Return the limits of linear functions (T, W) of the effects.

        Sequences whose likelihood tends to its supremum go to infinity on the strict rows, and are free along the null
        directions but for that. A function that no null direction moves is finite; one that moves with them goes to
        infinity only if that follows from the strict rows' doing so, and is open otherwise.
        """
        moved = exact_product(functionals, self._null)
        codes = np.where((moved != 0).any(axis=1), Limit.OPEN, Limit.FINITE).astype(np.uint8)
        side = signs(exact_product(functionals, self.recession.direction))
        for sign, limit in ((1, Limit.INFINITE), (-1, Limit.MINUS_INFINITE)):
            rows = np.flatnonzero(side == sign)
            rays, where = distinct_rays(sign * moved[rows])
            answer = {True: limit, False: Limit.OPEN, None: Limit.UNDECIDED}
            limits = np.array([answer[forced(self._rising, ray[None, :])] for ray in rays], dtype=np.uint8)
            if len(rows):
                codes[rows] = limits[where]
        return codes

    def limits_of(self, cells: npt.ArrayLike) -> LimitCodes:
        """Return where the chance or the mean of any cells is in the limit, as `Limit` codes.

        (N, C) -> (N,) for logit (the chance of 1) and log (the mean), (N, K) for softmax (the chance of each class).
        """
        codes = cells_within(cells, self.features.sizes, "cells")
        verdicts = self.linear.verdicts_of(self._coded(codes))
        shape = (len(codes), self.outcomes.classes) if self.outcomes.family.per_class else (len(codes),)
        limits = np.full(shape, Limit.OPEN, dtype=np.uint8)
        limits[verdicts == Verdict.UNDECIDED] = Limit.UNDECIDED
        spanned = np.flatnonzero(verdicts <= Verdict.DETERMINED)
        limits[spanned] = Limit.FINITE if self.exists else self._spanned_limits(codes[spanned])
        return limits

    def _spanned_limits(self, cells: IntArray) -> LimitCodes:
        """Limits of cells that are linearly determined by the seen ones, where the fit does not exist."""
        rows = self.rows(cells)
        if self.outcomes.family.per_class:
            return self._class_limits(rows)
        low, high = self.outcomes.family.limits
        codes = self.sides_of(rows)
        named = codes.copy()
        named[codes == Limit.MINUS_INFINITE], named[codes == Limit.INFINITE] = low, high
        return named

    def _class_limits(self, rows: csr_array) -> LimitCodes:
        """Limits of each class's chance in cells (N, F): which are forced to zero, and whether the rest is settled."""
        classes = self.outcomes.classes
        moved = [exact_product(against_first(rows, outcome, classes), self._null) for outcome in range(classes)]
        # Cells that null directions move alike have the same limits: a programme for each distinct move, not each cell.
        limits_of_moves: dict[tuple[int, ...], LimitCodes] = {}
        limits = np.empty((rows.shape[0], classes), dtype=np.uint8)
        for row, values in enumerate(np.stack(moved, axis=1)):
            key = tuple(values.reshape(-1).tolist())
            if key not in limits_of_moves:
                limits_of_moves[key] = self._classes_of(values)
            limits[row] = limits_of_moves[key]
        return limits

    def _classes_of(self, values: Whole) -> LimitCodes:
        """Limits of the classes of one cell from ``values`` (K, n): what null directions do to each class's sum."""
        against = [np.delete(values, outcome, axis=0) - values[outcome] for outcome in range(len(values))]
        zero = [forced(self._rising, difference) for difference in against]
        if None in zero:
            return np.full(len(values), Limit.UNDECIDED, dtype=np.uint8)
        possible = np.flatnonzero([not vanishes for vanishes in zero])
        settled = not (values[possible] - values[possible[0]]).any()
        limit = (Limit.ONE if len(possible) == 1 else Limit.FINITE) if settled else Limit.OPEN
        codes = np.full(len(values), Limit.ZERO, dtype=np.uint8)
        codes[possible] = limit
        return codes


def existence(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    family: str = "logit",
    *,
    order: int = 1,
    sizes: Sequence[int] | None = None,
    classes: int | None = None,
    weights: npt.ArrayLike | None = None,
) -> Existence:
    """Decide exactly whether the maximum-likelihood fit exists, and what is determined, at which limit.

    Parameters
    ----------
    cells : array_like of int, (N, C)
        One row per observation, or per group of them (``weights``).
    y : array_like, (N,)
        0 or 1 for logit, classes coded from 0 for softmax, counts (any numbers from 0 up) for log. In a table of counts
        a cell with count 0 is seen; a structural zero is a cell that is left out.
    family : {"logit", "softmax", "log"}
    order : int
        Largest number of factors that interact.
    sizes, classes : sequence of int and int, optional
        Number of levels of each factor, and of classes K for softmax; by default those that occur.
    weights : array_like, (N,), optional
        How many observations a row stands for; a row of weight 0 was not seen.

    Examples
    --------
    Level 1 of the second factor only ever succeeded:

    >>> limits = existence([[0, 0], [0, 0], [0, 1], [1, 0], [1, 0]], [0, 1, 1, 0, 1])
    >>> limits.exists, limits.separation
    (False, 'quasi-complete')
    >>> [Limit(code).word for code in limits.limits_of([[1, 0], [1, 1]])]
    ['determined', 'determined at one']
    """
    outcomes = gather_outcomes(cells, y, family, classes=classes, weights=weights)
    used = tuple(int(size) for size in sizes) if sizes is not None else sizes_of(as_cells(cells))
    if len(used) != outcomes.cells.shape[1] or (outcomes.cells >= np.array(used)).any():
        raise InputError(f"sizes {list(used)} do not hold all cells; give one size per factor, above its largest level")
    features = Conjunctions(used, order)
    columns = np.unique(features.ids(outcomes.cells))
    rows = _rows(features, outcomes.cells, columns)
    loose, tied, cell, ruled = outcomes.family.constraints(rows, outcomes.totals > 0)
    directions = recession(loose, tied)
    support = np.ones(outcomes.totals.shape, dtype=bool)
    support[cell[directions.strict], ruled[directions.strict]] = False
    return Existence(outcomes, features, directions, columns, support, loose, tied)


def _rows(features: Conjunctions, cells: IntArray, columns: IntArray) -> csr_array:
    return csr_array(features.incidence(cells).astype(np.int64)[:, columns])


def against_first(functionals: csr_array, outcome: int, classes: int) -> csr_array:
    """Return functions (T, F) of values as those of class ``outcome`` against class 0, (T, F * classes)."""
    contrast = np.zeros((1, classes), dtype=np.int64)
    contrast[0, outcome] += 1
    contrast[0, 0] -= 1
    return csr_array(kron(functionals, contrast))
