"""Undetermined cells grouped by what would determine them, kept up to date as cells are collected.

A cell's values under the null vectors of the seen cells form a vector. Measuring one cell determines just those whose
vectors are parallel to its own, so the groups of parallel vectors are all a plan needs. Two random null vectors tell
parallel from not by the ratio of their values. Collecting a cell leaves the null vectors that vanish on it (one column
operation), and groups only ever merge, so each later step works on one cell per group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.scaled import ScaledConjunctions
from recombine.theory.identification.elimination import modular_sum
from recombine.theory.identification.identify import Identification
from recombine.theory.identification.residues import PRIME, invert_residues, multiply_residues, subtract_residues
from recombine.theory.identification.scaled.routes import null_vectors_for

#: Null vectors drawn at a time: each collected cell uses one up, and floating-point ones lose digits as they go.
EXACT_VECTORS, FLOAT_VECTORS = 64, 6
#: Fewest vectors that tell parallel cells from others.
MIN_NULL_VECTORS = 2
#: Floating point: a value below the first is zero, and directions closer than the second (in radians) are one.
FLOAT_TOLERANCE, FLOAT_ANGLE = 1e-7, 1e-6


class Directions:
    """Groups of undetermined cells; measuring any cell of a group determines the whole group.

    Parameters
    ----------
    decided : Identification
        What is decided by the cells that are seen.
    cells : int array of shape (P, C)
        Unseen cells that they do not determine.
    weight, rank : int arrays of shape (P,)
        What each cell adds to the size of its group, and preference among the cells of a group, smallest first.
    picks : int
        How many will be collected at most.
    worth : float array of shape (P,), optional
        What it is worth to determine each cell; its weight by default.

    Attributes
    ----------
    exact : bool
        Whether groups are told apart in modular arithmetic.
    size, worth, offer : arrays of shape (G,)
        Total weight and worth of each group, and the smallest rank of a cell of it.

    Examples
    --------
    >>> from recombine.theory.identification import identify
    >>> decided = identify([[0, 0], [1, 1], [2, 2]])
    >>> cells = np.array([[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]])
    >>> groups = Directions(decided, cells, np.ones(6, dtype=int), np.arange(6), picks=2)
    >>> groups.size.tolist(), sorted(groups.offer.tolist())
    ([2, 2, 2], [0, 2, 4])
    >>> groups.collect(0)
    >>> groups.size.tolist(), groups.opened.tolist()
    ([4], [False, False, True, True, True, True])
    """

    def __init__(
        self,
        decided: Identification,
        cells: IntArray,
        weight: IntArray,
        rank: IntArray,
        picks: int,
        worth: FloatArray | None = None,
        seed: int = 0,
    ) -> None:
        features, seen, spanning = decided.features, decided.seen.cells, decided.null.spanning
        self._features, self._seen, self._cells = features, seen if spanning is None else seen[spanning], cells
        self._picks, self._seed = picks, seed
        # So far this only sets how many null vectors are drawn at a time.
        self.exact = decided.null.modulus is not None
        # With weights each cell is a column of its own: values are the same, only the table is larger.
        self._whole = isinstance(features, ScaledConjunctions)
        ids = np.arange(len(cells))[:, None] if self._whole else features.ids(cells)
        columns, ids = np.unique(ids, return_inverse=True)
        self._columns, self._ids = columns, ids.reshape(len(cells), -1)
        self._heads = np.arange(len(cells))
        self.size, self.offer = weight, rank
        self.worth = weight.astype(float) if worth is None else worth
        self._merges: list[IntArray] = []
        self._draw()
        self._regroup()

    @property
    def opened(self) -> BoolArray:
        """Which cells are still undetermined, shape (P,)."""
        label = np.arange(len(self._heads))
        # From the last merge back to the first, so that each step costs the groups there were rather than the cells.
        for merge in reversed(self._merges):
            label = np.append(label, -1)[merge]
        return np.asarray(label >= 0)

    def _draw(self) -> None:
        """Draw fresh null vectors of everything seen and collected, as values of the columns the cells use (U, r)."""
        count = max(min(self._picks, EXACT_VECTORS if self.exact else FLOAT_VECTORS), 0) + MIN_NULL_VECTORS
        vectors = null_vectors_for(self._features, self._seen, count, seed=self._seed)
        self.exact = vectors.modulus is not None
        self._table: npt.NDArray[Any]
        self._table = vectors.values(self._cells) if self._whole else vectors.look_up(self._columns)
        self._scale = np.ones(len(self._columns))
        if vectors.scale is not None and not self._whole:
            index = np.minimum(np.searchsorted(vectors.columns, self._columns), len(vectors.columns) - 1)
            matched = vectors.columns[index] == self._columns
            self._scale[matched] = vectors.scale[index[matched]]

    def collect(self, cell: int) -> None:
        """Measure cell number ``cell``: its group becomes determined, and groups that are now parallel merge."""
        self._seen = np.vstack([self._seen, self._cells[cell]])
        self._picks -= 1
        if self._table.shape[1] > MIN_NULL_VECTORS:
            self._restrict(self._values(self._ids[[cell]])[0])
        else:
            self._draw()
        self._regroup()

    def _values(self, ids: IntArray) -> npt.NDArray[Any]:
        """Return the null vectors' values at rows ``ids`` (n, S), shape (n, r)."""
        return modular_sum(self._table, ids) if self.exact else np.asarray(self._table[ids].sum(axis=1))

    def _restrict(self, values: npt.NDArray[Any]) -> None:
        """Keep the null vectors that vanish where they now take ``values`` (r,): one column pays for the others."""
        pivot = int(np.argmax(values != 0)) if self.exact else int(np.argmax(np.abs(values)))
        others_mask = np.arange(len(values)) != pivot
        column = self._table[:, [pivot]]
        if self.exact:
            ratio = multiply_residues(values[others_mask], invert_residues(values[[pivot]]))
            self._table = subtract_residues(self._table[:, others_mask], multiply_residues(column, ratio))
        else:
            self._table = self._table[:, others_mask] - column * (values[others_mask] / values[pivot])

    def _regroup(self) -> None:
        """Merge groups whose heads are parallel and drop those whose heads are determined."""
        ids = self._ids[self._heads]
        if self.exact:
            zero, keys = _exact_keys(modular_sum(self._table[:, :MIN_NULL_VECTORS], ids))
        else:
            length = np.sqrt((self._scale[ids] ** 2).sum(axis=1, keepdims=True))
            zero, keys = _float_keys(self._values(ids) / length)
        _, representatives, inverse = np.unique(keys, return_index=True, return_inverse=True)
        merge = np.full(len(ids), -1)
        merge[~zero] = inverse
        self._merges.append(merge)
        self._heads = self._heads[~zero][representatives]
        offer = np.full(len(representatives), np.iinfo(np.int64).max)
        np.minimum.at(offer, inverse, self.offer[~zero])
        self.size = np.bincount(inverse, self.size[~zero], minlength=len(representatives)).astype(np.int64)
        self.worth = np.bincount(inverse, self.worth[~zero], minlength=len(representatives))
        self.offer = offer


def _exact_keys(values: npt.NDArray[np.uint64]) -> tuple[BoolArray, npt.NDArray[Any]]:
    """Say which rows of residues (n, 2) vanish, and give the others' ratio (m,): equal if and only if parallel."""
    zero = np.asarray(~values.any(axis=1))
    first, second = values[~zero].T
    finite = second != 0
    keys = np.full(len(first), PRIME, dtype=np.uint64)
    keys[finite] = multiply_residues(first[finite], invert_residues(second[finite]))
    return zero, keys


def _float_keys(values: FloatArray) -> tuple[BoolArray, IntArray]:
    """Say which rows (n, r) vanish, and number the others (m,) by the angle of their first two values."""
    zero = np.abs(values).max(axis=1) < FLOAT_TOLERANCE
    angle = np.arctan2(values[~zero, 1], values[~zero, 0]) % np.pi
    order = np.argsort(angle, kind="stable")
    steps = np.diff(angle[order], prepend=angle[order][:1]) > FLOAT_ANGLE
    keys = np.empty(len(angle), dtype=np.int64)
    keys[order] = np.cumsum(steps)
    if len(angle) and angle.max() - angle.min() > np.pi - FLOAT_ANGLE:
        keys[keys == keys.max()] = 0  # just below pi and just above 0 are one direction
    return zero, keys
