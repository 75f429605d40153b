"""Costs of gated functions: identities between them, closed forms against sums, and known numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.worlds.gated_problems import gated_problem
from recombine.theory.gated import norms
from recombine.theory.gated.features import gating_for, published_transform

ZETA = np.cos(1 + np.arange(3)[:, None, None] + 2 * np.arange(2)[:, None] + 3 * np.arange(3))
BETA = np.sin(1 + np.arange(2)[:, None] + 2 * np.arange(5))


def effective_squares(zeta: np.ndarray) -> float:
    """The sum of squared weights over all joint contexts, one by one."""
    units, contexts, _ = zeta.shape
    joint = itertools.product(range(contexts), repeat=units)
    return sum((zeta[np.arange(units), list(context)].sum(axis=0) ** 2).sum() for context in joint)


def test_known_costs_and_where_they_meet():
    assert norms.least_group_cost(ZETA)[0] == pytest.approx(4.733743, abs=1e-6)
    assert norms.chain_cost(ZETA, 2) == pytest.approx(norms.group_cost(ZETA))
    assert norms.chain_cost(ZETA, 1) == pytest.approx((ZETA**2).sum() / 2)
    assert (ZETA**2).sum() == pytest.approx(8.828013, abs=1e-6)
    assert np.sqrt(5) * norms.convolution_cost(BETA) == pytest.approx(4.800949, abs=1e-6)
    # One context per unit, or one unit, and the norms are the same.
    assert norms.group_cost(ZETA[:1]) == pytest.approx(norms.shared_contexts_cost(ZETA[0]))
    assert norms.gated_readout_cost(BETA[:1]) == pytest.approx(norms.shared_contexts_cost(BETA[:1]))
    assert norms.frozen_relu_cost(BETA) == pytest.approx(norms.group_cost(BETA[:, None]))
    assert norms.gated_readout_cost(BETA) >= norms.shared_contexts_cost(BETA)


def test_the_diamond_of_figure_1():
    """zeta_1 = (-+1, 0, -.5), zeta_2 = (0, -+1, -.5) is abs(x1) + abs(x2) - 1."""
    zeta = np.array([[[-1, 0, -0.5], [1, 0, -0.5]], [[0, -1, -0.5], [0, 1, -0.5]]])
    assert norms.group_cost(zeta) == pytest.approx(2 * np.sqrt(2.5), abs=1e-12)
    given = gated_problem("toy")
    values = gating_for("group", given.ids, 2).values(zeta.reshape(4, 3), given.X, given.ids)
    assert values == pytest.approx(np.abs(given.X[:, :2]).sum(axis=1) - 1)
    assert (np.sign(values) == given.y).all()


def test_a_cost_of_degree_two_over_the_number_of_factors():
    for cost, degree in (
        (norms.group_cost, 1),
        (lambda z: norms.chain_cost(z, 3), 2 / 3),
    ):
        assert cost(2 * ZETA) == pytest.approx(2**degree * cost(ZETA))
    for cost in (norms.convolution_cost, norms.gated_readout_cost, norms.shared_contexts_cost):
        assert cost(2 * BETA) == pytest.approx(2 * cost(BETA))
    # Circular shifts and permuted contexts do not change what a convolution costs.
    assert norms.convolution_cost(np.roll(BETA, 2, axis=1)[::-1]) == pytest.approx(norms.convolution_cost(BETA))


@given(units=st.integers(1, 6), contexts=st.integers(1, 3), seed=st.integers(0, 1000))
def test_the_effective_norm_is_the_sum_over_joint_contexts(units, contexts, seed):
    zeta = np.random.default_rng(seed).normal(size=(units, contexts, 2))
    sums = zeta.sum(axis=1, keepdims=True)
    meant = contexts * zeta - sums + sums.sum(axis=0) / np.sqrt(units)
    assert contexts ** (units - 3.0) * (meant**2).sum() == pytest.approx(effective_squares(zeta), rel=1e-12)


@given(seed=st.integers(0, 1000), units=st.integers(2, 5))
def test_shifts_keep_the_function_and_never_raise_the_least_cost(seed, units):
    rng = np.random.default_rng(seed)
    zeta = rng.normal(size=(units, 2, 3))
    shift = rng.normal(size=(units, 1, 3))
    moved = zeta + shift - shift.mean(axis=0)
    least, best = norms.least_group_cost(zeta)
    assert effective_squares(moved) == pytest.approx(effective_squares(zeta))
    assert norms.least_group_cost(moved)[0] == pytest.approx(least, rel=1e-6)
    assert norms.group_cost(zeta + best[:, None]) == pytest.approx(least, rel=1e-9)
    assert np.abs(best.sum(axis=0)).max() < 1e-9
    assert least <= norms.group_cost(zeta) + 1e-12


@pytest.mark.parametrize(("units", "contexts"), [(3, 2), (5, 4)])
def test_the_published_l2_transform_leaves_weights_free(units, contexts):
    transform = published_transform(units, contexts)
    assert np.linalg.matrix_rank(transform) == units * contexts - (units - 1)
    rng = np.random.default_rng(0)
    zeta = rng.normal(size=(units, contexts, 2))
    published = contexts ** (units - 3.0) * ((transform @ zeta.reshape(-1, 2)) ** 2).sum()
    assert published != pytest.approx(effective_squares(zeta), rel=1e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: norms.group_cost([[1.0]]), "3 axes"),
        (lambda: norms.chain_cost(ZETA, 0), "at least 1"),
        (lambda: norms.chain_cost(ZETA, 2.5), "depth is 2.5"),
        (lambda: norms.chain_cost(1.0, 2), "shape ()"),
        (lambda: norms.chain_cost([], 2), "none of them empty"),
        (lambda: norms.one_layer_cost([["a"]]), "not real numbers"),
        (lambda: norms.gated_readout_cost([[np.nan, 1.0]]), "not finite"),
        (lambda: norms.least_group_cost(np.full((2, 2, 2), np.inf)), "not finite"),
        (lambda: norms.least_group_cost(ZETA, tolerance=np.nan), "tolerance is nan"),
        (lambda: norms.least_group_cost(ZETA, max_rounds=0), "max_rounds is 0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
