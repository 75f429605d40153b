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
    lost_by_way: dict[str, dict[str, str]] = {}
    for scale in ("annealed", "short"):
        counts = lost_counts(rows.only(scale=scale))
        supports = len(set(rows["support"].tolist()))
        if min(map(sum, counts.values())) < MIN_NETWORKS_PER_RATE * supports:
            raise MissingRowsError(f"needs {MIN_NETWORKS_PER_RATE} networks of each way and support, {scale}")
        values[scale_in_words(scale)] = float(fisher_exact(np.array(list(counts.values()))).pvalue)
        for way, (lost, sound) in counts.items():
            lost_by_way.setdefault(f"lost {way}", {})[scale_in_words(scale)] = f"{lost} of {lost + sound}"
    return Measured({"p of Fisher's exact test": values, **lost_by_way}, "each seed both ways, on two supports")


#: A network of one seed: its support, its seed, and whether it was trained alone.
Network = tuple[str, int, bool]


def _lost_by_network(rows: Table) -> dict[Network, bool]:
    return {(row["support"], row["seed"], row["networks"] == 1): state(row) != "sound" for row in rows.rows()}


def coincidence(first: Mapping[Any, bool], second: Mapping[Any, bool]) -> tuple[float, str]:
    """Return how likely two kinds of losses hit as many networks in common by chance, and how many they do, in words.

    Examples
    --------
    >>> probability, shared = coincidence({1: True, 2: False, 3: False}, {1: True, 2: False, 3: False})
    >>> round(probability, 3), shared
    (0.333, '1 of 1 and 1')
    """
    if first.keys() != second.keys():
        raise MissingRowsError("needs every network of both kinds")
    counts = np.zeros((2, 2), dtype=int)
    for network, lost in first.items():
        counts[int(lost), int(second[network])] += 1
    probability = float(fisher_exact(counts, alternative="greater").pvalue)
    return probability, f"{counts[1, 1]} of {counts[1].sum()} and {counts[:, 1].sum()}"


def seeds_lost_both_ways(rows: Table) -> Measured:
    """Return whether the seeds that lose a slot alone are those that lose one in a batch, for each length."""
    chances, shared = dict[str, float](), dict[str, str]()
    for scale in ("annealed", "short"):
        networks = _lost_by_network(rows.only(scale=scale))
        ways = [{name[:2]: lost for name, lost in networks.items() if name[2] is alone} for alone in (True, False)]
        chances[scale_in_words(scale)], shared[scale_in_words(scale)] = coincidence(*ways)
    return Measured({"p of as many by chance": chances, "lost both ways, of each": shared}, "one-sided Fisher tests")


def short_losses_as_warning(rows: Table) -> Measured:
    """Return whether networks that lose a slot in a short training are those that lose one in a longer one."""
    chance, shared = coincidence(*(_lost_by_network(rows.only(scale=scale)) for scale in ("short", "annealed")))
    detail = "the same first weights and way of training; the longer schedule is squeezed into 19,600 steps"
    return Measured({"p of as many by chance": chance, "lost at both lengths, of short and long": shared}, detail)


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
