"""First principles: every experiment, its unit function and its settings.

Of the decoders ``quick`` trains small ones on blobs of 12 pixels ("tiny"). ``full`` trains the paper's models on its
sprites, in order of cost: for 3,300 steps ("short", the first part of the paper's schedule), for 19,600 steps with the
schedule squeezed into them ("annealed"), and for the paper's 392,000 ("full"). Every row says which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recombine.lab.papers.first_principles.experiments import (
    assumptions,
    checks,
    decoders,
    error_maps,
    lost_slots,
    pictures,
    ranks,
    routes,
    simulation,
    theory,
)
from recombine.lab.papers.first_principles.experiments.readers.penalties import PENALTIES, penalised_readers
from recombine.lab.runs.experiment import Experiment

Settings = list[dict[str, Any]]


def _experiment(name: str, function: Callable[..., Any], quick: Settings, full: Settings) -> Experiment:
    return Experiment(f"first-principles/{name}", function, quick=quick, full=full)


# ---------------------------------------------------------------------------- theory

#: Supports whose two conditions are looked at.
SKETCHES = ("random", "orthogonal", "orthogonal*", "orthogonal gap", "diagonal 0.2", "diagonal 0.05")


def _visibility(values: dict[float, int]) -> Settings:
    return [{"width": width, "values": count, "fronts": 200, "seeds": [0]} for width, count in values.items()]


def _ranks(probes: int, combinations: int) -> Settings:
    return [
        {"rule": rule, "support": name, "probes": probes, "combinations": combinations}
        for rule in ranks.RULES
        for name in ("orthogonal*", "orthogonal")
    ]


def _sketches(points: int, probes: int) -> Settings:
    return [{"support": name, "points": points, "probes": probes} for name in SKETCHES]


def _seed_blocks(count: int, size: int) -> Settings:
    return [{"seeds": list(range(start, min(start + size, count)))} for start in range(0, count, size)]


def _simulation(sizes: int, steps: int, batch: int, rate: float, candidates: int, seeds: int) -> Settings:
    """Training sets of 1, 4, 16, ... points, or the largest of these; the notebook has those between, too."""
    shared = {"sizes": [4**power for power in range(7 - sizes, 7)], "steps": steps}
    shared |= {"recorded": [steps >> halvings for halvings in (4, 3, 2, 1, 0)], "rate": rate, "batch": batch}
    return [shared | {"candidates": candidates, "seeds": [seed]} for seed in range(seeds)]


THEORY_EXPERIMENTS = (
    _experiment(
        "visibility",
        ranks.visibility,
        _visibility({0.02: 60, 0.05: 300, 0.1: 60, 0.2: 60}),
        _visibility(dict.fromkeys((0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2), 2000)),
    ),
    _experiment("ranks", ranks.ranks, _ranks(4, 32), _ranks(50, 128)),
    _experiment(
        "rank-maps", ranks.rank_maps, [{"probes": 12, "combinations": 32}], [{"probes": 200, "combinations": 64}]
    ),
    _experiment("sketches", ranks.sketches, _sketches(120, 2), _sketches(300, 50)),
    _experiment("finite-grids", theory.finite_grids, _seed_blocks(240, 60), _seed_blocks(4000, 200)),
    _experiment(
        "reconstruction",
        theory.reconstruction,
        [{"side": 4, "seeds": [0, 1, 2]}],
        [{"side": 12, "seeds": list(range(20))}],
    ),
    _experiment(
        "simulation",
        simulation.simulation,
        _simulation(2, steps=1600, batch=64, rate=0.1, candidates=100, seeds=2),
        _simulation(7, steps=112_640, batch=4, rate=1e-3, candidates=7500, seeds=3),
    ),
)

# ---------------------------------------------------------------------------- decoders

SPRITES = {
    **{"world": "sprites", "samples": 100_000, "tests": 10_000, "batch": 512, "rate": 1e-3, "weight decay": 1e-5},
    **{"every": 196, "floor": 0.01, "dtype": "bfloat16"},
}
LENGTHS = {
    "short": {"scale": "short", "steps": 3300, "periods": 2000},
    "annealed": {"scale": "annealed", "steps": 19_600, "periods": 100},
    "full": {"scale": "full", "steps": 392_000, "periods": 2000},
}
TINY = {
    **{"world": "blobs", "scale": "tiny", "samples": 8000, "tests": 2000, "steps": 2000, "batch": 64, "rate": 4e-3},
    **{"weight decay": 0.01, "every": 1, "periods": 2000, "floor": 0.0, "dtype": "float32", "seeds": [0, 1]},
}

#: The twelve rows of the results table; the four that decide most come first.
TABLE = (
    ("orthogonal", "compositional"),
    ("orthogonal", "monolithic"),
    ("diagonal 0.05", "compositional"),
    ("orthogonal gap", "compositional"),
    ("random", "compositional"),
    ("random", "monolithic"),
    ("orthogonal", "rgba"),
    ("orthogonal*", "compositional"),
    ("diagonal 0.2", "compositional"),
    ("orthogonal normal", "compositional"),
    ("orthogonal+", "compositional"),
    ("diagonal 0.1", "compositional"),
)
#: The same rows, those first whose published value tells most.
BY_VALUE = (
    *(TABLE[0], TABLE[2], TABLE[1], ("diagonal 0.1", "compositional"), TABLE[3], ("orthogonal+", "compositional")),
    *(("orthogonal*", "compositional"), TABLE[4], ("orthogonal", "rgba"), TABLE[5], *TABLE[8:10]),
)
THREE_SEEDS, ALL_SEEDS = [0, 1, 2], [0, 1, 2, 3, 4]
#: What pictures are shown of.
SHOWN = (*TABLE[:2], ("orthogonal", "rgba"), ("orthogonal gap", "compositional"), ("orthogonal*", "compositional"))


def _sprites(length: str, rows: Sequence[tuple[str, str]], seeds: Sequence[int], targets: str = "hard") -> Settings:
    """One unit per row of the table; whether RGBa collapses depends on the seed, so it gets all five."""
    shared = {**SPRITES, **LENGTHS[length], "targets": targets}
    return [
        {**shared, "support": name, "model": model, "seeds": ALL_SEEDS if model == "rgba" else list(seeds)}
        for name, model in rows
    ]


def _blobs(rows: Sequence[tuple[str, str]]) -> Settings:
    """The same on blobs; RGBa gets targets composed its way, and rows that decide most get two seeds, not one."""
    major = (*TABLE[:4], ("orthogonal*", "compositional"))
    return [
        {**TINY, "support": name, "model": model, "targets": "rgba" if model == "rgba" else "soft"}
        | {"seeds": [0, 1] if (name, model) in major else [0]}
        for name, model in rows
    ]


def _targets(images: int) -> Settings:
    return [{"support": name, "images": images} for name in ("random", "orthogonal", "orthogonal*")]


FULL = [
    *_sprites("short", TABLE, THREE_SEEDS),
    *_sprites("short", [("orthogonal", "rgba sigmoid")], THREE_SEEDS),
    *_sprites("short", [("orthogonal", "compositional")], THREE_SEEDS, targets="soft"),
    *_sprites("annealed", TABLE, THREE_SEEDS),
    # Minutes for each network: one seed to a unit, all rows before the second seed, most telling rows first.
    *({**setting, "seeds": [seed]} for seed in ALL_SEEDS for setting in _sprites("full", BY_VALUE, ALL_SEEDS)),
]
ADDITIVE = [{**TINY, "support": name, "model": "additive", "targets": "add"} for name in ("orthogonal", "orthogonal*")]

DECODER_EXPERIMENTS = (
    _experiment("decoders", decoders.decoder_scores, _blobs(TABLE), FULL),
    _experiment("additive", decoders.additive, ADDITIVE, [{**setting, "seeds": ALL_SEEDS} for setting in ADDITIVE]),
    _experiment(
        "pictures",
        pictures.slot_pictures,
        [{**one, "steps": 800, "periods": 800, "seeds": [0]} for one in _blobs(SHOWN) if one["model"] != "rgba"],
        [{**one, "seeds": [0]} for length in ("short", "full") for one in _sprites(length, SHOWN, [0])],
    ),
    _experiment(
        "collapse", checks.collapse, [{"images": 64, "seeds": ALL_SEEDS}], [{"images": 64, "seeds": list(range(20))}]
    ),
    _experiment("targets", checks.targets, _targets(3000), _targets(20_000)),
)

# ---------------------------------------------------------------------------- alone and in a batch

#: Supports on which networks lose a slot, and seeds that no run before these had used.
NARROW_BANDS, ROUTE_SEEDS = ("diagonal 0.05", "diagonal 0.1"), range(34, 74)
#: Networks of a batch; seeds left over join the last one.
NETWORKS_IN_BATCH = 3
#: Steps after which weights are compared.
COMPARED_STEPS = [1, 2, 5, 20, 100, 500]


def _routes(seeds: Sequence[int], length: str) -> Settings:
    """Every seed alone and in a batch, a batch and its networks one after the other, both supports in turn."""
    ends = [*range(NETWORKS_IN_BATCH, len(seeds) - NETWORKS_IN_BATCH + 1, NETWORKS_IN_BATCH), len(seeds)]
    batches = [list(seeds[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return [
        {**SPRITES, **LENGTHS[length], "targets": "hard", "support": name, "model": "compositional", "seeds": together}
        for batch in batches
        for name in NARROW_BANDS
        for together in (batch, *([seed] for seed in batch))
    ]


def _route_steps(shared: dict[str, Any], steps: Sequence[int], dtypes: Sequence[str]) -> Settings:
    return [
        {**shared, "model": "compositional", "support": name, "dtype": dtype, "recorded": list(steps)}
        | {"steps": max(steps), "seeds": list(ROUTE_SEEDS[:3])}
        for dtype in dtypes
        for name in NARROW_BANDS
    ]


ROUTE_EXPERIMENTS = (
    _experiment(
        "route-steps",
        routes.route_steps,
        _route_steps({**TINY, "samples": 400, "tests": 100, "targets": "soft"}, COMPARED_STEPS[:4], ["float32"]),
        _route_steps({**SPRITES, **LENGTHS["annealed"], "targets": "hard"}, COMPARED_STEPS, ["float32", "bfloat16"]),
    ),
    _experiment(
        "routes",
        routes.route_scores,
        [
            {**TINY, "samples": 400, "tests": 100, "steps": 60, "targets": "soft", "model": "compositional"}
            | {"support": NARROW_BANDS[1], "seeds": seeds}
            for seeds in ([0, 1, 2], [0])
        ],
        [*_routes(ROUTE_SEEDS, "annealed"), *_routes(ROUTE_SEEDS, "short")],
    ),
)

MAP_EXPERIMENTS = (
    _experiment(
        "error-maps",
        error_maps.error_maps,
        [{"supports": list(range(24)), "steps": 600, "seeds": [0]}],
        [{"supports": list(range(60)), "steps": 3000, "seeds": [0, 1]}],
    ),
)

# ---------------------------------------------------------------------------- assumptions and penalties, small

#: Support, model, renderer; each beside the decoder with the true rule, a smooth world and a component for each slot.
ASSUMED = (
    ("orthogonal", "compositional", "smooth"),
    ("orthogonal", "additive", "smooth"),
    ("orthogonal", "compositional", "in steps"),
    ("orthogonal gap", "compositional", "smooth"),
    ("orthogonal gap", "shared", "smooth"),
)


def _assumptions(**more: Any) -> Settings:
    return [
        {**TINY, "tests": 5000, "support": name, "model": model, "targets": "soft", "renderer": renderer, **more}
        for name, model, renderer in ASSUMED
    ]


def _penalties(steps: int, seeds: Sequence[int]) -> Settings:
    shared = {"samples": 1024, "batch": 64, "rate": 3e-3, "candidates": 100, "steps": steps, "seeds": list(seeds)}
    weights = {"none": 0.0, "contrast": 0.5, "none, tanh": 0.0, "second derivatives, tanh": 0.5}
    return [{**shared, "penalty": name, "weight": weights[name]} for name in PENALTIES]


SMALL_EXPERIMENTS = (
    _experiment(
        "assumptions",
        assumptions.assumptions,
        _assumptions(steps=300, samples=1000, seeds=[0, 1]),
        _assumptions(seeds=THREE_SEEDS),
    ),
    _experiment("penalties", penalised_readers, _penalties(200, [0]), _penalties(600, [0, 1])),
)

# ---------------------------------------------------------------------------- lost slots, small

#: Learning rates at which many and few of the small convolutional decoders lose a slot.
FAST_RATE, SLOW_RATE = 0.03, 0.01
SLOT_SUPPORTS = (*NARROW_BANDS, "diagonal 0.2", "orthogonal")
#: Gate, learning rate, precision and supports; the first is what the others are compared with.
SLOT_CASES = (
    ("soft", FAST_RATE, "float32", SLOT_SUPPORTS),
    ("soft", SLOW_RATE, "float32", SLOT_SUPPORTS),
    ("soft with a floor", FAST_RATE, "float32", SLOT_SUPPORTS),
    ("opacity", FAST_RATE, "float32", SLOT_SUPPORTS),
    ("soft", FAST_RATE, "float64", NARROW_BANDS),
)


def _lost_slots(steps: int, samples: int, tests: int, seeds: Sequence[Sequence[int]]) -> Settings:
    """All cases with the first seeds, then with the next; fifths of the training and its beginning are recorded."""
    shared = {**TINY, "samples": samples, "tests": tests, "batch": 16, "steps": steps, "periods": steps}
    recorded = {0, steps // 40, steps // 10, steps // 4, *range(steps // 5, steps + 1, steps // 5)}
    shared |= {"recorded": sorted(recorded)}
    return [
        {**shared, "support": name, "gate": gate, "rate": rate, "dtype": dtype, "seeds": list(together)}
        for together in seeds
        for gate, rate, dtype, supports in SLOT_CASES
        for name in supports
    ]


SLOT_EXPERIMENTS = (
    _experiment(
        "lost-slots",
        lost_slots.lost_slots,
        _lost_slots(40, 200, 50, [[0, 1]]),
        _lost_slots(400, 4000, 200, [range(10), range(10, 20)]),
    ),
)

EXPERIMENTS = (
    *(*THEORY_EXPERIMENTS, *DECODER_EXPERIMENTS, *ROUTE_EXPERIMENTS, *MAP_EXPERIMENTS),
    *(*SMALL_EXPERIMENTS, *SLOT_EXPERIMENTS),
)
