"""Multi-task learning and pretraining: what trained networks should do, and whether theory foretells it."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.papers.claims import Check, Claim, Outcome
from recombine.papers.multitask_claims import mean_of
from recombine.papers.results import matching
from recombine.tables import Table


def _lacking(what: str) -> Outcome:
    return Outcome.not_run(f"needs {what}: run with --scale full --device cuda")


def _joint(rows: Table) -> Outcome:
    chosen = matching(rows, n=64, overlap=40, method="mtl")
    if not len(chosen):
        return _lacking("MTL networks with 64 samples")
    found = float(chosen["loss"].mean())
    detail = f"{len(chosen)} seeds, {chosen['steps'].max():,} steps, training loss {chosen['train loss'].max():.0e}"
    return Outcome.of(f"{found:.1e}", 1e-4 < found < 1e-2, detail)


def _hurts(rows: Table) -> Outcome:
    chosen = matching(rows, n=256, overlap=0)
    best = {name: mean_of(chosen, "best", method=name) for name in ("stl", "pt+ft", "mtl")}
    ratio = min(best["pt+ft"], best["mtl"]) / best["stl"]
    seeds = len(matching(chosen, method="stl"))
    detail = f"STL, PT+FT, MTL; {seeds} seeds; smallest ratio {ratio:.1f}"
    return Outcome.of(", ".join(f"{value:.3f}" for value in best.values()), ratio > 5, detail)


def _best_or_final(rows: Table) -> Outcome:
    chosen = matching(rows, n=16, overlap=0, method="pt+ft")
    final, best = float(chosen["loss"].mean()), float(chosen["best"].mean())
    detail = (
        f"{len(chosen)} seeds. Published losses are the least over training; with 16 samples and no feature in common "
        "that is the loss of the untrained network, 1, whatever the method"
    )
    return Outcome.of(f"{final:.2f}, {best:.2f}", final > 1.5 * best and abs(best - 1) < 0.05, detail)


def _foretold(rows: Table) -> Outcome:
    chosen = rows.where(rows["stopped"] & (rows["method"] != "mtl"))
    if not len(chosen):
        return Outcome.not_run("no network reached a training loss of 1e-10")
    off = np.abs(np.log(chosen["loss"] / chosen["theory"]))
    worst = int(off.argmax())
    named = [name for name in ("n", "overlap", "active", "place", "scaling", "method") if name in chosen.columns]
    where = ", ".join(f"{name} {chosen[name][worst]}" for name in named)
    value = f"{np.exp(np.median(off)) - 1:.1%}, {np.exp(off[worst]) - 1:.1%}"
    detail = f"median and largest of {len(chosen)} networks trained to 1e-10 at a rate of 0.1; largest at {where}"
    return Outcome.of(value, float(np.median(off)) < 0.05 and float(off[worst]) < np.log(2), detail)


def _group_norm_misses(rows: Table) -> Outcome:
    chosen = matching(rows, n=64, overlap=40, method="mtl")
    if not len(chosen):
        return _lacking("MTL networks with 64 samples")
    trained, theory = float(chosen["loss"].mean()), float(chosen["theory"].mean())
    detail = f"{len(chosen)} seeds; least group norm and networks trained from weights of 1e-3 without decay"
    return Outcome.of(f"{theory:.2f}, {trained:.1e}", theory > 10 * trained, detail)


# ---------------------------------------------------------------------------- ReLU students


def _published_size(rows: Table) -> bool:
    """Whether students are as wide as published ones; smaller ones, from larger weights, say nothing about them."""
    return len(rows) > 0 and int(rows["width"].min()) >= 1000


def _loss(rows: Table, **values: Any) -> float:
    return mean_of(rows, "loss", **values)


def _correlated(rows: Table) -> Outcome:
    chosen = matching(rows, correlation="0.9 x 6", n=256)
    if not _published_size(chosen):
        return _lacking("students of 1000 units with 256 samples")
    tuned, joint = (_loss(chosen, method=name) for name in ("pt+ft", "mtl"))
    return Outcome.of(f"{tuned:.1e}, {joint:.1e}", tuned < joint / 100, f"PT+FT, MTL; {len(chosen) // 5} seeds")


def _few_samples(rows: Table) -> Outcome:
    chosen = matching(rows, correlation="1 x 6", n=16)
    if not _published_size(chosen):
        return _lacking("students of 1000 units with 16 samples")
    tuned, joint = (_loss(chosen, method=name) for name in ("pt+ft", "mtl"))
    return Outcome.of(f"{joint:.1e}, {tuned:.1e}", joint < tuned / 3, f"MTL, PT+FT; {len(chosen) // 5} seeds")


def _more_samples(rows: Table) -> Outcome:
    chosen = matching(rows, correlation="1 x 6", n=128)
    if not _published_size(chosen):
        return _lacking("students of 1000 units with 128 samples")
    tuned, joint = (_loss(chosen, method=name) for name in ("pt+ft", "mtl"))
    return Outcome.of(f"{tuned:.1e}, {joint:.1e}", tuned < joint / 5, f"PT+FT, MTL; {len(chosen) // 5} seeds")


def _by_units(method: str, scaling: float, holds: Any) -> Check:
    def check(rows: Table) -> Outcome:
        chosen = matching(rows, n=64, cosine=1.0, method=method, scaling=scaling)
        if not _published_size(chosen):
            return _lacking("students of 1000 units with 64 samples")
        losses = [_loss(chosen, units=units) for units in range(1, 7)]
        detail = f"1 to 6 units; {len(chosen) // 6} seeds"
        return Outcome.of(", ".join(f"{loss:.1e}" for loss in losses), bool(holds(losses)), detail)

    return check


def _magnitudes(rows: Table) -> Outcome:
    chosen = matching(rows, n=128, method="pt+ft", cosine=0.9)
    if not _published_size(chosen):
        return _lacking("students of 1000 units with 128 samples")
    ratios = {}
    for size in (1.0, 0.01):
        baseline = _loss(rows, n=32, method="stl", cosine=0.9, magnitude=size)
        ratios[size] = _loss(chosen, magnitude=size) / baseline
    value = ", ".join(f"{ratio:.3f}" for ratio in ratios.values())
    holds = ratios[1.0] < 0.05 and ratios[0.01] > 3 * ratios[1.0]
    return Outcome.of(value, holds, "loss with 128 samples over STL's with 32, magnitude 1 and 0.01, cosine 0.9")


def _claim(number: str, statement: str, source: str, expected: str, tolerance: str, name: str, check: Check) -> Claim:
    return Claim(f"multitask/{number}", statement, source, expected, tolerance, name, check)


CLAIMS = (
    _claim(
        "9b",
        "With 64 samples, learning a task of the same 40 features alongside leaves little error, more than PT+FT.",
        "Fig. overlap",
        "1e-4 to 1e-2",
        "none",
        "overlap-networks",
        _joint,
    ),
    _claim(
        "10",
        "Where no feature is shared, a single task beats PT+FT and MTL with 256 samples, best test loss over training.",
        "Fig. overlap",
        "0.010, 0.097, 0.104; ratio > 5",
        "none",
        "overlap-networks",
        _hurts,
    ),
    _claim(
        "13a",
        "With features correlated at 0.9 and 256 samples, PT+FT beats MTL by far.",
        "Fig. ReLU correlation",
        "4.2e-6, 5.1e-3; ratio > 100",
        "none",
        "relu-correlation",
        _correlated,
    ),
    _claim(
        "13b",
        "With the same features and 16 samples, MTL beats PT+FT.",
        "Fig. ReLU correlation",
        "0.020, 0.089; ratio > 3",
        "none",
        "relu-correlation",
        _few_samples,
    ),
    _claim(
        "13c",
        "With the same features and 128 samples, PT+FT beats MTL.",
        "Fig. ReLU correlation",
        "6.1e-5, 7.1e-4; ratio > 5",
        "none",
        "relu-correlation",
        _more_samples,
    ),
    _claim(
        "14a",
        "PT+FT of ReLU networks prefers few of the known units: its error rises with their number.",
        "Fig. ReLU units",
        "2.3e-6 to 2.2e-4; at least 20-fold",
        "none",
        "relu-units",
        _by_units("pt+ft", 1.0, lambda losses: losses[5] > 20 * losses[0]),
    ),
    _claim(
        "14b",
        "With weights scaled up tenfold it does not: its error falls.",
        "Fig. ReLU units",
        "3.7e-6 to 6.2e-7",
        "none",
        "relu-units",
        _by_units("pt+ft", 10.0, lambda losses: losses[5] < losses[0]),
    ),
    _claim(
        "14c",
        "Nor does MTL.",
        "Fig. ReLU units",
        "4.4e-4 to 8.2e-5",
        "none",
        "relu-units",
        _by_units("mtl", 1.0, lambda losses: losses[5] < losses[0]),
    ),
    _claim(
        "17",
        "The published test losses are the least over training: with nothing shared and 16 samples that halves them.",
        "data of Fig. overlap",
        "about 2.0, 1.0",
        "ratio > 1.5; 0.05",
        "overlap-networks",
        _best_or_final,
    ),
    _claim(
        "18",
        "Theory foretells the test loss of networks trained to 1e-10: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2",
        "overlap-networks",
        _foretold,
    ),
    _claim(
        "19",
        "The least group norm does not foretell multi-task networks trained without decay: they do far better.",
        "ours",
        "ratio > 10",
        "none",
        "overlap-networks",
        _group_norm_misses,
    ),
    _claim(
        "21",
        "So it does for rescaled weights: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2",
        "nested-networks",
        _foretold,
    ),
    _claim(
        "20",
        "Correlated features help PT+FT only if the main task is about as large as the auxiliary one.",
        "Fig. ReLU magnitude",
        "0.013, 0.107",
        "< 0.05; at least 3-fold",
        "relu-magnitude",
        _magnitudes,
    ),
)
