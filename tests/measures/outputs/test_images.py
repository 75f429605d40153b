"""Errors of images against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score

from recombine.errors import InputError
from recombine.measures.outputs import images


@pytest.fixture
def pair() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    target = rng.random((60, 3, 4, 4))
    target[:, :, 0] = 0.0
    return target + 0.2 * rng.standard_normal(target.shape), target


def test_published_score_is_scikit_learns_without_constant_outputs(pair):
    predicted, target = pair
    flat = target.reshape(60, -1)
    varies = flat.std(0) > 0
    scores = [
        r2_score(flat[part][:, varies], predicted.reshape(60, -1)[part][:, varies], multioutput="variance_weighted")
        for part in (slice(0, 20), slice(20, 40), slice(40, 60))
    ]
    assert images.variance_weighted_r2(predicted, target, batch=20) == pytest.approx(np.mean(scores))


def test_strict_score_counts_errors_where_nothing_varies(pair):
    predicted, target = pair
    worse = predicted.copy()
    worse[:, :, 0] += 1.0
    assert images.variance_weighted_r2(worse, target) == pytest.approx(images.variance_weighted_r2(predicted, target))
    assert images.strict_r2(worse, target) < images.strict_r2(predicted, target) - 1
    assert images.strict_r2(target, target) == 1


def test_tensors_and_arrays_agree(pair):
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(one) for one in pair]
    for score in (images.mean_squared_error, images.variance_weighted_r2, images.strict_r2):
        assert score(*tensors) == pytest.approx(score(*pair))
    masks = {"top": np.arange(4)[:, None] < np.full(4, 2)}
    found = images.errors_by_region(images.pixel_errors(*pair), masks)
    same = images.errors_by_region(
        images.pixel_errors(*tensors), {name: torch.tensor(mask) for name, mask in masks.items()}
    )
    assert found["top"].mse == pytest.approx(same["top"].mse)


def test_regions_that_cover_all_share_out_the_error(pair):
    errors = images.pixel_errors(*pair)
    mask = np.random.default_rng(1).random(errors.shape) < 0.3
    found = images.errors_by_region(errors, {"in": mask, "out": ~mask, "none": np.zeros((4, 4), bool)})
    assert found["in"].share + found["out"].share == pytest.approx(1)
    assert found["in"].pixels + found["out"].pixels == pytest.approx(16)
    assert found["in"].mse == pytest.approx(errors[mask].mean())
    assert np.isnan(found["none"].mse)


def test_error_map_averages_back_to_the_mean():
    rng = np.random.default_rng(2)
    errors, first, second = rng.random((3, 4000))
    cells = images.error_map(errors, first, second, bins=4)
    counts, _, _ = np.histogram2d(first, second, bins=4, range=[[0, 1], [0, 1]])
    assert (cells * counts).sum() / counts.sum() == pytest.approx(errors.mean())
    lone = images.error_map([2.0], [1.0], [0.0], bins=3)
    assert lone[2, 0] == 2.0
    assert np.isnan(lone).sum() == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: images.mean_squared_error(np.zeros((2, 3)), np.zeros((2, 4))), "give both alike"),
        (lambda: images.mean_squared_error(np.zeros((0, 3)), np.zeros((0, 3))), "no images"),
        (lambda: images.variance_weighted_r2(np.zeros((3, 2)), np.zeros((3, 2))), "no output of a batch varies"),
        (lambda: images.variance_weighted_r2(np.zeros((1, 2)), np.zeros((1, 2))), "at least two"),
        (lambda: images.strict_r2(np.zeros((3, 2)), np.zeros((3, 2))), "all targets are equal"),
        (lambda: images.pixel_errors(np.zeros((3, 2)), np.zeros((3, 2))), r"images, channels, height, width"),
        (lambda: images.errors_by_region(np.zeros((1, 2, 2)), {"x": np.ones((3, 3), bool)}), "region 'x' has shape"),
        (lambda: images.error_map([1.0], [0.5], [0.5, 0.5], 3), "give one per image"),
        (lambda: images.error_map([1.0], [0.5], [0.5], 0), "give at least one"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
