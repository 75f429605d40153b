"""How often a model that has seen the measurements is told from its error below their noise, and how often others are.

Worlds have 12 x 10 x 8 cells, of which 10 to 300 are held out, each measured 2 to 10 times, with noise of several
kinds. Clean models: the truth itself, whose error is just that noise; least squares, and ridge, fitted to seen cells.
Models that saw the measurements are the truth, pulled by 60 to 100 % of the way towards the measured means.

Bars, set before the stored run: of at least 3,000 clean models at most 1 in 500 is accused; of those pulled by 60 % or
more, on 30 cells or more, 95 % are told.

    python benchmarks/below_noise.py --write
    python benchmarks/below_noise.py --quick
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import recombine as rc
from recombine.jobs.score.below_noise import below_noise

RECORD = Path(rc.__file__).parent / "data" / "hit_rates.json"
RESULTS = Path(__file__).parents[1] / "results" / "score" / "below_noise.json"
MAX_FALSE, MIN_FOUND, MIN_CELLS = 1 / 500, 0.95, 30
SIZES, SEEN = (12, 10, 8), 200
CELLS, REPLICATES, PULLS = (10, 30, 100, 300), ("2", "3", "5", "2 to 10"), (0.6, 0.7, 0.8, 1.0)
CLEAN = ("truth", "least squares", "ridge")
#: Penalty of the ridge, in cells.
PENALTY = 20.0
Floats = NDArray[np.float64]
Row = dict[str, object]


@dataclass(frozen=True)
class Kind:
    """Noise: its shape, the spread of its logarithmic size over cells, and what a row of the table is."""

    name: str
    shape: str = "normal"
    spread: float = 0.0
    rows: str = "measurements"


KINDS = (
    Kind("normal"),
    Kind("normal, sizes differ", spread=0.7),
    Kind("Laplace", "Laplace"),
    Kind("t3", "t3"),
    Kind("t3, sizes differ", "t3", 0.7),
    Kind("lognormal", "lognormal"),
    Kind("lognormal, sizes differ", "lognormal", 0.7),
    Kind("uniform", "uniform"),
    Kind("normal, rows are means", rows="means"),
    Kind("two values", rows="two values"),
)


def draw_noise(shape: str, rng: np.random.Generator, count: int) -> Floats:
    """Return noise of mean 0, (count,)."""
    drawn: Floats = {
        "normal": lambda: rng.normal(size=count),
        "Laplace": lambda: rng.laplace(size=count),
        "t3": lambda: rng.standard_t(3, size=count),
        "lognormal": lambda: np.exp(rng.normal(size=count)) - np.exp(0.5),
        "uniform": lambda: rng.uniform(-1.7, 1.7, count),
    }[shape]()
    return drawn


def draw_world(kind: Kind, cells: int, replicates: str, seed: list[int]) -> tuple[rc.Design, Floats]:
    """Return a design and the truth at its held-out cells, (H,)."""
    rng = np.random.default_rng(seed)
    every = np.indices(SIZES).reshape(3, -1).T
    chosen = every[rng.choice(len(every), SEEN + cells, replace=False)]
    truth = np.sum([rng.normal(size=size)[chosen[:, at]] for at, size in enumerate(SIZES)], axis=0)
    if kind.rows == "two values":
        truth = np.clip(0.5 + 0.16 * truth, 0.03, 0.97)
    count = rng.integers(2, 11, len(chosen)) if replicates == "2 to 10" else np.full(len(chosen), int(replicates))
    row = np.repeat(np.arange(len(chosen)), count)
    weight = rng.integers(1, 6, len(row)) if kind.rows == "means" else np.ones(len(row))
    size = np.exp(kind.spread * rng.normal(size=len(chosen)))[row] / np.sqrt(weight)
    values = truth[row] + size * draw_noise(kind.shape, rng, len(row))
    if kind.rows == "two values":
        values = (rng.random(len(row)) < truth[row]).astype(float)
    frame = pd.DataFrame({name: [f"{name}{level}" for level in chosen[row, at]] for at, name in enumerate("abc")})
    frame["y"], frame["n"], frame["part"] = values, weight, np.where(row < SEEN, "train", "test")
    means = {"weight": "n", "counts": False} if kind.rows == "means" else {}
    design = rc.Design.from_frame(frame, factors=list("abc"), outcome="y", split="part=train", **means)
    number = {tuple(cell): position for position, cell in enumerate(chosen.tolist())}
    labels = [
        [factor.labels[code] for factor, code in zip(design.factors, cell, strict=True)] for cell in design.held_out
    ]
    return design, truth[[number[tuple(int(label[1:]) for label in cell)] for cell in labels]]


def fitted(design: rc.Design, penalty: float) -> Floats:
    """Return what adding effects, fitted to the seen cells with a ridge, says of the held-out ones, (H,)."""
    offsets = np.concatenate([[0], np.cumsum(design.sizes)])
    cells = design.cells[:, :, None] + offsets[None, : len(design.sizes), None]
    columns = (cells == np.arange(offsets[-1])).any(axis=1).astype(float)
    train, outcome = design.train, np.asarray(design.outcome)
    mean = outcome[train].mean()
    normal = columns[train].T @ columns[train] + max(penalty, 1e-6) * np.eye(columns.shape[1])
    effects = np.linalg.solve(normal, columns[train].T @ (outcome[train] - mean))
    said: Floats = mean + columns[~train] @ effects
    return said


def trials(runs: int) -> list[Row]:
    """Return one row per model: its world, whether it has seen the measurements, and what was said."""
    rows: list[Row] = []
    for number, kind in enumerate(KINDS):
        for cells in CELLS:
            for replicates in REPLICATES:
                for run in range(runs):
                    design, truth = draw_world(
                        kind, cells, replicates, [run, number, cells, REPLICATES.index(replicates)]
                    )
                    rows += [
                        {"noise": kind.name, "cells": cells, "rows": replicates, "run": run} | row
                        for row in models(design, truth)
                    ]
        print(kind.name, flush=True)
    return rows


def models(design: rc.Design, truth: Floats) -> Iterable[Row]:
    """Score the clean models of a world and those that have seen its measurements."""
    held = np.flatnonzero(~design.train)
    observed = np.asarray(design.outcome)[held]
    clean = dict(zip(CLEAN, (truth, fitted(design, 0.0), fitted(design, PENALTY)), strict=True))
    for name, predicted in clean.items():
        yield {"model": name, "pull": 0.0, "raised": below_noise(predicted[:, None], [design], held) is not None}
    for pull in PULLS:
        pulled = truth + pull * (observed - truth)
        yield {"model": "truth", "pull": pull, "raised": below_noise(pulled[:, None], [design], held) is not None}


def share(among: Iterable[Row], **wanted: object) -> str:
    """Return how many of the rows with these values were raised."""
    chosen = [bool(row["raised"]) for row in among if all(row[name] == value for name, value in wanted.items())]
    return f"{sum(chosen)} of {len(chosen)}"


def main() -> None:
    """Count false alarms and what is told, by size and noise, and write both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="one run of each world")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = trials(1 if options.quick else options.runs)
    clean = [row for row in rows if not row["pull"]]
    seen = [row for row in rows if row["pull"]]
    large = [row for row in seen if int(str(row["cells"])) >= MIN_CELLS]
    false, told = sum(bool(row["raised"]) for row in clean), sum(bool(row["raised"]) for row in large)
    by_size = [
        {
            "cells": cells,
            "rows": count,
            **{f"pull {pull}": share(seen, cells=cells, rows=count, pull=pull) for pull in PULLS},
        }
        for cells in CELLS
        for count in REPLICATES
    ]
    by_noise = [
        {
            "noise": kind.name,
            "false": share(clean, noise=kind.name),
            "told on 30 cells or more": share(large, noise=kind.name),
        }
        for kind in KINDS
    ]
    summary = {
        "clean": len(clean),
        "accused": false,
        "accused by model": {name: share(clean, model=name) for name in CLEAN},
        "saw the measurements, 30 cells or more": len(large),
        "told": told,
        "bars held": {"accused": false <= MAX_FALSE * len(clean), "told": told >= MIN_FOUND * len(large)},
    }
    print(json.dumps([summary, *by_size, *by_noise], indent=1))
    if options.write:
        record = {
            "command": f"python benchmarks/below_noise.py --runs {options.runs} --write",
            "versions": {name: version(name) for name in ("numpy", "scipy", "recombine")},
            "python": platform.python_version(),
            "seed": 0,
            "device": "cpu",
            **summary,
            "by size": by_size,
            "by noise": by_noise,
        }
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        rates = json.loads(RECORD.read_text(encoding="utf-8"))
        rates["sentences"]["less error than noise"] = {
            "says": "silent about a model that has not seen the measurements",
            "right": len(clean) - false,
            "of": len(clean),
            "measure": f"raised for {told} of {len(large)} pulled towards them by 60 to 100 %, on 30 cells or more",
        }
        RECORD.write_text(json.dumps(rates, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
