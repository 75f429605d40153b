"""Planted tables: are shares of variance right, and do their 90 % ranges hold them?

    python benchmarks/shares.py [--tables 60] [--seed 0] [--out results/values/shares.json]

Effects of single factors, of one pair and noise have drawn variances; effects are normal or heavy-tailed, tables are
full or thin, cells have one row or three. A share is that of the drawn effects over the seen cells. Beside ours: shares
of sums of squares (analysis of variance, each factor after the others), and equal shares for all. Tables about which
nothing is said, as no value beats the mean, are left out.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import defaultdict
from pathlib import Path

import numpy as np

import recombine
from recombine.theory.components import fit_components, variance_shares

SHAPES = ((8, 7), (5, 4, 4), (12, 6))
#: Share of cells that are seen, rows of each, and degrees of freedom of effects (inf: normal).
KINDS = {
    "full": (1.0, 1, np.inf),
    "thin": (0.5, 1, np.inf),
    "heavy tails": (0.8, 1, 3.0),
    "three rows": (0.8, 3, np.inf),
}
#: Pairs carry less than single factors in most real tables.
PAIR_LOG_MEAN = -1.5


def planted(
    rng: np.random.Generator, shape: tuple[int, ...], share: float, rows: int, tail: float
) -> tuple[np.ndarray, np.ndarray, dict[tuple[int, ...], float]]:
    """Return cells (n, C), outcomes of rows (n, R), and the true shares of sets."""
    cells = np.indices(shape).reshape(len(shape), -1).T
    cells = cells[rng.random(len(cells)) < share]
    sets: list[tuple[int, ...]] = [(factor,) for factor in range(len(shape))] + [(0, 1)]
    centres = np.append(np.zeros(len(shape)), PAIR_LOG_MEAN)
    total, powers = np.zeros(len(cells)), {}
    for chosen, variance in zip(sets, np.exp(rng.normal(centres, 1.0)), strict=True):
        sizes = [shape[factor] for factor in chosen]
        drawn = rng.normal(size=sizes) if np.isinf(tail) else rng.standard_t(tail, size=sizes) / np.sqrt(3)
        effect = np.sqrt(variance) * drawn[tuple(cells[:, list(chosen)].T)]
        total, powers[chosen] = total + effect, float(effect.var())
    noise = np.exp(rng.normal() / 2) * rng.normal(size=(len(cells), rows))
    powers[()] = float(noise.mean(axis=1).var())
    if len(shape) == 2 and rows == 1:  # the pair and the noise are one
        powers[()] += powers.pop((0, 1))
    return cells, total[:, None] + noise, {chosen: power / sum(powers.values()) for chosen, power in powers.items()}


def squares(cells: np.ndarray, means: np.ndarray, sets: list[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """Return shares of sums of squares: what each set explains beyond all others, and what none does."""

    def design(chosen: tuple[int, ...]) -> np.ndarray:
        _, member = np.unique(cells[:, list(chosen)], axis=0, return_inverse=True)
        return np.eye(member.max() + 1)[member.reshape(-1)]

    def unexplained(members: list[tuple[int, ...]]) -> float:
        matrix = np.hstack([np.ones((len(cells), 1)), *map(design, members)])
        return float(np.square(means - matrix @ np.linalg.lstsq(matrix, means)[0]).sum())

    singles = [chosen for chosen in sets if len(chosen) == 1]
    parts = {}
    for chosen in sets:
        if not chosen:
            continue
        base = [other for other in singles if other != chosen]
        parts[chosen] = max(unexplained(base) - unexplained([*base, chosen]), 0.0)
    parts[()] = unexplained([chosen for chosen in sets if chosen])
    return {chosen: part / (sum(parts.values()) or 1.0) for chosen, part in parts.items()}


def main() -> None:
    """Print errors and how often ranges hold, by kind of table, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=60, help="tables of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="JSON to write")
    options = parser.parse_args()
    records: dict[str, dict[str, float]] = {}
    for kind, (share, rows, tail) in KINDS.items():
        errors, held = defaultdict(list), []
        for number in range(options.tables):
            rng = np.random.default_rng([options.seed, list(KINDS).index(kind), number])
            cells, outcomes, true = planted(rng, SHAPES[number % len(SHAPES)], share, rows, tail)
            means, spread = outcomes.mean(axis=1), outcomes.var(axis=1) * rows
            replicates = (spread, np.full(len(cells), rows - 1.0)) if rows > 1 else None
            fit = fit_components(cells, means, np.full(len(cells), float(rows)), replicates=replicates)
            if not fit.terms:
                continue
            ours = variance_shares(fit)
            mine = dict(zip(ours.sets, ours.share, strict=True))
            ends = dict(zip(ours.sets, zip(ours.low, ours.high, strict=True), strict=True))
            theirs = squares(cells, means, list(true))
            for chosen, value in true.items():
                low, high = ends.get(chosen, (0.0, 0.0))
                held.append(low <= value <= high)
                errors["ours"].append(abs(mine.get(chosen, 0.0) - value))
                errors["sums of squares"].append(abs(theirs[chosen] - value))
                errors["equal"].append(abs(1 / len(true) - value))
        records[kind] = {name: float(np.mean(values)) for name, values in errors.items()} | {
            "in range": float(np.mean(held)), "shares": len(held)
        }  # fmt: skip
        line = ", ".join(f"{name} {records[kind][name]:.3f}" for name in ("ours", "sums of squares", "equal"))
        print(f"{kind}: mean error of a share {line}; in range {records[kind]['in range']:.3f} of {len(held)}")
    if options.out:
        versions = {"python": platform.python_version(), "numpy": np.__version__, "recombine": recombine.__version__}
        head = {
            "command": f"python benchmarks/shares.py --tables {options.tables} --seed {options.seed}",
            "seed": options.seed,
            "versions": versions,
            "device": f"cpu, {platform.machine()}",
        }
        options.out.write_text(json.dumps({**head, "kinds": records}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
