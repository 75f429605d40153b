"""Kernel theory: every experiment, its unit function and its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.papers.kernel_theory.experiments import context, images, kernels
from recombine.papers.kernel_theory.experiments import onehot as networks
from recombine.papers.needs import require_images
from recombine.runs.experiment import Experiment, grid

Settings = list[dict[str, Any]]

NAME = "kernel-theory"
#: Depths at which kernel values still differ by far more than rounding.
DEPTHS = {"relu": 100, "leaky relu": 100, "step": 30, "quadratic": 30, "gaussian": 60, "ntk": 30}
#: From nothing but memorized pairs to nothing memorized.
COARSE, FINE = [0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49, 0.5], kernels.spread(0.01, 0.5, 50)
INSIDE = [amount for amount in COARSE if amount < 0.5]
INSIDE_FINE = [amount for amount in FINE if amount < 0.5]


def _salience_grid(longer: int) -> Settings:
    lengths = {name: depth if name == "gaussian" else longer * depth for name, depth in DEPTHS.items()}
    return [
        {"activation": name, "factors": factors, "depths": depth}
        for name, depth in lengths.items()
        for factors in (2, 3, 4)
    ]


def _leak_grid(salience: list[float]) -> Settings:
    return [
        {"set": name, "anchors": anchors, "salience": salience}
        for name, sets in kernels.ANCHOR_SETS.items()
        for anchors in sets
    ]


#: Scales from feature learning to hardly any, and the seeds of the paper.
SIGMAS, SEEDS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0], list(range(6))
#: Stable steps by loss: with many units at scale 1 the kernel is large, so the step must be small.
RATES = {"mse": (0.02, 0.006), "logistic": (0.1, 0.1)}


def _rate(loss: str, sigma: float) -> float:
    return RATES[loss][sigma == 1.0]


def _addition_grid(sigmas: list[float], narrow: int, steps: int) -> Settings:
    """One unit per anchor set and scale; rich networks need fewer units, lazy ones all of them."""
    return [
        {"set": name, "sigma": sigma, "width": 1000 if sigma == 1 else narrow}
        | {"rate": 0.005, "steps": steps, "stop": 1e-4, "seeds": SEEDS}
        for name in networks.ADDITION_SETS
        for sigma in sigmas
    ]


def _context_grid(sigmas: list[float], narrow: int, steps: int, rich_steps: int, tasks: tuple[int, ...]) -> Settings:
    """Rich networks leave a plateau first, so they get more steps."""
    return [
        {"left out": left_out, "loss": loss, "sigma": sigma, "width": 1000 if sigma == 1 else narrow}
        | {"rate": _rate(loss, sigma), "steps": steps if sigma == 1 else rich_steps, "stop": 1e-4, "seeds": SEEDS}
        for left_out in tasks
        for loss in ("logistic", "mse")
        for sigma in sigmas
    ]


def _equivalence_grid(sigmas: list[float], width: int, losses: tuple[str, ...]) -> Settings:
    rates = {"mse": (0.03, 0.003), "logistic": (0.1, 0.03)}
    return [
        {"loss": loss, "sigma": sigma, "width": width, "rate": rates[loss][sigma == 1.0] * 1000 / width}
        | {"steps": 2000 * width // 1000, "records": 41, "seeds": SEEDS}
        for loss in losses
        for sigma in sigmas
    ]


def _deep_grid(choices: Settings, rate: float, steps: int, seeds: list[int], **more: object) -> Settings:
    """One to four layers of 100 units with Adam, as the paper trains deep networks."""
    return [
        {**choice, "sigma": 0.1, "width": 100, "depth": depth}
        | {"optimiser": "adam", "rate": rate, "steps": steps, **more, "seeds": seeds}
        for choice in choices
        for depth in (1, 2, 3, 4)
    ]


def _blocks(*left_out: int) -> Settings:
    return [{"left out": block, "loss": "logistic"} for block in left_out]


def _depth_grid(most: int) -> Settings:
    return [{"activation": name, "depths": list(range(1, most + 1))} for name in ("relu", "quadratic", "step", "ntk")]


KERNEL_EXPERIMENTS = (
    Experiment(f"{NAME}/salience", kernels.salience, quick=_salience_grid(1), full=_salience_grid(5)),
    Experiment(
        f"{NAME}/sampled-salience",
        kernels.sampled_salience,
        quick=[{"width": 100_000, "seeds": [0, 1, 2, 3, 4]}],
        full=[{"width": 1_000_000, "seeds": list(range(10))}],
    ),
    Experiment(
        f"{NAME}/additivity",
        kernels.kernel_additivity,
        quick=[{"seeds": list(range(10))}],
        full=[{"seeds": list(range(start, start + 50))} for start in range(0, 500, 50)],
    ),
    Experiment(f"{NAME}/leak", kernels.leak, quick=_leak_grid(COARSE), full=_leak_grid(FINE)),
    Experiment(
        f"{NAME}/equivalence",
        kernels.kernel_equivalence,
        quick=[{"variant": name, "salience": INSIDE} for name in kernels.EQUIVALENCES],
        full=[{"variant": name, "salience": INSIDE_FINE} for name in kernels.EQUIVALENCES],
    ),
    Experiment(
        f"{NAME}/ordering",
        kernels.ordering,
        quick=[{"n": 7, "salience": INSIDE}],
        full=[{"n": n, "salience": INSIDE_FINE} for n in (5, 6, 7, 8, 9)],
    ),
    Experiment(
        f"{NAME}/dispersed",
        kernels.dispersed,
        quick=[{"salience": amount, "seeds": list(range(1, 51))} for amount in kernels.DISPERSED_SALIENCE],
        full=[{"salience": amount, "seeds": list(range(1, 51))} for amount in kernels.spread(0.0, 0.5, 51)],
    ),
    Experiment(
        f"{NAME}/substitution",
        kernels.substitution,
        quick=grid(activation=["relu", "quadratic", "ntk"], depth=[1, 2, 3, 5]),
        full=grid(activation=["relu", "quadratic", "ntk", "step"], depth=range(1, 21)),
    ),
    Experiment(
        f"{NAME}/phase",
        context.phase,
        quick=[{"left out": k, "loss": loss, "steps": 150} for k in (3, 2, 1) for loss in context.LOSSES],
        full=[{"left out": k, "loss": loss, "steps": 210} for k in (3, 2, 1) for loss in context.LOSSES],
    ),
    Experiment(f"{NAME}/by-depth", context.by_depth, quick=_depth_grid(20), full=_depth_grid(60)),
    Experiment(
        f"{NAME}/conjunctions",
        context.conjunctions,
        quick=[
            {"activation": name, "depth": 3, "left out": left_out}
            for name in ("relu", "quadratic")
            for left_out in (3, 2, 1)
        ],
        full=[
            {"activation": name, "depth": depth, "left out": left_out}
            for name in ("relu", "quadratic")
            for depth in range(1, 11)
            for left_out in (3, 2, 1)
        ],
    ),
)


NETWORK_EXPERIMENTS = (
    Experiment(
        f"{NAME}/onehot-addition",
        networks.onehot_addition,
        quick=_addition_grid([1e-6, 1e-2, 1.0], narrow=200, steps=10_000),
        full=_addition_grid(SIGMAS, narrow=1000, steps=100_000),
    ),
    Experiment(
        f"{NAME}/onehot-context",
        networks.onehot_context,
        quick=_context_grid([1e-3, 1.0], narrow=200, steps=2000, rich_steps=8000, tasks=(3, 2)),
        full=_context_grid(SIGMAS, narrow=1000, steps=5000, rich_steps=20_000, tasks=(3, 2, 1)),
    ),
    Experiment(
        f"{NAME}/onehot-equivalence",
        networks.onehot_equivalence,
        quick=_equivalence_grid([1e-6, 1.0], 1000, ("mse",)),
        full=_equivalence_grid(SIGMAS, 10_000, ("mse", "logistic")),
    ),
    Experiment(
        f"{NAME}/deep-context",
        networks.onehot_context,
        quick=_deep_grid(_blocks(3), 1e-3, 2000, SEEDS[:3], stop=1e-4),
        full=_deep_grid(_blocks(3, 2, 1), 1e-4, 100_000, SEEDS, stop=1e-4),
    ),
    Experiment(
        f"{NAME}/deep-addition",
        networks.onehot_addition,
        quick=_deep_grid([{"set": "extrapolation"}], 5e-4, 8000, SEEDS[:3], stop=1e-4),
        full=_deep_grid([{"set": name} for name in networks.ADDITION_SETS], 1e-4, 100_000, SEEDS, stop=1e-4),
    ),
    Experiment(
        f"{NAME}/deep-equivalence",
        networks.onehot_equivalence,
        quick=_deep_grid([{"loss": "mse"}], 1e-4, 1200, SEEDS[:3], records=13),
        full=_deep_grid([{"loss": "mse"}], 1e-4, 10_000, SEEDS, records=41),
    ),
)


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
NEAR_AND_FAR = (0, 6)
DIGITS = {"images": "digits", "pool": 120, "total": 1000, "per cell": 30, "batch": 32, "dtype": "float32"}
SMALL = DIGITS | {"architecture": "convnet", "channels": [8, 16], "kernel": 3, "pools": [1, 2], "dense": [64]}
SMALL |= {"optimiser": "sgd", "momentum": 0.9, "epochs": 16, "seeds": [0, 1, 2], "chunk": 3}
SMALL_PHOTO_NETWORKS = (
    {"architecture": "resnet", "widths": [8, 16], "blocks": 1, "epochs": 14},
    {"architecture": "vit", "patch": 4, "depth": 2, "heads": 2, "head": 16, "width": 32, "hidden": 64, "dropout": 0.0}
    | {"epochs": 20},
)


def _quick(conditions: Sequence[dict[str, Any]]) -> Settings:
    return [{**SMALL, **condition, "distance": distance} for distance in NEAR_AND_FAR for condition in conditions]


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
STEP, SQUARED_STEP = 1e-2, 3e-3

IMAGE_EXPERIMENTS = (
    Experiment(
        f"{NAME}/mnist-addition",
        images.image_addition,
        quick=_quick(_sums("extrapolation", "interpolation", rate=SQUARED_STEP)),
        full=_full(_sums(*networks.ADDITION_SETS, *DISPERSED), DISTANCES, MNIST | {"total": 20_000}),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/mnist-context",
        images.image_context,
        quick=_quick([*_left_out("logistic", 3, 2, 1, rate=STEP, epochs=12), *_left_out("mse", 3, rate=SQUARED_STEP)]),
        full=_full([*_left_out("logistic", 3, 2, 1), *_left_out("mse", 3, 2, 1)], DISTANCES, MNIST | {"total": 30_000}),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/mnist-equivalence",
        images.image_equivalence,
        quick=_quick(_classes("logistic", 4, rate=STEP)),
        full=_full(
            [*_classes("logistic", 4, 1), *_classes("mse", 4, 1)],
            DISTANCES,
            MNIST | {"total": 20_000, "epochs": 150},
        ),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/cifar-addition",
        images.image_addition,
        quick=_quick_photo(_sums("extrapolation", "interpolation")),
        full=_photo(_sums(*networks.ADDITION_SETS)),
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

EXPERIMENTS = (*KERNEL_EXPERIMENTS, *NETWORK_EXPERIMENTS, *IMAGE_EXPERIMENTS)
