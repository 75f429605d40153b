"""The structured solver against the dense one: every route, their limits, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError, SolverError
from recombine.theory.kernels import is_positive, kernel_of_salience
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers import routes
from recombine.theory.kernels.solvers.merged_cells import MergedCells
from recombine.theory.kernels.solvers.solve import _by_conjunctions, kernel_expansion, solve

ALL_ROUTES = ("closed", "dense", "primal", "iterative")

PARTIAL_ROUTES = ALL_ROUTES[1:]


def random_kernel(rng, factors, low=0.05):
    """A kernel with its own positive weight on every subset."""
    cube = rng.uniform(low, 1.0, (2,) * factors)
    table = cube.copy()
    for axis in range(factors):
        front = np.moveaxis(table, axis, 0)
        front[1] += front[0]
    return OverlapKernel(factors, tuple(table.reshape(-1).tolist()))


def some_cells(rng, sizes, share=0.5):
    grid = every_cell(sizes)
    return rng.permutation(grid)[: max(int(share * len(grid)), 1)]


class TestEveryRoute:
    """One contract for all routes: the answer is that of the dense system written out in full."""

    @pytest.mark.parametrize("route", ALL_ROUTES)
    @pytest.mark.parametrize("ridge", [0.0, 0.2])
    @pytest.mark.parametrize("copies", [1, 3])
    def test_full_product(self, route, ridge, copies):
        rng = np.random.default_rng(1)
        kernel = random_kernel(rng, 3)
        cells = rng.permutation(np.tile(every_cell((3, 4, 2)), (copies, 1)))
        outcome = rng.standard_normal((len(cells), 2))
        self.check(kernel, cells, outcome, ridge, route)

    @pytest.mark.parametrize("route", PARTIAL_ROUTES)
    @pytest.mark.parametrize("ridge", [0.0, 0.2])
    @pytest.mark.parametrize("repeats", [0, 9])
    def test_some_cells(self, route, ridge, repeats):
        rng = np.random.default_rng(2)
        kernel = random_kernel(rng, 3)
        cells = some_cells(rng, (4, 5, 3))
        cells = np.concatenate([cells, cells[rng.integers(0, len(cells), repeats)]])
        self.check(kernel, cells, rng.standard_normal(len(cells)), ridge, route)

    @pytest.mark.parametrize("route", PARTIAL_ROUTES)
    @pytest.mark.parametrize("repeats", [0, 9])
    def test_singular_kernel_gives_the_pseudo_inverse(self, route, repeats):
        rng = np.random.default_rng(3)
        kernel = kernel_of_salience([1.0, 0.3, 0.0], constant=0.2)
        cells = some_cells(rng, (4, 5, 6), share=0.8)
        cells = np.concatenate([cells, cells[rng.integers(0, len(cells), repeats)]])
        outcome = rng.standard_normal(len(cells))
        solution = solve(kernel, cells, outcome, route=route)
        expected = np.linalg.pinv(kernel(cells, cells), rcond=1e-10, hermitian=True) @ outcome
        assert_allclose(solution.value, expected, atol=1e-8)

    @pytest.mark.parametrize("route", ALL_ROUTES)
    @pytest.mark.parametrize("salience", [[0.5, 0.2], [1.0, 0.0]], ids=["definite", "singular"])
    def test_free_intercept(self, route, salience):
        rng = np.random.default_rng(4)
        kernel = kernel_of_salience(salience, constant=0.1)
        cells = some_cells(rng, (4, 5), 1.0 if route == "closed" else 0.5)
        cells = np.concatenate([cells, cells if route == "closed" else cells[:3]])
        outcome = rng.standard_normal(len(cells)) + 4
        solution = solve(kernel, cells, outcome, route=route, intercept=True)
        # Its own oracle: without a penalty on the intercept, adding a constant to the outcome moves nothing else.
        size = len(cells)
        centre = np.eye(size) - 1 / size
        gram = kernel(cells, cells)
        dual = np.linalg.pinv(centre @ gram @ centre, rcond=1e-10, hermitian=True) @ outcome
        assert_allclose(solution.value, dual, atol=1e-8)
        assert solution.intercept == pytest.approx(np.mean(outcome - gram @ dual), abs=1e-8)
        again = solve(kernel, cells, outcome + 10, route=route, intercept=True)
        assert_allclose(again.value, solution.value, atol=1e-8)
        assert again.intercept == pytest.approx(solution.intercept + 10)

    @pytest.mark.parametrize("route", PARTIAL_ROUTES)
    def test_legal_negative_weights(self, route):
        kernel = kernel_of_salience([0.3, -0.02, 0.4])
        rng = np.random.default_rng(6)
        cells = some_cells(rng, (4, 4, 4))
        assert is_positive(kernel, (4, 4, 4))
        self.check(kernel, cells, rng.standard_normal(len(cells)), 0.0, route)

    def check(self, kernel, cells, outcome, ridge, route):
        solution = solve(kernel, cells, outcome, ridge, route=route)
        matrix = kernel(cells, cells) + ridge * np.eye(len(cells))
        if ridge:
            expected = np.linalg.solve(matrix, outcome)
        else:
            expected = np.linalg.pinv(matrix, rcond=1e-10, hermitian=True) @ outcome
        assert solution.route == route
        assert solution.residual <= 1e-10
        assert solution.steps >= 1
        assert_allclose(solution.value, expected, atol=1e-7 * np.abs(expected).max())


class TestRouting:
    def test_preconditioner_changes_the_path_not_the_answer(self):
        rng = np.random.default_rng(0)
        kernel = OverlapKernel.relu(1, 6)
        seen = MergedCells.of(some_cells(rng, (3,) * 6))
        system = routes.System(kernel, seen)
        right = rng.standard_normal((len(seen), 1))
        plain, many = routes.solve_iterative(system, right, 1e-11, precondition=False)
        helped, fewer = routes.solve_iterative(system, right, 1e-11, precondition=True)
        assert_allclose(helped, plain, atol=1e-8 * np.abs(plain).max())
        assert fewer < many

    @pytest.mark.parametrize(
        ("sizes", "share", "salience", "route"),
        [
            ((5, 6), 1.0, [0.4, 0.2], "closed"),
            ((9, 9), 0.5, [0.4, 0.2], "dense"),
            ((60, 60), 0.9, [0.4, 0.2], "primal"),
            ((20, 20, 20), 0.5, [0.2, 0.1, 0.1], "iterative"),
            ((20, 20, 20), 0.5, [0.2, 0.1, 0.0], "iterative"),
        ],
    )
    def test_the_route_follows_from_the_design(self, sizes, share, salience, route):
        rng = np.random.default_rng(0)
        kernel = kernel_of_salience(salience)
        cells = some_cells(rng, sizes, share)
        solution = solve(kernel, cells, rng.standard_normal(len(cells)))
        assert solution.route == route
        assert solution.residual <= 1e-10

    def test_no_gram_block_beyond_the_limit(self, monkeypatch):
        largest = []
        original = OverlapKernel.__call__

        def spy(self, left, right):
            block = original(self, left, right)
            largest.append(block.size)
            return block

        monkeypatch.setattr(OverlapKernel, "__call__", spy)
        rng = np.random.default_rng(0)
        kernel = OverlapKernel.relu(1, 3)
        cells = some_cells(rng, (20, 20, 20))
        solution = solve(kernel, cells, rng.standard_normal(len(cells)))
        kernel_expansion(kernel, cells, solution.value, every_cell((20, 20, 20)))
        assert max(largest, default=0) <= routes.MAX_DENSE_CELLS**2

    @pytest.mark.parametrize("route", ["closed", "dense", "primal", "nonsense"])
    def test_a_route_that_does_not_fit_says_so(self, route):
        rng = np.random.default_rng(0)
        cells = some_cells(rng, (40, 40, 40), 0.2)
        with pytest.raises(InputError, match=route):
            solve(OverlapKernel.relu(1, 3), cells, np.ones(len(cells)), route=route)

    def test_a_stall_is_an_error_with_advice(self):
        rng = np.random.default_rng(0)
        cells = some_cells(rng, (40, 40, 40), 0.1)
        kernel = kernel_of_salience([0.2, 0.1, 1e-11])
        with pytest.raises(SolverError, match=r"relative residual .* Add a ridge"):
            solve(kernel, cells, rng.standard_normal(len(cells)))

    def test_a_stall_falls_back_to_the_primal_form(self):
        rng = np.random.default_rng(0)
        cells = some_cells(rng, (16, 16, 16), 0.7)
        kernel = kernel_of_salience([0.2, 0.1, 0.1])
        outcome = rng.standard_normal(len(cells))
        patient = solve(kernel, cells, outcome)
        hasty = solve(kernel, cells, outcome, most_steps=3)
        assert (patient.route, hasty.route) == ("iterative", "primal")
        assert_allclose(hasty.value, patient.value, atol=1e-7)

    @pytest.mark.parametrize("route", ["dense", "primal"])
    def test_a_direct_route_goes_down_to_rounding_and_says_what_is_left(self, route):
        rng = np.random.default_rng(0)
        cells = some_cells(rng, (10, 10, 10), 0.7)
        kernel = kernel_of_salience([0.2, 0.1, 1e-8])
        outcome = rng.standard_normal(len(cells))
        solution = solve(kernel, cells, outcome, route=route)
        assert 1e-12 < solution.residual < 1e-6
        assert_allclose(kernel_expansion(kernel, cells, solution.value, cells), outcome, atol=1e-5)

    def test_many_factors_are_solved_by_blocks(self):
        rng = np.random.default_rng(0)
        cells = rng.integers(0, 3, (150, 30))
        kernel = OverlapKernel.relu(1, 30)
        outcome = rng.standard_normal(150)
        solution = solve(kernel, cells, outcome)
        assert_allclose(kernel(cells, cells) @ solution.value, outcome, atol=1e-9)

    @pytest.mark.parametrize(
        ("cells", "outcome", "ridge", "message"),
        [
            (np.zeros((0, 2), dtype=int), [], 0.0, "no cells"),
            ([[0, 1]], [1.0, 2.0], 0.0, "shape"),
            ([[0, 1]], [np.nan], 0.0, "missing"),
            ([[0, 1]], [1.0], -1.0, "ridge"),
            ([[0, 1, 2]], [1.0], 0.0, "columns"),
        ],
    )
    def test_bad_input(self, cells, outcome, ridge, message):
        with pytest.raises(InputError, match=message):
            solve(OverlapKernel.relu(1, 2), cells, outcome, ridge)


class TestEvaluate:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(1, 4), st.integers(0, 2**32 - 1))
    def test_sums_over_conjunctions_are_the_dense_product(self, factors, seed):
        rng = np.random.default_rng(seed)
        kernel = random_kernel(rng, factors)
        seen, cells = rng.integers(0, 4, (30, factors)), rng.integers(0, 6, (50, factors))
        dual = rng.standard_normal((30, 2))
        found = _by_conjunctions(kernel, seen, dual, cells)
        assert_allclose(found, kernel(cells, seen) @ dual, atol=1e-12)
        assert_allclose(kernel_expansion(kernel, seen, dual, cells), found, atol=1e-12)

    def test_no_cells_no_values(self):
        empty = np.zeros((0, 2), dtype=int)
        assert kernel_expansion(OverlapKernel.relu(1, 2), [[0, 0]], np.ones(1), empty).shape == (0,)
