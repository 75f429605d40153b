"""Means and ranges of amounts, beside textbook formulas and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from recombine.jobs.score.amounts import Amount, mean_amount


@pytest.mark.parametrize(
    ("low", "high", "within"),
    [(-1.0, 1.0, True), (0.0, 1.0, True), (-1.0, 0.0, True), (0.0, 0.0, True), (0.1, 1.0, False), (-1.0, -0.1, False)],
)
def test_a_range_holds_its_ends(low: float, high: float, within: bool) -> None:
    assert Amount((low + high) / 2, low, high).within_chance is within


def test_a_mean_has_the_range_of_students_t() -> None:
    values = np.random.default_rng(0).normal(2.0, 3.0, size=9)
    interval = ttest_1samp(values, 0.0).confidence_interval(0.95)
    amount = mean_amount(values)
    assert [amount.value, amount.low, amount.high] == pytest.approx([values.mean(), interval.low, interval.high])
    # What has no weight is as if it were not there, and only ratios of weights matter.
    weights = np.repeat([5.0, 0.0], [9, 4])
    padded = mean_amount(np.concatenate([values, np.full(4, 1e3)]), weights)
    assert [padded.value, padded.low, padded.high] == pytest.approx([amount.value, amount.low, amount.high])


def test_two_values_have_a_range_and_one_has_none() -> None:
    pair = mean_amount(np.array([1.0, 3.0]))
    assert pair.high - pair.value == pytest.approx(12.706205)  # t of one degree of freedom, standard error 1
    for single in (mean_amount(np.array([7.0])), mean_amount(np.array([7.0, 9.0]), np.array([2.0, 0.0]))):
        assert single.value == 7.0
        assert np.isnan([single.low, single.high]).all()
    assert np.isnan(mean_amount(np.array([7.0]), np.zeros(1)).value)
