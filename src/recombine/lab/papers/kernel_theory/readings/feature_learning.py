"""Kernel theory: what is read off the insides of one-hot networks."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.kernel_theory.experiments.feature_learning import OTHER
from recombine.lab.papers.kernel_theory.experiments.onehot import FITTED_LOSS
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import estimate, mean_over_seeds, require
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

#: Initial scale of lazy networks.
LAZY_SIGMA = 1.0


def _rich(rows: Table) -> Table:
    return require(rows.but(sigma=LAZY_SIGMA))


def unit_types(rows: Table) -> Measured:
    """Return how much of rich networks on equivalence is units of the four types, and of lazy ones."""
    rich, lazy = _rich(rows), require(rows, sigma=LAZY_SIGMA)
    mixed = rich.only(type=OTHER)
    four = rich.but(type=OTHER)
    numbers = {
        "smallest share of the four types": float(1 - mixed["share"].max()),
        "fewest units of a type": int(four["units"].min()),
        "smallest accuracy": float(rich["accuracy"].min()),
        "share in lazy networks": float(1 - lazy.only(type=OTHER)["share"].mean()),
    }
    active = mixed["active"]
    detail = f"{len(mixed)} rich networks with {active.min()} to {active.max()} active units of {rich['width'][0]:,}"
    return Measured(numbers, f"{detail}; {len(lazy.only(type=OTHER))} lazy networks")


def class_weights(rows: Table) -> Measured:
    """Return how far the input weights of equivalent items differ in rich networks, and of others from opposite."""
    four = _rich(rows).but(type=OTHER)
    sizes = np.abs(np.stack([four[f"input {number}"] for number in range(8)]))
    numbers = {
        "largest difference within a class": float(np.nanmax(four["within a class"])),
        "largest distance from opposite": float(np.nanmax(four["from opposite"])),
    }
    detail = f"input weights of length 1, so that each entry is {np.nanmean(sizes):.3f} in size"
    return Measured(numbers, f"{detail}; {len(four)} types in {len(four.by('seed'))} networks")


def similarity_before_and_after(rows: Table) -> Measured:
    """Return medians and spreads of the similarity of overlapping cells, of lazy and rich networks."""
    numbers: dict[str, object] = {}
    for name, chosen in (("lazy", require(rows, sigma=LAZY_SIGMA)), ("rich", _rich(rows))):
        before, after = (chosen.only(when=when) for when in ("before", "after"))
        numbers[f"{name}: median before"] = mean_over_seeds(before, "similarity", level=0.5)
        numbers[f"{name}: median after"] = mean_over_seeds(after, "similarity", level=0.5)
        spread_before, spread_after = (estimate(_spreads(group)) for group in (before, after))
        numbers[f"{name}: spread after / before"] = spread_after.mean / spread_before.mean
    return Measured(numbers, "spread: between the similarities that a tenth of pairs are below, and above")


def _spreads(rows: Table) -> list[float]:
    low, high = (rows.only(level=level) for level in (0.1, 0.9))
    upper, lower = high.paired(low, "similarity", on=("seed",))
    return [float(value) for value in upper - lower]


def slopes_by_anchors(rows: Table) -> Measured:
    """Return how far slopes of lazy networks with one to five anchors are from the leak law, and whether they rise."""
    lazy = require(rows, sigma=LAZY_SIGMA)
    lazy = require(lazy.where(lazy["train loss"] <= FITTED_LOSS))
    salience = OverlapKernel.relu(1, 2).salience[0]
    means = {
        name: {p: mean_over_seeds(lazy, "slope", set=name, p=p) for p in sorted(lazy.only(set=name).by("p"))}
        for name in ("extrapolation", "interpolation")
    }
    miss = [abs(measured.mean - float(slope(salience, p))) for by in means.values() for p, measured in by.items()]
    numbers: dict[str, object] = {"from the law, at most": max(miss)}
    for name, by in means.items():
        numbers[name] = {f"p = {p}:": measured for p, measured in by.items()}
    gaps = [means["interpolation"][p].mean - means["extrapolation"][p].mean for p in means["interpolation"]]
    detail = f"differences of the two sets with equally many anchors {', '.join(f'{gap:+.3f}' for gap in gaps)}"
    return Measured(numbers, f"p = 1 to 5, six networks each; {detail}")
