"""Kernel theory: what is read off the rows of networks on images.

Published numbers belong to MNIST and CIFAR. Where the 8x8 digits stood in for MNIST, only the direction is judged;
about photographs they say nothing. Every mean is over the networks at hand, so that a sweep that was stopped early is
judged by what it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.kernel_theory.experiments.onehot import ADDITION_SETS
from recombine.papers.measured import Measured, MissingRowsError, stands_in
from recombine.papers.seeds import Estimate, estimate, mean_over_seeds, networks_behind
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope

#: Distances without which a published curve cannot be compared.
ENDS = (0, 20)
#: Accuracy on unseen pairs of transitive equivalence by distance, as published.
EQUIVALENCE = {0: 0.529, 5: 0.580, 10: 0.760, 15: 0.832, 20: 0.891}
PHOTO_NETWORKS = ("resnet", "vit")


def _distances(rows: Table, conditions: Iterable[dict[str, Any]], needed: Sequence[int] = ENDS) -> list[int]:
    """Distances at which all conditions have networks: those that are needed among them, or at least two on digits."""
    shared = sorted(set.intersection(*(set(rows.only(**condition).by("distance")) for condition in conditions)))
    missing = [] if stands_in(rows) else [distance for distance in needed if distance not in shared]
    if missing or len(shared) < len(needed):
        what = f"distance {missing[0]}" if missing else "two distances"
        raise MissingRowsError(f"not every condition has networks at {what}; those with all: {shared}")
    return shared


def _series(rows: Table, column: str, distances: Sequence[int], **condition: Any) -> list[Estimate]:
    return [mean_over_seeds(rows, column, **condition, distance=distance) for distance in distances]


def _listed(series: Iterable[Estimate]) -> str:
    return ", ".join(map(str, series))


def _ends(series: Sequence[Estimate]) -> list[float]:
    return [series[0].mean, series[-1].mean]


def _photographs(rows: Table, numbers: dict[str, Any], detail: str) -> Measured:
    """Return what networks on photographs gave; digits are too far from them."""
    if stands_in(rows):
        raise MissingRowsError(f"needs CIFAR (scale full); the 8x8 digits that stood in gave {detail}")
    return Measured(numbers, detail)


def gain_of_squared_loss(rows: Table) -> Measured:
    """Return how much more networks get right on CD-3 with squared loss than with logistic loss, far apart."""
    losses = ("logistic", "mse")
    far = _distances(rows, [{"task": "CD-3", "loss": loss} for loss in losses], needed=ENDS[-1:])[-1]
    logistic, squared = (mean_over_seeds(rows, "accuracy", task="CD-3", loss=loss, distance=far) for loss in losses)
    detail = f"distance {far}: logistic {logistic}, squared {squared}; {networks_behind((logistic, squared))}"
    return Measured({"squared less logistic": squared.mean - logistic.mean}, detail, stands_in=stands_in(rows))


def context_accuracies(rows: Table) -> Measured:
    """Return accuracies on CD-k by distance."""
    names = ("CD-3", "CD-2", "CD-1")
    distances = _distances(rows, [{"task": task, "loss": "logistic"} for task in names])
    found = {task: _series(rows, "accuracy", distances, task=task, loss="logistic") for task in names}
    hard, *easy = found.values()
    numbers = {
        **found,
        "CD-3 at the ends": _ends(hard),
        "lowest of CD-2, CD-1": min(s.mean for one in easy for s in one),
    }
    every = networks_behind(s for series in found.values() for s in series)
    return Measured(numbers, f"distances {distances}; {every}", stands_in=stands_in(rows))


def addition_slopes(rows: Table) -> Measured:
    """Return slopes by distance with one and with two anchors."""
    distances = _distances(rows, [{"set": "extrapolation"}, {"set": "interpolation"}])
    one, two = (_series(rows, "slope", distances, set=name) for name in ("extrapolation", "interpolation"))
    numbers = {
        "p = 1": one,
        "p = 1 at the ends": _ends(one),
        "p = 2 less p = 1": [second.mean - first.mean for first, second in zip(one, two, strict=True)],
    }
    gaps = [_gap(rows.only(distance=distance)) for distance in distances]
    detail = f"distances {distances}: p = 2 {_listed(two)}; less p = 1, seed by seed {_listed(gaps)}"
    return Measured(numbers, f"{detail}; {networks_behind(one + two)}", stands_in=stands_in(rows))


def _gap(rows: Table) -> Estimate:
    """How much larger slopes are with two anchors than with one, network by network of the same seed."""
    two, one = rows.only(set="interpolation").paired(rows.only(set="extrapolation"), "slope")
    return estimate(two - one)


def photo_addition(rows: Table) -> Measured:
    """Return the largest slope on photographs, and how many steps of the curves of item values do not rise."""
    at_hand = [
        (network, name)
        for network in PHOTO_NETWORKS
        for name in ADDITION_SETS
        if name in ("extrapolation", "interpolation") or len(rows.only(architecture=network, set=name))
    ]
    slopes = {pair: mean_over_seeds(rows, "slope", architecture=pair[0], set=pair[1]) for pair in at_hand}
    # Published curves are means over networks; single ones are reported next to them.
    steps = np.concatenate([_steps(rows.only(architecture=network, set=name)) for network, name in at_hand])
    numbers = {"largest slope": max(s.mean for s in slopes.values()), "steps that do not rise": int((steps <= 0).sum())}
    detail = "; ".join(f"{network}, {name} {found}" for (network, name), found in slopes.items())
    detail += (
        f"; {networks_behind(slopes.values())}; {len(steps)} steps of curves averaged over networks; the curves of "
        f"{int(np.sum(rows['increasing']))} of {len(rows)} single networks rise throughout"
    )
    return _photographs(rows, numbers, detail)


def _steps(rows: Table) -> FloatArray:
    """Steps between the values of neighbouring unseen items, averaged over networks."""
    values = np.stack([rows[f"value {item}"] for item in range(9)], axis=1)
    curve = values[np.isfinite(rows["slope"])].mean(axis=0)
    return np.diff(curve[np.isfinite(curve)])


def photo_context(rows: Table) -> Measured:
    """Return accuracies on CD-3 of photographs, and how much better CD-1 is."""
    found = {
        network: [mean_over_seeds(rows, "accuracy", architecture=network, task=task) for task in ("CD-3", "CD-1")]
        for network in PHOTO_NETWORKS
    }
    numbers = {
        "CD-3": {network: hard for network, (hard, _) in found.items()},
        "CD-1 less CD-3": {network: easy.mean - hard.mean for network, (hard, easy) in found.items()},
    }
    detail = "; ".join(f"{network}: CD-3 {hard}, CD-1 {easy}" for network, (hard, easy) in found.items())
    return _photographs(rows, numbers, f"{detail}; {networks_behind(s for pair in found.values() for s in pair)}")


def equivalence_accuracies(rows: Table) -> Measured:
    """Return accuracies on transitive equivalence by distance, and how far they are from the published ones."""
    condition = {"anchors": 4, "loss": "logistic"}
    distances = _distances(rows, [condition])
    found = _series(rows, "accuracy", distances, **condition)
    known = _series(rows, "in-distribution accuracy", distances, **condition)
    miss = [abs(one.mean - EQUIVALENCE.get(d, np.nan)) for d, one in zip(distances, found, strict=True)]
    detail = f"distances {distances}; seen pairs {_listed(known)}; {networks_behind(found)}"
    return Measured({"unseen pairs": found, "from the published": miss}, detail, stands_in=stands_in(rows))


def untrained_salience(rows: Table) -> Measured:
    """Return S(1;2) of untrained networks by distance."""
    plain = rows.only(set="extrapolation")
    distances = _distances(plain, [{"set": "extrapolation"}])
    found, distinct, slopes = (
        _series(plain, column, distances) for column in ("salience", "salience of distinct samples", "slope")
    )
    law = [float(slope(np.clip(one.mean, 0, 0.5), 1)) for one in found]
    detail = (
        f"distances {distances}; without pairs of a sample with itself {_listed(distinct)}; slopes with one anchor by "
        f"the leak law {', '.join(f'{value:.3f}' for value in law)}, after training {_listed(slopes)}; "
        f"{networks_behind(found)}"
    )
    return Measured({"salience": found}, detail, stands_in=stands_in(rows))


def implied_salience(rows: Table) -> Measured:
    """Return how much less salience slopes with two anchors imply than slopes with one."""
    distances = _distances(rows, [{"set": "extrapolation"}, {"set": "interpolation"}])
    one, two = (_series(rows, "slope", distances, set=name) for name in ("extrapolation", "interpolation"))
    # Eq. 3 solved for S: m / (1 + m) with one anchor, m / 2 with two.
    first, second = [s.mean / (1 + s.mean) for s in one], [s.mean / 2 for s in two]
    words = [", ".join(f"{value:.3f}" for value in implied) for implied in (first, second)]
    detail = (
        f"distances {distances}: from p = 1 {words[0]}; from p = 2 {words[1]}; slopes {_listed(one)} and "
        f"{_listed(two)}; {networks_behind(one + two)}"
    )
    less = [a - b for a, b in zip(first, second, strict=True)]
    return Measured({"less with two anchors": less}, detail, stands_in=stands_in(rows))


def leaning(rows: Table) -> Measured:
    """Return how much more networks lean on context than on the right pair, by distance."""
    condition = {"task": "CD-3", "loss": "logistic"}
    distances = _distances(rows, [condition])
    sizes, right = (_series(rows, kind, distances, **condition) for kind in ("context", "right"))
    ratio = [one.mean / other.mean for one, other in zip(sizes, right, strict=True)]
    numbers = {"context / right": ratio, "at the ends": [ratio[0], ratio[-1]]}
    return Measured(numbers, f"distances {distances}; {networks_behind(sizes)}", stands_in=stands_in(rows))
