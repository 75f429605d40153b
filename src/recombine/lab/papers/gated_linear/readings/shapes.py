"""Gated linear networks: panels that show the best shape of each kind, or a curve over units or hyperplanes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from recombine.lab.papers.gated_linear.readings.networks import RELU_KINDS, best_gaps, complete_networks
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import mean_over_seeds, several
from recombine.tables.table import Table

#: Most units of a shape that is compared: limits were published up to there.
MOST_UNITS = 100
#: Momentum of the networks in figure 3.
TRAINED_MOMENTUM = 0.9


def best_network(rows: Table) -> Measured:
    """Return by how much the best trained network of two layers errs more than the best SVM-GLN, ours and published."""
    gaps, errors = best_gaps(rows.only(layers=2, momentum=0.0), ("group", "network"))
    theirs = published("two layers", momentum=0.0)
    theirs = Table({name: theirs[name] for name in theirs.columns} | {"layers": np.full(len(theirs), 2)})
    their_gaps, _ = best_gaps(theirs.where(theirs["units"] <= MOST_UNITS), ("published group", "network"))
    if not gaps.keys() <= their_gaps.keys():
        raise MissingRowsError("some number of images was not published: run with --scale full")
    numbers: dict[str, Any] = {
        "network less SVM-GLN": {f"{size} images": float(gap.mean()) for size, gap in gaps.items()},
        "less the published": {
            f"{size} images": float(gap.mean() - their_gaps[size].mean()) for size, gap in gaps.items()
        },
        "published": ", ".join(f"{size} images {gap.mean():.2f}" for size, gap in their_gaps.items()),
    }
    listed = ", ".join(f"{size} images {values.mean():.1f}%" for size, values in errors["network"].items())
    return Measured(numbers, f"{rows['images'][0]}; error of the best network {listed}", stands_in=stands_in(rows))


def networks_by_units(rows: Table) -> Measured:
    """Return how far errors of trained networks are from the published ones, by units and number of images."""
    chosen = {"bits": 1, "thresholds": "median", "momentum": 0.0, "classifier": "network"}
    ours, theirs = rows.only(layers=2, **chosen), published("two layers", **chosen)
    apart = {
        (size, units): 100 * float(group["error"].mean() - theirs.only(samples=size, units=units)["error"].mean())
        for (size, units), group in sorted(ours.by("samples", "units").items())
        if len(theirs.only(samples=size, units=units))
    }
    if not apart:
        raise MissingRowsError("no number of images that was published")
    by_size = {size: [mean for (n, _), mean in apart.items() if n == size] for size, _ in apart}
    numbers = {
        "shapes": len(apart),
        "ours less published": float(np.mean([*apart.values()])),
        "by number of images": ", ".join(f"{size} images {np.mean(gaps):+.1f}" for size, gaps in by_size.items()),
        "largest difference": f"{max(map(abs, apart.values())):.1f} points",
    }
    listed = ", ".join(f"{size} images, {units} units {gap:+.1f}" for (size, units), gap in apart.items())
    return Measured(numbers, f"three networks each, points: {listed}", stands_in=stands_in(rows))


def wide_networks(rows: Table) -> Measured:
    """Return how the errors of networks of more than a hundred units compare with those of 10 and of 100, in points."""
    errors = {
        size: {units: 100 * mean_over_seeds(cell, "error").mean for units, cell in sorted(group.by("units").items())}
        for size, group in sorted(rows.only(layers=2, classifier="network").by("samples").items())
    }
    wide = [(size, units) for size, means in errors.items() for units in means if units > MOST_UNITS]
    if not wide or any(not {10, MOST_UNITS} <= means.keys() for means in errors.values()):
        raise MissingRowsError("needs networks of 10, 100 and more units")
    numbers = {
        "10 units less wide": {
            f"{size} images, {units} units": errors[size][10] - errors[size][units] for size, units in wide
        },
        "wide less 100 units": {
            f"{size} images, {units} units": errors[size][units] - errors[size][MOST_UNITS] for size, units in wide
        },
    }
    listed = "; ".join(
        f"{size} images " + ", ".join(f"{units} units {error:.1f}%" for units, error in means.items())
        for size, means in errors.items()
    )
    seeds = several(len(rows.by("seed")), "seed")
    return Measured(numbers, f"{rows['images'][0]}, {seeds} of contexts: {listed}", stands_in=stands_in(rows))


def best_relu(rows: Table) -> Measured:
    """Return the errors of the best shapes of ReLU networks and of three limits, as differences one after the other."""
    trained = rows.only(momentum=TRAINED_MOMENTUM)
    complete = complete_networks(trained.where(trained["units"] <= MOST_UNITS), RELU_KINDS)
    best = {size: _least(group, RELU_KINDS) for size, group in sorted(complete.by("samples").items())}
    if not best:
        raise MissingRowsError("no networks of which every limit has a hard margin")
    steps = {
        f"{later} less {kind}": {f"{size} images": errors[later] - errors[kind] for size, errors in best.items()}
        for kind, later in pairwise(RELU_KINDS)
    }
    theirs = published("relu", momentum=TRAINED_MOMENTUM)
    listed = "; ".join(
        f"{size} images " + ", ".join(f"{kind} {error:.1f}%" for kind, error in _least(group, RELU_KINDS).items())
        for size, group in sorted(theirs.where(theirs["units"] <= MOST_UNITS).by("samples").items())
    )
    return Measured(
        steps,
        f"{rows['images'][0]}, shapes of up to {MOST_UNITS} units, each seed's own best; published: {listed}",
        stands_in=stands_in(rows),
    )


def _least(rows: Table, kinds: tuple[str, ...]) -> dict[str, float]:
    """Return the mean over seeds of the least error of each kind, in percent."""
    means = {}
    for kind in kinds:
        seeds = [group["error"].min() for group in rows.only(classifier=kind).by("seed").values()]
        if not seeds:
            raise MissingRowsError(f"no {kind} with an error")
        means[kind] = 100 * float(np.mean(seeds))
    return means


def best_gated(rows: Table) -> Measured:
    """Return how far the best trained gated network is from the published one, on average over numbers of images."""
    ours = rows.only(layers=2, momentum=TRAINED_MOMENTUM)
    theirs = published("two layers", momentum=TRAINED_MOMENTUM)
    theirs = theirs.where(theirs["units"] <= MOST_UNITS)
    sizes = sorted(ours.by("samples").keys() & theirs.by("samples").keys())
    if not sizes:
        raise MissingRowsError("no number of images that was published")
    both = {
        size: [_least(table.only(samples=size), ("network",))["network"] for table in (ours, theirs)] for size in sizes
    }
    numbers = {
        "ours less published": float(np.mean([mine - released for mine, released in both.values()])),
        "by number of images": ", ".join(
            f"{size} images {mine - released:+.1f}" for size, (mine, released) in both.items()
        ),
    }
    listed = ", ".join(f"{size} images {mine:.1f}% ({released:.1f}%)" for size, (mine, released) in both.items())
    return Measured(numbers, f"each seed's own best shape; ours (published): {listed}", stands_in=stands_in(rows))


def random_hyperplanes(rows: Table) -> Measured:
    """Return at how many hyperplanes one layer with random thresholds errs least, and by how much less with many."""
    chosen = rows.only(layers=1, momentum=0.0, classifier="network")
    least: dict[str, int] = {}
    gains: dict[str, float] = {}
    for size, group in sorted(chosen.by("samples").items()):
        curves = {
            name: {bits: mean_over_seeds(cell, "error").mean for bits, cell in sorted(curve.by("bits").items())}
            for name, curve in group.by("thresholds").items()
        }
        if set(curves) != {"median", "random"} or max(curves["random"]) not in curves["median"]:
            raise MissingRowsError("needs networks with random thresholds and with medians")
        most = max(curves["random"])
        least[f"{size} images"] = min(curves["random"], key=curves["random"].__getitem__)
        gains[f"{size} images"] = 100 * (curves["random"][most] - curves["median"][most])
    if not gains:
        raise MissingRowsError("no networks of one layer")
    theirs = published("one layer", momentum=0.0, classifier="network", bits=14)
    released = {
        size: [mean_over_seeds(group, "error", thresholds=name).mean for name in ("random", "median")]
        for size, group in sorted(theirs.by("samples").items())
    }
    listed = ", ".join(f"{size} images {100 * (random - median):.1f}" for size, (random, median) in released.items())
    numbers = {"hyperplanes of the least error": least, "with most, random less median": gains, "published": listed}
    seeds = several(len(chosen.by("seed")), "seed")
    return Measured(numbers, f"{rows['images'][0]}, {seeds} of contexts", stands_in=stands_in(rows))
