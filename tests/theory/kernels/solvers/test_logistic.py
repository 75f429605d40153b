"""Logistic regression with a kernel: against scikit-learn, and at its limit."""

from __future__ import annotations

import numpy as np
import pytest

from known_tasks import context_dependence
from recombine.errors import InputError
from recombine.theory.kernels import KernelClassifier, OverlapKernel
from recombine.theory.kernels.solvers import logistic_dual


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("price", [0.1, 1.0, 100.0])
def test_it_is_the_minimum_that_scikit_learn_finds(price: float, intercept: bool) -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    features = rng.standard_normal((30, 4))
    signs = np.where(features[:, 0] + 0.5 * rng.standard_normal(30) > 0, 1.0, -1.0)
    found = logistic_dual(features @ features.T, signs, price, intercept)
    other = LogisticRegression(C=price, fit_intercept=intercept, tol=1e-12, max_iter=10_000).fit(features, signs)
    assert np.abs(features.T @ found.value - other.coef_[0]).max() < 1e-6
    assert found.intercept == pytest.approx(float(np.ravel(other.intercept_)[0]), abs=1e-6)


def test_a_high_price_ends_at_the_hard_margin() -> None:
    task, kernel = context_dependence(3), OverlapKernel.relu(1, 3)
    seen, target = task.cells[task.train], task.target[task.train]
    ratios = []
    for model in (KernelClassifier(kernel), KernelClassifier(kernel, loss="logistic", C=1e8)):
        margin = model.fit(seen, target).decision_function(task.cells) * task.target
        ratios.append(margin[task.test].min() / margin[task.train].min())
    assert ratios[1] == pytest.approx(ratios[0], abs=0.005)


def test_without_a_price_there_is_no_minimum() -> None:
    with pytest.raises(InputError, match="give a finite C, or its limit"):
        KernelClassifier(loss="logistic").fit([[0, 0], [1, 1]], [1, -1])


def test_levels_may_be_words() -> None:
    for cells in (np.array([["a", "b"], ["c", "b"]]), np.array([["a", 1], ["c", 2]], dtype=object)):
        model = KernelClassifier(loss="logistic", C=1.0).fit(cells, [1, -1])
        assert model.predict(cells).tolist() == [1, -1]
