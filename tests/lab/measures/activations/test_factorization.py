"""Factors at right angles and product kernels: closed forms, invariances, the best product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.lab.worlds.rendered.bumps import ENCODINGS, BumpWorld, Hole
from recombine.measures.activations.factorization import factorization, kernel_factorization, product_share
from recombine.measures.activations.geometry import metric_tensor
from recombine.measures.activations.grid import as_grid

WORLD = BumpWorld(side=28, hole=Hole.square(6, 22))

IMAGES = WORLD.grid().images.reshape(28, 28, -1)


def rotation(size: int, rng: np.random.Generator) -> Any:
    return np.linalg.qr(rng.standard_normal((size, size)))[0]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_code_has_factors_at_right_angles(encoding: str) -> None:
    codes = BumpWorld(side=28, encoding=encoding).grid().codes.reshape(28, 28, -1)
    assert factorization(metric_tensor(codes)) == pytest.approx(1.0, abs=1e-12)


@given(st.integers(0, 99))
@settings(max_examples=15)
def test_both_measures_are_blind_to_rotations_and_f_k_to_relabelling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((4, 5, 6))
    turned = 3.0 * values @ rotation(6, rng)
    assert factorization(metric_tensor(turned)) == pytest.approx(factorization(metric_tensor(values)), abs=1e-12)
    shuffled = turned[rng.permutation(4)][:, rng.permutation(5)]
    assert kernel_factorization(shuffled) == pytest.approx(kernel_factorization(values), abs=1e-12)
    assert 0.5 <= factorization(metric_tensor(values)) <= 1
    assert 0 < kernel_factorization(values) <= 1


def test_f_k_is_the_share_of_the_best_product_kernel() -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal((3, 4, 5))
    gram = as_grid(values).gram
    rows = np.array(
        [[gram.reshape(3, 4, 3, 4)[x, y, u, v] for y in range(4) for v in range(4)] for x in range(3) for u in range(3)]
    )
    sizes = np.linalg.svd(rows, compute_uv=False)
    assert kernel_factorization(values) == pytest.approx(sizes[0] ** 2 / (sizes**2).sum(), abs=1e-12)
    assert product_share(gram, (3, 4), 0) == pytest.approx(product_share(gram, (3, 4), 1), abs=1e-12)


def test_f_k_is_one_for_products_only() -> None:
    rng = np.random.default_rng(2)
    parts = [rng.standard_normal((size, 3)) for size in (3, 4, 2)]
    product = np.einsum("xi,yj,zk->xyzijk", *parts).reshape(3, 4, 2, -1)
    assert kernel_factorization(product) == pytest.approx(1.0, abs=1e-12)
    assert kernel_factorization(product + 0.3 * rng.standard_normal(product.shape)) < 0.99
    assert kernel_factorization(IMAGES) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("size", [2, 5, 28])
def test_f_k_of_the_one_hot_code_has_a_closed_form(size: int) -> None:
    codes = BumpWorld(side=size, encoding="one-hot").grid().codes.reshape(size, size, -1)
    # K = I (x) J + J (x) I in the space spanned by I and J, whose inner products are N, N and N².
    both = np.array([[size, size], [size, size**2]], dtype=float)
    operator = np.array([[0.0, 1.0], [1.0, 0.0]])
    root = np.linalg.cholesky(both)
    sizes = np.linalg.svd(root.T @ operator @ root, compute_uv=False)
    assert kernel_factorization(codes) == pytest.approx(sizes[0] ** 2 / (sizes**2).sum(), abs=1e-12)


def test_a_white_page_is_taken_away_by_the_median() -> None:
    assert kernel_factorization(1 + 3 * IMAGES, background="median") == pytest.approx(1.0, abs=1e-10)
    code = BumpWorld(side=28).grid().codes.reshape(28, 28, -1)
    assert kernel_factorization(code + 10.0) > 0.99
    assert kernel_factorization(code + 10.0, background="median") == pytest.approx(0.6825, abs=1e-4)
