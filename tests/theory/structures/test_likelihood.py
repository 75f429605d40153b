"""Maximum-likelihood fits: closed forms, statsmodels, and limits of penalised fits."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from recombine.cells import every_cell
from recombine.theory.structures import Limit, fit_likelihood, fitted_effects

needs_statsmodels = pytest.mark.skipif(
    importlib.util.find_spec("statsmodels") is None, reason="compares with statsmodels"
)


def overlapping(family: str, seed: int, sizes=(3, 2, 4), repeats: int = 15) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    cells = np.repeat(every_cell(sizes), repeats, axis=0)
    sums = sum(rng.normal(0, 0.6, (size, 3))[cells[:, factor]] for factor, size in enumerate(sizes))
    if family == "log":
        return cells, rng.poisson(np.exp(sums[:, 0] + 0.5))
    used = 2 if family == "logit" else 3
    return cells, (sums[:, :used] + rng.gumbel(size=(len(cells), used))).argmax(axis=1)


def treatment(cells: np.ndarray) -> np.ndarray:
    columns = [np.ones(len(cells))]
    for factor in range(cells.shape[1]):
        columns += [cells[:, factor] == level for level in range(1, cells[:, factor].max() + 1)]
    return np.column_stack(columns).astype(float)


def test_independence_is_the_product_of_the_margins() -> None:
    table = np.array([[12, 7, 3], [5, 9, 20]])
    fit = fit_likelihood(every_cell((2, 3)), table.reshape(-1), "log")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    np.testing.assert_allclose(fit.predict(every_cell((2, 3))).reshape(2, 3), expected, rtol=1e-10)


@pytest.mark.parametrize("family", ["logit", "softmax"])
def test_one_factor_gives_shares(family: str) -> None:
    cells, y = [[0]] * 4 + [[1]] * 5, [0, 0, 0, 1, 0, 1, 1, 1, 1]
    fit = fit_likelihood(cells, y, family)
    shares = np.array([1 / 4, 4 / 5])
    predicted = fit.predict([[0], [1]])
    np.testing.assert_allclose(predicted if family == "logit" else predicted[:, 1], shares, rtol=1e-10)
    errors = fit.standard_errors([[0], [1]])
    expected = np.sqrt(shares * (1 - shares) / [4, 5])
    np.testing.assert_allclose(errors if family == "logit" else errors[:, 1], expected, rtol=1e-8)


def test_odds_ratio_and_its_standard_error() -> None:
    """2 x 2: the log odds ratio and the square root of the sum of inverse counts (Woolf)."""
    counts = np.array([13.0, 4.0, 6.0, 21.0])
    fit = fit_likelihood([[0], [0], [1], [1]], [0, 1, 0, 1], weights=counts)
    slope = fitted_effects(fit)[1]
    assert slope.estimate == pytest.approx(np.log(13 * 21 / (4 * 6)))
    assert slope.error == pytest.approx(np.sqrt((1 / counts).sum()))


@needs_statsmodels
@pytest.mark.parametrize("family", ["logit", "log"])
@pytest.mark.parametrize("seed", range(3))
def test_statsmodels_agrees(family: str, seed: int) -> None:
    import statsmodels.api as sm

    cells, y = overlapping(family, seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(cells))
    kind = sm.families.Binomial() if family == "logit" else sm.families.Poisson()
    theirs = sm.GLM(y, treatment(cells), family=kind, freq_weights=weights).fit(tol=1e-14)
    ours = fit_likelihood(cells, y, family, weights=weights)
    effects = fitted_effects(ours)
    np.testing.assert_allclose([one.estimate for one in effects], theirs.params, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose([one.error for one in effects], theirs.bse, rtol=1e-5)
    grid = every_cell((3, 2, 4))
    told = theirs.get_prediction(treatment(grid))
    np.testing.assert_allclose(ours.predict(grid), told.predicted, rtol=1e-6)
    np.testing.assert_allclose(ours.standard_errors(grid), told.se, rtol=1e-5)


@needs_statsmodels
@pytest.mark.parametrize("seed", range(2))
def test_statsmodels_agrees_on_classes(seed: int) -> None:
    import statsmodels.api as sm

    cells, y = overlapping("softmax", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sm.MNLogit(y, treatment(cells)).fit(disp=0, method="newton", gtol=1e-12, maxiter=200)
    ours = fit_likelihood(cells, y, "softmax")
    effects = fitted_effects(ours)
    np.testing.assert_allclose([one.estimate for one in effects], np.asarray(theirs.params).T.reshape(-1), rtol=1e-5)
    np.testing.assert_allclose([one.error for one in effects], np.asarray(theirs.bse).T.reshape(-1), rtol=1e-4)
    assert ours.log_likelihood == pytest.approx(theirs.llf)
    np.testing.assert_allclose(ours.predict(cells), theirs.predict(treatment(cells)), rtol=1e-5)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))])
@pytest.mark.parametrize("family", ["logit", "softmax", "log"])
def test_iteration_on_the_sparse_design_gives_the_same(family: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells, y = overlapping(family, seed, repeats=8)
    dense = fit_likelihood(cells, y, family)
    expected, errors = dense.predict(cells[:40:8]), dense.standard_errors(cells[:40:8])
    monkeypatch.setattr(_module(), "DENSE_VALUES", 0)
    sparse = fit_likelihood(cells, y, family)
    np.testing.assert_allclose(sparse.predict(cells[:40:8]), expected, rtol=1e-9)
    np.testing.assert_allclose(sparse.standard_errors(cells[:40:8]), errors, rtol=1e-7)
    assert sparse.log_likelihood == pytest.approx(dense.log_likelihood, rel=1e-12)


def _module():
    import importlib

    return importlib.import_module("recombine.theory.structures.likelihood")


@pytest.mark.parametrize("family", ["logit", "softmax", "log"])
@pytest.mark.parametrize("seed", range(10))
def test_limits_are_those_of_fits_with_a_vanishing_penalty(family: str, seed: int) -> None:
    """Penalised fits exist always. As the penalty vanishes, they tend to ours wherever the data determine the value.

    They are pulled towards two different places; what is determined must not depend on which.
    """
    rng = np.random.default_rng([seed, 7])
    grid = every_cell((3, 3))
    seen = grid[rng.random(9) < 0.7]
    seen = seen if len(seen) > 2 else grid[:4]
    if family == "log":
        cells, y = seen, rng.poisson(1.0, len(seen))
    else:
        cells = np.repeat(seen, rng.integers(1, 4, len(seen)), axis=0)
        y = rng.integers(0, 2 if family == "logit" else 3, len(cells))
    fit = fit_likelihood(cells, y, family, sizes=(3, 3), **({"classes": 3} if family == "softmax" else {}))
    limits = fit.existence.limits_of(grid)
    predicted = fit.predict(grid)
    assert np.isnan(predicted[limits == Limit.OPEN]).all()
    known = (limits != Limit.OPEN) & (limits != Limit.INFINITE)
    assert np.isfinite(predicted[known]).all()
    for centre in (0.0, rng.normal(0, 1.0, (6, fit.existence.outcomes.classes))):
        penalised = _penalised(cells, y, family, grid, centre)
        np.testing.assert_allclose(penalised[known], predicted[known], atol=4e-3)
        assert (penalised[limits == Limit.INFINITE] > 50).all()


def _penalised(cells, y, family: str, grid, centre) -> np.ndarray:
    design = np.eye(3)
    X = np.hstack([design[cells[:, 0]], design[cells[:, 1]]])
    Z = np.hstack([design[grid[:, 0]], design[grid[:, 1]]])
    classes = {"logit": 2, "softmax": 3, "log": 1}[family]
    start = np.zeros((6, classes)) + centre

    def loss(flat: np.ndarray, size: float) -> tuple[float, np.ndarray]:
        table = flat.reshape(6, classes)
        sums = X @ table
        if family == "log":
            mean = np.exp(np.minimum(sums[:, 0], 50))
            value, slope = (mean - y * sums[:, 0]).sum(), X.T @ (mean - y)[:, None]
        else:
            top = np.logaddexp.reduce(sums, axis=1)
            value = (top - sums[np.arange(len(y)), y]).sum()
            slope = X.T @ (np.exp(sums - top[:, None]) - np.eye(classes)[y])
        away = table - start
        return value + size * (away**2).sum() / 2, (slope + size * away).reshape(-1)

    found = start.reshape(-1)
    for size in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        options = {"maxiter": 5000, "maxfun": 20000, "ftol": 0, "gtol": 1e-10, "maxcor": 30}
        found = minimize(loss, found, args=(size,), jac=True, method="L-BFGS-B", options=options).x
    sums = Z @ found.reshape(6, classes)
    if family == "log":
        return np.exp(np.minimum(sums[:, 0], 50))
    chances = np.exp(sums - np.logaddexp.reduce(sums, axis=1)[:, None])
    return chances[:, 1] if family == "logit" else chances


def test_the_fit_on_the_face_leaves_separated_rows_out() -> None:
    """Quasi-complete separation by the second factor: the first is fitted as if the separated level were not there."""
    cells = np.array([[0, 0]] * 5 + [[1, 0]] * 5 + [[0, 1]] * 3)
    y = np.array([0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1])
    fit = fit_likelihood(cells, y)
    assert fit.existence.separation == "quasi-complete"
    np.testing.assert_allclose(fit.predict([[0, 0], [1, 0], [0, 1], [1, 1]]), [0.6, 0.8, 1, 1], rtol=1e-9)
    alone = fit_likelihood(cells[:10], y[:10])
    assert fit.log_likelihood == pytest.approx(alone.log_likelihood)
    assert fitted_effects(fit)[1].estimate == pytest.approx(fitted_effects(alone)[1].estimate)
    assert fitted_effects(fit)[1].error == pytest.approx(fitted_effects(alone)[1].error)
    assert np.isnan(fit.standard_errors([[0, 1]])).all()
    assert fit.fitted.sum(axis=1) == pytest.approx(np.ones(3))


def test_complete_separation_is_fitted_perfectly() -> None:
    fit = fit_likelihood(every_cell((2, 3)), [0, 0, 0, 1, 1, 1])
    assert fit.log_likelihood == 0
    assert fit.predict([[0, 2], [1, 0]]).tolist() == [0.0, 1.0]
    nothing = fit_likelihood([[0], [1]], [0, 0], "log")
    assert nothing.predict([[0], [1]]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("family", ["logit", "softmax", "log"])
def test_fits_reproduce_the_margins(family: str) -> None:
    """The score equations, also on the face: observed and expected totals of each level agree."""
    rng = np.random.default_rng(3)
    cells = np.repeat(every_cell((4, 3)), 2, axis=0)
    y = rng.poisson(0.6, len(cells)) if family == "log" else rng.integers(0, 2, len(cells)) * (cells[:, 0] > 0)
    fit = fit_likelihood(cells, y, family)
    outcomes = fit.existence.outcomes
    exposure = outcomes.exposure[:, None]
    for factor, size in enumerate((4, 3)):
        for level in range(size):
            at = outcomes.cells[:, factor] == level
            np.testing.assert_allclose((fit.fitted * exposure)[at].sum(0), outcomes.totals[at].sum(0), atol=1e-6)


def test_large_counts_and_exposures() -> None:
    fit = fit_likelihood([[0], [1]], [2e6, 5e3], "log", weights=[1e3, 1e-6])
    np.testing.assert_allclose(fit.predict([[0], [1]]), [2e6, 5e3], rtol=1e-9)


@pytest.mark.parametrize(("family", "shape"), [("logit", (0,)), ("softmax", (0, 3)), ("log", (0,))])
def test_no_cells_have_no_chances(family: str, shape: tuple[int, ...]) -> None:
    fit = fit_likelihood(
        [[0], [0], [0], [1], [1], [1]], [0, 1, 2, 0, 1, 2] if shape[1:] else [0, 1, 1, 0, 0, 1], family
    )
    none = np.zeros((0, 1), dtype=int)
    assert fit.predict(none).shape == shape
    assert fit.standard_errors(none).shape == shape
