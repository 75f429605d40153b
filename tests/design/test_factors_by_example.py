"""Small cases of `recombine.design.factors`, each as a reader would try it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from recombine.cells.scales import FactorScale
from recombine.design.factors import Factor, code_levels, numbered_factors


def test_code_levels_by_example() -> None:
    factors, codes = code_levels(["a", "b"], [np.array(["x", "y"]), np.array([3, 1])], (), "the table")
    assert (factors[1].levels, codes.tolist()) == ((1, 3), [[0, 1], [1, 0]])


def test_numbered_factors_by_example() -> None:
    assert (
        repr(numbered_factors(np.array([[0, 2]]), None, None, []))
        == "(Factor('factor 1', 1 levels), Factor('factor 2', 3 levels))"
    )


def test_factor_place_by_example() -> None:
    assert Factor("dose", (), FactorScale.ORDERED).place("0.1") == Fraction(1, 10)
    assert Factor("grade", (), FactorScale.ORDERED, ("low", "high")).place("high") == 1
