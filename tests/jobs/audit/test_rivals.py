"""The model comparison: verdicts split the errors, and a sum is found by the model that adds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from recombine.cells.conjunctions import every_cell
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.audit.rivals import RIDGES, TUNING_FOLDS, WIDTHS, compare_models, fit_tuned_ridge
from recombine.jobs.limits import AUDIT_LIMITS


@pytest.fixture(scope="module")
def compared():
    generator = np.random.default_rng(0)
    cells = every_cell((7, 7))
    effects = 10 * generator.standard_normal((2, 7))
    outcome = effects[0][cells[:, 0]] + effects[1][cells[:, 1]]
    return compare_models(Design.from_cells(cells, outcome), shares=(0.35,), draws=2), outcome


def test_every_model_is_scored_on_the_same_cells(compared):
    table, _ = compared
    assert {"additive least squares", "random forest", "RBF kernel ridge", "neural network (MLP)"} <= set(
        table["model"]
    )
    for word in ("determined", "disconnected", "unseen level"):
        assert len(set(table[f"{word} cells"].tolist())) == 1
    held_out = sum(table[f"{word} cells"][0] for word in ("determined", "disconnected", "unseen level"))
    assert 0 < held_out < 2 * 49


def test_additive_least_squares_is_exact_where_determined_and_lost_elsewhere(compared):
    table, outcome = compared
    errors = {row["model"]: row for row in table.rows()}
    additive = errors.pop("additive least squares")
    assert additive["determined"] < 1e-9
    assert additive["disconnected"] > 1.0 or np.isnan(additive["disconnected"])
    assert all(row["determined"] > 1.0 for row in errors.values())
    assert all(row["determined"] < 3 * outcome.std() for row in errors.values())


def test_tiny_tables_are_compared_where_possible():
    table = compare_models(Design.from_cells([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0]), draws=3)
    assert table.columns[:2] == ["share", "model"]


def test_comparing_needs_an_outcome():
    with pytest.raises(InputError, match="needs an outcome"):
        compare_models(Design.from_cells([[0, 0], [1, 1]]))


@pytest.mark.slow
def test_of_large_designs_models_see_all_cells_of_some_levels():
    cells = every_cell((900, 4))
    table = compare_models(Design.from_cells(cells, cells.sum(axis=1)), shares=(0.05,), draws=1)
    (shown,) = set(table["cells"].tolist())
    assert AUDIT_LIMITS.max_cells_of_models / 2 <= shown <= AUDIT_LIMITS.max_cells_of_models
    assert shown % 4 == 0  # levels of the large factor go, and not single cells
    few = compare_models(Design.from_cells(cells[:40], cells[:40].sum(axis=1)), shares=(0.5,), draws=1, max_cells=30)
    assert set(few["cells"].tolist()) == {20}
    narrow = every_cell((4, 4, 4))
    drawn = compare_models(Design.from_cells(narrow, narrow.sum(axis=1)), shares=(0.5,), draws=1, max_cells=30)
    assert set(drawn["cells"].tolist()) == {30}


@pytest.mark.parametrize("rows", [3, 20, 61])
def test_the_tuned_ridge_is_the_one_that_a_grid_search_picks(rows):
    generator = np.random.default_rng(rows)
    inputs = (generator.random((rows, 12)) < 0.3).astype(float)
    values = inputs @ generator.standard_normal(12) + generator.standard_normal(rows)
    tried = {"alpha": RIDGES, "gamma": WIDTHS}
    searched = GridSearchCV(KernelRidge(kernel="rbf"), tried, cv=TUNING_FOLDS, scoring="neg_mean_squared_error")
    tuned = fit_tuned_ridge(inputs, values)
    assert searched.fit(inputs, values).best_params_ == {"alpha": tuned.alpha, "gamma": tuned.gamma}
    np.testing.assert_allclose(tuned.predict(inputs), searched.predict(inputs))
