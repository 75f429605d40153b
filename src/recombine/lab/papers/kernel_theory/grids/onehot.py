"""Kernel theory: experiments with networks on one-hot inputs, and their settings."""

from __future__ import annotations

from recombine.lab.papers.kernel_theory.experiments import feature_learning, kernels, onehot, smoothing
from recombine.lab.papers.kernel_theory.grids.kernels import NAME, Settings
from recombine.lab.runs.experiment import Experiment

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
        for name in onehot.ADDITION_SETS
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
    """One to four layers of 100 units with Adam, as the paper trains deep onehot."""
    return [
        {**choice, "sigma": 0.1, "width": 100, "depth": depth}
        | {"optimiser": "adam", "rate": rate, "steps": steps, **more, "seeds": seeds}
        for choice in choices
        for depth in (1, 2, 3, 4)
    ]


def _units_grid(width: int) -> Settings:
    """Rich and lazy networks on equivalence, as many steps as they need at this width."""
    rates = {1e-6: 0.03, 1.0: 0.003}
    return [
        {"loss": "mse", "sigma": sigma, "width": width, "rate": rate * 1000 / width, "steps": 2 * width, "seeds": SEEDS}
        for sigma, rate in rates.items()
    ]


def _similarity_grid(steps: int) -> Settings:
    shared = {"width": 1000, "rate": 0.005, "steps": steps, "stop": 1e-4, "seeds": SEEDS}
    return [{"sigma": sigma, **shared} for sigma in (1e-6, 1.0)]


def _anchors_grid(max_anchors: int, steps: int) -> Settings:
    """Lazy networks by the number of anchors: central ones (extrapolation) or outer ones (interpolation)."""
    shared = {"sigma": 1.0, "width": 1000, "rate": 0.005, "steps": steps, "stop": 1e-4, "seeds": SEEDS}
    return [
        {"set": name, "anchors": anchors, **shared}
        for name in ("extrapolation", "interpolation")
        for anchors in kernels.ANCHOR_SETS[name]
        if len(anchors) <= max_anchors
    ]


def _blocks(*left_out: int) -> Settings:
    return [{"left out": block, "loss": "logistic"} for block in left_out]


def _smoothed_networks_grid(amounts: tuple[float, ...], record: list[int], seeds: list[int]) -> Settings:
    """Lazy networks on CD-3, trained equally long whatever the smoothing."""
    shared = {"sigma": 1.0, "width": 1000, "rate": 0.1, "steps": record[-1], "record": record, "seeds": seeds}
    return [{"left out": 3, "smoothing": amount, **shared} for amount in amounts]


NETWORK_EXPERIMENTS = (
    Experiment(
        f"{NAME}/onehot-addition",
        onehot.onehot_addition,
        quick=_addition_grid([1e-6, 1e-2, 1.0], narrow=200, steps=10_000),
        full=_addition_grid(SIGMAS, narrow=1000, steps=100_000),
    ),
    Experiment(
        f"{NAME}/onehot-context",
        onehot.onehot_context,
        quick=_context_grid([1e-3, 1.0], narrow=200, steps=2000, rich_steps=8000, tasks=(3, 2)),
        full=_context_grid(SIGMAS, narrow=1000, steps=5000, rich_steps=20_000, tasks=(3, 2, 1)),
    ),
    Experiment(
        f"{NAME}/onehot-equivalence",
        onehot.onehot_equivalence,
        quick=_equivalence_grid([1e-6, 1.0], 1000, ("mse",)),
        full=_equivalence_grid(SIGMAS, 10_000, ("mse", "logistic")),
    ),
    Experiment(
        f"{NAME}/deep-context",
        onehot.onehot_context,
        quick=_deep_grid(_blocks(3), 1e-3, 2000, SEEDS[:3], stop=1e-4),
        full=_deep_grid(_blocks(3, 2, 1), 1e-4, 100_000, SEEDS, stop=1e-4),
    ),
    Experiment(
        f"{NAME}/deep-addition",
        onehot.onehot_addition,
        quick=_deep_grid([{"set": "extrapolation"}], 5e-4, 8000, SEEDS[:3], stop=1e-4),
        full=_deep_grid([{"set": name} for name in onehot.ADDITION_SETS], 1e-4, 100_000, SEEDS, stop=1e-4),
    ),
    Experiment(
        f"{NAME}/deep-equivalence",
        onehot.onehot_equivalence,
        quick=_deep_grid([{"loss": "mse"}], 1e-4, 1200, SEEDS[:3], records=13),
        full=_deep_grid([{"loss": "mse"}], 1e-4, 10_000, SEEDS, records=41),
    ),
    Experiment(
        f"{NAME}/equivalence-units",
        feature_learning.equivalence_units,
        quick=_units_grid(1000),
        full=_units_grid(10_000),
    ),
    Experiment(
        f"{NAME}/feature-similarity",
        feature_learning.feature_similarity,
        quick=_similarity_grid(10_000),
        full=_similarity_grid(100_000),
    ),
    Experiment(
        f"{NAME}/anchors",
        feature_learning.anchors_addition,
        quick=_anchors_grid(2, 10_000),
        full=_anchors_grid(5, 100_000),
    ),
    Experiment(
        f"{NAME}/smoothing-networks",
        smoothing.smoothing_networks,
        quick=_smoothed_networks_grid((0.0, 0.001, 0.1), [0, 300, 1000, 3000], SEEDS[:2]),
        full=_smoothed_networks_grid(
            smoothing.SMOOTHINGS, [0, 10, 30, 100, 200, 300, 500, 700, 1000, 2000, 3000, 5000, 7000, 10_000], SEEDS
        ),
    ),
)
