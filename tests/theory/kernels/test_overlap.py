"""Overlap kernels: published salience, Moebius inversion, depth limits, and random networks as an outside oracle."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError
from recombine.theory.kernels import (
    gaussian_kernel,
    is_positive,
    kernel_of_salience,
    kernel_of_sets,
    kernel_of_values,
    quadratic_kernel,
    step_kernel,
)
from recombine.theory.kernels.overlap import OverlapKernel

REFERENCE = [
    ("R1", OverlapKernel.relu(1, 2), [0.426422, 0.147155], 0.466942),
    ("R2", OverlapKernel.relu(5, 2), [0.282169, 0.435661], None),
    ("R3", OverlapKernel.relu(3, 3), [0.203501, 0.094238, 0.106783], 1.530529),
    ("R4", quadratic_kernel(2, 3), [0.146891, 0.141077, 0.136094], None),
    ("R5", gaussian_kernel(10, 4), [0.014461, 0.039430, 0.058895, 0.469995], None),
    ("R6a", OverlapKernel.ntk(1, 2), [0.371068, 0.257864], None),
    ("R6b", OverlapKernel.ntk(2, 3), [0.171232, 0.091317, 0.212351], None),
    ("bias", OverlapKernel.relu(1, 2, bias=1 / 6), [0.431582], None),
]


@pytest.mark.parametrize(
    ("kernel", "salience", "constant"), [row[1:] for row in REFERENCE], ids=[r[0] for r in REFERENCE]
)
def test_published_salience(kernel, salience, constant):
    assert_allclose(kernel.salience[: len(salience)], salience, atol=1e-6)
    if constant is not None:
        assert kernel.constant == pytest.approx(constant, abs=1e-6)


def test_wide_random_relu_network_has_the_predicted_salience():
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((4, 100_000))
    cells = every_cell((2, 2))
    inputs = np.zeros((4, 4))
    inputs[np.arange(4)[:, None], cells + np.array([0, 2])] = 1.0
    hidden = np.maximum(inputs @ weights, 0)
    gram = hidden @ hidden.T
    overlap = (cells[:, None] == cells[None]).sum(axis=2)
    measured = kernel_of_values([gram[overlap == count].mean() for count in range(3)])
    assert_allclose(measured.salience, OverlapKernel.relu(1, 2).salience, atol=0.005)


ACTIVATIONS = {
    "relu": (OverlapKernel.relu, lambda u: np.maximum(u, 0)),
    "step": (step_kernel, lambda u: (u > 0).astype(float)),
    "quadratic": (quadratic_kernel, lambda u: np.maximum(u, 0) ** 2),
    "gaussian": (gaussian_kernel, lambda u: np.exp(-(u**2))),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_layer_map_is_the_expected_product_of_activations(name):
    constructor, activation = ACTIVATIONS[name]
    rng = np.random.default_rng(1)
    first, other = rng.standard_normal((2, 400_000))
    values = []
    for cosine in (0.0, 0.5, 1.0):
        second = cosine * first + math.sqrt(1 - cosine**2) * other
        values.append(np.mean(activation(first) * activation(second)))
    assert_allclose(constructor(1, 2).values, np.array(values) / values[-1], atol=0.02)


@pytest.mark.parametrize("constructor", [OverlapKernel.relu, step_kernel, quadratic_kernel])
@pytest.mark.parametrize("factors", [2, 3])
def test_whole_cells_take_over_with_depth(constructor, factors):
    whole = [constructor(depth, factors).salience[-1] for depth in range(12)]
    assert whole[0] == 0.0
    assert np.all(np.diff(whole) > 0)
    assert whole[-1] < 1


def test_depth_limits():
    assert 0.92 < OverlapKernel.relu(100, 2).salience[-1] < 1
    assert OverlapKernel.relu(800, 2).salience[-1] > 0.98
    assert gaussian_kernel(50, 2).salience[-1] == pytest.approx(0.8750, abs=1e-4)


def test_full_leak_is_a_linear_network_and_keeps_the_input_kernel():
    assert_allclose(OverlapKernel.relu(4, 3, leak=1.0).values, np.arange(4) / 3)


def test_additive_kernel_has_exactly_no_higher_weight():
    weights = kernel_of_values(np.arange(7) / 6).weights
    assert all(weight == 0 for subset, weight in weights.items() if len(subset) != 1)


saliences = st.integers(1, 5).flatmap(
    lambda factors: st.lists(st.floats(0.01, 1.0), min_size=factors, max_size=factors)
)


@given(saliences, st.floats(0, 2))
def test_values_and_salience_round_trip(raw, constant):
    factors = len(raw)
    total = sum(math.comb(factors, order) * value for order, value in enumerate(raw, start=1))
    kernel = kernel_of_salience(np.array(raw) / total, constant)
    assert_allclose(kernel.salience, np.array(raw) / total, atol=1e-12)
    assert kernel.constant == pytest.approx(constant, abs=1e-12)
    assert_allclose(kernel_of_values(kernel.values).values, kernel.values)
    assert sum(math.comb(factors, k) * s for k, s in enumerate(kernel.salience, 1)) == pytest.approx(1)


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_weights_rebuild_the_gram_matrix(factors, seed):
    rng = np.random.default_rng(seed)
    sets = [subset for order in range(factors + 1) for subset in itertools.combinations(range(factors), order)]
    kernel = kernel_of_sets({subset: rng.random() for subset in sets})
    cells = rng.integers(0, 3, (7, factors))
    rebuilt = np.zeros((7, 7))
    for subset, weight in kernel.weights.items():
        columns = cells[:, list(subset)]
        rebuilt += weight * np.all(columns[:, None] == columns[None], axis=2)
    assert_allclose(rebuilt, kernel(cells, cells), atol=1e-12)


def test_sets_and_counts_agree_where_only_the_count_matters():
    counted = OverlapKernel.relu(2, 3)
    sets = {s: counted.values[len(s)] for order in range(4) for s in itertools.combinations(range(3), order)}
    by_set = kernel_of_sets(sets)
    assert_allclose(by_set.cube, counted.cube, atol=1e-14)
    assert by_set.salience_by_set[(0, 1)] == pytest.approx(counted.salience[1])
    cells = every_cell((2, 3, 2))
    assert_allclose(by_set(cells, cells), counted(cells, cells))


def test_which_component_values_use_the_right_factor():
    kernel = kernel_of_sets({(): 0.0, (0,): 0.5, (1,): 0.2, (0, 1): 1.0})
    assert kernel([[0, 0]], [[0, 1], [1, 0]]).tolist() == [[0.5, 0.2]]


def test_positivity_is_that_of_the_dense_gram_matrix():
    rng = np.random.default_rng(3)
    answers = []
    for _ in range(40):
        kernel = kernel_of_values(np.append(rng.random(3), 1.0))
        cells = every_cell((2, 3, 3))
        dense = np.linalg.eigvalsh(kernel(cells, cells)).min() >= -1e-10
        assert is_positive(kernel, (2, 3, 3)) == dense
        answers.append(dense)
    assert set(answers) == {True, False}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel_of_values([0.0, np.nan, 1.0]), "finite"),
        (lambda: kernel_of_values([[0.0, 1.0]]), "shape"),
        (lambda: kernel_of_salience([0.5], factors=4), "do not fit 4 factors"),
        (lambda: kernel_of_sets({(): 0.0, (0,): 1.0, (1,): 1.0}), r"missing: \(0, 1\)"),
        (lambda: OverlapKernel.relu(-1, 2), "depth"),
        (lambda: OverlapKernel.relu(1, 2)([[0, 1]], [[0]]), "columns"),
        (lambda: kernel_of_values([1.0, 1.0]).salience, "larger"),
        (lambda: kernel_of_sets({(): 0, (0,): 0.1, (1,): 0.2, (0, 1): 1.0}).values, "which factors"),
        (lambda: is_positive(OverlapKernel.relu(1, 2), (3,)), "do not fit"),
        (lambda: OverlapKernel(3, (0.0, 1.0)), "do not fit"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    "kernel",
    [
        OverlapKernel.relu(2, 3, leak=0.1, bias=0.5),
        OverlapKernel.ntk(1, 2),
        kernel_of_values([0.0, 0.3, 1.0]),
    ],
    ids=repr,
)
def test_a_kernel_shows_how_it_is_made_again(kernel):
    assert eval(repr(kernel), {"OverlapKernel": OverlapKernel}) == kernel
