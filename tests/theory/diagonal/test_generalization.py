"""How well a trained network would do: every method, its limits, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recombine.errors import InputError, SolverError
from recombine.theory.diagonal.generalization import METHODS, predict
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
    assert repr(found) == f"Prediction(method='stl probe', test_loss={found.test_loss!r})"


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
        (lambda: predict(X, B), "auxiliary"),
        (lambda: predict(X, B[:3]), "teacher"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
