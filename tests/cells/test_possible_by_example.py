"""Small cases of `recombine.cells.possible`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.cells.possible import Combinations, Possible


def test_possible_ways_by_example() -> None:
    nested = Possible((3, 2), (), (Combinations((0, 1), np.array([[0, 0], [1, 0], [2, 1]])),))
    assert (nested.ways((0, 1)), nested.ways((1,))) == (3, 2)


def test_possible_following_by_example() -> None:
    assert (Possible((3, 2), (), (Combinations((0, 1), np.array([[0, 0], [1, 0], [2, 1]])),)).following) == (1,)
