"""Gated linear networks: limits on the authors' images and contexts, problem by problem beside the published errors."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.gated_linear.readings.networks import network_pairs, setting_of, ten_units
from recombine.lab.papers.gated_linear.readings.published import beside_published
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import estimate, mean_over_seeds
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
    few, many = network_pairs(chosen, "error", "classifier", "group", "effective")
    every, all_l2 = network_pairs(rows.only(layers=2), "error", "classifier", "group", "effective")
    detail = (
        f"{setting_of(chosen)} of contexts; seed by seed {(many - few).min():.1f} to {(many - few).max():.1f} points; "
        f"over all {len(every)} problems {estimate(all_l2 - every)} points, at most {(all_l2 - every).max():.1f}"
    )
    return Measured(errors | {"SVM-L2 less SVM-GLN": float(np.mean(many - few))}, detail)


def defects(rows: Table) -> Measured:
    """Return how much worse than the L2 norm its released formula is with either deviation, and with both."""
    chosen = ten_units(rows)
    names = {
        "reshape alone": "published effective groups",
        "coefficient alone": "published effective coefficient",
        "both": "published effective",
    }
    right = mean_over_seeds(chosen, "error", classifier="effective").mean
    worse = {
        f"{words}, worse by": 100 * (mean_over_seeds(chosen, "error", classifier=name).mean - right)
        for words, name in names.items()
    }
    return Measured({"L2 norm as defined": f"{right:.1%}"} | worse, f"{setting_of(chosen)} of contexts, 10 units")
