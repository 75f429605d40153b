"""Information against known joints and scikit-learn; processing loses it; what cannot be estimated is named."""

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
from recombine.measures.dependence.columns import (
    conditional_information,
    independence_test,
    invariance_entropy,
    mutual_information,
)
from recombine.measures.dependence.contingency import Contingency
from recombine.measures.dependence.independence import independence_of


def entropy(shares: Any) -> Any:
    return stats.entropy(shares, base=2, axis=-1)


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


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="0 permutations"):
        independence_test([0, 1], [0, 1], permutations=0)
    with pytest.raises(InputError, match="counts must be whole numbers"):
        independence_test([0, 1], [0, 1], counts=[0.5, 1])
    with pytest.raises(InputError, match="and counts 3"):
        independence_test([0, 1], [0, 1], counts=[1, 1, 2])
    with pytest.raises(InputError, match="1 bins"):
        independence_test(np.linspace(0, 1, 50), np.zeros(50, int), bins=1)
