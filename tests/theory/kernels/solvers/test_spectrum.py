"""Spectra of full products, and regression on them, against dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from recombine.cells.conjunctions import every_cell
from recombine.theory.kernels.given_kernels import kernel_of_salience
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.gram import eigenvalues_from_weights, weights_from_eigenvalues
from recombine.theory.kernels.solvers.spectrum import FullGrid, Spectrum

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def random_kernel(rng, factors, low=0.05):
    """A kernel with its own positive weight on every subset."""
    cube = rng.uniform(low, 1.0, (2,) * factors)
    table = cube.copy()
    for axis in range(factors):
        front = np.moveaxis(table, axis, 0)
        front[1] += front[0]
    return OverlapKernel(factors, tuple(table.reshape(-1).tolist()))


class TestSpectrum:
    @settings(max_examples=20, deadline=None)
    @given(shapes, st.integers(0, 2**32 - 1))
    def test_closed_form_is_the_dense_spectrum(self, sizes, seed):
        kernel = random_kernel(np.random.default_rng(seed), len(sizes))
        spectrum = Spectrum.of(kernel, sizes)
        repeated = np.repeat(spectrum.eigenvalues.reshape(-1), spectrum.multiplicities.reshape(-1).astype(int))
        cells = every_cell(sizes)
        assert_allclose(np.sort(repeated), np.linalg.eigvalsh(kernel(cells, cells)), atol=1e-10)

    def test_reference_eigenvalues(self):
        spectrum = Spectrum.of(kernel_of_salience([0.2, 0.1, 0.1]), (2, 6, 6))
        found = [spectrum[subset] for subset in [(), (0,), (1,), (0, 1), (1, 2), (0, 1, 2)]]
        assert_allclose(found, [13.5, 8.5, 3.3, 0.7, 0.3, 0.1], atol=1e-12)

    def test_weights_and_eigenvalues_are_inverse(self):
        cube = np.random.default_rng(0).standard_normal((2, 2, 2))
        assert_allclose(weights_from_eigenvalues(eigenvalues_from_weights(cube, (3, 4, 5)), (3, 4, 5)), cube)


class TestFullGrid:
    sizes = (3, 2, 4)

    def setup_method(self):
        self.rng = np.random.default_rng(5)
        self.kernel = random_kernel(self.rng, 3)
        self.grid = FullGrid(self.kernel, self.sizes)
        self.cells = every_cell(self.sizes)
        self.gram = self.kernel(self.cells, self.cells)
        self.outcome = self.rng.standard_normal(24) + 7.0

    @pytest.mark.parametrize("ridge", [0.0, 0.3])
    def test_solve_and_fit(self, ridge):
        dual = np.linalg.solve(self.gram + ridge * np.eye(24), self.outcome)
        assert_allclose(self.grid.solve(self.outcome, ridge).reshape(-1), dual, atol=1e-10)
        assert_allclose(
            self.grid.multiply(self.grid.solve(self.outcome, ridge)).reshape(-1), self.gram @ dual, atol=1e-10
        )

    @pytest.mark.parametrize("ridge", [0.0, 1e-3, 0.7])
    def test_leave_one_out_is_leaving_one_out(self, ridge):
        brute = np.empty(24)
        for left in range(24):
            rest = np.delete(np.arange(24), left)
            dual = np.linalg.solve(self.gram[np.ix_(rest, rest)] + ridge * np.eye(23), self.outcome[rest])
            brute[left] = self.outcome[left] - self.gram[left, rest] @ dual
        assert_allclose(self.grid.leave_one_out(self.outcome, ridge).reshape(-1), brute, atol=1e-9)

    def test_leave_one_out_of_an_additive_kernel_is_that_of_least_squares(self):
        grid = FullGrid(kernel_of_salience([1.0, 0.0, 0.0], constant=1.0), self.sizes)
        onehot = np.hstack([self.cells[:, [c]] == np.arange(n) for c, n in enumerate(self.sizes)]).astype(float)
        brute = np.empty(24)
        for left in range(24):
            rest = np.delete(np.arange(24), left)
            brute[left] = self.outcome[left] - onehot[left] @ np.linalg.pinv(onehot[rest]) @ self.outcome[rest]
        assert_allclose(grid.leave_one_out(self.outcome).reshape(-1), brute, atol=1e-9)

    def test_a_tiny_weight_on_whole_cells_still_interpolates(self):
        grid = FullGrid(kernel_of_salience([0.3, 0.1, 1e-12], constant=1.0), self.sizes)
        assert_allclose(grid.multiply(grid.solve(self.outcome)).reshape(-1), self.outcome, rtol=0.05)
        additive = FullGrid(kernel_of_salience([0.3, 0.1, 0.0], constant=1.0), self.sizes)
        assert np.abs(additive.multiply(additive.solve(self.outcome)).reshape(-1) - self.outcome).max() > 0.1
