"""Forced rendering: what is read off decoders without a remedy; readings name the size of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.forced_rendering.experiments.networks import RIM_PIXELS
from recombine.lab.papers.forced_rendering.experiments.training import IMAGES, INVERTED
from recombine.lab.papers.forced_rendering.readings.geometry import MIN_PEAKS, composing
from recombine.lab.papers.forced_rendering.readings.rows import (
    MIN_SEEDS_OF_AN_INTERVAL,
    NAN,
    PAPER_SIZE,
    RAMPS,
    donut_learned,
    image_size,
    means_of,
    ratios_of,
    reads_one_target,
    row_mean,
    trained_on,
)
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, require, several
from recombine.lab.papers.values import text_of
from recombine.tables.table import Table

#: Draws of the control with ten times the data; every other setting has fewer.
CONTROL_DRAWS = 20_000


def _convolutional(rows: Table) -> Table:
    return rows.only(model="cnn").but(draws=CONTROL_DRAWS)


def _seeds(rows: Table) -> str:
    return several(len(rows.by("seed")), "seed")


@reads_one_target
def hole_errors(rows: Table) -> Measured:
    """Return how wrong convolutional decoders are in the hole with the code they do best with."""
    chosen = _convolutional(rows)
    codes = chosen.by("code")
    errors = means_of(codes, "relative error")
    numbers = {
        "codes": len(codes),
        "least error over blank of a code": min(errors.values()),
        "code with the least error": min(errors, key=errors.__getitem__),
        "most peaks in the inner hole of a code": max(means_of(codes, "inner peaks").values()),
        "least error, hole over donut, of a code": min(ratios_of(codes, "unseen error", "seen error").values()),
    }
    more = rows.only(draws=CONTROL_DRAWS)
    extra = f"; error over blank with 20,000 draws {row_mean(more, 'relative error'):.2f}" if len(more) else ""
    return Measured(numbers, f"{_seeds(chosen)}{extra}", scale=image_size(rows))


@reads_one_target
def donut_errors(rows: Table) -> Measured:
    """Return how well decoders have learned the donut, with the code they do worst with and with two of the paper's."""
    codes = _convolutional(rows).by("code")
    error = means_of(codes, "seen error")
    numbers = {
        "largest error of a code": max(error.values()),
        "code with the largest error": max(error, key=error.__getitem__),
        "error, one-hot": error.get("one-hot", NAN),
        "error, bump": error.get("bump", NAN),
        "fewest peaks on the donut of a code": min(means_of(codes, "seen peaks").values()),
    }
    dense = means_of(rows.only(model="mlp").by("code"), "seen error")
    return Measured(numbers, f"error of MLPs, which are not judged: {text_of(dense)}", scale=image_size(rows))


@reads_one_target
def one_hot_superposition(rows: Table) -> Measured:
    """Return what one-hot decoders paint in the hole: how much like pasted and right images, and where."""
    decoders = _convolutional(rows).only(code="one-hot")
    numbers = {
        "correlation, pasted image": row_mean(decoders, "pasted"),
        "correlation, right image": row_mean(decoders, "correlation"),
        "energy in the span of the cross": row_mean(decoders, "spanned"),
        "on over off the cross": row_mean(decoders, "on cross") / row_mean(decoders, "off cross"),
    }
    control = f"on the donut, where nothing is pasted, {row_mean(decoders, 'pasted seen'):.2f} with the pasted image"
    return Measured(numbers, f"{several(len(decoders), 'network')}; {control}", scale=image_size(rows))


@reads_one_target
def population_pasting(rows: Table) -> Measured:
    """Return how much like the pasted image decoders of population codes paint in the hole, beside the donut."""
    chosen = _convolutional(rows)
    numbers, lowest = _pasting(chosen.where(~np.isin(chosen["code"], RAMPS)))
    return Measured(numbers, f"{_seeds(chosen)}; in single networks at least {lowest:+.2f} more than on the donut")


@reads_one_target
def ramp_pasting(rows: Table) -> Measured:
    """Return the same for ramps, and how much of their error in the hole a sum of seen images leaves."""
    chosen = _convolutional(rows)
    ramps = chosen.where(np.isin(chosen["code"], RAMPS))
    numbers, _ = _pasting(ramps)
    unexplained = ratios_of(ramps.by("code"), "stand-in error", "unseen error")
    highest = max((ramps["pasted"] - ramps["pasted seen"]).tolist(), default=NAN)
    numbers |= {"highest of all networks, more than on the donut": highest, "error left by the best sum": unexplained}
    return Measured(numbers, f"{several(len(ramps), 'network')} of ramps, raw and scaled to -1 to 1")


def _pasting(rows: Table) -> tuple[dict[str, Any], float]:
    """Correlations with the pasted image by code, in the hole and on the donut; and the least difference of both."""
    pasted, control = (means_of(rows.by("code"), name) for name in ("pasted", "pasted seen"))
    if image_size(rows) != PAPER_SIZE:
        listed = text_of(pasted, decimals=2)
        raise MissingRowsError(f"needs 28 pixels: on 16 much of the hole is near its edge ({listed})")
    numbers = {
        "correlation, pasted image": pasted,
        "same, on the donut": control,
        "more than on the donut": {code: pasted[code] - control[code] for code in pasted},
    }
    return numbers, min((rows["pasted"] - rows["pasted seen"]).tolist(), default=NAN)


@reads_one_target
def additive_stand_in(rows: Table) -> Measured:
    """Return how much of a one-hot decoder's error in the hole the additive kernel leaves unexplained."""
    models = {model.upper(): rows.only(code="one-hot", model=model) for model in ("cnn", "mlp")}
    other_codes = _convolutional(rows).but(code="one-hot").by("code")
    numbers = {"share of the error left": ratios_of(models, "stand-in error", "unseen error")}
    if other_codes:
        numbers["same for CNNs of other codes, not judged"] = ratios_of(other_codes, "stand-in error", "unseen error")
    return Measured(numbers, "error of the kernel's prediction of the output over the output's own error")


def sums_of_single_factors(rows: Table) -> Measured:
    """Return how much decoders paint, in the hole, what they paint for x alone plus what they paint for y alone."""
    codes = rows.by("code")
    summed, seen, right = (means_of(codes, name) for name in ("summed", "summed seen", "correlation"))
    numbers: dict[str, Any] = {
        "correlation, sum of x alone and y alone": summed,
        "same, on the donut": seen,
        "correlation, right image": right,
    }
    for name, other in (("more than with the right image", "correlation"), ("more than on the donut", "summed seen")):
        if any(len(networks) < MIN_SEEDS_OF_AN_INTERVAL for networks in codes.values()):
            raise MissingRowsError("an interval needs two networks of each code")
        numbers[name] = min(Interval.of(networks["summed"] - networks[other]) for networks in codes.values())
    size = f"{rows['side'].max()} x {rows['side'].max()} pixels" if len(rows) else ""
    detail = (
        f"{several(len(rows), 'network')}, {size}, trained on 1 - G; the half that is left out is the mean code; "
        "intervals are of the code with the smaller mean"
    )
    return Measured(numbers, detail, scale=image_size(rows))


def pixel_mlp(rows: Table) -> Measured:
    """Return how right pixel MLPs are in the hole, by code."""
    # The released script of this network paints G.
    codes = trained_on(rows, IMAGES).only(model="pixel").by("code")
    numbers = {
        "peaks in the hole": means_of(codes, "unseen peaks"),
        "correlation": means_of(codes, "correlation"),
        "error in the hole": means_of(codes, "unseen error"),
    }
    tried = ", ".join(f"{several(len(networks), 'network')} of {code} codes" for code, networks in codes.items())
    good = sum(int((networks["unseen error"] < 1e-4).sum()) for networks in codes.values())
    return Measured(numbers, f"{tried}; no stripes, no penalty; error below 1e-4 in {good}")


@reads_one_target
def transformers(rows: Table) -> Measured:
    """Return how far the peaks of transformers are from composing, and which of these have learned the donut."""
    networks = rows.only(model="transformer")
    if len(networks) < MIN_SEEDS_OF_AN_INTERVAL:
        raise MissingRowsError("needs two transformers")
    learned = networks.where(networks["seen error"] < donut_learned(networks))
    numbers = {
        "peaks short of composing": Interval.of(MIN_PEAKS - networks["unseen peaks"]),
        "peaks in the hole": {f"seed {row['seed']}": row["unseen peaks"] for row in networks.rows()},
        "peaks on the donut": {f"seed {row['seed']}": row["seen peaks"] for row in networks.rows()},
        "networks that learned the donut": f"{len(learned)} of {len(networks)}",
        "of these, networks that compose": int(composing(learned).sum()),
        "correlation of these, inner hole": row_mean(learned, "inner correlation"),
    }
    return Measured(numbers, f"learned: an error on the donut below {donut_learned(networks):.3g}, as claim 2 asks")


@reads_one_target
def peaks_by_hole(rows: Table) -> Measured:
    """Return peaks in place by the side of the hole, in bump widths: the one nearest to 5, and wider ones."""
    sides = sorted(rows.by("hole side"))
    peaks = [(f"side {side}:", row_mean(rows, "unseen peaks", hole_side=side)) for side in sides]
    nearest = sides.index(min(sides, key=lambda side: abs(side - 5)))
    numbers = {
        "peaks, narrow hole": dict([peaks[nearest]]),
        "peaks, wider holes": dict(peaks[nearest + 1 :]) or NAN,
        "peaks, widest hole": peaks[-1][1],
    }
    narrower = "".join(f"; {name} {peak:.2f}" for name, peak in peaks[:nearest])
    return Measured(numbers, f"{_seeds(rows)}; sides in bump widths{narrower}", scale=image_size(rows))


@reads_one_target
def peaks_by_depth(rows: Table) -> Measured:
    """Return peaks of convolutional decoders by depth: of bump codes, and of others where they were tried."""
    chosen = rows.only(model="cnn")
    codes = {
        code: {f"{depth} layers": of_depth for depth, of_depth in sorted(networks.by("depth").items())}
        for code, networks in chosen.by("code").items()
    }
    depths = codes.pop("bump", {})
    peaks, error = (means_of(depths, name) for name in ("unseen peaks", "relative error"))
    best = max(peaks, key=peaks.__getitem__)
    numbers: dict[str, Any] = {
        "depths": len(depths),
        "most peaks in the hole of a depth": peaks[best],
        "fewest peaks in the hole of a depth": min(peaks.values()),
    }
    for code, by_depth in codes.items():
        names = list(by_depth)
        ends = {depth: by_depth[depth] for depth in (names[0], names[-1])}
        numbers[f"peaks, {code}"] = means_of(ends, "unseen peaks")
    lowest = f"error over that of a blank image at least {min(error.values()):.2f}"
    detail = f"{_seeds(chosen)}, bump codes; most peaks with {best}; {lowest}"
    return Measured(numbers, detail, scale=image_size(rows))


@reads_one_target
def ramps_by_depth(rows: Table) -> Measured:
    """Return peaks of convolutional decoders of raw ramps by depth, in the inner hole and in all of it."""
    chosen = require(rows, model="cnn", code="ramp")
    depths = {f"{depth} layers": networks for depth, networks in sorted(chosen.by("depth").items())}
    inner, everything = (means_of(depths, name) for name in ("inner peaks", "unseen peaks"))
    ends = [*everything.values()]
    numbers: dict[str, Any] = {
        "depths": len(depths),
        "most peaks in the inner hole of a depth": max(inner.values()),
        "peaks in the hole, shallowest and deepest": f"{ends[0]:.2f} and {ends[-1]:.2f}",
    }
    return Measured(numbers, f"{_seeds(chosen)}, raw ramps", scale=image_size(rows))


def dense_peaks_by_depth(rows: Table) -> Measured:
    """Return peaks of MLPs of bump codes by depth, in the hole and on the donut: trained on 1 - G, then on G."""
    numbers: dict[str, Any] = {}
    for target, word in ((INVERTED, ""), (IMAGES, ", trained on G")):
        networks = trained_on(rows, target).only(model="mlp", code="bump")
        if not len(networks):
            raise MissingRowsError("needs MLPs of bump codes on both targets")
        depths = {f"{depth} layers": of_depth for depth, of_depth in sorted(networks.by("depth").items())}
        numbers[f"peaks in the hole{word}"] = means_of(depths, "unseen peaks")
        learned = int((networks["seen error"] < donut_learned(networks)).sum())
        numbers[f"networks that learned the donut{word}"] = f"{learned} of {len(networks)}"
        numbers[f"peaks on the donut{word}"] = means_of(depths, "seen peaks")
    detail = f"trained on 1 - G where nothing else is said; learned: an error below {donut_learned(rows):.3g}"
    return Measured(numbers, f"{detail}, as claim 2 asks", scale=image_size(rows))


@reads_one_target
def error_places(rows: Table) -> Measured:
    """Return the error of decoders without stripes on the donut, at the rim of the hole and far inside, by code."""
    maps = rows.only(picture="error", stripes=0)
    x, y = maps["column"], maps["line"]
    inside = np.minimum(np.minimum(x, y) - maps["hole from"], maps["hole to"] - np.maximum(x, y))
    donut, rim, inner = (
        means_of(maps.where(zone).by("code"), "value") for zone in (inside < 0, inside == 0, inside >= RIM_PIXELS)
    )
    numbers = {"error on the donut": donut, "error at the rim": rim, "error inside": inner}
    numbers["inside less rim"] = {code: inner[code] - rim[code] for code in inner}
    return Measured(numbers, "error over that of a blank image; one seed per code, decoders without stripes")
