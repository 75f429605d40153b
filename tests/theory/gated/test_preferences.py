"""What gates prefer, by name, and what norms make of the same gates; on wines, which no experiment here uses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from recombine.errors import InputError
from recombine.theory.gated import (
    GatedLinearSVC,
    GatedMargin,
    HalfSpaces,
    compare_norms,
    gate_preferences,
    inconsistency,
)

GATES = ("alcohol", "flavanoids", "color_intensity", "proline")


def wines() -> tuple[pd.DataFrame, np.ndarray]:
    table, cultivars = load_wine(return_X_y=True, as_frame=True)
    return (table - table.mean()) / table.std(), np.asarray(cultivars)


def thresholds() -> dict[str, Any]:
    """Gates that say whether a wine has more than the mean of something."""
    columns = list(wines()[0].columns)
    return {f"much {name}": partial(above_mean, column=columns.index(name)) for name in GATES}


def above_mean(X: np.ndarray, column: int) -> np.ndarray:
    return (X[:, column] > 0).astype(int)


def rows_of_weights(model: GatedLinearSVC, X: np.ndarray, ids: np.ndarray, row: int) -> np.ndarray:
    """Add up by hand what each gate contributes in the context of one sample."""
    gates = range(ids.shape[1])
    weights = sum(model.coef_[gate, ids[row, gate]] for gate in gates)
    bias = sum(model.intercept_[gate, ids[row, gate]] for gate in gates)
    return np.append(weights, bias)


@pytest.mark.parametrize("norm", ["group", "zeta", "effective", "frozen"])
def test_coefficients_by_gate_and_context_add_up_to_what_acts_on_a_sample(norm: str) -> None:
    X, cultivars = wines()
    model = GatedLinearSVC(norm, contexts=thresholds(), C=10.0).fit(X, cultivars == 1)
    assert model.gates_ == [f"much {name}" for name in GATES]
    assert model.coef_.shape == (4, 2, 13)
    # Closed gates add nothing.
    assert model.coef_[:, 0].any() != (norm == "frozen")
    values = X.to_numpy()
    ids = np.column_stack([gate(values) for gate in thresholds().values()])
    acting = np.array([rows_of_weights(model, values, ids, row) for row in range(len(ids))])
    np.testing.assert_allclose(acting, model.effective_weights(X), atol=1e-9)
    outputs = (acting[:, :-1] * values).sum(axis=1) + acting[:, -1]
    np.testing.assert_allclose(outputs, model.decision_function(X), atol=1e-9)


def test_each_class_has_coefficients_of_its_own_and_one_layer_has_one_gate() -> None:
    X, cultivars = wines()
    model = GatedLinearSVC(contexts=thresholds(), bias=False).fit(X, cultivars)
    assert model.coef_.shape == (3, 4, 2, 13)
    assert not model.intercept_.any()
    single = GatedLinearSVC("one-layer", contexts=thresholds(), C=10.0).fit(X, cultivars == 1)
    assert single.gates_ == ["all gates together"]
    joint = np.unique([gate(X.to_numpy()) for gate in thresholds().values()], axis=1).shape[1]
    assert single.coef_.shape == (1, joint, 13)


def test_what_has_not_been_fitted_has_no_coefficients() -> None:
    assert not hasattr(GatedLinearSVC(), "coef_")
    with pytest.raises(NotFittedError):
        gate_preferences(GatedLinearSVC())


def test_gates_are_named_after_what_gives_them() -> None:
    X, cultivars = wines()

    def strong(values: np.ndarray) -> np.ndarray:
        return (values[:, 0] > 0).astype(int)

    own = [strong, lambda values: (values[:, :2] > 0).astype(int)]
    assert GatedLinearSVC(contexts=own, C=1.0).fit(X, cultivars).gates_ == ["strong (0)", "gate 1 0", "gate 1 1"]
    drawn = GatedLinearSVC(units=2, C=1.0, random_state=0).fit(X, cultivars)
    assert drawn.gates_ == ["half-space 0", "half-space 1"]
    assert isinstance(drawn.contexts_, HalfSpaces)


def test_preferences_name_gates_and_features_and_their_shares_are_those_of_the_norm() -> None:
    X, cultivars = wines()
    model = GatedLinearSVC(contexts=thresholds()).fit(X, cultivars == 1)
    table = gate_preferences(model, strongest=2)
    assert len(table) == 8
    first = {name: group["share"][0] for name, group in table.by("gate").items()}
    margin = model.margin_
    assert isinstance(margin, GatedMargin)
    expected = dict(zip(model.gates_, margin.group_norms / margin.norm, strict=True))
    assert first == pytest.approx(expected, abs=1e-3)
    assert list(first) == sorted(expected, key=lambda gate: -expected[gate])
    top = next(iter(table.rows()))
    weights = model.coef_[model.gates_.index(top["gate"]), int(top["context"])]
    assert top["prefers"].split()[0] == X.columns[np.abs(weights).argmax()]
    assert top["prefers"].count(", ") == 1
    # Without a data frame there are no names, and with three classes rows for each.
    plain = gate_preferences(GatedLinearSVC(contexts=thresholds()).fit(X.to_numpy(), cultivars))
    assert sorted(plain.by("class")) == ["0", "1", "2"]
    assert plain["prefers"][0].startswith("x")


def test_a_gate_that_is_not_needed_is_off() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    gates = {
        "useful": lambda values: (values[:, 0] > 0).astype(int),
        "twice as weak": lambda values: (np.abs(values[:, 1]) > 9).astype(int),
    }
    table = gate_preferences(GatedLinearSVC(contexts=gates, C=100.0).fit(X, y))
    assert table.only(gate="useful")["share"].tolist() == [1.0, 1.0]
    assert table.only(gate="twice as weak")["prefers"].tolist() == ["nothing (gate off)"]


def test_norms_are_compared_on_the_same_folds_and_gates() -> None:
    X, cultivars = wines()
    table = compare_norms(GatedLinearSVC(contexts=thresholds()), X, cultivars)
    assert table["norm"].tolist() == ["group", "zeta", "effective"]
    assert (table["accuracy"] > 0.9).all()
    assert table["gain"][0] == table["differs"][0] == 0
    np.testing.assert_allclose(table["gain"], table["accuracy"] - table["accuracy"][0], atol=2e-4)
    # Drawn half-spaces are the same for all norms, also where nobody gave a seed: a norm agrees with itself.
    twice = compare_norms(GatedLinearSVC(units=3), X, cultivars == 0, norms=("zeta", "effective"))
    single = GatedLinearSVC("zeta", units=1, bits=0)
    alone = compare_norms(single, X, cultivars == 0, norms=("group", "zeta"))
    assert len(twice) == 2
    # With one context there is one group, and all norms are the same machine.
    assert alone["differs"].tolist() == [0, 0]
    with pytest.raises(InputError, match="folds is 1"):
        compare_norms(single, X, cultivars, folds=1)
    for model in ("group", LogisticRegression()):
        with pytest.raises(InputError, match=r"model is .*; give a GatedLinearSVC"):
            compare_norms(model, X, cultivars)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"model is .*; give a GatedLinearSVC"):
            gate_preferences(model)  # type: ignore[arg-type]


def test_differences_are_those_of_the_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    X, cultivars = wines()
    told = {"group": cultivars.copy(), "zeta": np.where(np.arange(len(cultivars)) < 10, 2, cultivars)}
    answers = iter(told.values())
    monkeypatch.setattr("recombine.theory.gated.preferences.cross_val_predict", lambda *_, **__: next(answers))
    table = compare_norms(GatedLinearSVC(), X, cultivars, norms=tuple(told))
    wrong = int((told["zeta"] != cultivars).sum())
    assert table["accuracy"].round(4).tolist() == [1.0, round(1 - wrong / len(cultivars), 4)]
    assert table["differs"][1] == round(inconsistency(told["zeta"], told["group"], cultivars).share, 4)
