"""Compositional contrast by hand, and what it is zero for."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.measures.outputs.contrast import compositional_contrast


def test_equals_the_sum_over_pairs():
    jacobians = np.random.default_rng(0).standard_normal((3, 5, 4, 2))
    slopes = np.linalg.norm(jacobians, axis=-1)
    expected = np.mean([sum((s[:, i] * s[:, j]).sum() for i, j in combinations(range(4), 2)) for s in slopes])
    assert compositional_contrast(jacobians) == pytest.approx(expected)


def test_zero_if_and_only_if_each_output_has_one_slot():
    jacobians = np.zeros((2, 6, 3, 2))
    for output in range(6):
        jacobians[:, output, output % 3] = np.random.default_rng(output).standard_normal((2, 2))
    for weighted in (False, True):
        assert compositional_contrast(jacobians, weighted=weighted) == pytest.approx(0, abs=1e-12)
        leaky = jacobians.copy()
        leaky[0, 0, 1, 0] = 0.5
        assert compositional_contrast(leaky, weighted=weighted) > 1e-3


def test_weighted_contrast_does_not_depend_on_scale():
    jacobians = np.random.default_rng(1).standard_normal((4, 5, 2, 3))
    plain = compositional_contrast(jacobians, weighted=True)
    assert compositional_contrast(7 * jacobians, weighted=True) == pytest.approx(plain)


@pytest.mark.parametrize(("shape", "message"), [((2, 3, 4), "give .points"), ((2, 3, 1, 4), "at least two")])
def test_bad_input_is_named(shape, message):
    with pytest.raises(InputError, match=message):
        compositional_contrast(np.ones(shape))
