"""Gradient resists: every experiment, its unit function and its settings."""

from __future__ import annotations

from functools import partial
from typing import Any

from recombine.papers.gradient_resists.experiments import images, plane, scan, theory
from recombine.papers.needs import require_images
from recombine.runs.experiment import Experiment

NAME = "gradient-resists"
FIVE = [0, 1, 2, 3, 4]
EARLY = [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60]
BOTH = ("A", "B")


def _pairs(name: str, seeds: list[int], **more: Any) -> list[dict[str, Any]]:
    return [{"images": name, "setting": setting, "steps": 200, **more, "seeds": seeds} for setting in BOTH]


def _scan(seeds: list[int], **more: Any) -> list[dict[str, Any]]:
    """Setting A with and without the repeated word, then the three readings of B."""
    kinds = [("A", True), ("A", False), ("B1", True), ("B2", True), ("B3", True)]
    return [{"reading": name, "repeats": repeats, **more, "seeds": seeds} for name, repeats in kinds]


def _plane(seeds: list[int]) -> list[dict[str, Any]]:
    network = [
        {"reading": reading, "setting": setting, "model": "network"} for reading in ("code", "text") for setting in BOTH
    ]
    linear = {"reading": "text", "setting": "A", "model": "linear"}
    return [{**kind, "epochs": 1024, "seeds": seeds} for kind in [*network, linear]]


def _boundaries(seeds: list[int]) -> list[dict[str, Any]]:
    return [
        {"reading": "code", "setting": setting, "model": "network", "epochs": 1024, "seeds": seeds} for setting in BOTH
    ]


QUICK_LONG = {"images": "digits", "setting": "A", "steps": 600, "record": [200, 400, 600], "seeds": [0, 1, 2]}
QUICK_OTHER = {
    "images": "digits",
    "setting": "A",
    "steps": 200,
    "loss": "cross-entropy",
    "record": [200],
    "seeds": FIVE,
}
FULL_LONG = {"steps": 2000, "record": [200, 500, 1000, 2000]}

EXPERIMENTS = (
    Experiment(
        f"{NAME}/pairs",
        images.pairs,
        quick=[*_pairs("digits", FIVE), QUICK_LONG, QUICK_OTHER],
        full=[
            *_pairs("mnist", list(range(30))),
            *_pairs("digits", list(range(10))),
            *_pairs("mnist", FIVE, **FULL_LONG),
            *_pairs("mnist", FIVE, loss="cross-entropy", record=[0, 30, 200]),
        ],
        needs=partial(require_images, load=images.images_for),
    ),
    Experiment(
        f"{NAME}/scan",
        scan.scan,
        quick=_scan([0, 1, 2], steps=60, record=EARLY, evaluated=500, greedy=100),
        full=[
            *_scan(FIVE),
            *[
                {"reading": name, "repeats": True, "encoder": 16, "seeds": FIVE, "steps": 500, "record": [25, 50, 500]}
                for name in ("A", "B3")
            ],
        ],
    ),
    Experiment(f"{NAME}/plane", plane.plane, quick=_plane(list(range(10))), full=_plane(list(range(50)))),
    Experiment(
        f"{NAME}/boundaries", plane.boundaries, quick=_boundaries([0, 1, 2, 3]), full=_boundaries(list(range(6)))
    ),
    Experiment(
        f"{NAME}/first-step",
        theory.first_step,
        quick=[{"samples": 100_000, "seeds": FIVE}],
        full=[{"samples": 1_000_000, "seeds": FIVE}],
    ),
    Experiment(
        f"{NAME}/processing",
        theory.processing,
        quick=[{"problems": 1000, "seeds": [0]}],
        full=[{"problems": 3000, "seeds": [0]}],
    ),
    Experiment(
        f"{NAME}/counterexample",
        theory.counterexample,
        quick=[{"steepness": [1, 4, 16, 64, 256, 1024, 0], "points": 200_000}],
        full=[{"steepness": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 0], "points": 1_000_000}],
    ),
)
