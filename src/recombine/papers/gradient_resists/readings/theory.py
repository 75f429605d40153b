"""Gradient resists: what is read off the rows of the propositions themselves."""

from __future__ import annotations

import numpy as np

from recombine.papers.measured import Measured
from recombine.papers.seeds import require
from recombine.tables.table import Table


def covariance_ratio(rows: Table) -> Measured:
    """Return the exact ratio of both covariances with the label, and how far samples and one step are from theory."""
    exact, sampled, step = (require(rows, route=route) for route in ("exact", "samples", "one step"))
    numbers = {
        "ratio": float(exact["ratio"][0]),
        "samples off by": [abs(sampled["first"] - 4 / 9).max(), abs(sampled["second"] + 2 / 9).max()],
        "one step from half of them": abs(2 * step["first"] - sampled["first"]).max(),
    }
    detail = (
        f"covariances {exact['first'][0]:.4f} and {exact['second'][0]:.4f}, a boundary tilted by "
        f"{exact['tilt'][0]:.1f} degrees; weights after one step are half the sampled covariances"
    )
    return Measured(numbers, detail)


def information_kept(rows: Table) -> Measured:
    """Return how much more a prediction tells about the input than about the label, at least."""
    more = require(rows)["of input"] - rows["of label"]
    detail = f"{len(rows):,} random problems with 2 to 6 levels; strictly more in {np.mean(more > 1e-6):.0%} of them"
    return Measured({"least I(X; prediction) - I(Y; prediction)": more.min()}, detail)


def step_function(rows: Table) -> Measured:
    """Return information and gradient of the prediction 1[X > 0]."""
    step, soft = require(rows, steepness=0), require(rows.where(rows["steepness"] > 0))
    steep = soft.where(soft["steepness"] == soft["steepness"].max())
    detail = (
        f"a prediction 1[X > 0] with X uniform. On the way there, sigmoid({steep['steepness'][0]:g} X) has "
        f"{steep['information'][0]:.3f} bits and a slope above a thousandth on {steep['share'][0]:.1%} of X"
    )
    return Measured({name: float(step[name][0]) for name in ("information", "gradient")}, detail)
