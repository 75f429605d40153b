"""Variance components of the seen cells of a design: which levels are numbers, and which cells are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.design.design import Design
from recombine.design.observed import Observed
from recombine.tables.numbers import is_number
from recombine.theory.components.fit import MAX_COVARIANCE_CELLS, MAX_SMALL_CELLS, ComponentsFit, fit_components
from recombine.theory.components.scales import SCALES, OutcomeScale
from recombine.theory.components.screening import allowed_terms
from recombine.theory.components.sparse.solver import MAX_DENSE_COLUMNS

#: Seconds that components may take beside the rest of an audit.
MAX_SECONDS_FITTED = 1.5
#: Columns of a curve over many levels.
CURVE_COLUMNS = 25
#: Seconds of one step of work, as measured on one core: by cubed cells and by covariances of cells, for values by
#: squared cells, by cubed columns, by cells and factors, by cells and columns, by cells in iterations.
DENSE_FIT_SECONDS, COVARIANCE_SECONDS, DENSE_VALUE_SECONDS = 2.5e-10, 7e-9, 1.2e-10
COLUMN_SECONDS, CELL_SECONDS, PRODUCT_SECONDS, ITERATION_SECONDS = 1e-9, 1e-6, 1e-7, 2e-4


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


def level_places(design: Design) -> list[Sequence[object]]:
    """Return the levels of each factor as `fit_values` takes them: those of ordered factors by their places."""
    return [list(map(float, factor.places)) if factor.on_scale else factor.levels for factor in design.factors]


def fit_values(
    design: Design,
    levels: Sequence[Sequence[object]],
    features: Mapping[int, FloatArray] | None = None,
    order: int = 2,
    curved: bool = True,
    scales: Sequence[OutcomeScale] = SCALES,
) -> ComponentsFit:
    """Fit variance components to the training cells of a design with an outcome.

    ``levels`` of each factor, in the order of their codes: numbers among them lie on a line. ``features`` are
    descriptors (L, D) of levels by factor, a row of NaN for a level without, in the same order; by default those of
    the design. Sets of at most ``order`` factors have components, and numbers are labels unless ``curved``.

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = np.indices((5, 4)).reshape(2, -1).T
    >>> design = Design.from_cells(cells[:-1], outcome=10.0 * cells[:-1, 0] + cells[:-1, 1], sizes=(5, 4))
    >>> fit_values(design, ["abcde", "wxyz"]).predict(cells[-1:]).mean.round(3)
    array([43.])
    """
    numbers = {factor: level_coordinates(each) for factor, each in enumerate(levels) if curved}
    coordinates = {factor: line for factor, line in numbers.items() if line is not None}
    spread, freedom = (values[design.train] for values in design.observed.replicates)
    described = design_features(design, levels) if features is None else features
    # What is said of levels that no seen cell has comes after the fit, which does not need it.
    sizes = {factor: int(design.seen[:, factor].max()) + 1 for factor in described}
    lines = {factor: np.split(line, [sizes.get(factor, len(line))]) for factor, line in coordinates.items()}
    tables = {factor: np.split(table, [sizes[factor]]) for factor, table in described.items()}
    fit = fit_components(
        design.seen,
        design.observed.seen_outcome,
        design.precision[design.train],
        coordinates={factor: line for factor, (line, _) in lines.items()},
        features={factor: table for factor, (table, _) in tables.items()},
        symmetric=design.symmetric,
        replicates=(spread, freedom) if freedom.any() else None,
        order=order,
        scales=scales,
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


def fit_affordable(design: Design, listed: int = 0) -> ComponentsFit | None:
    """Fit components to a design, those of curves and pairs too if seconds allow; None where even fewer take too long.

    ``listed`` cells are to get a value.
    """
    if len(design.seen) < 2:
        return None
    at_once = tuple(scale for scale in SCALES if scale.rounds == 1)
    for (order, curved), scales in product(((2, True), (2, False), (1, False)), (SCALES, at_once)):
        if seconds_of(design, order, listed, curved, scales) <= MAX_SECONDS_FITTED:
            return fit_values(design, level_places(design), order=order, curved=curved, scales=scales)
    return None


def seconds_of(
    design: Design,
    order: int,
    listed: int = 0,
    curved: bool = True,
    scales: Sequence[OutcomeScale] = SCALES,
) -> float:
    """Estimate the seconds that components of sets of at most ``order`` factors take, with values of listed cells.

    Examples
    --------
    >>> cells = np.indices((9, 8, 7)).reshape(3, -1).T
    >>> design = Design.from_cells(cells, outcome=cells.sum(axis=1) - 0.5)
    >>> seconds_of(design, 1) < seconds_of(design, 2) < 1
    True
    """
    cells, factors = len(design.seen), len(design.sizes)
    sets = [chosen for size in range(1, order + 1) for chosen in combinations(design.sizes, size)]
    columns = [min(cells, product_size(chosen)) for chosen in sets]
    numeric = [len(each) for each in level_places(design) if curved and level_coordinates(each) is not None]
    # A line and a curve by themselves and within every level of every other factor.
    curves = sum((1 + min(size, CURVE_COLUMNS)) * (1 + sum(design.sizes) - size) for size in numeric)
    terms, remaining = len(sets) + 2 * len(numeric) * factors, sum(columns) - max(columns) + curves
    outcome, counts = design.observed.seen_outcome, design.precision[design.train]
    fits = sum(scale.rounds for scale in scales if scale.fits(outcome, counts))
    if design.symmetric and cells > MAX_COVARIANCE_CELLS:
        return float("inf")
    if cells <= MAX_COVARIANCE_CELLS and (design.symmetric or cells <= MAX_SMALL_CELLS or remaining > cells):
        terms = min(terms, allowed_terms(cells))
        images = np.prod([float(len(group)) ** 2 for group in design.symmetric])
        fit = fits * terms * (DENSE_FIT_SECONDS * cells**3 + images * COVARIANCE_SECONDS * cells**2)
        return float(fit + listed * cells * (DENSE_VALUE_SECONDS * cells + terms * images * COVARIANCE_SECONDS))
    if order == 1:
        return float(fits * (COLUMN_SECONDS * remaining**3 + CELL_SECONDS * cells * factors))
    if remaining > MAX_DENSE_COLUMNS:
        return fits * ITERATION_SECONDS * (remaining + cells)
    return float(fits * (COLUMN_SECONDS * remaining**3 + PRODUCT_SECONDS * cells * remaining))
