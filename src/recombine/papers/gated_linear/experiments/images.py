"""Gated linear networks on images, lower labels against upper: trained networks beside the limits theory gives them.

Every row compares one classifier with one trained network: its error on validation images, and the share of them on
which the two disagree ("inconsistency"; two unrelated classifiers with errors p and q disagree on p(1-q) + q(1-p)).
Three columns or classifiers repeat defects of the published pipeline on purpose: "published group" and "published
effective" are the norms as coded there, and "reloaded" is the inconsistency with a network that lost its thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.runs.experiment import Unit
from recombine.theory.gated.contexts import HalfSpaces, relu_gates
from recombine.theory.gated.machine import NotSeparableError, UndecidedError
from recombine.theory.gated.margin import largest_margin
from recombine.worlds.images.label_halves import Halves, label_halves
from recombine.worlds.images.sources import load_images

if TYPE_CHECKING:
    from recombine.nets.by_hand.gated import GatedNetworks

Rows = list[dict[str, Any]]
#: Norms of two-layer networks that are compared with training.
TWO_LAYER_NORMS = ("group", "published group", "effective", "published effective", "zeta")
#: What theory is given of a trained ReLU network.
RELU_LIMITS = ("hidden layer", "learned contexts", "random contexts", "gates only")


def problem_of(setting: Mapping[str, Any]) -> Halves:
    """Return the samples of a setting; "pool" keeps validation the same where only smaller sizes are asked for."""
    sizes = [*setting["sizes"], setting.get("pool", 1)]
    return label_halves(load_images(setting["images"]), sizes, setting["validation"])


def half_spaces(thresholds: str, units: int, bits: int, X: FloatArray, seed: int) -> HalfSpaces:
    """Return half-spaces with thresholds at the "median" of all inputs, or "random" ones."""
    if thresholds == "median":
        return HalfSpaces.balanced(units, bits, X, seed)
    return HalfSpaces.random(units, bits, X.shape[1], seed)


def gated_networks(unit: Unit) -> Rows:
    """Gated networks and their limits: one row per training size, momentum, seed and classifier.

    The setting has "images", "sizes", "validation", "layers" (1 or 2), "units", "bits", "thresholds", "momenta",
    "steps" and "seeds". The limit of one layer is a separate maximum margin in every context.

    Examples
    --------
    >>> setting = {"images": "digits", "sizes": [60], "validation": 100, "layers": 2, "units": 5, "bits": 1}
    >>> setting |= {"thresholds": "median", "momenta": [0.0], "steps": 50, "seeds": [0]}
    >>> [row["classifier"] for row in gated_networks(Unit("two-layer", 1, setting))][:3]
    ['network', 'group', 'published group']
    """
    setting = unit.setting
    halves, units = problem_of(setting), setting["units"]
    contexts = {seed: half_spaces(setting["thresholds"], units, setting["bits"], halves.X, seed) for seed in unit.seeds}
    keys = [(size, m, seed) for size in setting["sizes"] for m in setting["momenta"] for seed in unit.seeds]
    networks = _trained(unit, "one-layer" if setting["layers"] == 1 else "contexts", halves, keys, contexts)
    answers = networks.outputs(halves.X[halves.validation])
    reloaded = networks.without_thresholds(seed=1).outputs(halves.X[halves.validation])
    fitted = _smallest_margins(networks, halves, keys)
    norms = ("one-layer",) if setting["layers"] == 1 else TWO_LAYER_NORMS
    limits = {(n, seed): _limits(halves, halves.rows(n), contexts[seed], norms) for n, _, seed in keys}
    about = {name: setting[name] for name in ("images", "layers", "units", "bits", "thresholds")}
    rows: Rows = []
    for place, (size, momentum, seed) in enumerate(keys):
        own = {"samples": size, "momentum": momentum, "seed": seed, "margin": float(fitted[place])}
        for name, values in {"network": answers[place], **limits[size, seed]}.items():
            compared = _compared(halves, values, answers[place], reloaded[place])
            rows.append(about | own | {"classifier": name} | compared)
    return rows


def _trained(
    unit: Unit,
    kind: str,
    halves: Halves,
    keys: Sequence[tuple[int, float, int]],
    contexts: Mapping[int, HalfSpaces],
) -> GatedNetworks:
    """Train one network for each size, momentum and seed, all of them together."""
    from recombine.nets.by_hand.gated import GatedNetworks
    from recombine.nets.by_hand.gated_training import train_gated

    seeds = [seed for _, _, seed in keys]
    start = GatedNetworks.initial(
        kind,
        seeds,
        halves.X.shape[1],
        units=unit.setting.get("units", 1),
        contexts=[contexts[seed] for seed in seeds] if contexts else (),
        device=unit.device,
    )
    return train_gated(
        start,
        halves.X,
        halves.y,
        rows=[halves.rows(size) for size, _, _ in keys],
        seeds=seeds,
        steps=unit.setting["steps"],
        momentum=[momentum for _, momentum, _ in keys],
    )


def _smallest_margins(networks: GatedNetworks, halves: Halves, keys: Sequence[tuple[int, float, int]]) -> FloatArray:
    """Return each network's smallest margin on its own training samples: positive if it fits them."""
    most = max(size for size, _, _ in keys)
    margins = networks.outputs(halves.X[:most]) * halves.y[:most]
    return np.array([row[:size].min() for row, (size, _, _) in zip(margins, keys, strict=True)])


def _limits(halves: Halves, rows: IntArray, contexts: HalfSpaces, norms: Sequence[str]) -> dict[str, FloatArray | None]:
    """Return the decisions (validation,) of each norm's largest margin, None where there is none."""
    test = halves.X[halves.validation]
    train_ids, test_ids = contexts.ids(halves.X[rows]), contexts.ids(test)
    return {
        norm: _decisions(
            halves.X[rows], halves.y[rows], train_ids, test, test_ids, contexts=contexts.contexts, norm=norm
        )
        for norm in norms
    }


def _decisions(
    X: FloatArray, y: FloatArray, ids: IntArray, test: FloatArray, test_ids: IntArray, **options: Any
) -> FloatArray | None:
    try:
        return largest_margin(X, y, ids, tolerance=1e-7, **options).decision(test, test_ids)
    except (NotSeparableError, UndecidedError):
        return None


def _compared(halves: Halves, values: FloatArray | None, network: FloatArray, reloaded: FloatArray) -> dict[str, Any]:
    """Error of decisions, and how often they differ from the network's; not a number where there are none."""
    y = halves.y[halves.validation]
    error = float(np.mean((network > 0) != (y > 0)))
    if values is None:
        none = float("nan")
        return {"error": none, "inconsistency": none, "reloaded": none, "chance": none, "network error": error}
    own = float(np.mean((values > 0) != (y > 0)))
    return {
        "error": own,
        "inconsistency": float(np.mean((values > 0) != (network > 0))),
        "reloaded": float(np.mean((values > 0) != (reloaded > 0))),
        "chance": own * (1 - error) + error * (1 - own),
        "network error": error,
    }


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
    setting = unit.setting
    halves = problem_of(setting)
    keys = [(size, m, seed) for size in setting["sizes"] for m in setting["momenta"] for seed in unit.seeds]
    networks = _trained(unit, "relu", halves, keys, {})
    answers = networks.outputs(halves.X[halves.validation])
    weights = networks.weights[:, :, 0].cpu().numpy().astype(np.float64)
    fitted = _smallest_margins(networks, halves, keys)
    rows: Rows = []
    for place, (size, momentum, seed) in enumerate(keys):
        limits = _relu_limits(halves, halves.rows(size), weights[place], seed)
        own = {
            "images": setting["images"],
            "units": setting["units"],
            "samples": size,
            "momentum": momentum,
            "seed": seed,
        }
        for name, values in {"network": answers[place], **limits}.items():
            compared = _compared(halves, values, answers[place], answers[place])
            rows.append(own | {"margin": float(fitted[place]), "classifier": name} | compared)
    return rows


def _relu_limits(halves: Halves, rows: IntArray, weights: FloatArray, seed: int) -> dict[str, FloatArray | None]:
    test, X, y = halves.validation, halves.X, halves.y[rows]
    hidden, gates = np.maximum(X @ weights.T, 0.0), relu_gates(weights, X)
    random = HalfSpaces.balanced(gates.shape[1], 1, X, seed).ids(X)
    always = np.column_stack([random, np.ones(len(X), dtype=np.int64)])
    plain = np.zeros((len(X), 1), dtype=np.int64)
    binary = gates.astype(np.float64)
    cases = (
        (hidden, plain, 1, "zeta"),
        (X, gates, 2, "frozen"),
        (X, always, 2, "frozen"),
        (binary, plain, 1, "zeta"),
    )
    return {
        name: _decisions(inputs[rows], y, ids[rows], inputs[test], ids[test], contexts=contexts, norm=norm)
        for name, (inputs, ids, contexts, norm) in zip(RELU_LIMITS, cases, strict=True)
    }
