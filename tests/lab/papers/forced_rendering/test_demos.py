"""Forced rendering, small networks: structural similarity, kernels fitted to images, and worlds of the demos."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.lab.papers import find
from recombine.lab.papers.forced_rendering.experiments.controls import digit_codes, rotation
from recombine.lab.papers.forced_rendering.experiments.demos import (
    SSIM_FLOORS,
    SSIM_WINDOW_PIXELS,
    demo_world,
    kernel_errors,
    structural_similarity,
)
from recombine.lab.papers.forced_rendering.experiments.training import DEFAULTS
from recombine.lab.runs.experiment import Unit

PAPER = find("forced-rendering")


def test_structural_similarity_is_the_mean_over_windows_of_its_definition() -> None:
    first, second = np.random.default_rng(0).random((2, 1, 12, 12))
    values = []
    for row in range(12 - SSIM_WINDOW_PIXELS + 1):
        for column in range(12 - SSIM_WINDOW_PIXELS + 1):
            window = (0, slice(row, row + SSIM_WINDOW_PIXELS), slice(column, column + SSIM_WINDOW_PIXELS))
            a, b = first[window].ravel(), second[window].ravel()
            (aa, ab), (_, bb) = np.cov(a, b)
            light = (2 * a.mean() * b.mean() + SSIM_FLOORS[0]) / (a.mean() ** 2 + b.mean() ** 2 + SSIM_FLOORS[0])
            values.append(light * (2 * ab + SSIM_FLOORS[1]) / (aa + bb + SSIM_FLOORS[1]))
    assert structural_similarity(first, second)[0] == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize(("lengths", "alike"), [((1.0, 4.0), False), ((2.0, 2.0), True)])
def test_the_kernel_that_made_images_is_the_one_that_fits_them(lengths: tuple[float, float], alike: bool) -> None:
    steps = np.arange(8.0)
    halves = [np.exp(-((steps[:, None] - steps) ** 2) / (2 * length**2)) for length in lengths]
    seen = np.zeros((8, 8), dtype=bool)
    seen[[0, 2, 5, 7, 3, 6], [1, 6, 2, 7, 4, 0]] = True
    images = np.kron(*halves)[:, seen.ravel()] @ np.random.default_rng(0).normal(size=(6, 5))
    errors = kernel_errors(images.reshape(8, 8, 5), seen)
    assert errors["same lengths"] is alike
    assert errors["product kernel error"] < 1e-9
    assert (errors["radial kernel error"] < 1e-9) is alike


def test_a_cross_leaves_out_values_and_a_wide_code_is_wider() -> None:
    cross = demo_world({**DEFAULTS, "side": 16, "hole": [4, 11], "cross": True})
    assert not cross.seen()[4:12].any()
    assert not cross.seen()[:, 4:12].any()
    narrow, wide = (demo_world({**DEFAULTS, "spread": spread}).grid().codes.sum() for spread in (1, 9))
    assert wide > 2 * narrow


def test_small_networks_are_smaller_than_the_paper_s() -> None:
    assert max(setting["side"] for setting in PAPER.by_name["demos"].settings("full")) < 28


def test_a_network_of_several_digits_has_a_row_for_each_and_is_told_which() -> None:
    tiny = {"images": "digits", "side": 8, "angles": 12, "channels": [4, 4, 4], "epochs": 1, "seeds": [0]}
    rows = rotation(Unit("digits-turned", 1, {**tiny, "turned": [2, 7], "gap": [100, 200]}))
    assert [row["digit"] for row in rows] == [2, 7]
    assert rows[0]["blend to truth"] != rows[1]["blend to truth"]
    codes = digit_codes(np.ones((5, 2)), digits=2)
    assert codes.shape == (2, 5, 4)
    assert (codes[0, 0] != codes[1, 0]).sum() == 2
