"""Forced rendering: what is read off decoders without a remedy; readings name the size of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.papers.bounds import Falls
from recombine.papers.forced_rendering.experiments.networks import RIM
from recombine.papers.forced_rendering.experiments.training import IMAGES
from recombine.papers.forced_rendering.readings.rows import (
    NAN,
    PAPER_SIZE,
    RAMPS,
    image_size,
    means_of,
    ratios_of,
    reads_one_target,
    row_mean,
    trained_on,
)
from recombine.papers.measured import Measured, MissingRowsError
from recombine.papers.seeds import several
from recombine.papers.values import text_of
from recombine.tables.table import Table

#: Draws of the control with ten times the data; every other setting has fewer.
MORE_DRAWS = 20_000


def _convolutional(rows: Table) -> Table:
    return rows.only(model="cnn").but(draws=MORE_DRAWS)


def _seeds(rows: Table) -> str:
    return several(len(rows.by("seed")), "seed")


@reads_one_target
def hole_errors(rows: Table) -> Measured:
    """Return how wrong convolutional decoders are in the hole, by code."""
    chosen = _convolutional(rows)
    codes = chosen.by("code")
    numbers = {
        "error over blank": means_of(codes, "relative error"),
        "peaks in the inner hole": means_of(codes, "inner peaks"),
        "error, hole over donut": ratios_of(codes, "unseen error", "seen error"),
        "codes": len(codes),
    }
    more = rows.only(draws=MORE_DRAWS)
    extra = f"; error over blank with 20,000 draws {row_mean(more, 'relative error'):.2f}" if len(more) else ""
    return Measured(numbers, f"{_seeds(chosen)}{extra}", scale=image_size(rows))


@reads_one_target
def donut_errors(rows: Table) -> Measured:
    """Return how well decoders have learned the donut, by code."""
    codes = _convolutional(rows).by("code")
    error = means_of(codes, "seen error")
    numbers = {
        "error": error,
        "error, one-hot and bump": {code: error[code] for code in ("one-hot", "bump") if code in error},
        "peaks on the donut": means_of(codes, "seen peaks"),
    }
    dense = means_of(rows.only(model="mlp").by("code"), "seen error")
    return Measured(numbers, f"error of MLPs, which are not judged: {text_of(dense)}", scale=image_size(rows))


@reads_one_target
def one_hot_superposition(rows: Table) -> Measured:
    """Return what one-hot decoders paint in the hole: how much like pasted and right images, and where."""
    one = _convolutional(rows).only(code="one-hot")
    numbers = {
        "correlation, pasted image": row_mean(one, "pasted"),
        "correlation, right image": row_mean(one, "correlation"),
        "energy in the span of the cross": row_mean(one, "spanned"),
        "on over off the cross": row_mean(one, "on cross") / row_mean(one, "off cross"),
    }
    control = f"on the donut, where nothing is pasted, {row_mean(one, 'pasted seen'):.2f} with the pasted image"
    return Measured(numbers, f"{several(len(one), 'network')}; {control}", scale=image_size(rows))


@reads_one_target
def pasting_by_code(rows: Table) -> Measured:
    """Return how much like the pasted image decoders paint in the hole, by code, and how that is on the donut."""
    chosen = _convolutional(rows)
    pasted, control = (means_of(chosen.by("code"), name) for name in ("pasted", "pasted seen"))
    if image_size(rows) != PAPER_SIZE:
        listed = text_of(pasted, decimals=2)
        raise MissingRowsError(f"needs 28 pixels: on 16 ramps are all near the edge of the hole ({listed})")
    numbers = {
        "correlation, pasted image": pasted,
        "highest of ramps": max((pasted[code] for code in RAMPS if code in pasted), default=NAN),
        "lowest of other codes": min((found for code, found in pasted.items() if code not in RAMPS), default=NAN),
        "more than on the donut": {code: pasted[code] - control[code] for code in pasted},
    }
    return Measured(numbers, f"{_seeds(chosen)}; on the donut, where nothing is pasted: {text_of(control, decimals=2)}")


@reads_one_target
def additive_stand_in(rows: Table) -> Measured:
    """Return how much of a one-hot decoder's error in the hole the additive kernel leaves unexplained."""
    models = {model: rows.only(code="one-hot", model=model) for model in ("cnn", "mlp")}
    left = ratios_of(models, "stand-in error", "unseen error")
    return Measured({"share of the error left": left}, "error of the kernel's prediction over the output's own error")


@reads_one_target
def output_geometry(rows: Table) -> Measured:
    """Return F and the volume ratio of the images of decoders that fail, and of those that compose."""
    ends = rows.only(last=True)
    failing, striped = ends.only(stripes=0).by("code"), ends.but(stripes=0)
    factors, composing = means_of(failing, "factorization"), row_mean(striped, "factorization")
    numbers = {
        "F, failing": factors,
        "F, composing": composing,
        "composing less failing": {code: composing - found for code, found in factors.items()},
        "volume ratio, failing": means_of(failing, "volume ratio"),
        "volume ratio, composing": row_mean(striped, "volume ratio"),
        "F of the code, away from 1": abs(rows.only(layer=0)["factorization"].min() - 1),
    }
    return Measured(numbers, f"{_seeds(rows)}; CNNs; those with stripes compose", scale=image_size(rows))


def _shares(rows: Table) -> list[float]:
    """Mean share of main effects, layer by layer."""
    return [row_mean(rows, "additive share", layer=layer) for layer in sorted(rows.by("layer"))]


@reads_one_target
def main_effects_by_layer(rows: Table) -> Measured:
    """Return the share of main effects from the code to the image, over bump networks."""
    found = _shares(rows.only(code="bump", stripes=0)) or [NAN]
    parts = []
    for (code, stripes), part in rows.by("code", "stripes").items():
        single = [Falls(every_step=True).holds(_shares(one)) for one in part.by("seed").values()]
        word = f"{code} with stripes, which compose," if stripes else code
        parts.append(
            f"{word} {text_of(_shares(part), decimals=2)} (every layer falls in {sum(single)} of {len(single)})"
        )
    numbers = {"code to image": found, "at the image": found[-1]}
    return Measured(numbers, f"means over networks: {'; '.join(parts)}", scale=image_size(rows))


def pixel_mlp(rows: Table) -> Measured:
    """Return how right pixel MLPs of bump codes are in the hole."""
    # The released script of this network paints G.
    every = trained_on(rows, IMAGES).only(model="pixel")
    pixel, hot = every.only(code="bump"), every.only(code="one-hot")
    numbers = {"peaks in the hole": row_mean(pixel, "unseen peaks"), "correlation": row_mean(pixel, "correlation")}
    extra = f"; one-hot codes ({len(hot)}): peaks {row_mean(hot, 'unseen peaks'):.2f}" if len(hot) else ""
    depths = several(len(pixel.by("depth")), "depth")
    tried = f"{several(len(pixel), 'pixel MLP')} of bump codes ({_seeds(pixel)}, {depths})"
    error = f"{row_mean(pixel, 'unseen error'):.1e}, at worst {max(pixel['unseen error'], default=NAN):.1e}"
    return Measured(numbers, f"{tried}, no stripes, no penalty; error in the hole {error}{extra}")


@reads_one_target
def peaks_by_hole(rows: Table) -> Measured:
    """Return peaks in place by the side of the hole, in bump widths: the one nearest to 5, and wider ones."""
    sides = sorted(rows.by("hole side"))
    peaks = [(f"side {side}:", row_mean(rows, "unseen peaks", hole_side=side)) for side in sides]
    place = sides.index(min(sides, key=lambda side: abs(side - 5)))
    numbers = {
        "peaks, narrow hole": dict([peaks[place]]),
        "peaks, wider holes": dict(peaks[place + 1 :]) or NAN,
        "peaks, widest hole": peaks[-1][1],
    }
    narrower = "".join(f"; {name} {found:.2f}" for name, found in peaks[:place])
    return Measured(numbers, f"{_seeds(rows)}; sides in bump widths{narrower}", scale=image_size(rows))


@reads_one_target
def peaks_by_depth(rows: Table) -> Measured:
    """Return peaks of convolutional decoders by depth: of bump codes, and of others where they were tried."""
    chosen = rows.only(model="cnn")
    codes = {
        code: {f"{depth} layers": rest for depth, rest in sorted(part.by("depth").items())}
        for code, part in chosen.by("code").items()
    }
    depths = codes.pop("bump", {})
    numbers: dict[str, Any] = {"peaks in the hole": means_of(depths, "unseen peaks"), "depths": len(depths)}
    for code, parts in codes.items():
        names = list(parts)
        ends = {depth: parts[depth] for depth in (names[0], names[-1])}
        numbers[f"peaks, {code}"] = means_of(ends, "unseen peaks")
    error = text_of(means_of(depths, "relative error"), decimals=2)
    detail = f"{_seeds(chosen)}, bump codes; error over that of a blank image: {error}"
    return Measured(numbers, detail, scale=image_size(rows))


@reads_one_target
def error_places(rows: Table) -> Measured:
    """Return the error of decoders without stripes on the donut, at the rim of the hole and far inside, by code."""
    maps = rows.only(picture="error", stripes=0)
    x, y = maps["column"], maps["line"]
    inside = np.minimum(np.minimum(x, y) - maps["hole from"], maps["hole to"] - np.maximum(x, y))
    donut, rim, inner = (
        means_of(maps.where(zone).by("code"), "value") for zone in (inside < 0, inside == 0, inside >= RIM)
    )
    numbers = {"error on the donut": donut, "error at the rim": rim, "error inside": inner}
    numbers["inside less rim"] = {code: inner[code] - rim[code] for code in inner}
    return Measured(numbers, "error over that of a blank image; one seed per code, decoders without stripes")
