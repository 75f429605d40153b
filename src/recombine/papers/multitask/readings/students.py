"""Multi-task learning and pretraining: what ReLU students should do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import Check, Outcome
from recombine.papers.multitask.readings.rows import FEWEST_SEEDS, claim, mean_of, paired
from recombine.papers.seeds import MissingRowsError
from recombine.tables.table import Table

#: Training loss at which published students stop.
STUDENTS_STOP = 1e-8
#: Method -> words for students.
STUDENTS = {"pt+ft": "PT+FT", "mtl": "MTL", "slow mtl": "MTL at a rate of 0.3"}
#: Numbers of samples at which a linear probe of known features, and MTL beside a new one, are looked at.
FEW_SAMPLES, SOME_SAMPLES = (16, 32, 64), (32, 64, 128, 256)
#: Share of pairs of one seed in which a method must be ahead.
NEARLY_ALL = 0.9


def _students(rows: Table, **values: Any) -> Table:
    """Return students as wide as published ones; smaller ones, from larger weights, say nothing about them."""
    wide = (rows.where(rows["width"] >= 1000)).only(**values)
    if len(set(wide["seed"].tolist())) < FEWEST_SEEDS:
        words = " and ".join(f"{name} {value}" for name, value in values.items())
        needs = f"needs students of 1000 units with {words} and at least {FEWEST_SEEDS} seeds"
        raise MissingRowsError(f"{needs}: run with --scale full --device cuda")
    return wide


def _ratio(correlation: str, n: int, better: str, worse: str, least: float) -> Check:
    """Judge a ratio of mean losses; where the methods change places in every seed, the paper is contradicted."""

    def check(rows: Table) -> Outcome:
        chosen = _students(rows, correlation=correlation, n=n)
        first, second = (_students(chosen, method=name) for name in (better, worse))
        reached, joint = _converged(first, second)
        if "slow mtl" in (better, worse) and reached < joint:
            raise MissingRowsError(f"only {reached} of {joint} students converged at a rate of 0.3")
        ahead = paired(second, first, "loss")
        ratio, best = (float(second[name].mean() / first[name].mean()) for name in ("loss", "best"))
        detail = (
            f"{STUDENTS[better]}, {STUDENTS[worse]}; better in {(ahead > 0).sum()} of {len(ahead)} seeds; ratio "
            f"{ratio:.2g}, of the least losses over training {best:.2g}. {reached} of {joint} MTL students reached a "
            f"training loss of {STUDENTS_STOP:.0e}"
        )
        value = ", ".join(f"{part['loss'].mean():.1e}" for part in (first, second))
        if np.all(ahead < 0):
            return Outcome.contradicting(value, detail)
        return Outcome.of(value, ratio > least, detail)

    return check


def _converged(*parts: Table) -> tuple[int, int]:
    """Count multi-task students that converged, and all: at a rate of 1, few with few samples do."""
    (joint,) = (part for part in parts if part["method"][0] != "pt+ft")
    return int((joint["train loss"] < STUDENTS_STOP).sum()), len(joint)


def _by_units(method: str, scaling: float, holds: Callable[[FloatArray], bool]) -> Check:
    def check(rows: Table) -> Outcome:
        chosen = _students(rows, n=64, cosine=1.0, method=method, scaling=scaling)
        losses = np.array([mean_of(chosen, "loss", FEWEST_SEEDS, units=units) for units in range(1, 7)])
        detail = f"1 to 6 units; {len(chosen) // 6} seeds"
        return Outcome.of(", ".join(f"{loss:.1e}" for loss in losses), bool(holds(losses)), detail)

    return check


def _rises(losses: FloatArray) -> bool:
    return bool(losses[5] > 20 * losses[0])


def _falls(losses: FloatArray) -> bool:
    """Whether losses end lower and a line through their logarithms falls; they need not fall at each step."""
    return bool(losses[5] < losses[0] and np.log(losses) @ (np.arange(6) - 2.5) < 0)


def _magnitudes(rows: Table) -> Outcome:
    ratios = {}
    for size in (1.0, 0.01):
        tuned = _students(rows, n=128, method="pt+ft", cosine=0.9, magnitude=size)
        alone = _students(rows, n=32, method="stl", cosine=0.9, magnitude=size)
        ratios[size] = float(tuned["loss"].mean() / alone["loss"].mean())
    value = ", ".join(f"{ratio:.3f}" for ratio in ratios.values())
    holds = ratios[1.0] < 0.05 and ratios[0.01] > 3 * ratios[1.0]
    seeds = len(tuned)
    detail = f"loss with 128 samples over STL's with 32, magnitude 1 and 0.01, cosine 0.9; {seeds} seeds"
    return Outcome.of(value, holds, detail)


def _ahead(correlation: str, samples: tuple[int, ...], better: str, *others: str) -> Check:
    """Ask whether a method has less loss than each of the others, at each n and in nearly every seed."""

    def check(rows: Table) -> Outcome:
        ratios, leads = [], []
        for n in samples:
            first, *rest = (_students(rows, correlation=correlation, n=n, method=name) for name in (better, *others))
            leads += [lead for part in rest for lead in paired(part, first, "loss")]
            ratios.append(min(float(part["loss"].mean()) for part in rest) / float(first["loss"].mean()))
        value = ", ".join(f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" for ratio in ratios)
        ahead = int(np.sum(np.array(leads) > 0))
        detail = (
            f"least mean loss of the others over its own with {', '.join(map(str, samples))} samples; ahead in "
            f"{ahead} of {len(leads)} pairs of one seed"
        )
        return Outcome.of(value, min(ratios) > 1 and ahead >= NEARLY_ALL * len(leads), detail)

    return check


CLAIMS = (
    claim(
        "13a",
        "With features correlated at 0.9 and 256 samples, PT+FT has less than a hundredth of MTL's loss.",
        "data of Fig. ReLU correlation",
        "4.2e-6, 5.1e-3; ratio > 100",
        "none",
        "relu-correlation",
        _ratio("0.9 x 6", 256, "pt+ft", "mtl", 100),
    ),
    claim(
        "13b",
        "With the same features and 16 samples, MTL has less than a third of PT+FT's loss.",
        "data of Fig. ReLU correlation",
        "0.020, 0.089; ratio > 3",
        "none",
        "relu-correlation",
        _ratio("1 x 6", 16, "mtl", "pt+ft", 3),
    ),
    claim(
        "13c",
        "With the same features and 128 samples, PT+FT has less than a fifth of MTL's loss.",
        "data of Fig. ReLU correlation",
        "6.1e-5, 7.1e-4; ratio > 5",
        "none",
        "relu-correlation",
        _ratio("1 x 6", 128, "pt+ft", "mtl", 5),
    ),
    claim(
        "13d",
        "MTL that has converged, at a rate of 0.3, has less than a third of PT+FT's loss with 16 samples as in 13b.",
        "ours, a control of 13b",
        "ratio > 3",
        "none",
        "relu-correlation",
        _ratio("1 x 6", 16, "slow mtl", "pt+ft", 3),
    ),
    claim(
        "13e",
        "PT+FT has less than a fifth of the loss of MTL that has converged, with 128 samples as in 13c.",
        "ours, a control of 13c",
        "ratio > 5",
        "none",
        "relu-correlation",
        _ratio("1 x 6", 128, "pt+ft", "slow mtl", 5),
    ),
    claim(
        "14a",
        "PT+FT of ReLU networks prefers few of the known units: its error rises with their number.",
        "data of Fig. ReLU units",
        "2.3e-6 to 2.2e-4; at least 20-fold",
        "none",
        "relu-units",
        _by_units("pt+ft", 1.0, _rises),
    ),
    claim(
        "14b",
        "With weights scaled up tenfold it does not: its error falls.",
        "data of Fig. ReLU units",
        "3.7e-6 to 6.2e-7",
        "6 units below 1, and a line through the logarithms falls",
        "relu-units",
        _by_units("pt+ft", 10.0, _falls),
    ),
    claim(
        "14c",
        "Nor does MTL: its error falls.",
        "data of Fig. ReLU units",
        "4.4e-4 to 8.2e-5",
        "6 units below 1, and a line through the logarithms falls",
        "relu-units",
        _by_units("mtl", 1.0, _falls),
    ),
    claim(
        "20",
        "With 128 samples, correlated features help PT+FT only if the main task is as large as the auxiliary one.",
        "data of Fig. ReLU magnitude",
        "0.013, 0.107",
        "< 0.05; at least 3-fold",
        "relu-magnitude",
        _magnitudes,
    ),
    claim(
        "24a",
        "With the same features and up to 64 samples, a linear probe has less loss than PT+FT and MTL.",
        "data of Fig. ReLU correlation",
        "650, 865, 329",
        "above 1; ahead in nine of ten pairs of one seed",
        "relu-correlation",
        _ahead("1 x 6", FEW_SAMPLES, "pt+ft probe", "pt+ft", "mtl"),
    ),
    claim(
        "24b",
        "With five known features and a new one, and 32 to 256 samples, MTL has less loss than PT+FT.",
        "data of Fig. ReLU correlation",
        "1.7, 4.9, 6.8, 2.8",
        "above 1; ahead in nine of ten pairs of one seed",
        "relu-correlation",
        _ahead("1 x 5, 0", SOME_SAMPLES, "mtl", "pt+ft"),
    ),
)
