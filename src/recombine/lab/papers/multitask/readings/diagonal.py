"""Multi-task learning and pretraining: what is read off the rows of diagonal networks, and of theory beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.readings.rows import of_enough_seeds, paired_by_seed
from recombine.lab.papers.seeds import Interval, require, several
from recombine.tables.table import Table

#: So many features are few of the forty known ones.
MAX_FEW_FEATURES = 10
#: Scalings at which gradient descent is too slow for few features, so that flow is integrated.
FLOW_SCALINGS = (0.1, 0.01, 0.001)
#: Where flow has ended: largest deviation from a target, relative to the largest target.
FLOW_END_RESIDUAL = 1e-10
#: A network learns if theory leaves it less than this share of the targets' power.
LEARNS_POWER_SHARE = 0.1
#: Expected losses below this share of it are smaller than what is left where training stops.
RESOLVED_POWER_SHARE = 1e-7
#: Numbers of samples that diagonal networks were trained with.
TRAINED_SAMPLES = (16, 32, 64, 128, 256)
#: What tells one network from another, as far as it is recorded.
NAMES = ("n", "overlap", "active", "place", "scaling", "method")


def joint_loss(rows: Table) -> Measured:
    """Return the test loss of multi-task networks that share all features, and how far above PT+FT at least."""
    chosen = require(rows, n=64, overlap=40, method="mtl")
    joint, tuned = paired_by_seed(chosen, require(rows, n=64, overlap=40, method="pt+ft"), "loss", min_seeds=1)
    numbers = {"mean of MTL": chosen["loss"].mean(), "smallest gap to PT+FT": (joint - tuned).min()}
    steps = f"{chosen['steps'].max():,} steps, training loss up to {chosen['train loss'].max():.0e}"
    return Measured(numbers, f"{several(len(chosen), 'seed')}, {steps}; {len(joint)} with PT+FT beside")


def leads_over_single_tasks(rows: Table, overlap: int) -> Measured:
    """Return how far PT+FT and MTL are ahead of a single task where features are shared, over all samples."""
    numbers: dict[str, Any] = {}
    for method, word in (("pt+ft", "PT+FT"), ("mtl", "MTL")):
        logs, wins = [], []
        for n in TRAINED_SAMPLES:
            chosen = require(rows, n=n, overlap=overlap)
            low, high = paired_by_seed(chosen.only(method=method), chosen.only(method="stl"), "loss")
            logs.append(np.log10(high / low))
            wins += (low < high).tolist()
        numbers[f"{word} over STL, powers of ten"] = Interval.of(np.mean(logs, axis=0))
        numbers[f"{word} over STL, pairs"] = f"{sum(wins)} of {len(wins)}"
    words = f"{TRAINED_SAMPLES[0]} to {TRAINED_SAMPLES[-1]} samples within a seed"
    return Measured(numbers, f"means over {words}, with one-sided 95% bounds over {len(low)} seeds")


def unshared_losses(rows: Table) -> Measured:
    """Return the least test loss over training where no feature is shared, and what sharing in vain costs."""
    words = {"stl": "STL", "pt+ft": "PT+FT", "mtl": "MTL"}
    by_method = {word: require(rows, n=256, overlap=0, method=name) for name, word in words.items()}
    best = {word: float(networks["best"].mean()) for word, networks in by_method.items()}
    ratios = {word: best[word] / best["STL"] for word in ("PT+FT", "MTL")}
    learned = ", ".join(f"{int(networks['stopped'].sum())} of {len(networks)}" for networks in by_method.values())
    return Measured({**best, "over STL": ratios}, f"published 0.010, 0.097, 0.104; {learned} networks reached 1e-10")


def final_and_least_loss(rows: Table) -> Measured:
    """Return the final test loss and the least over training, where nothing is shared and samples are few."""
    chosen = require(rows, n=16, overlap=0, method="pt+ft")
    final, lowest = float(chosen["loss"].mean()), float(chosen["best"].mean())
    untrained = "The least is the loss of the untrained network, 1, whatever the method"
    detail = f"{several(len(chosen), 'seed')}; published about 2.0, 1.0. {untrained}"
    return Measured({"final": final, "least over training": lowest, "final over least": final / lowest}, detail)


def group_norm_loss(rows: Table) -> Measured:
    """Return the loss that the least group norm predicts for multi-task networks, and theirs."""
    chosen = require(rows, n=64, overlap=40, method="mtl")
    trained, theory = float(chosen["loss"].mean()), float(chosen["theory"].mean())
    numbers = {"least group norm": theory, "trained": trained, "ratio": theory / trained}
    return Measured(numbers, f"{several(len(chosen), 'seed')}; trained from weights of 1e-3 without decay")


# ---------------------------------------------------------------------------- theory and trained networks


def _off(rows: Table) -> FloatArray:
    """Return how far networks are from their prediction, as |ln(loss / theory)| (N,)."""
    return np.asarray(np.abs(np.log(rows["loss"] / rows["theory"])))


def _differences(off: FloatArray) -> dict[str, float]:
    return {"median difference": np.expm1(np.median(off)), "largest difference": np.expm1(off.max())}


def _times(off: float) -> str:
    """Write a logarithm as a share, or as a factor where it is large."""
    return f"{100 * np.expm1(off):.2g}%" if off < np.log(2) else f"{np.exp(off):.1f}-fold"


def _from_theory(rows: Table) -> Measured:
    """Compare networks that learn and reached 1e-10 with theory; say which were left out, and how far off those are."""
    ended = require(rows.where(rows["stopped"]))
    learned = require(ended.where(ended["theory"] < LEARNS_POWER_SHARE * ended["power"]))
    off = _off(learned)
    setting = ", ".join(f"{name} {learned[name][off.argmax()]}" for name in NAMES if name in learned.columns)
    scalings = f" of {several(len(learned.by('scaling')), 'scaling')}" if "scaling" in learned.columns else ""
    median = _times(float(np.median(_off(ended))))
    detail = (
        f"networks{scalings} that reached a training loss of 1e-10 at steps of 0.1 and for which theory expects less "
        f"than a tenth of the targets' power, of {len(ended)} that reached it (median of all {median}); "
        f"largest at {setting}; left out: {_left_out(rows.where(~rows['stopped']))}"
    )
    numbers: dict[str, Any] = {"networks": len(learned), **_differences(off)}
    resolved = off[learned["theory"] >= RESOLVED_POWER_SHARE * learned["power"]]
    if 0 < len(resolved) < len(off):
        middle, largest = _times(float(np.median(resolved))), _times(float(resolved.max()))
        numbers["where theory expects 1e-7 or more"] = f"off by {middle}, {largest} at most"
    return Measured(numbers, detail)


def _left_out(rows: Table) -> str:
    if not len(rows):
        return "none"
    kind = "scaling" if "scaling" in rows.columns else "method"
    texts = []
    for value, runs in sorted(rows.by(kind).items()):
        off, n = _off(runs), runs["n"]
        samples = f"n = {n.min()} to {n.max()}" if n.min() < n.max() else f"n = {n.min()}"
        gap = f"off by {_times(float(np.median(off)))}, at most {_times(float(off.max()))}"
        texts.append(f"{len(runs)} with {kind} {value} ({samples}, {runs['steps'].max():,} steps; {gap})")
    return ", ".join(texts)


def single_output_differences(rows: Table) -> Measured:
    """Return how far PT+FT and STL networks are from theory."""
    return _from_theory(rows.but(method="mtl"))


def rescaled_differences(rows: Table, method: str, locations: tuple[str, ...]) -> Measured:
    """Return how far networks from rescaled weights are from theory, with new ("outside") or known features.

    Few known features are learned last by PT+FT: of these the flow is integrated.
    """
    finite = rows.where(np.isfinite(rows["scaling"]) & np.isin(rows["place"], locations))
    chosen = require(finite, method=method)
    if method == "pt+ft":
        slow = (chosen["place"] == "inside") & (chosen["scaling"] < 1) & (chosen["active"] <= MAX_FEW_FEATURES)
        chosen = require(chosen.where(~slow))
    for m, networks in sorted(chosen.by("scaling").items()):
        if not networks["stopped"].any():
            absent = _left_out(chosen.where(~chosen["stopped"]))
            raise MissingRowsError(f"no network of scaling {m:g} reached a loss of 1e-10; left out: {absent}")
    return _from_theory(chosen)


def joint_errors_by_features(rows: Table) -> Measured:
    """Return how the error of MTL, over the targets' power, rises with the number of known features it needs."""
    chosen = of_enough_seeds(rows, "MTL networks", n=64, method="mtl", place="inside")
    errors = {}
    for active in (5, 40):
        networks = of_enough_seeds(chosen, "MTL networks", active=active)
        errors[active] = float((networks["loss"] / networks["power"]).mean())
    numbers = {
        "40 features over 5": errors[40] / errors[5],
        "error over power": {f"{active} features": error for active, error in errors.items()},
    }
    reached = int(chosen["stopped"].sum())
    detail = f"{len(chosen)} networks, {reached} at a training loss of 1e-10; published 9.9e-4 with 5, 0.010 with 40"
    return Measured(numbers, detail)


def flow_end_differences(rows: Table) -> Measured:
    """Return how far gradient flow that selects few known features ends from theory, all scalings together."""
    chosen = require(rows.where(rows["active"] <= MAX_FEW_FEATURES), place="inside", method="pt+ft")
    late = int((~(chosen["residual"] < FLOW_END_RESIDUAL)).sum())
    if late:
        raise MissingRowsError(f"the flow of {late} of {len(chosen)} networks did not end; run it again")
    by_m = {m: require(chosen, scaling=m) for m in FLOW_SCALINGS}
    ends = [
        f"{_times(_off(runs).max())} and {np.median(runs['settled']):.0e} for m = {m:g}" for m, runs in by_m.items()
    ]
    sizes = " and ".join(map(str, sorted(chosen.by("dimension"))))
    detail = (
        f"{several(len(chosen), 'network')} of {sizes} inputs; largest, and time (rate x steps) from which on half are "
        f"within 5% of their end: {', '.join(ends)}; up x down drifted by at most {chosen['drift'].max():.0e} of itself"
    )
    return Measured(_differences(_off(chosen)), detail)
