"""Greedy optimal augmentation: which further cell lowers the variance of the predictions most, by rank-one updates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.cells.departures import departures, normal_matrix, quadratic_form
from recombine.cells.scaled import ScaledConjunctions
from recombine.cells.threads import one_thread

#: What a matrix or a vector gives at every cell.
Form = Callable[[FloatArray], FloatArray]
#: Seen conjunctions up to which the information matrix is inverted (a few seconds).
MAX_VARIANCE_COLUMNS = 2_000
#: Pivots of a scaled information matrix are no smaller than counts are unequal; rounding leaves zeros far below this.
MIN_VARIANCE_PIVOT = 1e-11


class VariancePlan:
    """The information of the seen cells and the variance it leaves at the target cells.

    ``targets`` (T, C) are determined cells whose mean variance is to fall, each counting by its ``importance`` (T,);
    ``weights`` (N,) say how many measurements each seen cell's mean is worth, ``measured`` how many a further cell
    would get.

    Examples
    --------
    >>> cross = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]])
    >>> plan = VariancePlan(Conjunctions((3, 3)), cross, np.array([[1, 1]]))
    >>> round(plan.mean_variance, 9)
    3.0
    """

    def __init__(
        self,
        features: Conjunctions,
        seen: IntArray,
        targets: IntArray,
        weights: FloatArray | None = None,
        measured: float = 1.0,
        importance: FloatArray | None = None,
    ) -> None:
        self._used = features.occurring(seen)
        self._place = np.full(features.columns, -1, dtype=np.int64)
        self._place[self._used] = np.arange(len(self._used))
        self._features = features
        self._weighted = isinstance(features, ScaledConjunctions)
        self._noise = 1.0 / measured  # variance of a further cell's mean
        self.affordable = len(self._used) <= MAX_VARIANCE_COLUMNS and len(targets) > 0
        if self.affordable:
            counted = np.ones(len(seen)) if weights is None else weights
            matters = np.ones(len(targets)) if importance is None else importance
            self._moment = self._normal(targets, matters / matters.sum())
            with one_thread():
                gram = self._normal(seen, counted)
                self._inverse = _generalized_inverse(gram)
                self._loss = self._inverse @ self._moment @ self._inverse

    def _normal(self, cells: IntArray, weights: FloatArray) -> FloatArray:
        """Return the normal matrix of weighted ``cells`` (N, C), by their departures where those are few."""
        if self._weighted:
            rows = self._features.incidence(cells)[:, self._used]
            return np.asarray((rows.T @ rows.multiply(weights[:, None])).toarray())
        if not self._features.symmetric:
            blocks = (self._place[block] for block in self._features.ids_by_block(cells))
            by_departures = departures(blocks, len(self._used))
            if by_departures.sparse:
                return by_departures.pair_counts(weights)
        return normal_matrix(self._place[self._features.ids(cells)], weights, len(self._used))

    @property
    def mean_variance(self) -> float:
        """Mean variance of the predictions at the targets, in units of one measurement's noise."""
        return float(np.sum(self._inverse * self._moment))

    def choose(
        self, cells: IntArray, costs: FloatArray, k: int, criterion: str, min_gain: float = 0.0
    ) -> list[tuple[int, float]]:
        """Return up to ``k`` positions in ``cells`` (M, C) and by what share each lowers the mean variance.

        Ends early where no cell lowers it by the share ``min_gain`` any more.
        """
        if not self.affordable:
            return []
        quadratic, linear, row_of = self._forms(cells)
        free = np.ones(len(cells), dtype=bool)
        chosen: list[tuple[int, float]] = []
        mean, variance, loss = self.mean_variance, quadratic(self._inverse), quadratic(self._loss)
        for _ in range(min(k, len(cells))):
            drop = loss / (self._noise + variance)
            if np.max(drop, where=free, initial=0.0) < min_gain * mean:
                break
            score = (drop if criterion == "V" else np.log1p(variance / self._noise)) / costs
            best = int(np.argmax(np.where(free, score, -np.inf)))
            chosen.append((best, float(drop[best]) / mean))
            free[best] = False
            mean -= float(drop[best])
            # What one more cell changes at all others, by two products with vectors (Sherman-Morrison).
            u, v, s, q = self._add(row_of(best))
            at_u = linear(u)
            variance = np.maximum(variance - at_u**2 / s, 0.0)
            loss = np.maximum(loss - 2 * at_u * linear(v) / s + at_u**2 * (q / s**2), 0.0)
        return chosen

    def _forms(self, cells: IntArray) -> tuple[Form, Form, Callable[[int], FloatArray]]:
        """Return x' M x at each cell, (K, K) -> (M,), x' u, (K,) -> (M,), and what gives the row x (K,) of one cell."""
        if self._weighted:
            weights = self._features.incidence(cells)[:, self._used]
            return (
                lambda matrix: np.asarray(weights.multiply(weights @ matrix).sum(axis=1)).reshape(-1),
                lambda vector: np.asarray(weights @ vector),
                lambda cell: np.asarray(weights[[cell]].toarray()[0]),
            )
        ids = self._place[self._features.ids(cells)]
        rows = departures(ids.T, len(self._used)) if not self._features.symmetric else None
        return (
            rows.quadratic if rows is not None and rows.sparse else lambda matrix: quadratic_form(matrix, ids),
            lambda vector: np.asarray(vector[ids].sum(axis=1)),
            lambda cell: np.bincount(ids[cell], minlength=len(self._used)).astype(float),
        )

    def _add(self, row: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
        """Add one cell to the information matrix (Sherman-Morrison), update the variance it leaves; return by what."""
        u, v = self._inverse @ row, self._loss @ row
        s, q = self._noise + float(row @ u), float(row @ v)
        self._inverse -= np.outer(u, u / s)
        # Both halves of the sum over (u, v) at once: w u' and its mirror image.
        half = np.outer(v / s - u * (q / (2 * s**2)), u)
        self._loss -= half + half.T
        return u, v, s, q


def _generalized_inverse(gram: FloatArray) -> FloatArray:
    """Invert the largest independent block and leave the rest zero: determined cells have the same variance in any."""
    from scipy.linalg.lapack import dpstrf

    scale = 1 / np.sqrt(np.diag(gram))
    scaled = gram * scale[:, None] * scale  # with weights the entries differ by orders of magnitude
    _, pivots, rank, _ = dpstrf(scaled, lower=1, tol=MIN_VARIANCE_PIVOT)
    independent = np.sort(pivots[:rank] - 1)
    result = np.zeros_like(gram)
    result[np.ix_(independent, independent)] = np.linalg.inv(scaled[np.ix_(independent, independent)])
    return np.asarray(result * scale[:, None] * scale)
