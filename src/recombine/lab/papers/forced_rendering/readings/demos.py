"""Forced rendering: what is read off small networks trained as in the demo notebooks, and off rows at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.lab.papers.forced_rendering.readings.efficiency import bumps_by_side, power_law
from recombine.lab.papers.forced_rendering.readings.rows import (
    donut_learned,
    image_size,
    means_of,
    ratios_of,
    reads_one_target,
    row_mean,
)
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, require, several
from recombine.lab.papers.values import text_of
from recombine.tables.table import Table


def _small(numbers: Mapping[str, Any], detail: str, rows: Table) -> Measured:
    """Return what was measured on small images, with a note that says so."""
    sides = " or ".join(f"{side} x {side}" for side in sorted(rows.by("side")))
    return Measured(numbers, detail, scale=image_size(rows), note=f"on {sides} pixels")


LEARNED = "networks that learned the donut"
#: The side of the demo notebooks' hole, in pixels.
DEMO_HOLE_PIXELS = 9


@reads_one_target
def errors_of_the_demo_hole(rows: Table) -> Measured:
    """Return the errors of decoders of bump codes on the donut and in the hole of the demo notebook."""
    networks = require(rows, hole_side=DEMO_HOLE_PIXELS)
    seen, unseen = row_mean(networks, "seen error"), row_mean(networks, "unseen error")
    numbers = {
        "error on the donut": seen,
        "error in the hole": unseen,
        "error, hole over donut": unseen / seen,
        "error over blank in the hole": row_mean(networks, "relative error"),
    }
    return Measured(numbers, several(len(networks), "network"), scale=image_size(rows))


def _demos(rows: Table, code: str, *, cross: bool = False) -> Table:
    return require(rows, code=code, cross=cross)


def _of_all(networks: Table) -> str:
    """Return how many networks learned the places they saw, of how many."""
    return f"{int((networks['seen error'] < donut_learned(networks)).sum())} of {len(networks)}"


def _learned(networks: Table) -> str:
    return f"{_of_all(networks)} networks learned the donut by the error of claim 2"


def similarity(rows: Table) -> Measured:
    """Return 1 - SSIM of decoders of bump codes, on the donut and in the hole."""
    return _dissimilarity(_demos(rows, "bump").only(spread=1.0))


def ramp_demo(rows: Table) -> Measured:
    """Return errors and 1 - SSIM of decoders of raw ramps, on the donut and in the hole."""
    networks = _demos(rows, "ramp")
    errors = {"error, hole over donut": row_mean(networks, "unseen error") / row_mean(networks, "seen error")}
    measured = _dissimilarity(networks)
    return replace(measured, numbers={**errors, **measured.numbers, LEARNED: _of_all(networks)})


def _dissimilarity(networks: Table) -> Measured:
    seen, unseen = row_mean(networks, "dissimilarity on the donut"), row_mean(networks, "dissimilarity in the hole")
    numbers = {
        "1 - SSIM on the donut": seen,
        "1 - SSIM in the hole": unseen,
        "1 - SSIM, hole over donut": unseen / seen,
    }
    return _small(numbers, _learned(networks), networks)


def wider_codes(rows: Table) -> Measured:
    """Return errors in the hole by the width of the bump code, over that of the narrowest."""
    networks = _demos(rows, "bump")
    errors = means_of({f"{width:g} x": group for width, group in sorted(networks.by("spread").items())}, "unseen error")
    narrowest, *wider = errors.values()
    if len(wider) < 2:
        raise MissingRowsError("needs two wider codes")
    numbers = {"error over that of the narrowest": {name: error / narrowest for name, error in errors.items()}}
    return _small({**numbers, "least of the wider": min(wider) / narrowest}, _learned(networks), networks)


def peaks_read_rightly(rows: Table) -> Measured:
    """Return peaks in the hole, read rightly and with x and y swapped."""
    networks = _demos(rows, "bump").only(spread=1.0)
    numbers = {
        "peaks in the hole": row_mean(networks, "unseen peaks"),
        "same, with x and y swapped": row_mean(networks, "swapped peaks"),
    }
    return _small(numbers, _learned(networks), networks)


def crosses(rows: Table) -> Measured:
    """Return errors of decoders of ramps and of bump codes in a cross, where single values were never seen."""
    networks = require(rows, cross=True)
    codes = networks.by("code")
    numbers = {
        "error over blank": means_of(codes, "relative error"),
        "error, cross over the rest": ratios_of(codes, "unseen error", "seen error"),
        "peaks in the cross": means_of(codes, "unseen peaks"),
        LEARNED: _of_all(networks),
    }
    return _small(numbers, _learned(networks), networks)


def fitted_kernels(rows: Table) -> Measured:
    """Return how much better products of two kernels fit outputs than radial ones, over all small decoders."""
    numbers = {
        "product over radial error": float((rows["product kernel error"] / rows["radial kernel error"]).mean()),
        "share of networks whose best product is radial": float(np.mean(rows["same lengths"])),
    }
    return _small(numbers, several(len(rows), "network"), rows)


def errors_by_share(rows: Table) -> Measured:
    """Return how errors in the hole, over that of a blank image, grow with the hole's share of the side."""
    rises, listed = {}, {}
    for (code, side), group in sorted(rows.by("code", "side").items()):
        errors = means_of(dict(sorted(group.by("share").items())), "relative error")
        series = [*errors.values()]
        name = f"{code}, {side} pixels"
        listed[name] = f"{series[0]:.2f} to {series[-1]:.2f}"
        rises[name] = series[-1] - series[0]
    numbers = {"rise from the narrowest to the widest hole": rises}
    detail = f"{several(len(rows), 'network')}; error over blank: {text_of(listed)}"
    return _small(numbers, detail, rows)


@reads_one_target
def dense_ramps_by_depth(rows: Table) -> Measured:
    """Return peaks of MLPs of raw ramps by depth, in the hole and on the donut."""
    networks = require(rows, model="mlp", code="ramp")
    depths = {f"{depth} layers": group for depth, group in sorted(networks.by("depth").items())}
    numbers = {
        "peaks in the hole": means_of(depths, "unseen peaks"),
        "peaks on the donut": means_of(depths, "seen peaks"),
        LEARNED: _of_all(networks),
    }
    return Measured(numbers, f"{several(len(networks.by('seed')), 'seed')}, raw ramps", scale=image_size(networks))


@reads_one_target
def linear_or_cubic(rows: Table) -> Measured:
    """Return how much nearer to 1 than to 3 the power of the side is that bumps needed with stripes grow with."""
    helped = bumps_by_side(rows, 1)
    count = sum(np.isfinite(amount) for amount in helped.values())
    if count < 3:
        raise MissingRowsError(f"an exponent needs three sides of the image; these results have {count}")
    power, error, half = power_law(helped)
    numbers = {
        "2 less the exponent": Interval(2 - power, 2 - power - half, 2 - power + half),
        "exponent": power,
        "standard error": error,
    }
    listed = ", ".join(f"{side}: {amount:.0f}" for side, amount in helped.items())
    return Measured(numbers, f"bumps needed with stripes {listed} (side: bumps)")
