"""Multi-task learning and pretraining: what is read off the rows of theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.multitask.readings.rows import MIN_SEEDS
from recombine.lab.papers.seeds import require, several
from recombine.tables.table import Column, Table
from recombine.writing import listing

#: Group norm of the cone program on P2, and where flow from weights of 1e-6 ends.
GROUP_NORM, FLOW_NORM = 2.865619, 3.2024
#: Where new features are judged, and the published losses of PT+FT with 5, 10, 20, 30 and 40 of them.
NEW_FEATURE_SAMPLES, PUBLISHED_NEW_LOSSES = 128, (9.6e-4, 0.157, 0.947, 0.998, 0.992)


#: Features known at most a tenth as strongly as they are needed.
SMALL_FEATURE_RATIO = 0.1
#: Samples with which published tangent kernels had come to rest.
TANGENT_SAMPLES = (16, 32, 64, 128, 256)


def _mean(rows: Table, column: str, min_seeds: int = 1, **condition: Any) -> float:
    return float(require(rows, min_seeds, **condition)[column].mean())


def _mean_near(rows: Table, column: str, name: str, value: float) -> float:
    """Return the mean of a column where another has a value, up to rounding."""
    return _mean(rows.where(np.isclose(rows[name], value)), column)


def flow_differences(rows: Table, kind: str, starts: int) -> Measured:
    """Return how far gradient flow ends from the interpolator of least potential."""
    chosen = require(rows, starts, kind=kind)
    largest = {"largest difference": chosen["difference"].max()}
    return Measured(largest, f"of a coefficient, over {several(len(chosen), 'start')} of the weights")


def published_penalty(rows: Table) -> Measured:
    """Return how far finetuning by gradient flow ends from the minimisers of the published and of the exact penalty."""
    chosen = require(rows, 4, kind="PT+FT")
    published, worst = chosen["symmetric difference"], chosen["symmetric difference"].argmax()
    numbers = {"from the published penalty": published[worst], "from the exact one": chosen["difference"].max()}
    return Measured(numbers, f"largest difference of a coefficient, at {chosen['start'][worst]}")


def conserved_drift(rows: Table) -> Measured:
    """Return how far w^2 - v^2 drifts under gradient flow."""
    largest = {"largest drift": require(rows, 9)["drift"].max()}
    return Measured(largest, f"{len(rows)} starts, from beginning to end of training")


def drift_power(rows: Table) -> Measured:
    """Return the power of the step size with which w^2 - v^2 drifts: the slope of a line through logarithms."""
    rows = require(rows, 3).where(np.argsort(rows["rate"]))
    x, y = (np.log(rows[name]) - np.log(rows[name]).mean() for name in ("rate", "drift"))
    detail = f"drift {rows['drift'][0]:.1e} at a rate of {rows['rate'][0]:g}"
    return Measured({"power": float((x @ y) / (x @ x))}, detail)


def _law(rows: Table, penalty: str) -> Column:
    """Return by how much order and feature dependence exceed one together."""
    chosen = require(rows, penalty=penalty)
    return np.asarray(chosen["order"] + chosen["dependence"] - 1)


def excess_with_readouts(rows: Table) -> Measured:
    """Return by how much order and feature dependence exceed one together where readouts start above zero."""
    excess = _law(rows, "PT+FT, gamma = 0.001")
    return Measured({"largest excess over one": excess.max(), "smallest excess": excess.min()}, f"{len(excess)} places")


def penalty_orders(rows: Table) -> Measured:
    """Return orders of PT+FT and MTL at one place, and their least difference wherever B < beta."""
    below = rows.where(rows["ratio"] < 1)
    published, exact, joint = (require(below, penalty=name) for name in ("PT+FT, k = B", "PT+FT, k = B/2", "MTL"))
    orders = {"PT+FT": published, "MTL": joint}
    numbers: dict[str, Any] = {name: _mean_near(curve, "order", "ratio", 1e-3) for name, curve in orders.items()}
    forms = {"published": published, "exact": exact}
    numbers["smallest difference"] = {form: (curve["order"] - joint["order"]).min() for form, curve in forms.items()}
    return Measured(numbers, f"orders at B / beta = 0.001; differences at all {len(joint)} places with B < beta")


def turned_units(rows: Table) -> Measured:
    """Return how much more a turned ReLU unit costs than a known direction, over all sizes of the known feature."""
    curves = [require(rows, penalty=f"ReLU, cosine {cosine}")["price"] for cosine in ("1", "0.9", "0")]
    numbers = {
        f"price at cosine {cosine:g} over that at {before:g}, least": float((later / price).min())
        for (cosine, before), price, later in zip(((0.9, 1.0), (0.0, 0.9)), curves, curves[1:], strict=False)
    }
    least = rows["ratio"].min()
    return Measured(numbers, f"{len(curves[0])} sizes of the known feature, from {least:.1g} of the coefficient")


def orders_of_units(rows: Table) -> Measured:
    """Return how orders of ReLU penalties compare with MTL's, and how far order and feature dependence add to one."""
    tuned, joint = (require(rows, penalty=name) for name in ("ReLU, cosine 1", "MTL"))
    lead = tuned["order"] - joint["order"]
    small = tuned["ratio"] <= SMALL_FEATURE_RATIO
    if not small.any():
        raise MissingRowsError("no known features of at most a tenth of the coefficient")
    ahead = tuned["ratio"][lead > 0]
    law = max(float(np.abs(_law(rows, f"ReLU, cosine {cosine}")).max()) for cosine in ("0", "0.9", "1"))
    numbers = {
        "least lead while B is up to a tenth": float(lead[small].min()),
        "order and dependence off one by": law,
        "ahead up to B / beta": float(ahead.max()) if len(ahead) else 0.0,
    }
    return Measured(numbers, f"{len(tuned)} sizes of the known feature")


def probe_difference(rows: Table) -> Measured:
    """Return how far finetuning from large weights ends from linear probing."""
    difference = _mean_near(rows, "from probe", "scaling", 100)
    return Measured({"largest difference, m = 100": difference}, "of a coefficient")


def pursuit_cost(rows: Table) -> Measured:
    """Return what finetuning from small weights costs over basis pursuit."""
    cost = _mean_near(rows, "over l1", "scaling", 1e-4)
    pairs = zip(rows["scaling"], rows["over l1"], strict=True)
    gaps = ", ".join(f"{gap:.2%} at {m:.2g}" for m, gap in pairs if m < 0.5)
    return Measured({"cost over the least, m = 1e-4": cost}, f"by m: {gaps}")


def decayed_norms(rows: Table) -> Measured:
    """Return the group norms that vanishing weight decay ends at, and that of the cone program."""
    norms = require(rows, 6, route="weight decay")["group norm"]
    cone = _mean(rows, "group norm", route="cone program")
    numbers = {"least and most with decay": [norms.min(), norms.max()], "cone program": cone}
    return Measured(numbers, f"group norms from {len(norms)} random starts")


def flow_norms(rows: Table) -> Measured:
    """Return the group norms that gradient flow from smaller and smaller weights ends at."""
    flow = require(rows, 3, route="gradient flow")
    flow = flow.where(np.argsort(-flow["start"]))
    last = _mean_near(flow, "group norm", "start", 1e-6)
    numbers = {"group norms": flow["group norm"], "from weights of 1e-6": last, "over the least": last / GROUP_NORM}
    return Measured(numbers, f"from weights of {flow['start'].max():g} down")


def tangent_kernel(rows: Table) -> Measured:
    """Return the loss of the tangent kernel of an untrained network where all features are shared, beside PT+FT's."""
    losses = {}
    for n in TANGENT_SAMPLES:
        chosen = rows.only(overlap=40, n=n)
        lazy = require(chosen, MIN_SEEDS, method="stl probe")
        tuned = require(chosen, MIN_SEEDS, method="pt+ft", form="exact")
        losses[n] = [float(lazy["loss"].mean()), float(lazy["loss"].min()), float(tuned["loss"].max())]
    numbers = {
        "loss": [lazy for lazy, _, _ in losses.values()],
        "least of a seed over the largest of PT+FT": min(least / largest for _, least, largest in losses.values()),
    }
    return Measured(numbers, f"theory, with {listing(map(str, losses))} samples; published 0.976 to 0.768")


def _losses(rows: Table, **condition: Any) -> Column:
    """Return the predicted losses of at least three seeds with 64 samples and all features shared."""
    chosen = require(rows, MIN_SEEDS, n=64, overlap=40, **condition)
    return chosen["loss"][np.argsort(chosen["seed"])]


def shared_feature_losses(rows: Table) -> Measured:
    """Return predicted losses of PT+FT and of a single task where all features are shared."""
    tuned, stl = (_losses(rows, form="exact", method=name) for name in ("pt+ft", "stl"))
    spread = f"PT+FT from {tuned.min():.1e} to {tuned.max():.1e}, STL up to {stl.max():.2f}, mean {stl.mean():.2f}"
    return Measured({"mean of PT+FT": tuned.mean(), "least of STL": stl.min()}, f"{len(tuned)} seeds; {spread}")


def published_loss_ratio(rows: Table) -> Measured:
    """Return the loss that the exact penalty predicts over that of the published one."""
    exact, published = (_losses(rows, method="pt+ft", form=form) for form in ("exact", "symmetric"))
    ratios = exact / published
    numbers = {"mean ratio": ratios.mean(), "least ratio": ratios.min(), "largest": ratios.max()}
    return Measured(numbers, f"exact over published form, {len(ratios)} seeds")


def _relative(rows: Table, scaling: float, active: int, location: str, n: int = 64, method: str = "pt+ft") -> float:
    about = {"scaling": scaling, "active": active, "place": location}
    return _mean(rows, "relative loss", MIN_SEEDS, n=n, method=method, **about)


def _seeds(rows: Table, n: int = 64) -> str:
    return f"theory, means of {len(rows.only(n=n).by('seed'))} seeds"


def error_ratios(rows: Table, active: int, location: str, scalings: tuple[float, ...]) -> Measured:
    """Return the error with some features, known ("inside") or new ("outside"), over that with 5 known ones."""
    ratios = [_relative(rows, m, active, location) / _relative(rows, m, 5, "inside") for m in scalings]
    return Measured({f"ratio at m = {m:g}": ratio for m, ratio in zip(scalings, ratios, strict=True)}, _seeds(rows))


def new_feature_losses(rows: Table) -> Measured:
    """Return the error with 5 new features as the scaling falls."""
    losses = [_relative(rows, m, 5, "outside") for m in (1.0, 0.1, 0.01)]
    numbers = {"loss": losses, "at m = 1": losses[0], "at m = 0.01": losses[-1]}
    return Measured(numbers, f"final losses at m = 1, 0.1, 0.01 (published 1.0 to about 0.01); {_seeds(rows)}")


def errors_of_new_features(rows: Table, method: str = "pt+ft") -> Measured:
    """Return how the error of plain PT+FT, or MTL, rises with the number of new features, at 128 samples."""
    active = (5, 10, 20, 30, 40)
    losses = np.array([_relative(rows, 1.0, k, "outside", NEW_FEATURE_SAMPLES, method) for k in active])
    numbers: dict[str, Any] = {f"{k} features": loss for k, loss in zip(active, losses, strict=True)}
    numbers |= {"40 features over 5": losses[-1] / losses[0], "each over the last": (losses[1:] / losses[:-1]).tolist()}
    single_task = [
        require(rows, MIN_SEEDS, n=NEW_FEATURE_SAMPLES, method="stl", scaling=1.0, active=k, place="outside")
        for k in (5, 40)
    ]
    with_five, with_forty = (float(seeds["relative loss"].mean()) for seeds in single_task)
    published = ", ".join(f"{loss:.2g}" for loss in PUBLISHED_NEW_LOSSES)
    detail = "test loss over power of targets"
    if method == "pt+ft":
        detail += f"; published (least over training) {published}"
    detail += f"; a single task has {with_five:.1e} to {with_forty:.2f}"
    return Measured(numbers, f"{detail}; {_seeds(rows, NEW_FEATURE_SAMPLES)}")
