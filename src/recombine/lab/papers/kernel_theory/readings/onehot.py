"""Kernel theory: what is read off the rows of networks on one-hot inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.kernel_theory.experiments.onehot import FITTED_LOSS
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Estimate, mean_over_seeds
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

#: Anchor sets -> number of anchors p of the leak law.
SYMMETRIC = {"extrapolation": 1, "interpolation": 2, "both": 2}


def _fitted(rows: Table, **values: Any) -> Table:
    chosen = rows.only(**values)
    return chosen.where(chosen["train loss"] <= FITTED_LOSS)


def _mean(rows: Table, column: str, **values: Any) -> float:
    """Mean of a column over chosen rows; NaN when there are none, which no bound accepts."""
    chosen = rows.only(**values)
    return float(chosen[column].mean()) if len(chosen) else float("nan")


def _slopes(rows: Table, sigma: float) -> dict[str, Estimate]:
    return {name: mean_over_seeds(_fitted(rows, sigma=sigma), "slope", set=name) for name in SYMMETRIC}


def lazy_slopes(rows: Table) -> Measured:
    """Return slopes of networks of scale 1."""
    return Measured({**_slopes(rows, 1.0), "networks": len(_fitted(rows, sigma=1.0, set="both"))}, "per anchor set")


def rich_slopes(rows: Table) -> Measured:
    """Return slopes of networks of scale 1e-6."""
    numbers = {**_slopes(rows, 1e-6), "networks": len(_fitted(rows, sigma=1e-6, set="both"))}
    return Measured(numbers, f"networks of {rows['width'].max()} units or fewer")


def _last(rows: Table, sigma: float, loss: str = "mse") -> Table:
    chosen = rows.only(sigma=sigma, loss=loss)
    return chosen.where(chosen["step"] == chosen["step"].max(initial=-1))


def equivalence_ends(rows: Table) -> Measured:
    """Return how lazy and rich networks end on transitive equivalence."""
    lazy, rich = _last(rows, 1.0), _last(rows, 1e-6)
    numbers = {
        "lazy": float(lazy["accuracy"].mean()),
        "perfect rich": int((rich["accuracy"] == 1).sum()),
        "smallest rich margin": float(rich["margin"].min(initial=np.inf)),
        "networks": [len(lazy), len(rich)],
    }
    return Measured(numbers, f"lazy networks have margins {lazy['margin'].min():.2f} to {lazy['margin'].max():.2f}")


def lazy_accuracies(rows: Table) -> Measured:
    """Return what lazy networks get right on CD-3 under both losses."""
    lazy = rows.only(task="CD-3", sigma=1.0)
    logistic, squared = (lazy.only(loss=loss) for loss in ("logistic", "mse"))
    numbers = {
        "best logistic": logistic["accuracy"].max() if len(logistic) else np.nan,
        "worst squared": squared["accuracy"].min() if len(squared) else np.nan,
        "networks": [len(logistic), len(squared)],
        # A network that has not learned the seen cells says nothing about the unseen ones.
        "worst on seen cells": lazy["train accuracy"].min(initial=1.0),
    }
    losses = [float(networks["train loss"].max(initial=0.0)) for networks in (logistic, squared)]
    means = f"means {logistic['accuracy'].mean():.0%} and {squared['accuracy'].mean():.0%}"
    return Measured(numbers, f"{means}; training losses up to {losses[0]:.1e} and {losses[1]:.1e}")


def accuracies_by_scale(rows: Table) -> Measured:
    """Return what networks of every initial scale get right on CD-k, under both losses."""
    sigmas = sorted(rows.by("sigma"))
    if len(sigmas) < 2:
        raise MissingRowsError(f"needs networks of several initial scales; there are {sigmas}")
    logistic, squared = (rows.only(loss=loss) for loss in ("logistic", "mse"))
    easy = logistic.but(task="CD-3")
    numbers = {
        "CD-3, best logistic": float(logistic.only(task="CD-3")["accuracy"].max()),
        "CD-1 and CD-2, worst logistic": float(easy["accuracy"].min()),
        "CD-3, squared, lazy": _mean(squared, "accuracy", task="CD-3", sigma=sigmas[-1]),
        "CD-3, squared, richest": mean_over_seeds(squared, "accuracy", task="CD-3", sigma=sigmas[0]),
    }
    return Measured(numbers, f"{len(rows)} networks, initial scales {sigmas[0]:g} to {sigmas[-1]:g}")


def unseen_additivity(rows: Table) -> Measured:
    """Return how additive rich networks on the asymmetric set are, on unseen pairs alone and as plotted."""
    rich = _fitted(rows, sigma=1e-6, set="asymmetric")
    numbers = {"on unseen pairs": _mean(rich, "additivity"), "as plotted": _mean(rich, "published additivity")}
    return Measured(numbers, f"{len(rich)} networks; the plotted mean counts seen pairs, where it is 1 by construction")


def which_kernel(rows: Table) -> Measured:
    """Return how far the slopes of lazy networks are from those of both kernels."""
    slopes = _slopes(rows, 1.0)
    kernels = {"NNGP": OverlapKernel.relu(1, 2), "NTK": OverlapKernel.ntk(1, 2)}
    theory = {
        name: {chosen: float(slope(kernel.salience[0], p)) for chosen, p in SYMMETRIC.items()}
        for name, kernel in kernels.items()
    }
    miss = {f"{name} off by": max(abs(slopes[s].mean - theory[name][s]) for s in SYMMETRIC) for name in kernels}
    words = "; ".join(f"{name} {', '.join(f'{v:.3f}' for v in values.values())}" for name, values in theory.items())
    return Measured(miss, f"slopes of {', '.join(SYMMETRIC)}: measured {', '.join(map(str, slopes.values()))}; {words}")


def deep_context(rows: Table) -> Measured:
    """Return the best accuracy on CD-3 over depths, and what networks lean on: context over the right pair."""
    block = rows.only(task="CD-3", loss="logistic")
    depths = sorted(rows.by("depth"))
    ratio = [_mean(block, "context", depth=d) / _mean(block, "right", depth=d) for d in depths]
    by_depth = {f"{d} layer{'s' * (d > 1)}": value for d, value in zip(depths, ratio, strict=True)}
    numbers = {"best accuracy": block["accuracy"].max(), "least context / right": min(ratio)}
    return Measured({**numbers, "context / right": by_depth}, f"{len(block)} networks")


def deep_addition(rows: Table) -> Measured:
    """Return the slope of extrapolation by depth."""
    words = {1: "one layer", 2: "two layers", 3: "three layers", 4: "four layers"}
    fitted = _fitted(rows, set="extrapolation")
    slopes = {word: mean_over_seeds(fitted, "slope", depth=depth) for depth, word in words.items()}
    return Measured(
        {"four layers less one": slopes[words[4]].mean - slopes[words[1]].mean, **slopes}, f"{len(fitted)} networks"
    )


def deep_equivalence(rows: Table) -> Measured:
    """Return the accuracy on transitive equivalence by depth, at the last step."""
    last = rows.where(rows["step"] == rows["step"].max(initial=-1))
    means = {f"depth {depth}": _mean(last, "accuracy", depth=depth) for depth in (1, 2, 3, 4)}
    return Measured({"accuracy": means}, f"{len(last)} networks")
