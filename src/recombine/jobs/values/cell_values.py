"""Variance components of the seen cells of a design: which levels are numbers, and which cells are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.design.design import Design
from recombine.design.observed import Observed
from recombine.tables.numbers import is_number
from recombine.theory.components.fit import ComponentsFit, fit_components

if TYPE_CHECKING:
    from recombine.cells.arrays import FloatArray, IntArray


def level_coordinates(levels: Sequence[object]) -> FloatArray | None:
    """Return levels as numbers (L,), or None where one is not a number.

    Examples
    --------
    >>> level_coordinates(["0.5", "2", "1e3"])
    array([5.e-01, 2.e+00, 1.e+03])
    >>> level_coordinates(["low", "2"]) is None
    True
    """
    texts = [str(level) for level in levels if not isinstance(level, bool)]
    if not texts or len(texts) < len(levels) or not all(map(is_number, texts)):
        return None
    numbers = np.array(texts, dtype=float)
    return numbers if np.isfinite(numbers).all() else None


def weighted_design(
    cells: IntArray, outcome: FloatArray, sizes: Sequence[int], weights: FloatArray | None = None
) -> Design:
    """Return the design of rows (N, C) with outcomes (N,), each worth as many measurements as ``weights`` (N,) say.

    Examples
    --------
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [0, 0]])
    >>> weighted_design(rows, np.array([1.0, 2.0, 3.0, 4.0]), (2, 2), np.array([1.0, 1.0, 1.0, 2.0])).outcome
    array([3., 2., 3.])
    """
    design = Design.from_cells(cells, outcome, sizes=sizes)
    if weights is None:
        return design
    rows = np.ones(len(cells), dtype=np.int64)
    return replace(design, observed=Observed(cells, rows.astype(bool), rows, weights, outcome).merged())


def fit_values(
    design: Design, levels: Sequence[Sequence[object]], features: Mapping[int, FloatArray] | None = None
) -> ComponentsFit:
    """Fit variance components to the training cells of a design with an outcome.

    ``levels`` of each factor, in the order of their codes: numbers among them lie on a line. ``features`` are
    descriptors (L, D) of levels by factor, a row of NaN for a level without, in the same order.

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = np.indices((5, 4)).reshape(2, -1).T
    >>> design = Design.from_cells(cells[:-1], outcome=10.0 * cells[:-1, 0] + cells[:-1, 1], sizes=(5, 4))
    >>> fit_values(design, ["abcde", "wxyz"]).predict(cells[-1:]).mean.round(3)
    array([43.])
    """
    assert design.outcome is not None
    coordinates = {factor: line for factor, each in enumerate(levels) if (line := level_coordinates(each)) is not None}
    train, observed = design.train, design.observed
    replicates = None
    if observed.spread is not None and observed.freedom is not None and observed.freedom[train].any():
        replicates = observed.spread[train], observed.freedom[train]
    means, counts = design.outcome[train], design.precision[train]
    given: dict[str, Any] = {"coordinates": coordinates, "features": features, "replicates": replicates}
    return fit_components(design.seen, means, counts, **given)
