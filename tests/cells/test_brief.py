"""Results in one line: arrays by their shapes, what is long by its length."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from recombine.cells.brief import record


@record
class Draws:
    seed: int
    index: np.ndarray
    names: list[str]


def test_arrays_are_told_by_shape_and_long_lists_by_length() -> None:
    draws = Draws(3, np.zeros((5, 2)), ["a"] * 100)
    assert repr(draws) == "Draws(seed=3, index=float64[5, 2], names=100 items)"


def test_a_record_is_frozen_and_equal_only_to_itself() -> None:
    draws = Draws(3, np.zeros(2), [])
    assert {draws: 1}[draws] == 1
    assert draws != Draws(3, draws.index, [])
    with pytest.raises(FrozenInstanceError):
        draws.seed = 4
