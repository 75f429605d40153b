"""Multi-task learning and pretraining: what trained networks should do, and whether theory foretells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.arrays import FloatArray
from recombine.papers.claims import Check, Outcome
from recombine.papers.multitask_readings import FEWEST_SEEDS, claim, mean_of, needed, paired
from recombine.papers.over_seeds import MissingNetworksError, several
from recombine.papers.results import matching
from recombine.tables import Table

#: So many features are few of the forty known ones.
FEW_FEATURES = 10
#: Training loss at which published students stop.
STUDENTS_STOP = 1e-8
#: Method -> words for students.
STUDENTS = {"pt+ft": "PT+FT", "mtl": "MTL", "slow mtl": "MTL at a rate of 0.3"}
#: Scalings at which gradient descent is too slow for few features, so that flow is integrated.
FLOW_SCALINGS = (0.1, 0.01, 0.001)
#: Where flow has ended: largest deviation from a target, relative to the largest target.
FITTED = 1e-10


def _joint(rows: Table) -> Outcome:
    chosen = needed(rows, n=64, overlap=40, method="mtl")
    more = paired(chosen, needed(rows, n=64, overlap=40, method="pt+ft"), "loss", least=1)
    found = float(chosen["loss"].mean())
    detail = (
        f"{several(len(chosen), 'seed')}, {chosen['steps'].max():,} steps, training loss up to "
        f"{chosen['train loss'].max():.0e}; above PT+FT in {(more > 0).sum()} of {several(len(more), 'seed')}"
    )
    return Outcome.of(f"{found:.1e}", 1e-4 < found < 1e-2 and bool(np.all(more > 0)), detail)


def _hurts(rows: Table) -> Outcome:
    chosen = matching(rows, n=256, overlap=0)
    parts = {name: needed(chosen, method=name) for name in ("stl", "pt+ft", "mtl")}
    best = {name: float(part["best"].mean()) for name, part in parts.items()}
    ratios = np.array([best["pt+ft"], best["mtl"]]) / best["stl"]
    learned = ", ".join(f"{int(part['stopped'].sum())} of {len(part)}" for part in parts.values())
    detail = f"STL, PT+FT, MTL; smallest ratio {np.min(ratios):.1f}; {learned} networks reached 1e-10"
    return Outcome.of(", ".join(f"{value:.3f}" for value in best.values()), bool(np.all(ratios > 5)), detail)


def _best_or_final(rows: Table) -> Outcome:
    chosen = needed(rows, n=16, overlap=0, method="pt+ft")
    final, best = float(chosen["loss"].mean()), float(chosen["best"].mean())
    detail = (
        f"{several(len(chosen), 'seed')}. Published losses are the least over training; with 16 samples and no feature "
        "in common that is the loss of the untrained network, 1, whatever the method"
    )
    return Outcome.of(f"{final:.2f}, {best:.2f}", final > 1.5 * best and abs(best - 1) < 0.05, detail)


# ---------------------------------------------------------------------------- theory and trained networks


def _off(rows: Table) -> FloatArray:
    """Return how far networks are from their prediction, as |ln(loss / theory)| (N,)."""
    return np.asarray(np.abs(np.log(rows["loss"] / rows["theory"])))


def _times(off: float) -> str:
    """Write a logarithm as a share, or as a factor where it is large."""
    return f"{100 * np.expm1(off):.2g}%" if off < np.log(2) else f"{np.exp(off):.1f}-fold"


def _foretold(rows: Table) -> Outcome:
    """Compare networks that reached 1e-10 with theory; say which were left out, and how far off those are."""
    learned = needed(rows.where(rows["stopped"]))
    off = _off(learned)
    worst = int(off.argmax())
    named = [name for name in ("n", "overlap", "active", "place", "scaling", "method") if name in learned.columns]
    where = ", ".join(f"{name} {learned[name][worst]}" for name in named)
    middle, largest = float(np.median(off)), float(off[worst])
    detail = f"median and largest of the {len(learned)} networks that reached a training loss of 1e-10 at steps of 0.1"
    detail += f"; largest at {where}; left out: {_left_out(rows.where(~rows['stopped']))}"
    return Outcome.of(f"{_times(middle)}, {_times(largest)}", middle < np.log(1.05) and largest < np.log(2), detail)


def _left_out(rows: Table) -> str:
    if not len(rows):
        return "none"
    kind = "scaling" if "scaling" in rows.columns else "method"
    parts = []
    for value in sorted(set(rows[kind].tolist())):
        part = matching(rows, **{kind: value})
        off, n = _off(part), part["n"]
        samples = f"n = {n.min()} to {n.max()}" if n.min() < n.max() else f"n = {n.min()}"
        far = f"off by {_times(float(np.median(off)))}, at most {_times(float(off.max()))}"
        parts.append(f"{len(part)} with {kind} {value} ({samples}, {part['steps'].max():,} steps; {far})")
    return ", ".join(parts)


def _alone(rows: Table) -> Outcome:
    return _foretold(rows.where(rows["method"] != "mtl"))


def _rescaled(method: str, *places: str) -> Check:
    """Of known features from rescaled weights, few are learned last by PT+FT: of these the flow is integrated."""

    def check(rows: Table) -> Outcome:
        finite = rows.where(np.isfinite(rows["scaling"]) & np.isin(rows["place"], places))
        chosen = needed(finite, method=method)
        few = (chosen["place"] == "inside") & (chosen["scaling"] < 1) & (chosen["active"] <= FEW_FEATURES)
        chosen = needed(chosen.where(~few)) if method == "pt+ft" else chosen
        for m in sorted(set(chosen["scaling"].tolist())):
            if not matching(chosen, scaling=m)["stopped"].any():
                left = _left_out(chosen.where(~chosen["stopped"]))
                raise MissingNetworksError(f"no network of scaling {m:g} reached a loss of 1e-10; left out: {left}")
        return _foretold(chosen)

    return check


def _flow_ends(rows: Table) -> Outcome:
    """Compare where gradient flow ended with theory, all scalings together; details tell them apart."""
    chosen = needed(rows.where(rows["active"] <= FEW_FEATURES), place="inside", method="pt+ft")
    late = int((~(chosen["residual"] < FITTED)).sum())
    if late:
        raise MissingNetworksError(f"the flow of {late} of {len(chosen)} networks did not end; run it again")
    parts = {m: needed(chosen, scaling=m) for m in FLOW_SCALINGS}
    off = _off(chosen)
    middle, largest = float(np.median(off)), float(off.max())
    each = [
        f"{_times(_off(part).max())} and {np.median(part['settled']):.0e} for m = {m:g}" for m, part in parts.items()
    ]
    sizes = " and ".join(str(size) for size in sorted(set(chosen["dimension"].tolist())))
    detail = (
        f"median and largest of {several(len(chosen), 'network')} of {sizes} inputs; largest, and time (rate x steps) "
    )
    detail += f"from which on half are within 5% of their end: {', '.join(each)}; up x down, which flow conserves, "
    detail += f"drifted by at most {chosen['drift'].max():.0e} of itself"
    value = f"{_times(middle)}, {_times(largest)}"
    return Outcome.of(value, middle < np.log(1.05) and largest < np.log(2), detail)


def _group_norm_misses(rows: Table) -> Outcome:
    chosen = needed(rows, n=64, overlap=40, method="mtl")
    trained, theory = float(chosen["loss"].mean()), float(chosen["theory"].mean())
    detail = f"{several(len(chosen), 'seed')}; least group norm and networks trained from weights of 1e-3 without decay"
    return Outcome.of(f"{theory:.2f}, {trained:.1e}", theory > 10 * trained, detail)


# ---------------------------------------------------------------------------- ReLU students


def _students(rows: Table, **values: Any) -> Table:
    """Return students as wide as published ones; smaller ones, from larger weights, say nothing about them."""
    wide = matching(rows.where(rows["width"] >= 1000), **values)
    if len(set(wide["seed"].tolist())) < FEWEST_SEEDS:
        words = " and ".join(f"{name} {value}" for name, value in values.items())
        needs = f"needs students of 1000 units with {words} and at least {FEWEST_SEEDS} seeds"
        raise MissingNetworksError(f"{needs}: run with --scale full --device cuda")
    return wide


def _ratio(correlation: str, n: int, better: str, worse: str, least: float) -> Check:
    """Judge a ratio of mean losses; where the methods change places in every seed, the paper is contradicted."""

    def check(rows: Table) -> Outcome:
        chosen = _students(rows, correlation=correlation, n=n)
        first, second = (_students(chosen, method=name) for name in (better, worse))
        reached, joint = _at_rest(first, second)
        if "slow mtl" in (better, worse) and reached < joint:
            raise MissingNetworksError(f"only {reached} of {joint} students came to rest at a rate of 0.3")
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


def _at_rest(*parts: Table) -> tuple[int, int]:
    """Count multi-task students that came to an end, and all: at a rate of 1, few samples leave them restless."""
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


CLAIMS = (
    claim(
        "9b",
        "With 64 samples, learning a task of the same 40 features alongside leaves little error, more than PT+FT.",
        "data of Fig. overlap",
        "1e-4 to 1e-2",
        "above PT+FT in every seed",
        "overlap-networks",
        _joint,
    ),
    claim(
        "10",
        "Where no feature is shared, a single task beats PT+FT and MTL with 256 samples, best test loss over training.",
        "data of Fig. overlap",
        "0.010, 0.097, 0.104; ratio > 5",
        "none",
        "overlap-networks",
        _hurts,
    ),
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
        "MTL that has come to rest, at a rate of 0.3, has less than a third of PT+FT's loss with 16 samples as in 13b.",
        "ours, a control of 13b",
        "ratio > 3",
        "none",
        "relu-correlation",
        _ratio("1 x 6", 16, "slow mtl", "pt+ft", 3),
    ),
    claim(
        "13e",
        "PT+FT has less than a fifth of the loss of MTL that has come to rest, with 128 samples as in 13c.",
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
        "17",
        "The published test losses are the least over training: with nothing shared and 16 samples that halves them.",
        "data of Fig. overlap",
        "about 2.0, 1.0",
        "ratio > 1.5; 0.05",
        "overlap-networks",
        _best_or_final,
    ),
    claim(
        "18",
        "Theory foretells the test loss of PT+FT and STL networks trained to 1e-10: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2",
        "overlap-networks",
        _alone,
    ),
    claim(
        "19",
        "The least group norm does not foretell multi-task networks trained without decay: they do far better.",
        "ours",
        "ratio > 10",
        "none",
        "overlap-networks",
        _group_norm_misses,
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
        "21a",
        "Theory foretells PT+FT networks that learn new features from rescaled weights: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2; each scaling has networks that reached 1e-10",
        "nested-networks",
        _rescaled("pt+ft", "outside"),
    ),
    claim(
        "21b",
        "Theory foretells networks that learn known features, at m = 1 or 20 and more: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2; each scaling has networks that reached 1e-10",
        "nested-networks",
        _rescaled("pt+ft", "inside"),
    ),
    claim(
        "21c",
        "Theory foretells where flow that selects few known features (5 or 10) ends: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2",
        "nested-flow",
        _flow_ends,
    ),
    claim(
        "21d",
        "Theory foretells networks that learn a single task from rescaled weights: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2; each scaling has networks that reached 1e-10",
        "nested-networks",
        _rescaled("stl", "inside", "outside"),
    ),
)
