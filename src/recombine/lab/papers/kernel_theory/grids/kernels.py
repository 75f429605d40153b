"""Kernel theory: experiments with kernels, and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.lab.papers.kernel_theory.experiments import (
    context,
    designs,
    kernels,
    representations,
    smoothing,
    structures,
)
from recombine.lab.runs.experiment import Experiment, grid

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


def _uneven_grid(salience: list[float]) -> Settings:
    pairs = [(a, b) for a in salience for b in salience if a >= b and a + b < 1]
    return [{"first": a, "second": b, "anchors": anchors} for a, b in pairs for anchors in ([4], [0, 8], [0, 4, 8])]


def _depth_grid(depth: int) -> Settings:
    return [{"activation": name, "depths": list(range(1, depth + 1))} for name in ("relu", "quadratic", "step", "ntk")]


def _smoothing_grid(depths: dict[str, Sequence[int]]) -> Settings:
    return [
        {"activation": name, "depth": depth, "left out": 3, "smoothing": list(smoothing.SMOOTHINGS)}
        for name, chosen in depths.items()
        for depth in chosen
    ]


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
        schema=2,
    ),
    Experiment(
        f"{NAME}/smoothing",
        smoothing.smoothing,
        quick=_smoothing_grid({"relu": (1, 3, 5)}),
        full=_smoothing_grid({"relu": range(1, 11), "ntk": range(1, 6)}),
    ),
)

STRUCTURE_EXPERIMENTS = (
    Experiment(
        f"{NAME}/sparse-additivity",
        structures.sparse_additivity,
        quick=[{"seeds": list(range(20))}],
        full=[{"seeds": list(range(start, start + 20))} for start in range(0, 120, 20)],
    ),
    Experiment(
        f"{NAME}/exposure", structures.exposure, quick=[{"similarity": INSIDE}], full=[{"similarity": INSIDE_FINE}]
    ),
    Experiment(
        f"{NAME}/uneven-salience",
        structures.uneven_salience,
        quick=_uneven_grid([0.1, 0.3, 0.6]),
        full=_uneven_grid(kernels.spread(0.05, 0.9, 18)),
    ),
    Experiment(
        f"{NAME}/tasks",
        structures.task_classes,
        quick=[{"task": name} for name in structures.TASKS],
        full=[{"task": name} for name in structures.TASKS],
        schema=2,
    ),
    Experiment(
        f"{NAME}/random-assignments",
        representations.random_assignments,
        quick=[{"task": name, "assignments": 256, "seeds": [0, 1]} for name in representations.AVERAGED],
        full=[{"task": name, "assignments": 1024, "seeds": list(range(5))} for name in representations.AVERAGED],
    ),
    Experiment(
        f"{NAME}/dispersed-items",
        representations.dispersed_items,
        quick=[{"salience": amount, "seeds": list(range(1, 11))} for amount in (0.1, 0.3, 0.45)],
        full=[{"salience": amount, "seeds": list(range(1, 51))} for amount in kernels.DISPERSED_SALIENCE[1:-1]],
    ),
    Experiment(
        f"{NAME}/designs",
        designs.designs,
        quick=[{"designs": list(range(8)), "rate": 1e-3, "steps": 100, "seeds": [0, 1]}],
        full=[{"designs": list(range(40)), "rate": 1e-3, "steps": 600, "seeds": [0, 1, 2]}],
    ),
)
