"""Participation ratio and shared dimensions: reference numbers, invariances, the direct formula."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.measures.activations.dimensionality import ensd, feature_reuse

row, column = np.meshgrid(np.arange(8), np.arange(5), indexing="ij")
X1, X2 = np.sin(row * column + row + 1), np.cos(row * (column + 2))


def direct(first: np.ndarray, second: np.ndarray) -> float:
    C1, C2 = first.T @ first, second.T @ second
    return float(np.trace(C1) * np.trace(C2) * np.trace(C1 @ C2) / (np.trace(C1 @ C1) * np.trace(C2 @ C2)))


def test_reference_numbers() -> None:
    assert ensd(X1, X2, centred=False) == pytest.approx(3.37300684, abs=6e-9)
    # Shared with itself: the participation ratio.
    assert ensd(X1, X1, centred=False) == pytest.approx(3.96492437, abs=6e-9)
    assert ensd(X2, X2, centred=False) == pytest.approx(4.05279108, abs=6e-9)


@given(st.integers(0, 1000), st.integers(2, 12), st.integers(1, 12), st.booleans())
def test_it_is_the_direct_formula_for_any_shape(seed: int, samples: int, features: int, centred: bool) -> None:
    first, second = np.random.default_rng(seed).standard_normal((2, samples, features))
    shift = 1.0 if centred else 0.0
    plain = [values - shift * values.mean(axis=0) for values in (first, second)]
    assert ensd(first, second, centred=centred) == pytest.approx(direct(*plain))
    gram = ensd(first, second[:, :1], centred=centred, shared="samples")
    assert gram == pytest.approx(direct(plain[0].T, plain[1][:, :1].T))


@given(st.integers(0, 1000))
def test_shared_dimensions_are_symmetric_and_blind_to_scale_and_common_rotation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((2, 9, 6))
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    value = ensd(first, second, centred=False)
    assert ensd(second, first, centred=False) == pytest.approx(value)
    assert ensd(3 * first, -0.2 * second, centred=False) == pytest.approx(value)
    assert ensd(first @ turn, second @ turn, centred=False) == pytest.approx(value)
    assert ensd(first @ turn, second, centred=False, shared="samples") == pytest.approx(
        ensd(first, second, centred=False, shared="samples")
    )


def test_many_features_never_make_a_large_matrix() -> None:
    import tracemalloc

    first = np.random.default_rng(0).standard_normal((20, 50_000))
    tracemalloc.start()
    ensd(first, first[:, ::-1], centred=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * first.nbytes  # a matrix of features x features would take 20 GB


def test_regimes_of_a_layer() -> None:
    rng = np.random.default_rng(0)
    before = rng.standard_normal((200, 30)) @ np.diag(np.r_[np.ones(20), np.full(10, 0.01)])
    names = {
        "lazy": before + 0.02 * rng.standard_normal((200, 30)),
        "nested": before @ np.diag(np.r_[np.ones(3), np.full(27, 0.05)]),
        "new": rng.standard_normal((200, 1)) * np.r_[np.zeros(20), np.ones(10)],
    }
    assert [feature_reuse(before, after, centred=False).regime for after in names.values()] == list(names)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="same samples"):
        ensd(X1, X2[:4], centred=False)
    with pytest.raises(InputError, match="shared='samples'"):
        ensd(X1, X2[:, :3], centred=False)
    with pytest.raises(InputError, match=r"^before has 5 features and after 3; .* ensd\(\.\.\., shared='samples'\)"):
        feature_reuse(X1, X2[:, :3], centred=False)
    with pytest.raises(InputError, match=r"^before has 8 samples and after 4"):
        feature_reuse(X1, X2[:4], centred=False)
    with pytest.raises(InputError, match="centred is 'no'; give True or False"):
        feature_reuse(X1, X2, centred="no")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="activations 'after' are all zero"):
        feature_reuse(X1, 0 * X2, centred=False)
    with pytest.raises(InputError, match="did you mean 'features'"):
        ensd(X1, X2, centred=False, shared="feature")
    with pytest.raises(InputError, match="all zero after centring"):
        ensd(np.ones((4, 3)), np.ones((4, 3)), centred=True)
    with pytest.raises(InputError, match="not finite"):
        ensd([[1.0, np.inf]], [[1.0, 1.0]], centred=False)


def test_new_dimensions_beside_known_ones_are_new() -> None:
    known, more = (np.diag([1.0] * count + [0.0] * (60 - count)) for count in (2, 22))
    assert feature_reuse(known, more, centred=False).regime == "new"
    assert feature_reuse(more, known, centred=False).regime == "nested"


def test_chance_is_the_mean_over_shuffled_neurons() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((2, 30, 6)) + 0.5
    orders = [ensd(first, second[:, list(order)], centred=False) for order in itertools.permutations(range(6))]
    assert feature_reuse(first, second, centred=False).chance == pytest.approx(np.mean(orders))


def test_unrelated_positive_activity_is_not_called_reuse() -> None:
    rng = np.random.default_rng(0)
    first, second = (np.maximum(rng.standard_normal((200, 64)) @ rng.standard_normal((64, 256)), 0) for _ in range(2))
    raw, centred = (feature_reuse(first, second, centred=choice) for choice in (False, True))
    assert raw.regime == "undecided"
    assert raw.chance == pytest.approx(raw.shared, rel=0.1)
    assert centred.regime == "new"


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_dimensions_do_not_depend_on_scale(scale: float) -> None:
    X = np.random.default_rng(0).standard_normal((8, 5))
    for centred in (False, True):
        assert ensd(scale * X, scale * X, centred=centred) == pytest.approx(ensd(X, X, centred=centred))
        assert ensd(scale * X, X, centred=centred) == pytest.approx(ensd(X, X, centred=centred))


@pytest.mark.parametrize(("samples", "features"), [(1, 30), (2, 30), (40, 1)])
@pytest.mark.parametrize("kept", [True, False])
def test_too_few_samples_or_neurons_bear_no_verdict(samples: int, features: int, kept: bool) -> None:
    first, second = np.random.default_rng(0).standard_normal((2, samples, features))
    assert feature_reuse(first, first if kept else second, centred=False).regime == "undecided"


def test_what_is_not_shared_is_new_whether_or_not_chance_would_share_as_much() -> None:
    first, second = np.random.default_rng(0).standard_normal((2, 20, 30))
    found = feature_reuse(first, second, centred=False)
    assert found.chance == pytest.approx(found.shared, rel=0.1)
    assert found.shared < 0.5 * found.after
    assert found.regime == "new"


@pytest.mark.parametrize(("samples", "features"), [(200, 30), (500, 20), (2000, 128)])
@pytest.mark.parametrize("centred", [True, False])
def test_where_all_dimensions_were_in_use_only_activity_itself_can_tell(
    samples: int, features: int, centred: bool
) -> None:
    first, second = np.random.default_rng(0).standard_normal((2, samples, features))
    unrelated, kept = (feature_reuse(first, after, centred=centred) for after in (second, 3 * first + second))
    for found in (unrelated, kept):
        assert found.before > features / 2
        assert found.chance > 0.8 * found.shared
    assert (unrelated.regime, kept.regime) == ("undecided", "lazy")


def test_a_mean_that_activity_has_in_common_is_no_proof_that_it_stayed() -> None:
    first, second = np.abs(np.random.default_rng(0).standard_normal((2, 300, 40)))
    assert feature_reuse(first, second, centred=False).regime == "undecided"
    assert feature_reuse(np.ones((300, 40)), second, centred=False).regime == "undecided"
