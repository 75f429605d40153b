"""How often the score's ranges of amounts hold where two causes are planted at once, beside one at a time.

Tables are unlike each other: normal noise, heavy tails (noise and interactions of Student's law with 2.5 degrees of
freedom), two values, and counts; each with 24 and with 100 scored cells, about one in ten of the unseen ones. A model
is what the seen cells say, with one or two causes added in known amounts; with ``smooth`` it is what they would say if
they had been measured without noise, so that it carries none of theirs. The true amount of a cause is that over all
unseen determined cells of the table, with the seen cells as they were measured.

Ranges were mended on the development half of the seeds, whose stored numbers are from before; the final half was
looked at once.

    python benchmarks/paired_causes.py --runs 8 --half development --write
    python benchmarks/paired_causes.py --runs 2 --half final --write
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import recombine as rc
from planted_models import MODELS, Floats, Kind, World, draw_world, planted_amounts
from recombine.jobs.score.determined import held_out_noise, regressors_of
from recombine.jobs.score.held_out import HeldOutCells
from recombine.jobs.score.model_score import ModelScore, model_scores
from recombine.verdicts import Verdict

Row = dict[str, Any]
RESULTS = Path(__file__).parents[1] / "results" / "score" / "paired_causes.json"
#: The first run of each half, and of the streams of random numbers, which no other benchmark has.
HALVES, FIRST_STREAM = {"development": 0, "final": 10_000}, 700
SIZES = {
    "24 cells": {"sizes": (8, 7, 6), "much": 0.4, "held_out": 24},
    "100 cells": {"sizes": (14, 12, 10), "much": 0.5, "held_out": 100},
}
KINDS = (
    Kind("normal", 0.3, 0.5),
    Kind("heavy tails", 0.3, 0.5, tails=2.5),
    Kind("two values", 0.0, 0.5, chances=True),
    Kind("counts", 0.0, 0.5, counts=True),
)
#: Interactions are the world's, and noise of the seen cells is large where these are in a pair; others are the model's.
OF_WORLD = ("structure", "seen noise")
#: Rows of a cell at most, and noise of a measurement in times of the kind's, without and with seen noise planted.
ROWS, TIMES_NOISE = {False: 8, True: 2}, {False: 1.0, True: 3.0}
ADDED: dict[str, Callable[[World], Floats]] = {
    "leak": lambda world: -0.4 * world.told.effects[:, 1],
    "shortcut": lambda world: 0.5 * world.told.misleading[:, 0],
    "memorization": lambda world: MODELS["memorized pairs"](world)["memorization"],
    "offset": lambda world: np.full(len(world.unseen), 0.4 * world.kind.scale),
    "rest": lambda world: 0.4 * world.kind.scale * world.rng.normal(size=len(world.unseen)),
}
CAUSES = (*OF_WORLD, *ADDED)
PAIRS = tuple(itertools.combinations(CAUSES, 2))
SINGLE = tuple((cause,) for cause in CAUSES)
SMOOTH = (("seen noise", "smooth"), *((cause, "smooth") for cause in ("structure", "leak", "shortcut", "rest")))


def count(runs: range) -> list[Row]:
    """Return, for each told cause of each planted model, its true amount beside what the score says."""
    rows: list[Row] = []
    tables = list(itertools.product(KINDS, SIZES.items(), (False, True), (False, True)))
    for (stream, (kind, (size, fields), structure, noisy)), run in itertools.product(enumerate(tables), runs):
        kind_drawn = replace(
            kind,
            noise=kind.noise * TIMES_NOISE[noisy],
            interaction=kind.interaction * structure,
            most_rows=ROWS[noisy],
            **fields,
        )
        world = draw_world(kind_drawn, run, FIRST_STREAM + stream)
        planted = {cause for cause, there in zip(OF_WORLD, (structure, noisy), strict=True) if there}
        for row in _of_world(world, planted):
            rows.append({"table": kind.name, "cells": size, "run": run} | row)
    return rows


def _of_world(world: World, planted: set[str]) -> Iterator[Row]:
    """Yield the rows of every model that has one or two causes together with what is ``planted`` in the world."""
    groups = [group for group in (*SINGLE, *PAIRS, *SMOOTH) if set(group) & set(OF_WORLD) == planted]
    parts = {group: _parts(world, group) for group in groups}
    held_out = _held_out(world)
    for group in groups:
        name = " + ".join(group)
        predicted = world.at_held_out(world.told.whole + sum(parts[group].values()))
        (model,) = model_scores(held_out, {name: predicted[:, None]}, seed=0)
        yield from ({"planted": name} | row for row in _amounts(world, model, parts[group]))


def _held_out(world: World) -> HeldOutCells:
    """Return the held-out cells as a score has them, but for forecasts, which would take most of the time."""
    audit = rc.audit(world.design, structure="add", seed=0)
    codes = audit.decided.verdicts_of(world.design.held_out)
    rows = np.flatnonzero(~world.design.train)[codes == Verdict.DETERMINED]
    adding = audit.values.certified_of(world.design.cells[rows])[:, None] - world.design.outcome[rows, None]
    return HeldOutCells(
        (audit,),
        codes,
        regressors_of((audit,), world.design.cells[rows]),
        held_out_noise((audit,), rows),
        misses_beside={"adding": adding},
    )


def _parts(world: World, group: Sequence[str]) -> dict[str, Floats]:
    parts = MODELS["exact"](world)
    if "smooth" not in group:
        return parts | {cause: ADDED[cause](world) for cause in group if cause in ADDED}
    # Causes of a model that carries no noise are made of effects without noise, too.
    quiet = replace(world)
    quiet.__dict__["told"] = world.noiseless
    parts |= {cause: ADDED[cause](quiet) for cause in group if cause in ADDED}
    return parts | {"rest": parts["rest"] + world.noiseless.whole - world.told.whole}


def _amounts(world: World, model: ModelScore, parts: dict[str, Floats]) -> Iterator[Row]:
    truth = planted_amounts(world, parts)
    assert model.attribution is not None
    error = model.attribution.error.value
    if "seen noise" not in model.causes:
        truth["structure"] += truth.pop("seen noise")
    for cause, amount in model.causes.items():
        true = truth.get(cause, 0.0)
        # The weak ridge moves amounts that have no other spread by less than a thousandth of the error.
        side = -1 if true < amount.low - 1e-3 * error else int(true > amount.high + 1e-3 * error)
        yield {
            "cause": cause,
            "side": side,
            "off": round((amount.value - true) / error, 4),
            "width": round((amount.high - amount.low) / error, 4),
            "true": round(true / error, 4),
        }


def rates(rows: Sequence[Row], *keys: str) -> dict[str, dict[str, float]]:
    """Return by the values of ``keys`` how often ranges held, how often they lay above and below, and their width."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(", ".join(str(row[key]) for key in keys), []).append(row)
    return {
        name: {
            "held": round(float(np.mean([row["side"] == 0 for row in mine])), 4),
            "of": len(mine),
            "range above": sum(row["side"] < 0 for row in mine),
            "range below": sum(row["side"] > 0 for row in mine),
            "median width": round(float(np.median([row["width"] for row in mine])), 3),
        }
        for name, mine in found.items()
    }


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return rates by number of causes, by table and by what was planted, of all causes and of planted ones."""
    kinds = {
        "one cause": [row for row in rows if " + " not in row["planted"]],
        "two causes": [row for row in rows if " + " in row["planted"] and "smooth" not in row["planted"]],
        "carries no seen noise": [row for row in rows if "smooth" in row["planted"]],
    }
    return {
        name: {
            "by cause": rates(mine, "cause"),
            "by table": rates(mine, "table", "cells"),
            "by planted": rates(mine, "planted"),
            "by table and planted": rates(mine, "table", "cells", "planted"),
            "planted causes": rates([row for row in mine if row["cause"] in row["planted"].split(" + ")], "cause"),
            "all": rates([row | {"all": "all"} for row in mine], "all")["all"],
        }
        for name, mine in kinds.items()
    }


def _print(found: dict[str, Any]) -> None:
    for name, tables in found.items():
        print(f"{name}: {tables['all']['held']:.1%} of {tables['all']['of']}")
        for title in ("by cause", "planted causes", "by table", "by planted"):
            print(f"  {title}")
            for key, rate in tables[title].items():
                sides = f"above {rate['range above']}, below {rate['range below']}, width {rate['median width']}"
                print(f"    {key:34} {rate['held']:6.1%} of {rate['of']:5} ({sides})")


def main() -> None:
    """Count one half of the seeds."""
    parser = argparse.ArgumentParser(description="How often ranges of amounts hold where two causes are planted.")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--half", choices=tuple(HALVES), default="development")
    parser.add_argument("--write", action="store_true", help="store what was counted, beside the other half")
    asked = parser.parse_args()
    first = HALVES[asked.half]
    found = summary(count(range(first, first + asked.runs)))
    _print(found)
    if asked.write:
        stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        record = {
            "command": f"python benchmarks/paired_causes.py --runs {asked.runs} --half {asked.half} --write",
            "versions": {name: version(name) for name in ("numpy", "scipy", "recombine")},
            "python": platform.python_version(),
        }
        stored[asked.half] = record | found
        RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
