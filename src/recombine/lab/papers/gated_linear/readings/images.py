"""Gated linear networks on images: thresholds, and shapes of networks."""

from __future__ import annotations

from typing import Any

from recombine.lab.papers.gated_linear.readings.networks import fewest_samples, network_pairs, setting_of, ten_units
from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import Estimate, estimate, mean_over_seeds
from recombine.tables.table import Table


def lost_thresholds(rows: Table) -> Measured:
    """Return how often the limit disagrees with two-layer networks that kept and that lost their thresholds."""
    return _reloaded(ten_units(rows), "group")


def lost_thresholds_of_one_layer(rows: Table) -> Measured:
    """Return the same of one-layer networks with 8 bits."""
    chosen = rows.only(layers=1, bits=8, thresholds="median", momentum=0.0)
    return _reloaded(fewest_samples(chosen, "one-layer networks with 8 bits and median thresholds"), "one-layer")


def _reloaded(rows: Table, classifier: str) -> Measured:
    columns = ("inconsistency", "reloaded")
    usual, lost = (mean_over_seeds(rows, column, classifier=classifier).mean for column in columns)
    numbers = {"with thresholds": f"{usual:.1%}", "without thresholds": lost, "without / with": lost / usual}
    return Measured(numbers, setting_of(rows), stands_in=stands_in(rows))


def threshold_errors(rows: Table) -> Measured:
    """Return how much larger errors are with random thresholds, and both errors of networks with 10 units."""
    networks = rows.only(layers=2, momentum=0.0, classifier="network")
    few = fewest_samples(networks.only(units=10, bits=1), "two-layer networks with 10 units and one bit")
    gains = {bits: _gain(networks_of) for bits, networks_of in sorted(networks.by("bits").items())}
    numbers: dict[str, Any] = {"one hyperplane, random less median": gains[1].mean} | {
        f"10 units, {word}": mean_over_seeds(few, "error", thresholds=word) for word in ("median", "random")
    }
    detail = f"gain in points {gains[1]} with one hyperplane per unit"
    if 2 in gains:
        fewest = _gain(fewest_samples(networks.only(bits=2), "networks with two bits"))
        numbers |= {
            "two hyperplanes, random less median": f"{gains[2]} points",
            "one hyperplane less two": gains[1].mean - gains[2].mean,
            "two hyperplanes, fewest images": f"{fewest} points",
        }
        detail += f", {gains[2]} with two ({fewest} with fewest images)"
    return Measured(numbers, f"{detail}; 10 units at {setting_of(few)}", stands_in=stands_in(rows))


def _gain(networks: Table) -> Estimate:
    median, random = network_pairs(networks, "error", "thresholds", "median", "random")
    return estimate(random - median)


def errors_by_bits(rows: Table) -> Measured:
    """Return at how many hyperplanes the error of one-layer networks is least, and how large it is with many."""
    chosen = rows.only(layers=1, thresholds="median", momentum=0.0, classifier="network")
    few = fewest_samples(chosen, "one-layer networks with median thresholds")
    bits = sorted(few.by("bits"))
    if not {0, 2, 4, 8, 10} <= set(bits):
        raise MissingRowsError(f"needs one-layer networks with 0, 2, 4, 8 and 10 bits; there are {bits}")
    errors = {bit: mean_over_seeds(few, "error", bits=bit).mean for bit in bits}
    best, many = min(errors, key=errors.__getitem__), min(errors[bit] for bit in bits if bit >= 10)
    numbers = {
        "s of the least error": best,
        "least error and at s = 0": f"{errors[best]:.1%} and {errors[0]:.1%}",
        "error from s = 10 on": many,
        "error from s = 10 on less at s = 0": 100 * (many - errors[0]),
    }
    more = [
        f"{min(mean_over_seeds(group, 'error', bits=bit).mean for bit in bits if bit >= 10):.1%} with {size}"
        for size, group in sorted(chosen.by("samples").items())
        if size > few["samples"][0]
    ]
    later = f"; from 10 on {', '.join(more)} samples" if more else ""
    random = rows.only(
        layers=1, thresholds="random", momentum=0.0, classifier="network", samples=int(few["samples"][0])
    )
    if len(random.by("bits")) >= 5:
        errors = {bit: mean_over_seeds(random, "error", bits=bit).mean for bit in sorted(random.by("bits"))}
        best = min(errors, key=errors.__getitem__)
        numbers["random thresholds: s of the least error"] = best
        numbers["random thresholds: least error and with most"] = f"{errors[best]:.1%} and {errors[max(errors)]:.1%}"
    return Measured(numbers, f"{setting_of(few)}, s up to {bits[-1]}{later}", stands_in=stands_in(rows))


def depth_gains(rows: Table) -> Measured:
    """Return how much less error the best two layers have than the best single one, by number of samples."""
    chosen = rows.only(thresholds="median", momentum=0.0, classifier="network")
    shapes = {key: group.by("units", "bits").values() for key, group in chosen.by("samples", "layers").items()}
    sizes = sorted(chosen.by("samples"))
    if not sizes or any((size, layers) not in shapes for size in sizes for layers in (1, 2)):
        raise MissingRowsError("needs networks of one and of two layers")
    lowest = {key: min(mean_over_seeds(group, "error").mean for group in groups) for key, groups in shapes.items()}
    gains = {f"{size} samples": 100 * (lowest[size, 1] - lowest[size, 2]) for size in sizes}
    shallow, deep = (len(shapes[sizes[-1], layers]) for layers in (1, 2))
    detail = f"{rows['images'][0]}, best of {shallow} shapes with one layer and of {deep} with two"
    return Measured({"gain": gains}, detail, stands_in=stands_in(rows))
