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
from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import Estimate, estimate, mean_over_seeds, networks_behind
from recombine.lab.papers.values import entries_of
from recombine.tables.table import Table
from recombine.theory.kernels.leak import slope

#: Distances without which a published curve cannot be compared.
END_DISTANCES = (0, 20)
#: Published means of ten networks by distance, read from the vector figures.
PUBLISHED_DISTANCES = (0, 5, 10, 15, 20)
EQUIVALENCE = dict(zip(PUBLISHED_DISTANCES, (0.529, 0.580, 0.760, 0.832, 0.891), strict=True))
SLOPES = {
    "extrapolation": (0.554, 0.605, 0.692, 0.747, 0.776),
    "interpolation": (0.653, 0.692, 0.763, 0.806, 0.834),
    "both": (0.656, 0.699, 0.774, 0.819, 0.833),
}
#: Published squared errors on unseen sums of new images, at distances 0 and 20.
ERRORS = {"extrapolation": (5.49, 3.10), "interpolation": (4.92, 2.46), "both": (4.62, 2.72), "asymmetric": (17.9, 8.0)}
#: Published additivity of context dependence under logistic loss, at distances 0 and 20; CD-1 and CD-2 as a range.
ADDITIVITY = {"CD-3": (0.952, 0.992), "CD-2": (0.992, 0.995), "CD-1": (0.993, 0.996)}
#: Published additivity of sums, from the lowest to the highest.
SUMS_ADDITIVITY = (0.982, 0.991)
PHOTO_ARCHITECTURES = ("resnet", "vit")


def _distances(rows: Table, conditions: Iterable[dict[str, Any]], needed: Sequence[int] = END_DISTANCES) -> list[int]:
    """Distances at which all conditions have networks: those that are needed among them, or at least two on digits."""
    shared = sorted(set.intersection(*(set(rows.only(**condition).by("distance")) for condition in conditions)))
    missing = [] if stands_in(rows) else [distance for distance in needed if distance not in shared]
    if missing or len(shared) < len(needed):
        what = f"distance {missing[0]}" if missing else "two distances"
        raise MissingRowsError(f"not every condition has networks at {what}; those with all: {shared}")
    return shared


def _series(rows: Table, column: str, distances: Sequence[int], **condition: Any) -> list[Estimate]:
    return [mean_over_seeds(rows, column, **condition, distance=distance) for distance in distances]


def _at(distances: Sequence[int], series: Sequence[Any]) -> dict[str, Any]:
    """A series by distance with the distance before each entry."""
    return {f"at {distance}:": entry for distance, entry in zip(distances, series, strict=True)}


def _listed(series: Iterable[Estimate]) -> str:
    return ", ".join(map(str, series))


def _ends(name: str, series: Sequence[Any]) -> dict[str, float]:
    """The ends of a series, as numbers of their own."""
    return {
        f"{name} at distance {end}": float(entries_of(series)[index])
        for end, index in zip(END_DISTANCES, (0, -1), strict=True)
    }


def _photographs(rows: Table, numbers: dict[str, Any], detail: str) -> Measured:
    """Return what networks on photographs gave; digits are too far from them."""
    if stands_in(rows):
        raise MissingRowsError(f"needs CIFAR (scale full); the 8x8 digits that stood in gave {detail}")
    return Measured(numbers, detail)


def gain_of_squared_loss(rows: Table) -> Measured:
    """Return how much more networks get right on CD-3 with squared loss than with logistic loss, far apart."""
    losses = ("logistic", "mse")
    far = _distances(rows, [{"task": "CD-3", "loss": loss} for loss in losses], needed=END_DISTANCES[-1:])[-1]
    logistic, squared = (mean_over_seeds(rows, "accuracy", task="CD-3", loss=loss, distance=far) for loss in losses)
    single = {loss: rows.only(task="CD-3", loss=loss, distance=far)["accuracy"] for loss in losses}
    numbers = {
        "logistic": logistic,
        "squared": squared,
        "squared less logistic": squared.mean - logistic.mean,
        "best, logistic": float(np.nanmax(single["logistic"])),
        "worst, squared": float(np.nanmin(single["mse"])),
    }
    detail = f"distance {far}; {networks_behind((logistic, squared))}"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def context_accuracies(rows: Table) -> Measured:
    """Return accuracies on CD-k by distance."""
    names = ("CD-3", "CD-2", "CD-1")
    distances = _distances(rows, [{"task": task, "loss": "logistic"} for task in names])
    accuracies = {task: _series(rows, "accuracy", distances, task=task, loss="logistic") for task in names}
    numbers = {
        **{task: _at(distances, series) for task, series in accuracies.items()},
        **_ends("CD-3", accuracies["CD-3"]),
    }
    every = networks_behind(s for series in accuracies.values() for s in series)
    return Measured(numbers, f"distances {distances}; {every}", stands_in=stands_in(rows))


def _by_anchors(rows: Table) -> tuple[list[int], list[Estimate], list[Estimate]]:
    """Distances, and slopes there with one and with two anchors."""
    distances = _distances(rows, [{"set": "extrapolation"}, {"set": "interpolation"}])
    slopes1, slopes2 = (_series(rows, "slope", distances, set=name) for name in ("extrapolation", "interpolation"))
    return distances, slopes1, slopes2


def slopes_by_distance(rows: Table) -> Measured:
    """Return slopes by distance with one and with two anchors."""
    distances, single, double = _by_anchors(rows)
    detail = f"distances {distances}; {networks_behind(single + double)}"
    return Measured(
        {"one anchor": _at(distances, single), "two anchors": _at(distances, double)}, detail, stands_in=stands_in(rows)
    )


def gain_of_an_anchor(rows: Table) -> Measured:
    """Return how much larger slopes are with two anchors than with one, by distance."""
    distances, slopes1, slopes2 = _by_anchors(rows)
    less = [b.mean - a.mean for a, b in zip(slopes1, slopes2, strict=True)]
    gaps = [estimate(_gaps(rows.only(distance=distance))) for distance in distances]
    detail = f"distances {distances}; seed by seed {_listed(gaps)}; {networks_behind(slopes1 + slopes2)}"
    nearest = _gaps(rows.only(distance=distances[0]))
    numbers = {
        "two anchors less one": _at(distances, less),
        "least gain, seed by seed, above its error": min(gap.mean - np.nan_to_num(gap.error) for gap in gaps),
        "pairs of seeds that gain": f"{int((nearest > 0).sum())} of {len(nearest)} pairs",
    }
    return Measured(numbers, detail, stands_in=stands_in(rows))


def published_errors(rows: Table) -> Measured:
    """Return how many squared errors on unseen sums are further from the published ones than two standard errors."""
    if stands_in(rows):
        raise MissingRowsError("published errors are of MNIST; digits stood in for it")
    errors = {
        (name, distance): mean_over_seeds(rows, "mse", set=name, distance=distance)
        for name in ERRORS
        for distance in END_DISTANCES
    }
    published = {
        (name, distance): ERRORS[name][index] for name in ERRORS for index, distance in enumerate(END_DISTANCES)
    }
    outside = [key for key, error in errors.items() if abs(error.mean - published[key]) > error.error]
    words = "; ".join(
        f"{name} at {distance}: {error.mean:.2f} ± {error.error:.2f}, published {published[name, distance]}"
        for (name, distance), error in errors.items()
    )
    return Measured({"outside two standard errors": len(outside), "conditions": len(errors)}, words)


def _gaps(rows: Table) -> FloatArray:
    """How much larger slopes are with two anchors than with one, network by network of the same seed."""
    slopes2, slopes1 = rows.only(set="interpolation").paired(rows.only(set="extrapolation"), "slope")
    return np.asarray(slopes2 - slopes1)


def photo_context(rows: Table) -> Measured:
    """Return accuracies on CD-3 of photographs, and how much better CD-1 is."""
    accuracies = {
        network: [mean_over_seeds(rows, "accuracy", architecture=network, task=task) for task in ("CD-3", "CD-1")]
        for network in PHOTO_ARCHITECTURES
    }
    numbers = {
        "CD-3": {network: hard for network, (hard, _) in accuracies.items()},
        "CD-1 less CD-3": {network: easy.mean - hard.mean for network, (hard, easy) in accuracies.items()},
    }
    detail = "; ".join(f"{network}: CD-3 {hard}, CD-1 {easy}" for network, (hard, easy) in accuracies.items())
    return _photographs(rows, numbers, f"{detail}; {networks_behind(s for pair in accuracies.values() for s in pair)}")


def equivalence_accuracies(rows: Table) -> Measured:
    """Return accuracies on transitive equivalence by distance, and how far they are from the published ones."""
    condition = {"anchors": 4, "loss": "logistic"}
    distances = _distances(rows, [condition])
    accuracies = _series(rows, "accuracy", distances, **condition)
    seen_accuracies = _series(rows, "in-distribution accuracy", distances, **condition)
    miss = [abs(accuracy.mean - EQUIVALENCE.get(d, np.nan)) for d, accuracy in zip(distances, accuracies, strict=True)]
    detail = f"distances {distances}; seen pairs {_listed(seen_accuracies)}; {networks_behind(accuracies)}"
    return Measured(
        {
            "unseen pairs": _at(distances, accuracies),
            "from the published": _at(distances, miss),
            "below the published": sum(
                a.mean < EQUIVALENCE.get(d, -1) for d, a in zip(distances, accuracies, strict=True)
            ),
        },
        detail,
        stands_in=stands_in(rows),
    )


def one_anchor_equivalence(rows: Table) -> Measured:
    """Return accuracies on transitive equivalence with one anchor per class by distance, and on seen pairs."""
    distances = _distances(rows, [{"anchors": 1}])
    accuracies = _series(rows, "accuracy", distances, anchors=1)
    seen = _series(rows, "in-distribution accuracy", distances, anchors=1)
    numbers = {"unseen pairs": _at(distances, accuracies), "seen pairs, not judged": _at(distances, seen)}
    return Measured(numbers, f"distances {distances}; {networks_behind(accuracies)}", stands_in=stands_in(rows))


def slopes_of_architectures(rows: Table) -> Measured:
    """Return how much slopes of sums with one anchor rise from the nearest images to the furthest, by architecture."""
    rises, listed = {}, []
    for name in ("resnet", "vit"):
        networks = rows.only(architecture=name, set="extrapolation")
        distances = _distances(networks, [{"set": "extrapolation"}])
        slopes = _series(networks, "slope", distances)
        rises[name] = slopes[-1].mean - slopes[0].mean
        listed.append(f"{name} {_listed(slopes)}")
    numbers = {"rise of ResNet": rises["resnet"], "rise of ResNet less of ViT": rises["resnet"] - rises["vit"]}
    return Measured(numbers, f"distances {distances}; slopes {'; '.join(listed)}", stands_in=stands_in(rows))


def untrained_salience(rows: Table) -> Measured:
    """Return S(1;2) of untrained networks by distance, and how much it rises from end to end, seed by seed."""
    plain = rows.only(set="extrapolation")
    distances = _distances(plain, [{"set": "extrapolation"}])
    saliences = _series(plain, "salience", distances)
    far, near = plain.only(distance=distances[-1]).paired(plain.only(distance=distances[0]), "salience")
    rise = estimate(far - near)
    numbers = {
        "salience": _at(distances, saliences),
        "rise, seed by seed, above its error": rise.mean - np.nan_to_num(rise.error),
        "networks that rise at every step": _rising(plain, distances),
    }
    detail = f"distances {distances}; rise {rise}; {networks_behind(saliences)}"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def _rising(rows: Table, distances: Sequence[int]) -> str:
    """How many networks have a higher salience at every larger distance, of those with all distances."""
    by_seed = [
        [rows.only(seed=seed, distance=distance)["salience"] for distance in distances] for seed in rows.by("seed")
    ]
    curves = [np.concatenate(curve) for curve in by_seed if all(map(len, curve))]
    return f"{sum(bool((np.diff(curve) > 0).all()) for curve in curves)} of {len(curves)}"


def law_and_slopes(rows: Table) -> Measured:
    """Return how far the leak law, applied to either salience, is from the slopes with one anchor."""
    distances, slopes1, slopes2 = _by_anchors(rows)
    plain = rows.only(set="extrapolation")
    numbers: dict[str, Any] = {}
    words = {"salience": "a sample with itself", "salience of distinct samples": "distinct samples"}
    for column, word in words.items():
        law = [float(slope(np.clip(s.mean, 0, 0.5), 1)) for s in _series(plain, column, distances)]
        numbers[f"law less slope, {word}"] = _at(distances, [a - b.mean for a, b in zip(law, slopes1, strict=True)])
    # Eq. 3 solved for S: m / (1 + m) with one anchor, m / 2 with two.
    by_one, by_two = [s.mean / (1 + s.mean) for s in slopes1], [s.mean / 2 for s in slopes2]
    apart = np.subtract(by_one, by_two)
    numbers["implied by one anchor less by two"] = _at(distances, apart.tolist())
    numbers["implied, furthest apart"] = float(np.abs(apart).max())
    return Measured(numbers, f"distances {distances}; {networks_behind(slopes1 + slopes2)}", stands_in=stands_in(rows))


def slopes_by_images(rows: Table) -> Measured:
    """Return slopes on unseen pairs of training images, of new ones, and of both pooled, over all conditions."""
    kinds = ("training images", "new images", "pooled")
    numbers: dict[str, Any] = {name: estimate(rows[f"slope, {name}"]) for name in kinds}
    less = estimate(rows["slope, training images"] - rows["slope, new images"])
    numbers["training less new images, above its error"] = less.mean - less.error
    detail = f"{len(rows)} networks, difference {less}, network by network"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def pooled_slopes(rows: Table) -> Measured:
    """Return how far slopes are from the published ones, fitted as these were: to training and new images at once."""
    if stands_in(rows):
        raise MissingRowsError("published slopes are of MNIST; digits stood in for it")
    sets = {"extrapolation": "one anchor", "interpolation": "two anchors"}
    distances = _distances(rows, [{"set": name} for name in sets])
    slopes = {name: [mean_over_seeds(rows, "slope, pooled", set=name, distance=d) for d in distances] for name in sets}
    off = [
        measured.mean - SLOPES[name][PUBLISHED_DISTANCES.index(distance)]
        for name, series in slopes.items()
        for distance, measured in zip(distances, series, strict=True)
    ]
    numbers: dict[str, Any] = {sets[name]: _at(distances, series) for name, series in slopes.items()}
    numbers["off by at most"] = max(map(abs, off))
    return Measured(numbers, networks_behind([measured for series in slopes.values() for measured in series]))


def additivity_of_context(rows: Table) -> Measured:
    """Return additivity of context dependence as published and on unseen cells alone."""
    names = tuple(ADDITIVITY)
    distances = _distances(rows, [{"task": task, "loss": "logistic"} for task in names])
    at = {
        task: [
            mean_over_seeds(rows, "published additivity", task=task, loss="logistic", distance=d)
            for d in (distances[0], distances[-1])
        ]
        for task in names
    }
    unseen = [mean_over_seeds(rows, "additivity", task="CD-3", loss="logistic", distance=d) for d in distances]
    hard = [abs(measured.mean - published) for measured, published in zip(at["CD-3"], ADDITIVITY["CD-3"], strict=True)]
    easy = [_outside(measured.mean, ADDITIVITY[task]) for task in names[1:] for measured in at[task]]
    ends = (distances[0], distances[-1])
    numbers = {
        **{task: _at(ends, series) for task, series in at.items()},
        "CD-3 rises": bool(at["CD-3"][0].mean < at["CD-3"][1].mean),
        "from the published": max(hard + easy),
    }
    numbers["CD-3, unseen cells alone"] = _at(distances, unseen)
    numbers["CD-3, unseen cells alone, at 0"] = unseen[0]
    return Measured(
        numbers,
        f"first and last of distances {distances}; unseen cells alone at all of them",
        stands_in=stands_in(rows),
    )


def additivity_of_sums(rows: Table) -> Measured:
    """Return additivity of unseen sums as published and on unseen pairs alone, over anchor sets and distances."""
    if stands_in(rows):
        raise MissingRowsError("published additivity is of MNIST; digits stood in for it")
    groups = list(rows.by("set", "distance").values())
    means = [float(group["published additivity"].mean()) for group in groups]
    numbers = {
        "lowest": min(means),
        "highest": max(means),
        "lowest on unseen pairs alone": min(float(group["additivity"].mean()) for group in groups),
        "from 0.982 to 0.991": max(_outside(mean, SUMS_ADDITIVITY) for mean in means),
    }
    return Measured(numbers, f"{len(groups)} conditions")


def _outside(value: float, ends: tuple[float, float]) -> float:
    """How far a value lies outside a range."""
    return max(0.0, min(ends) - value, value - max(ends))


def leaning(rows: Table) -> Measured:
    """Return how much more networks lean on context than on the right pair, by distance."""
    condition = {"task": "CD-3", "loss": "logistic"}
    distances = _distances(rows, [condition])
    sizes, right = (_series(rows, kind, distances, **condition) for kind in ("context", "right"))
    ratio = [size.mean / right_size.mean for size, right_size in zip(sizes, right, strict=True)]
    numbers = {"context / right": _at(distances, ratio), "at distance 0": ratio[0], "at distance 20": ratio[-1]}
    return Measured(numbers, f"distances {distances}; {networks_behind(sizes)}", stands_in=stands_in(rows))
