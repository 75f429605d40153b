"""Multi-task learning and pretraining: what diagonal networks should do, and whether theory predicts it."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import Check, Outcome
from recombine.papers.multitask.readings.rows import claim, needed, paired
from recombine.papers.seeds import MissingRowsError, several
from recombine.tables.table import Table

#: So many features are few of the forty known ones.
FEW_FEATURES = 10
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
    chosen = rows.only(n=256, overlap=0)
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


def _predicted(rows: Table) -> Outcome:
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
        part = rows.only(**{kind: value})
        off, n = _off(part), part["n"]
        samples = f"n = {n.min()} to {n.max()}" if n.min() < n.max() else f"n = {n.min()}"
        far = f"off by {_times(float(np.median(off)))}, at most {_times(float(off.max()))}"
        parts.append(f"{len(part)} with {kind} {value} ({samples}, {part['steps'].max():,} steps; {far})")
    return ", ".join(parts)


def _alone(rows: Table) -> Outcome:
    return _predicted(rows.where(rows["method"] != "mtl"))


def _rescaled(method: str, *places: str) -> Check:
    """Of known features from rescaled weights, few are learned last by PT+FT: of these the flow is integrated."""

    def check(rows: Table) -> Outcome:
        finite = rows.where(np.isfinite(rows["scaling"]) & np.isin(rows["place"], places))
        chosen = needed(finite, method=method)
        few = (chosen["place"] == "inside") & (chosen["scaling"] < 1) & (chosen["active"] <= FEW_FEATURES)
        chosen = needed(chosen.where(~few)) if method == "pt+ft" else chosen
        for m in sorted(set(chosen["scaling"].tolist())):
            if not chosen.only(scaling=m)["stopped"].any():
                left = _left_out(chosen.where(~chosen["stopped"]))
                raise MissingRowsError(f"no network of scaling {m:g} reached a loss of 1e-10; left out: {left}")
        return _predicted(chosen)

    return check


def _flow_ends(rows: Table) -> Outcome:
    """Compare where gradient flow ended with theory, all scalings together; details tell them apart."""
    chosen = needed(rows.where(rows["active"] <= FEW_FEATURES), place="inside", method="pt+ft")
    late = int((~(chosen["residual"] < FITTED)).sum())
    if late:
        raise MissingRowsError(f"the flow of {late} of {len(chosen)} networks did not end; run it again")
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
        "Theory predicts the test loss of PT+FT and STL networks trained to 1e-10: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2",
        "overlap-networks",
        _alone,
    ),
    claim(
        "19",
        "The least group norm does not predict multi-task networks trained without decay: they do far better.",
        "ours",
        "ratio > 10",
        "none",
        "overlap-networks",
        _group_norm_misses,
    ),
    claim(
        "21a",
        "Theory predicts PT+FT networks that learn new features from rescaled weights: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2; each scaling has networks that reached 1e-10",
        "nested-networks",
        _rescaled("pt+ft", "outside"),
    ),
    claim(
        "21b",
        "Theory predicts networks that learn known features, at m = 1 or 20 and more: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2; each scaling has networks that reached 1e-10",
        "nested-networks",
        _rescaled("pt+ft", "inside"),
    ),
    claim(
        "21c",
        "Theory predicts where flow that selects few known features (5 or 10) ends: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2",
        "nested-flow",
        _flow_ends,
    ),
    claim(
        "21d",
        "Theory predicts networks that learn a single task from rescaled weights: median and largest difference.",
        "ours",
        "0",
        "5%; factor 2; each scaling has networks that reached 1e-10",
        "nested-networks",
        _rescaled("stl", "inside", "outside"),
    ),
)
