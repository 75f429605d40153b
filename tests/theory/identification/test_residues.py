"""Array arithmetic modulo 2**61 - 1 against Python's integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recombine.theory.identification.residues import PRIME, invert_residues, multiply_residues, subtract_residues

residues = st.integers(0, PRIME - 1)
pairs = st.lists(st.tuples(residues, residues), min_size=1, max_size=9)


@given(pairs)
def test_products_and_differences_equal_those_of_integers(values):
    first, second = np.array(values, dtype=np.uint64).T
    assert multiply_residues(first, second).tolist() == [a * b % PRIME for a, b in values]
    assert subtract_residues(first, second).tolist() == [(a - b) % PRIME for a, b in values]


def test_the_largest_residues_do_not_overflow():
    edge = np.array([0, 1, 2**30, 2**31 - 1, 2**31, 2**60, PRIME - 2, PRIME - 1], dtype=np.uint64)
    product = multiply_residues(edge[:, None], edge[None, :])
    assert product.tolist() == [[a * b % PRIME for b in edge.tolist()] for a in edge.tolist()]


@given(st.lists(st.integers(1, PRIME - 1), max_size=20))
def test_inverses_are_those_of_integers(values):
    found = invert_residues(np.array(values, dtype=np.uint64))
    assert found.tolist() == [pow(value, -1, PRIME) for value in values]
