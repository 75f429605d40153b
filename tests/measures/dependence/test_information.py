"""Information against known joints, scikit-learn and exact nulls; the test's false alarms and power by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import mutual_info_score

from recombine.errors import InputError
from recombine.measures.dependence import permutation
from recombine.measures.dependence.contingency import Contingency, as_codes
from recombine.measures.dependence.independence import independence_of, independence_test
from recombine.measures.dependence.information import conditional_information, invariance_entropy, mutual_information


def simulated(
    generator: np.random.Generator, rows: int, *, classes: int = 10, accuracy: float = 0.95, leak: float = 0.0
) -> tuple[Any, Any, Any]:
    """Prediction, factor to ignore and own factor: right with ``accuracy``, and copying the other with ``leak``."""
    own, other = generator.integers(classes, size=(2, rows))
    prediction = np.where(generator.random(rows) < accuracy, own, generator.integers(classes, size=rows))
    return np.where(generator.random(rows) < leak, other, prediction), other, own


def entropy(shares: Any) -> Any:
    return stats.entropy(shares, base=2, axis=-1)


# Estimates


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.integers(1, 200))
def test_plug_in_information_is_that_of_scikit_learn(seed: int, first: int, second: int, rows: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.integers(first, size=rows), generator.integers(second, size=rows)
    expected = mutual_info_score(a, b) / math.log(2)
    assert mutual_information(a, b, corrected=False) == pytest.approx(expected, abs=1e-12)
    # Conditioning on a third column is the average over its levels.
    c = generator.integers(3, size=rows)
    parts = [np.mean(c == k) * mutual_info_score(a[c == k], b[c == k]) / math.log(2) for k in np.unique(c)]
    assert conditional_information(a, b, c, corrected=False) == pytest.approx(sum(parts), abs=1e-12)
    # Names of levels do not matter, and neither does symmetry.
    texts = np.array(list("uvwxyz"))[a]
    assert mutual_information(b, texts) == pytest.approx(mutual_information(a, b), abs=1e-12)


def test_the_correction_finds_a_known_joint() -> None:
    generator = np.random.default_rng(0)
    joint = generator.dirichlet(np.ones(100)).reshape(10, 10)
    exact = entropy(joint.sum(0)) + entropy(joint.sum(1)) - entropy(joint.reshape(-1))
    drawn = generator.choice(100, p=joint.reshape(-1), size=20_000)
    a, b = np.divmod(drawn, 10)
    assert mutual_information(a, b) == pytest.approx(exact, abs=0.01)
    # Chance alone adds about (levels - 1)^2 / 2n nats to the plug-in estimate; the correction takes it away.
    bias = 81 / (2 * 20_000 * math.log(2))
    assert mutual_information(a, b, corrected=False) - mutual_information(a, b) == pytest.approx(bias, rel=0.1)


@pytest.mark.parametrize(("p", "bits"), [(0.786, 0.0581), (0.924, 0.0195), (0.432, 0.1838)])
def test_the_plane_has_a_closed_form(p: float, bits: float) -> None:
    # Right on three quadrants; a share p of the held-out one, (1, 1), is labelled 1.
    ones = round(1000 * p)
    own = np.repeat([0, 0, 1, 1], 1000)
    other = np.repeat([0, 1, 0, 1], 1000)
    prediction = np.concatenate([np.zeros(2000, int), np.ones(1000, int), np.arange(1000) < ones])
    binary = [entropy([q, 1 - q]) for q in ((1 + p) / 2, p)]
    measured = conditional_information(prediction, other, own, corrected=False)
    assert measured == pytest.approx((binary[0] - binary[1] / 2) / 2, abs=1e-12)
    assert measured == pytest.approx(bits, abs=5e-5)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_processing_loses_information(seed: int) -> None:
    # Prediction - input - outcome: I(input; prediction) >= I(outcome; prediction), as the joint is exact.
    generator = np.random.default_rng(seed)
    channel, rule = generator.integers(1, 9, size=(6, 4)), generator.integers(3, size=6)
    x, outcome = (part.reshape(-1) for part in np.indices((6, 4)))
    counts = channel.reshape(-1)
    prediction = rule[x]
    zeros = np.zeros_like(x)
    by_input = independence_of(Contingency.of(prediction, x, zeros, counts), 1, generator, corrected=False)
    by_outcome = independence_of(Contingency.of(prediction, outcome, zeros, counts), 1, generator, corrected=False)
    assert by_input.estimate >= by_outcome.estimate - 1e-12


def test_a_step_function_has_information_without_a_gradient() -> None:
    x = (np.arange(1000) + 0.5) / 500 - 1
    assert mutual_information(x > 0, x, corrected=False) == pytest.approx(1)


def test_invariance_entropy_is_the_mean_entropy_of_rows() -> None:
    generator = np.random.default_rng(1)
    labels = generator.integers(5, size=(3, 20, 30))
    counts = np.stack([np.sum(labels == k, axis=-1) for k in range(5)], axis=-1)
    np.testing.assert_allclose(invariance_entropy(labels), entropy(counts).mean(axis=-1), atol=1e-12)
    assert invariance_entropy(np.repeat(np.arange(4)[:, None], 7, axis=1)) == 0
    with pytest.raises(InputError, match="integers"):
        invariance_entropy(labels / 2)


# The null


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
    monkeypatch.setattr(permutation, "DRAW_COST", draw_cost)
    monkeypatch.setattr(permutation, "HELD", held)
    generator = np.random.default_rng(2)
    sizes = [1, 5, 40, 120]
    stratum = np.repeat(np.arange(4), sizes)
    prediction = generator.integers([1, 2, 3, 5], size=(166, 4))[np.arange(166), stratum]
    factor = generator.integers([2, 3, 4, 3], size=(166, 4))[np.arange(166), stratum]
    table = Contingency.of(prediction, factor, stratum)
    total, occupied = permutation.null_sums(table, 4000, generator)
    free = permutation.changeable_entries(table)
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


# Edges


def test_constant_predictions_have_no_information() -> None:
    factor, own = np.random.default_rng(7).integers(5, size=(2, 300))
    test = independence_test(np.zeros(300, int), factor, own)
    assert (test.estimate, test.excess, test.effect, test.p_value, test.freedom) == (0, 0, 0, 1, 0)
    assert test.verdict() == "no dependence found"


@pytest.mark.parametrize("given", ["singletons", "nested", "one level"])
def test_where_the_factor_never_varies_nothing_can_be_told(given: str) -> None:
    generator = np.random.default_rng(8)
    prediction, factor = generator.integers(3, size=(2, 200))
    strata = {"singletons": np.arange(200), "nested": factor, "one level": np.zeros(200, int)}[given]
    test = independence_test(prediction, factor * (given != "one level"), strata)
    assert (test.estimate, test.p_value, test.verdict()) == (pytest.approx(0, abs=1e-12), 1, "cannot tell")
    assert "cannot be told" in str(test)


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


def test_continuous_columns_are_cut_into_bins_and_the_words_say_so() -> None:
    generator = np.random.default_rng(11)
    factor, own = generator.integers(3, size=(2, 2000))
    prediction = own + 0.5 * factor + 0.3 * generator.normal(size=2000)
    test = independence_test(prediction, factor, own)
    assert test.levels == (10, 3, 3)
    assert test.verdict() == "depends"
    assert "The prediction was cut into 10 bins of about equal counts." in str(test)
    assert independence_test(prediction, factor, own, bins=4).levels[0] == 4


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_value_that_fills_most_bins_leaves_at_least_two(value: float) -> None:
    column = np.concatenate([np.full(960, value), np.linspace(1, 2, 40)])
    codes, note = as_codes(column, "y", 10)
    assert len(np.unique(codes)) == 2
    assert np.ptp(codes[:960]) == 0
    assert note == "y was cut into 2 bins of about equal counts"


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


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="0 permutations"):
        independence_test([0, 1], [0, 1], permutations=0)
    with pytest.raises(InputError, match="counts must be whole numbers"):
        independence_test([0, 1], [0, 1], counts=[0.5, 1])
    with pytest.raises(InputError, match="and counts 3"):
        independence_test([0, 1], [0, 1], counts=[1, 1, 2])
    with pytest.raises(InputError, match="1 bins"):
        independence_test(np.linspace(0, 1, 50), np.zeros(50, int), bins=1)
