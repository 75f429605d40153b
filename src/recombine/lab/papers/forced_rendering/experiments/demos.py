"""Forced rendering, the demo notebooks and other sweeps of the released code, with networks small enough for a CPU."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.papers.forced_rendering.experiments.networks import painting_scores
from recombine.lab.papers.forced_rendering.experiments.training import (
    DEFAULTS,
    Rows,
    Setting,
    decoder_of,
    outputs_of,
    train_decoders,
    train_networks,
    upright,
    world_of,
)
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.measures.activations.peaks import peak_accuracy

#: Windows of the structural similarity in pixels, and what keeps its ratios finite (of images from 0 to 1).
SSIM_WINDOW_PIXELS, SSIM_FLOORS = 7, (0.01**2, 0.03**2)
#: Lengths of the kernels that the released script fits to outputs, in pixels.
KERNEL_LENGTHS_PIXELS = (0.5, 1.0, 2.0, 4.0)


def structural_similarity(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the structural similarity of pairs of images (K, side, side), with square windows.

    Examples
    --------
    >>> pictures = np.random.default_rng(0).random((2, 16, 16))
    >>> structural_similarity(pictures, pictures).round(12).tolist()
    [1.0, 1.0]
    """
    from scipy.ndimage import uniform_filter

    def local(images: FloatArray) -> FloatArray:
        means: FloatArray = uniform_filter(images, size=(1, SSIM_WINDOW_PIXELS, SSIM_WINDOW_PIXELS))
        edge = SSIM_WINDOW_PIXELS // 2
        return means[:, edge:-edge, edge:-edge]

    means = local(first), local(second)
    unbiased = SSIM_WINDOW_PIXELS**2 / (SSIM_WINDOW_PIXELS**2 - 1)
    spreads = [unbiased * (local(images**2) - mean**2) for images, mean in zip((first, second), means, strict=True)]
    shared = unbiased * (local(first * second) - means[0] * means[1])
    alike = (2 * means[0] * means[1] + SSIM_FLOORS[0]) * (2 * shared + SSIM_FLOORS[1])
    bound = (means[0] ** 2 + means[1] ** 2 + SSIM_FLOORS[0]) * (spreads[0] + spreads[1] + SSIM_FLOORS[1])
    return np.asarray((alike / bound).mean(axis=(1, 2)))


def kernel_errors(outputs: FloatArray, seen: BoolArray) -> dict[str, Any]:
    """Return how well kernels of places, fitted to images (side, side, pixels) at seen ones, give all images.

    As the released script does it: least squares, lengths chosen by the error over all places. A radial Gaussian of one
    length is the product of two with that length.
    """
    side = len(outputs)
    steps = np.arange(side, dtype=float)
    squared = (steps[:, None] - steps) ** 2
    halves = {length: np.exp(-squared / (2 * length**2)) for length in KERNEL_LENGTHS_PIXELS}
    images, mask = outputs.reshape(side**2, -1), seen.reshape(-1)
    errors = {}
    for lengths in product(KERNEL_LENGTHS_PIXELS, repeat=2):
        kernel = np.kron(halves[lengths[0]], halves[lengths[1]])[:, mask]
        weights = np.linalg.lstsq(kernel[mask], images[mask], rcond=None)[0]
        errors[lengths] = float(((kernel @ weights - images) ** 2).mean())
    radial = min(error for lengths, error in errors.items() if lengths[0] == lengths[1])
    best = min(errors, key=errors.__getitem__)
    return {"product kernel error": errors[best], "radial kernel error": radial, "same lengths": best[0] == best[1]}


def demo_world(setting: Setting) -> BumpWorld:
    """Return the world of a setting, whose "spread" widens bump codes and whose hole may be a "cross".

    Examples
    --------
    >>> demo_world({**DEFAULTS, "spread": 3, "cross": True}).hole.shape
    'cross'
    """
    world = replace(world_of(setting), spread=setting.get("spread", 1.0))
    return replace(world, hole=replace(world.hole, shape="cross")) if setting.get("cross") else world


def demos(unit: Unit) -> Rows:
    """What decoders paint on the donut and in the hole, one row per network, with what the demo notebooks print.

    Peaks with "swapped axes" compare column with y and line with x.

    Examples
    --------
    >>> tiny = {"model": "mlp", "side": 8, "hole": [2, 5], "draws": 0, "hidden": 8, "epochs": 1, "seeds": [0]}
    >>> row = demos(Unit("demos", 1, tiny))[0]
    >>> row["dissimilarity in the hole"] > 0.1, row["radial kernel error"] >= row["product kernel error"]
    (True, True)
    """
    setting = {**DEFAULTS, **unit.setting}
    world = demo_world(setting)
    trained, grid, seen = train_decoders(unit, setting, world), upright(world).grid(), world.seen()
    about = {name: setting[name] for name in ("model", "code", "side", "depth", "target")}
    about |= {"spread": float(setting.get("spread", 1.0)), "cross": bool(setting.get("cross"))}
    mask = seen.reshape(-1)
    rows: Rows = []
    for seed, outputs in zip(unit.seeds, outputs_of(trained, world), strict=True):
        pictures = outputs.reshape(-1, world.side, world.side)
        unlike = 1 - structural_similarity(pictures, grid.images)
        swapped = peak_accuracy(pictures[~mask], grid.centres[~mask][:, ::-1])
        rows.append(
            {**about, "seed": seed, **painting_scores(outputs, upright(world)), "swapped peaks": swapped}
            | {"dissimilarity on the donut": float(unlike[mask].mean())}
            | {"dissimilarity in the hole": float(unlike[~mask].mean()), **kernel_errors(outputs, seen)}
        )
    return rows


def hole_shares(unit: Unit) -> Rows:
    """Error in a centred hole by its share of the side, from real-valued places, one row per network.

    The setting's "share" says how wide the hole is; so many bumps are trained on as in the released script, 1,000 times
    the share that is left of the side, squared.

    Examples
    --------
    >>> tiny = {"code": "bump", "side": 8, "share": 0.5, "model": "mlp", "hidden": 8, "epochs": 1, "seeds": [0]}
    >>> row = hole_shares(Unit("shares", 1, tiny))[0]
    >>> row["bumps"], row["hole side"]
    (250, 4)
    """
    setting = {**DEFAULTS, **unit.setting}
    side = setting["side"]
    world = replace(world_of(setting), hole=Hole.centred(side, setting["share"]))
    hole_side = int((~world.seen()).any(axis=0).sum())
    count = int(1000 * (side - hole_side) ** 2 / side**2)
    sets = [world.draw(count, seed, real=True) for seed in unit.seeds]
    codes, images = np.stack([data.codes for data in sets]), np.stack([data.images.reshape(count, -1) for data in sets])
    trained = train_networks(decoder_of(setting, world.units), unit, setting, codes, images)
    about = {name: setting[name] for name in ("code", "side", "share", "target")} | {"hole side": hole_side}
    return [
        {**about, "bumps": count, "seed": seed, **painting_scores(outputs, upright(world))}
        for seed, outputs in zip(unit.seeds, outputs_of(trained, world), strict=True)
    ]
