"""The ladder on planted structures, its scores against cross-validation by hand, products against rank one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.errors import InputError, SolverError
from recombine.theory.structures import STRUCTURES, StructureData, StructureFit, fit_link, ladder, terms_of

GRID = np.indices((5, 5, 5, 5)).reshape(4, -1).T


def fit_structure(name: str, cells: np.ndarray, y: np.ndarray, counts: np.ndarray | None = None) -> StructureFit:
    return STRUCTURES[name].fit(StructureData(cells, y, counts=counts))


def planted(name: str, seed: int, noise: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=5)[GRID[:, factor]] for factor in range(4)]
    terms = terms_of(GRID, 2)
    deep = terms.matrix(GRID) @ (rng.normal(size=terms.columns) * np.where(terms.size == 2, 0.7, 1.0))
    truth = {
        "add": sum(parts),
        "log": np.exp(sum(parts) / 2),
        "multiplicative": np.prod(parts, axis=0),
        "link": np.tanh(sum(parts)),
        "pairs": deep,
        "link-pairs": np.tanh(1.5 * (deep - deep.mean()) / deep.std()),
    }[name]
    shaken = rng.normal(size=len(GRID))
    return np.asarray(truth * np.exp(noise / 2 * shaken) if name == "log" else truth + noise * truth.std() * shaken)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("add", "link-pairs", "log", "multiplicative", "pairs")]


@pytest.mark.parametrize("name", ["link", *SLOW])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_planted_structure_is_chosen(name: str, seed: int) -> None:
    found = ladder(GRID, planted(name, seed))
    assert found.chosen.name == name
    assert found.chosen.r2 > 0.95
    assert [rung.chosen for rung in found.rungs].count(True) == 1


@pytest.mark.slow
def test_with_few_cells_and_much_noise_no_curve_is_chosen() -> None:
    rng = np.random.default_rng(3)
    for seed in range(5):
        some = rng.choice(len(GRID), 60, replace=False)
        found = ladder(GRID[some], planted("add", seed, noise=1.0)[some])
        assert found.chosen.name == "add"


def test_the_score_is_that_of_cross_validation_by_hand() -> None:
    y = planted("pairs", 2)
    found = ladder(GRID, y, structures=["add"], folds=5, seed=4).rungs[0]
    scores = []
    for seed in range(5):  # other folds, and least squares of another package
        part, left = np.random.default_rng(seed).permutation(len(y)) % 5, np.zeros(len(y))
        dense = np.concatenate([GRID[:, [factor]] == np.arange(5) for factor in range(4)], axis=1).astype(float)
        for fold in range(5):
            kept = part != fold
            left[~kept] = Ridge(alpha=1e-3).fit(dense[kept], y[kept]).predict(dense[~kept])
        scores.append(r2_score(y, left))
    assert found.r2 == pytest.approx(np.mean(scores), abs=0.01)
    assert found.cells == len(y)


@pytest.mark.slow
def test_the_standard_error_is_the_spread_over_samples() -> None:
    rng, found = np.random.default_rng(5), []
    effects = rng.normal(size=(2, 10))
    for seed in range(40):
        cells = rng.integers(0, 10, (400, 2))
        y = effects[0][cells[:, 0]] + effects[1][cells[:, 1]] + rng.normal(size=400)
        found.append(ladder(cells, y, structures=["add"], seed=seed).rungs[0])
    spread = np.std([rung.r2 for rung in found])
    assert np.mean([rung.error for rung in found]) == pytest.approx(spread, rel=0.3)


def test_cells_that_can_be_held_out_and_are_all_alike_say_nothing() -> None:
    """The one cell that differs has a level of its own, so that nothing could be said of it."""
    cells = np.vstack([np.indices((4, 4)).reshape(2, -1).T, [4, 4]])
    with pytest.raises(InputError, match="too few seen cells of different outcomes can be held out"):
        ladder(cells, np.array([0.0] * 16 + [1.0]), structures=["multiplicative"])


def test_the_ceiling_is_what_noise_leaves() -> None:
    rng = np.random.default_rng(6)
    truth = planted("add", 6, noise=0.0)
    y = truth + 0.5 * truth.std() * rng.normal(size=len(truth))
    told = ladder(GRID, y, variance=np.full(len(y), 0.25 * truth.var()), structures=["add"])
    assert told.ceiling == pytest.approx(0.8, abs=0.03)
    assert told.chosen.r2 == pytest.approx(0.8, abs=0.04)
    twice = np.concatenate([y, truth + 0.5 * truth.std() * rng.normal(size=len(truth))])
    again = ladder(np.vstack([GRID, GRID]), twice, structures=["add"])
    assert again.ceiling == pytest.approx(0.8, abs=0.03)
    assert ladder(GRID, y, structures=["add"]).ceiling is None
    assert str(told).startswith("effects add; they explain 0.")


def test_no_share_is_said_to_be_above_what_is_possible() -> None:
    cells = np.indices((6, 6)).reshape(2, -1).T
    y = cells.sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=36)
    for variance, told in ((1e-4, "of a possible 1.000"), (1.0, ", all but noise")):
        assert told in str(ladder(cells, y, variance=np.full(36, variance), structures=["add"]))


def test_a_repeated_cell_is_held_out_as_a_whole() -> None:
    """Pure noise per cell, each cell eight times: a fold that splits cells would explain it by pairs."""
    rng = np.random.default_rng(7)
    cells = np.repeat(np.indices((6, 6)).reshape(2, -1).T, 8, axis=0)
    y = np.repeat(rng.normal(size=36), 8)
    found = ladder(cells, y, structures=["add", "pairs"])
    assert all(rung.r2 < 0.2 for rung in found.rungs)


def test_what_the_data_cannot_carry_is_said() -> None:
    rng = np.random.default_rng(8)
    cells = np.zeros((400, 30), dtype=int)
    for row in cells:
        row[rng.choice(30, 2, replace=False)] = rng.integers(1, 6, 2)
    found = ladder(cells, rng.normal(size=400))
    assert set(found.skipped) == {"logit", "log", "multiplicative", "pairs", "link-pairs", "triples"}
    assert "more than the 400 cells" in found.skipped["pairs"]
    with pytest.raises(InputError, match="did you mean 'pairs'"):
        ladder(cells, rng.normal(size=400), structures=["pair"])
    with pytest.raises(InputError, match="all outcomes are equal"):
        ladder(cells, np.ones(400))


def chances(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of up to 60 measurements in each cell, whose log odds add, and how many there were."""
    rng = np.random.default_rng(seed)
    odds = sum(1.5 * rng.normal(size=5)[GRID[:, factor]] for factor in range(4))
    many = rng.integers(5, 60, len(GRID))
    return rng.binomial(many, 1 / (1 + np.exp(-odds))) / many, many


@pytest.mark.parametrize("seed", [0, 1])
def test_log_odds_are_found_and_stay_chances(seed: int) -> None:
    y, many = chances(seed)
    found = ladder(GRID, y, counts=many, structures=["add", "logit", "pairs"])
    assert found.chosen.name == "logit"
    predicted = found.fit.predict(GRID)
    assert predicted.min() >= 0
    assert predicted.max() <= 1


def test_log_odds_are_those_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    y, many = chances(2)
    dense = np.concatenate([GRID[:, [factor]] == np.arange(1, 5) for factor in range(4)], axis=1).astype(float)
    family = api.families.Binomial()
    told = api.GLM(y, api.add_constant(dense), family=family, var_weights=many).fit().predict(api.add_constant(dense))
    assert np.allclose(fit_structure("logit", GRID, y, counts=many).predict(GRID), told, atol=1e-6)


def test_counts_with_zeros_are_fitted_by_likelihood() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    y = rng.poisson(np.exp(GRID.sum(axis=1) / 4 - 1.5)).astype(float)
    dense = np.concatenate([GRID[:, [factor]] == np.arange(1, 5) for factor in range(4)], axis=1).astype(float)
    told = api.GLM(y, api.add_constant(dense), family=api.families.Poisson()).fit().predict(api.add_constant(dense))
    assert y.min() == 0
    assert np.allclose(fit_structure("log", GRID, y).predict(GRID), told, rtol=1e-5)


def test_held_out_values_are_those_of_fits_without_the_cell() -> None:
    y = planted("link", 4)
    found = ladder(GRID, y, structures=["link"], folds=5, seed=0)
    left = found.predicted - y
    assert np.isfinite(left).all()
    assert found.chosen.r2 == pytest.approx(1 - np.sum(left**2) / np.sum((y - y.mean()) ** 2))
    assert np.mean(left**2) > np.mean((found.fit.predict(GRID) - y) ** 2)


def test_the_fit_is_of_all_cells() -> None:
    y = planted("link", 9)
    found = ladder(GRID, y, structures=["add", "link"])
    assert np.allclose(found.fit.predict(GRID), fit_link(GRID, y).predict(GRID))


def test_products_of_two_factors_are_the_best_of_rank_one() -> None:
    rng = np.random.default_rng(10)
    table = np.outer(rng.normal(size=7), rng.normal(size=6)) + 0.01 * rng.normal(size=(7, 6))
    left, size, right = np.linalg.svd(table)
    best = size[0] * np.outer(left[:, 0], right[0])
    cells = np.indices(table.shape).reshape(2, -1).T
    fit = fit_structure("multiplicative", cells, table.ravel())
    assert np.allclose(fit.predict(cells), best.ravel(), atol=0.01)


def test_logarithms_give_means() -> None:
    rng = np.random.default_rng(11)
    truth = np.exp(GRID.sum(axis=1) / 4)
    y = truth * np.exp(0.5 * rng.normal(size=len(truth)))
    fit = fit_structure("log", GRID, y)
    assert np.mean(fit.predict(GRID) / truth) == pytest.approx(np.exp(0.125), rel=0.05)
    with pytest.raises(InputError, match="no logarithm"):
        fit_structure("log", GRID, y - y.mean())


@pytest.mark.slow
def test_shares_of_determined_cells_are_those_of_a_direct_computation() -> None:
    rng = np.random.default_rng(12)
    some = np.sort(rng.choice(len(GRID), 260, replace=False))
    y = planted("pairs", 6)[some]
    found = ladder(GRID[some], y, structures=["add", "pairs"], seed=3)
    part = np.random.default_rng(3).permutation(260)[_places(GRID[some], 3)] % 5
    for rung, order in zip(found.rungs, (1, 2), strict=True):
        known = np.zeros(260, dtype=bool)
        for fold in range(5):
            kept, out = GRID[some][part != fold], np.flatnonzero(part == fold)
            features = Conjunctions((5,) * 4, order)
            for place in out:
                cell = GRID[some][[place]]
                rows = features.incidence(np.vstack([kept, cell])).toarray()
                known[place] = np.linalg.matrix_rank(rows) == np.linalg.matrix_rank(rows[:-1])
        assert rung.determined == known.sum()


def _places(cells: np.ndarray, seed: int) -> np.ndarray:
    """Number the cells as the ladder does, by a hash."""
    signs = np.random.default_rng(seed).integers(1, 2**62, cells.shape[1]) * 2 + 1
    with np.errstate(over="ignore"):
        return np.unique(cells @ signs, return_inverse=True)[1].reshape(-1)


def test_a_structure_that_cannot_be_fitted_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise SolverError("no")

    monkeypatch.setattr(STRUCTURES["link"], "fit", fails)
    found = ladder(GRID, planted("link", 0), structures=["add", "link"])
    assert [rung.name for rung in found.rungs] == ["add"]
    assert found.skipped == {"link": "link cannot be fitted"}


def test_counts_are_scored_by_one_over_their_mean() -> None:
    cells = every_cell((12, 10))
    rng = np.random.default_rng(3)
    effects = 0.6 * (rng.normal(size=12)[cells[:, 0]] + rng.normal(size=10)[cells[:, 1]])
    seen = rng.random(len(cells)) < 0.6
    for mean, names in ((8 * np.exp(effects), {"log", "multiplicative"}), (20 + 5 * effects, {"add"})):
        rungs = ladder(cells[seen], rng.poisson(mean)[seen].astype(float))
        assert rungs.chosen.name in names
    assert ladder(cells, rng.poisson(8 * np.exp(effects)).astype(float), structures=["add"]).of_counts
    assert not ladder(cells, effects, structures=["add"]).of_counts


def test_what_components_leave_nothing_to_is_not_fitted_and_said() -> None:
    rungs = ladder(GRID, planted("add", 1))
    assert "link-pairs" in rungs.nothing_over
    assert not set(rungs.nothing_over) & {rung.name for rung in rungs.rungs}
    asked = ladder(GRID, planted("add", 1), structures=["link"])
    assert [rung.name for rung in asked.rungs] == ["link"]


def test_a_curve_over_many_levels_is_fitted_where_outcomes_bend() -> None:
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(0, 120, 1_500), rng.integers(0, 110, 1_500)], axis=1)
    total = rng.normal(size=120)[cells[:, 0]] + rng.normal(size=110)[cells[:, 1]]
    noise = 0.2 * rng.normal(size=1_500)
    assert ladder(cells, total + noise, structures=["add", "link"]).nothing_over == ("link",)
    assert ladder(cells, np.tanh(total) + noise, structures=["add", "link"]).chosen.name == "link"
