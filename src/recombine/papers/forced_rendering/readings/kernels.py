"""Forced rendering: what is read off kernels, codes and images, where nothing is trained."""

from __future__ import annotations

import math

import numpy as np

from recombine.papers.forced_rendering.experiments.training import IMAGES, INVERTED
from recombine.papers.measured import Measured
from recombine.tables.table import Table
from recombine.worlds.rendered.bumps import ENCODINGS

#: Mean square of one bump of width 1 on 28 x 28 pixels: the error of a blank image.
BLANK = math.pi / 28**2


def least_squares_difference(rows: Table) -> Measured:
    """Return how far regression with the binary kernel is from least squares on indicators, on random grids."""
    detail = f"{len(rows)} random grids of 2 and 3 factors, {rows['seen'].min()} to {rows['seen'].max()} seen cells"
    return Measured({"largest difference": rows["difference"].max()}, detail)


def one_hot_weight(rows: Table) -> Measured:
    """Return the weight of the best product in the kernel of a one-hot code, and how far it is from the closed form."""
    away = np.abs(rows["F_K"] - rows["closed form"]).max()
    numbers = {"weight": rows.only(side=28)["F_K"][0], "from the closed form": away}
    return Measured(numbers, f"weight at side 28; closed form at sides {rows['side'].min()} to {rows['side'].max()}")


def image_weight(rows: Table) -> Measured:
    """Return how far the weight of the best product in the kernel of the true images is from one."""
    found = rows.only(side=28)
    white = found.only(representation=INVERTED)
    raw, taken = (float(white[name][0]) for name in ("F_K", "F_K without background"))
    detail = f"inverted images: weight {raw:.8f} as they are, {taken:.8f} without the white page"
    return Measured({"weight, away from 1": abs(1 - found.only(representation=IMAGES)["F_K"][0])}, detail)


def pixel_similarity(rows: Table) -> Measured:
    """Return the similarity of two bumps one pixel apart."""
    found = rows.only(representation=IMAGES, side=28)["kernel one pixel off"][0]
    return Measured({"similarity": found}, "bumps of width 1 in the middle of 28 x 28 pixels")


def _donut(rows: Table) -> Table:
    return rows.only(side=28, width=1.0, hole_side=17)


def additive_errors(rows: Table) -> Measured:
    """Return how wrong a model that can only add is on the donut and in the hole, and that it is least squares."""
    donut = _donut(rows)
    numbers = {
        "error, seen places": donut["ID error"][0],
        "error, hole": donut["OOD error"][0],
        "hole over blank": donut["OOD error"][0] / BLANK,
        "correlation, right image": donut["OOD correlation"][0],
        "peaks in the hole": donut["OOD peaks"][0],
        "from least squares": rows["difference from least squares"].max(),
    }
    return Measured(numbers, f"error of a blank image {BLANK:.5f}; peaks within 1.5 pixels")


def additive_pasting(rows: Table) -> Measured:
    """Return how much like the mean of the column plus that of the row an additive model's images are, in the hole."""
    each, pooled = (float(_donut(rows)[name][0]) for name in ("correlation with column plus row", "pooled correlation"))
    return Measured({"correlation": each}, f"mean over unseen places; over all their pixels at once {pooled:.3f}")


def product_errors(rows: Table) -> Measured:
    """Return how right product kernels are in the hole, by length."""
    plain = rows.only(target=IMAGES)
    lengths = [f"length {length:g}:" for length in plain["length"]]
    columns = {"correlation, right image": "OOD correlation", "error over blank": "relative OOD error"}
    numbers = {name: dict(zip(lengths, plain[column], strict=True)) for name, column in columns.items()}
    used = float(plain.only(length=4.0)["share of directions used"][0])
    return Measured(numbers, f"at 4 pixels {used:.0%} of the directions stand above rounding: the cut-off decides")


def radial_difference(rows: Table) -> Measured:
    """Return how far a product of Gaussians is from the radial Gaussian of its length."""
    short = float(rows.only(target=INVERTED, length=0.5)["OOD error"][0])
    detail = (
        f"with inverted images a Gaussian of half a pixel is off by {short:.2f} in the hole, where it decays to 0 and "
        "the page is 1: it fails for a reason that has nothing to do with composing"
    )
    return Measured({"largest difference": rows["difference from radial"].max()}, detail)


def code_additivity(rows: Table) -> Measured:
    """Return how far F and the additive share of codes are from one, and what they are for images."""
    found = rows.only(side=28)
    codes, images = found.where(np.isin(found["representation"], ENCODINGS)), found.only(representation=IMAGES)
    away = max(np.abs(codes[name] - 1).max() for name in ("F", "additive share"))
    numbers = {
        "codes, away from 1": away,
        "F of images": images["F"][0],
        "share of images": images["additive share"][0],
    }
    return Measured(numbers, f"{len(codes)} codes; F and additive share of each")
