"""How often findings of a score are false alarms: models that are no worse than adding, and have no cause of their own.

Worlds are those of `planted_models`. Three models are clean in each: one that knows the structure of the seen cells
without their noise, one fitted to other measurements of the same cells, and one that misses by exactly as much as the
determined values do, by errors of its own and as much of the truth. RC601 counts where the true gain over adding is not
below 0. How often RC602 is raised for models with planted faults is counted, too.

    python benchmarks/score_findings.py --runs 50 --write
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

import recombine as rc
from planted_models import KINDS, MODELS, SCALE, Floats, World, draw_world, planted_amounts

RECORD = Path(rc.__file__).parent / "data" / "hit_rates.json"
TRIALS = Path(__file__).parents[1] / "results" / "audit" / "score_findings.json"
#: Size of errors that are the model's own and have no cause, beside effects of size 1.
OWN_ERRORS = 0.3
#: Gains that differ from none by rounding.
ROUNDING = 1e-9
#: Findings and the names of their rates.
CODES = {"RC601": "worse than adding", "RC602": "error of the model's own"}


def without_noise(world: World) -> Floats:
    """Return what the seen cells would say of the unseen ones if they had no noise, (U,)."""
    return world.noiseless.whole


def other_measurements(world: World) -> Floats:
    """Return what the same seen cells say when they are measured once more, as often, (U,)."""
    design = world.design
    truth = world.truth[world.kind.numbers(design.seen)]
    rows = design.precision[design.train]
    if world.kind.chances:
        return world.say(world.rng.binomial(rows.astype(int), truth) / rows).whole
    return world.say(truth + world.kind.noise / np.sqrt(rows) * world.rng.normal(size=len(rows))).whole


def as_good_as_determined(world: World) -> Floats:
    """Return determined values with errors of its own, less as much of theirs: the mean square is the same."""
    truth = world.truth[world.unseen]
    error = world.told.whole - truth
    size = min(OWN_ERRORS * (SCALE if world.kind.chances else 1.0), float(np.sqrt(np.mean(error**2))) / 2)
    drawn = size * world.rng.normal(size=len(truth))
    # mean((share * error + drawn)^2) = mean(error^2), solved for the share of the values' error that stays.
    squares, product, own = np.mean(error**2), np.mean(error * drawn), np.mean(drawn**2)
    share = (-product + np.sqrt(product**2 + squares * (squares - own))) / squares
    return truth + share * error + drawn


CLEAN: dict[str, Callable[[World], Floats]] = {
    "without noise": without_noise,
    "other measurements": other_measurements,
    "as good as determined": as_good_as_determined,
}
FAULTY = ("leak of b", "leak of all", "shortcut a", "leak and shortcut")


def trials(runs: int) -> list[dict[str, object]]:
    """Return for each world, run and model its true gain over adding and the findings that were raised."""
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        for run in range(runs):
            world = draw_world(kind, run)
            audit = rc.audit(world.design, structure=kind.structure)
            models = {name: model(world) for name, model in CLEAN.items()}
            models |= {name: world.told.whole + sum(MODELS[name](world).values()) for name in FAULTY}
            for name, predicted in models.items():
                result = rc.score(audit, {name: world.at_held_out(predicted)})
                gain = planted_amounts(world, {"rest": predicted - world.told.whole})["gain"]
                raised = {finding.code: finding.subjects for finding in result.findings}
                causes = [subject.partition(": ")[2] for subject in raised.get("RC602", ())]
                row = {"world": kind.name, "run": run, "model": name, "true gain": round(gain, 9)}
                rows.append(row | {code: code in raised for code in CODES} | {"causes": causes})
        print(kind.name, flush=True)
    return rows


def counts(rows: list[dict[str, object]], code: str) -> tuple[int, int]:
    """Return false alarms, and clean models among which they were."""
    clean = [row for row in rows if code != "RC601" or float(str(row["true gain"])) >= -ROUNDING]
    return sum(bool(row[code]) for row in clean), len(clean)


def main() -> None:
    """Count false alarms over all worlds and by model, and write them where the package reads them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = trials(options.runs)
    by_model = {name: [row for row in rows if row["model"] == name] for name in (*CLEAN, *FAULTY)}
    for name, some in by_model.items():
        print(f"{name:24}" + "  ".join("{}: {} of {}".format(code, *counts(some, code)) for code in CODES))
    clean = [row for row in rows if row["model"] in CLEAN]
    faulty = [row for row in rows if row["model"] in FAULTY]
    rates = {}
    for code, name in CODES.items():
        alarms, models = counts(clean, code)
        worst = max(CLEAN, key=lambda model: np.divide(*counts(by_model[model], code)))
        measure = "most false alarms: {} of {} ({})".format(*counts(by_model[worst], code), worst)
        if code == "RC602":
            measure += f"; raised for {sum(bool(row[code]) for row in faulty)} of {len(faulty)} planted faults"
        says = "silent about a model without such a fault"
        rates[name] = {"says": says, "right": models - alarms, "of": models, "measure": measure}
    print(json.dumps(rates, indent=1))
    if options.write:
        packages = ("numpy", "scipy", "scikit-learn", "recombine")
        record = {
            "command": f"python benchmarks/score_findings.py --runs {options.runs} --write",
            "versions": {name: version(name) for name in packages},
            "python": platform.python_version(),
            "seed": 0,
            "device": "cpu",
        }
        lines = ",\n".join(json.dumps(row) for row in rows)
        head = json.dumps(record, indent=1).removesuffix("\n}")
        TRIALS.write_text(f'{head},\n "rows": [\n{lines}\n]\n}}\n', encoding="utf-8")
        all_rates = json.loads(RECORD.read_text(encoding="utf-8"))
        all_rates["sentences"] |= rates
        RECORD.write_text(json.dumps(all_rates, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
