"""How often chances that are too extreme, too timid or shifted are named, and chances that are right are not.

Tables of two classes have 8 x 6 x 5 levels with effects of SD 1.2, 0.8 and 0.6 on log odds, 4 to 14 rows per cell, and
60 % of the cells are trained on; others have fewer cells, few or many rows, or a rare class, and some three classes.
Models give the true chances, or those of log odds that are doubled, halved or shifted, and, for comparison, chances
with errors of their own. Amounts and removals of ``over-confidence`` are those of the doubled log odds.

Bars, set before the stored run: over-confidence is named of at least 90 % of models with doubled log odds, and of at
most 5 % of models that are right anything is.

    python benchmarks/calibration.py --write
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, softmax

import recombine as rc
from recombine.jobs.score import Score, class_designs
from recombine.jobs.score.calibration import Calibration, calibrate
from recombine.jobs.score.held_out import HeldOutCells

RESULTS = Path(__file__).parents[1] / "results" / "score" / "calibration.json"
MIN_NAMED, MAX_FALSE = 0.9, 0.05
SPREADS = (1.2, 0.8, 0.6)
Floats = NDArray[np.float64]
#: Levels, fewest and most rows of a cell, and the log odds of the average cell.
WORLDS = {
    "8 x 6 x 5, 4 to 14 rows": ((8, 6, 5), 4, 14, 0.0),
    "5 x 4 x 3, 4 to 14 rows": ((5, 4, 3), 4, 14, 0.0),
    "8 x 6 x 5, 1 or 2 rows": ((8, 6, 5), 1, 2, 0.0),
    "8 x 6 x 5, rare class": ((8, 6, 5), 4, 14, -2.0),
    "12 x 9 x 7, 2 to 40 rows": ((12, 9, 7), 2, 40, 0.5),
}
MODELS: dict[str, Callable[[Floats], Floats]] = {
    "right": lambda odds: expit(odds),
    "log odds doubled": lambda odds: expit(2 * odds),
    "log odds halved": lambda odds: expit(odds / 2),
    "log odds and 1": lambda odds: expit(odds + 1),
}


def draw(world: str, seed: int) -> tuple[rc.Design, Floats, np.random.Generator]:
    """Return a design of two classes and the true log odds of its held-out cells, (H,)."""
    (sizes, fewest, most, base), rng = WORLDS[world], np.random.default_rng([seed, list(WORLDS).index(world)])
    cells = np.indices(sizes).reshape(3, -1).T
    effects = [spread * rng.normal(size=size) for size, spread in zip(sizes, SPREADS, strict=True)]
    odds = base + np.sum([levels[cells[:, at]] for at, levels in enumerate(effects)], axis=0)
    row = np.repeat(np.arange(len(cells)), rng.integers(fewest, most + 1, len(cells)))
    y = (rng.random(len(row)) < expit(odds[row])).astype(float)
    train = (rng.random(len(cells)) < 0.6)[row]
    design = rc.Design.from_cells(cells[row], y, train=train, names=list("abc"), sizes=sizes)
    return design, odds[np.ravel_multi_index(tuple(design.held_out.T), sizes)], rng


def draw_classes(seed: int) -> tuple[HeldOutCells, Floats]:
    """Return held-out cells of three classes and their true log odds, (H, 3)."""
    rng = np.random.default_rng([seed, 99])
    cells = np.indices((8, 6, 5)).reshape(3, -1).T
    effects = [spread * rng.normal(size=(size, 3)) for size, spread in zip((8, 6, 5), SPREADS, strict=True)]
    odds = np.sum([levels[cells[:, at]] for at, levels in enumerate(effects)], axis=0)
    row = np.repeat(np.arange(len(cells)), rng.integers(4, 15, len(cells)))
    drawn = (rng.random(len(row))[:, None] > softmax(odds, axis=1).cumsum(axis=1)[row]).sum(axis=1)
    frame = pd.DataFrame(cells[row], columns=list("abc")).assign(y=np.array(["p", "q", "r"])[drawn])
    frame["part"] = np.where(rng.random(len(cells)) < 0.6, "train", "test")[row]
    designs = class_designs(frame, factors=list("abc"), outcome="y", split="part=train", as_levels=list("abc"))
    audits = tuple(rc.audit(design, structure="add") for design in designs.values())
    first = audits[0].design
    held = HeldOutCells(audits, audits[0].decided.verdicts_of(first.held_out), None, None, tuple(designs))
    labels = np.stack([np.asarray(column, dtype=int) for column in first.space.decode(first.held_out).values()], axis=1)
    return held, odds[np.ravel_multi_index(tuple(labels.T), (8, 6, 5))]


def named(calibration: Calibration | None) -> list[str]:
    """Return what is said of a model's chances."""
    if calibration is None:
        return ["not told"]
    said = {
        "over-confident": calibration.over_confident,
        "under-confident": calibration.under_confident,
        "too high": calibration.too_high,
        "too low": calibration.too_low,
    }
    return [name for name, holds in said.items() if holds]


def count(runs: int) -> dict[str, dict[str, dict[str, int]]]:
    """Return by world and model how often each thing was said, and how often a range held the true slope."""
    counts: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))

    def add(world: str, model: str, calibration: Calibration | None, slope: float) -> None:
        entry = counts[world][model]
        entry["models"] += 1
        for name in named(calibration) or ["nothing"]:
            entry[name] += 1
        if calibration is not None:
            entry["slope in range"] += calibration.slope.low <= slope <= calibration.slope.high

    slopes = {"right": 1.0, "log odds doubled": 0.5, "log odds halved": 2.0, "log odds and 1": 1.0}
    for seed in range(runs):
        for world in WORLDS:
            design, odds, _ = draw(world, seed)
            audit = rc.audit(design, structure="add")
            held = HeldOutCells((audit,), audit.decided.verdicts_of(design.held_out), None, None)
            for model, chances in MODELS.items():
                fit = calibrate(held, chances(odds)[:, None])
                add(world, model, fit[0] if fit else None, slopes[model])
        held, odds = draw_classes(seed)
        for model, factor in {"right": 1.0, "log odds doubled": 2.0, "log odds halved": 0.5}.items():
            fit = calibrate(held, softmax(factor * odds, axis=1))
            add("three classes", model, fit[0] if fit else None, slopes[model])
    return {world: {model: dict(entry) for model, entry in models.items()} for world, models in counts.items()}


def causes(runs: int) -> dict[str, object]:
    """Return what models with doubled log odds, right ones and ones with errors of their own are told as causes."""
    world = next(iter(WORLDS))
    main: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    shares, held, removed = [], [0, 0], [0, 0]
    for seed in range(runs):
        design, odds, rng = draw(world, 10_000 + seed)
        own = np.clip(expit(odds) + 0.1 * rng.normal(size=len(odds)), 0.001, 0.999)
        scored = rc.score(design, {"right": expit(odds), "doubled": expit(2 * odds), "own errors": own})
        for model in scored.models:
            clear = {name: amount for name, amount in model.causes.items() if name in model.removals and amount.low > 0}
            told = {name: amount.value for name, amount in clear.items()}
            main[model.name][max(told, key=lambda name: told[name]) if told else "none"] += 1
        _count_amounts(scored, odds, expit(2 * odds), held, removed)
        shares.append({name: scored.models[1].share(amount.value) for name, amount in scored.models[1].causes.items()})
    names = list(dict.fromkeys(name for each in shares for name in each))
    return {
        "runs": runs,
        "largest cause of the model's own beyond chance": {name: dict(each) for name, each in main.items()},
        "mean share of the error, log odds doubled": {
            name: round(float(np.mean([each.get(name, 0.0) for each in shares])), 3) for name in names
        },
        "amount of over-confidence in its 95 % range": f"{held[0]} of {held[1]}",
        "what undoing it removes in its 95 % range": f"{removed[0]} of {removed[1]}",
    }


def _count_amounts(scored: Score, odds: Floats, told: Floats, held: list[int], removed: list[int]) -> None:
    """Count true amounts and removals in their ranges: chances beyond the true ones, times the error."""
    model = scored.models[1]
    if "over-confidence" not in model.causes:
        return
    chosen = scored.codes == rc.Verdict.DETERMINED
    beyond, error = (told - expit(odds))[chosen], (told - scored.observed[:, 0])[chosen]
    true = float(np.mean(beyond * error))
    gone = float(np.mean(error**2 - (error - beyond) ** 2))
    for counted, amount, value in ((held, model.causes, true), (removed, model.removals, gone)):
        counted[0] += amount["over-confidence"].low <= value <= amount["over-confidence"].high
        counted[1] += 1


def main() -> None:
    """Count what is named, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--causes", type=int, default=40, help="runs of which causes are told")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    counted = count(options.runs)
    right = [entry["right"] for entry in counted.values()]
    false = sum(entry["models"] - entry.get("nothing", 0) - entry.get("not told", 0) for entry in right)
    doubled = counted[next(iter(WORLDS))]["log odds doubled"]
    record = {
        "command": f"python benchmarks/calibration.py --runs {options.runs} --causes {options.causes} --write",
        "versions": {name: version(name) for name in ("numpy", "scipy", "recombine")},
        "python": platform.python_version(),
        "seed": 0,
        "device": "cpu",
        "right models": sum(entry["models"] for entry in right),
        "of these named anything": false,
        "doubled": doubled["models"],
        "of these named over-confident": doubled.get("over-confident", 0),
        "bars held": {
            "named": doubled.get("over-confident", 0) >= MIN_NAMED * doubled["models"],
            "false": false <= MAX_FALSE * sum(entry["models"] for entry in right),
        },
        "by world": counted,
        "causes": causes(options.causes),
    }
    print(json.dumps(record, indent=1))
    if options.write:
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
