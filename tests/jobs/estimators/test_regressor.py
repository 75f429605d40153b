"""The regressor: scikit-learn's contract, least squares of other packages, exact rank, planted curves, coverage."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import recombine as rc
from recombine.errors import InputError, UnsupportedRowsWarning
from recombine.jobs.estimators import CompositionalRegressor
from recombine.jobs.structure.held_out_ranges import NoRange, RangeOf

GRID = np.indices((5, 5, 5, 5)).reshape(4, -1).T


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::recombine.errors.UnsupportedRowsWarning")
@parametrize_with_checks(
    [
        CompositionalRegressor("add"),
        CompositionalRegressor("add", shrink=True),
        CompositionalRegressor("pairs"),
        CompositionalRegressor("multiplicative"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    # scikit-learn 1.6 takes a mean off whole numbers in place there, which fails for every estimator of categories.
    if "positive_only" in str(check) and sklearn.__version__.startswith("1.6"):
        pytest.skip("this check of scikit-learn 1.6 fails by itself")
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::recombine.errors.UnsupportedRowsWarning")
@parametrize_with_checks([CompositionalRegressor(), CompositionalRegressor("link")])
def test_scikit_learn_contract_of_what_takes_longer(estimator, check):
    check(estimator)


def dummies(cells: np.ndarray, order: int) -> np.ndarray:
    """All products of up to ``order`` indicator columns, the constant among them."""
    columns = [np.ones(len(cells))]
    for depth in range(1, order + 1):
        for places in itertools.combinations(range(cells.shape[1]), depth):
            for levels in itertools.product(*(np.unique(cells[:, place]) for place in places)):
                columns.append((cells[:, list(places)] == levels).all(axis=1).astype(float))
    return np.stack(columns, axis=1)


def rational_rank(rows: list[list[int]]) -> int:
    """Rank by elimination in fractions."""
    left, rank = [[Fraction(value) for value in row] for row in rows], 0
    for column in range(len(left[0])):
        pivot = next((place for place in range(rank, len(left)) if left[place][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for place in range(rank + 1, len(left)):
            share = left[place][column] / left[rank][column]
            if share:
                left[place] = [one - share * other for one, other in zip(left[place], left[rank], strict=True)]
        rank += 1
    return rank


class TestLeastSquares:
    @pytest.mark.parametrize(("structure", "order"), [("add", 1), ("pairs", 2), ("triples", 3)])
    def test_structures_are_least_squares_on_indicators(self, structure, order):
        rng = np.random.default_rng(order)
        cells = GRID % (3, 4, 3, 2)
        y = rng.normal(size=len(cells)) + cells @ [1.0, 2.0, 3.0, 4.0]
        design = dummies(cells, order)
        expected = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        model = CompositionalRegressor(structure).fit(cells, y)
        np.testing.assert_allclose(model.predict(cells), expected, atol=1e-8)

    def test_unseen_cells_are_those_of_statsmodels(self):
        formula = pytest.importorskip("statsmodels.formula.api")
        rng = np.random.default_rng(1)
        frame = pd.DataFrame({"a": rng.choice(list("uvwx"), 60), "b": rng.choice(list("pqrs"), 60)})
        frame["c"] = rng.choice([2013, 2014, 2015], 60)
        frame["y"] = rng.normal(size=60) + (frame["c"] == 2014)
        expected = formula.ols("y ~ C(a) + C(b) + C(c)", frame).fit()
        model = CompositionalRegressor("add", undetermined="raise").fit(frame[["a", "b", "c"]], frame["y"])
        asked = pd.DataFrame(itertools.product("uvwx", "pqrs", [2013, 2014, 2015]), columns=["a", "b", "c"])
        np.testing.assert_allclose(model.predict(asked), expected.predict(asked), atol=1e-9)

    def test_logarithms_are_those_of_least_squares_times_the_smear(self):
        rng = np.random.default_rng(2)
        y = np.exp(GRID @ [0.1, 0.2, 0.3, 0.4] + 0.2 * rng.normal(size=len(GRID)))
        design = dummies(GRID, 1)
        logs = design @ np.linalg.lstsq(design, np.log(y), rcond=None)[0]
        expected = np.exp(logs) * np.exp(np.log(y) - logs).mean()
        np.testing.assert_allclose(CompositionalRegressor("log").fit(GRID, y).predict(GRID), expected)
        with pytest.raises(InputError, match="no logarithm"):
            CompositionalRegressor("log").fit(GRID, y - 2)

    def test_logarithms_with_zeros_are_poisson_regression(self):
        rng = np.random.default_rng(12)
        y = rng.poisson(np.exp(GRID @ [0.1, -0.2, 0.3, 0.2])).astype(float)
        assert y.min() == 0
        other = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=5_000)
        design = OneHotEncoder(drop="first").fit_transform(GRID)
        expected = other.fit(design, y).predict(design)
        model = CompositionalRegressor("log").fit(GRID, y)
        np.testing.assert_allclose(model.predict(GRID), expected, rtol=1e-4)
        assert np.all(model.predict(GRID, return_range=True)[1] >= 0)

    @pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (3.0, 7.0)])
    def test_two_values_are_logistic_regression(self, low, high):
        rng = np.random.default_rng(13)
        labels = rng.random(len(GRID)) < 1 / (1 + np.exp(4 - GRID.sum(axis=1) / 2))
        design = OneHotEncoder(drop="first").fit_transform(GRID)
        chance = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(design, labels).predict_proba(design)
        model = CompositionalRegressor("logit").fit(GRID, np.where(labels, high, low))
        np.testing.assert_allclose(model.predict(GRID), low + (high - low) * chance[:, 1], atol=1e-4)
        assert model.ranges_.obstacle is NoRange.CHANCES_UNSEEN

    @pytest.mark.parametrize("repeats", [1, 3])
    def test_predictions_and_ranges_are_those_of_sums_in_the_audit(self, repeats, monkeypatch):
        monkeypatch.setattr("recombine.jobs.values.cell_values.MAX_SECONDS_FITTED", 0.0)  # the audit takes sums then
        rng = np.random.default_rng(3)
        cells = np.repeat(np.indices((9, 8)).reshape(2, -1).T[rng.random(72) < 0.7], repeats, axis=0)
        y = cells.sum(axis=1) + rng.normal(size=len(cells))
        audit = rc.audit(rc.Design.from_cells(cells, y, sizes=(9, 8)))
        grid = np.indices((9, 8)).reshape(2, -1).T
        found = audit.values.ranges_of(grid)
        model = CompositionalRegressor("add", undetermined="nan").fit(cells, y)
        predicted, low, high = model.predict(grid, return_range=True)
        np.testing.assert_allclose(predicted, found.predicted)
        np.testing.assert_allclose(low, found.low)
        np.testing.assert_allclose(high, found.high)
        assert model.ranges_.what == audit.values.ranges.what


class TestVerdicts:
    @pytest.mark.parametrize("structure", ["add", "pairs", "link", "multiplicative"])
    def test_determined_is_membership_by_rational_rank(self, structure):
        rng = np.random.default_rng(4)
        order = 2 if structure == "pairs" else 1
        for _ in range(12):
            grid = np.indices(tuple(rng.integers(2, 4, 3))).reshape(3, -1).T
            seen = grid[rng.permutation(len(grid))[: rng.integers(5, max(6, len(grid) - 2))]]
            model = CompositionalRegressor(structure).fit(seen, rng.normal(size=len(seen)))
            rows = dummies(np.vstack([grid, seen]), order).astype(int)
            every, known = rows[: len(grid)].tolist(), rows[len(grid) :].tolist()
            rank = rational_rank(known)
            for cell, row, verdict in zip(grid, every, model.verdicts(grid), strict=True):
                levels = all((seen[:, place] == level).any() for place, level in enumerate(cell))
                expected = rational_rank([*known, row]) == rank
                if (seen == cell).all(axis=1).any():
                    assert verdict == "seen"
                elif not levels:
                    assert verdict == "unseen level"
                else:
                    assert (verdict in ("determined", "beyond the seen range")) == expected

    def test_undetermined_rows_are_refused_marked_or_rest_on_what_is_usual(self):
        X = [["red", "cube"], ["red", "ball"], ["blue", "cube"], ["green", "cone"]]
        asked = [["blue", "ball"], ["green", "ball"], ["pink", "ball"]]
        y = [1.0, 2.0, 11.0, 6.0]
        model = CompositionalRegressor("add").fit(X, y)
        with pytest.warns(UnsupportedRowsWarning, match=r"2 rows \(67 %\) of X have no support"):
            values, low, high = model.predict(asked, return_range=True)
        np.testing.assert_allclose(values[0], 12.0)
        assert np.all((low[1:] < values[1:]) & (values[1:] < high[1:]))
        assert np.isfinite(high[1:]).all()
        assert np.isnan(low[0])
        assert model.ranges_.obstacle is NoRange.FEW_CELLS
        marked = model.set_params(undetermined="nan").predict(asked, return_range=True)
        assert np.isnan(marked[0]).tolist() == [False, True, True]
        model.set_params(undetermined="raise")
        with pytest.raises(InputError, match=r"row 1 of X .column 1='green', column 2='ball'. is not determined"):
            model.predict(asked)
        with pytest.raises(InputError, match=r"compares column 1='green' with column 1='blue'.*collect this combinati"):
            model.predict(asked)
        with pytest.raises(InputError, match=r"level that no training row has: column 1='pink'; collect rows with it"):
            model.predict(asked[2:])
        assert model.predict(asked[:1]).round(9).tolist() == [12.0]

    def test_pairs_name_the_pair_that_was_never_seen(self):
        frame = pd.DataFrame(np.indices((3, 3, 2)).reshape(3, -1).T, columns=["gene", "dose", "day"])
        kept = frame[(frame.gene != 2) | (frame.dose != 1)]
        model = CompositionalRegressor("pairs", undetermined="raise").fit(kept, np.arange(len(kept)))
        with pytest.raises(InputError, match="no training row has gene='2' with dose='1'; collect this combination"):
            model.predict(frame)

    def test_beyond_the_seen_range_of_the_curve(self):
        cells = np.indices((6, 6)).reshape(2, -1).T
        y = np.tanh((cells.sum(axis=1) - 5) / 3)
        kept = (cells.sum(axis=1) > 2) & (cells.sum(axis=1) < 8)
        model = CompositionalRegressor("link").fit(cells[kept], y[kept])
        words = model.verdicts([[0, 0], [5, 5], [0, 5], [1, 5]])
        assert words.tolist() == ["beyond the seen range"] * 2 + ["seen"] * 2
        predicted, low, high = model.predict([[0, 0], [5, 5]], return_range=True)
        assert set(words) <= {verdict.word for verdict in rc.Verdict}
        assert predicted[0] < y[kept].min() < y[kept].max() < predicted[1]
        assert low[0] == -np.inf
        assert high[1] == np.inf
        with pytest.raises(InputError, match=r"row 0 of X .column 1='0', column 2='0'. is beyond the seen range"):
            model.set_params(undetermined="raise").predict([[0, 0]])
        assert np.isnan(model.set_params(undetermined="nan").predict([[0, 0]])).all()


class TestNewLevels:
    def test_a_new_level_keeps_what_the_others_add(self):
        rng = np.random.default_rng(8)
        cells = np.indices((8, 7)).reshape(2, -1).T
        letters = np.array(list("abcdefgh"))[cells[:, 0]], np.array(list("pqrstuv"))[cells[:, 1]]
        y = 20.0 * cells[:, 1] + rng.normal(size=8)[cells[:, 0]] + 0.1 * rng.normal(size=56)
        model = CompositionalRegressor().fit(np.stack(letters, axis=1), y)
        with pytest.warns(UnsupportedRowsWarning):
            values, low, high = model.predict([["new", level] for level in "pqrstuv"], return_range=True)
        truth = 20.0 * np.arange(7) + y.mean() - 60
        assert np.abs(values - truth).max() < 3
        assert np.all((low < truth) & (truth < high))
        assert (high - low).max() < 20

    def test_a_new_number_lies_on_the_line_of_the_others(self):
        rng = np.random.default_rng(9)
        doses = np.array([0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0])
        X = pd.DataFrame({"dose": np.repeat(doses, 4), "drug": list("abcd") * 8})
        y = 3.0 * X["dose"] + X["drug"].map({"a": 0, "b": 5, "c": 9, "d": 2}) + 0.1 * rng.normal(size=32)
        model = CompositionalRegressor().fit(X, y)
        with pytest.warns(UnsupportedRowsWarning):
            values = model.predict(pd.DataFrame({"dose": [4.0, 4.5], "drug": ["b", "c"]}))
        np.testing.assert_allclose(values, [17.0, 22.5], atol=1.0)

    def test_a_missing_level_is_a_level_where_asked(self):
        frame = pd.DataFrame({"a": ["x", None, "y", "x", None, "y"], "b": list("ppqqrr")})
        y = [1.0, 5.0, 2.0, 1.5, 5.5, 2.5]
        model = CompositionalRegressor("add", missing="level").fit(frame, y)
        assert model.levels_[0] == [None, "x", "y"]
        assert model.predict(frame)[[1, 4]].min() > 4
        numbers = CompositionalRegressor("add", missing="level").fit([[1.0, 0], [np.nan, 0], [1.0, 1]], [1.0, 4.0, 2.0])
        np.testing.assert_allclose(numbers.predict([[np.nan, 1]]), 5.0)

    def test_numbers_are_the_same_as_texts_of_them(self):
        cells = np.indices((4, 3)).reshape(2, -1).T
        y = cells @ [2.0, 1.0]
        model = CompositionalRegressor("add").fit(cells, y)
        for rows in (cells.astype(str), cells.astype(float), cells.astype(object)):
            np.testing.assert_allclose(model.predict(rows), y, atol=1e-9)
        texts = CompositionalRegressor("add").fit(cells.astype(str), y)
        np.testing.assert_allclose(texts.predict(cells), y, atol=1e-9)

    def test_effects_are_a_table_with_errors(self):
        rng = np.random.default_rng(10)
        frame = pd.DataFrame({"a": list("xyz") * 20, "b": np.repeat(list("pqrstuvwij"), 6)})
        sizes = {"x": -3.0, "y": 0.0, "z": 3.0}
        model = CompositionalRegressor().fit(frame, frame["a"].map(sizes) + 0.3 * rng.normal(size=60))
        table = model.effects_
        assert table["factor"].tolist() == ["a"] * 3 + ["b"] * 10
        np.testing.assert_allclose(table["effect"][:3] - table["effect"][:3].mean(), [-3, 0, 3], atol=0.3)
        assert np.all(table["standard error"] >= 0)


class TestTables:
    def test_all_kinds_of_tables_give_the_same(self):
        rng = np.random.default_rng(5)
        frame = pd.DataFrame({"a": rng.choice(list("xyz"), 80), "year": rng.integers(2013, 2016, 80)})
        y = rng.normal(size=80)
        expected = CompositionalRegressor("add").fit(frame, y).predict(frame)
        tables = [
            frame.astype({"a": "category"}),
            frame.astype({"year": "Int64"}),
            pl.from_pandas(frame),
            pa.Table.from_pandas(frame),
            frame.to_numpy(),
            frame.to_numpy().tolist(),
        ]
        for table in tables:
            model = CompositionalRegressor("add").fit(table, y)
            np.testing.assert_allclose(model.predict(table), expected)
        mixed = CompositionalRegressor("add").fit(pl.from_pandas(frame), y)
        np.testing.assert_allclose(mixed.predict(frame), expected)
        assert mixed.feature_names_in_.tolist() == ["a", "year"]
        assert mixed.levels_ == [["x", "y", "z"], [2013, 2014, 2015]]

    def test_what_cannot_be_read_is_said(self):
        model = CompositionalRegressor("add")
        with pytest.raises(InputError, match="'colour' is missing in row 1"):
            model.fit(pd.DataFrame({"colour": ["red", None], "shape": ["a", "b"]}), [1.0, 2.0])
        with pytest.raises(InputError, match="'day' is missing in row 0"):
            model.fit(pd.DataFrame({"day": pd.to_datetime([None, "2013-01-01"])}), [1.0, 2.0])
        with pytest.raises(InputError, match="not read yet; collect"):
            model.fit(pl.LazyFrame({"a": ["x", "y"]}), [1.0, 2.0])
        with pytest.raises(InputError, match="X has 2 rows and y has 3"):
            model.fit([["a"], ["b"]], [1.0, 2.0, 3.0])
        with pytest.raises(InputError, match="did you mean 'pairs'"):
            CompositionalRegressor("pair").fit([["a"], ["b"]], [1.0, 2.0])
        with pytest.raises(InputError, match="undetermined 'none' is unknown"):
            CompositionalRegressor(undetermined="none").fit([["a"], ["b"]], [1.0, 2.0])
        with pytest.raises(NotFittedError):
            model.predict([["a"]])
        with pytest.raises(NotFittedError):
            model.verdicts([["a"]])
        model.fit(pd.DataFrame({"colour": ["red", "blue"]}), [1.0, 2.0])
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(pd.DataFrame({"color": ["red"]}))


class TestScikitLearn:
    @pytest.mark.parametrize("structure", ["add", "log", "pairs"])
    def test_a_weight_of_two_is_a_row_given_twice(self, structure):
        rng = np.random.default_rng(11)
        cells = GRID[rng.permutation(625)[:120]]
        y = np.exp(0.2 * cells.sum(axis=1) + 0.3 * rng.normal(size=120))
        weights = rng.integers(0, 3, 120)
        model = CompositionalRegressor(structure, undetermined="nan")
        weighted = clone(model).fit(cells, y, sample_weight=weights).predict(GRID)
        repeated = model.fit(np.repeat(cells, weights, axis=0), np.repeat(y, weights)).predict(GRID)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-3, atol=1e-6)
        with pytest.raises(ValueError, match="at least one non-zero"):
            model.fit(cells, y, sample_weight=np.zeros(120))

    @pytest.mark.slow
    def test_rows_that_weigh_more_say_more_and_equal_ones_nothing_new(self):
        rng = np.random.default_rng(14)
        cells = GRID[rng.permutation(625)[:80]]
        y = cells.sum(axis=1) + rng.normal(size=80) * (8 * (np.arange(80) % 2) + 0.1)
        plain = CompositionalRegressor().fit(cells, y).predict(GRID)
        same = CompositionalRegressor().fit(cells, y, sample_weight=np.full(80, 2.5)).predict(GRID)
        np.testing.assert_allclose(same, plain, rtol=1e-6)
        precise = CompositionalRegressor().fit(cells, y, sample_weight=np.where(np.arange(80) % 2, 0.01, 50.0))
        errors = [np.abs(values - GRID.sum(axis=1)).mean() for values in (plain, precise.predict(GRID))]
        assert errors[1] < 0.3 * errors[0]

    @pytest.mark.slow
    def test_several_outcomes_are_fitted_one_by_one(self):
        rng = np.random.default_rng(12)
        cells = GRID[rng.permutation(625)[:80]]
        y = np.stack([cells.sum(axis=1), cells @ [1.0, -1.0, 2.0, 0.0]], axis=1) + 0.1 * rng.normal(size=(80, 2))
        both = CompositionalRegressor().fit(cells, y)
        parts = [CompositionalRegressor().fit(cells, column) for column in y.T]
        predicted, low, high = both.predict(GRID, return_range=True)
        np.testing.assert_array_equal(predicted, np.stack([part.predict(GRID) for part in parts], axis=1))
        assert predicted.shape == low.shape == high.shape == both.verdicts(GRID).shape == (625, 2)
        assert both.structure_ == ["add", "add"]
        assert both.score(GRID, np.stack([GRID.sum(axis=1), GRID @ [1.0, -1.0, 2.0, 0.0]], axis=1)) > 0.99

    @pytest.mark.slow
    def test_fits_travel_and_folds_run_side_by_side(self):
        rng = np.random.default_rng(13)
        cells = GRID[rng.permutation(625)[:80]]
        y = cells.sum(axis=1) + 0.1 * rng.normal(size=80)
        model = CompositionalRegressor().fit(cells, y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(GRID), model.predict(GRID))
        folds = [cross_val_predict(CompositionalRegressor(), cells, y, cv=2, n_jobs=jobs) for jobs in (1, 2)]
        np.testing.assert_array_equal(folds[0], folds[1])
        assert np.corrcoef(folds[0], y)[0, 1] > 0.99

    def test_clone_pipeline_and_cross_validation(self):
        rng = np.random.default_rng(6)
        frame = pd.DataFrame(GRID[rng.permutation(625)], columns=list("abcd")).astype(str)
        y = frame.astype(int).sum(axis=1).to_numpy() + 0.1 * rng.normal(size=625)
        model = clone(CompositionalRegressor("add", undetermined="nan", shrink=True, seed=3))
        assert model.get_params() == {
            "structure": "add",
            "undetermined": "nan",
            "missing": "refuse",
            "features": None,
            "shrink": True,
            "seed": 3,
        }
        piped = make_pipeline(FunctionTransformer(lambda table: table[["a", "b", "c", "d"]]), model)
        assert cross_val_score(piped, frame, y, cv=3).min() > 0.99
        groups = frame["a"] + frame["b"]
        assert (
            cross_val_score(clone(model), frame, y, groups=groups, cv=GroupKFold(5, shuffle=True, random_state=0)).min()
            > 0.99
        )

    def test_repeated_rows_count_as_often_as_they_were_measured(self):
        rng = np.random.default_rng(7)
        cells = rng.integers(0, 4, (300, 3))
        y = cells @ [1.0, -2.0, 0.5] + rng.normal(size=300)
        rows = OneHotEncoder(sparse_output=False).fit_transform(cells)
        expected = rows @ np.linalg.lstsq(rows, y, rcond=None)[0]
        model = CompositionalRegressor("add").fit(cells, y)
        np.testing.assert_allclose(model.predict(cells), expected, atol=1e-9)
        assert model.ranges_.what is RangeOf.CELL_MEAN


class TestAuto:
    @pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
    def test_a_planted_curve_is_found_and_beats_adding(self, seed):
        """A protein-like table: rows depart from one commonest cell in two of 12 positions; a sigmoid bends sums."""
        rng = np.random.default_rng(seed)
        cells = np.zeros((3_000, 12), dtype=int)
        for row in cells:
            row[rng.choice(12, 2, replace=False)] = rng.integers(1, 6, 2)
        effects = -rng.gamma(1.0, 1.5, (12, 6)) * (np.arange(6) > 0)
        sums = effects[np.arange(12), cells].sum(axis=1)
        y = 1 / (1 + np.exp(-(sums + 3))) + 0.03 * rng.normal(size=3_000)
        known = np.arange(3_000) < 2_000
        unseen = ~known & ~np.isin(cells @ 7 ** np.arange(12), cells[known] @ 7 ** np.arange(12))
        auto = CompositionalRegressor().fit(cells[known], y[known])
        add = CompositionalRegressor("add").fit(cells[known], y[known])
        assert auto.structure_ == "link"
        assert auto.ladder_.chosen.name == "link"
        assert auto.score(cells[unseen], y[unseen]) > add.score(cells[unseen], y[unseen]) + 0.03
        assert auto.score(cells[unseen], y[unseen]) > 0.95

    @pytest.mark.slow
    @pytest.mark.parametrize("repeats", [1, 2])
    def test_the_choice_is_that_of_the_audit(self, repeats):
        rng = np.random.default_rng(9)
        cells = np.repeat(GRID[:300], repeats, axis=0)
        for y in (np.tanh(cells.sum(axis=1) / 3 - 2), np.prod(1.0 + cells, axis=1), cells.sum(axis=1)):
            noisy = y + 0.1 * y.std() * rng.normal(size=len(y))
            assert CompositionalRegressor().fit(cells, noisy).structure_ == (
                rc.audit(rc.Design.from_cells(cells, noisy)).choice.name
            )

    @pytest.mark.slow
    def test_what_cannot_be_scored_is_fitted_by_adding(self):
        model = CompositionalRegressor().fit([["a", "x"], ["b", "y"]], [1.0, 2.0])
        assert (model.structure_, model.ladder_) == ("add", None)
        assert "share all their levels" in model.reason_
        flat = CompositionalRegressor().fit(GRID, np.ones(len(GRID)))
        assert "all outcomes are equal" in flat.reason_
        np.testing.assert_allclose(flat.predict(GRID), 1.0)


def covered(structure: str, seed: int, repeats: int, departure: float, shrink: bool | None) -> np.ndarray:
    """Say of held-out cells of a planted structure, with departures from it, whether they lie in their range."""
    rng = np.random.default_rng(seed)
    grid = np.indices((7, 7, 7)).reshape(3, -1).T
    parts = [rng.normal(size=7)[grid[:, place]] for place in range(3)]
    truth = {
        "add": sum(parts),
        "log": sum(parts) / 2,
        "multiplicative": np.prod([1 + np.abs(part) for part in parts], axis=0),
        "link": np.tanh(sum(parts) / 2),
    }[structure]
    size, final = (1.0, np.exp) if structure == "log" else (truth.std(), np.asarray)
    truth = truth + departure * size * rng.normal(size=len(truth))
    kept = rng.random(len(grid)) < 0.6
    rows = np.repeat(np.flatnonzero(kept), repeats)
    model = CompositionalRegressor(structure, shrink=shrink, seed=seed)
    model.fit(grid[rows], final(truth[rows] + 0.2 * size * rng.normal(size=len(rows))))
    asked = ~kept & (model.verdicts(grid) == "determined")
    _, low, high = model.predict(grid[asked], return_range=True)
    fresh = final(truth[asked] + 0.2 * size * rng.normal(size=(repeats, asked.sum()))).mean(axis=0)
    mean = final(truth[asked]) * (np.exp(0.2**2 / 2) if structure == "log" else 1.0)
    # Least squares with replicates gives ranges of the cell's mean, other fits of one measured like the seen ones.
    plain = structure in ("add", "log") and not shrink
    value = mean if repeats > 1 and plain else fresh
    return (low <= value) & (value <= high)


@pytest.mark.parametrize("structure", ["add", "log", "multiplicative", "link"])
@pytest.mark.parametrize("shrink", [pytest.param(None, marks=pytest.mark.slow), True])
class TestCoverage:
    @pytest.mark.parametrize("repeats", [pytest.param(1, marks=pytest.mark.slow), 3])
    def test_ranges_hold_nine_in_ten(self, structure, repeats, shrink):
        found = np.concatenate([covered(structure, seed, repeats, 0.2, shrink) for seed in range(6)])
        assert len(found) > 600
        assert 0.87 <= found.mean() <= 0.95

    @pytest.mark.slow
    def test_ranges_for_means_are_wide_where_the_structure_holds_exactly(self, structure, shrink):
        """Noise hides how small departures are, so that they are not taken to be nothing."""
        found = np.concatenate([covered(structure, seed, 3, 0.0, shrink) for seed in range(4)])
        assert found.mean() >= 0.9


def test_lists_and_records_are_no_levels():
    with pytest.raises(InputError, match="'column 1' holds lists or records, which are no levels"):
        CompositionalRegressor().fit(np.array([[{}, 1], [{}, 2], [{}, 1]], dtype=object), [1, 2, 3])


def described(seed=0, drugs=25, lines=5):
    """Rows of drugs on lines whose effect follows from two of five descriptors, and the table of these."""
    rng = np.random.default_rng(seed)
    names = np.array([f"drug {number}" for number in range(drugs)])
    table = pd.DataFrame({"drug": names} | {f"x{column}": rng.normal(size=drugs) for column in range(5)})
    codes, levels = np.indices((drugs, lines)).reshape(2, -1).T, rng.normal(size=lines)
    effects = (table.x0 + 0.5 * table.x1).to_numpy()
    y = effects[codes[:, 0]] + levels[codes[:, 1]] + 0.1 * rng.normal(size=len(codes))
    rows = pd.DataFrame({"drug": names[codes[:, 0]], "line": codes[:, 1]})
    return rows, y, table, codes[:, 0] >= 0.8 * drugs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::recombine.errors.UnsupportedRowsWarning")
def test_new_levels_are_predicted_by_their_descriptors_and_their_verdict_stays():
    rows, y, table, new = described()
    plain, model = (
        rc.CompositionalRegressor(features=given).fit(rows[~new], y[~new]) for given in (None, {"drug": table})
    )
    assert plain.score(rows[new], y[new]) < 0.5 < 0.95 < model.score(rows[new], y[new])
    assert set(model.verdicts(rows[new])) == {"unseen level"}
    _, low, high = model.predict(rows[new], return_range=True)
    wide, narrow = (np.subtract(*each.predict(rows[new], return_range=True)[:0:-1]) for each in (plain, model))
    assert (narrow < wide / 2).all()
    assert ((low <= y[new]) & (y[new] <= high)).mean() > 0.8
    shares = dict(zip(model.features_["feature"], model.features_["share"], strict=True))
    assert min(shares["x0"], shares["x1"]) > 0.05 > 0.01 > max(shares["x2"], shares["x3"], shares["x4"])
    unknown = pd.DataFrame({"drug": ["nobody's"], "line": [0]})
    assert np.isfinite(model.predict(unknown)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::recombine.errors.UnsupportedRowsWarning")
def test_features_survive_clone_and_pickle_and_are_given_by_place_for_arrays():
    rows, y, table, new = described(1)
    model = rc.CompositionalRegressor(features={"drug": table}).fit(rows[~new], y[~new])
    again = pickle.loads(pickle.dumps(model))
    other = clone(model).set_params(features={0: table}).fit(rows[~new].to_numpy(dtype=object), y[~new])
    expected = model.predict(rows[new])
    assert np.allclose(again.predict(rows[new]), expected)
    assert np.allclose(other.predict(rows[new].to_numpy(dtype=object)), expected)
    several = clone(model).fit(rows[~new], np.column_stack([y, -y])[~new])
    assert np.allclose(several.predict(rows[new])[:, 0], expected)


def test_features_without_a_level_in_common_are_refused():
    rows, y, table, _ = described()
    with pytest.raises(InputError, match="describes no level of factor 'drug'"):
        rc.CompositionalRegressor(features={"drug": table.assign(drug=table.x0)}).fit(rows, y)
