"""Gated linear networks on images, lower labels against upper: trained networks beside the limits theory gives them.

Every row compares one classifier with one trained network: its error on validation images, and the share of them on
which the two disagree ("inconsistency"; two unrelated classifiers with errors p and q disagree on p(1-q) + q(1-p)).
Three columns or classifiers repeat defects of the published pipeline on purpose: "published group" and "published
effective" are the norms as coded there, and "reloaded" is the inconsistency with a network that lost its thresholds.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab.papers.gated_linear.experiments.authors import authors_halves
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.halves import Halves, label_halves
from recombine.lab.worlds.images.sources import load_images
from recombine.theory.gated.contexts import HalfSpaces, relu_gates
from recombine.theory.gated.machine import NotSeparableError, UndecidedError
from recombine.theory.gated.margin import largest_margin

if TYPE_CHECKING:
    from recombine.lab.nets.by_hand.gated import GatedNetworks

Rows = list[dict[str, Any]]
#: Norms of two-layer networks that are compared with training.
TWO_LAYER_NORMS = ("group", "published group", "effective", "published effective", "zeta")


def problem_of(setting: Mapping[str, Any]) -> Halves:
    """Return the samples of a setting; "pool" keeps validation the same where only smaller sizes are asked for.

    With "split" "authors" they are the very images that the authors drew.
    """
    sizes = [*setting["sizes"], setting.get("pool", 1)]
    images = load_images(setting["images"])
    if setting.get("split") == "authors":
        return authors_halves(images, max(sizes), setting["validation"])
    return label_halves(images, sizes, setting["validation"])


def half_spaces(thresholds: str, units: int, bits: int, X: FloatArray, seed: int) -> HalfSpaces:
    """Return half-spaces with thresholds at the "median" of all inputs, or "random" ones."""
    if thresholds == "median":
        return HalfSpaces.balanced(units, bits, X, seed)
    return HalfSpaces.random(units, bits, X.shape[1], seed)


def gated_networks(unit: Unit) -> Rows:
    """Gated networks and their limits: one row per training size, momentum, seed and classifier.

    The setting has "images", "sizes", "validation", "layers" (1 or 2), "units", "bits", "thresholds", "momenta",
    "steps" and "seeds"; "norms" where not all limits are wanted. The limit of one layer is a separate maximum margin
    in every context.

    Examples
    --------
    >>> setting = {"images": "digits", "sizes": [60], "validation": 100, "layers": 2, "units": 5, "bits": 1}
    >>> setting |= {"thresholds": "median", "momenta": [0.0], "steps": 50, "seeds": [0]}
    >>> [row["classifier"] for row in gated_networks(Unit("two-layer", 1, setting))][:3]
    ['network', 'group', 'published group']
    """
    setting = unit.setting
    halves, layers = problem_of(setting), setting["layers"]
    contexts = {
        seed: half_spaces(setting["thresholds"], setting["units"], setting["bits"], halves.X, seed)
        for seed in unit.seeds
    }
    networks = _trained(unit, "one-layer" if layers == 1 else "contexts", halves, contexts)
    reloaded = networks.without_thresholds(seed=1).outputs(halves.X[halves.validation])
    norms = setting.get("norms", ("one-layer",) if layers == 1 else TWO_LAYER_NORMS)
    limits = {
        (size, seed): _limits(halves, halves.rows(size), contexts[seed], norms)
        for size in setting["sizes"]
        for seed in unit.seeds
    }
    return _rows(unit, halves, networks, [limits[size, seed] for size, _, seed in _keys(unit)], reloaded)


def _keys(unit: Unit) -> list[tuple[int, float, int]]:
    """Size, momentum and seed of each network."""
    return list(itertools.product(unit.setting["sizes"], unit.setting["momenta"], unit.seeds))


def _trained(unit: Unit, kind: str, halves: Halves, contexts: Mapping[int, HalfSpaces]) -> GatedNetworks:
    """Train one network for each size, momentum and seed, all of them together."""
    from recombine.lab.nets.by_hand.gated import GatedNetworks
    from recombine.lab.nets.by_hand.gated_training import schedule_of, train_gated

    sizes, momenta, seeds = zip(*_keys(unit), strict=True)
    by_network = [contexts[seed] for seed in seeds] if contexts else ()
    shape = {"units": unit.setting.get("units", 1), "contexts": by_network, "device": unit.device}
    start = GatedNetworks.initial(kind, seeds, halves.X.shape[1], **shape)
    schedule = schedule_of([halves.rows(size) for size in sizes], seeds, unit.setting["steps"])
    return train_gated(start, halves.X, halves.y, schedule, momentum=momenta)


def _rows(
    unit: Unit,
    halves: Halves,
    networks: GatedNetworks,
    limits: Sequence[Mapping[str, FloatArray | None]],
    reloaded: FloatArray,
) -> Rows:
    """Compare each network with itself and with its limits; "margin" is its smallest one in training."""
    setting = unit.setting
    about = {name: setting[name] for name in ("images", "layers", "units", "bits", "thresholds") if name in setting}
    answers = networks.outputs(halves.X[halves.validation])
    largest = max(setting["sizes"])
    margins = networks.outputs(halves.X[:largest]) * halves.y[:largest]
    rows: Rows = []
    for index, (size, momentum, seed) in enumerate(_keys(unit)):
        smallest = float(margins[index, :size].min())
        common = about | {"samples": size, "momentum": momentum, "seed": seed, "margin": smallest}
        for name, values in {"network": answers[index], **limits[index]}.items():
            rows.append(common | {"classifier": name} | _compared(halves, values, answers[index], reloaded[index]))
    return rows


def _limits(halves: Halves, rows: IntArray, contexts: HalfSpaces, norms: Sequence[str]) -> dict[str, FloatArray | None]:
    """Return the decisions (validation,) of each norm's largest margin, None where there is none."""
    X, y, test = halves.X[rows], halves.y[rows], halves.X[halves.validation]
    problem = X, y, contexts.ids(X), test, contexts.ids(test), contexts.contexts
    return {norm: _decisions(*problem, norm) for norm in norms}


def _decisions(
    X: FloatArray, y: FloatArray, ids: IntArray, test: FloatArray, test_ids: IntArray, contexts: int, norm: str
) -> FloatArray | None:
    try:
        return largest_margin(X, y, ids, contexts=contexts, norm=norm, tolerance=1e-7).decision(test, test_ids)
    except (NotSeparableError, UndecidedError):
        return None


def _compared(halves: Halves, values: FloatArray | None, network: FloatArray, reloaded: FloatArray) -> dict[str, Any]:
    """Error of decisions, and how often they differ from the network's; not a number where there are none."""
    y = halves.y[halves.validation]
    error = _differing(network, y)
    if values is None:
        return dict.fromkeys(("error", "inconsistency", "reloaded", "chance"), float("nan")) | {"network error": error}
    limit_error = _differing(values, y)
    return {
        "error": limit_error,
        "inconsistency": _differing(values, network),
        "reloaded": _differing(values, reloaded),
        "chance": limit_error * (1 - error) + error * (1 - limit_error),
        "network error": error,
    }


def _differing(a: FloatArray, b: FloatArray) -> float:
    return float(np.mean((a > 0) != (b > 0)))


def relu_networks(unit: Unit) -> Rows:
    """ReLU networks, and what theory says when given more or less of them: one row per seed, size, momentum, limit.

    "hidden layer" is the maximum margin on the trained hidden activities, "learned contexts" the group norm with the
    trained network's gates, "random contexts" the same with random half-spaces at median thresholds and one unit that
    is always on, "gates only" the maximum margin on the binary gates. Settings as for ``gated_networks``, without
    "layers", "bits" and "thresholds".

    Examples
    --------
    >>> setting = {"images": "digits", "sizes": [60], "validation": 100, "units": 20, "momenta": [0.9]}
    >>> rows = relu_networks(Unit("relu", 1, setting | {"steps": 50, "seeds": [0]}))
    >>> [row["classifier"] for row in rows]
    ['network', 'hidden layer', 'learned contexts', 'random contexts', 'gates only']
    """
    halves = problem_of(unit.setting)
    networks = _trained(unit, "relu", halves, {})
    weights = networks.weights[:, :, 0].cpu().numpy().astype(np.float64)
    limits = [
        _relu_limits(halves, halves.rows(size), network, seed)
        for network, (size, _, seed) in zip(weights, _keys(unit), strict=True)
    ]
    return _rows(unit, halves, networks, limits, networks.outputs(halves.X[halves.validation]))


def _relu_limits(halves: Halves, rows: IntArray, weights: FloatArray, seed: int) -> dict[str, FloatArray | None]:
    X = halves.X
    hidden, gates = np.maximum(X @ weights.T, 0.0), relu_gates(weights, X)
    random = HalfSpaces.balanced(gates.shape[1], 1, X, seed).ids(X)
    always = np.column_stack([random, np.ones(len(X), dtype=np.int64)])
    plain = np.zeros((len(X), 1), dtype=np.int64)
    cases: dict[str, tuple[FloatArray, IntArray, int, str]] = {
        "hidden layer": (hidden, plain, 1, "zeta"),
        "learned contexts": (X, gates, 2, "frozen"),
        "random contexts": (X, always, 2, "frozen"),
        "gates only": (gates.astype(np.float64), plain, 1, "zeta"),
    }
    y, test = halves.y[rows], halves.validation
    return {
        name: _decisions(inputs[rows], y, ids[rows], inputs[test], ids[test], contexts, norm)
        for name, (inputs, ids, contexts, norm) in cases.items()
    }
