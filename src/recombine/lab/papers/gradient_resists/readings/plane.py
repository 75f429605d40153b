"""Gradient resists: what is read off the rows of the problem in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Estimate, estimate, mean_over_seeds, networks_behind
from recombine.lab.worlds.plane import SEEN
from recombine.tables.table import Table

#: Epochs of the published training.
LAST_EPOCH = 1024
READINGS = ("code", "text")


def held_out_shares(rows: Table, setting: str = "A", epoch: int = LAST_EPOCH, model: str = "network") -> Measured:
    """Return how much of the held-out quadrant networks label right, on the code's and on the text's data."""
    networks = rows.only(setting=setting, model=model, epoch=epoch)
    shares = {f"{name}'s data": mean_over_seeds(networks, "held-out accuracy", reading=name) for name in READINGS}
    highest = max(share.mean + share.error for share in shares.values())
    detail = f"share labelled right; {networks_behind(shares.values())}"
    if (setting, epoch, model) == ("A", LAST_EPOCH, "network"):
        bits = held_out_information([share.mean for share in shares.values()])
        detail += f"; a network with these shares has I(prediction; Y_2 | Y_1) = {bits[0]:.3f} and {bits[1]:.3f} bits"
    return Measured({**shares, "larger plus two standard errors": highest}, detail)


def tilts(rows: Table) -> Measured:
    """Return the tilt of a linear model's boundary after one epoch and in the end, beside networks."""
    text = rows.only(reading="text", setting="A")
    models = [text.only(model=model) for model in ("linear", "network")]
    linear, networks = ([mean_over_seeds(m, "tilt", epoch=epoch) for epoch in (1, 64, LAST_EPOCH)] for m in models)
    right = [mean_over_seeds(model, "held-out accuracy", epoch=LAST_EPOCH) for model in models]
    numbers = {
        "tilt of the very first step, exact": first_step_tilt(),
        "the same with centred inputs": first_step_tilt(centred=True),
        "tilt after one epoch": linear[0],
        "tilt after 64 epochs": linear[1],
        f"tilt after {LAST_EPOCH:,} epochs": linear[2],
        "held-out quadrant right at the end": right[0],
        "networks: held-out quadrant right at the end": right[1],
    }
    detail = (
        f"-w_2 / w_1 of logistic regression from zero weights, on the text's data. Networks, by mean slopes in the "
        f"held-out quadrant: {networks[1]} after 64 epochs, {networks[2]} after {LAST_EPOCH:,}; "
        f"{networks_behind(linear)}"
    )
    return Measured(numbers, detail)


def first_step_tilt(centred: bool = False) -> float:
    """Return -w_2 / w_1 of a linear model after one step down the gradient from zero weights, on the text's data.

    Whatever the loss, the step is along E[Y X], or along the covariance of Y and X where inputs are centred first. It
    is exact for unlimited samples: X_k is Y_k less a number that is 1/2 on average.

    Examples
    --------
    >>> round(first_step_tilt(), 12), round(first_step_tilt(centred=True), 12)
    (0.333333333333, 0.5)
    """
    cells = np.array(SEEN, dtype=np.float64)
    inputs, labels = cells - 0.5, 2 * cells[:, 0] - 1
    if centred:
        inputs = inputs - inputs.mean(axis=0)
    by_x1, by_x2 = (labels[:, np.newaxis] * inputs).mean(axis=0).tolist()
    return -float(by_x2) / float(by_x1)


def accidental_shares(rows: Table) -> Measured:
    """Return how many networks are right on the whole held-out quadrant: untrained, after one epoch, in the end."""
    code = rows.only(model="network", reading="code")
    start = code.only(setting="A", epoch=0)
    lucky = start["seed"][start["held-out accuracy"] == 1]
    if not len(lucky):
        raise MissingRowsError("no untrained network labels the whole held-out quadrant 1")
    numbers = {
        "untrained": len(lucky) / len(start),
        "of these after one epoch": _whole(code, "A", 1, lucky),
        "A at the end": _whole(code, "A", LAST_EPOCH, start["seed"]),
        "B at the end": _whole(code, "B", LAST_EPOCH, start["seed"]),
    }
    detail = (
        f"right on the whole held-out quadrant; {len(start)} networks, the code's data. Most of the untrained ones "
        f"answer 1 everywhere, and in B too only {_whole(code, 'B', 1, lucky):.0%} keep it through the first epoch; "
        "what differs is that B gets it back"
    )
    return Measured(numbers, detail)


def _whole(rows: Table, setting: str, epoch: int, seeds: IntArray) -> float:
    networks = rows.only(setting=setting, epoch=epoch)
    right = networks["held-out accuracy"][np.isin(networks["seed"], seeds)]
    return float(np.mean(right == 1)) if len(right) else float("nan")


def boundary_moves(rows: Table) -> Measured:
    """Return how much of the held-out quadrant changes sides in the first epochs, and how much later."""
    if LAST_EPOCH not in rows["epoch"]:
        raise MissingRowsError(f"no network was trained for {LAST_EPOCH:,} epochs")
    numbers: dict[str, Estimate | float] = {}
    controls = []
    for reading in sorted(set(rows["reading"].tolist())):
        networks = rows.only(reading=reading)
        early, late = _moves(networks, "A", 0, 4), _moves(networks, "A", 4, LAST_EPOCH)
        numbers |= {f"{reading}'s data, epochs 0 to 4": early, f"{reading}'s data, 4 to {LAST_EPOCH:,}": late}
        numbers[f"{reading}'s data, early less late"] = early.mean - late.mean
        count = networks_behind((early, late))
        controls.append(f"{_moves(networks, 'B', 4, LAST_EPOCH)} with the {reading}'s data")
    detail = f"share of the held-out quadrant that changes sides; later in B {' and '.join(controls)}; {count}"
    return Measured(numbers, detail)


def _moves(rows: Table, setting: str, start: int, end: int) -> Estimate:
    """Share of the held-out quadrant whose answer changes between two epochs."""
    networks = rows.only(setting=setting)
    changed = [_region(networks, seed, start) != _region(networks, seed, end) for seed in sorted(networks.by("seed"))]
    return estimate((float(np.mean(region)) for region in changed), f"setting {setting}")


def _region(rows: Table, seed: int, epoch: int) -> BoolArray:
    """Where one network answers 1 in the held-out quadrant, on a grid (lines, 200)."""
    edge, lines = float(rows["to"].max()), [line for line in np.unique(rows["X2"]).tolist() if line > 0]
    across = np.linspace(0, edge, 401)[1::2]
    region = np.zeros((len(lines), len(across)), dtype=bool)
    network = rows.only(seed=seed, epoch=epoch)
    for row in network.where(network["X2"] > 0).rows():
        region[lines.index(row["X2"])] |= (across > row["from"]) & (across < row["to"])
    return region


def binary_entropy(chance: Any) -> FloatArray:
    """Return the entropy of a coin, in bits.

    Examples
    --------
    >>> binary_entropy([0.0, 0.5, 1.0]).tolist()
    [0.0, 1.0, 0.0]
    """
    from scipy.special import entr

    chance = np.asarray(chance, dtype=np.float64)
    entropy: FloatArray = (entr(chance) + entr(1 - chance)) / np.log(2)
    return entropy


def held_out_information(accuracy: Any) -> FloatArray:
    """Return I(prediction; Y_2 | Y_1) of a model that is right on the three seen quadrants, in bits.

    Its accuracy is the share of the held-out quadrant that it labels 1.

    Examples
    --------
    >>> held_out_information([0.786, 0.924, 0.432]).round(4).tolist()
    [0.0581, 0.0195, 0.1838]
    """
    share = np.asarray(accuracy, dtype=np.float64)
    bits: FloatArray = (binary_entropy((1 + share) / 2) - binary_entropy(share) / 2) / 2
    return bits
