"""First principles: every experiment, its unit function and its settings.

Of the decoders ``quick`` trains small ones on blobs of 12 pixels ("tiny"). ``full`` trains the paper's models on its
sprites, in order of cost: for 3,300 steps ("short", the first part of the paper's schedule), for 19,600 steps with the
schedule squeezed into them ("annealed"), and for the paper's 392,000 ("full"). Every row says which it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recombine.papers.first_principles.experiments import (
    checks,
    decoders,
    pictures,
    ranks,
    simulation,
    theory,
)
from recombine.runs.experiment import Experiment

Settings = list[dict[str, Any]]
NAME = "first-principles"

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


THEORY_EXPERIMENTS = (
    Experiment(
        f"{NAME}/visibility",
        ranks.visibility,
        quick=_visibility({0.02: 60, 0.05: 300, 0.1: 60, 0.2: 60}),
        full=_visibility(dict.fromkeys((0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2), 2000)),
    ),
    Experiment(f"{NAME}/ranks", ranks.ranks, quick=_ranks(4, 32), full=_ranks(50, 128)),
    Experiment(
        f"{NAME}/rank-maps",
        ranks.rank_maps,
        quick=[{"probes": 12, "combinations": 32}],
        full=[{"probes": 200, "combinations": 64}],
    ),
    Experiment(f"{NAME}/sketches", ranks.sketches, quick=_sketches(120, 2), full=_sketches(300, 50)),
    Experiment(f"{NAME}/determinants", theory.determinants, quick=[{"pixels": 200}], full=[{"pixels": 20_000}]),
    Experiment(
        f"{NAME}/anchor-counts",
        theory.anchor_counts,
        quick=[{"outputs": [1, 2, 3, 4, 6, 8], "seeds": list(range(20))}],
        full=[{"outputs": [1, 2, 3, 4, 6, 8], "seeds": list(range(500))}],
    ),
    Experiment(f"{NAME}/grid-table", theory.grid_table, quick=[{}], full=[{}]),
    Experiment(f"{NAME}/finite-grids", theory.finite_grids, quick=_seed_blocks(240, 60), full=_seed_blocks(4000, 200)),
    Experiment(
        f"{NAME}/reconstruction",
        theory.reconstruction,
        quick=[{"side": 4, "seeds": [0, 1, 2]}],
        full=[{"side": 12, "seeds": list(range(20))}],
    ),
    Experiment(
        f"{NAME}/simulation",
        simulation.simulation,
        quick=[{"low": -1.0, "samples": 4096, "steps": 1000, "candidates": 100, "seeds": [0, 1]}],
        full=[
            {"low": low, "samples": 4096, "steps": 4000, "candidates": 7500, "seeds": list(range(5))}
            for low in (-1.0, 0.0)
        ],
    ),
)

# ---------------------------------------------------------------------------- decoders

SPRITES = {"world": "sprites", "samples": 100_000, "tests": 10_000, "batch": 512, "rate": 1e-3} | {
    "weight decay": 1e-5,
    "every": 196,
    "floor": 0.01,
    "dtype": "bfloat16",
}
LENGTHS = {
    "short": {"scale": "short", "steps": 3300, "periods": 2000},
    "annealed": {"scale": "annealed", "steps": 19_600, "periods": 100},
    "full": {"scale": "full", "steps": 392_000, "periods": 2000},
}
TINY = {"world": "blobs", "scale": "tiny", "samples": 8000, "tests": 2000, "steps": 2000, "batch": 64} | {
    "rate": 4e-3,
    "weight decay": 0.01,
    "every": 1,
    "periods": 2000,
    "floor": 0.0,
    "dtype": "float32",
    "seeds": [0, 1],
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
SEEDS, ALL_SEEDS = [0, 1, 2], [0, 1, 2, 3, 4]
#: On blobs the rows that decide most, the first four, and this one get two seeds; one is enough to show the others.
MAJOR = (*TABLE[:4], ("orthogonal*", "compositional"))
#: What pictures are shown of.
SHOWN = (
    ("orthogonal", "compositional"),
    ("orthogonal", "monolithic"),
    ("orthogonal", "rgba"),
    ("orthogonal gap", "compositional"),
    ("orthogonal*", "compositional"),
)


def _sprites(length: str, rows: Sequence[tuple[str, str]], seeds: Sequence[int], targets: str = "hard") -> Settings:
    """One unit per row of the table; whether RGBa collapses depends on the seed, so it gets all five."""
    shared: Mapping[str, Any] = {**SPRITES, **LENGTHS[length], "targets": targets}
    return [
        {**shared, "support": name, "model": model, "seeds": ALL_SEEDS if model == "rgba" else list(seeds)}
        for name, model in rows
    ]


def _blobs(rows: Sequence[tuple[str, str]]) -> Settings:
    """The same on blobs; an RGBa model gets targets composed its way."""
    return [
        {**TINY, "support": name, "model": model, "targets": "rgba" if model == "rgba" else "soft"}
        | {"seeds": [0, 1] if (name, model) in MAJOR else [0]}
        for name, model in rows
    ]


FULL = [
    *_sprites("short", TABLE, SEEDS),
    *_sprites("short", [("orthogonal", "rgba sigmoid")], SEEDS),
    *_sprites("short", [("orthogonal", "compositional")], SEEDS, targets="soft"),
    *_sprites("annealed", TABLE, SEEDS),
    *_sprites("full", TABLE, ALL_SEEDS),
]
ADDITIVE = [{**TINY, "support": name, "model": "additive", "targets": "add"} for name in ("orthogonal", "orthogonal*")]
#: On a CPU: convolutions of a GPU may round to ten bits (TF32), which would be all the difference there is.
OUTPUTS = [{"images": 16, "seeds": SEEDS}]

DECODER_EXPERIMENTS = (
    Experiment(f"{NAME}/decoders", decoders.decoder_scores, quick=_blobs(TABLE), full=FULL),
    Experiment(
        f"{NAME}/additive",
        decoders.additive,
        quick=ADDITIVE,
        full=[{**setting, "seeds": ALL_SEEDS} for setting in ADDITIVE],
    ),
    Experiment(
        f"{NAME}/pictures",
        pictures.slot_pictures,
        quick=[
            {**setting, "steps": 800, "periods": 800, "seeds": [0]}
            for setting in _blobs(SHOWN)
            if setting["model"] != "rgba"
        ],
        full=[{**setting, "seeds": [0]} for setting in _sprites("short", SHOWN, [0])],
    ),
    Experiment(
        f"{NAME}/collapse",
        checks.collapse,
        quick=[{"images": 64, "seeds": ALL_SEEDS}],
        full=[{"images": 64, "seeds": list(range(20))}],
    ),
    Experiment(
        f"{NAME}/targets",
        checks.targets,
        quick=[{"support": name, "images": 3000} for name in ("random", "orthogonal", "orthogonal*")],
        full=[{"support": name, "images": 20_000} for name in ("random", "orthogonal", "orthogonal*")],
    ),
    Experiment(
        f"{NAME}/renderer",
        checks.renderer,
        quick=[{"images": 500, "seeds": [0]}],
        full=[{"images": 6000, "seeds": [0]}],
    ),
    Experiment(f"{NAME}/outputs", checks.outputs, quick=OUTPUTS, full=OUTPUTS),
    Experiment(
        f"{NAME}/upsampling",
        checks.upsampling,
        quick=[{"batch": 16, "repeats": 2, "dtype": "float32", "seeds": [0]}],
        full=[{"batch": 512, "repeats": 50, "dtype": "bfloat16", "seeds": [0, 1, 2]}],
    ),
)

EXPERIMENTS = (*THEORY_EXPERIMENTS, *DECODER_EXPERIMENTS)
