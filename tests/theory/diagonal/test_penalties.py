"""Penalties of diagonal linear networks: reference numbers, closed forms, limits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError
from recombine.theory.diagonal.interpolators import least_potential
from recombine.theory.diagonal.penalties import Potential, group_norm, hyperbolic_entropy, pretrained_weights

positive = st.floats(1e-3, 1e2)


def q(z: float) -> float:
    """The penalty as single-task papers write it: 2 - sqrt(4 + z^2) + z asinh(z / 2)."""
    return float(2 * hyperbolic_entropy(z / 2))


@pytest.mark.parametrize(
    ("z", "value"),
    [(0.5, 0.062180418), (1, 0.245143848), (2, 0.934320049), (10, 14.926344386), (1000, 5909.754278983)],
)
def test_q_has_its_reference_values(z: float, value: float) -> None:
    assert q(z) == pytest.approx(value, abs=5e-10)


def test_q_is_quadratic_near_zero_and_z_ln_z_far_from_it() -> None:
    assert abs(q(1e-3) / (1e-6 / 4) - 1) < 1e-6
    assert abs(q(1e6) / (1e6 * np.log(1e6)) - 1) < 0.1
    # The naive formula has lost every digit here.
    assert float(hyperbolic_entropy(1e-12)) == pytest.approx(5e-25, rel=1e-12)


@pytest.mark.parametrize(
    ("B", "alpha", "m", "gamma", "k", "start"),
    [
        (1, 1e-3, 1, 1e-3, 0.5, 0.000999999),
        (-0.7, 0.1, 1, 0.2, 0.353553391, -0.164958862),
        (0.4, 0.1, 0.3, 0.05, 0.0183182969, 0.00925269851),
        (0, 0.1, 0.3, 0.05, 0.0034, 0),
    ],
)
def test_finetuning_has_its_reference_potential(
    B: float, alpha: float, m: float, gamma: float, k: float, start: float
) -> None:
    found = Potential.finetuned(B, alpha, m, gamma)
    assert found.k[0] == pytest.approx(k, rel=5e-9)
    assert found.start[0] == pytest.approx(start, rel=5e-7)


def potential_of_weights(
    w_plus: npt.ArrayLike, w_minus: npt.ArrayLike, v_plus: npt.ArrayLike, v_minus: npt.ArrayLike
) -> Potential:
    """The potential of a network from its weights (D,) at the start of training, whatever they are."""
    wp, wm, vp, vm = np.broadcast_arrays(*map(np.atleast_1d, (w_plus, w_minus, v_plus, v_minus)))
    grows, shrinks = ((wp + vp) ** 2 + (wm - vm) ** 2) / 4, ((wp - vp) ** 2 + (wm + vm) ** 2) / 4
    return Potential(2 * np.sqrt(grows * shrinks), wp * vp - wm * vm)


@given(st.floats(-3, 3), positive, positive, positive)
def test_the_closed_form_of_finetuning_is_that_of_its_weights(B: float, alpha: float, m: float, gamma: float) -> None:
    plus, minus = pretrained_weights(B, alpha)
    assert plus**2 - minus**2 == pytest.approx(B, rel=1e-9, abs=1e-9 * alpha**2)
    assert plus * minus == pytest.approx(alpha**2)
    of_weights = potential_of_weights(m * plus, m * minus, gamma, gamma)
    closed = Potential.finetuned(B, alpha, m, gamma)
    assert closed.k == pytest.approx(of_weights.k, rel=1e-9)
    # The oracle is a difference of two products of this size, so it is only good to their rounding.
    rounding = 1e-14 * m * gamma * float(plus[0] + minus[0])
    assert closed.start == pytest.approx(of_weights.start, rel=1e-9, abs=rounding)


def test_the_symmetric_form_is_that_of_two_equal_paths() -> None:
    root = np.sqrt([0.7, 0.2])
    equal, named = (
        potential_of_weights(root, root, 0.1, 0.1),
        Potential.finetuned([-0.7, 0.2], 1e-3, 1.0, 0.1, "symmetric"),
    )
    assert equal.k == pytest.approx(named.k)
    assert np.all(equal.start == 0)


@given(positive, st.floats(-2, 2))
def test_the_potential_is_least_at_the_start(k: float, start: float) -> None:
    potential = Potential(np.array([k]), np.array([start]))
    at, step = float(potential([start])), 1e-3 * (1 + abs(start))
    assert potential([start + step]) > at < potential([start - step])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Potential.finetuned([1.0], 0.1, form="exakt"), "did you mean 'exact'"),
        (lambda: Potential.finetuned([1.0], -0.1), "alpha is -0.1"),
        (lambda: Potential.finetuned([1.0, 0.0], 0.0), "coordinate 1 has k = 0"),
        (lambda: Potential(np.ones(2), np.ones(3)), "one of each per coordinate"),
        (lambda: Potential(np.ones(1), np.array([np.nan])), "start are not all finite: [0] is nan"),
        (lambda: Potential.finetuned([np.inf], 0.1), "auxiliary are not all finite: [0] is inf"),
        (lambda: Potential.finetuned([1.0], "a"), "alpha is 'a'"),
        (lambda: Potential.single_task(-1, 1.0), "dimension is -1"),
        (lambda: Potential.single_task(2.5, 1.0), "dimension is 2.5"),
        (lambda: Potential.single_task(3, 1.0)([1.0, 2.0]), "beta has shape (2,); give 3"),
        (lambda: Potential.single_task(3, 1.0)(np.ones((5, 3))), "beta has shape (5, 3)"),
        (lambda: pretrained_weights([np.nan], 0.1), "auxiliary are not all finite"),
        (lambda: pretrained_weights([1.0], np.nan), "alpha is nan"),
        (lambda: group_norm([1.0, 2.0]), "give (D, O)"),
        (lambda: q(np.nan), "not all finite"),
        (lambda: hyperbolic_entropy(None), "ratio are not all finite"),
        (lambda: hyperbolic_entropy(np.nan), "ratio are not all finite"),
        (lambda: hyperbolic_entropy("a"), "ratio are not real numbers"),
    ],
)
def test_bad_input_is_named(call: object, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        call()  # type: ignore[operator]


def flow(inputs: FloatArray, targets: FloatArray, start: Sequence[FloatArray]) -> FloatArray:
    """Gradient flow of all four weight vectors, integrated as it stands: (w+, w-, v+, v-) at the end."""

    def change(_: float, weights: FloatArray) -> FloatArray:
        wp, wm, vp, vm = weights.reshape(4, -1)
        slope = inputs.T @ (inputs @ (wp * vp - wm * vm) - targets)
        return np.concatenate([-slope * vp, slope * vm, -slope * wp, slope * wm])

    end = solve_ivp(change, (0, 4e3), np.concatenate(start), method="LSODA", rtol=1e-11, atol=1e-13)
    return np.asarray(end.y[:, -1].reshape(4, -1))


@pytest.mark.parametrize(("alpha", "readout"), [(0.2, None), (0.3, 0.1), (0.1, 0.4)])
@pytest.mark.parametrize("form", ["exact", "summed"])
def test_both_resets_end_where_integrated_training_does(form: str, alpha: float, readout: float | None) -> None:
    """Pretrain, reset, finetune by an ODE solver; the solver of interpolators knows the coefficients alone."""
    draw, one, scaling, gamma = np.random.default_rng(77), np.ones(7), 0.8, 0.07
    first, second = draw.standard_normal((4, 7)), draw.standard_normal((3, 7))
    labels, targets = draw.standard_normal(4), draw.standard_normal(3)
    before = alpha if readout is None else readout
    wp, wm, vp, vm = flow(first, labels, [alpha * one, alpha * one, before * one, before * one])
    known = wp * vp - wm * vm
    for weights, formula in zip((wp, wm), pretrained_weights(known, alpha, readout), strict=True):
        assert formula == pytest.approx(weights, abs=1e-8)
    hidden = [scaling * (wp + wm)] * 2 if form == "summed" else [scaling * wp, scaling * wm]
    wp, wm, vp, vm = flow(second, targets, [*hidden, gamma * one, gamma * one])
    potential = Potential.finetuned(known, alpha, scaling, gamma, form, readout=readout)
    assert least_potential(second, targets, potential).value == pytest.approx(wp * vp - wm * vm, abs=1e-8)


def test_the_published_form_is_the_summed_one_of_small_weights() -> None:
    known, limit = np.array([-0.7, 0.0, 0.2]), Potential.finetuned([-0.7, 0.0, 0.2], 0.0, 0.5, 0.1, "symmetric")
    gaps = [np.abs(Potential.finetuned(known, a, 0.5, 0.1, "summed").k - limit.k).max() for a in (0.1, 1e-2, 1e-4)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-8
    assert gaps[0] == pytest.approx(0.25 * 4 * 0.1**2, rel=1e-9), "a new feature has 4 alpha^2 m^2 more"


@given(st.floats(-3, 3), positive, positive, positive)
def test_equal_weights_before_pretraining_are_a_case_of_unequal_ones(
    B: float, alpha: float, scaling: float, gamma: float
) -> None:
    named = Potential.finetuned([B], alpha, scaling, gamma)
    near = Potential.finetuned([B], alpha, scaling, gamma, readout=alpha * (1 + 1e-9))
    assert near.k == pytest.approx(named.k, rel=1e-6)
    assert near.start == pytest.approx(named.start, rel=1e-6, abs=1e-12 * scaling * gamma)
