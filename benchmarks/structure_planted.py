"""Planted tables of every structure: how often is it chosen, how far are its values off, how long does the search take?

``python benchmarks/structure_planted.py --seed 0`` plants every structure in tables of several shapes with little and
with much noise, and chooses from six tenths of the cells. Printed for each: how often which structure was chosen,
median error of its values at unseen cells as a share of what differs between these, mean and largest seconds of CPU.
Last the tables of counts of ``benchmarks/value_counts.py``: how often effects are said to multiply.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from recombine.design import Design
from recombine.jobs.structure import choose_structure
from recombine.theory.structures import STRUCTURES, StructureData
from value_counts import GOAL_ADD, GOAL_MULTIPLY, SEEN_SHARE, planted

SHAPES = ((8, 8), (20, 20), (6, 5, 4), (10, 9, 8), (4, 4, 4, 4, 4), (2,) * 8)
NOISES = (0.1, 0.5)
TABLES = 5
#: Structures under which effects of counts multiply.
MULTIPLIES = ("log", "multiplicative")
World = Callable[[np.ndarray, tuple[int, ...], np.random.Generator], np.ndarray]


def sums(cells: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return sums of effects of single levels, of standard deviation 1."""
    total = np.sum([rng.normal(size=size)[cells[:, factor]] for factor, size in enumerate(shape)], axis=0)
    return (total - total.mean()) / total.std()


def pairs(cells: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return effects of two pairs of levels (one, of two factors), of standard deviation 1."""
    chosen = ((0, 1), (1, 2)) if len(shape) > 2 else ((0, 1),)
    return np.sum([rng.normal(size=(shape[a], shape[b]))[cells[:, a], cells[:, b]] for a, b in chosen], axis=0)


def product(cells: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return products of numbers of either sign."""
    levels = [rng.normal(size=size) + 0.5 for size in shape]
    return np.prod([each[cells[:, factor]] for factor, each in enumerate(levels)], axis=0)


WORLDS: dict[str, World] = {
    "add": sums,
    "log": lambda cells, shape, rng: np.exp(sums(cells, shape, rng)),
    "multiplicative": product,
    "link": lambda cells, shape, rng: np.tanh(1.5 * sums(cells, shape, rng)),
    "pairs": lambda cells, shape, rng: sums(cells, shape, rng) + pairs(cells, shape, rng),
    "link-pairs": lambda cells, shape, rng: np.tanh(sums(cells, shape, rng) + pairs(cells, shape, rng)),
    "logit": lambda cells, shape, rng: 1 / (1 + np.exp(-2 * sums(cells, shape, rng))),
}


def tried(name: str, shape: tuple[int, ...], noise: float, number: int, seed: int) -> dict[str, object]:
    """Plant a structure in one table and choose; return what was chosen, its error at unseen cells, and seconds."""
    rng = np.random.default_rng([seed, list(WORLDS).index(name), len(shape), shape[0], int(10 * noise), number])
    cells = np.indices(shape).reshape(len(shape), -1).T
    truth = WORLDS[name](cells, shape, rng)
    y = truth + noise * truth.std() * rng.normal(size=len(truth))
    if name == "log":
        y = truth * np.exp(noise * rng.normal(size=len(truth)))
    if name == "logit":
        y = (rng.random(len(truth)) < truth).astype(float)
    seen = rng.random(len(cells)) < SEEN_SHARE
    return {"planted": name, "shape": shape, "noise": noise} | chosen(cells, y, truth, seen, shape)


def chosen(
    cells: np.ndarray, y: np.ndarray, truth: np.ndarray, seen: np.ndarray, shape: tuple[int, ...]
) -> dict[str, object]:
    """Choose from seen cells; return the name, the error at the others and seconds."""
    design = Design.from_cells(cells[seen], outcome=y[seen], sizes=shape)
    started = time.process_time()
    choice = choose_structure(design)
    seconds = time.process_time() - started
    fit = choice.fit
    if fit is None:
        fit = STRUCTURES[choice.name].fit(StructureData(design.seen, design.outcome[design.train]))
    away = fit.predict(cells[~seen]) - truth[~seen]
    error = float(np.sqrt(np.nanmean(away**2)) / truth[~seen].std())
    return {"chosen": choice.name, "error": error, "seconds": seconds}


def print_counts(seed: int) -> None:
    """Print how often effects of counts are said to multiply, where they do and where they add."""
    for multiply, goal in ((True, f"at least {GOAL_MULTIPLY}"), (False, f"at most {GOAL_ADD}")):
        names = Counter()
        for number, (cells, rate, counts) in enumerate(planted(multiply, seed)):
            seen = np.random.default_rng([seed, number]).random(len(cells)) < SEEN_SHARE
            sizes = tuple((cells.max(axis=0) + 1).tolist())
            names[chosen(cells, counts, rate, seen, sizes)["chosen"]] += 1
        logs, way = sum(names[name] for name in MULTIPLIES), "multiply" if multiply else "add"
        print(f"counts whose effects {way}: {logs} of {names.total()} said to multiply (goal: {goal}); {dict(names)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", type=int, default=TABLES, help="of each structure, shape and noise")
    parser.add_argument("--json", type=Path, help="write all tables to this file")
    options = parser.parse_args()
    rows = [
        tried(name, shape, noise, number, options.seed)
        for name in WORLDS
        for shape in SHAPES
        for noise in (NOISES if name != "logit" else NOISES[:1])
        for number in range(options.tables)
    ]
    by_name = defaultdict(list)
    for row in rows:
        by_name[row["planted"], row["noise"]].append(row)
    for (name, noise), some in by_name.items():
        names = Counter(row["chosen"] for row in some)
        error = np.median([row["error"] for row in some])
        seconds = [row["seconds"] for row in some]
        print(
            f"{name:<15}{noise:<5}{names[name]:>3} of {len(some)}; error {error:.3f}; seconds {np.mean(seconds):.2f}, "
            f"at most {max(seconds):.2f}; {dict(names.most_common())}"
        )
    right = sum(row["chosen"] == row["planted"] for row in rows)
    print(
        f"all: {right} of {len(rows)}; geometric mean error {np.exp(np.mean(np.log([r['error'] for r in rows]))):.4f}"
    )
    print_counts(options.seed)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
