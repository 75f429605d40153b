"""Three families of outcomes: chances of 0/1 outcomes (logit), chances of classes (softmax), means of counts (log).

All that differs between them stands here: which outcomes fit, how they are counted, what the likelihood and its slopes
are, what a direction must not do to it, and what a sum of effects at infinity means.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.checks import check_bounds, whole
from recombine.errors import InputError
from recombine.registry import Registry
from recombine.theory.structures.separation.limits import Limit

#: Sums beyond this overflow as exponents.
LARGEST_SUM = 700.0

#: Loose and tied rows, and for each loose row its cell and the class that vanishes where its product is positive.
Constraints = tuple[csr_array, csr_array, IntArray, IntArray]


class Family:
    """What the likelihood of a kind of outcomes is; arrays of sums, means and totals are (n, K) with K classes.

    Attributes
    ----------
    name : str
    per_class : bool
        Whether every class has sums of its own, so that limits and values are (N, K).
    classes_left : int
        A seen cell with no more possible classes than this is fitted perfectly.
    limits : tuple of two Limit
        What sums at minus and plus infinity mean; of no use where classes have sums of their own.
    takes_offsets : bool
        Whether known parts of the sums may be given.
    splits_by_offset : bool
        Whether a cell has one row per distinct offset.
    """

    name: ClassVar[str]
    per_class: ClassVar[bool] = False
    classes_left: ClassVar[int] = 1
    limits: ClassVar[tuple[Limit, Limit]] = (Limit.ZERO, Limit.ONE)
    takes_offsets: ClassVar[bool] = True
    splits_by_offset: ClassVar[bool] = False

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        """Return the number of classes that outcomes (N,) have, or say which outcome does not fit."""
        raise NotImplementedError

    def totals(self, where: IntArray, y: FloatArray, weights: FloatArray, shape: tuple[int, int]) -> FloatArray:
        """Return how often each class came out in each cell, ``shape``; ``where`` (N,) is the cell of each row."""
        cells, classes = shape
        key = where * classes + y.astype(np.int64)
        return np.bincount(key, weights, cells * classes).astype(float).reshape(shape)

    def exposure(self, where: IntArray, weights: FloatArray, shifts: FloatArray, totals: FloatArray) -> FloatArray:
        """Return how many observations were made in each cell, (n,)."""
        return np.asarray(totals.sum(axis=1))

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        """Return what directions must not do, from the rows (n, F) of cells and which classes were seen (n, K)."""
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


class LogitFamily(Family):
    """Chances of 0/1 outcomes; the only sum is that of class 1."""

    name = "logit"
    splits_by_offset = True

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        """Return two."""
        _check_classes(y, 2, f"for {self.name} give 0 or 1")
        return 2

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        """Cells with successes only must not lose, those with failures only not gain, those with both must stay."""
        tied = np.asarray(seen.all(axis=1))
        sign = np.where(tied, 0, np.where(seen[:, 1], 1, -1))
        return _signed(rows, sign, tied, np.where(seen[:, 1], 0, 1))

    def observed(self, totals: FloatArray) -> FloatArray:
        """Return the successes."""
        return totals[:, 1:]

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return the chances of success."""
        from scipy.special import expit

        return np.asarray(expit(sums))

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        """Return the log-likelihood of successes."""
        return float((totals[:, 1] * sums[:, 0] - exposure * np.logaddexp(0, sums[:, 0])).sum())

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        """Multiply by the binomial variance."""
        return np.asarray(means * (1 - means / exposure[:, None]) * moved)

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        """Return the slope of the logistic curve."""
        return [(np.array([float(values * (1 - values))]), 0)]

    def fitted(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return the chances of both classes."""
        return softmax_chances(np.hstack([np.zeros_like(sums), sums]), support)


class SoftmaxFamily(Family):
    """Chances of classes, each with sums of its own."""

    name = "softmax"
    per_class = True
    takes_offsets = False

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        """Return ``classes``, or what the outcomes use."""
        number = whole(classes or max(int(y.max(initial=0)) + 1, 2), "classes", at_least=2)
        _check_classes(y, number, f"for {self.name} give classes coded from 0 to {number - 1}")
        return number

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        """Classes that a cell lacks must not gain on those it has, and these must stay with each other."""
        classes = seen.shape[1]
        ids = rows.indices.reshape(rows.shape[0], -1).astype(np.int64)
        base = seen.argmax(axis=1)
        cell, against = np.nonzero(np.arange(classes)[None, :] != base[:, None])
        wide = differences(ids[cell], base[cell], against, classes, rows.shape[1] * classes)
        observed = seen[cell, against]
        loose = np.flatnonzero(~observed)
        return csr_array(wide[loose]), csr_array(wide[np.flatnonzero(observed)]), cell[loose], against[loose]

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return the chances of the classes."""
        return softmax_chances(sums, support)

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        """Return the log-likelihood of the classes."""
        masked = np.where(support, sums, -np.inf)
        top = np.logaddexp.reduce(masked, axis=1) if len(masked) else np.zeros(0)
        return float((totals * np.where(support, sums, 0.0)).sum() - (exposure * top).sum())

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        """Multiply by the multinomial covariance."""
        chances = means / exposure[:, None]
        return np.asarray(means * (moved - (chances * moved).sum(axis=1, keepdims=True)))

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        """Return the slopes of each finite chance in the sums of all classes."""
        chances, classes = np.where(finite, values, 0.0), np.arange(len(values))
        return [(chances[each] * ((classes == each) - chances), int(each)) for each in np.flatnonzero(finite)]


class LogFamily(Family):
    """Means of counts."""

    name = "log"
    classes_left = 0
    limits = (Limit.ZERO, Limit.INFINITE)

    def count_classes(self, y: FloatArray, classes: int | None) -> int:
        """Return one, for the counts."""
        check_bounds(y, "y", at_least=0)
        return 1

    def totals(self, where: IntArray, y: FloatArray, weights: FloatArray, shape: tuple[int, int]) -> FloatArray:
        """Return the sum of the counts of each cell."""
        return np.bincount(where, weights * y, shape[0]).astype(float)[:, None]

    def exposure(self, where: IntArray, weights: FloatArray, shifts: FloatArray, totals: FloatArray) -> FloatArray:
        """Return the sum of the exposures, exp(offset)."""
        return np.bincount(where, weights * np.exp(shifts), len(totals)).astype(float)

    def constraints(self, rows: csr_array, seen: BoolArray) -> Constraints:
        """Keep the mean of an empty cell from growing, and the others as they are."""
        tied = seen[:, 0]
        return _signed(rows, np.where(tied, 0, -1), tied, np.zeros(len(seen), dtype=np.int64))

    def means(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return the exponentials."""
        return np.asarray(np.exp(np.minimum(sums, LARGEST_SUM)))

    def value(self, sums: FloatArray, totals: FloatArray, exposure: FloatArray, support: BoolArray) -> float:
        """Return the log-likelihood of counts."""
        return float((totals[:, 0] * sums[:, 0]).sum() - (exposure[:, None] * self.means(sums, support)).sum())

    def spread(self, means: FloatArray, exposure: FloatArray, moved: FloatArray) -> FloatArray:
        """Multiply by the mean, which is the variance of a count."""
        return means * moved

    def covariance(self, means: FloatArray, exposure: FloatArray, first: int, second: int) -> FloatArray:
        """Return the means."""
        return means[:, first] * float(first == second)

    def variances(self, means: FloatArray, exposure: FloatArray) -> FloatArray:
        """Return the means."""
        return means

    def start(self, rows: csr_array, totals: FloatArray, exposure: FloatArray) -> FloatArray | None:
        """Return least squares on the logarithms of counts."""
        if not len(rows.data):
            return None
        from scipy.sparse.linalg import lsmr

        weights = np.sqrt(totals[:, 0] + 0.5)
        target = np.log((totals[:, 0] + 0.5) / exposure)
        return np.asarray(lsmr(rows.multiply(weights[:, None]).tocsr(), weights * target, atol=1e-8, btol=1e-8)[0])

    def slopes(self, values: FloatArray, finite: BoolArray) -> list[tuple[FloatArray, int]]:
        """Return the mean itself."""
        return [(np.array([float(values)]), 0)]

    def fitted(self, sums: FloatArray, support: BoolArray) -> FloatArray:
        """Return the means, zero off the face."""
        return np.where(support, self.means(sums, support), 0.0)


FAMILIES: Registry[Family] = Registry("family", [LogitFamily(), SoftmaxFamily(), LogFamily()])


def softmax_chances(sums: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return softmax of sums (n, K) over the allowed classes; a row with none is all zero.

    Examples
    --------
    >>> softmax_chances(np.zeros((1, 3)), np.array([[True, True, False]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    masked = np.where(allowed, sums, -np.inf)
    top = masked.max(axis=1, keepdims=True, initial=-LARGEST_SUM)
    exponentials = np.exp(masked - top)
    return np.asarray(exponentials / np.maximum(exponentials.sum(axis=1, keepdims=True), 1e-300))


def differences(ids: IntArray, plus: IntArray, minus: IntArray, classes: int, width: int) -> csr_array:
    """Return the rows of class ``plus`` (N,) against class ``minus`` (N,) in cells with value numbers ``ids`` (N, S).

    Examples
    --------
    >>> differences(np.array([[0, 1]]), np.array([2]), np.array([0]), 3, 6).toarray().tolist()
    [[-1, 0, 1, -1, 0, 1]]
    """
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


def _check_classes(y: FloatArray, number: int, wanted: str) -> None:
    """Refuse outcomes (N,) that are no whole numbers from 0 to ``number - 1``."""
    wrong = np.flatnonzero((y != np.rint(y)) | (y < 0) | (y >= number))
    if len(wrong):
        raise InputError(f"y[{wrong[0]}] is {y[wrong[0]]:g}; {wanted}")
