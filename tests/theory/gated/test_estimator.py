"""The estimator: scikit-learn's contract, and that each norm is the one it says."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from recombine.errors import InputError
from recombine.theory.gated.contexts import HalfSpaces
from recombine.theory.gated.estimator import ESTIMATOR_NORMS, GatedLinearSVC
from recombine.theory.gated.machine import NotSeparableError
from recombine.theory.gated.margin import largest_margin


# Contract checks use labels that no hard margin fits, so violations have a price there.
@parametrize_with_checks(
    [
        GatedLinearSVC(C=1.0, random_state=0),
        GatedLinearSVC("zeta", units=3, C=1.0, random_state=0),
        GatedLinearSVC("one-layer", units=1, bits=2, C=1.0, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def digits(samples=200):
    images, labels = load_digits(return_X_y=True)
    return images[:samples] / 8 - 1, np.where(labels[:samples] < 5, "low", "high")


@pytest.mark.parametrize("norm", ESTIMATOR_NORMS)
def test_each_norm_separates_and_is_certified(norm):
    X, y = digits()
    model = GatedLinearSVC(norm, units=2 if norm == "one-layer" else 10, random_state=0).fit(X, y)
    assert (model.predict(X) == y).all()
    assert abs(model.margin_.gap) < 1e-6
    inputs = np.column_stack([X, np.ones(len(X))])
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    assert (signs * model.decision_function(X)).min() == pytest.approx(1, abs=1e-6)
    again = largest_margin(inputs, signs, model.contexts_.ids(inputs), contexts=2, norm=norm)
    assert np.array_equal(again.zeta, model.margin_.zeta)


def test_a_pickled_model_keeps_its_thresholds():
    X, y = digits()
    model = GatedLinearSVC(units=5, random_state=1, C=100.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


def test_given_contexts_are_used_and_two_layers_beat_a_linear_machine():
    X, y = digits(400)
    contexts = HalfSpaces.balanced(20, 1, np.column_stack([X, np.ones(len(X))]), seed=3)
    model = GatedLinearSVC(contexts=contexts, C=1e4).fit(X, y)
    assert model.contexts_ is contexts
    gated = cross_val_score(model, X, y, cv=3).mean()
    linear = cross_val_score(GatedLinearSVC("zeta", units=1, bits=0, C=1e4), X, y, cv=3).mean()
    assert gated > linear + 0.03


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"norm": "grup"}, "did you mean 'group'"),
        ({"thresholds": "mean"}, "Known: median, random"),
        ({"units": 2.5}, "units is 2.5; give a whole number"),
        ({"units": None}, "units is None"),
        ({"bits": "1"}, "bits is '1'"),
        ({"C": None}, "C is None"),
        ({"contexts": "x"}, "contexts is a str; give HalfSpaces"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(InputError) as caught:
        GatedLinearSVC(**options).fit(*digits())
    assert words in str(caught.value)


def test_the_only_class_is_named():
    with pytest.raises(InputError, match=r"one class only, 1\.0;"):
        GatedLinearSVC().fit(np.eye(3), np.ones(3))


def test_a_hard_margin_that_does_not_exist_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(NotSeparableError):
        GatedLinearSVC(units=1, random_state=0).fit(rng.normal(size=(100, 2)), rng.integers(2, size=100))


class TestMoreThanTwoClasses:
    @pytest.mark.parametrize("norm", ["group", "effective", "one-layer"])
    def test_each_class_has_the_function_of_that_class_against_all_others(self, norm):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(60, 6))
        y = np.array(["a", "b", "c"])[(X[:, :3]).argmax(axis=1)]
        shape = {"units": 1, "bits": 3} if norm == "one-layer" else {"units": 6}
        together = GatedLinearSVC(norm, C=10.0, random_state=0, **shape).fit(X, y)
        assert together.classes_.tolist() == ["a", "b", "c"]
        for place, word in enumerate("abc"):
            single = GatedLinearSVC(norm, C=10.0, random_state=0, **shape).fit(X, y == word)
            np.testing.assert_allclose(together.decision_function(X)[:, place], single.decision_function(X), atol=1e-6)
        assert (together.predict(X) == y).mean() > 0.8
        assert together.effective_weights(X).shape == (60, 3, 7)
        with_bias = np.column_stack([X, np.ones(60)])
        outputs = np.einsum("nkd,nd->nk", together.effective_weights(X), with_bias)
        np.testing.assert_allclose(outputs, together.decision_function(X), atol=1e-9)
