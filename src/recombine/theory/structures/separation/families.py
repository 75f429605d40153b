"""Three families of outcomes: chances of 0/1 outcomes (logit), chances of classes (softmax), means of counts (log).

All that differs between them stands here: which outcomes fit, how they are counted, what the likelihood and its slopes
are, what a direction must not do to it, and what a sum of effects at infinity means.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells
from recombine.cells.brief import record
from recombine.cells.conjunctions import distinct
from recombine.checks import check_bounds, reals, whole
from recombine.errors import InputError
from recombine.registry import Registry

#: Sums beyond this overflow as exponents.
LARGEST_SUM = 700.0

#: Loose and tied rows, and for each loose row its cell and the class that vanishes where its product is positive.
Constraints = tuple[csr_array, csr_array, IntArray, IntArray]


class Limit(IntEnum):
    """Where a chance, a mean or an effect is along every sequence of effects whose likelihood tends to its supremum.

    Examples
    --------
    >>> Limit.ZERO.word
    'determined at zero'
    """

    FINITE = 0
    ZERO = 1
    ONE = 2
    INFINITE = 3
    MINUS_INFINITE = 4
    OPEN = 5
    UNDECIDED = 6

    @property
    def word(self) -> str:
        """The limit in words."""
        at = {self.ZERO: "zero", self.ONE: "one", self.INFINITE: "infinity", self.MINUS_INFINITE: "minus infinity"}
        plain = {self.FINITE: "determined", self.OPEN: "not determined", self.UNDECIDED: "undecided"}
        return plain[self] if self in plain else f"determined at {at[self]}"


class Family:
    """What the likelihood of a kind of outcomes is; arrays of sums, means and totals are (n, K) with K classes.

    Attributes
    ----------
    per_class : bool
        Whether every class has sums of its own, so that limits and values are (N, K).
    classes_left : int
        A seen cell with no more possible classes than this is fitted perfectly.
    limits : tuple of two Limit
        What sums at minus and plus infinity mean; of no use where classes have sums of their own.
    """

    name: str
    per_class = False
    classes_left = 1
    limits = (Limit.ZERO, Limit.ONE)

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        """Return the number of classes that outcomes (N,) have, or say which outcome does not fit."""
        raise NotImplementedError

    def _checked_classes(self, y: FloatArray, number: int, wanted: str) -> int:
        """Return ``number``, or refuse outcomes (N,) that are no whole numbers below it."""
        wrong = np.flatnonzero((y != np.rint(y)) | (y < 0) | (y >= number))
        if len(wrong):
            raise InputError(f"y[{wrong[0]}] is {y[wrong[0]]:g}; for {self.name} give {wanted}")
        return number

    def gather(
        self, cell_of: IntArray, y: FloatArray, weights: FloatArray, shape: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        """Return totals (n, K) = ``shape`` and exposure (n,) of cells, from outcomes and weights (N,) of rows."""
        cells, classes = shape
        counts = np.bincount(cell_of * classes + y.astype(np.int64), weights, cells * classes)
        totals: FloatArray = counts.astype(float).reshape(shape)
        return totals, totals.sum(axis=1)

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        """Say along which directions the likelihood does not fall: no product with tied rows, none below 0 with loose.

        From the rows (n, F) of cells and which classes were seen in them (n, K); where every class has sums of its own,
        directions have an entry for each value and class, F * K.
        """
        raise NotImplementedError

    def observed(self, totals: FloatArray) -> FloatArray:
        """Return the totals of the classes that have sums."""
        return totals

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return the chances or means of sums over the classes of ``support``."""
        raise NotImplementedError

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        """Return the log-likelihood."""
        raise NotImplementedError

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        """Multiply changes of the sums by the variances and covariances of the outcomes with these expected totals."""
        raise NotImplementedError

    def covariance(self, means: FloatArray, exposure: FloatArray, first: int, second: int) -> FloatArray:
        """Return the covariance (n,) of the totals of two classes."""
        variance = means[:, first] * float(first == second)
        return np.asarray(variance - means[:, first] * means[:, second] / exposure)

    def variances(self, means: FloatArray, exposure: FloatArray) -> FloatArray:
        """Return the variances of the totals."""
        return np.asarray(means * (1 - means / exposure[:, None]))

    def start(self, rows: csr_array, totals: FloatArray, exposure: FloatArray) -> FloatArray | None:
        """Return values (F,) near the maximum; None to start at zero."""
        return None

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        """Return how each finite value of a cell changes with its sums, one vector per value, and the value's class."""
        raise NotImplementedError

    def fitted(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return chances (n, K) of all classes, or means (n, 1), limits included."""
        return self.means(sums, support)

    def __repr__(self) -> str:
        return self.name


class _Logit(Family):
    """Chances of 0/1 outcomes; the only sum is that of class 1."""

    name = "logit"

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        return self._checked_classes(y, 2, "0 or 1")

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        # Cells with successes only must not lose, those with failures only not gain, those with both must stay.
        tied = np.asarray(seen.all(axis=1))
        sign = np.where(tied, 0, np.where(seen[:, 1], 1, -1))
        return _signed(rows, sign, tied, np.where(seen[:, 1], 0, 1))

    def observed(self, totals: FloatArray) -> FloatArray:
        return totals[:, 1:]

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        from scipy.special import expit

        return np.asarray(expit(sums))

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        return float((totals[:, 1] * sums[:, 0] - exposure * np.logaddexp(0, sums[:, 0])).sum())

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        return self.variances(means, exposure) * moved

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        return [(np.array([float(values * (1 - values))]), 0)]

    def fitted(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        return _softmax_chances(np.hstack([np.zeros_like(sums), sums]), support)


class _Softmax(Family):
    """Chances of classes, each with sums of its own."""

    name = "softmax"
    per_class = True

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        number = whole(classes or max(int(y.max(initial=0)) + 1, 2), "classes", at_least=2)
        return self._checked_classes(y, number, f"whole numbers below {number}")

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        # Classes that a cell lacks must not gain on those it has, and these must stay with each other.
        classes = seen.shape[1]
        ids = rows.indices.reshape(rows.shape[0], -1).astype(np.int64)
        base = seen.argmax(axis=1)
        cell, against = np.nonzero(np.arange(classes)[None, :] != base[:, None])
        wide = _differences(ids[cell], base[cell], against, classes, rows.shape[1] * classes)
        observed = seen[cell, against]
        loose = np.flatnonzero(~observed)
        return csr_array(wide[loose]), csr_array(wide[np.flatnonzero(observed)]), cell[loose], against[loose]

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        return _softmax_chances(sums, support)

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        masked = np.where(support, sums, -np.inf)
        top = np.logaddexp.reduce(masked, axis=1) if len(masked) else np.zeros(0)
        return float((totals * np.where(support, sums, 0.0)).sum() - (exposure * top).sum())

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        chances = means / exposure[:, None]
        return np.asarray(means * (moved - (chances * moved).sum(axis=1, keepdims=True)))

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        chances, classes = np.where(finite, values, 0.0), np.arange(len(values))
        return [(chances[each] * ((classes == each) - chances), int(each)) for each in np.flatnonzero(finite)]


class _Log(Family):
    """Means of counts, whose variance is the mean."""

    name = "log"
    classes_left = 0
    limits = (Limit.ZERO, Limit.INFINITE)

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        check_bounds(y, "y", at_least=0)
        return 1

    def gather(
        self, cell_of: IntArray, y: FloatArray, weights: FloatArray, shape: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        totals: FloatArray = np.bincount(cell_of, weights * y, shape[0]).astype(float)[:, None]
        return totals, np.bincount(cell_of, weights, shape[0]).astype(float)

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        # The mean of an empty cell must not grow, and the others must stay.
        tied = seen[:, 0]
        return _signed(rows, np.where(tied, 0, -1), tied, np.zeros(len(seen), dtype=np.int64))

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        return np.asarray(np.exp(np.minimum(sums, LARGEST_SUM)))

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        return float((totals[:, 0] * sums[:, 0]).sum() - (exposure[:, None] * self.means(sums, support)).sum())

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        return means * moved

    def covariance(self, means: FloatArray, exposure: FloatArray, first: int, second: int) -> FloatArray:
        return means[:, first] * float(first == second)

    def variances(self, means: FloatArray, exposure: FloatArray) -> FloatArray:
        return means

    def start(self, rows: csr_array, totals: FloatArray, exposure: FloatArray) -> FloatArray | None:
        if not len(rows.data):
            return None
        from scipy.sparse.linalg import lsmr

        weights = np.sqrt(totals[:, 0] + 0.5)
        target = np.log((totals[:, 0] + 0.5) / exposure)
        return np.asarray(lsmr(rows.multiply(weights[:, None]).tocsr(), weights * target, atol=1e-8, btol=1e-8)[0])

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        return [(np.array([float(values)]), 0)]

    def fitted(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        return np.where(support, self.means(sums, support), 0.0)


FAMILIES: Registry[Family] = Registry("family", [_Logit(), _Softmax(), _Log()])


@record
class Outcomes:
    """What was observed in each seen cell."""

    family: Family
    cells: IntArray  #: Shape (N, C).
    #: (N, K): observations of each class (two for logit: 0 and 1); for log one column, the sum of the counts.
    totals: FloatArray
    exposure: FloatArray  #: (N,): how many observations were made.

    @property
    def classes(self) -> int:
        """Number of classes K; 1 for counts."""
        return int(self.totals.shape[1])


def gather_outcomes(
    cells: npt.ArrayLike,
    y: npt.ArrayLike,
    family: str = "logit",
    *,
    classes: int | None = None,
    weights: npt.ArrayLike | None = None,
) -> Outcomes:
    """Check rows of cells (N, C) with outcomes (N,) and add up those of one cell; see `existence` for the arguments.

    Examples
    --------
    >>> outcomes = gather_outcomes([[0, 0], [0, 0], [1, 0]], [1, 0, 1], weights=[3, 1, 2])
    >>> outcomes.cells.tolist(), outcomes.totals.tolist()
    ([[0, 0], [1, 0]], [[1.0, 3.0], [0.0, 2.0]])
    """
    kind, codes, values = FAMILIES[family], as_cells(cells), reals(y, "y")
    counted = np.ones(len(codes)) if weights is None else check_bounds(reals(weights, "weights"), "weights", at_least=0)
    for name, array in (("y", values), ("weights", counted)):
        if array.shape != (len(codes),):
            raise InputError(f"{name} has shape {array.shape} but there are {len(codes)} cells; give one per row")
    width = kind.count_classes(values, classes)
    used = counted > 0
    if not used.any():
        raise InputError("no row has a positive weight; give at least one observation")
    rows, cell_of = distinct(codes[used])
    totals, exposure = kind.gather(cell_of, values[used], counted[used], (len(rows), width))
    return Outcomes(kind, rows, totals, exposure)


def _softmax_chances(sums: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return softmax of sums (n, K) over the allowed classes; a row with none is all zero."""
    masked = np.where(allowed, sums, -np.inf)
    top = masked.max(axis=1, keepdims=True, initial=-LARGEST_SUM)
    exponentials = np.exp(masked - top)
    return np.asarray(exponentials / np.maximum(exponentials.sum(axis=1, keepdims=True), 1e-300))


def _differences(ids: IntArray, plus: IntArray, minus: IntArray, classes: int, width: int) -> csr_array:
    """Return the rows of classes ``plus`` (N,) against ``minus`` (N,) in cells with value numbers ``ids`` (N, S)."""
    columns = np.hstack([ids * classes + plus[:, None], ids * classes + minus[:, None]])
    data = np.hstack([np.ones_like(ids, dtype=np.int64), -np.ones_like(ids, dtype=np.int64)])
    rows = np.repeat(np.arange(len(ids)), columns.shape[1])
    matrix = csr_array((data.reshape(-1), (rows, columns.reshape(-1))), shape=(len(ids), width))
    matrix.eliminate_zeros()
    return matrix


def _signed(rows: csr_array, sign: IntArray, tied: BoolArray, ruled: IntArray) -> Constraints:
    """Return tied rows as they are, the others with their signs."""
    loose = np.flatnonzero(~tied)
    signed = csr_array(rows[loose].multiply(sign[loose][:, None]))
    return signed.astype(np.int64), csr_array(rows[np.flatnonzero(tied)]), loose, ruled[loose]
