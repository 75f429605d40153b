"""Costs of gated functions: closed forms against direct minimisation over parameters, and known numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from recombine.errors import InputError
from recombine.theory import gated_norms as norms
from recombine.theory.gated_features import published_transform

ZETA = np.cos(1 + np.arange(3)[:, None, None] + 2 * np.arange(2)[:, None] + 3 * np.arange(3))
B = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))


def least_squares_of_parameters(represent, target, sizes, seed=0, rounds=7):
    """Minimise half the squared parameters subject to represent(theta) = target, by augmented Lagrangians."""
    rng = np.random.default_rng(seed)
    theta = 0.5 * rng.normal(size=sizes)
    multiplier, weight = np.zeros(target.size), 10.0

    def objective(theta):
        miss = (represent(theta) - target).ravel()
        return 0.5 * theta @ theta + multiplier @ miss + weight / 2 * miss @ miss

    for _ in range(rounds):
        theta = minimize(objective, theta, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}).x
        multiplier = multiplier + weight * (represent(theta) - target).ravel()
        weight = min(weight * 3, 1e3)
    return 0.5 * float(theta @ theta)


def test_group_cost_is_the_least_cost_of_units_and_readout():
    def represent(theta):
        w, v = theta[:18].reshape(3, 2, 3), theta[18:]
        zeta = v[:, None, None] * w
        return np.stack([zeta[0, a] + zeta[1, b] + zeta[2, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])

    target = np.stack([ZETA[0, a] + ZETA[1, b] + ZETA[2, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    found = min(least_squares_of_parameters(represent, target, 21, seed) for seed in (0, 1))
    assert found == pytest.approx(norms.least_group_cost(ZETA)[0], abs=1e-5)
    assert norms.least_group_cost(ZETA)[0] == pytest.approx(4.733743, abs=1e-6)


def test_units_that_share_contexts_cost_the_plain_norm():
    def represent(theta):
        return np.einsum("h,hcd->cd", theta[:3], theta[3:].reshape(3, 2, 5))

    assert least_squares_of_parameters(represent, B, 33) == pytest.approx(norms.shared_contexts_cost(B), abs=1e-5)


def test_a_gated_readout_costs_the_nuclear_norm():
    def represent(theta):
        return theta[:4].reshape(2, 2) @ theta[4:].reshape(2, 5)

    assert least_squares_of_parameters(represent, B, 14) == pytest.approx(norms.gated_readout_cost(B), abs=1e-5)


def test_gated_convolutions_cost_the_group_norm_of_frequencies():
    shifts = np.stack([np.roll(np.eye(5), shift, axis=1) for shift in range(5)])

    def represent(theta):
        # f = sum_p v_p (w_c * x)_p with circular filters, so beta_c[k] = sum_p v_p w_c[p - k].
        return np.einsum("p,pdk,cd->ck", theta[:5], shifts, theta[5:].reshape(2, 5)[:, ::-1])

    found = min(least_squares_of_parameters(represent, B, 15, seed) for seed in (0, 1))
    assert found == pytest.approx(norms.convolution_cost(B), abs=1e-5)


def test_chains_cost_a_power_of_the_norm():
    def represent(theta):
        return theta[0] * theta[1] * theta[2:]

    assert least_squares_of_parameters(represent, B[0, :3], 5) == pytest.approx(
        norms.chain_cost(B[:1, :3], 3), abs=1e-5
    )
    assert norms.chain_cost(ZETA, 2) == pytest.approx(norms.group_cost(ZETA))
    assert norms.chain_cost(ZETA, 1) == pytest.approx((ZETA**2).sum() / 2)


@given(units=st.integers(1, 6), contexts=st.integers(1, 3), seed=st.integers(0, 1000))
def test_effective_squares_are_the_sum_over_joint_contexts(units, contexts, seed):
    zeta = np.random.default_rng(seed).normal(size=(units, contexts, 2))
    assert norms.effective_squares(zeta) == pytest.approx(norms.effective_squares_by_sum(zeta), rel=1e-12)


@given(seed=st.integers(0, 1000), units=st.integers(2, 5))
def test_shifts_keep_the_function_and_never_raise_the_least_cost(seed, units):
    rng = np.random.default_rng(seed)
    zeta = rng.normal(size=(units, 2, 3))
    shift = rng.normal(size=(units, 1, 3))
    moved = zeta + shift - shift.mean(axis=0)
    least, best = norms.least_group_cost(zeta)
    assert norms.effective_squares(moved) == pytest.approx(norms.effective_squares(zeta))
    assert norms.least_group_cost(moved)[0] == pytest.approx(least, rel=1e-6)
    assert norms.group_cost(zeta + best[:, None]) == pytest.approx(least, rel=1e-9)
    assert np.abs(best.sum(axis=0)).max() < 1e-9
    assert least <= norms.group_cost(zeta) + 1e-12


def test_the_published_grouping_takes_contexts_of_different_units_together():
    rows = np.random.RandomState(1).randn(785, 3, 4).transpose(1, 2, 0).reshape(12, 785)
    assert norms.group_norm(rows, 3) == pytest.approx(168.407117, abs=5e-7)
    assert norms.group_norm(rows, 3, order="F") == pytest.approx(168.402395, abs=5e-7)
    assert norms.group_norm(rows, 3) == pytest.approx(norms.group_cost(rows.reshape(3, 4, 785)))


@pytest.mark.parametrize(("units", "contexts"), [(3, 2), (5, 4)])
def test_the_published_l2_transform_leaves_weights_free(units, contexts):
    transform = published_transform(units, contexts)
    assert np.linalg.matrix_rank(transform) == units * contexts - (units - 1)
    rng = np.random.default_rng(0)
    zeta = rng.normal(size=(units, contexts, 2))
    published = contexts ** (units - 3.0) * ((transform @ zeta.reshape(-1, 2)) ** 2).sum()
    assert published != pytest.approx(norms.effective_squares(zeta), rel=1e-3)


def test_the_meant_l2_transform_is_the_effective_norm():
    units, contexts = 4, 3
    zeta = np.random.default_rng(0).normal(size=(units, contexts, 2))
    sums = zeta.sum(axis=1, keepdims=True)
    meant = contexts * zeta - sums + sums.sum(axis=0) / np.sqrt(units)
    assert contexts ** (units - 3.0) * (meant**2).sum() == pytest.approx(norms.effective_squares(zeta))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: norms.group_cost([[1.0]]), "3 axes"),
        (lambda: norms.group_norm(np.ones((5, 2)), 2), "not whole contexts"),
        (lambda: norms.group_norm(np.ones((4, 2)), 2, order="A"), "'C' (right)"),
        (lambda: norms.chain_cost(ZETA, 0), "at least 1"),
        (lambda: norms.one_layer_cost([["a"]]), "not real numbers"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
