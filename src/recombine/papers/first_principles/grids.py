"""First principles: the grids of the decoder experiments.

``quick`` trains small networks on blobs of 12 pixels ("tiny"). ``full`` trains the paper's models on its sprites, in
order of cost: for 3,300 steps ("short", the first part of the paper's schedule), for 19,600 steps with the schedule
squeezed into them ("annealed"), and for the paper's 392,000 ("full"). Every row says which it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recombine.papers.first_principles.experiments import checks, decoders, pictures
from recombine.papers.first_principles.experiments.theory import EXPERIMENTS as THEORY_EXPERIMENTS
from recombine.runs.experiment import Experiment

Settings = list[dict[str, Any]]
NAME = "first-principles"

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
    """One unit a row of the table; whether RGBa collapses depends on the seed, so it gets all five."""
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
    Experiment(f"{NAME}/decoders", decoders.decoders, quick=_blobs(TABLE), full=FULL),
    Experiment(
        f"{NAME}/additive",
        decoders.additive,
        quick=ADDITIVE,
        full=[{**setting, "seeds": ALL_SEEDS} for setting in ADDITIVE],
    ),
    Experiment(
        f"{NAME}/pictures",
        pictures.pictures,
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
