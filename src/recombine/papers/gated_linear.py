"""The implicit bias of gradient descent on gated linear networks (Lippl, Abbott & Chung 2022): experiments and claims.

Where gates do not depend on trained weights, training ends in a maximum-margin classifier under a norm that the
architecture decides. Here those limits are solved exactly, with certificates, and put beside trained networks; three
defects of the published pipeline are repeated on purpose, next to the numbers without them.
"""

from __future__ import annotations

from typing import Any

from recombine.papers import gated_linear_images as images
from recombine.papers import gated_linear_theory as theory
from recombine.papers.gated_linear_claims import CLAIMS as THEORY_CLAIMS
from recombine.papers.gated_linear_figures import FIGURES as SMALL_FIGURES
from recombine.papers.gated_linear_image_claims import CLAIMS as IMAGE_CLAIMS
from recombine.papers.gated_linear_image_figures import FIGURES as IMAGE_FIGURES
from recombine.papers.gated_linear_norm_claims import CLAIMS as NORM_CLAIMS
from recombine.papers.paper import Paper
from recombine.runs.experiment import Experiment, grid

NAME = "gated-linear"
#: The published setting, and digits that stand in for it: 3200 steps are 800, 400 and 200 epochs.
MNIST_SIZES = [500, 1000, 2000]
MNIST = {"images": "mnist", "sizes": MNIST_SIZES, "validation": 12_000, "steps": 3200, "seeds": [1, 2, 3]}
DIGITS = {"images": "digits", "sizes": [200, 400], "validation": 1000, "steps": 3200, "seeds": [1, 2, 3]}
BOTH = ("median", "random")


def _flows(scales: list[float], seeds: list[int]) -> list[dict[str, Any]]:
    """Flows of both problems from the same scales and seeds, until all reach one margin; and of shared contexts."""
    short, long = [float(time) for time in range(0, 76, 5)], [float(time) for time in range(0, 151, 5)]
    own: dict[str, Any] = {"sharing": False, "times": long, "seeds": seeds}
    return [
        *({"problem": name, "scale": scale, **own} for name in ("toy", "G1") for scale in scales),
        {"problem": "toy", "scale": 0.3, "sharing": True, "times": short, "seeds": [0, 1, 2]},
    ]


def _networks(shared: dict[str, Any], layers: int, momenta: list[float], **axes: Any) -> list[dict[str, Any]]:
    return [{**shared, "layers": layers, "momenta": momenta, **shape} for shape in grid(**axes)]


def _relu(shared: dict[str, Any], momenta: list[float], units: list[int]) -> list[dict[str, Any]]:
    return [{**shared, "units": count, "momenta": momenta} for count in units]


EXPERIMENTS = (
    Experiment(
        f"{NAME}/costs",
        theory.costs,
        quick=[{"architecture": name, "seeds": [0, 1]} for name in theory.ARCHITECTURES],
        full=[{"architecture": name, "seeds": list(range(6))} for name in theory.ARCHITECTURES],
    ),
    Experiment(
        f"{NAME}/grouping",
        theory.grouping,
        quick=[{"shape": [785, 3, 4], "state": 1}],
        full=[{"shape": [785, 3, 4], "state": 1}],
    ),
    Experiment(
        f"{NAME}/effective",
        theory.effective,
        quick=[{**shape, "seeds": [0, 1]} for shape in grid(units=[1, 2, 4, 6], contexts=[2, 3])],
        full=[{**shape, "seeds": list(range(10))} for shape in grid(units=range(1, 7), contexts=[1, 2, 3])],
    ),
    Experiment(f"{NAME}/limits", theory.limits, quick=grid(problem=["toy", "G1"]), full=grid(problem=["toy", "G1"])),
    Experiment(
        f"{NAME}/flow",
        theory.flow,
        quick=_flows([0.1, 1.0], list(range(5))),
        full=_flows([0.1, 0.3, 1.0], list(range(10))),
    ),
    Experiment(
        f"{NAME}/shallow",
        images.gated,
        quick=_networks(DIGITS, 1, [0.0], units=1, bits=[0, 1, 2, 4, 6, 8, 10], thresholds="median"),
        full=_networks(MNIST, 1, [0.0, 0.9], units=1, bits=range(15), thresholds=BOTH),
        needs=images.images_at_hand,
    ),
    Experiment(
        f"{NAME}/two-layer",
        images.gated,
        quick=[
            *_networks(DIGITS, 2, [0.0], units=[10, 20, 50], bits=1, thresholds=BOTH),
            *_networks(DIGITS, 1, [0.0], units=1, bits=2, thresholds="median"),
        ],
        full=[
            *_networks(MNIST, 2, [0.0, 0.9], units=[10, 20, 50, 100], bits=[1, 2], thresholds=BOTH),
            *_networks(MNIST, 1, [0.0], units=1, bits=range(6), thresholds="median"),
        ],
        needs=images.images_at_hand,
    ),
    Experiment(
        f"{NAME}/relu",
        images.relu,
        quick=[*_relu(DIGITS, [0.9], [20, 50]), *_relu(DIGITS | {"sizes": [200]}, [0.9], [300])],
        full=[
            *_relu(MNIST, [0.0, 0.9], [10, 20, 50, 100]),
            # Wide ones take minutes, so each number of samples is a unit of its own.
            *(
                one
                for size in MNIST_SIZES
                for one in _relu(MNIST | {"sizes": [size], "pool": 2000}, [0.0, 0.9], [500, 1000])
            ),
        ],
        needs=images.images_at_hand,
    ),
)


PAPER = Paper(
    name=NAME,
    title="The implicit bias of gradient descent on generalized gated linear networks",
    citation="Lippl, Abbott and Chung, 2022",
    experiments=EXPERIMENTS,
    claims=tuple(sorted((*THEORY_CLAIMS, *NORM_CLAIMS, *IMAGE_CLAIMS), key=lambda claim: claim.place)),
    figures=(*SMALL_FIGURES, *IMAGE_FIGURES),
)
