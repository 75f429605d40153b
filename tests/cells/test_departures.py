"""Departures from the commonest levels: every quantity equals that of the dense 0/1 matrix."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.cells.conjunctions import Conjunctions, contains, distinct
from recombine.cells.departures import departures
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.nullspace import null_vectors


def sparse_cells(seed: int, factors: int, rows: int, share: float) -> tuple[tuple[int, ...], np.ndarray]:
    generator = np.random.default_rng(seed)
    sizes = tuple(int(size) for size in generator.integers(2, 6, factors))
    moved = generator.random((rows, factors)) < share
    return sizes, np.stack([generator.integers(0, size, rows) for size in sizes], axis=1) * moved


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("order", [1, 2])
def test_sums_counts_and_quadratic_forms_are_those_of_the_dense_matrix(seed: int, order: int) -> None:
    sizes, cells = sparse_cells(seed, 4, 25, 0.5)
    generator = np.random.default_rng(seed)
    features = Conjunctions(sizes, order)
    dense, found = features.incidence(cells).toarray(), departures(features.ids_by_block(cells), features.columns)
    weights, values = generator.integers(1, 9, 25).astype(float), generator.normal(size=25)
    table, matrix = generator.normal(size=features.columns), generator.normal(size=(features.columns,) * 2)
    np.testing.assert_array_equal(found.pair_counts(weights), (dense.T * weights) @ dense)
    np.testing.assert_allclose(found.sums(table), dense @ table, atol=1e-12)
    np.testing.assert_allclose(found.gathered(values), dense.T @ values, atol=1e-12)
    matrix = matrix + matrix.T
    np.testing.assert_allclose(found.quadratic(matrix), np.einsum("ij,jk,ik->i", dense, matrix, dense), atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_leverages_are_those_of_the_pseudo_inverse(seed: int) -> None:
    sizes, cells = sparse_cells(seed, 14, 150, 0.12)
    cells = distinct(cells)[0]
    generator = np.random.default_rng(seed)
    weights, outcome = generator.integers(1, 9, len(cells)).astype(float), generator.normal(size=len(cells))
    features = Conjunctions(sizes)
    dense = features.incidence(cells).toarray()
    inverse = np.linalg.pinv((dense.T * weights) @ dense, hermitian=True)
    found = Leverage(features, cells, weights)
    np.testing.assert_allclose(found.of_seen, np.einsum("ij,jk,ik->i", dense, inverse, dense), atol=1e-8)
    np.testing.assert_allclose(found.of(cells[::3]), found.of_seen[::3], atol=1e-9)
    np.testing.assert_allclose(
        dense @ found.solve(outcome), dense @ inverse @ (dense.T @ (weights * outcome)), atol=1e-8
    )
    noise = generator.random(len(cells))
    root = np.sqrt(weights)
    hat = root[:, None] * dense @ inverse @ dense.T * root
    np.testing.assert_allclose(found.carried_noise(noise), hat**2 @ noise, atol=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_products_too_large_to_number_are_told_apart(seed: int) -> None:
    sizes, cells = sparse_cells(seed, 70, 40, 0.05)
    cells = np.vstack([cells, cells[::2], [np.array(sizes) - 1]])
    rows, where = np.unique(cells, axis=0, return_inverse=True)
    found = distinct(cells)
    np.testing.assert_array_equal(found[0], rows)
    np.testing.assert_array_equal(found[1], where.reshape(-1))
    asked = cells[:9].copy()
    asked[::2, 3] = 1 - asked[::2, 3].clip(0, 1)
    expected = [bool((cells == row).all(axis=1).any()) for row in asked]
    assert contains(cells, asked).tolist() == expected


@pytest.mark.parametrize("seed", range(10))
def test_spanning_cells_say_as_much_as_all(seed: int) -> None:
    sizes, cells = sparse_cells(seed, 14, 400, 0.12)
    cells, features = distinct(cells)[0], Conjunctions(sizes)
    whole = null_vectors(features, cells)
    assert whole.spanning is not None
    assert whole.rank == np.linalg.matrix_rank(features.incidence(cells).toarray())
    part = null_vectors(features, cells[whole.spanning])
    assert part.rank == whole.rank
    assert not part.values(cells).any()


@pytest.mark.parametrize("seed", range(5))
def test_distinct_rows_in_order_come_back_as_they_are(seed: int) -> None:
    rows = distinct(sparse_cells(seed, 70, 40, 0.05)[1])[0]
    again, where = distinct(rows)
    np.testing.assert_array_equal(again, rows)
    assert where.tolist() == list(range(len(rows)))
