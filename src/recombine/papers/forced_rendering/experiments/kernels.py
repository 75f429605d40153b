"""Forced rendering, experiments without a network: codes and images by their kernels, and what kernel models paint.

Every experiment's function takes one unit of work and returns rows (dictionaries with the same keys). All are closed
forms on the grid of integer places.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.measures.activations.anova import additive_share
from recombine.measures.activations.factorization import factorization, kernel_factorization, product_share
from recombine.measures.activations.geometry import metric_tensor, volume_element
from recombine.measures.activations.grid import as_grid
from recombine.measures.activations.superposition import correlations, pasted_outputs, peak_accuracy
from recombine.measures.activations.surrogate import additive_prediction
from recombine.papers.forced_rendering.experiments.training import IMAGES, INVERTED, Rows, is_inverted
from recombine.runs.experiment import Unit
from recombine.worlds.rendered.bumps import ENCODINGS, BumpWorld, Hole, places

#: Singular values of a kernel matrix below this share of the largest are left out of a fit: they are rounding.
RANK_SHARE = 1e-10


def _bump_world(setting: dict[str, Any], **more: Any) -> BumpWorld:
    """Return the bumps of a setting: its side, width and the first and last level of its hole."""
    hole = Hole.square(*setting["hole"]) if "hole" in setting else Hole.none()
    return BumpWorld(side=setting["side"], width=setting.get("width", 1.0), hole=hole, **more)


def _true_images(world: BumpWorld) -> FloatArray:
    """The true images of all places, (side, side, side²)."""
    return world.grid().images.reshape(world.side, world.side, -1)


def representations(unit: Unit) -> Rows:
    """Factorization, additivity and volume of every code and of the images, before anything is learned."""
    side = unit.setting["side"]
    sheets = {code: _bump_world(unit.setting, encoding=code).grid().codes.reshape(side, side, -1) for code in ENCODINGS}
    sheets[IMAGES] = _true_images(_bump_world(unit.setting))
    sheets[INVERTED] = _true_images(_bump_world(unit.setting, inverted=True))
    return [{"representation": name, "side": side, **_measured(values)} for name, values in sheets.items()]


def _measured(values: FloatArray) -> dict[str, Any]:
    metric = metric_tensor(values)
    middle = len(values) // 2
    gram = as_grid(values).gram.reshape(values.shape[:2] * 2)[middle, middle]
    return {
        "F": factorization(metric),
        "F_K": kernel_factorization(values),
        "F_K without background": kernel_factorization(values, background="median"),
        "additive share": additive_share(values),
        "volume in the middle": float(volume_element(metric)[middle, middle]),
        "kernel one pixel off": float(gram[middle + 1, middle] / gram[middle, middle]),
    }


def one_hot_kernel(unit: Unit) -> Rows:
    """F_K of the one-hot code by the measure and by its closed form, for every side of an image.

    The kernel is I x J + J x I, with I the identity and J all ones, whose inner products are N, N and N². Its singular
    values are N (sqrt(N) + 1) and N (sqrt(N) - 1), so F_K = 1/2 + sqrt(N) / (N + 1): near 1/2 for many levels.
    """
    rows = []
    for side in unit.setting["sides"]:
        kernel = np.kron(np.eye(side), np.ones((side, side))) + np.kron(np.ones((side, side)), np.eye(side))
        closed = 0.5 + math.sqrt(side) / (side + 1)
        rows.append({"side": side, "F_K": product_share(kernel, (side, side)), "closed form": closed})
    return rows


def additive_kernel(unit: Unit) -> Rows:
    """What regression with the binary kernel paints on the donut and in the hole, and that it is least squares."""
    world = _bump_world(unit.setting)
    images, seen = _true_images(world), world.seen()
    painted, pasted = additive_prediction(images, seen), pasted_outputs(images, seen)
    return [
        {
            "side": world.side,
            "width": world.width,
            "hole side": unit.setting["hole"][1] - unit.setting["hole"][0] + 1,
            "difference from least squares": float(np.abs(painted - _least_squares(images, seen)).max()),
            **_judged(painted, world),
            "correlation with column plus row": float(correlations(painted, pasted)[~seen].mean()),
            "pooled correlation": float(np.corrcoef(painted[~seen].reshape(-1), pasted[~seen].reshape(-1))[0, 1]),
        }
    ]


def identity(unit: Unit) -> Rows:
    """Regression with the binary kernel next to least squares on indicators, on random grids, masks and outputs."""
    rows = []
    for seed in unit.seeds:
        rng = np.random.default_rng(seed)
        levels = tuple(rng.integers(2, 8, size=rng.integers(2, 4)).tolist())
        seen = rng.random(levels) < rng.uniform(0.3, 0.9)
        seen.reshape(-1)[:2] = True, False
        outputs = rng.standard_normal((*levels, 5))
        gap = float(np.abs(additive_prediction(outputs, seen) - _least_squares(outputs, seen)).max())
        rows.append({"seed": seed, "factors": len(levels), "seen": int(seen.sum()), "difference": gap})
    return rows


def _least_squares(outputs: FloatArray, seen: BoolArray) -> FloatArray:
    """Ordinary least squares on one indicator per level of each factor, the solution of smallest norm."""
    cells = as_grid(outputs).cells
    design = np.concatenate([np.eye(size)[cells[:, axis]] for axis, size in enumerate(seen.shape)], axis=1)
    flat, mask = outputs.reshape(len(cells), -1), seen.reshape(-1)
    weights = np.linalg.lstsq(design[mask], flat[mask], rcond=RANK_SHARE)[0]
    fitted: FloatArray = (design @ weights).reshape(outputs.shape)
    return fitted


def product_kernel(unit: Unit) -> Rows:
    """What regression with a product of two Gaussians paints, by its length, and that it is the radial Gaussian."""
    world = _bump_world(unit.setting, inverted=is_inverted(unit.setting["target"]))
    return [_product_row(world, unit.setting, length) for length in unit.setting["lengths"]]


def _product_row(world: BumpWorld, setting: dict[str, Any], length: float) -> dict[str, Any]:
    levels = np.arange(world.side)
    one = np.exp(-((levels[:, None] - levels) ** 2) / (2 * length**2))
    centres = places(world.side).reshape(-1, 2)
    radial = np.exp(-((centres[:, None] - centres) ** 2).sum(axis=-1) / (2 * length**2))
    kernel, mask = np.kron(one, one), world.seen().reshape(-1)
    images = _true_images(world).reshape(mask.size, -1)
    left, sizes, right = np.linalg.svd(kernel[np.ix_(mask, mask)], hermitian=True)
    kept = sizes > RANK_SHARE * sizes[0]
    dual = right[kept].T @ ((left[:, kept].T @ images[mask]) / sizes[kept, None])
    painted = (kernel[:, mask] @ dual).reshape(world.side, world.side, -1)
    return {
        "target": setting["target"],
        "length": length,
        **_judged(painted, world),
        "share of directions used": float(kept.mean()),
        "difference from radial": float(np.abs(kernel - radial).max()),
    }


def _judged(painted: FloatArray, world: BumpWorld) -> dict[str, Any]:
    """Errors, peaks and correlation of images at all places; an inverted image is turned back first."""
    side, seen, images = world.side, world.seen(), _true_images(world)
    errors = ((painted - images) ** 2).mean(axis=-1)
    bright = (1 - painted if world.inverted else painted).reshape(side, side, side, side)[~seen]
    return {
        "ID error": float(errors[seen].mean()),
        "OOD error": float(errors[~seen].mean()),
        "relative OOD error": float(errors[~seen].mean()) / world.blank_error,
        "OOD peaks": peak_accuracy(bright, places(side)[~seen]),
        "OOD correlation": float(np.nanmean(correlations(painted, images)[~seen])),
    }
