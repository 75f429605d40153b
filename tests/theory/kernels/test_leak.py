"""Memorization leak: closed forms against the dense kernel solve, and the limits they must have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from known_tasks import KnownTask, symbolic_addition
from recombine.errors import InputError
from recombine.theory.kernels.leak import anchor_addition, slope

Floats = npt.NDArray[np.float64]


def dense_predictions(
    task: KnownTask,
    weights: tuple[float, float, float],
    constant: float = 0.0,
    ridge: float = 0.0,
    intercept: bool = False,
) -> Floats:
    """Kernel regression with every matrix written out: weights of slot 1, slot 2 and the pair."""
    one, two = (task.cells[:, None, c] == task.cells[None, :, c] for c in (0, 1))
    gram = constant + weights[0] * one + weights[1] * two + weights[2] * (one & two)
    train, target = task.train, task.target[task.train]
    system = gram[np.ix_(train, train)] + ridge * np.eye(len(target))
    if not intercept:
        dual = np.linalg.lstsq(system, target, rcond=1e-13)[0]
        return (gram[:, train] @ dual).reshape(task.sizes)
    edge = np.ones((len(target), 1))
    bordered = np.block([[system, edge], [edge.T, np.zeros((1, 1))]])
    solution = np.linalg.lstsq(bordered, np.append(target, 0.0), rcond=1e-13)[0]
    return (gram[:, train] @ solution[:-1] + solution[-1]).reshape(task.sizes)


@given(
    seed=st.integers(0, 10**6),
    constant=st.sampled_from([0.0, 0.1, 2.0]),
    ridge=st.sampled_from([0.0, 0.01, 1.0]),
    intercept=st.booleans(),
)
def test_closed_form_is_the_kernel_solution(seed: int, constant: float, ridge: float, intercept: bool) -> None:
    rng = np.random.default_rng(seed)
    n1, n2 = rng.integers(2, 8, size=2)
    values, values2 = rng.normal(size=n1) * 3 + 1, rng.normal(size=n2)
    anchors = rng.choice(n1, size=rng.integers(1, n1 + 1), replace=False)
    anchors2 = rng.choice(n2, size=rng.integers(1, n2 + 1), replace=False)
    weights = tuple(rng.uniform(0.05, 1, size=3))
    fit = anchor_addition(
        values,
        anchors,
        weights,
        values2=values2,
        anchors2=anchors2,
        constant=constant,
        ridge=ridge,
        intercept=intercept,
    )
    task = symbolic_addition(values=values, anchors=anchors, values2=values2, anchors2=anchors2)
    assert np.array_equal(fit.seen.reshape(-1), task.train)
    expected = dense_predictions(task, weights, constant, ridge, intercept)
    np.testing.assert_allclose(fit.predictions, expected, atol=1e-9)


@given(
    salience=st.floats(0.0, 0.5),
    anchors=st.integers(1, 6),
    shift=st.floats(-5, 5),
    constant=st.floats(0, 3),
    extra=st.integers(1, 4),
)
def test_slope_ignores_means_constant_and_number_of_items(
    salience: float, anchors: int, shift: float, constant: float, extra: int
) -> None:
    values = np.arange(anchors + extra) + shift
    fit = anchor_addition(values, range(anchors), salience, constant=constant)
    assert fit.slopes == pytest.approx((float(slope(salience, anchors)),) * 2, abs=1e-12)
    unseen = fit.items[0][anchors:]
    np.testing.assert_allclose(np.diff(unseen), fit.slopes[0], atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(salience=st.floats(0.01, 0.49), anchors=st.integers(1, 3))
def test_zero_mean_values_and_anchors_give_no_offset(salience: float, anchors: int) -> None:
    values = np.arange(11) - 5.0
    chosen = {1: [5], 2: [1, 9], 3: [0, 5, 10]}[anchors]
    fit = anchor_addition(values, chosen, salience)
    expected = slope(salience, anchors) * (values[:, None] + values[None, :])
    np.testing.assert_allclose(fit.predictions[~fit.seen], expected[~fit.seen], atol=1e-9)


@pytest.mark.parametrize("constant", [0.0, 0.7])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_purely_additive_kernel_loses_nothing(constant: float, intercept: bool) -> None:
    values, values2 = np.array([3.0, -1.0, 4.0, 1.0]), np.array([5.0, 9.0, -2.0])
    options = {"values2": values2, "anchors2": [2], "constant": constant, "intercept": intercept}
    fit = anchor_addition(values, [1], (0.5, 0.3, 0.0), **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(fit.predictions, values[:, None] + values2[None, :], atol=1e-9)
    nearly = anchor_addition(values, [1], (0.5, 0.3, 1e-9), **options)  # type: ignore[arg-type]
    # Item values, not only their sums, are the limit of vanishing memorization.
    for exact, limit in zip(fit.items, nearly.items, strict=True):
        np.testing.assert_allclose(exact, limit, atol=1e-6)
    assert fit.offset == pytest.approx(nearly.offset, abs=1e-6)


def test_interpolated_seen_pairs_are_exact_and_ridge_shrinks_them() -> None:
    values = np.arange(9) - 4.0
    truth = values[:, None] + values[None, :]
    exact = anchor_addition(values, [0], 0.3)
    np.testing.assert_allclose(exact.predictions[exact.seen], truth[exact.seen], atol=1e-12)
    shrunk = anchor_addition(values, [0], 0.3, ridge=0.5)
    assert np.abs(shrunk.predictions[shrunk.seen]).sum() < np.abs(truth[exact.seen]).sum()


def test_no_single_item_weight_means_no_generalization() -> None:
    fit = anchor_addition(np.arange(5.0), [1], (0.0, 0.0, 1.0))
    np.testing.assert_allclose(fit.predictions[~fit.seen], 0.0, atol=1e-12)
    assert fit.slopes == (0.0, 0.0)


def test_slope_limits() -> None:
    p = np.arange(1, 6)
    np.testing.assert_allclose(slope(0.5, p), 1.0)
    np.testing.assert_allclose(slope(0.0, p), 0.0)
    s = np.linspace(0, 0.5, 11)
    np.testing.assert_allclose(slope(s, 1), s / (1 - s))
    np.testing.assert_allclose(slope(s, 2), 2 * s)
    assert (np.diff(slope(0.3, np.arange(1, 50))) > 0).all()
    assert slope(0.01, 10**9) == pytest.approx(1.0, abs=1e-6)
    assert slope(s[:, None], p).shape == (11, 5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: slope(0.6, 1), "outside 0 to 1/2"),
        (lambda: slope(float("nan"), 1), "outside 0 to 1/2"),
        (lambda: slope(0.3, 0), "at least 1"),
        (lambda: anchor_addition([1.0, 2.0], [2], 0.3), "items are numbered 0 to 1"),
        (lambda: anchor_addition([1.0, 2.0], [], 0.3), "anchors is"),
        (lambda: anchor_addition([1.0, 2.0], [0], 0.3, anchors2=[5]), "anchors2 is"),
        (lambda: anchor_addition([1.0, np.inf], [0], 0.3), "values must be"),
        (lambda: anchor_addition([1.0, 2.0], [0], 0.7), "salience is"),
        (lambda: anchor_addition([1.0, 2.0], [0], (0.1, 0.2)), "salience is"),
        (lambda: anchor_addition([1.0, 2.0], [0], (0.0, 0.2, 0.0)), "cannot be fitted"),
        (lambda: anchor_addition([1.0, 2.0], [0], 0.3, ridge=-1.0), "zero or more"),
    ],
)
def test_bad_arguments_are_named(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]
