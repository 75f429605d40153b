"""Gradient flow by implicit steps, against the explicit integrator, gradient descent, and what flow conserves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, SolverError
from recombine.theory.diagonal.flow import Weights, gradient_descent, gradient_flow
from recombine.theory.diagonal.interpolators import least_potential
from recombine.theory.diagonal.penalties import Potential, pretrained_weights
from recombine.theory.diagonal.stiff_flow import _Network, stiff_flow

X = np.cos(np.outer(np.arange(1, 4), np.arange(1, 7)))
Y = np.array([1.0, -0.5, 0.25])
B = np.array([1.0, -0.7, 0.0, 0.0, 0.4, 0.0])


def finetuned(alpha: float, scaling: float, gamma: float) -> Weights:
    return Weights(scaling * np.stack(pretrained_weights(B, alpha)), np.full((2, 6, 1), gamma))


def up_and_down(start: Weights) -> tuple[FloatArray, FloatArray]:
    (w, m), (v, r) = start.hidden, start.readouts[:, :, 0]
    return np.hypot(w + v, m - r) / 2, np.hypot(w - v, m + r) / 2


STARTS = [Weights.alike(6, 1.0), Weights.alike(6, 0.1, 0.5), finetuned(0.1, 1.0, 0.2), finetuned(1e-3, 0.1, 1e-4)]


@pytest.mark.parametrize("start", STARTS)
def test_flow_ends_where_all_weights_integrated_end(start: Weights) -> None:
    end = stiff_flow(X, Y, up_and_down(start), precision=1e-10)
    assert end.residual < 1e-12
    assert end.value == pytest.approx(gradient_flow([(X, Y)], start).beta[:, 0], abs=1e-8)
    assert end.value == pytest.approx(end.up**2 - end.down**2, abs=1e-15)


def test_derivatives_are_those_of_the_velocities() -> None:
    network = _Network(X, Y, X.T @ X * (2 / 3))
    weights = np.random.default_rng(0).uniform(0.1, 1, 12)
    slopes = approx_fprime(weights, lambda place: network.velocity(0.0, place), 1e-7)
    assert network.jacobian(0.0, weights) == pytest.approx(slopes, abs=1e-5)


def test_the_clock_is_that_of_gradient_descent() -> None:
    # With two samples the mean squared error is half the sum of squares, the loss of the other integrators.
    start = finetuned(0.1, 1.0, 0.2)
    end = stiff_flow(X[:2], Y[:2], up_and_down(start))
    place = int(np.searchsorted(end.times, 0.5))
    halfway = gradient_descent([(X[:2], Y[:2])], start, rate=end.times[place] / 2000, steps=2000).beta[:, 0]
    assert end.path[place] == pytest.approx(halfway, abs=5e-4)
    assert np.abs(end.path[place] - end.value).max() > 0.02
    assert np.abs(end.path[place] - end.path[0]).max() > 0.02


def test_more_precise_steps_drift_less_from_what_flow_conserves() -> None:
    start = finetuned(1e-3, 0.1, 1e-4)
    ends = [stiff_flow(X, Y, up_and_down(start), precision=precision) for precision in (1e-4, 1e-6, 1e-8)]
    drifts = [end.drift for end in ends]
    assert drifts[0] > 10 * drifts[1] > 100 * drifts[2] > 0
    found = least_potential(X, Y, Potential.finetuned(B, 1e-3, 0.1, 1e-4)).value
    assert [np.abs(end.value - found).max() for end in ends] == pytest.approx([0, 0, 0], abs=1e-3)
    assert ends[2].value == pytest.approx(found, abs=1e-7)
    first, last = (np.prod(pair, axis=0) for pair in (up_and_down(start), (ends[2].up, ends[2].down)))
    assert np.abs(last / first - 1).max() == pytest.approx(drifts[2])


def test_weights_of_zero_stay() -> None:
    end = stiff_flow([[1.0, 1.0]], [1.0], (np.array([0.0, 0.1]), np.array([0.0, 0.1])))
    assert end.value == pytest.approx([0, 1])
    assert end.up[0] == end.down[0] == 0


def test_targets_that_are_fitted_already_take_no_step() -> None:
    end = stiff_flow(X, X @ B, (np.sqrt(np.maximum(B, 0)), np.sqrt(np.maximum(-B, 0))), tolerance=1e-12)
    assert end.times.tolist() == [0.0]
    assert end.drift == 0


@pytest.mark.parametrize("inputs", [np.zeros((2, 2)), np.ones((2, 2))])
def test_targets_out_of_reach_are_told(inputs: FloatArray) -> None:
    with pytest.raises(InputError, match="the targets cannot be reached: no coefficients of the 2 inputs"):
        stiff_flow(inputs, [1.0, 2.0], (np.ones(2), np.ones(2)))


def test_targets_out_of_reach_of_the_weights_that_move_are_told() -> None:
    start = np.array([0.0, 0.1])
    with pytest.raises(InputError, match="no coefficients of the 1 inputs whose weights are not zero"):
        stiff_flow(np.eye(2), [1.0, 1.0], (start, start))
    with pytest.raises(InputError, match="all weights are zero at the start"):
        stiff_flow(np.eye(2), [1.0, 1.0], (0 * start, 0 * start))
    with pytest.raises(SolverError, match="can they be reached from such a start"):
        stiff_flow([[1.0]], [1.0], ([0.0], [1.0]))


def test_repeated_samples_that_agree_are_fitted() -> None:
    once, twice = (
        stiff_flow(*samples, (np.ones(6), np.ones(6))) for samples in ((X, Y), (X[[0, 1, 2] * 2], Y[[0, 1, 2] * 2]))
    )
    assert twice.value == pytest.approx(once.value, abs=1e-5)


@pytest.mark.parametrize(("inputs", "size"), [(1e29, 1.0), (1e-3, 1.0), (1.0, 1e14)])
def test_units_of_inputs_and_weights_do_not_matter(inputs: float, size: float) -> None:
    plain = stiff_flow(X, Y, (np.ones(6), np.ones(6)))
    scaled = stiff_flow(inputs * X, inputs * size**2 * Y, (np.full(6, size), np.full(6, size)))
    assert scaled.value / size**2 == pytest.approx(plain.value, abs=1e-4)


def test_an_end_is_printed_without_its_path() -> None:
    end = stiff_flow(X, Y, (np.ones(6), np.ones(6)))
    assert repr(end) == f"FlowEnd(residual={end.residual!r}, drift={end.drift!r})"


@pytest.mark.parametrize(
    ("start", "options", "message"),
    [
        ((np.ones(5), np.ones(6)), {}, r"up has shape \(5,\)"),
        ((np.ones(6), np.ones((6, 1))), {}, r"down \(6, 1\)"),
        ((np.ones(6), np.full(6, np.nan)), {}, "weights down are not all finite"),
        ((np.full(6, 1e200), np.ones(6)), {}, r"weights up reach 1e\+200"),
        (0.1, {}, "start is a float; give a pair"),
        ((np.ones(6),), {}, "start is a tuple; give a pair"),
        ((np.ones(6), np.ones(6)), {"precision": 0.0}, "precision is 0.0"),
        ((np.ones(6), np.ones(6)), {"precision": 1.0}, "precision is 1.0; .* of at most 0.01"),
        ((np.ones(6), np.ones(6)), {"tolerance": -1.0}, "tolerance is -1.0"),
        ((np.ones(6), np.ones(6)), {"tolerance": 1e-20}, "tolerance is 1e-20; give a finite number of at least 1e-14"),
        ((np.ones(6), np.ones(6)), {"tolerance": 2.0}, "tolerance is 2.0; .* below 1"),
    ],
)
def test_bad_input_is_named(start: tuple[FloatArray, FloatArray], options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stiff_flow(X, Y, start, **options)


@pytest.mark.parametrize(("inputs", "targets", "name"), [(1e150 * X, Y, "inputs"), (X, 1e200 * Y, "targets")])
def test_numbers_whose_powers_overflow_are_named(inputs: FloatArray, targets: FloatArray, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} reach .* rescale"):
        stiff_flow(inputs, targets, (np.ones(6), np.ones(6)))
