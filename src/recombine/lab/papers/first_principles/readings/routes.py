"""First principles: what is read off decoders trained alone and in batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import fisher_exact

from recombine.lab.papers.first_principles.readings.scales import scale_in_words
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import several
from recombine.tables.table import Table

#: Above this error where the front sprite is, it is not painted; above the second one the back is not right either.
FRONT_LOST_ERROR, BACK_LEAKY_ERROR = 0.3, 0.04
#: Networks of each way and support without which rates are not compared.
MIN_NETWORKS_PER_RATE = 40
#: Below this share of the way weights agree to rounding, so that a quotient of two such shares says nothing.
ROUNDING_OF_WEIGHTS_SHARE = 1e-6
CONTROL = "rounded otherwise"


def state(row: Mapping[str, Any]) -> str:
    """Name a network: sound, dead (the front sprite is never painted), or leaky (the gate lets both through).

    Examples
    --------
    >>> [state({"mse front": front, "mse back": back}) for front, back in ((0.03, 0.04), (0.44, 0.01), (0.35, 0.09))]
    ['sound', 'dead', 'leaky']
    """
    if row["mse front"] < FRONT_LOST_ERROR:
        return "sound"
    return "dead" if row["mse back"] < BACK_LEAKY_ERROR else "leaky"


def lost_counts(rows: Table) -> dict[str, tuple[int, int]]:
    """Return how many networks were lost and how many are sound, trained alone and in a batch.

    Examples
    --------
    >>> lost_counts(Table({"networks": [1, 1, 3], "mse front": [0.03, 0.44, 0.02], "mse back": [0.04, 0.01, 0.04]}))
    {'alone': (1, 1), 'in a batch': (0, 1)}
    """
    states: dict[str, list[bool]] = {"alone": [], "in a batch": []}
    for row in rows.rows():
        states["alone" if row["networks"] == 1 else "in a batch"].append(state(row) == "sound")
    return {way: (len(sound) - sum(sound), sum(sound)) for way, sound in states.items()}


def lost_networks(rows: Table) -> Measured:
    """Return, for each length of training, the probability of rates as different as these if both ways are alike."""
    values: dict[str, float] = {}
    details: list[str] = []
    for scale in ("annealed", "short"):
        counts = lost_counts(rows.only(scale=scale))
        supports = len(set(rows["support"].tolist()))
        if min(map(sum, counts.values())) < MIN_NETWORKS_PER_RATE * supports:
            raise MissingRowsError(f"needs {MIN_NETWORKS_PER_RATE} networks of each way and support, {scale}")
        values[scale_in_words(scale)] = float(fisher_exact(np.array(list(counts.values()))).pvalue)
        ways = [f"{lost} of {lost + sound} {way}" for way, (lost, sound) in counts.items()]
        details.append(f"{scale_in_words(scale)}: lost {' and '.join(ways)}")
    return Measured({"p of Fisher's exact test": values}, "; ".join(details))


def drifts(rows: Table) -> Measured:
    """Return how many times as far as the control trainings in a batch are from the one alone, of all steps at most."""
    furthest: dict[str, float] = {}
    controls = {
        (row["support"], row["dtype"], row["seed"], row["step"]): row["weights apart"]
        for row in rows.only(training=CONTROL).rows()
    }
    for row in rows.rows():
        if row["training"] != CONTROL:
            control = controls[row["support"], row["dtype"], row["seed"], row["step"]]
            times = row["weights apart"] / max(control, ROUNDING_OF_WEIGHTS_SHARE)
            furthest[row["dtype"]] = max(furthest.get(row["dtype"], 0.0), times)
    last = rows.where(rows["step"] == rows["step"].max())
    apart = last.where(last["training"] != CONTROL)["weights apart"].max()
    detail = f"{several(len(set(rows['support'].tolist())), 'support')}; after {rows['step'].max()} steps {apart:.2g}"
    where = scale_in_words("tiny") if "tiny" in rows["scale"].tolist() else "on sprites"
    return Measured({"drift in a batch / rounded otherwise": furthest}, f"{detail} of the way at most", note=where)
