"""How well a trained network would do: every method, its limits, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recombine.errors import InputError, SolverError
from recombine.theory.diagonal.flow import Weights, gradient_descent, gradient_flow
from recombine.theory.diagonal.generalization import METHODS, predict, predict_curve
from recombine.theory.diagonal.interpolators import least_l1, least_potential, least_squares_from
from recombine.theory.diagonal.penalties import Potential, pretrained_weights

X = np.cos(np.outer(np.arange(1, 4), np.arange(1, 7)))

Y = np.array([1.0, -0.5, 0.25])

B = np.array([1.0, -0.7, 0.0, 0.0, 0.4, 0.0])


def test_large_scaling_is_linear_probing() -> None:
    teacher = least_l1(X, Y).value

    def distance(m: float) -> float:
        tuned, probe = (
            predict(X, teacher, method=method, auxiliary=B, scaling=m).beta for method in ("pt+ft", "pt+ft probe")
        )
        return float(np.abs(tuned - probe).max())

    assert distance(1.0) > 1
    assert distance(10.0) == pytest.approx(0.035, abs=5e-4)
    assert distance(100.0) < 1e-5


def test_a_thousand_coordinates_take_few_steps() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((64, 1000))
    teacher = np.r_[np.full(40, 40**-0.5), np.zeros(960)]
    for method, scaling in (("stl", 1.0), ("pt+ft", 1.0), ("pt+ft", 1e-3)):
        found = predict(inputs, teacher, method=method, auxiliary=teacher, scaling=scaling)
        assert found.interpolator.steps <= 20
        assert found.interpolator.residual < 1e-10


def test_pretrained_features_help_and_probes_of_random_ones_do_not() -> None:
    pytest.importorskip("clarabel")
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((40, 200))
    teacher = np.r_[np.full(10, 10**-0.5), np.zeros(190)]
    losses = {m: predict(inputs, teacher, method=m, auxiliary=teacher).test_loss for m in METHODS}
    assert losses["pt+ft"] < 1e-4 < losses["stl"] < losses["stl probe"]
    assert losses["mtl"] < losses["stl"]


@pytest.mark.parametrize("method", ["stl probe", "pt+ft probe"])
def test_probes_do_not_mind_a_repeated_sample(method: str) -> None:
    once, twice = (predict(inputs, B, method=method, auxiliary=B) for inputs in (X, np.vstack([X, X[:1], 0 * X[:1]])))
    assert twice.beta == pytest.approx(once.beta, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_samples_that_contradict_each_other_have_no_interpolator(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((5, 12))
    both, targets = np.vstack([inputs, inputs[:1]]), np.r_[inputs @ rng.standard_normal(12), 99.0]
    for solve in (
        lambda: least_squares_from(both, targets, np.zeros(12), np.ones(12)),
        lambda: least_potential(both, targets, Potential.single_task(12, 1.0)),
    ):
        with pytest.raises(SolverError, match=r"rank 5|stalled"):
            solve()


def test_probes_of_features_that_differ_much_in_size_still_fit() -> None:
    rng = np.random.default_rng(0)
    inputs, teacher = rng.standard_normal((30, 200)), rng.standard_normal(200)
    auxiliary = np.r_[np.full(20, 20**-0.5), np.zeros(180)]
    found = predict(inputs, teacher, method="pt+ft probe", auxiliary=auxiliary, alpha=1e-6, gamma=0.0)
    # Ten samples are left to 180 features whose squared weights are 1e-11 of the others'.
    assert found.interpolator.residual < 1e-8
    plus, minus = pretrained_weights(auxiliary, 1e-6)
    root = np.sqrt(plus**2 + minus**2)
    moved, rows = found.beta / root, inputs * root
    left = moved - rows.T @ np.linalg.lstsq(rows.T, moved, rcond=None)[0]
    assert np.abs(left).max() < 1e-8 * np.abs(moved).max()


def test_a_penalty_that_leaves_too_few_coordinates_is_not_blamed_on_the_samples() -> None:
    rng = np.random.default_rng(0)
    inputs, teacher = rng.standard_normal((30, 200)), rng.standard_normal(200)
    auxiliary = np.r_[np.full(20, 20**-0.5), np.zeros(180)]
    with pytest.raises(SolverError, match="independent, but") as raised:
        predict(inputs, teacher, auxiliary=auxiliary, alpha=1e-10, gamma=1e-10)
    assert "repeated" not in str(raised.value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"auxiliary": np.full(6, np.nan)}, "coefficients of auxiliary are not all finite"),
        ({"teacher": np.full(6, np.nan)}, "coefficients of teacher are not all finite"),
        ({"teacher": 1e200 * B}, r"coefficients of teacher reach 1e\+200"),
        ({"X": 1e200 * X}, r"inputs reach .*e\+199, so that powers of them overflow"),
        ({"X": 1e-200 * X}, r"inputs reach .*e-201, .* rescale"),
        ({"X": 0 * X}, "inputs are all zero"),
        ({"auxiliary": ["a"] * 6}, "auxiliary are not real numbers"),
        ({"auxiliary": np.ones(5)}, "auxiliary has shape"),
        ({"alpha": np.nan}, "alpha is nan"),
        ({"alpha": "a"}, "alpha is 'a'"),
        ({"scaling": -1.0}, "scaling is -1.0"),
        ({"gamma": np.inf}, "gamma is inf"),
        ({"form": "exac"}, "did you mean 'exact'"),
        ({"X": X[:0]}, "n at least 1"),
        ({"X": np.where(X < 0, np.nan, X)}, "inputs are not all finite"),
    ],
)
def test_every_method_refuses_the_same_things(method: str, change: dict[str, object], words: str) -> None:
    given = {"X": X, "teacher": B, "auxiliary": B} | change
    with pytest.raises(InputError, match=words):
        predict(**given, method=method)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-29, 1e29])
@pytest.mark.parametrize("method", ["stl", "stl probe", "pt+ft", "pt+ft probe"])
def test_the_unit_of_inputs_does_not_matter(method: str, scale: float) -> None:
    plain, scaled = (predict(c * X, B, method=method, auxiliary=B) for c in (1.0, scale))
    assert scaled.test_loss == pytest.approx(plain.test_loss, rel=1e-6, abs=1e-12)


def test_a_prediction_is_printed_without_its_coefficients() -> None:
    found = predict(X, B, method="stl probe")
    about = "samples=3, scaling=1.0, judged='teacher'"
    assert repr(found) == f"Prediction(method='stl probe', test_loss={found.test_loss!r}, {about})"


def test_a_single_task_starts_from_scaled_hidden_weights_and_readouts_of_gamma() -> None:
    teacher = np.arange(1.0, 7.0)
    found = predict(X, teacher, method="stl", alpha=0.1, scaling=0.3, gamma=0.5)
    alone = least_potential(X, X @ teacher, Potential.single_task(6, alpha=0.03, readout=0.5))
    assert np.allclose(found.beta, alone.value, atol=1e-12)
    probes = [
        predict(X, teacher, method="stl probe", alpha=alpha, scaling=scaling, gamma=gamma).beta
        for alpha, scaling, gamma in ((1e-3, 1.0, 1e-3), (0.1, 0.3, 0.5))
    ]
    for beta in probes:
        assert np.allclose(beta, np.linalg.pinv(X) @ X @ teacher, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: predict(X, B, method="ptft"), "did you mean 'pt\\+ft'"),
        (lambda: predict(X, B, method="finetune"), "'finetune' is called 'pt\\+ft' here"),
        (lambda: predict(X, B, method="joint"), "'joint' is called 'mtl' here"),
        (lambda: predict(X), "neither teacher nor targets"),
        (lambda: predict(X, targets=Y[:2], method="stl"), "targets \\(2,\\)"),
        (lambda: predict(X, targets=Y, method="stl"), "there are 3 samples"),
        (lambda: predict(X, targets=Y, method="stl", noise=0.1), "give teacher too"),
        (lambda: predict(X, B, method="stl", noise=-0.1), "noise is -0.1"),
        (lambda: predict(X, B, method="stl", covariance=np.ones(5)), "covariance has shape \\(5,\\)"),
        (lambda: predict(X, B, method="stl", covariance=-np.ones(6)), "variance -1"),
        (lambda: predict(X, B, method="stl", covariance=np.triu(np.ones((6, 6)))), "not symmetric"),
        (lambda: predict(X, B, method="stl", test=X), "test is a ndarray"),
        (lambda: predict(X, B, method="stl", test=(X[:, :5], Y)), "inputs of test have shape \\(3, 5\\)"),
        (lambda: predict(X, B, auxiliary=(X[:, :5], Y)), "inputs of auxiliary have shape \\(3, 5\\)"),
        (lambda: predict_curve(X, B, samples=[4], method="stl"), "samples go up to 4, but there are 3"),
        (lambda: predict_curve(X, B, scalings=[-1.0], method="stl"), r"scalings\[0\] is -1"),
        (lambda: predict(X, B), "auxiliary"),
        (lambda: predict(X, B[:3]), "teacher"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_a_covariance_gives_the_error_of_inputs_drawn_from_it() -> None:
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((6, 6))
    found = predict(X, B, method="stl", covariance=mix @ mix.T, noise=0.3, seed=1)
    new = rng.standard_normal((400_000, 6)) @ mix.T
    labels = new @ B + 0.3 * rng.standard_normal(len(new))
    assert found.test_loss == pytest.approx(np.mean((new @ found.beta - labels) ** 2), rel=0.01)
    variances = np.arange(1.0, 7.0)
    plain, full = (predict(X, B, method="stl", covariance=S).test_loss for S in (variances, np.diag(variances)))
    assert plain == pytest.approx(full, rel=1e-12)


def test_noise_costs_a_probe_what_its_closed_form_says() -> None:
    inverse = np.linalg.pinv(X)
    losses = [predict(X, B, method="stl probe", noise=0.5, seed=seed).test_loss for seed in range(500)]
    missed = B - inverse @ X @ B
    expected = missed @ missed + 0.25 * (1 + np.sum(inverse**2))
    assert np.mean(losses) == pytest.approx(expected, abs=4 * np.std(losses) / 500**0.5)


@pytest.mark.parametrize("method", ["stl", "stl probe", "pt+ft", "pt+ft probe"])
def test_with_more_samples_than_inputs_training_ends_at_least_squares(method: str) -> None:
    rng = np.random.default_rng(0)
    inputs, targets = rng.standard_normal((30, 6)), rng.standard_normal(30)
    found = predict(inputs, B, targets=targets, method=method, auxiliary=B, gamma=0.1)
    assert np.allclose(found.beta, np.linalg.lstsq(inputs, targets)[0], atol=1e-8)


@pytest.mark.slow
def test_samples_that_contradict_each_other_end_where_gradient_descent_does() -> None:
    both, targets = np.vstack([X, X[:1]]), np.r_[Y, 0.0]
    found = predict(both, targets=targets, test=(X, Y), method="stl", alpha=0.3, gamma=0.3)
    descended = gradient_descent([(both, targets)], Weights.alike(6, 0.3), rate=0.05, steps=30_000).beta[:, 0]
    assert np.allclose(found.beta, descended, atol=2e-3)
    assert found.judged == "test samples"
    assert found.test_loss == pytest.approx(0.25 / 3, rel=1e-6), "the first target and its opposite meet in the middle"


def test_samples_of_an_auxiliary_task_are_pretrained_on() -> None:
    start, m, gamma = Weights.alike(6, 0.1), 0.5, 0.05
    found = predict(X[:2], targets=Y[:2], test=(X, Y), auxiliary=(X, X @ B), alpha=0.1, scaling=m, gamma=gamma)
    pretrained = gradient_flow([(X, X @ B)], start)
    again = Weights(m * pretrained.hidden, np.full_like(pretrained.readouts, gamma))
    assert np.allclose(found.beta, gradient_flow([(X[:2], Y[:2])], again).beta[:, 0], atol=1e-7)


def test_multi_task_learning_from_samples_of_both_tasks_has_the_least_group_norm() -> None:
    pytest.importorskip("clarabel")
    second = np.sin(np.outer(np.arange(1, 4), np.arange(1, 7)) + 1)
    first = np.cos(np.outer(np.arange(1, 5), np.arange(1, 7)))
    found = predict(second, targets=Y, test=(second, Y), method="mtl", auxiliary=(first, first @ B))
    main = [0.296089, 0.151539, -0.720956, -0.132386, -0.131749, 0.0]
    assert found.interpolator.objective == pytest.approx(2.865619, abs=1e-5)
    assert np.allclose(found.beta, main, atol=2e-3)


def test_samples_are_left_out_in_turn() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((40, 100))
    truth = np.r_[np.ones(3), np.zeros(97)]
    own = predict(inputs, targets=inputs @ truth, auxiliary=truth)
    errors = [
        predict(inputs[place % 5 != fold], truth, auxiliary=truth, test=(inputs[place % 5 == fold], left)).test_loss
        for place in [np.arange(40)]
        for fold in range(5)
        for left in [inputs[place % 5 == fold] @ truth]
    ]
    assert own.judged == "samples left out"
    assert own.test_loss == pytest.approx(np.mean(errors), rel=1e-9)


def test_a_curve_is_its_predictions() -> None:
    found = predict_curve(X, B, samples=[2, 3], scalings=[1.0, 0.1], gamma=0.01, auxiliary=B)
    again = [predict(X[:n], B, auxiliary=B, scaling=m, gamma=0.01 * m).test_loss for n in (2, 3) for m in (1.0, 0.1)]
    assert [one.test_loss for one in found] == again
    assert [(one.samples, one.scaling) for one in found] == [(2, 1.0), (2, 0.1), (3, 1.0), (3, 0.1)]
