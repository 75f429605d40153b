"""Forced rendering: what is read off kernels, directions and areas of decoders' layers and images."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.papers.bounds import Falls
from recombine.lab.papers.forced_rendering.readings.rows import (
    NAN,
    RAMPS,
    image_size,
    means_of,
    reads_one_target,
    row_mean,
)
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import several
from recombine.tables.table import Table

#: What counts as composing: share of peaks in the hole, and correlation with the truth (a sum of two stripes has 0.47).
MIN_PEAKS, MIN_CORRELATION = 0.95, 0.7
#: What might tell composing from failing decoders, by the column that has it.
SIGNS = {"F_K": "kernel factorization", "F": "factorization", "area ratio": "volume ratio"}


def composing(rows: Table) -> BoolArray:
    """Return which networks compose: peaks in the hole in place, and images like the right ones.

    Examples
    --------
    >>> composing(Table({"unseen peaks": [1.0, 1.0, 0.2], "correlation": [0.9, 0.47, 0.1]})).tolist()
    [True, False, False]
    """
    return np.asarray((rows["unseen peaks"] >= MIN_PEAKS) & (rows["correlation"] >= MIN_CORRELATION))


def ranked_above(scores: FloatArray, positive: BoolArray) -> float:
    """Return how often a positive scores above a negative, ties half (the area under the curve); NaN without either.

    Examples
    --------
    >>> ranked_above(np.array([0.9, 0.8, 0.5]), np.array([True, True, False]))
    1.0
    """
    high, low = scores[positive], scores[~positive]
    if not len(high) or not len(low):
        return NAN
    return float(np.mean((high[:, None] > low) + 0.5 * (high[:, None] == low)))


@reads_one_target
def kernel_diagnosis(rows: Table) -> Measured:
    """Return how well F_K of the images tells composing decoders from failing ones, beside F and the area ratio."""
    finite = rows.where(np.isfinite(rows["kernel factorization"]))
    good, striped = composing(finite), finite["stripes"] > 0
    areas = {name: ranked_above(finite[column], good) for name, column in SIGNS.items()}
    middle = {
        word: float(np.median(finite.where(which)["kernel factorization"])) if which.any() else NAN
        for word, which in (("composing", good), ("failing", ~good))
    }
    numbers = {
        "composing ranked above failing by F_K": areas["F_K"],
        "same by F": areas["F"],
        "same by the area ratio": areas["area ratio"],
        "F_K less F": areas["F_K"] - areas["F"],
        **{
            f"by {sign} among networks with stripes": ranked_above(finite[SIGNS[sign]][striped], good[striped])
            for sign in ("F_K", "F")
        },
        "median F_K, composing": middle["composing"],
        "median F_K, failing": middle["failing"],
    }
    detail = f"{several(len(finite), 'network')} with and without stripes, {int(good.sum())} of which compose"
    return Measured(numbers, f"{detail}; ranked above: 0.5 is chance", scale=image_size(rows))


def _told_by(rows: Table, sign: str) -> tuple[dict[str, Table], Table, dict[str, float]]:
    """Convolutional decoders of population codes that fail, by code, and that compose; how a sign ranks these and all.

    The networks are those of `kernel_diagnosis`.
    """
    finite = rows.where(np.isfinite(rows["kernel factorization"]))
    chosen = finite.only(model="cnn")
    chosen = chosen.where(~np.isin(chosen["code"], RAMPS))
    good = composing(chosen)
    ranked = {
        f"composing ranked above failing by {sign}": ranked_above(chosen[SIGNS[sign]], good),
        "same, all networks of claim 25": ranked_above(finite[SIGNS[sign]], composing(finite)),
    }
    return chosen.where(~good).by("code"), chosen.where(good), ranked


@reads_one_target
def output_directions(rows: Table) -> Measured:
    """Return F of the images of convolutional decoders that fail, and of those that compose."""
    failing, right, ranked = _told_by(rows, "F")
    directions, best = means_of(failing, "factorization"), row_mean(right, "factorization")
    numbers = {
        "F, failing": directions,
        "F, composing": best,
        "composing less failing": {code: best - value for code, value in directions.items()},
    }
    return Measured(numbers | ranked, _tried(failing, right), scale=image_size(rows))


@reads_one_target
def output_areas(rows: Table) -> Measured:
    """Return the area ratio of the images of convolutional decoders that fail on the donut alone, and that compose."""
    failing, right, ranked = _told_by(rows, "area ratio")
    donut_only = {code: networks.only(stripes=0) for code, networks in failing.items()}
    numbers = {
        "area ratio, failing": means_of(donut_only, "volume ratio"),
        "area ratio, composing": row_mean(right, "volume ratio"),
    }
    return Measured(numbers | ranked, _tried(donut_only, right), scale=image_size(rows))


def _tried(failing: Mapping[str, Table], right: Table) -> str:
    count = sum(len(networks) for networks in failing.values())
    return f"CNNs of population codes, {count} that fail and {len(right)} that compose; ranked above: 0.5 is chance"


def _shares(rows: Table) -> list[float]:
    """Mean share of main effects, layer by layer."""
    return [row_mean(rows, "additive share", layer=layer) for layer in sorted(rows.by("layer"))]


@reads_one_target
def main_effects_by_layer(rows: Table) -> Measured:
    """Return the share of main effects from the code to the image, over bump networks."""
    effects = _shares(rows.only(code="bump", stripes=0)) or [NAN]
    names = ["code:", *(f"layer {layer}:" for layer in range(1, len(effects) - 1)), "image:"]
    texts = []
    for (code, stripes), networks in rows.by("code", "stripes").items():
        single = [Falls(every_step=True).holds(_shares(network)) for network in networks.by("seed").values()]
        word = f"{code} with stripes, which compose," if stripes else code
        shares = _shares(networks)
        texts.append(
            f"{word} from {shares[0]:.2f} to {shares[-1]:.2f} (every layer falls in {sum(single)} of {len(single)})"
        )
    numbers = {"share of main effects": dict(zip(names, effects, strict=False)), "at the image": effects[-1]}
    return Measured(numbers, f"means over networks: {'; '.join(texts)}", scale=image_size(rows))


@reads_one_target
def readouts_by_layer(rows: Table) -> Measured:
    """Return how linear readouts of x and y fall from layer to layer, for every code without stripes."""
    losses, ends = {}, {}
    for code, layers in sorted(rows.only(stripes=0).by("code").items()):
        scores = [float(layer["probe"].mean()) for _, layer in sorted(layers.by("layer").items())]
        losses[code] = min(before - after for before, after in pairwise(scores))
        ends[code] = scores[-1] / scores[0]
    numbers = {
        "smallest loss at a layer": min(losses.values()),
        "least of the first layer's left at the image": min(ends.values()),
        "most of the first layer's left at the image": max(ends.values()),
        "left at the image": ", ".join(f"{code} {share:.2f}" for code, share in ends.items()),
    }
    return Measured(numbers, f"R2 of ridge regression, mean over {several(len(rows.by('seed')), 'seed')}")
