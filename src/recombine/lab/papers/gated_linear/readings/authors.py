"""Gated linear networks: limits on the authors' images and contexts, problem by problem beside the published errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.gated_linear.readings.networks import best_gaps, network_pairs, setting_of, ten_units
from recombine.lab.papers.gated_linear.readings.published import beside_published, published
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, estimate, mean_over_seeds
from recombine.tables.table import Table
from recombine.writing import join_words


def one_layer(rows: Table) -> Measured:
    """Return how far errors of one-layer limits are from the published ones."""
    unseen = rows.only(layers=1, thresholds="median", bits=9, samples=500)
    detail = "an image in a context without training images counts as wrong, as in the released code"
    if len(unseen):
        ours = mean_over_seeds(unseen, "error").mean
        detail += f" (with 9 hyperplanes and 500 images the error is {ours:.1%} where it counts as the negative class)"
    return _apart(rows.only(layers=1), "one-layer", detail)


def two_layers(rows: Table) -> Measured:
    """Return the same of two-layer limits under the group norm as it was computed."""
    two = rows.only(layers=2)
    right, wrong = network_pairs(two, "error", "classifier", "group", "published group")
    detail = f"mean error with the right groups {right.mean():.1f}%, with the released ones {wrong.mean():.1f}%"
    return _apart(two, "published group", detail)


def published_limits(rows: Table, classifier: str) -> int:
    """Return how many of the published problems of a classifier were solved."""
    return len(beside_published(rows, "error", classifier=classifier)[0])


def _apart(rows: Table, classifier: str, detail: str) -> Measured:
    ours, theirs = beside_published(rows, "error, zero wrong", classifier=classifier)
    if not len(ours):
        raise MissingRowsError("no problem that was published")
    apart = np.abs(ours - theirs)
    numbers = {
        "problems": len(apart),
        "equal to the image": f"{(apart < 0.005).sum()} of {len(apart)}",
        "not equal": int((apart >= 0.005).sum()),
        "mean difference": f"{apart.mean():.3f} points",
        "largest difference": float(apart.max()),
    }
    return Measured(numbers, f"{_sizes(rows)}; {detail}")


def _sizes(rows: Table) -> str:
    return f"MNIST, {join_words([str(size) for size in sorted(rows.by('samples'))])} images, three context seeds each"


def norm_gap(rows: Table) -> Measured:
    """Return how much larger the error of the L2 norm is than that of the group norm, on the authors' images."""
    chosen = ten_units(rows)
    names = {"SVM-GLN": "group", "SVM-L2": "effective", "SVM-L2 by the released formula": "published effective"}
    errors = {words: f"{mean_over_seeds(chosen, 'error', classifier=name).mean:.1%}" for words, name in names.items()}
    gaps = {
        f"{size} images": float(np.mean(_worse(group, "group", "effective")))
        for size, group in sorted(_small(rows).by("samples").items())
    }
    seeds, every = _worse(chosen, "group", "effective"), _worse(rows.only(layers=2), "group", "effective")
    detail = (
        f"errors: {setting_of(chosen)} of contexts; seed by seed {seeds.min():.1f} to {seeds.max():.1f} points; "
        f"over all {len(every)} problems {estimate(every)} points, at most {every.max():.1f}"
    )
    return Measured(errors | {"SVM-L2 less SVM-GLN": gaps}, detail)


def _small(rows: Table) -> Table:
    """Return the problems of the left end of Fig. 2d: 10 units, one hyperplane, median thresholds."""
    return rows.only(layers=2, units=10, bits=1, thresholds="median")


def _worse(rows: Table, reference: str, classifier: str) -> FloatArray:
    """Return by how many points the error of a classifier is larger than that of another, problem by problem."""
    right, wrong = network_pairs(rows, "error", "classifier", reference, classifier)
    return wrong - right


#: The released L2 norm with one of its two deviations at a time.
DEFECTS = {"reshape": "published effective groups", "coefficient": "published effective coefficient"}


def defects(rows: Table) -> Measured:
    """Return how much worse than the L2 norm its formula is with either deviation alone, by thresholds and units."""
    two, names = rows.only(layers=2), {**DEFECTS, "both": "published effective"}
    means = {name: _by_shape(two, classifier) for name, classifier in names.items()}
    single = {name: _worse(two, "effective", DEFECTS[name]) for name in DEFECTS}
    apart = _worse(two, DEFECTS["reshape"], DEFECTS["coefficient"])
    numbers: dict[str, Any] = {f"{name}, worse by": means[name] for name in names}
    numbers["coefficient worse than reshape"] = f"{(apart > 0).sum()} of {len(apart)}"
    few = ten_units(rows)
    smallest = "; ".join(f"{name} {np.mean(_worse(few, 'effective', names[name])):.1f}" for name in names)
    detail = (
        f"{_sizes(rows)}; problem by problem the coefficient adds {estimate(single['coefficient'])} points and the "
        f"reshape {estimate(single['reshape'])}; with 10 units, one hyperplane, median thresholds and 500 images "
        f"{smallest} points"
    )
    return Measured(numbers, detail)


def _by_shape(rows: Table, classifier: str) -> dict[str, float]:
    groups = sorted(rows.by("thresholds", "units").items())
    return {
        f"{thresholds}, {units} units": float(np.mean(_worse(group, "effective", classifier)))
        for (thresholds, units), group in groups
    }


def larger_defect(rows: Table) -> Measured:
    """Return which deviation costs more at either end: few units with median thresholds, many with random ones."""
    two = rows.only(layers=2)
    few, many = two.only(thresholds="median", units=10), two.only(thresholds="random", units=100)
    numbers = {
        "10 units, median: reshape less coefficient": _over_seeds(few, DEFECTS["coefficient"], DEFECTS["reshape"]),
        "100 units, random: coefficient less reshape": _over_seeds(many, DEFECTS["reshape"], DEFECTS["coefficient"]),
    }
    return Measured(numbers, f"points of error; {_sizes(rows)}, over which each seed's mean is taken")


def _over_seeds(rows: Table, reference: str, classifier: str) -> Interval:
    return Interval.of(np.array([_worse(group, reference, classifier).mean() for group in rows.by("seed").values()]))


#: The published gap of the best shapes with 2,000 images, less two standard errors over its three seeds, in points.
LEAST_PUBLISHED_GAP = 2.233 - 0.842


def best_shapes(rows: Table) -> Measured:
    """Return how much larger the error of the best shape is under the L2 norm than under the group norm (Fig. 2c)."""
    gaps, errors = best_gaps(rows.only(layers=2), ("group", "effective"))
    theirs, released = best_gaps(_released_limits(), ("published group", "published effective"))
    seeds = np.mean([gaps[size] for size in gaps], axis=0)
    largest = max(gaps)
    numbers = {
        "SVM-L2 less SVM-GLN": Interval.of(seeds),
        f"with {largest} images": float(gaps[largest].mean()),
        "by number of images": _points(gaps),
        "published": _points(theirs),
        "SVM-GLN": _listed(errors["group"]),
        "SVM-L2": _listed(errors["effective"]),
        "published SVM-GLN": _listed(released["published group"]),
        "published SVM-L2": _listed(released["published effective"]),
    }
    spread = estimate(theirs[largest])
    detail = (
        f"each seed's least error over up to 100 units, one and two hyperplanes, both thresholds; {_sizes(rows)}; "
        f"published with {largest} images {spread} points"
    )
    return Measured(numbers, detail)


def _points(gaps: Mapping[int, FloatArray]) -> dict[str, str]:
    return {f"{size} images": f"{values.mean():.1f}" for size, values in gaps.items()}


def _listed(errors: Mapping[int, FloatArray]) -> dict[str, str]:
    return {f"{size} images": f"{values.mean():.1f}%" for size, values in errors.items()}


def _released_limits() -> Table:
    rows = published("two layers", momentum=0.0)
    rows = rows.where(rows["units"] <= 100)
    return Table({name: rows[name] for name in rows.columns} | {"layers": np.full(len(rows), 2)})
