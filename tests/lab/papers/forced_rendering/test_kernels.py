"""Forced rendering without networks: closed forms of codes, images and kernels on the donut."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.worlds.rendered.bumps import ENCODINGS, BumpWorld, Hole
from recombine.measures.activations import (
    additive_prediction,
    additive_share,
    as_grid,
    correlations,
    factorization,
    kernel_factorization,
    metric_tensor,
    pasted_outputs,
    peak_accuracy,
    product_share,
)

WORLD = BumpWorld(side=28, hole=Hole.square(6, 22))
SEEN = WORLD.seen()
IMAGES: FloatArray = WORLD.grid().images.reshape(28, 28, -1)
#: Mean square of one bump of width 1: the error of a blank image.
BLANK = math.pi / 28**2


def code_of(encoding: str) -> FloatArray:
    return BumpWorld(side=28, encoding=encoding).grid().codes.reshape(28, 28, -1)


def least_squares(outputs: FloatArray, seen: BoolArray) -> FloatArray:
    """Ordinary least squares on one indicator per level of each factor, the solution of smallest norm."""
    cells = as_grid(outputs).cells
    design = np.concatenate([np.eye(size)[cells[:, axis]] for axis, size in enumerate(seen.shape)], axis=1)
    flat, mask = outputs.reshape(len(cells), -1), seen.reshape(-1)
    weights = np.linalg.lstsq(design[mask], flat[mask], rcond=1e-10)[0]
    fitted: FloatArray = (design @ weights).reshape(outputs.shape)
    return fitted


@pytest.mark.parametrize("seed", range(50))
def test_regression_with_the_binary_kernel_is_least_squares_on_indicators(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = tuple(rng.integers(2, 8, size=rng.integers(2, 4)).tolist())
    seen = rng.random(levels) < rng.uniform(0.3, 0.9)
    seen.reshape(-1)[:2] = True, False
    outputs = rng.standard_normal((*levels, 5))
    np.testing.assert_allclose(additive_prediction(outputs, seen), least_squares(outputs, seen), atol=1e-8)


@pytest.mark.parametrize("side", [2, 4, 8, 16, 28])
def test_the_kernel_of_a_one_hot_code_has_a_closed_best_product(side: int) -> None:
    one, all_ones = np.eye(side), np.ones((side, side))
    kernel = np.kron(one, all_ones) + np.kron(all_ones, one)
    closed = 0.5 + math.sqrt(side) / (side + 1)
    assert product_share(kernel, (side, side)) == pytest.approx(closed, abs=1e-10)
    if side == 28:
        assert closed == pytest.approx(0.6825, abs=1e-4)
        assert kernel_factorization(code_of("one-hot")) == pytest.approx(closed, abs=1e-10)


def test_the_kernel_of_right_images_is_a_product() -> None:
    assert kernel_factorization(IMAGES) == pytest.approx(1, abs=1e-10)
    inverted = 1 - IMAGES
    # A white page hides nothing as long as it is taken away.
    assert kernel_factorization(inverted, background="median") == pytest.approx(1, abs=1e-8)
    gram = as_grid(IMAGES).gram.reshape(28, 28, 28, 28)[14, 14]
    assert gram[15, 14] / gram[14, 14] == pytest.approx(math.exp(-1 / 4), abs=5e-4)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_codes_keep_factors_orthogonal_and_add(encoding: str) -> None:
    code = code_of(encoding)
    assert factorization(metric_tensor(code)) == pytest.approx(1, abs=1e-9)
    assert additive_share(code) == pytest.approx(1, abs=1e-9)


def test_right_images_are_as_orthogonal_but_do_not_add() -> None:
    assert factorization(metric_tensor(IMAGES)) == pytest.approx(0.99995, abs=1e-5)
    assert additive_share(IMAGES) == pytest.approx(0.2188, abs=1e-4)


def scores(painted: FloatArray) -> dict[str, Any]:
    errors = ((painted - IMAGES) ** 2).mean(axis=-1)
    pictures = painted.reshape(28, 28, 28, 28)[~SEEN]
    return {
        "seen": errors[SEEN].mean(),
        "hole": errors[~SEEN].mean(),
        "peaks": peak_accuracy(pictures, WORLD.grid().centres.reshape(28, 28, 2)[~SEEN]),
        "correlation": np.nanmean(correlations(painted, IMAGES)[~SEEN]),
    }


def test_a_model_that_can_only_add_is_worse_in_the_hole_than_a_blank_image() -> None:
    painted = additive_prediction(IMAGES, SEEN)
    found = scores(painted)
    assert (found["seen"], found["hole"]) == pytest.approx((0.00255, 0.00589), abs=1e-5)
    assert found["hole"] > BLANK
    assert found["peaks"] == 0
    assert found["correlation"] == pytest.approx(0.036, abs=1e-3)
    # What it paints is the mean of the column plus that of the row.
    assert correlations(painted, pasted_outputs(IMAGES, SEEN))[~SEEN].mean() > 0.9


@pytest.mark.parametrize(("length", "error", "right"), [(0.5, 0.0038, 0.27), (1.0, 0.0033, 0.32), (2.0, 0.0095, 0.28)])
def test_a_product_kernel_on_the_code_knows_nothing_in_the_hole(length: float, error: float, right: float) -> None:
    levels = np.arange(28)
    one = np.exp(-((levels[:, None] - levels) ** 2) / (2 * length**2))
    kernel, mask = np.kron(one, one), SEEN.reshape(-1)
    # The radial Gaussian that the released analysis compares it with is the same kernel.
    centres = WORLD.grid().centres
    radial = np.exp(-((centres[:, None] - centres) ** 2).sum(axis=-1) / (2 * length**2))
    np.testing.assert_allclose(kernel, radial, atol=1e-12)
    left, sizes, above = np.linalg.svd(kernel[np.ix_(mask, mask)], hermitian=True)
    kept = sizes > 1e-10 * sizes[0]
    dual = above[kept].T @ ((left[:, kept].T @ IMAGES.reshape(784, -1)[mask]) / sizes[kept, None])
    found = scores((kernel[:, mask] @ dual).reshape(28, 28, -1))
    assert found["hole"] == pytest.approx(error, abs=1e-4)
    assert found["correlation"] == pytest.approx(right, abs=0.005)
    assert found["hole"] > 0.75 * BLANK


def test_wider_holes_are_painted_worse() -> None:
    found = []
    for hole in (Hole.square(12, 16), Hole.square(10, 18), Hole.square(6, 22)):
        seen = BumpWorld(side=28, hole=hole).seen()
        found.append(correlations(additive_prediction(IMAGES, seen), IMAGES)[~seen].mean())
    assert found == sorted(found, reverse=True)


def test_the_released_sum_of_seen_outputs_is_the_pasted_image() -> None:
    # The released test of ramps sums all seen outputs of the column and of the row; every column and every row of the
    # hole has as many seen places, so that the sum is the pasted image times that number.
    rng = np.random.default_rng(0)
    outputs = IMAGES + 0.1 * rng.standard_normal(IMAGES.shape)
    pasted = pasted_outputs(outputs, SEEN)
    for x, y in ((6, 22), (12, 15), (14, 14)):
        summed = outputs[x][SEEN[x]].sum(axis=0) + outputs[:, y][SEEN[:, y]].sum(axis=0)
        np.testing.assert_allclose(summed, 11 * pasted[x, y])
