"""Multi-task learning and pretraining: every experiment, its unit function and its settings."""

from __future__ import annotations

from typing import Any

from recombine.lab.papers.multitask.experiments import atlas as scales
from recombine.lab.papers.multitask.experiments import diagonal as networks
from recombine.lab.papers.multitask.experiments import hidden_units as hidden
from recombine.lab.papers.multitask.experiments import images, norms, released, theory
from recombine.lab.papers.multitask.experiments import students as relu
from recombine.lab.runs.experiment import Experiment

NAME = "multitask"
TEACHER_SAMPLES, SEEDS = [16, 32, 64, 128, 256, 512], list(range(6))
OVERLAPS, ACTIVE_FEATURES, SCALINGS = [40, 30, 20, 0], [5, 10, 20, 30, 40], [1.0, 0.1, 0.01, 0.001]
#: Up to this many samples a cone program takes about a second.
MAX_QUICK_CONE_SAMPLES = 64


def _places(quick: bool) -> list[tuple[int, int]]:
    """Samples and seed of each unit: small problems take no time, so that quick runs can afford every seed of them."""
    return [(n, seed) for n in TEACHER_SAMPLES for seed in SEEDS if n <= 128 or seed < 2 or not quick]


def _overlap_grid(quick: bool) -> list[dict[str, Any]]:
    return [
        {"n": n, "overlaps": OVERLAPS, "mtl": not quick or (seed < 2 and n <= MAX_QUICK_CONE_SAMPLES), "seeds": [seed]}
        for n, seed in _places(quick)
    ]


def _nested_grid(quick: bool) -> list[dict[str, Any]]:
    about = {"active": ACTIVE_FEATURES, "scalings": SCALINGS, "mtl": not quick}
    return [{"n": n, **about, "seeds": [seed]} for n, seed in _places(quick)]


ALONE, ALL = ["pt+ft", "stl"], ["pt+ft", "stl", "mtl"]
NESTED: dict[str, Any] = {"active": ACTIVE_FEATURES, "places": ["inside", "outside"], "scalings": SCALINGS}


def _runs(n: int, seed: int, steps: int, methods: list[str], **about: Any) -> dict[str, Any]:
    plain = {"rate": 0.1, "stop": 1e-10, "dtype": "float32", "steps": steps, "mtl steps": steps}
    return {"n": n, "methods": methods, "seeds": [seed], **plain, **about}


def _flow_runs(seed: int, **size: int) -> dict[str, Any]:
    """Few known features from weights scaled down: those that gradient descent is too slow for."""
    about = {"active": [5, 10], "places": ["inside"], "scalings": SCALINGS[1:], "methods": ["pt+ft"]}
    return {**size, **about, "precision": 1e-6, "seeds": [seed]}


QUICK_OVERLAP = [
    *(_runs(16, seed, 40_000, ALONE, overlaps=[40, 0]) for seed in (0, 1, 2)),
    *(_runs(64, seed, 100_000, ALONE, overlaps=OVERLAPS) for seed in (0, 1)),
    _runs(256, 0, 30_000, ALONE, overlaps=[0]),
    _runs(64, 0, 50_000, ["mtl"], overlaps=[40]),
    _runs(256, 0, 20_000, ["mtl"], overlaps=[0]),
]
FULL_OVERLAP = [_runs(n, seed, 200_000, ALL, overlaps=OVERLAPS) for n, seed in _places(quick=False)]
QUICK_NESTED = [_runs(64, 0, 40_000, ["pt+ft"], **NESTED | {"active": [5, 40], "scalings": [1.0, 0.1]})]
#: From rescaled weights, few known features are learned last: 100,000 steps are not nearly enough.
FULL_NESTED = [_runs(n, seed, 500_000, ALL, **NESTED, **{"mtl steps": 100_000}) for n, seed in _places(quick=False)]
#: MTL of the fewest and the most known features alone takes minutes on a CPU.
FULL_NESTED.append(
    _runs(64, 2, 100_000, ["mtl"], **NESTED | {"active": [5, 40], "places": ["inside"], "scalings": [1.0]})
)

#: ReLU students: the published size, and one that a laptop trains in seconds.
STUDENT = {"width": 1000, "scale": 1e-3, "rate": 1.0, "stop": 1e-8, "batch": 128, "auxiliary samples": 1024}
STUDENT |= {"steps": 100_000, "mtl steps": 200_000, "pretraining steps": 100_000}
#: Multi-task students learn at the published rate of 1; others, and pretraining, at 0.1. The authors' launchers have 1
#: for those too; students that diverge begin again at a tenth, and with the authors' draws single tasks do (27a).
TWO_RATES = {**STUDENT, "rate": 0.1, "mtl rate": 1.0}
SMALL = {**STUDENT, "width": 100, "scale": 1e-2, "stop": 1e-7, "auxiliary samples": 512}
SMALL |= {"steps": 8000, "mtl steps": 4000, "pretraining steps": 4000}
RELU_METHODS = ["pt+ft", "pt+ft probe", "mtl", "stl", "stl probe"]


def _correlation_grid(student: dict[str, Any], samples: list[int], names: list[str], seeds: list[int]) -> Any:
    """All cosines in a unit: they share the pretrained students, and a GPU takes no longer for many than for one."""
    return [
        {"n": n, "correlations": names, "methods": RELU_METHODS, **student, "seeds": group}
        for group in (seeds[:3], seeds[3:])
        if group
        for n in samples
    ]


#: At the published rate few multi-task students with few samples converge.
SLOW = {**TWO_RATES, "correlations": ["1 x 6"], "methods": ["slow mtl"], "slow mtl rate": 0.3}
SLOW |= {"mtl steps": 300_000, "seeds": SEEDS}


def _units_grid() -> list[dict[str, Any]]:
    """Scaling concerns pretrained weights alone, so that the other methods are trained once."""
    about: dict[str, Any] = {"units": [1, 2, 3, 4, 5, 6], "cosines": [0.0, 1.0], **STUDENT, "rate": 0.1, "seeds": SEEDS}
    scaled = {**about, "scalings": [0.01, 0.1, 1.0, 10.0, 100.0], "methods": ["pt+ft"]}
    plain = {**about, "scalings": [1.0], "methods": ["mtl", "stl"]}
    return [{"n": n, **methods} for n in (16, 64) for methods in (scaled, plain)]


def _magnitude_grid() -> list[dict[str, Any]]:
    about = {"methods": ALONE, **STUDENT, "rate": 0.1}
    about |= {"cosines": [0.8, 0.9, 0.95, 0.99, 1.0], "magnitudes": [0.01, 0.05, 0.1, 0.5, 1.0]}
    return [{**about, "n": n, "seeds": seeds} for seeds in (SEEDS[:3], SEEDS[3:]) for n in (128, 32)]


#: Students of the authors' draws. One task is learned at 0.1: where students diverge at the launchers' rate of 1, the
#: authors' too went on at a tenth of it. Both tasks are learned at a rate at which they come to rest.
DRAWN = {**STUDENT, "rate": 0.1, "mtl rate": 0.3, "mtl steps": 600_000}


def _released_grid(student: dict[str, Any], names: list[str], samples: list[int], seeds: list[int]) -> Any:
    """A unit per method and number of samples, the cheapest first: students of all cosines train side by side."""
    about = {"cosines": names, **student, "seeds": seeds}
    return [{"n": n, "methods": [method], **about} for method in ("stl", "pt+ft", "mtl") for n in samples]


BRIEF = {**SMALL, "n": 32, "steps": 3000, "methods": ["pt+ft"], "seeds": [0]}
QUICK_UNITS = {**BRIEF, "units": [1, 6], "cosines": [1.0], "scalings": [1.0, 10.0]}
QUICK_MAGNITUDES = {**BRIEF, "cosines": [0.9], "magnitudes": [1.0, 0.1]}

#: Students whose hidden units are looked at, on a CPU: 300 units, and training to a loss of 1e-5 for 8,000 steps at
#: most. Single tasks also with four times the samples.
LOOKED_AT: dict[str, Any] = {**STUDENT, "width": 300, "rate": 0.1, "mtl rate": 0.3, "stop": 1e-5, "steps": 8000}
LOOKED_AT |= {"mtl steps": 8000, "pretraining steps": 8000, "scalings": [0.1, 1.0, 10.0]}
LOOKED_AT |= {"correlations": ["1 x 6", "0.9 x 6"], "new units": ["1 new", "3 new", "6 new"]}


def _hidden_grid(student: dict[str, Any], seeds: list[int]) -> list[dict[str, Any]]:
    alone = {"correlations": [], "scalings": [1.0], "methods": ["stl"]}
    sizes = ({"n": 64, "methods": ALL}, {**alone, "n": 256})
    return [{**LOOKED_AT, **student, **about, "seeds": [seed]} for about in sizes for seed in seeds]


#: CIFAR-100 as published but for four things: training may take fewer epochs than 1000, the transformer computes
#: in bfloat16, multi-task networks get three of the seven numbers of samples, and there are three seeds instead of 50.
PHOTOGRAPHS: dict[str, Any] = {"images": "cifar100", "stop": 0.01}
EPOCHS: dict[str, dict[str, Any]] = {
    "resnet": {"pretraining epochs": 100, "epochs": 1000, "half": False},
    "vit": {"pretraining epochs": 60, "epochs": 300, "half": True},
}
ALL_SAMPLES, SOME_SAMPLES = [10, 20, 50, 100, 200, 500, 1000], [20, 100, 1000]
RESCALED: dict[str, Any] = {"methods": ALONE, "n": ALL_SAMPLES, "factors": [0.125, 0.25, 0.5, 1.0, 2.0]}
#: A control: ResNet-18 with new batch-norm statistics before plain finetuning too, and centred activations.
RECALIBRATED: dict[str, Any] = {"methods": ["pt+ft recalibrated"], "n": ALL_SAMPLES, "factors": [0.125, 1.0]}
#: Multi-task training ends when both tasks are learned, each step counting the same, or as published: when the main one
#: is ("main"), steps of the auxiliary task having the small weight that makes its epoch count as much as main's.
JOINT: tuple[dict[str, Any], ...] = ({"stop rule": "both", "auxiliary weight": 1.0}, {"stop rule": "main"})


def _photographs() -> list[dict[str, Any]]:
    """Rescaled finetuning first, then multi-task networks by rule and number of samples, then the control."""
    joint: list[dict[str, Any]] = [{"methods": ["mtl"], "mtl n": [n], **rule} for rule in JOINT for n in SOME_SAMPLES]
    runs = [(run, network) for run in (RESCALED, *joint) for network in EPOCHS] + [(RECALIBRATED, "resnet")]
    return [
        {**PHOTOGRAPHS, "network": network, **EPOCHS[network], **run, "seeds": [seed]}
        for run, network in runs
        for seed in (0, 1, 2)
    ]


DIGITS: dict[str, Any] = {"images": "digits", "network": "small resnet", "n": [20, 100], "mtl n": [100]}
DIGITS |= {"factors": [0.125, 0.5, 1.0], "epochs": 40, "pretraining epochs": 8, "stop": 0.02, "rate": 0.02}
DIGITS |= {"methods": ALL, **JOINT[0]}


#: Digits finetuned as the released code does it, with statistics of pretraining, from few samples.
OLD_STATISTICS: dict[str, Any] = {**DIGITS, "methods": ["pt+ft released"], "n": [20], "mtl n": []}
OLD_STATISTICS |= {"factors": [0.125, 0.25, 0.5, 1.0, 2.0]}


#: A ResNet-18 of an eighth of the width. At this rate it takes about as many steps as ResNet-18 on CIFAR-100 at the
#: published one (160 from an eighth, 30 from half, 14 from plain weights): by steps old statistics are forgotten.
NORMS: dict[str, Any] = {"images": "digits", "widths": [8, 16, 32, 64], "n": [10, 20, 50, 100], "rate": 0.005}
NORMS |= {"factors": [0.125, 0.25, 0.5, 1.0, 2.0], "epochs": 400, "stop": 0.01}
NORMS |= {"pretraining rate": 0.02, "pretraining epochs": 15}


def _norms_grid(seeds: list[int], **about: Any) -> list[dict[str, Any]]:
    return [{**NORMS, **about, "norm": norm, "seeds": [seed]} for norm in (norms.BATCH, norms.GROUP) for seed in seeds]


def _on_inputs(name: str, seeds: int, **about: list[float]) -> dict[str, Any]:
    """Shares of features that are known, and samples over the number of features."""
    return {"inputs": name, "shares known": about["shares"], "samples": about["samples"], "seeds": list(range(seeds))}


def _atlas_grid(development: int, held_out: int) -> list[dict[str, Any]]:
    """A unit for each set of inputs, with seeds for those that constants are chosen on and for those that judge."""
    counted = [(scales.DEVELOPMENT, development), (scales.HELD_OUT, held_out)]
    about: dict[str, list[float]] = {"shares": [0.125, 0.25], "samples": [0.25, 0.5]}
    return [_on_inputs(name, seeds, **about) for names, seeds in counted for name in names]


ATLAS_NETWORKS = [_on_inputs(name, 3, shares=[0.25], samples=[0.25]) for name in scales.HELD_OUT]

EXPERIMENTS = (
    Experiment(f"{NAME}/penalties", theory.penalties, quick=[{"points": 61}], full=[{"points": 601}]),
    Experiment(f"{NAME}/flow", theory.flow_ends, quick=[{}], full=[{}]),
    Experiment(
        f"{NAME}/descent",
        theory.descent,
        quick=[{"rates": [0.02, 0.01, 0.005]}],
        full=[{"rates": [0.02, 0.01, 0.005, 0.0025]}],
    ),
    Experiment(
        f"{NAME}/limits",
        theory.scaling_limits,
        quick=[{"scalings": [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}],
        full=[{"scalings": [10.0 ** (power / 4) for power in range(-16, 9)]}],
    ),
    Experiment(
        f"{NAME}/group-norm",
        theory.group_norms,
        quick=[{"alphas": [1e-1, 1e-3, 1e-6], "seeds": SEEDS}],
        full=[{"alphas": [10.0**-power for power in range(1, 7)], "seeds": SEEDS}],
    ),
    Experiment(f"{NAME}/overlap", theory.overlap, quick=_overlap_grid(True), full=_overlap_grid(False)),
    Experiment(f"{NAME}/nested", theory.nested, quick=_nested_grid(True), full=_nested_grid(False)),
    Experiment(f"{NAME}/overlap-networks", networks.overlap_networks, quick=QUICK_OVERLAP, full=FULL_OVERLAP),
    Experiment(f"{NAME}/nested-networks", networks.nested_networks, quick=QUICK_NESTED, full=FULL_NESTED),
    Experiment(
        f"{NAME}/nested-flow",
        networks.nested_flow,
        quick=[_flow_runs(0, n=32, dimension=200)],
        full=[_flow_runs(seed, n=64, dimension=1000) for seed in SEEDS],
    ),
    Experiment(
        f"{NAME}/atlas",
        scales.atlas,
        quick=_atlas_grid(4, 6),
        full=_atlas_grid(8, 16),
    ),
    Experiment(
        f"{NAME}/atlas-networks",
        scales.atlas_networks,
        quick=ATLAS_NETWORKS,
        full=ATLAS_NETWORKS,
    ),
    Experiment(
        f"{NAME}/relu-correlation",
        relu.correlation,
        quick=_correlation_grid(SMALL, [16, 64], ["1 x 6", "0.9 x 6"], SEEDS[:2]),
        full=[
            *_correlation_grid(TWO_RATES, TEACHER_SAMPLES, list(relu.CORRELATIONS), SEEDS),
            *({**SLOW, "n": n} for n in (16, 128)),
        ],
    ),
    Experiment(
        f"{NAME}/overlap-released",
        released.linear_released,
        quick=[{"samples": [64], "seeds": SEEDS}],
        full=[{"samples": TEACHER_SAMPLES[:-1], "seeds": SEEDS}],
    ),
    Experiment(
        f"{NAME}/relu-released",
        released.released,
        quick=_released_grid({**SMALL, "mtl rate": 0.3}, ["1 x 6"], [16], [0]),
        full=_released_grid(DRAWN, list(released.COSINES), TEACHER_SAMPLES[:-1], SEEDS),
    ),
    Experiment(f"{NAME}/relu-units", relu.units, quick=[QUICK_UNITS], full=_units_grid()),
    Experiment(f"{NAME}/relu-magnitude", relu.magnitude, quick=[QUICK_MAGNITUDES], full=_magnitude_grid()),
    Experiment(
        f"{NAME}/hidden-units",
        hidden.hidden_units,
        quick=_hidden_grid({"width": 50, "scale": 1e-2, "stop": 1e-5, "steps": 4000, "mtl steps": 2000}, [0]),
        full=_hidden_grid({}, SEEDS[:3]),
    ),
    Experiment(
        f"{NAME}/old-statistics",
        images.rescaling,
        quick=[{**OLD_STATISTICS, "factors": [0.5, 1.0], "seeds": [0]}],
        full=[{**OLD_STATISTICS, "seeds": [seed]} for seed in range(6)],
    ),
    Experiment(
        f"{NAME}/rescaling-norms",
        norms.rescaling_norms,
        quick=_norms_grid([0], **{"n": [10], "factors": [0.5, 1.0], "pretraining epochs": 5}),
        full=_norms_grid(SEEDS),
    ),
    Experiment(
        f"{NAME}/rescaling",
        images.rescaling,
        quick=[{**DIGITS, "seeds": [seed]} for seed in (0, 1)],
        full=_photographs(),
        needs=images.needs_images,
    ),
)
