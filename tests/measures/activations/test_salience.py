"""Measured salience against a loop over all pairs of samples, and on representations whose salience is known."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError
from recombine.measures.activations.salience import measured_salience
from recombine.theory.kernels.overlap import OverlapKernel


def by_loops(features: Any, cells: Any, itself: bool) -> list[float]:
    """kappa_0..kappa_C from every pair of samples, averaged by pair of cells and then by overlap."""
    types = sorted({tuple(cell) for cell in cells.tolist()})
    members = {kind: [place for place, cell in enumerate(cells.tolist()) if tuple(cell) == kind] for kind in types}
    averages: dict[int, list[float]] = {shared: [] for shared in range(cells.shape[1] + 1)}
    for one, two in itertools.product(types, types):
        products = [
            float(features[i] @ features[j])
            for i, j in itertools.product(members[one], members[two])
            if itself or i != j
        ]
        if products:
            averages[sum(a == b for a, b in zip(one, two, strict=True))].append(float(np.mean(products)))
    return [float(np.mean(found)) for found in averages.values()]


def one_hot(cells: Any) -> Any:
    return np.concatenate([np.eye(size)[cells[:, place]] for place, size in enumerate(cells.max(axis=0) + 1)], axis=1)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(3, 3), (4, 2), (2, 3, 2), (2, 2, 2, 2)]), st.booleans())
def test_class_sums_equal_loops_over_pairs(seed: int, sizes: tuple[int, ...], itself: bool) -> None:
    generator = np.random.default_rng(seed)
    # Every cell twice and then some, so that cells differ in how many samples they have.
    grid = every_cell(sizes)
    cells = generator.permutation(np.concatenate([grid, grid, grid[generator.integers(len(grid), size=7)]]))
    features = generator.normal(size=(len(cells), 4)) + generator.normal(size=4)
    expected = by_loops(features, cells, itself)
    np.testing.assert_allclose(measured_salience(features, cells, itself=itself).values, expected, atol=1e-12)


def test_cells_of_one_sample_count_only_across_cells() -> None:
    generator = np.random.default_rng(0)
    grid = every_cell((3, 3))
    cells = np.concatenate([grid, grid[:4], grid[:2]])
    features = generator.normal(size=(len(cells), 5))
    np.testing.assert_allclose(measured_salience(features, cells).values, by_loops(features, cells, False), atol=1e-12)


@pytest.mark.parametrize("salience", [[0.3, 0.4], [0.45, 0.1], [0.1, 0.1, 0.4]])
def test_gaussian_conjunctions_with_noise_give_their_salience_back(salience: list[float]) -> None:
    generator = np.random.default_rng(1)
    factors, units, samples = len(salience), 60_000 if len(salience) == 2 else 30_000, 4
    cells = every_cell((4,) * factors)
    features = generator.normal(size=(len(cells), samples, units))
    for order, weight in enumerate(salience, start=1):
        for subset in itertools.combinations(range(factors), order):
            _, where = np.unique(cells[:, list(subset)], axis=0, return_inverse=True)
            codes = generator.normal(size=(where.max() + 1, units))
            features += np.sqrt(weight) * codes[where.reshape(-1)][:, None]
    clean = measured_salience(features, cells)
    # kappa is a mean over units: its error falls as one over the square root of their number.
    np.testing.assert_allclose(clean.salience, salience, atol=0.01)
    # Pairing samples with themselves adds the noise, of variance 1, divided by the samples to kappa_C.
    noisy = measured_salience(features, cells, itself=True)
    assert (noisy.values[-1] - clean.values[-1]) / units == pytest.approx(1 / samples, rel=0.02)
    np.testing.assert_allclose(noisy.salience[:-1], np.array(salience[:-1]) / (1 + 1 / samples), atol=0.01)
    assert noisy.salience[-1] > clean.salience[-1]


def test_a_wide_random_layer_has_the_salience_of_its_kernel() -> None:
    cells = every_cell((9, 9))
    weights = np.random.default_rng(2).normal(size=(18, 20_000)).astype(np.float32)
    features = np.maximum(one_hot(cells).astype(np.float32) @ weights, 0)
    kernel = measured_salience(features, cells, itself=True)
    assert kernel.salience[0] == pytest.approx(OverlapKernel.relu(1, 2).salience[0], abs=0.004)
    assert kernel.salience[0] == pytest.approx(0.4264, abs=0.004)


def test_blocks_of_samples_are_samples() -> None:
    cells = every_cell((3, 2))
    features = np.random.default_rng(3).normal(size=(6, 4, 5))
    flat = measured_salience(features.reshape(24, 5), np.repeat(cells, 4, axis=0))
    assert measured_salience(features, cells).table == pytest.approx(flat.table)


def test_single_precision_loses_nothing_to_summation() -> None:
    cells = np.repeat(every_cell((4, 4)), 50, axis=0)
    features = (100 + np.random.default_rng(4).normal(size=(len(cells), 8))).astype(np.float32)
    exact = measured_salience(features.astype(np.float64), cells)
    np.testing.assert_allclose(measured_salience(features, cells).values, exact.values, rtol=1e-12)
    assert measured_salience(one_hot(cells).astype(int), cells).values.tolist() == pytest.approx([0, 1, 2])


def test_tensors_are_measured_like_arrays() -> None:
    torch = pytest.importorskip("torch")
    cells = every_cell((3, 3))
    features = torch.from_numpy(one_hot(cells).astype(np.float32)).requires_grad_()
    expected = measured_salience(one_hot(cells), cells, itself=True).values
    for tensor in (features, features.bfloat16()):
        np.testing.assert_array_equal(measured_salience(tensor, cells, itself=True).values, expected)


def test_mistakes_are_named() -> None:
    cells = every_cell((2, 2))
    with pytest.raises(InputError, match="itself=True"):
        measured_salience(np.ones((4, 3)), cells)
    with pytest.raises(InputError, match="no two cells share exactly 0 of the 2 factors"):
        measured_salience(np.ones((3, 3)), cells[:3][[0, 1, 1]], itself=True)
    with pytest.raises(InputError, match=r"features have shape \(5, 3\) for 4 cells"):
        measured_salience(np.ones((5, 3)), cells)
    with pytest.raises(InputError, match="not finite"):
        measured_salience(np.full((4, 3), np.inf), cells)
    with pytest.raises(InputError, match="holds no number"):
        measured_salience(np.ones((4, 0)), cells)
    with pytest.raises(InputError, match="dtype"):
        measured_salience(np.full((4, 3), "a"), cells)


def test_sets_keep_apart_which_factor_is_loud() -> None:
    cells = every_cell((3, 4, 2))
    loud = np.concatenate([(place + 1) * np.eye(size)[cells[:, place]] for place, size in enumerate((3, 4, 2))], axis=1)
    kernel = measured_salience(loud, cells, itself=True, by_set=True)
    known = {(0,): 1 / 14, (1,): 4 / 14, (2,): 9 / 14}
    assert kernel.salience_by_set == pytest.approx(
        {subset: known.get(subset, 0.0) for subset in kernel.salience_by_set}
    )


@pytest.mark.parametrize("itself", [False, True])
def test_by_set_and_by_count_agree_where_factors_are_alike(itself: bool) -> None:
    cells = np.repeat(every_cell((3, 3)), 4, axis=0)
    features = np.random.default_rng(0).standard_normal((len(cells), 5)) + np.eye(3)[cells[:, 0]].sum(1, keepdims=True)
    counts = measured_salience(features, cells, itself=itself)
    sets = measured_salience(features, cells, itself=itself, by_set=True)
    # A 3 x 3 grid has as many pairs that share one factor as pairs that share the other.
    assert sets.table[1] + sets.table[2] == pytest.approx(2 * counts.values[1])
    assert (sets.table[0], sets.table[3]) == pytest.approx((counts.values[0], counts.values[2]))


def test_a_set_that_no_two_cells_share_is_named() -> None:
    with pytest.raises(InputError, match=r"share exactly the factors \(1,\)"):
        measured_salience(np.eye(3), [[0, 0], [0, 1], [1, 2]], itself=True, by_set=True)
