"""Seen cells as solvers want them: merging loses nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.merged_cells import MergedCells
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve


class TestMergedCells:
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**9)), min_size=1, max_size=20))
    def test_merging_loses_nothing(self, rows):
        cells = np.array(rows, dtype=np.int64)
        seen = MergedCells.of(cells)
        assert seen.counts.sum() == len(cells)
        assert len(np.unique(seen.cells, axis=0)) == len(seen)
        # Two rows are one cell exactly where they were equal before.
        same = np.all(cells[:, None] == cells[None], axis=2)
        assert np.array_equal(same, seen.where[:, None] == seen.where[None])
        for factor in range(2):
            assert np.array_equal(np.unique(seen.cells[:, factor]), np.arange(seen.sizes[factor]))

    def test_products_too_large_to_tabulate(self):
        cells = np.random.default_rng(0).integers(0, 5000, (200, 3))
        seen = MergedCells.of(np.concatenate([cells, cells[:5]]))
        assert len(seen) == 200
        kernel = OverlapKernel.relu(1, 3)
        solution = solve(kernel, cells, np.ones(200), route="iterative")
        assert_allclose(kernel_expansion(kernel, cells, solution.value, cells), 1.0, atol=1e-8)
