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
