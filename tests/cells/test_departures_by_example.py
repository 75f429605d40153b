"""Small cases of `recombine.cells.departures`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.cells.departures import departures, normal_matrix


def test_normal_matrix_by_example() -> None:
    assert (normal_matrix(np.array([[0, 1], [0, 2]]), np.array([1.0, 3.0]), 3).tolist()) == [
        [4.0, 1.0, 3.0],
        [1.0, 1.0, 0.0],
        [3.0, 0.0, 3.0],
    ]


def test_departures_sums_by_example() -> None:
    rows = np.array([[0, 2], [0, 3], [1, 2]])
    assert (departures(rows.T, 4).sums(np.array([1.0, 2.0, 10.0, 20.0])).tolist()) == [11.0, 21.0, 12.0]


def test_departures_pair_counts_by_example() -> None:
    assert (departures(np.array([[0, 2], [0, 3], [1, 3]]).T, 4).pair_counts().tolist()) == [
        [2.0, 0.0, 1.0, 1.0],
        [0.0, 1.0, 0.0, 1.0],
        [1.0, 0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0, 2.0],
    ]


def test_departures_quadratic_by_example() -> None:
    assert (departures(np.array([[0, 2], [1, 3]]).T, 4).quadratic(np.diag([1.0, 2.0, 3.0, 4.0])).tolist()) == [4.0, 6.0]


def test_normal_matrix_is_the_weighted_sum_over_rows_however_many_columns_there_are() -> None:
    rng = np.random.default_rng(0)
    for rows, blocks, levels in ((5_000, 30, 3), (50, 3, 40), (9_000, 2, 3)):
        ids = np.stack([rng.integers(0, levels, rows) + levels * block for block in range(blocks)], axis=1)
        weights, columns = rng.uniform(0.5, 2, rows), levels * blocks
        dense = np.zeros((rows, columns))
        dense[np.arange(rows)[:, None], ids] = 1
        assert np.allclose(normal_matrix(ids, weights, columns), (dense.T * weights) @ dense, rtol=1e-10)
