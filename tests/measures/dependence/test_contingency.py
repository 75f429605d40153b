"""Columns become codes: bins that say so, and columns that cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.measures.dependence.columns import as_codes, independence_test
from recombine.measures.dependence.independence import DependenceState


def test_continuous_columns_are_cut_into_bins_and_these_are_counted() -> None:
    generator = np.random.default_rng(11)
    factor, own = generator.integers(3, size=(2, 2000))
    prediction = own + 0.5 * factor + 0.3 * generator.normal(size=2000)
    test = independence_test(prediction, factor, own)
    assert test.levels == (10, 3, 3)
    assert test.verdict() is DependenceState.DEPENDS
    assert test.bins == {"the prediction": 10}
    assert independence_test(prediction, factor, own, bins=4).levels[0] == 4


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_value_that_fills_most_bins_leaves_at_least_two(value: float) -> None:
    column = np.concatenate([np.full(960, value), np.linspace(1, 2, 40)])
    codes, count = as_codes(column, "y", 10)
    assert len(np.unique(codes)) == 2
    assert np.ptp(codes[:960]) == 0
    assert count == 2


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([0.0, np.nan, 1.0, np.nan], "the factor has no finite value in rows 1, 3"),
        (["a", None, "b", "a"], "the factor has no finite value in row 1;"),
        ([[0, 1], [1, 0]], r"the factor has shape \(2, 2\)"),
        ([], r"the factor has shape \(0,\)"),
        ([0, 1, 0], "prediction, factor and given have 4, 3, 4 rows"),
    ],
)
def test_columns_that_cannot_be_used(column: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        independence_test([0, 1, 0, 1], np.array(column, dtype=object if None in column else None), [0, 0, 1, 1])
