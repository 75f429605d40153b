"""`rc.examine`: every combination left out once, and each compared with what the other folds say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem, t
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import recombine as rc
from recombine.errors import InputError
from recombine.jobs.examination.foretold import BEFORE
from recombine.jobs.score.score import FailedFold
from recombine.verdicts import Verdict

#: Where inputs and trainings are what is tested, the structure need not be chosen in every fold.
ADD = rc.TableSpec(structure="add")


def one_hot(model: Any) -> Any:
    return make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), model)


@pytest.fixture(scope="module")
def screen() -> tuple[pd.DataFrame, pd.Series]:
    """Half of 9 x 8 x 4 cells, twice each, whose effects add."""
    rng = np.random.default_rng(0)
    cells = np.array([(a, b, c) for a in range(9) for b in range(8) for c in range(4) if rng.random() < 0.5])
    cells = np.repeat(cells, 2, axis=0)
    mean = sum(rng.normal(size=size)[cells[:, place]] for place, size in enumerate((9, 8, 4)))
    names = ("drug", "line", "dose")
    frame = pd.DataFrame({name: [f"{name}{level}" for level in cells[:, place]] for place, name in enumerate(names)})
    return frame, pd.Series(mean + 0.3 * rng.normal(size=len(cells)), name="viability")


def half_of_effects(X: Any, y: Any, asked: Any) -> Any:
    """Predict the mean and half of what the training rows' effects add to it."""
    fitted = one_hot(LinearRegression()).fit(X, y)
    return y.mean() + 0.5 * (fitted.predict(asked) - y.mean())


@pytest.mark.slow
def test_it_is_what_score_says_of_each_fold_taken_together(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    model = one_hot(Ridge(alpha=3.0))
    examined = rc.examine(model, X, y, folds=rc.CellKFold(4, random_state=3), spec=rc.TableSpec(structure="add"))
    fold = rc.CellKFold(4, random_state=3).folds(X).fold
    frame, amounts, errors, cells = X.assign(viability=y), [], [], []
    for number in range(4):
        train, test = frame[fold != number], frame[fold == number].copy()
        test["ridge"] = model.fit(train[X.columns], train.viability).predict(test[X.columns])
        design = rc.Design.from_frame(train, factors=list(X.columns), outcome="viability", held_out=test)
        scored = rc.score(design, test, ["ridge"], structure="add")
        errors.append(scored.models[0].unseen_error.value)
        amounts.append([scored.models[0].causes[name].value for name in ("noise",)])
        cells.append(len(scored.codes))
    assert sum(cells) == len(examined.codes) == len(X.drop_duplicates())
    assert examined.models[0].unseen_error.value == pytest.approx(np.average(errors, weights=cells))
    assert examined.models[0].causes["noise"].value == pytest.approx(
        np.average([amount[0] for amount in amounts], weights=cells)
    )
    assert sum(amount.value for amount in examined.models[0].causes.values()) == pytest.approx(
        examined.models[0].attribution.error.value
    )


@pytest.mark.slow
def test_a_cell_is_compared_with_the_fit_to_the_other_folds(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    examined = rc.examine(one_hot(LinearRegression()), X, y, spec=rc.TableSpec(structure="add"))
    assert (examined.codes == Verdict.DETERMINED).all()
    # Least squares on the rows of the other folds is what adding says: nothing is the model's own.
    departure = examined.models[0].predicted[:, 0] - examined.regressors.determined
    assert np.abs(departure).max() < 1e-8
    assert next(examined.errors.rows())["squared error"] == pytest.approx(
        next(row["squared error"] for row in examined.errors.rows() if row["predictions"] == "adding")
    )


@pytest.mark.slow
def test_a_planted_leak_is_found_with_its_size(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    examined = rc.examine({"half": half_of_effects}, X, y)
    slopes = examined.models[0].attribution.per_factor["leak"].coefficients
    assert set(slopes) == {"drug", "line", "dose"}
    assert all(abs(slope.value - 0.5) < 0.05 for slope in slopes.values())
    assert examined.models[0].causes["leak"].value > 0.8 * examined.models[0].unseen_error.value
    assert "each left out once, in one of 5 folds" in str(examined.answer)
    assert "leak" in examined._repr_html_()


@pytest.mark.slow
def test_bridges_are_tested_and_said_to_be_open() -> None:
    rng = np.random.default_rng(4)
    X = np.array([(a, b) for a in range(5) for b in range(5)] + [(5, 0)])
    y = X @ [1.0, 2.0] + 0.1 * rng.normal(size=len(X))
    examined = rc.examine(Ridge(), X, y)
    assert (examined.codes == Verdict.UNSEEN_LEVEL).sum() == 1
    assert examined.determined == 25


@pytest.mark.slow
def test_what_was_trained_before_is_read_from_the_store(
    screen: tuple[pd.DataFrame, pd.Series], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = screen
    first = rc.examine(one_hot(Ridge()), X, y, store=tmp_path, spec=ADD)
    monkeypatch.setattr(Ridge, "fit", lambda self, X, y: pytest.fail("trained again"))
    again = rc.examine(one_hot(Ridge()), X, y, store=tmp_path, spec=ADD)
    np.testing.assert_array_equal(first.models[0].predicted, again.models[0].predicted)
    with pytest.raises(pytest.fail.Exception):
        rc.examine(one_hot(Ridge()), X, y + 1, store=tmp_path, spec=ADD)


@pytest.mark.slow
def test_classes_are_predicted_by_chances(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    kinds = pd.cut(y, [-99, -1, 1, 99], labels=["low", "middle", "high"]).astype(str)
    examined = rc.examine(
        {"logistic": one_hot(LogisticRegression()), "usual": one_hot(DummyClassifier())}, X, kinds, folds=3
    )
    assert examined.classes == ("high", "low", "middle")
    logistic, usual = examined.models
    assert np.allclose(logistic.predicted.sum(axis=1), 1)
    assert logistic.unseen_error.value < 0.5 * usual.unseen_error.value
    accuracy = next(row["accuracy"] for row in logistic.by_verdict.rows())
    by_rows = examined.design.precision[~examined.design.train]
    assert 0.6 < accuracy <= 1
    assert by_rows.sum() == len(X)


@pytest.mark.slow
def test_groups_are_left_out_together(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    groups = np.arange(len(X)) // 16

    def remember(X_train: Any, y_train: Any, asked: Any) -> Any:
        seen.append((set(groups[X_train.index]), set(groups[asked.index])))
        return np.linspace(0, 1, len(asked))

    seen: list[tuple[set[int], set[int]]] = []
    rc.examine({"own": remember}, X, y, groups=groups, spec=ADD)
    assert len(seen) == 5
    assert all(not train & test for train, test in seen)


@pytest.mark.slow
def test_factors_beside_other_inputs(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    inputs = OneHotEncoder(sparse_output=False).fit_transform(X)
    beside = rc.examine(LinearRegression(), inputs, y, factors=X, folds=3, spec=ADD)
    inside = rc.examine(one_hot(LinearRegression()), X, y, folds=3, spec=ADD)
    assert beside.models[0].unseen_error.value == pytest.approx(inside.models[0].unseen_error.value)
    assert beside.design.names == ("drug", "line", "dose")


@pytest.mark.slow
def test_a_torch_module_with_its_training(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    torch = pytest.importorskip("torch")
    X, y = screen
    inputs = OneHotEncoder(sparse_output=False).fit_transform(X)
    torch.manual_seed(0)
    module = torch.nn.Linear(inputs.shape[1], 1)
    first_weights = module.weight.detach().clone()

    def train(module: Any, inputs: Any, outcomes: Any) -> None:
        optimizer = torch.optim.LBFGS(module.parameters(), max_iter=200)

        def loss() -> Any:
            optimizer.zero_grad()
            value = torch.mean((module(inputs)[:, 0] - outcomes) ** 2)
            value.backward()
            return value

        optimizer.step(loss)

    examined = rc.examine((module, train), inputs, y, factors=X, folds=3, spec=ADD)
    ridge = rc.examine(LinearRegression(), inputs, y, factors=X, folds=3, spec=ADD)
    assert examined.models[0].unseen_error.value == pytest.approx(ridge.models[0].unseen_error.value, rel=0.02)
    assert torch.equal(module.weight, first_weights)


@pytest.mark.slow
def test_several_models_get_names_of_their_own(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    examined = rc.examine([one_hot(Ridge()), one_hot(Ridge(alpha=9))], X, y, folds=2)
    assert [model.name for model in examined.models] == ["Ridge", "Ridge 2"]


@pytest.mark.parametrize(
    ("models", "asked", "message"),
    [
        (Ridge, {}, "is the class Ridge; make one of it"),
        ("ridge", {}, "is a str; give an estimator with fit and predict"),
        ({}, {}, "no model is given"),
        (
            {"bad": lambda X, y, asked: np.zeros(2)},
            {},
            r"in fold 1 of 5.* returned predictions of shape \(2,\)",
        ),
        ({"bad": lambda X, y, asked: 1 / 0}, {}, "'bad' cannot be examined: .* ZeroDivisionError"),
        ({"drug": DummyRegressor()}, {}, "called 'drug'"),
        ({"own": (lambda kept: lambda X, y, asked: kept)(0)}, {"store": "here"}, "cannot be told from others"),
        (DummyRegressor(), {"folds": 1}, "n_splits"),
        (DummyRegressor(), {"factors": ["drug", "sort"]}, "sort"),
        (RandomForestRegressor(), {}, "could not convert string"),
    ],
)
def test_what_cannot_be_examined_is_refused(
    screen: tuple[pd.DataFrame, pd.Series], models: Any, asked: dict[str, Any], message: str
) -> None:
    X, y = screen
    with pytest.raises(InputError, match=message):
        rc.examine(models, X, y, **asked)


def test_outcomes_of_another_length_are_refused(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    with pytest.raises(InputError, match="y has shape"):
        rc.examine(one_hot(Ridge()), X, y[:-1])
    with pytest.raises(InputError, match="predicts numbers and y holds classes"):
        rc.examine(one_hot(Ridge()), X, np.where(y > 0, "yes", "no"))


@pytest.mark.slow
def test_models_are_set_against_each_other_cell_by_cell(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    forests = [one_hot(RandomForestRegressor(10, random_state=seed)) for seed in (0, 1)]
    examined = rc.examine({"forest": forests[0], "forest 2": forests[1], "ridge": one_hot(Ridge())}, X, y)
    squares = {model.name: (model.predicted - examined.observed)[:, 0] ** 2 for model in examined.models}
    rows = list(examined.pairs.rows())
    assert [(row["better"], row["other"]) for row in rows][1:] == [("ridge", "forest"), ("ridge", "forest 2")]
    for row in rows:
        rise = squares[row["other"]] - squares[row["better"]]
        assert row["difference"] == pytest.approx(rise.mean())
        cells, errors = examined.design.held_out, [sem(rise)]
        for cluster in (examined.fold, cells[:, 0], cells[:, 1]):  # the third factor has four levels: too few
            sums = np.bincount(cluster, rise - rise.mean()) / len(rise)
            errors.append(np.sqrt(len(sums) / (len(sums) - 1) * np.sum(sums**2)))
        row["p"] = 2 * t.sf(rise.mean() / max(errors), len(rise) - 1)
    chances = np.sort([row["p"] for row in rows])
    holm = np.maximum.accumulate(np.minimum(chances * [3, 2, 1], 1))
    assert np.sort([row["adjusted p"] for row in rows]) == pytest.approx(holm)
    words = " ".join(str(examined.answer).split())
    assert "ridge misses least: forest" in words, words
    assert rc.examine(forests[0], X, y).pairs["better"].tolist() == []


@pytest.mark.slow
def test_a_model_that_fails_in_one_fold_does_not_stop_the_others(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    calls: list[int] = []

    def third(X: Any, y: Any, asked: Any) -> Any:
        calls.append(len(y))
        if len(calls) == 3:
            raise RuntimeError("out of memory")
        return np.zeros(len(asked)) + len(calls)

    examined = rc.examine({"third": third, "ridge": one_hot(Ridge())}, X, y, spec=ADD)
    assert [model.name for model in examined.models] == ["ridge"]
    assert examined.failed == {"third": FailedFold(3, 5, calls[2], "stops with RuntimeError: out of memory")}
    assert len(calls) == 3
    assert "third failed" in repr(examined)
    assert "third could not be examined: in fold 3 of 5" in " ".join(examined.summary.split())


@pytest.mark.slow
def test_what_the_training_cells_foretell_has_not_seen_the_cells_left_out(
    screen: tuple[pd.DataFrame, pd.Series],
) -> None:
    X, y = screen
    spec, splitter = rc.TableSpec(structure="add"), rc.CellKFold(3, random_state=1)
    examined = rc.examine(one_hot(RandomForestRegressor(5, random_state=0)), X, y, folds=splitter, spec=spec)
    fold, told = splitter.folds(X).fold, []
    for number in range(3):
        frame = X.assign(viability=y)[fold != number]
        audit = rc.audit(frame, factors=list(X.columns), outcome="viability", structure="add")
        told.append(audit.forecast.error.ntk**2)
    cells = [len(X[fold == number].drop_duplicates()) for number in range(3)]
    assert examined.forecasts[BEFORE] == pytest.approx(np.average(told, weights=cells))
    assert examined.families == {"RandomForestRegressor": "forest"}


class Unregistered:
    """An estimator that knows nothing of scikit-learn."""

    def fit(self, X: Any, y: Any) -> None:
        self.most = max(set(y), key=list(y).count)

    def predict(self, X: Any) -> Any:
        return np.where(X["dose"] == "dose0", "low", self.most)


@pytest.mark.slow
def test_other_kinds_of_inputs_are_read(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = screen
    usual = rc.examine(one_hot(Ridge()), X, y, folds=2, spec=ADD).models[0].predicted
    sparse = OneHotEncoder().fit_transform(X)
    for models, inputs, outcome, factors in [
        (one_hot(Ridge()), X.astype("category"), y.astype(object), None),
        (one_hot(Ridge()), X, y.to_frame(), None),
        (Ridge(tol=1e-12), sparse, y.astype("Float64"), X),
    ]:
        other = rc.examine(models, inputs, outcome, factors=factors, folds=2, spec=ADD).models[0].predicted
        np.testing.assert_allclose(other, usual, atol=1e-8)
    kinds = np.where(X["dose"] == "dose0", "low", "high")
    kinds[:9] = "low"
    assert rc.examine(Unregistered(), X, kinds, folds=2).models[0].misses.wrong < 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, None), "y is None"),
        (lambda X, y: (X, y.where(y.index != 3)), "y is missing in 1 row, such as row 3; leave these rows out"),
        (
            lambda X, y: (X.assign(drug=X["drug"].where(X.index != 5)), y),
            "'drug' is missing in 1 row of X, such as row 5",
        ),
        (lambda X, y: (X, 0 * y + 2), "y is 2.0 in every row; there is nothing to predict"),
        (lambda X, y: (X, y.where(y.index != 3, np.inf)), "y is not finite in row 3"),
        (lambda X, y: (X, y.sample(frac=1, random_state=0)), "same index in different order"),
        (lambda X, y: (X.assign(z=np.linspace(0, 1, len(X))), y), r"fractions.*factors=\['drug', 'line', 'dose'\]"),
        (lambda X, y: (X[:3], y[:3]), "ask for at most"),
        (lambda X, y: (np.zeros((len(X), 4, 4)), y), "its columns are no factors; give these apart"),
        (lambda X, y: (X, pd.Series(pd.date_range("2024", periods=len(X)))), "datetime64"),
    ],
)
def test_rows_that_cannot_be_examined_are_refused_before_the_training(
    screen: tuple[pd.DataFrame, pd.Series], change: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        rc.examine({"own": lambda X, y, asked: pytest.fail("trained")}, *change(*screen))


@pytest.mark.slow
def test_a_torch_module_predicts_classes_by_logits(screen: tuple[pd.DataFrame, pd.Series]) -> None:
    torch = pytest.importorskip("torch")
    X, y = screen
    kinds = pd.cut(y, [-99, -1, 1, 99], labels=["low", "middle", "high"]).astype(str)
    inputs = OneHotEncoder(sparse_output=False).fit_transform(X)

    def train(module: Any, inputs: Any, classes: Any) -> None:
        assert classes.dtype == torch.int64
        optimizer = torch.optim.Adam(module.parameters(), 0.05)
        for _ in range(40):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(inputs), classes).backward()
            optimizer.step()

    torch.manual_seed(0)
    examined = rc.examine((torch.nn.Linear(inputs.shape[1], 3), train), inputs, kinds, factors=X, folds=2)
    assert np.allclose(examined.models[0].predicted.sum(axis=1), 1)
    assert next(examined.models[0].by_verdict.rows())["accuracy"] > 0.7
