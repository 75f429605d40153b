"""Small cases of `recombine.tables.frames`, each as a reader would try it."""

from __future__ import annotations

import numpy as np

from recombine.tables.frames import count_of


def test_count_of_by_example() -> None:
    assert (count_of(np.float64(3.0)), count_of(np.nan), count_of(None)) == (3, 0, 0)
