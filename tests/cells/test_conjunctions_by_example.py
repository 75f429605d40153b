"""Small cases of `recombine.cells.conjunctions`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.cells.conjunctions import Conjunctions, mixed_radix


def test_mixed_radix_by_example() -> None:
    assert repr(mixed_radix(np.array([[1, 2], [0, 0]]), (2, 3))) == "array([5, 0])"


def test_conjunctions_occurring_by_example() -> None:
    assert (Conjunctions((3, 2)).occurring(np.array([[0, 1], [2, 1]])).tolist()) == [0, 2, 4]
