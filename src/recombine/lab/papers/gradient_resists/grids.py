"""Gradient resists: every experiment, its unit function and its settings."""

from __future__ import annotations

from functools import partial
from typing import Any

from recombine.lab.papers.gradient_resists.experiments import heads, images, plane, scan, theory, without_gradient
from recombine.lab.papers.needs import require_images
from recombine.lab.runs.experiment import Experiment, grid

NAME = "gradient-resists"
FIVE_SEEDS = [0, 1, 2, 3, 4]
EARLY_STEPS = [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60]
BOTH = ("A", "B")
#: The text's network, which needs images larger than 8 x 8; what is measured beside accuracy is kept small.
THREE_CONVOLUTIONS: dict[str, Any] = {
    **{"channels": [8, 16, 16], "record": [0, 200], "probed": 500, "sloped": 100, "grid": [10, 20]},
}
#: Share of seen samples that a network which fits may have wrong: without a margin few drawn networks have none.
ERRORS = {"code": 0.0, "text": 0.02, "digits": 0.05}


def _pairs(name: str, seeds: list[int], **more: Any) -> list[dict[str, Any]]:
    return [{"images": name, "setting": setting, "steps": 200, **more, "seeds": seeds} for setting in BOTH]


def _scan(seeds: list[int], **more: Any) -> list[dict[str, Any]]:
    """Setting A with and without the repeated word, then the three readings of B."""
    kinds = [("A", True), ("A", False), ("B1", True), ("B2", True), ("B3", True)]
    return [{"reading": name, "repeats": repeats, **more, "seeds": seeds} for name, repeats in kinds]


def _plane(seeds: list[int]) -> list[dict[str, Any]]:
    shared: dict[str, Any] = {"epochs": 1024, "seeds": [seeds]}
    return [
        *grid(reading=("code", "text"), setting=BOTH, model="network", **shared),
        *grid(reading="text", setting="A", model="linear", **shared),
        *grid(reading=("code", "text"), setting=BOTH, model="two nodes", **shared),
    ]


def _boundaries(count: int) -> list[dict[str, Any]]:
    shared: dict[str, Any] = {"model": "network", "epochs": 1024, "seeds": [list(range(count))]}
    return grid(reading=("code", "text"), setting=BOTH, **shared)


def _heads(name: str, seeds: list[int]) -> list[dict[str, Any]]:
    """One output to learn, then both, in both settings."""
    return [{**setting, "heads": count} for count in (1, 2) for setting in _pairs(name, seeds)]


def _without_gradient(seeds: list[int], draws: int, steps: int, epochs: int) -> list[dict[str, Any]]:
    tries = {"drawn": draws, "random steps": steps, "gradient descent": epochs}
    return [
        {"search": search, "data": data, "tries": count, "errors": errors, "seeds": seeds}
        for search, count in tries.items()
        for data, errors in ERRORS.items()
    ]


def _shapes(seeds: list[int], draws: dict[tuple[int, ...], int]) -> list[dict[str, Any]]:
    """Drawn networks of other shapes than the paper's, in two dimensions."""
    return [
        {"search": "drawn", "data": data, "tries": count, "errors": ERRORS[data], "hidden": [*hidden], "seeds": seeds}
        for hidden, count in draws.items()
        for data in ("code", "text")
    ]


EXPERIMENTS = (
    Experiment(
        f"{NAME}/pairs",
        images.pairs,
        quick=[
            *_pairs("digits", FIVE_SEEDS),
            _pairs("digits", [0, 1, 2], steps=600, record=[200, 400, 600])[0],
            _pairs("digits", FIVE_SEEDS, loss="cross-entropy", record=[200])[0],
        ],
        full=[
            *_pairs("mnist", list(range(30))),
            *_pairs("digits", list(range(10))),
            *_pairs("mnist", FIVE_SEEDS, steps=2000, record=[200, 500, 1000, 2000]),
            *_pairs("mnist", FIVE_SEEDS, loss="cross-entropy", record=[0, 30, 200]),
        ],
        needs=partial(require_images, load=images.images_for),
    ),
    Experiment(
        f"{NAME}/heads",
        heads.heads,
        quick=_heads("digits", FIVE_SEEDS),
        full=_heads("mnist", FIVE_SEEDS),
        needs=partial(require_images, load=images.images_for),
    ),
    Experiment(
        f"{NAME}/scan",
        scan.scan,
        quick=_scan([0, 1, 2], steps=60, record=EARLY_STEPS, evaluated=500, greedy=100),
        full=[
            *_scan(FIVE_SEEDS),
            # More seeds for the early steps, where one late network in five moves the mean.
            *_scan(list(range(5, 15)), steps=50, record=[0, 25, 50], evaluated=500, greedy=2)[:3],
            *grid(reading=("A", "B3"), repeats=True, encoder=16, seeds=[FIVE_SEEDS], steps=500, record=[[25, 50, 500]]),
        ],
    ),
    Experiment(f"{NAME}/plane", plane.plane, quick=_plane(list(range(10))), full=_plane(list(range(50)))),
    Experiment(f"{NAME}/boundaries", plane.boundaries, quick=_boundaries(4), full=_boundaries(6)),
    Experiment(
        f"{NAME}/without-gradient",
        without_gradient.without_gradient,
        quick=[
            *_without_gradient(FIVE_SEEDS, draws=5000, steps=2000, epochs=64),
            *_shapes(FIVE_SEEDS, {(8,): 2000, (100,): 1000}),
        ],
        full=[
            *_without_gradient(list(range(50)), draws=20_000, steps=5000, epochs=1024),
            *_shapes(list(range(20)), {(8,): 10_000, (100,): 5000, (8,) * 6: 50_000, (100,) * 3: 1500}),
        ],
    ),
    Experiment(
        f"{NAME}/convolutions",
        images.pairs,
        quick=_pairs("enlarged digits", [0], **THREE_CONVOLUTIONS, evaluated=500),
        full=_pairs("enlarged digits", [0, 1], **THREE_CONVOLUTIONS, evaluated=1000),
    ),
    Experiment(
        f"{NAME}/chains",
        theory.chains,
        quick=[{"worlds": 200, "seeds": [0]}],
        full=[{"worlds": 2000, "seeds": [0]}],
    ),
    Experiment(
        f"{NAME}/quadrants",
        theory.quadrants,
        quick=grid(reading=("code", "text"), seeds=[[0]]),
        full=grid(reading=("code", "text"), seeds=[FIVE_SEEDS]),
    ),
    Experiment(
        f"{NAME}/counterexample",
        theory.counterexample,
        quick=[{"points": 20_000}],
        full=[{"points": 1_000_000}],
        schema=2,
    ),
)
