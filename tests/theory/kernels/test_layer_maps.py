"""Layer maps of any activation, and networks on inputs of one's own."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.kernels import OverlapKernel, kernel_of_sets, kernel_of_values
from recombine.theory.kernels.activation_kernels import dual_of
from recombine.theory.kernels.layer_maps import tangent


def erf_map(x: np.ndarray) -> np.ndarray:
    """Williams' arcsine kernel for unit variance: E[erf(u) erf(v)]."""
    return 2 / np.pi * np.arcsin(2 * x / 3)


def test_quadrature_gives_known_maps() -> None:
    from scipy.special import erf

    x = np.linspace(-1, 1, 9)
    assert np.allclose(dual_of(erf)(x), erf_map(x), atol=1e-12)
    assert np.allclose(dual_of(lambda u: u, gain=2.0)(x), 4 * x, atol=1e-12)


def test_a_kink_costs_digits_but_not_many() -> None:
    drawn = OverlapKernel.depth_map(dual_of(lambda u: np.maximum(u, 0)), depth=1, factors=2)
    assert np.abs(drawn.salience - OverlapKernel.relu(1, 2).salience).max() < 2e-3


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_one_hot_inputs_of_ones_own_change_nothing(depth: int) -> None:
    one_hot = kernel_of_values([0.0, 2.0, 4.0, 6.0])
    for name in ("relu", "ntk"):
        make = getattr(OverlapKernel, name)
        assert np.allclose(make(depth, inputs=one_hot).values, make(depth, 3).values, atol=1e-14)


def test_uneven_inputs_match_drawn_units() -> None:
    loud = np.array([[2, 0, 1, 0], [2, 0, 0, 1], [0, 2, 1, 0], [0, 2, 0, 1.0]])
    inputs = kernel_of_sets({(): 0.0, (0,): 4.0, (1,): 1.0, (0, 1): 5.0})
    hidden = np.tanh(np.random.default_rng(0).standard_normal((400_000, 4)) @ loud.T / np.sqrt(5))
    gram = hidden.T @ hidden / len(hidden)
    expected = OverlapKernel.depth_map(dual_of(np.tanh), depth=1, inputs=inputs)
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert np.abs(gram / gram[0, 0] - expected(cells, cells)).max() < 0.01


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: OverlapKernel.relu(1), "say how many factors"),
        (lambda: OverlapKernel.relu(1, 3, inputs=kernel_of_values([0.0, 1.0, 2.0])), "leave factors out"),
        (lambda: OverlapKernel.relu(1, inputs=kernel_of_values([0.0, 3.0, 2.0])), "largest inner product"),
        (lambda: dual_of(np.tanh, gain=0.0), "positive gain"),
        (lambda: dual_of(lambda u: np.array([1.0])), "as many finite numbers"),
    ],
)
def test_what_cannot_be_is_refused(wrong: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        wrong()  # type: ignore[operator]


@pytest.mark.parametrize("bias", [0.0, 0.3, 1.0])
def test_the_tangent_kernel_is_that_of_a_wide_network_with_trained_biases(bias: float) -> None:
    generator = np.random.default_rng(0)
    units = 400_000
    inputs = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]) / np.sqrt(2)
    into = inputs @ generator.normal(size=(4, units)) + np.sqrt(bias) * generator.normal(size=units)
    readout = generator.normal(size=units)
    # Gradients by readout, its bias, first weights and first biases, in that order.
    by_readout = 2 / units * np.maximum(into[0], 0) @ np.maximum(into, 0).T + bias
    open_both = 2 / units * ((into[0] > 0) * readout**2) @ (into > 0).T
    drawn = by_readout + open_both * (inputs[0] @ inputs.T + bias)
    kernel = OverlapKernel.ntk(depth=1, factors=2, bias=bias)
    assert np.allclose(drawn[::-1] / drawn[0], kernel.values, atol=0.01)


def test_a_bias_is_a_variance() -> None:
    with pytest.raises(InputError, match="is a variance"):
        tangent(np.array([0.0, 1.0]), 1, -1.0)
