"""Tests of dependence: the null of both routes, the G test, how often they err, and what cannot be told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from recombine.measures.dependence import independence
from recombine.measures.dependence.columns import independence_test
from recombine.measures.dependence.contingency import Contingency
from recombine.measures.dependence.independence import DependenceState
from recombine.words import independence_sentence


def simulated(
    generator: np.random.Generator, rows: int, *, classes: int = 10, accuracy: float = 0.95, leak: float = 0.0
) -> tuple[Any, Any, Any]:
    """Prediction, factor to ignore and own factor: right with ``accuracy``, and copying the other with ``leak``."""
    own, other = generator.integers(classes, size=(2, rows))
    prediction = np.where(generator.random(rows) < accuracy, own, generator.integers(classes, size=rows))
    return np.where(generator.random(rows) < leak, other, prediction), other, own


def exact_null_mean(table: Contingency) -> float:
    """Expected sum of c log2 c: each entry is hypergeometric."""
    total = 0.0
    for stratum, size in enumerate(table.sizes):
        for count in table.predictions[2][table.predictions[0] == stratum]:
            for level in table.factors[2][table.factors[0] == stratum]:
                numbers = np.arange(min(count, level) + 1)
                chances = stats.hypergeom(size, count, level).pmf(numbers)
                total += float(chances @ (numbers * np.log2(np.maximum(numbers, 1))))
    return total


@pytest.mark.parametrize(("draw_cost", "held"), [(0, 10**6), (0, 3000), (10**6, 10**6), (3, 10**6)])
def test_both_routes_draw_the_permutation_distribution(
    monkeypatch: pytest.MonkeyPatch, draw_cost: int, held: int
) -> None:
    monkeypatch.setattr(independence, "DRAW_COST", draw_cost)
    monkeypatch.setattr(independence, "MAX_SHUFFLED_ENTRIES", held)
    generator = np.random.default_rng(2)
    sizes = [1, 5, 40, 120]
    stratum = np.repeat(np.arange(4), sizes)
    prediction = generator.integers([1, 2, 3, 5], size=(166, 4))[np.arange(166), stratum]
    factor = generator.integers([2, 3, 4, 3], size=(166, 4))[np.arange(166), stratum]
    table = Contingency.of(prediction, factor, stratum)
    total, occupied = independence.null_sums(table, 4000, generator)
    free = independence.changeable_entries(table)
    kept = float((table.counts[~free] * np.log2(table.counts[~free])).sum())
    assert total.mean() + kept == pytest.approx(exact_null_mean(table), abs=4 * total.std() / math.sqrt(4000))
    # The whole distribution, against shuffles of the rows.
    shuffled = np.array([Contingency.of(prediction, _shuffled(factor, stratum, generator), stratum).counts.size
                         for _ in range(1000)])  # fmt: skip
    assert stats.ks_2samp(shuffled, occupied + int((~free).sum())).pvalue > 1e-3


def _shuffled(factor: Any, stratum: Any, generator: np.random.Generator) -> Any:
    order = np.lexsort((generator.random(len(factor)), stratum))
    return factor[order]


def test_with_large_counts_the_p_value_is_that_of_the_g_test() -> None:
    generator = np.random.default_rng(3)
    prediction, factor, own = simulated(generator, 60_000, classes=3, accuracy=0.5, leak=0.008)
    test = independence_test(prediction, factor, own, permutations=2000, corrected=False)
    likelihood_ratio = 2 * 60_000 * math.log(2) * test.estimate
    assert test.freedom == 12
    assert test.p_value == pytest.approx(stats.chi2.sf(likelihood_ratio, 12), abs=0.02)
    assert 2 * 60_000 * math.log(2) * test.null_mean == pytest.approx(12, rel=0.05)
    by_level = [
        stats.chi2_contingency(stats.contingency.crosstab(prediction[own == k], factor[own == k]).count,
                               lambda_="log-likelihood", correction=False).statistic
        for k in range(3)
    ]  # fmt: skip
    assert likelihood_ratio == pytest.approx(sum(by_level))


def rejections(cases: int, rows: int, seed: int, **options: Any) -> float:
    generator = np.random.default_rng(seed)
    found = [independence_test(*simulated(generator, rows, **options), seed=generator) for _ in range(cases)]
    return float(np.mean([test.p_value <= 0.05 for test in found]))


@pytest.mark.slow
def test_an_invariant_model_is_rarely_flagged() -> None:
    # 300 cases at 5 %: two standard deviations are 2.5 %.
    assert 0.025 <= rejections(300, 600, 4, classes=4, accuracy=0.7) <= 0.075


def test_a_tenth_of_a_bit_is_found() -> None:
    # Copying the other factor in 5.74 % of 4,000 rows is 0.100 bits at accuracy 0.95.
    assert rejections(20, 4000, 5, leak=0.0574) > 0.9


def test_the_excess_of_an_invariant_model_is_zero_though_its_estimate_is_not() -> None:
    generator = np.random.default_rng(6)
    tests = [independence_test(*simulated(generator, 4000), seed=generator) for _ in range(10)]
    assert np.mean([test.estimate for test in tests]) > 0.05
    assert abs(np.mean([test.excess for test in tests])) < 4 * tests[0].null_sd / math.sqrt(10)


def test_constant_predictions_have_no_information() -> None:
    factor, own = np.random.default_rng(7).integers(5, size=(2, 300))
    test = independence_test(np.zeros(300, int), factor, own)
    assert (test.estimate, test.excess, test.effect, test.p_value, test.freedom) == (0, 0, 0, 1, 0)
    assert test.verdict() is DependenceState.NOT_FOUND


@pytest.mark.parametrize("given", ["singletons", "nested", "one level"])
def test_where_the_factor_never_varies_nothing_can_be_told(given: str) -> None:
    generator = np.random.default_rng(8)
    prediction, factor = generator.integers(3, size=(2, 200))
    strata = {"singletons": np.arange(200), "nested": factor, "one level": np.zeros(200, int)}[given]
    test = independence_test(prediction, factor * (given != "one level"), strata)
    assert (test.estimate, test.p_value) == (pytest.approx(0, abs=1e-12), 1)
    assert test.verdict() is DependenceState.CANNOT_TELL
    assert "cannot be told" in independence_sentence(test, "guess", "site", "digit")


def test_singletons_next_to_others_change_the_scale_only() -> None:
    generator = np.random.default_rng(9)
    prediction, factor, own = simulated(generator, 500, classes=3, leak=0.2)
    alone = independence_test(prediction, factor, own, corrected=False)
    more = [np.concatenate([column, generator.integers(3, size=500)]) for column in (prediction, factor)]
    both = independence_test(*more, np.concatenate([own, np.arange(10, 510)]), corrected=False)
    assert both.estimate == pytest.approx(alone.estimate / 2)
    assert (both.p_value, both.freedom, both.varied) == (alone.p_value, alone.freedom, 0.5)


def test_counts_stand_for_rows() -> None:
    columns = simulated(np.random.default_rng(10), 3000, classes=4, leak=0.1)
    cells, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    grouped, plain = independence_test(*cells, counts=counts), independence_test(*columns)
    assert (grouped.estimate, grouped.rows) == (pytest.approx(plain.estimate), 3000)
    np.testing.assert_allclose(grouped.null, plain.null)
