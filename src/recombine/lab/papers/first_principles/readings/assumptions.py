"""First principles: what a wrong rule, a world without derivatives and shared components cost or give; penalties."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.experiments.assumptions import MAP_OF
from recombine.lab.papers.first_principles.readings.scales import scale_in_words
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import Interval, mean_over_seeds, require, several
from recombine.tables.table import Table

#: The latent whose values have a gap.
GAP_LATENT = "front x"
NOTE = scale_in_words("tiny")


def _column(rows: Table, column: str, **case: str) -> FloatArray:
    """Values by seed of the networks of one case."""
    networks = require(rows, 2, **case)
    return np.asarray(networks[column][np.argsort(networks["seed"])], dtype=float)


def _lost(rows: Table, **case: str) -> FloatArray:
    """R2 on the support less R2 on all combinations, by seed."""
    return _column(rows, "r2 id", **case) - _column(rows, "r2 all", **case)


def _compared(rows: Table, name: str, **changed: str) -> Measured:
    """Return what a change costs off the support, beside decoders of the same seeds without it."""
    case = {"support": "orthogonal", "model": "compositional", "renderer": "smooth"}
    usual, changed_loss = _lost(rows, **case), _lost(rows, **{**case, **changed})
    numbers = {
        "more R2 lost, points": Interval.of(100 * (changed_loss - usual)),
        "mean of more R2 lost": float((changed_loss - usual).mean()),
        f"R2 lost off the support, {name}": float(changed_loss.mean()),
        "R2 lost off the support, as it should be": float(usual.mean()),
        f"R2 on the support, {name}": float(_column(rows, "r2 id", **{**case, **changed}).mean()),
    }
    return Measured(numbers, several(len(changed_loss), "seed"), note=NOTE)


def wrong_rule(rows: Table) -> Measured:
    """Return what a decoder that sums its layers loses off the support, where the world occludes softly."""
    return _compared(rows, "wrong rule", model="additive")


def world_in_steps(rows: Table) -> Measured:
    """Return what decoders lose off the support where places move in whole pixels."""
    return _compared(rows, "world in steps", renderer="in steps")


def shared_components(rows: Table) -> Measured:
    """Return how large errors in the gap are over those outside, with a component for each slot and a shared one."""
    numbers: dict[str, Any] = {}
    for model, words in (("shared", "shared component"), ("compositional", "one for each slot")):
        case = {"support": "orthogonal gap", "model": model}
        ratios = _column(rows, "mse in gap", **case) / _column(rows, "mse out of gap", **case)
        numbers[f"error in the gap / outside, {words}"] = ratios.tolist()
        numbers[f"R2 on all, {words}"] = float(_column(rows, "r2 all", **case).mean())
    return Measured(numbers, several(len(rows.by("seed")), "seed"), note=NOTE)


def maps_of_latents(rows: Table) -> Measured:
    """Return how far the worst bin of maps of errors lies above the mean, with the gap's latent and without."""
    networks = require(rows, support="orthogonal gap", model="compositional")
    panels = {name.removeprefix(MAP_OF): name for name in networks.columns if name.startswith(MAP_OF)}
    worst = {name: float(networks[column].mean()) for name, column in panels.items()}
    with_gap = {name: value for name, value in worst.items() if GAP_LATENT in name.split(", ")}
    others = {name: value for name, value in worst.items() if name not in with_gap}
    highest = max(others, key=others.__getitem__)
    numbers = {
        "least with the gap's latent less most without": min(with_gap.values()) - others[highest],
        "worst over mean, least with the gap's latent": min(with_gap.values()),
        "worst over mean, most without": others[highest],
    }
    return Measured(numbers, f"{several(len(worst), 'panel')} of 25 bins; most without: {highest}", note=NOTE)


def _r2(rows: Table, penalty: str, column: str = "r2") -> dict[str, float]:
    supports = [*dict.fromkeys(rows["support"].tolist())]
    return {name: mean_over_seeds(rows, column, penalty=penalty, support=name).mean for name in supports}


def slope_penalty(rows: Table) -> Measured:
    """Return R2 on random points of plain readers with the contrast of slopes, and how much it changes."""
    without, penalised = _r2(rows, "none"), _r2(rows, "contrast")
    numbers: dict[str, Any] = {f"R2, {name}": value for name, value in penalised.items()}
    numbers |= {f"change, {name}": penalised[name] - without[name] for name in penalised}
    return Measured(numbers, f"{several(len(rows.by('seed')), 'seed')}, one weight of the penalty, 0.5")


def curvature_penalty(rows: Table) -> Measured:
    """Return R2 on random points of plain readers with the penalty on mixed second derivatives."""
    name = "second derivatives, tanh"
    without, penalised, fitted = _r2(rows, "none, tanh"), _r2(rows, name), _r2(rows, name, "r2 seen")
    numbers: dict[str, Any] = {f"R2, {support}": value for support, value in penalised.items()}
    numbers |= {f"change, {support}": penalised[support] - without[support] for support in penalised}
    numbers["R2 on the diagonal itself"] = fitted["diagonal"]
    return Measured(numbers, f"{several(len(rows.by('seed')), 'seed')}, one weight of the penalty, 0.5")
