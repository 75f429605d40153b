"""Gram operators: every one is the dense Gram matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from recombine.cells.conjunctions import every_cell
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.gram import BlockGram, GridGram, GroupGram, MaskedGram

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def random_kernel(rng, factors, low=0.05):
    """A kernel with its own positive weight on every subset."""
    cube = rng.uniform(low, 1.0, (2,) * factors)
    table = cube.copy()
    for axis in range(factors):
        front = np.moveaxis(table, axis, 0)
        front[1] += front[0]
    return OverlapKernel(factors, tuple(table.reshape(-1).tolist()))


class TestOperators:
    @given(shapes, st.integers(0, 2**32 - 1))
    def test_every_operator_is_the_dense_gram_matrix(self, sizes, seed):
        rng = np.random.default_rng(seed)
        kernel = random_kernel(rng, len(sizes))
        grid = every_cell(sizes)
        places = np.flatnonzero(rng.random(len(grid)) < 0.6)
        places = places if len(places) else np.array([0])
        cells, vector = grid[places], rng.standard_normal(len(places))
        expected = kernel(cells, cells) @ vector
        for operator in (
            MaskedGram(GridGram(kernel.cube, sizes), places),
            GroupGram(kernel.cube, cells, sizes),
            BlockGram(kernel, cells),
        ):
            assert_allclose(operator.multiply(vector), expected, atol=1e-12)
        assert_allclose(BlockGram(kernel, cells).multiply(vector, at=cells), expected, atol=1e-12)
        agree = [[[a == b for a, b in zip(one, two, strict=True)] for two in cells] for one in cells]
        bits = np.array(agree) @ (2 ** np.arange(len(sizes))[::-1])
        assert_allclose(kernel(cells, cells), np.array(kernel.table)[bits])

    @pytest.mark.parametrize("sizes", [(3, 4), (2, 1, 5), (2,) * 6, (3, 20, 2), (30,)])
    def test_marginals_and_reflections_agree(self, sizes):
        rng = np.random.default_rng(0)
        cube = random_kernel(rng, len(sizes)).cube
        array = rng.standard_normal(sizes)
        from recombine.theory.kernels.solvers.gram import _spread

        before = array.copy()
        assert_allclose(GridGram(cube, sizes)._turned(array), _spread(array, cube, 0, owned=False), atol=1e-12)
        assert_allclose(array, before)

    def test_sparse_levels_need_no_table(self):
        rng = np.random.default_rng(0)
        kernel = random_kernel(rng, 3)
        cells = rng.integers(0, 10**6, (40, 3))
        operator = GroupGram(kernel.cube, cells, (10**6,) * 3)
        vector = rng.standard_normal(40)
        assert_allclose(operator.multiply(vector), kernel(cells, cells) @ vector, atol=1e-12)
