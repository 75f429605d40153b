"""Means and ranges of amounts, beside textbook formulas and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from recombine.jobs.score.amounts import Amount, ChanceSpread, beyond_largest, mean_amount


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


@pytest.mark.parametrize("skewness", [-0.9, -0.2, 1e-5, 0.5, 0.95])
def test_ends_are_where_halls_cubic_of_the_t_statistic_is_that_of_a_normal(skewness: float) -> None:
    amount = Amount.about(3.0, ChanceSpread(4.0, 8.0 * skewness), 1e9)
    for end, normal in ((amount.low, 1.959964), (amount.high, -1.959964)):
        statistic = (3.0 - end) / 2.0
        cubic = statistic + skewness * statistic**2 / 3 + skewness**2 * statistic**3 / 27 + skewness / 6
        assert cubic == pytest.approx(normal, abs=1e-4)
    mirrored = Amount.about(-3.0, ChanceSpread(4.0, 8.0 * skewness).negated, 1e9)
    assert [-mirrored.high, -mirrored.low] == pytest.approx([amount.low, amount.high])


def test_means_of_skewed_values_lie_in_their_ranges_more_often_than_in_students() -> None:
    rng = np.random.default_rng(0)
    draws = np.exp(rng.normal(0.0, 1.2, size=(800, 40)))
    truth = np.exp(1.2**2 / 2)
    ranges = [(Amount.about(values.mean(), ChanceSpread.of_mean(values), 39), mean_amount(values)) for values in draws]
    held = np.mean([[each.low <= truth <= each.high for each in pair] for pair in ranges], axis=0)
    assert held[0] > held[1] + 0.03
    assert held[0] > 0.88  # forty values do not tell the tail of a distribution that is so skewed


def test_spreads_of_independent_chances_add_up() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.exponential(size=(2, 400_000))
    single, both = ChanceSpread.of_mean(one), ChanceSpread.of_mean(one + two)
    twice = single + single
    assert [twice.variance, twice.third] == pytest.approx([both.variance, both.third], rel=0.05)
    assert ChanceSpread(1e-250, 1e-300).skewness == 1.0  # no power of the variance underflows


def test_tails_without_variance_widen_the_range_of_a_mean_and_others_do_not() -> None:
    rng, held = np.random.default_rng(0), []
    assert [beyond_largest(rng.chisquare(1, size=100)) for _ in range(40)].count(0.0) >= 38
    for _ in range(100):
        values = rng.pareto(1.25, size=300) + 1.0  # as squares of Student's law with 2.5 degrees of freedom
        amount = Amount.about(values.mean(), ChanceSpread.of_mean(values), 299)
        held.append(amount.low <= 5.0 <= amount.high)
    # Without what is still to come three fifths do.
    assert np.mean(held) > 0.75
