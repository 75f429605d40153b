"""Results in one line: arrays by their shapes, what is long by its length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.brief import brief_repr


@dataclass
class Draws:
    seed: int
    index: np.ndarray
    names: list[str]
    __repr__ = brief_repr


def test_arrays_are_told_by_shape_and_long_lists_by_length() -> None:
    draws = Draws(3, np.zeros((5, 2)), ["a"] * 100)
    assert repr(draws) == "Draws(seed=3, index=float64[5, 2], names=100 items)"
