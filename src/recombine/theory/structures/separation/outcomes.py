"""0/1 outcomes, classes and counts on cells, checked and gathered: one row per cell that was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import distinct
from recombine.checks import check_bounds, reals
from recombine.errors import InputError
from recombine.theory.structures.separation.families import FAMILIES, Family


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What was observed in each seen cell.

    Attributes
    ----------
    family : Family
    cells : IntArray, (N, C)
        The seen cells. With offsets a cell has one row per distinct offset.
    totals : FloatArray, (N, K)
        Observations of each class (two for logit: 0 and 1); for log one column, the sum of the counts.
    exposure : FloatArray, (N,)
        How many observations were made; for log, the sum of their exposures, exp(offset).
    offsets : FloatArray, (N,)
        For logit what is added to the sum of effects; zero otherwise.
    """

    family: Family
    cells: IntArray
    totals: FloatArray
    exposure: FloatArray
    offsets: FloatArray

    __repr__ = brief_repr

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
    offsets: npt.ArrayLike | None = None,
) -> Outcomes:
    """Check rows of cells (N, C) with outcomes (N,) and add up those of one cell; see `existence` for the arguments.

    Examples
    --------
    >>> found = gather_outcomes([[0, 0], [0, 0], [1, 0]], [1, 0, 1], weights=[3, 1, 2])
    >>> found.cells.tolist(), found.totals.tolist()
    ([[0, 0], [1, 0]], [[1.0, 3.0], [0.0, 2.0]])
    """
    kind = FAMILIES[family]
    codes = as_cells(cells)
    values, counted, shifts = _numbers(codes, y, weights, offsets)
    width = kind.count_classes(values, classes)
    if shifts.any() and not kind.takes_offsets:
        fitting = " and ".join(entry.name for entry in FAMILIES if entry.takes_offsets)
        raise InputError(f"offsets are for the families {fitting}; leave them out with {kind.name}")
    used = counted > 0
    codes, values, counted, shifts = codes[used], values[used], counted[used], shifts[used]
    if not len(codes):
        raise InputError("no row has a positive weight; give at least one observation")
    rows, inverse = distinct(_apart(codes, shifts) if kind.splits_by_offset else codes)
    sample = np.zeros(len(rows), dtype=np.int64)
    sample[inverse[::-1]] = np.arange(len(inverse))[::-1]
    totals, exposure = kind.gather(inverse, values, counted, shifts, (len(rows), width))
    return Outcomes(kind, codes[sample], totals, exposure, shifts[sample] * kind.splits_by_offset)


def _apart(codes: IntArray, shifts: FloatArray) -> IntArray:
    """Return the cells with a column that numbers their offsets."""
    return np.column_stack([codes, np.unique(shifts, return_inverse=True)[1].reshape(-1)])


def _numbers(
    codes: IntArray, y: npt.ArrayLike, weights: npt.ArrayLike | None, offsets: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    values = reals(y, "y")
    counted = np.ones(len(codes)) if weights is None else check_bounds(reals(weights, "weights"), "weights", at_least=0)
    shifts = np.zeros(len(codes)) if offsets is None else reals(offsets, "offsets")
    for name, array in (("y", values), ("weights", counted), ("offsets", shifts)):
        if array.shape != (len(codes),):
            raise InputError(f"{name} has shape {array.shape} but there are {len(codes)} cells; give one per row")
    return values, counted, shifts
