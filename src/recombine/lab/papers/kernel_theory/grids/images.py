"""Kernel theory: experiments with networks on images, and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.lab.papers.kernel_theory.experiments import images, onehot, smoothing
from recombine.lab.papers.kernel_theory.grids.kernels import NAME, Settings
from recombine.lab.papers.needs import require_images
from recombine.lab.runs.experiment import Experiment

# Images. ``full`` is the paper's; ``quick`` lets the bundled 8x8 digits stand in for MNIST and CIFAR and small networks
# for large ones: the pattern across conditions can be compared with the paper's, the numbers cannot.

#: Networks that train together in a unit: five keep the longest one under 10 minutes of one GPU.
SEEDS_PER_UNIT = 5
IMAGE_SEEDS = range(10)
#: The ends come first, so that a sweep that is stopped early still spans the range.
DISTANCES = (0, 20, 10, 5, 15)
DISPERSED = tuple(f"dispersed {seed}" for seed in (0, 1, 2))


def _full(conditions: Sequence[dict[str, Any]], distances: Sequence[int], shared: dict[str, Any]) -> Settings:
    """One unit per block of seeds, distance and condition; whole blocks first, so that conditions stay balanced."""
    blocks = [list(IMAGE_SEEDS)[start : start + SEEDS_PER_UNIT] for start in range(0, len(IMAGE_SEEDS), SEEDS_PER_UNIT)]
    return [
        {**shared, **condition, "distance": distance, "seeds": seeds}
        for seeds in blocks
        for distance in distances
        for condition in conditions
    ]


MNIST = {"images": "mnist", "architecture": "convnet", "pool": 200, "epochs": 100, "batch": 128} | {
    "optimiser": "sgd",
    "momentum": 0.9,
    "rate": 1e-4,
    "dtype": "bfloat16",
}
CIFAR = {"images": "cifar10", "pool": 4000, "total": 40_000, "augment": True, "batch": 128} | {
    "optimiser": "adam",
    "dtype": "bfloat16",
}
PHOTO_NETWORKS = (
    {"architecture": "resnet", "epochs": 100, "rate": 1e-3},
    {"architecture": "vit", "epochs": 200, "rate": 1e-4, "compiled": True},
)


def _photo(conditions: Sequence[dict[str, Any]]) -> Settings:
    return _full([{**network, **condition} for condition in conditions for network in PHOTO_NETWORKS], (0,), CIFAR)


#: Small ConvNets on digits: at distance 6 of 8 pixels the images hardly overlap any more.
DIGIT_DISTANCES = (0, 6)
DIGITS = {"images": "digits", "pool": 120, "total": 1000, "per cell": 30, "batch": 32, "dtype": "float32"}
SMALL = DIGITS | {"architecture": "convnet", "channels": [8, 16], "kernel": 3, "pools": [1, 2], "dense": [64]}
SMALL |= {"optimiser": "sgd", "momentum": 0.9, "epochs": 16, "seeds": [0, 1, 2], "chunk": 3}
SMALL_PHOTO_NETWORKS = (
    {"architecture": "resnet", "widths": [8, 16], "blocks": 1, "epochs": 14},
    {"architecture": "vit", "patch": 4, "depth": 2, "heads": 2, "head": 16, "width": 32, "hidden": 64, "dropout": 0.0}
    | {"epochs": 20},
)


def _quick(conditions: Sequence[dict[str, Any]]) -> Settings:
    return [{**SMALL, **condition, "distance": distance} for distance in DIGIT_DISTANCES for condition in conditions]


def _quick_photo(conditions: Sequence[dict[str, Any]]) -> Settings:
    shared = {**DIGITS, "optimiser": "adam", "rate": 3e-3, "distance": 0, "seeds": [0, 1], "chunk": 2}
    return [{**shared, **network, **condition} for condition in conditions for network in SMALL_PHOTO_NETWORKS]


def _sums(*names: str, **more: Any) -> Settings:
    return [{"set": name, "loss": "mse", **more} for name in names]


def _left_out(loss: str, *left_out: int, **more: Any) -> Settings:
    return [{"left out": block, "loss": loss, **more} for block in left_out]


def _classes(loss: str, *anchors: int, **more: Any) -> Settings:
    return [{"classes": [5, 5], "anchors": [count, count], "loss": loss, **more} for count in anchors]


#: With squared loss the step must be smaller: outputs have a size to reach.
_RATE, SQUARED_RATE = 1e-2, 3e-3


def _smoothed(amounts: Sequence[float], record: list[int], blocks: Sequence[list[int]]) -> Settings:
    """Small ConvNets on CD-3 with images far apart, trained equally long whatever the smoothing and the loss."""
    network = {name: value for name, value in SMALL.items() if name not in ("epochs", "optimiser")}
    shared = {**network, "left out": 3, "distance": DIGIT_DISTANCES[-1], "per cell": 20, "record": record}
    losses = [{"loss": "logistic", "smoothing": amount, "rate": _RATE} for amount in amounts]
    losses += [{"loss": "mse", "smoothing": 0.0, "rate": SQUARED_RATE}]
    # One stacked pass takes half as long as five networks in turn where they are so small.
    return [
        {**shared, **loss, "seeds": seeds, "chunk": len(seeds), "stacked": True} for seeds in blocks for loss in losses
    ]


IMAGE_EXPERIMENTS = (
    Experiment(
        f"{NAME}/mnist-addition",
        images.image_addition,
        quick=_quick(_sums("extrapolation", "interpolation", rate=SQUARED_RATE)),
        full=_full(_sums(*onehot.ADDITION_SETS, *DISPERSED), DISTANCES, MNIST | {"total": 20_000}),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/mnist-splits",
        images.image_splits,
        quick=_quick(_sums("extrapolation", "interpolation", rate=SQUARED_RATE)),
        full=_full(_sums("extrapolation", "interpolation"), (0, 20), MNIST | {"total": 20_000}),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/mnist-context",
        images.image_context,
        quick=_quick([*_left_out("logistic", 3, 2, 1, rate=_RATE, epochs=12), *_left_out("mse", 3, rate=SQUARED_RATE)]),
        full=_full([*_left_out("logistic", 3, 2, 1), *_left_out("mse", 3, 2, 1)], DISTANCES, MNIST | {"total": 30_000}),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/mnist-equivalence",
        images.image_equivalence,
        quick=_quick(_classes("logistic", 4, rate=_RATE)),
        full=_full(
            [*_classes("logistic", 4, 1), *_classes("mse", 4, 1)], DISTANCES, MNIST | {"total": 20_000, "epochs": 150}
        ),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/digits-equivalence",
        images.image_equivalence,
        quick=_quick(_classes("logistic", 1, rate=_RATE, epochs=4)),
        full=_quick(_classes("logistic", 1, rate=_RATE)),
    ),
    Experiment(
        f"{NAME}/digits-photo",
        images.image_addition,
        quick=[
            {**setting, "distance": 0, "epochs": 1, "seeds": [0]} for setting in _quick_photo(_sums("extrapolation"))
        ],
        full=[
            {**setting, "distance": distance}
            # Patches of four pixels ask for a width that they divide.
            for distance in (0, 4)
            for setting in _quick_photo(_sums("extrapolation"))
        ],
    ),
    Experiment(
        f"{NAME}/smoothing-images",
        smoothing.smoothing_images,
        quick=_smoothed((0.0, 0.1), [30, 100, 300, 500], [[0, 1]]),
        full=_smoothed(
            (0.0, 0.01, 0.1),
            [10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000],
            [list(range(0, 5)), list(range(5, 10))],
        ),
    ),
    Experiment(
        f"{NAME}/cifar-addition",
        images.image_addition,
        quick=_quick_photo(_sums("extrapolation", "interpolation")),
        full=_photo(_sums(*onehot.ADDITION_SETS)),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/cifar-context",
        images.image_context,
        quick=_quick_photo(_left_out("logistic", 3, 1, epochs=12)),
        full=_photo(_left_out("logistic", 3, 2, 1)),
        needs=require_images,
    ),
)
