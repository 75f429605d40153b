"""Penalties of ReLU networks: reference numbers, the direct minimum, limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from recombine.errors import InputError
from recombine.theory.diagonal.relu_penalties import rotation_cost

REFERENCE = [
    ((1, 1, 1, 0), 0.66949963),
    ((1, 1, 0.9, 0), 0.94021061),
    ((1, 1, 0, 0), 3),
    ((0.1, 1, 1, 0), 0.00990288),
    ((0.1, 1, 0.9, 0), 0.20216559),
    ((10, 1, 0.99, 0), 14.47290015),
    ((1, 1, 0.9, 0.1), 0.79786164),
]
ORDERS = {
    1.0: (1.0050, 1.0159, 1.0512, 1.1698, 1.5680, 1.9809, 1.9998),
    0.9: (1.0045, 1.0142, 1.0449, 1.1373, 1.2071, 0.1186, 0.0013),
    0.0: (1.0000, 0.9995, 0.9950, 0.9524, 0.6667, 0.1667, 0.0196),
}


@pytest.mark.parametrize(("setting", "value"), REFERENCE)
def test_turning_has_its_reference_cost(setting: tuple[float, ...], value: float) -> None:
    assert float(rotation_cost(*setting)[0]) == pytest.approx(value, abs=6e-9)


def test_the_best_norm_is_the_reference_one() -> None:
    assert rotation_cost(1.0, 1.0, [1.0, 0.9, 0.0])[1] == pytest.approx([1.38027757, 1.32748012, 1.0], abs=6e-9)


@given(st.floats(0.01, 10), st.floats(0.0, 10), st.floats(-1, 1), st.floats(-1, 1))
def test_the_quartic_finds_the_minimum_that_a_search_finds(beta: float, B: float, cos: float, v0: float) -> None:
    def cost(log: float) -> float:
        m = np.exp(log)
        return float((beta / m - v0) ** 2 + m**2 + B - 2 * m * B**0.5 * cos)

    grid = np.linspace(-8, 4, 241)
    values = [cost(log) for log in grid]
    at = grid[int(np.argmin(values))]
    best = minimize_scalar(cost, bounds=(at - 0.1, at + 0.1), method="bounded", options={"xatol": 1e-10}).fun
    assert float(rotation_cost(beta, B, cos, v0)[0]) == pytest.approx(best, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("cosine", ORDERS)
def test_orders_are_those_of_the_table(cosine: float) -> None:
    cost, norm = rotation_cost(1.0, np.logspace(-4, 2, 7), cosine)
    # By the envelope theorem dR / dbeta = 2 beta / m^2 at the best norm m, so this is dlog R / dlog beta at beta = 1.
    assert 2 / norm**2 / cost == pytest.approx(ORDERS[cosine], abs=5.1e-5)


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0, 1), st.floats(0.1, 10))
def test_the_cost_grows_in_proportion_with_both_magnitudes(beta: float, B: float, cos: float, factor: float) -> None:
    one, many = rotation_cost(beta, B, cos)[0], rotation_cost(factor * beta, factor * B, cos)[0]
    assert float(many) == pytest.approx(factor * float(one), rel=1e-7, abs=1e-10)


def test_limits_of_the_cost() -> None:
    assert float(rotation_cost(1e-4, 1.0, 1.0)[0]) == pytest.approx(1e-8, rel=1e-3)
    assert float(rotation_cost(2.0, 3.0, 0.0)[0]) == pytest.approx(2 * 2 + 3)
    assert float(rotation_cost(1e-9, 1.0, 0.6)[0]) == pytest.approx(1 - 0.36, rel=1e-6)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="beta is 0; give numbers above 0"):
        rotation_cost(0.0, 1.0, 1.0)
    with pytest.raises(InputError, match=r"auxiliary\[1\] is -1; give numbers of at least 0"):
        rotation_cost(1.0, [1.0, -1.0], 1.0)
    with pytest.raises(InputError, match=r"cosine\[0\] is 1.5; give numbers of at least -1 and of at most 1"):
        rotation_cost([1.0, 2.0], 1.0, 1.5)
    for place, name in enumerate(("beta", "auxiliary", "cosine", "readout")):
        with pytest.raises(InputError, match=f"{name} are not all finite"):
            rotation_cost(*np.where(np.arange(4) == place, np.nan, 1.0))
