"""Errors of coefficients and amounts, beside refits by hand to the same redrawn cells."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.jobs.score import Regressors
from recombine.jobs.score.attribution import design_matrix
from recombine.jobs.score.regression import BootstrapErrors, RidgeRegression

DRAWS = 60


def centred(columns: np.ndarray, classes: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return columns less their means in the rows that are there, one mean per class."""
    columns, weights = columns.copy(), np.ones(len(columns)) if weights is None else weights
    for place in range(classes):
        mine = columns[:, place] != 0
        columns[mine, classes:] -= np.average(columns[mine, classes:], axis=0, weights=weights[mine])
    return columns


@pytest.mark.parametrize("classes", [1, 2])
def test_errors_are_those_of_refits_to_redrawn_cells(classes: int) -> None:
    rng = np.random.default_rng(classes)
    cells, values = 25, 25 * classes
    effects, misleading = rng.normal(size=(2, values, 2))
    regressors = Regressors(effects.sum(axis=1), effects, misleading, np.zeros(values), ("a", "b"), per_cell=classes)
    predicted = regressors.determined - 0.4 * effects[:, 0] + rng.normal(size=values)
    departure = regressors.roots * (predicted - regressors.determined)
    error = departure + regressors.roots * rng.normal(size=values)
    regression = RidgeRegression.fit(design_matrix(regressors), regressors, predicted, departure)
    first_two = np.zeros((regression.columns.shape[1], 1))
    first_two[classes : classes + 2] = 1.0
    bootstrap = BootstrapErrors(regression, error, departure, first_two, DRAWS, seed=7)

    times = np.random.default_rng(7).multinomial(cells, np.full(cells, 1 / cells), size=DRAWS)
    coefficients, products, unexplained, removals = [], [], [], []
    for of_cells in times:
        rows = np.repeat(np.arange(values), np.repeat(of_cells, classes))
        columns, targets = centred(regression.columns[rows], classes), departure[rows]
        ridge_rows = np.diag(np.sqrt(len(rows) * regression.ridge))  # a ridge is what rows of zero targets would do
        fit = np.linalg.lstsq(
            np.vstack([columns, ridge_rows]), np.append(targets, np.zeros(len(ridge_rows))), rcond=None
        )[0]
        coefficients.append(fit)
        products.append(np.mean(columns * error[rows][:, None], axis=0) * fit)
        undone = error[rows] - columns @ (fit * first_two[:, 0])
        removals.append(np.mean(error[rows] ** 2) - np.mean(undone**2))
        unexplained.append(np.mean((targets - columns @ fit) * error[rows]))
    freedom = cells - classes - regression.varied.sum()
    correction = np.sqrt(cells / freedom)
    np.testing.assert_allclose(
        bootstrap.of_coefficients, correction * np.std(coefficients, axis=0)[classes:], rtol=1e-7
    )
    assert bootstrap.of_unexplained.error == pytest.approx(correction * np.std(unexplained), rel=1e-7)
    assert bootstrap.of_offset.error == pytest.approx(
        correction * np.sum(products, axis=1, where=np.arange(len(fit)) < classes).std(), rel=1e-7
    )
    assert bootstrap.of_removals[0].error == pytest.approx(correction * np.std(removals), rel=1e-7)
    both = np.array([True, True, *[False] * (len(fit) - classes - 2)])
    assert bootstrap.of_columns(both).error == pytest.approx(
        correction * np.std(np.array(products)[:, classes : classes + 2].sum(axis=1)), rel=1e-7
    )


@pytest.mark.parametrize("classes", [1, 2])
def test_the_influence_of_a_value_is_what_a_little_more_of_it_does(classes: int) -> None:
    rng = np.random.default_rng(classes)
    values = 30 * classes
    effects, misleading = rng.normal(size=(2, values, 2))
    regressors = Regressors(effects.sum(axis=1), effects, misleading, np.zeros(values), ("a", "b"), per_cell=classes)
    predicted = regressors.determined - 0.4 * effects[:, 0] + rng.normal(size=values)
    departure = regressors.roots * (predicted - regressors.determined)
    error = departure + regressors.roots * rng.normal(size=values)
    regression = RidgeRegression.fit(design_matrix(regressors), regressors, predicted, departure)
    chosen = np.zeros(regression.columns.shape[1])
    chosen[classes : classes + 2] = 1.0
    bootstrap = BootstrapErrors(regression, error, departure, chosen[:, None], 2, seed=0)

    def removal(weights: np.ndarray) -> float:
        columns = centred(regression.columns, classes, weights)
        ridge = weights.sum() * np.diag(regression.ridge)
        normal = columns.T @ (weights[:, None] * columns) + ridge
        undone = columns @ (chosen * np.linalg.solve(normal, columns.T @ (weights * departure)))
        return float(np.average(error**2 - (error - undone) ** 2, weights=weights))

    even = np.ones(values)
    by_hand = np.array([(removal(even + 1e-4 * row) - removal(even)) / 1e-4 * values for row in np.eye(values)])
    influence = bootstrap._influence_of_removal(chosen)
    assert influence - influence.mean() == pytest.approx(by_hand - by_hand.mean(), abs=0.02 * np.ptp(by_hand))
