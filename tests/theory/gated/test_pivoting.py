"""Non-negative quadratic programs: the optimality conditions hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recombine.theory.gated.pivoting import nonnegative_minimum


@given(seed=st.integers(0, 1000), size=st.integers(1, 30))
def test_pivoting_meets_the_optimality_conditions(seed, size):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix, linear = root @ root.T + 1e-3 * np.eye(size), rng.normal(size=size)
    answer, _ = nonnegative_minimum(matrix, linear, rng.random(size) < 0.5)
    slack = matrix @ answer - linear
    assert answer.min() >= 0
    assert slack.min() > -1e-7
    assert np.abs(answer * slack).max() < 1e-6
