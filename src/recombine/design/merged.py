"""One row per cell: repeated measurements pooled into a mean, a sum of squares and its degrees of freedom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.conjunctions import distinct

if TYPE_CHECKING:
    from recombine.design.design import Design


def merged(design: Design) -> Design:
    """Merge rows of the same cell and split (repeated measurements, or (a, b) and (b, a) of symmetric factors)."""
    keyed = np.column_stack([design.cells, design.train.astype(np.int64)])
    rows, where = distinct(keyed)
    if len(rows) == len(keyed) and np.array_equal(where, np.arange(len(rows))):
        return design

    def total(values: npt.NDArray[Any]) -> FloatArray:
        return np.bincount(where, weights=values, minlength=len(rows)).astype(np.float64)

    weight = total(design.weight)
    mean = spread = freedom = None
    if design.outcome is not None:
        mean = total(design.weight * design.outcome) / weight
        within = design.spread if design.spread is not None else np.zeros(len(keyed))
        degrees = design.freedom if design.freedom is not None else np.zeros(len(keyed))
        spread = total(within) + total(design.weight * (design.outcome - mean[where]) ** 2)
        freedom = total(degrees) + np.bincount(where, minlength=len(rows)) - 1.0
    return replace(
        design,
        cells=rows[:, :-1],
        train=rows[:, -1].astype(bool),
        rows=total(design.rows).astype(np.int64),
        weight=weight,
        outcome=mean,
        spread=spread,
        freedom=freedom,
    )
