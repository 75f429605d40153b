"""Variance components of the seen cells of a design: which levels are numbers, and which cells are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

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
    descriptors (L, D) of levels by factor, a row of NaN for a level without, in the same order; by default those of
    the design.

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
    described = design_features(design, levels) if features is None else features
    # What is said of levels that no seen cell has comes after the fit, which does not need it.
    sizes = {factor: int(design.seen[:, factor].max()) + 1 for factor in described}
    lines = {factor: np.split(line, [sizes.get(factor, len(line))]) for factor, line in coordinates.items()}
    tables = {factor: np.split(table, [sizes[factor]]) for factor, table in described.items()}
    fit = fit_components(
        design.seen,
        means,
        counts,
        coordinates={factor: line for factor, (line, _) in lines.items()},
        features={factor: table for factor, (table, _) in tables.items()},
        replicates=replicates,
    )
    further = {factor: line for factor, (_, line) in lines.items() if len(line)}
    later = {factor: table for factor, (_, table) in tables.items() if len(table)}
    return fit.with_levels(further, later) if further or later else fit


def design_features(design: Design, levels: Sequence[Sequence[object]]) -> dict[int, FloatArray]:
    """Return the descriptors (L, D) of the levels of a design by factor, also of factors interchangeable with it."""
    return {
        twin: features.of(levels[twin])
        for name, features in design.reading.level_features.items()
        for twin in design.space.twins(design.names.index(name))
    }
