"""ReLU networks: limits that are given more or less of a network, gates alone, and the authors' images."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.gated_linear.readings.networks import RELU_KINDS, complete_networks
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import mean_over_seeds, several
from recombine.tables.table import Table

#: What tells one kind of ReLU network from another.
SHAPE = ("momentum", "samples", "units")


def relu_limits(rows: Table, momentum: float = 0.9) -> Measured:
    """Return how often limits that are given more or less of a ReLU network disagree with it, and their errors."""
    trained = rows.only(momentum=momentum)
    trained = trained.where((trained["units"] >= 20) & (trained["units"] <= 100))
    if not len(trained):
        raise MissingRowsError(f"no networks with momentum {momentum:g} and 20 to 100 units")
    complete = complete_networks(trained, RELU_KINDS)
    error, apart = (
        {kind: mean_over_seeds(complete, column, classifier=kind).mean for kind in RELU_KINDS}
        for column in ("error", "inconsistency")
    )
    every, there = len(trained.only(classifier="network")), len(complete) // len(RELU_KINDS)
    limits = RELU_KINDS[1:]
    numbers: dict[str, Any] = {
        **{kind: apart[kind] for kind in limits},
        "inconsistency, hidden layer to random": [apart[kind] for kind in limits],
        "hidden layer's error off by": 100 * abs(error["hidden layer"] - error["network"]),
        "error, network to random": {kind: error[kind] for kind in RELU_KINDS if kind != "hidden layer"},
    }
    numbers["networks left out"] = f"{every - there} of {every}"
    detail = (
        f"{rows['images'][0]}, networks with 20 to 100 units; left out are those of which some limit has no hard "
        f"margin; error of the hidden layer's limit {error['hidden layer']:.1%}"
    )
    return Measured(numbers, detail, stands_in=stands_in(rows))


def gate_errors(rows: Table) -> Measured:
    """Return the error of the maximum margin on binary gates, beside that of the same networks."""
    gates = rows.only(momentum=0.9, classifier="gates only")
    there = gates.where(np.isfinite(gates["error"]))
    if not len(there):
        raise MissingRowsError("no network whose gates alone separate its training samples; it takes hundreds of units")
    error, network = _beside_network(there)
    sizes = [
        "{:.1%} against {:.1%}".format(*_beside_network(group))
        + f" with {size} samples ({several(len(group), 'network')})"
        for size, group in sorted(there.by("samples").items())
    ]
    numbers = {
        "error of gates": f"{error:.1%}",
        "of their networks": f"{network:.1%}",
        "gates / networks": error / network,
    }
    detail = f"{rows['images'][0]}, {len(there)} of {len(gates)} networks are separable by their gates: "
    return Measured(numbers, detail + ", ".join(sizes), stands_in=stands_in(rows))


def _beside_network(rows: Table) -> list[float]:
    """Error of a limit and of its network, which stands in every row, so that the same networks are compared."""
    return [mean_over_seeds(rows, column).mean for column in ("error", "network error")]


def gate_errors_beside_published(rows: Table) -> Measured:
    """Return how far errors of gates alone are from the published ones, by momentum, samples and units."""
    return _beside_published(
        rows, "gates only", "shapes of which gates separate the images of all three networks on both sides"
    )


def network_errors_beside_published(rows: Table) -> Measured:
    """Return how far errors of ReLU networks are from the published ones, by momentum, samples and units."""
    return _beside_published(rows, "network", "three networks each")


def _beside_published(rows: Table, classifier: str, words: str) -> Measured:
    """Compare means of shapes of which all three networks have an error, on either side."""
    ours, theirs = _means(rows.only(classifier=classifier)), _means(published("relu", classifier=classifier))
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise MissingRowsError("no shape that was published")
    apart = np.array([ours[key] - theirs[key] for key in shared])
    listed = [
        f"momentum {momentum:g}, {samples} images, {units} units {ours[key]:.1f}% ({theirs[key]:.1f}%)"
        for key in shared
        for momentum, samples, units in [key]
    ]
    largest = f"{np.abs(apart).max():.1f} points"
    numbers = {"shapes": len(shared), "ours less published": float(apart.mean()), "largest difference": largest}
    return Measured(numbers, f"{words}; ours (published): {', '.join(listed)}", stands_in=stands_in(rows))


def published_shapes(rows: Table) -> int:
    """Return how many of the published shapes all three networks of some rows have an error for."""
    return len(_means(rows.only(classifier="network")).keys() & _means(published("relu", classifier="network")).keys())


#: Shapes of ReLU networks that were published: momentum, number of images and of units.
PUBLISHED_SHAPES = 36


def _means(rows: Table) -> dict[tuple[float, int, int], float]:
    finite = rows.where(np.isfinite(rows["error"]))
    return {key: 100 * float(group["error"].mean()) for key, group in finite.by(*SHAPE).items() if len(group) == 3}
