"""Information in bits, from counts: what a factor tells about a prediction, alone or beyond another factor.

Estimates from counts are biased upwards, corrected or not: `independence` sets them against their null.
"""

from __future__ import annotations

import math

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.measures.dependence.contingency import Contingency


def information_of(table: Contingency, *, corrected: bool = True) -> float:
    """Run `conditional_information` on counts: c log c over entries, minus both margins, plus strata, by rows.

    Examples
    --------
    >>> information_of(Contingency.of([0, 1], [0, 1], [0, 0], counts=[500, 500]), corrected=False)
    1.0
    """
    pairs, levels = table.predictions[2], table.factors[2]
    gain = count_logs(table.counts) - count_logs(pairs) - count_logs(levels) + count_logs(table.sizes)
    if corrected:
        gain += (len(pairs) + len(levels) - len(table.counts) - len(table.sizes)) / (2 * math.log(2))
    return gain / table.rows


def entropy_of(table: Contingency) -> float:
    """Return H(prediction | stratum) in bits (plug-in); exactly 0 where each stratum has one prediction.

    Examples
    --------
    >>> entropy_of(Contingency.of([0, 1, 1], [0, 0, 0], [0, 0, 1], counts=[2, 2, 4]))
    0.5
    """
    if len(table.predictions[2]) == len(table.sizes):
        return 0.0
    return (count_logs(table.sizes) - count_logs(table.predictions[2])) / table.rows


def count_logs(counts: IntArray) -> float:
    """Return the sum of c log2 c over ``counts`` (M,), all at least 1.

    Examples
    --------
    >>> count_logs(np.array([1, 2, 4]))
    10.0
    """
    return float((counts * np.log2(counts)).sum())
