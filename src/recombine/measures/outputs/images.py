"""Errors of predicted images: overall, as a share of the variance, by region, by place, and away from the support.

Images are arrays or tensors (N, ...); a tensor is measured where it lies, and only numbers come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.errors import InputError

#: Arrays or tensors of the same kind.
Images = Any
#: Images in one batch of the published score.
SCORE_BATCH_IMAGES = 1000


def mean_squared_error(predicted: Images, target: Images) -> float:
    """Return the mean squared error over all images, pixels and channels.

    Examples
    --------
    >>> mean_squared_error(np.zeros((2, 3)), np.ones((2, 3)))
    1.0
    """
    _agree(predicted, target)
    return float(((predicted - target) ** 2).mean())


def variance_weighted_r2(predicted: Images, target: Images, batch: int = SCORE_BATCH_IMAGES) -> float:
    """Return R2 as Wiedemer et al. 2023 score it: sums over outputs, mean over batches.

    1 - (sum of squared residuals) / (sum of squared deviations from the batch's mean), over those outputs whose target
    is not constant in the batch: errors in pixels that are never lit count for nothing. A last batch of one image is
    left out, since it has no variance.

    Examples
    --------
    >>> target = np.array([[0.0, 1.0], [0.0, 3.0]])
    >>> variance_weighted_r2(target + [5.0, 0.0], target)
    1.0
    """
    _agree(predicted, target)
    scores = []
    for start in range(0, len(target), batch):
        truth = target[start : start + batch].reshape(len(target[start : start + batch]), -1)
        if len(truth) < 2:
            continue
        residual = ((predicted[start : start + batch].reshape(len(truth), -1) - truth) ** 2).sum(0)
        total = ((truth - truth.mean(0)) ** 2).sum(0)
        # Some value differs from the first: said so that arrays and tensors both understand.
        varies = (truth != truth[:1]).any(0)
        if not bool(varies.any()):
            raise InputError("no output of a batch varies; give targets that differ, or larger batches")
        scores.append(1 - float(residual[varies].sum()) / float(total[varies].sum()))
    if not scores:
        raise InputError(f"{len(target)} images are too few for a score; give at least two")
    return float(np.mean(scores))


def strict_r2(predicted: Images, target: Images) -> float:
    """Return R2 over the whole set with no output left out: 1 - (mean squared error) / (mean variance of an output).

    Examples
    --------
    >>> target = np.array([[0.0, 1.0], [0.0, 3.0]])
    >>> strict_r2(target, target), strict_r2(target + [1.0, 0.0], target)
    (1.0, 0.0)
    """
    variance = mean_variance(target)
    if variance == 0:
        raise InputError("all targets are equal; R2 needs at least two different ones")
    return 1 - mean_squared_error(predicted, target) / variance


def mean_variance(target: Images) -> float:
    """Return the variance over images, averaged over pixels and channels.

    Examples
    --------
    >>> mean_variance(np.array([[0.0, 0.0], [0.0, 2.0]]))
    0.5
    """
    return float(((target - target.mean(0)) ** 2).mean())


def pixel_errors(predicted: Images, target: Images) -> Images:
    """Return squared errors (N, H, W), averaged over the channels of images (N, channels, H, W).

    Examples
    --------
    >>> pixel_errors(np.zeros((2, 3, 4, 4)), np.ones((2, 3, 4, 4))).shape
    (2, 4, 4)
    """
    _agree(predicted, target)
    if predicted.ndim != 4:
        raise InputError(f"images have shape {tuple(predicted.shape)}; give (images, channels, height, width)")
    return ((predicted - target) ** 2).mean(1)


@dataclass(frozen=True)
class RegionError:
    """The error of one kind of pixel.

    Attributes
    ----------
    mse : float
        Mean over its pixels; NaN where there are none.
    share : float
        Of the whole error.
    pixels : float
        Its pixels in an image, on average.
    """

    mse: float
    share: float
    pixels: float


def errors_by_region(errors: Images, regions: Mapping[str, Images]) -> dict[str, RegionError]:
    """Return the error of each kind of pixel, from `pixel_errors` (N, H, W).

    ``regions`` are masks of the pixels of a kind in each image (N, H, W), or in all images (H, W).

    Examples
    --------
    >>> left = np.array([[True, False]])
    >>> found = errors_by_region(np.array([[[3.0, 1.0]]]), {"left": left, "right": ~left})
    >>> found["left"]
    RegionError(mse=3.0, share=0.75, pixels=1.0)
    """
    total = float(errors.sum())
    regions_errors = {}
    for name, region in regions.items():
        if tuple(region.shape) not in (tuple(errors.shape), tuple(errors.shape[1:])):
            raise InputError(
                f"region {name!r} has shape {tuple(region.shape)}; give one mask for all, or one each, of shape "
                f"{tuple(errors.shape[1:])}"
            )
        count = float(region.sum()) * (len(errors) if region.ndim == 2 else 1)
        inside = float((errors * region).sum())
        mse = inside / count if count else float("nan")
        regions_errors[name] = RegionError(mse, inside / total if total else float("nan"), count / len(errors))
    return regions_errors


def error_map(
    errors: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, bins: int, low: float = 0.0, high: float = 1.0
) -> FloatArray:
    """Return the mean of ``errors`` (N,) of images in each cell (bins, bins) of a grid of two latents (N,).

    The latents range from ``low`` to ``high``. Rows are the first latent; NaN where no image falls.

    Examples
    --------
    >>> error_map([1.0, 3.0, 5.0], [0.1, 0.2, 0.9], [0.1, 0.2, 0.9], bins=2)
    array([[ 2., nan],
           [nan,  5.]])
    """
    values, latent1, latent2 = (as_numbers(array, "errors and latents") for array in (errors, first, second))
    if not (values.shape == latent1.shape == latent2.shape) or values.ndim != 1:
        raise InputError(
            f"errors and latents have shapes {values.shape}, {latent1.shape}, {latent2.shape}; give one per image"
        )
    if bins < 1 or not high > low:
        raise InputError(f"{bins} bins from {low} to {high} are none; give at least one, and low below high")
    rows, columns = (
        np.clip(((latent - low) / (high - low) * bins).astype(int), 0, bins - 1) for latent in (latent1, latent2)
    )
    bin_ids = rows * bins + columns
    counts = np.bincount(bin_ids, minlength=bins**2)
    sums = np.bincount(bin_ids, weights=values, minlength=bins**2)
    mean = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return mean.reshape(bins, bins)


def _agree(predicted: Images, target: Images) -> None:
    if tuple(predicted.shape) != tuple(target.shape):
        raise InputError(
            f"predicted images have shape {tuple(predicted.shape)} and targets {tuple(target.shape)}; give both alike"
        )
    if not len(target):
        raise InputError("there are no images; give at least one")
