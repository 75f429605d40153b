"""Gated linear networks: every experiment, its unit function and its settings."""

from __future__ import annotations

from typing import Any

from recombine.lab.papers.gated_linear.experiments import authors, gains, images, leaving_out, sharing, theory
from recombine.lab.papers.needs import require_images
from recombine.lab.runs.experiment import Experiment, grid

NAME = "gated-linear"
#: The published setting, and digits that stand in for it: 3200 steps are 800, 400 and 200 epochs.
MNIST_SIZES = [500, 1000, 2000]
MNIST = {"images": "mnist", "sizes": MNIST_SIZES, "validation": 12_000, "steps": 3200, "seeds": [1, 2, 3]}
DIGITS = {"images": "digits", "sizes": [200, 400], "validation": 1000, "steps": 3200, "seeds": [1, 2, 3]}
SMALL = DIGITS | {"sizes": [200]}
LEFT_OUT = {name: value for name, value in DIGITS.items() if name != "steps"}
#: Wide networks take minutes, so each number of samples is a unit of its own.
WIDE = [{"sizes": [size], "pool": 2000} for size in MNIST_SIZES]
BOTH = ("median", "random")


def _flows(scales: list[float], seeds: list[int]) -> list[dict[str, Any]]:
    """Flows of both problems from the same scales and seeds, until all reach one margin; and of shared contexts."""
    short, long = [float(time) for time in range(0, 76, 5)], [float(time) for time in range(0, 151, 5)]
    unshared: dict[str, Any] = {"sharing": False, "times": long, "seeds": seeds}
    return [
        *({"problem": name, "scale": scale, **unshared} for name in ("toy", "G1") for scale in scales),
        {"problem": "toy", "scale": 0.3, "sharing": True, "times": short, "seeds": [0, 1, 2]},
    ]


def _sharing(seeds: list[int]) -> dict[str, Any]:
    return {"samples": 8, "places": 3, "inputs": 2, "units": 3, "starts": 10, "seeds": seeds}


def _networks(shared: dict[str, Any], layers: int, momenta: list[float], **axes: Any) -> list[dict[str, Any]]:
    return [{**shared, "layers": layers, "momenta": momenta, **shape} for shape in grid(**axes)]


def _relu(shared: dict[str, Any], momenta: list[float], units: list[int]) -> list[dict[str, Any]]:
    return [{**shared, "units": count, "momenta": momenta} for count in units]


def _authors(layers: int, size: int, **axes: Any) -> list[dict[str, Any]]:
    """Margin problems of the authors with ``size`` samples, a unit for each shape."""
    fixed = {"images": "mnist", "size": size, "validation": 12_000, "layers": layers, "seeds": [1, 2, 3]}
    return [fixed | shape for shape in grid(**axes)]


#: Fewest samples first, as these are solved in a second and 2000 of them in half a minute.
AUTHORS = [
    setting
    for size in MNIST_SIZES
    for setting in (
        *_authors(1, size, units=1, bits=range(10), thresholds=BOTH),
        *_authors(2, size, units=[10, 20, 50, 100], bits=[1, 2], thresholds=BOTH),
    )
]


def _balances(seeds: int, **axes: Any) -> list[dict[str, Any]]:
    """Digits of as many seeds, which draw images and gates; nothing has to be downloaded at either scale."""
    fixed = {"images": "digits", "sizes": [200, 400], "validation": 1000, "seeds": list(range(seeds))}
    return [fixed | shape for shape in grid(**axes)]


def _teachers(seeds: int, deciding: list[int]) -> list[dict[str, Any]]:
    fixed = {"units": 20, "inputs": 10, "sizes": [100, 200, 400], "validation": 2000, "seeds": list(range(seeds))}
    return [fixed | shape for shape in grid(deciding=deciding)]


PROBLEMS = grid(problem=["toy", "G1"])

EXPERIMENTS = (
    Experiment(
        f"{NAME}/costs",
        theory.costs,
        quick=grid(architecture=theory.ARCHITECTURES.keys(), seeds=[[0, 1]]),
        full=grid(architecture=theory.ARCHITECTURES.keys(), seeds=[[*range(6)]]),
    ),
    Experiment(f"{NAME}/limits", theory.small_limits, quick=PROBLEMS, full=PROBLEMS),
    Experiment(
        f"{NAME}/flow",
        theory.flows,
        quick=_flows([0.1, 1.0], list(range(5))),
        full=_flows([0.1, 0.3, 1.0], list(range(10))),
    ),
    Experiment(
        f"{NAME}/sharing",
        sharing.sharing,
        quick=[_sharing([*range(6)])],
        full=[_sharing([*range(first, first + 5)]) for first in range(0, 40, 5)],
    ),
    Experiment(
        f"{NAME}/shallow",
        images.gated_networks,
        quick=_networks(DIGITS, 1, [0.0], units=1, bits=[0, 1, 2, 4, 6, 8, 10], thresholds=BOTH),
        full=_networks(MNIST, 1, [0.0, 0.9], units=1, bits=range(15), thresholds=BOTH),
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/two-layer",
        images.gated_networks,
        quick=[
            *_networks(DIGITS, 2, [0.0], units=[10, 20, 50], bits=1, thresholds=BOTH),
            *_networks(DIGITS, 1, [0.0], units=1, bits=2, thresholds="median"),
        ],
        full=[
            *_networks(MNIST, 2, [0.0, 0.9], units=[10, 20, 50, 100], bits=[1, 2], thresholds=BOTH),
            *_networks(MNIST, 1, [0.0], units=1, bits=range(6), thresholds="median"),
        ],
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/wide",
        images.gated_networks,
        quick=_networks(SMALL | {"norms": []}, 2, [0.0], units=[10, 100, 500], bits=1, thresholds="median"),
        full=_networks(DIGITS | {"norms": []}, 2, [0.0], units=[10, 100, 500, 1000], bits=1, thresholds="median"),
    ),
    Experiment(
        f"{NAME}/leaving-out",
        leaving_out.leaving_out,
        quick=[LEFT_OUT | {"sizes": [200]} | shape for shape in grid(bits=range(10), thresholds=BOTH)],
        full=[LEFT_OUT | shape for shape in grid(bits=range(10), thresholds=BOTH)],
    ),
    Experiment(f"{NAME}/authors", authors.authors_limits, quick=[], full=AUTHORS, needs=require_images),
    Experiment(
        f"{NAME}/balance",
        gains.gains_by_balance,
        quick=_balances(10, units=[10, 100], quantile=[0.5, 0.95]),
        full=_balances(20, units=[10, 20, 50, 100], quantile=[0.5, 0.7, 0.85, 0.95]),
    ),
    Experiment(
        f"{NAME}/teachers",
        gains.gains_by_teacher,
        quick=_teachers(10, [1, 20]),
        full=_teachers(20, [1, 2, 5, 10, 20]),
    ),
    Experiment(
        f"{NAME}/relu",
        images.relu_networks,
        quick=[*_relu(DIGITS, [0.9], [20, 50]), *_relu(DIGITS | {"sizes": [200]}, [0.9], [300])],
        full=[
            *_relu(MNIST, [0.0, 0.9], [10, 20, 50, 100]),
            *(one for size in WIDE for one in _relu(MNIST | size, [0.0, 0.9], [500, 1000])),
        ],
        needs=require_images,
    ),
    Experiment(
        f"{NAME}/authors-relu",
        images.relu_networks,
        quick=[],
        full=[
            one
            for size in MNIST_SIZES
            for momentum in (0.9, 0.0)
            for one in _relu(MNIST | {"sizes": [size], "split": "authors"}, [momentum], [100, 50, 20, 500, 1000, 10])
        ],
        needs=require_images,
    ),
)
