"""Multi-task learning and pretraining: what is read off the atlas of scales, on the sets of inputs that are held out.

Scales that are the same for all tasks are chosen on the other sets. Labels c times as large with weights sqrt(c) times
as large are the same problem, so that errors on labels of another size are read off the same rows, at shifted scales.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.experiments.atlas import (
    ALONE,
    BY_RULE,
    DEVELOPMENT,
    HELD_OUT,
    MADE_FOR,
)
from recombine.lab.papers.multitask.readings.rows import MIN_SEEDS
from recombine.lab.papers.seeds import Interval, require, several
from recombine.tables.table import Table
from recombine.theory.diagonal.scales import REGIMES

#: Labels a hundredth to a hundred times as large shift logarithms of scales by as much.
SHIFTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
#: The scale of plain finetuning: readouts over it, and its logarithm.
PLAIN = ("0.001", 0.0)
#: An error within this factor of the least on the plane counts as reached.
NEAR_BEST_FACTOR = 1.25

#: What tells problems apart.
KEYS = ("inputs", "seed", "share known", "samples", "task")


def _errors(rows: Table, tasks: tuple[str, ...]) -> dict[tuple[str, float], FloatArray]:
    """Return logarithms of errors by readouts and logarithm of scale, problems in one order."""
    plane = rows.where((rows["readouts"] != BY_RULE) & np.isin(rows["task"], tasks))
    return {at: np.log10(_sorted(cell)["error"]) for at, cell in plane.by("readouts", "log scale").items()}


def _sorted(rows: Table) -> Table:
    return rows.where(np.lexsort([rows[name] for name in KEYS]))


def _of(rows: Table, names: tuple[str, ...]) -> Table:
    chosen = rows.where(np.isin(rows["inputs"], names))
    for name in names:
        if len(require(chosen, inputs=name).by("seed")) < MIN_SEEDS:
            raise MissingRowsError(f"needs {several(MIN_SEEDS, 'seed')} of {name}: run with --scale full")
    return chosen


def _by_rule(rows: Table, wanted: str, **condition: Any) -> Table:
    return _sorted(require(rows, readouts=BY_RULE, wanted=wanted, **condition))


def _seed_means(seeds: FloatArray, values: FloatArray) -> FloatArray:
    return np.array([values[seeds == seed].mean() for seed in np.unique(seeds)])


def _percent(seeds: FloatArray, logarithms: FloatArray) -> Interval:
    """Return by how many percent numbers are above others, from logarithms of their ratios, with bounds over seeds."""
    return Interval.of(100 * (10 ** _seed_means(seeds, logarithms) - 1))


def _times(logarithms: FloatArray) -> float:
    return float(10 ** np.mean(logarithms))


def scales_by_task(rows: Table) -> Measured:
    """Return for how many sets and kinds of task the scale made for them has the least error of the four."""
    held_out = _of(rows, HELD_OUT)
    won, leads = 0, {}
    for name in HELD_OUT:
        for task, regime in MADE_FOR.items():
            means = {
                wanted: float(np.log10(_by_rule(held_out, wanted, inputs=name, task=task)["error"]).mean())
                for wanted in REGIMES
            }
            leads[f"{name}, {task}"] = 10 ** (
                min(mean for wanted, mean in means.items() if wanted != regime) - means[regime]
            )
            won += leads[f"{name}, {task}"] > 1
    numbers = {"won by the scale made for them": won, "of": len(leads), "least lead": min(leads.values())}
    listed = ", ".join(f"{words} {lead:.2f}" for words, lead in leads.items())
    return Measured(numbers, f"error of the next best of four scales over that of their own, geometric means: {listed}")


def constants(rows: Table, shifts: tuple[float, ...] = SHIFTS) -> dict[str, tuple[str, float]]:
    """Return, by kind of task, the scale that errs least on the sets to develop on, whatever the size of labels."""
    development, chosen = _of(rows, DEVELOPMENT), {}
    for task in MADE_FOR:
        errors = _errors(development, (task,))
        inner = [(name, log) for name, log in errors if all((name, log - shift) in errors for shift in SHIFTS)]
        if not inner:
            raise MissingRowsError("no scale of the plane has its neighbours: run with --scale full")
        chosen[task] = min(inner, key=lambda at: np.mean([errors[at[0], at[1] - shift].mean() for shift in shifts]))
    return chosen


def beside_rule(rows: Table, shifts: tuple[float, ...], chosen_at: tuple[float, ...]) -> dict[str, FloatArray]:
    """Return logarithms of errors of the held-out problems: by the rule, constants, plain finetuning, the least.

    Labels have the sizes of ``shifts``; constants are those for the sizes of ``chosen_at``.
    """
    held_out, fixed = _of(rows, HELD_OUT), constants(rows, chosen_at)
    parts: dict[str, list[FloatArray]] = {name: [] for name in ("seed", "rule", "constant", "plain", "least")}
    for task, regime in MADE_FOR.items():
        errors = _errors(held_out, (task,))
        mine = _by_rule(held_out, regime, task=task)
        by_rule = np.log10(mine["error"])
        lowest = np.minimum(np.min([*errors.values()], axis=0), by_rule)
        for shift in shifts:
            parts["seed"].append(mine["seed"])
            parts["rule"].append(by_rule)
            parts["least"].append(lowest)
            for name, (readouts, log) in (("constant", fixed[task]), ("plain", PLAIN)):
                if (readouts, log - shift) not in errors:
                    raise MissingRowsError(f"no row with readouts {readouts} at a log scale of {log - shift:g}")
                parts[name].append(errors[readouts, log - shift])
    return {name: np.concatenate(values) for name, values in parts.items()}


def _shown(fixed: dict[str, tuple[str, float]]) -> str:
    words = [
        f"{task} {'readouts' if name == ALONE else 'm'} {10**log:.2g} ({name})" for task, (name, log) in fixed.items()
    ]
    return "constants: " + ", ".join(words)


def rule_and_constant(rows: Table) -> Measured:
    """Return how near the rule comes to the least error, and how far constants are behind, for labels of any size."""
    logs = beside_rule(rows, SHIFTS, SHIFTS)
    near = {
        name: float(np.mean(logs[name] <= logs["least"] + np.log10(NEAR_BEST_FACTOR))) for name in ("rule", "constant")
    }
    numbers = {
        "rule over the least error": _times(logs["rule"] - logs["least"]),
        "constant over rule, % more error": _percent(logs["seed"], logs["constant"] - logs["rule"]),
        "constant over the least": _times(logs["constant"] - logs["least"]),
        "plain finetuning over the least": _times(logs["plain"] - logs["least"]),
        "rule within a quarter of the least": near["rule"],
        "constant within a quarter": near["constant"],
    }
    return Measured(numbers, f"{len(logs['rule'])} problems; {_shown(constants(rows))}")


def rule_at_one_size(rows: Table) -> Measured:
    """Return the rule's error over that of constants chosen for labels of one size, that of the auxiliary task."""
    logs = beside_rule(rows, (0.0,), (0.0,))
    numbers = {
        "rule over constant": _times(logs["rule"] - logs["constant"]),
        "constant over rule, % more error": _percent(logs["seed"], logs["constant"] - logs["rule"]),
        "constant over the least": _times(logs["constant"] - logs["least"]),
    }
    return Measured(numbers, f"{len(logs['rule'])} problems; {_shown(constants(rows, (0.0,)))}")


def chosen_by_samples(rows: Table) -> Measured:
    """Return what it costs to let samples that are left out choose among the four scales of the rule."""
    held_out = _of(rows, HELD_OUT)
    tables = [_by_rule(held_out, wanted) for wanted in REGIMES]
    errors, left_out = (np.array([table[name] for table in tables]) for name in ("error", "left out"))
    if not np.isfinite(left_out).all():
        raise MissingRowsError("no error on samples left out")
    picked = np.take_along_axis(errors, left_out.argmin(axis=0)[None], axis=0)[0]
    plane = _errors(held_out, tuple(MADE_FOR))
    plain = np.mean([plane[PLAIN[0], PLAIN[1] - shift] for shift in SHIFTS], axis=0)
    best = errors.min(axis=0)
    numbers = {
        "chosen over the best of four": _times(np.log10(picked / best)),
        "plain finetuning over chosen, % more error": _percent(tables[0]["seed"], plain - np.log10(picked)),
        "always the same one over the best of four": min(
            _times(np.log10(always / errors.min(axis=0))) for always in errors
        ),
        "best of four chosen": float(np.mean(picked == best)),
        "errors below 0.5": float(np.mean(picked < 0.5)),
    }
    return Measured(numbers, f"{len(picked)} problems; plain finetuning over labels of five sizes")


def features_in_use(rows: Table) -> Measured:
    """Return how many known features stay in use where few are needed, and the share of coefficients on new ones."""
    held_out = _of(rows, HELD_OUT)
    by_regime = {wanted: _by_rule(held_out, wanted, task="few known") for wanted in REGIMES}
    seeds = by_regime["lazy"]["seed"]
    fewer = np.log10(by_regime["lazy"]["known in use"] / by_regime["nested"]["known in use"])
    new = {wanted: table["share on new"] for wanted, table in by_regime.items()}
    more_new = np.minimum(new["rich"], new["ridge"]) - np.maximum(new["lazy"], new["nested"])
    numbers = {
        "known in use, lazy over nested, %": _percent(seeds, fewer),
        "share on new, rich or ridge less lazy or nested, points": Interval.of(_seed_means(seeds, 100 * more_new)),
    }
    means = ", ".join(
        f"{wanted} {by_regime[wanted]['known in use'].mean():.1f} and {new[wanted].mean():.0%}" for wanted in REGIMES
    )
    return Measured(numbers, f"known features in use and squared coefficients on new ones: {means}")


def network_differences(rows: Table) -> Measured:
    """Return how far errors of trained networks are from theory."""
    held_out = _of(rows, HELD_OUT)
    off = np.abs(held_out["trained"] / held_out["theory"] - 1)
    numbers = {"median difference": float(np.median(off)), "largest difference": float(off.max())}
    return Measured({**numbers, "networks": len(off)}, "gradient flow of the weights, pretraining included")
