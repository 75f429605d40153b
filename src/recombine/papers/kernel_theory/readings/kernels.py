"""Kernel theory: what is read off the rows of kernels."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.kernel_theory.experiments.kernels import CONTROL, DISPERSED_SALIENCE
from recombine.papers.measured import Measured
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope

#: (activation, depth, factors) -> S(1..C;C), to six digits.
SALIENCE = {
    ("relu", 1, 2): (0.426422, 0.147155),
    ("relu", 5, 2): (0.282169, 0.435661),
    ("relu", 3, 3): (0.203501, 0.094238, 0.106783),
    ("quadratic", 2, 3): (0.146891, 0.141077, 0.136094),
    ("gaussian", 10, 4): (0.014461, 0.039430, 0.058895, 0.469995),
    ("ntk", 1, 2): (0.371068, 0.257864),
    ("ntk", 2, 3): (0.171232, 0.091317, 0.212351),
}
#: Salience -> test error of dispersed addition, averaged over seeds 1 to 50: exact, and with a tube of 0.1.
DISPERSED = {
    "exact": (13.227937, 9.563902, 7.052915, 5.063567, 3.079513, 1.760275, 0.243260, 0.0),
    "tube 0.1": (13.2282, 9.6361, 7.1658, 5.2075, 3.2719, 2.0231, 0.5383, 0.1214),
}
#: The published curve at the same saliences, but for the first, read from the vector figure.
PUBLISHED_DISPERSED = (9.636, 7.166, 5.208, 3.272, 2.023, 0.540, 0.122)


def interactions(rows: Table) -> Measured:
    """Return the largest interaction of structured kernels on unseen cells, and the usual one without structure."""
    structured, control = rows.but(model=CONTROL), rows.only(model=CONTROL)
    numbers = {
        "largest interaction": structured["interaction"].max(),
        "without the structure": np.median(control["interaction"]),
    }
    return Measured(numbers, f"{len(structured.by('model'))} kinds of model on {len(rows.by('seed'))} random tasks")


def salience_table(rows: Table) -> Measured:
    """Return how far the saliences of seven networks are from the known ones."""
    miss = {}
    for (activation, depth, factors), expected in SALIENCE.items():
        found = rows.only(activation=activation, depth=depth, factors=factors)["salience"]
        miss[f"{activation}, depth {depth}, {factors} factors"] = float(np.abs(found - np.array(expected)).max())
    where = max(miss, key=miss.__getitem__)
    return Measured({"largest difference": miss[where]}, f"{len(miss)} networks; largest difference at {where}")


def sampled_saliences(rows: Table) -> Measured:
    """Return S(1;2) of wide random layers: the mean, and the draw furthest from the known value."""
    found = rows["salience"]
    furthest = found[np.argmax(np.abs(found - SALIENCE["relu", 1, 2][0]))]
    return Measured({"mean": found.mean(), "furthest": furthest}, f"{len(rows)} draws of {rows['width'][0]:,} units")


def salience_by_depth(rows: Table) -> Measured:
    """Return where S(C;C) falls with depth, and how far it comes."""
    whole = rows.where(rows["order"] == rows["factors"])
    falls = [
        f"{activation}, {factors} factors"
        for activation in ("relu", "leaky relu", "step", "quadratic")
        for factors in (2, 3, 4)
        if np.diff(whole.only(activation=activation, factors=factors)["salience"]).min() < -1e-9
    ]
    two = whole.only(factors=2)
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
    """Return how far slopes are from Eq. 3 whatever is shifted, and two offsets of the asymmetric set at S = 0.4."""
    uneven = rows.only(set="asymmetric", p=1, salience=0.4, shift=0.0, constant=0.0)
    numbers = {
        "largest difference": np.abs(rows["slope"] - slope(rows["salience"], rows["p"])).max(),
        "bend": rows["bend"].max(),
        "from the closed form": rows["closed form"].max(),
        "offset": uneven.only(intercept=False)["offset"][0],
        "offset, free intercept": uneven.only(intercept=True)["offset"][0],
    }
    return Measured(numbers, f"{len(rows)} fits; offsets of the asymmetric set at S = 0.4")


def anchor_sets(rows: Table) -> Measured:
    """Return how far slopes of interpolation and extrapolation with as many anchors are apart."""
    plain = rows.only(shift=0.0, constant=0.0, intercept=False)
    inside = plain.only(set="interpolation")
    one, two = inside.paired(plain.only(set="extrapolation"), "slope", on=("p", "salience"))
    numbers = {"largest difference": np.abs(one - two).max(), "fits without a partner": len(inside) - len(one)}
    return Measured(numbers, f"{len(inside)} pairs of fits, p = 2 to {inside['p'].max()}")


def equivalence_predictions(rows: Table) -> Measured:
    """Return the largest prediction on balanced unseen pairs of transitive equivalence."""
    largest = {"largest prediction": rows["largest"].max()}
    return Measured(largest, f"{len(rows)} fits: 4 tasks, both losses, with and without S0")


def ordering_margins(rows: Table) -> Measured:
    """Return the smallest margin of transitive ordering, and its least growth with distance."""
    seven = rows.only(n=7)
    growth = [np.diff(part["mean margin"]).min() for part in seven.by("loss", "salience").values()]
    numbers = {"smallest margin": seven["smallest margin"].min(), "smallest growth of the mean": min(growth)}
    return Measured(numbers, f"mean margins from distance 2 to 6 in {len(growth)} fits")


def _mean_error(rows: Table, solver: str) -> FloatArray:
    chosen = rows.only(solver=solver)
    return np.array([chosen.only(salience=s)["mean squared error"].mean() for s in DISPERSED_SALIENCE])


def dispersed_errors(rows: Table) -> Measured:
    """Return how far the error of dispersed addition is from the known curves of both solvers."""
    names = {"exact": "exact", "tube": "tube 0.1"}
    numbers = {word: np.abs(_mean_error(rows, name) - DISPERSED[name]).max() for word, name in names.items()}
    return Measured(numbers, f"mean over {len(rows.by('seed'))} sets at {len(DISPERSED_SALIENCE)} saliences")


def published_dispersed(rows: Table) -> Measured:
    """Return how far both solvers are from the published curve."""
    names = {"exact": "exact", "tube": "tube 0.1"}
    numbers = {word: np.abs(_mean_error(rows, name)[1:] - PUBLISHED_DISPERSED).max() for word, name in names.items()}
    return Measured(numbers, "largest distance of both solvers from the published curve")


def substitution_scores(rows: Table) -> Measured:
    """Return accuracies on context substitution, and the best margin that any sum of seen conjunctions has."""
    accuracy = rows["accuracy"]
    numbers = {"lowest accuracy": accuracy.min(), "highest accuracy": accuracy.max()}
    return Measured(numbers | {"best sign margin": rows["best sign margin"].max()}, f"{len(rows)} fits")
