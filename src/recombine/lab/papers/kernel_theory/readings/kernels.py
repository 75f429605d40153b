"""Kernel theory: what is read off the rows of kernels."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.kernel_theory.experiments.kernels import CONTROL, DISPERSED_SALIENCE
from recombine.lab.papers.measured import Measured
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope

#: S(1;2) of one wide random ReLU layer.
RELU_SALIENCE = 0.426422
#: The published curve at the same saliences, but for the first, read from the vector figure.
PUBLISHED_DISPERSED_ERRORS = (9.636, 7.166, 5.208, 3.272, 2.023, 0.540, 0.122)


def interactions(rows: Table) -> Measured:
    """Return the largest interaction of structured kernels on unseen cells, and the usual one without structure."""
    structured, control = rows.but(model=CONTROL), rows.only(model=CONTROL)
    numbers = {
        "largest interaction": structured["interaction"].max(),
        "without the structure": np.median(control["interaction"]),
    }
    return Measured(numbers, f"{len(structured.by('model'))} kinds of model on {len(rows.by('seed'))} random tasks")


def sampled_saliences(rows: Table) -> Measured:
    """Return S(1;2) of wide random layers: the mean, and the draw furthest from the known value."""
    draws = rows["salience"]
    furthest = draws[np.argmax(np.abs(draws - RELU_SALIENCE))]
    return Measured({"mean": draws.mean(), "furthest": furthest}, f"{len(rows)} draws of {rows['width'][0]:,} units")


def salience_by_depth(rows: Table) -> Measured:
    """Return where S(C;C) falls with depth, and how far it comes."""
    full_order = rows.where(rows["order"] == rows["factors"])
    falls = [
        f"{activation}, {factors} factors"
        for activation in ("relu", "leaky relu", "step", "quadratic")
        for factors in (2, 3, 4)
        if np.diff(full_order.only(activation=activation, factors=factors)["salience"]).min() < -1e-9
    ]
    two = full_order.only(factors=2)
    numbers = {
        "falling curves": len(falls),
        "ReLU at depth 100": two.only(activation="relu", depth=100)["salience"][0],
        "Gaussian, deepest": two.only(activation="gaussian")["salience"][-1],
    }
    return Measured(numbers, f"falls with depth for {'; '.join(falls)}" if falls else "monotone everywhere")


def leak_law(rows: Table) -> Measured:
    """Return how far slopes are from Eq. 3 on balanced sets, and how far unseen sums are from a line."""
    balanced = rows.only(shift=0.0, constant=0.0, intercept=False).but(set="asymmetric")
    numbers = {
        "largest difference": np.abs(balanced["slope"] - slope(balanced["salience"], balanced["p"])).max(),
        "bend": balanced["bend"].max(),
        "offset": np.abs(balanced["offset"]).max(),
    }
    return Measured(numbers, f"{len(balanced)} fits, p = 1 to {balanced['p'].max()}")


def offsets(rows: Table) -> Measured:
    """Return how far slopes are from Eq. 3 whatever is shifted, and answers from the closed form with offsets."""
    numbers = {
        "largest difference": np.abs(rows["slope"] - slope(rows["salience"], rows["p"])).max(),
        "bend": rows["bend"].max(),
        "from the closed form": rows["closed form"].max(),
    }
    return Measured(numbers, f"{len(rows):,} fits; offsets up to {np.abs(rows['offset']).max():.2f}")


def anchor_sets(rows: Table) -> Measured:
    """Return how far slopes of interpolation and extrapolation with as many anchors are apart."""
    plain = rows.only(shift=0.0, constant=0.0, intercept=False)
    inside = plain.only(set="interpolation")
    inner, outer = inside.paired(plain.only(set="extrapolation"), "slope", on=("p", "salience"))
    numbers = {"largest difference": np.abs(inner - outer).max(), "fits without a partner": len(inside) - len(inner)}
    return Measured(numbers, f"{len(inside)} pairs of fits, p = 2 to {inside['p'].max()}")


def equivalence_predictions(rows: Table) -> Measured:
    """Return the largest prediction on balanced unseen pairs of transitive equivalence."""
    largest = {"largest prediction": rows["largest"].max()}
    return Measured(largest, f"{len(rows)} fits: 4 tasks, both losses, with and without S0")


def ordering_margins(rows: Table) -> Measured:
    """Return the smallest margin of transitive ordering, and its least growth with distance."""
    seven = rows.only(n=7)
    growth = [np.diff(group["mean margin"]).min() for group in seven.by("loss", "salience").values()]
    numbers = {"smallest margin": seven["smallest margin"].min(), "smallest growth of the mean": min(growth)}
    return Measured(numbers, f"mean margins from distance 2 to 6 in {len(growth)} fits")


def _mean_error(rows: Table, solver: str) -> FloatArray:
    chosen = rows.only(solver=solver)
    return np.array([chosen.only(salience=s)["mean squared error"].mean() for s in DISPERSED_SALIENCE])


def dispersed_curve(rows: Table) -> Measured:
    """Return whether the error of dispersed addition falls with salience, and how far it is from the published."""
    tube, exact = (_mean_error(rows, solver) for solver in ("tube 0.1", "exact"))
    numbers = {
        "falls": bool((np.diff(tube) < 0).all() and (np.diff(exact) < 0).all()),
        "tube, from the published": np.abs(tube[1:] - PUBLISHED_DISPERSED_ERRORS).max(),
        "interpolation, from the published": np.abs(exact[1:] - PUBLISHED_DISPERSED_ERRORS).max(),
    }
    return Measured(numbers, f"mean over {len(rows.by('seed'))} sets at {len(DISPERSED_SALIENCE)} saliences")


def substitution_scores(rows: Table) -> Measured:
    """Return accuracies on context substitution, and the best margin that any sum of seen conjunctions has."""
    accuracy = rows["accuracy"]
    numbers = {"lowest accuracy": accuracy.min(), "highest accuracy": accuracy.max()}
    return Measured(numbers | {"best sign margin": rows["best sign margin"].max()}, f"{len(rows)} fits")
