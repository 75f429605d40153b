"""Forced rendering, decoders of bumps: what they paint in the hole, layer by layer and picture by picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.papers.forced_rendering.experiments.training import (
    ABOUT,
    DEFAULTS,
    Rows,
    outputs_of,
    sheets_of,
    train_decoders,
    upright,
    world_of,
)
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole
from recombine.measures.activations.additive import additive_share
from recombine.measures.activations.factorization import factorization, kernel_factorization
from recombine.measures.activations.geometry import metric_tensor, volume_ratio
from recombine.measures.activations.grid import as_grid
from recombine.measures.activations.linear_probe import linear_probe
from recombine.measures.activations.peaks import peak_accuracy
from recombine.measures.activations.stand_ins import pasted_outputs
from recombine.measures.activations.superposition import correlations, superposition
from recombine.measures.activations.surrogate import surrogate

#: The inner hole leaves out places closer than this to its edge, in pixels: there a decoder can interpolate.
RIM_PIXELS = 4


def bump_decoders(unit: Unit) -> Rows:
    """What decoders paint on the donut and in the hole, one row per network; all is measured on G, also of 1 - G.

    Examples
    --------
    >>> tiny = {"model": "mlp", "side": 8, "hole": [2, 5], "draws": 0, "hidden": 8, "epochs": 1, "seeds": [0]}
    >>> row = bump_decoders(Unit("donut", 1, tiny))[0]
    >>> row["hole side"], row["relative error"] > 0.5
    (4, True)
    """
    about, world, trained = trained_unit(unit)
    about["hole side"] = int((~world.seen()).any(axis=0).sum())
    return [
        {**about, "seed": seed, **painting_scores(outputs, upright(world)), **_shapes(outputs, world)}
        for seed, outputs in zip(unit.seeds, outputs_of(trained, world), strict=True)
    ]


def trained_unit(unit: Unit) -> tuple[dict[str, Any], BumpWorld, Any]:
    """Return what rows say about a unit's networks, their world, and the networks."""
    setting = {**DEFAULTS, **unit.setting}
    world = world_of(setting)
    return {name: setting[name] for name in ABOUT}, world, train_decoders(unit, setting, world)


def painting_scores(outputs: FloatArray, world: BumpWorld) -> dict[str, float]:
    """Errors, peaks and correlations of one network's images (side, side, pixels) on the grid.

    "relative error" is the error in the hole over that of a blank image; "peaks" are shares of images whose largest
    value lies within 1.5 pixels of the bump.
    """
    grid, seen, inner = world.grid(), world.seen(), inner_hole(world)
    truth = grid.images.reshape(outputs.shape)
    error = ((outputs - truth) ** 2).mean(axis=-1)
    right = correlations(outputs, truth)
    pictures, centres = outputs.reshape(-1, world.side, world.side), grid.centres

    def peaks(mask: BoolArray) -> float:
        return peak_accuracy(pictures[mask.reshape(-1)], centres[mask.reshape(-1)])

    return {
        "seen error": float(error[seen].mean()),
        "unseen error": float(error[~seen].mean()),
        "relative error": float(error[~seen].mean()) / world.blank_error,
        "seen peaks": peaks(seen),
        "unseen peaks": peaks(~seen),
        "inner peaks": peaks(inner),
        # A flat image tells nothing of the truth.
        "correlation": float(np.nan_to_num(right[~seen]).mean()),
        "inner correlation": float(np.nan_to_num(right[inner]).mean()),
    }


def inner_hole(world: BumpWorld) -> BoolArray:
    """Return where in the hole (side, side) at least ``RIM_PIXELS`` from its edge, or all of a hole too small for that.

    Examples
    --------
    >>> int(inner_hole(BumpWorld(28, hole=Hole.square(6, 22))).sum())
    81
    """
    hole = world.hole
    end = min(hole.high, world.side) if hole.shape == "square" else world.side + RIM_PIXELS
    if end - hole.low <= 2 * RIM_PIXELS:
        return ~world.seen()
    return Hole(low=hole.low + RIM_PIXELS, high=end - RIM_PIXELS, shape="square").mask(world.side)


def _shapes(outputs: FloatArray, world: BumpWorld) -> dict[str, float]:
    """What one network's images (side, side, pixels) are made of: pasted, spanned, factorised, contracted, added."""
    grid, seen = as_grid(outputs), world.seen()
    metric, pasted, additive = metric_tensor(grid), superposition(grid, seen), additive_share(grid)
    # A network that paints the same image everywhere, as deep ones may, has no kernel around its background.
    product = math.nan if math.isnan(additive) else kernel_factorization(outputs, background="median")
    return {
        "pasted": pasted.pasted,
        "pasted seen": pasted.pasted_seen,
        "spanned": pasted.spanned,
        "on cross": pasted.on_cross,
        "off cross": pasted.off_cross,
        "factorization": factorization(metric),
        "kernel factorization": product,
        "volume ratio": volume_ratio(metric, seen),
        "additive share": additive,
        "stand-in error": surrogate(grid, seen).unseen_error,
    }


def decoder_layers(unit: Unit) -> Rows:
    """How the factors are laid out in the code, in every layer and in the image, one row per network and layer.

    Examples
    --------
    >>> tiny = {"model": "mlp", "side": 8, "hole": [2, 5], "draws": 0, "hidden": 8, "depth": 1, "epochs": 1}
    >>> [row["layer"] for row in decoder_layers(Unit("layers", 1, {**tiny, "seeds": [0]}))]
    [0, 1, 2]
    """
    about, world, trained = trained_unit(unit)
    code = world.grid().codes.reshape(world.side, world.side, -1)
    rows: Rows = []
    for index, seed in enumerate(unit.seeds):
        sheets = [code, *sheets_of(trained, world, index)]
        rows += [
            {**about, "seed": seed, "layer": number, "last": number == len(sheets) - 1, **_geometry(sheet, world)}
            for number, sheet in enumerate(sheets)
        ]
    return rows


def _geometry(sheet: FloatArray, world: BumpWorld) -> dict[str, float]:
    """Geometry of one layer (side, side, units)."""
    grid, seen = as_grid(sheet), world.seen()
    metric, probe = metric_tensor(grid), linear_probe(grid, seen)
    return {
        "additive share": additive_share(grid),
        "factorization": factorization(metric),
        "volume ratio": volume_ratio(metric, seen),
        "probe": float(np.mean(probe.unseen if probe.unseen is not None else probe.fitted)),
    }


def decoder_pictures(unit: Unit) -> Rows:
    """Pictures of one network: its error at every place, and what it paints in the middle of the hole.

    One row per pixel. "picture" says which: "error" is over places (line = y, column = x), in units of a blank image's
    error; "output", "pasted" (mean seen image of the column plus that of the row) and "truth" are over pixels.

    Examples
    --------
    >>> tiny = {"model": "mlp", "side": 8, "hole": [2, 5], "draws": 0, "hidden": 8, "epochs": 1, "seeds": [0]}
    >>> rows = decoder_pictures(Unit("pictures", 1, tiny))
    >>> len(rows), sorted({row["picture"] for row in rows})
    (256, ['error', 'output', 'pasted', 'truth'])
    """
    about, world, trained = trained_unit(unit)
    x, y = shown_place(world)
    about |= {"hole from": int(world.hole.low), "hole to": int(world.hole.high) - 1, "x": x, "y": y}
    return [
        {**about, "seed": seed, "picture": name, "line": line, "column": column, "value": float(value)}
        for seed, images in zip(unit.seeds, outputs_of(trained, world), strict=True)
        for name, picture in _shown(images, upright(world)).items()
        for (line, column), value in np.ndenumerate(np.round(picture, 4))
    ]


def _shown(outputs: FloatArray, world: BumpWorld) -> dict[str, FloatArray]:
    """The pictures (side, side) of one network, [line, column]."""
    truth = world.grid().images.reshape(outputs.shape)
    error: FloatArray = ((outputs - truth) ** 2).mean(axis=-1).T / world.blank_error
    chosen: dict[str, Any] = {"output": outputs, "pasted": pasted_outputs(outputs, world.seen()), "truth": truth}
    position = shown_place(world)
    return {"error": error, **{name: images[position].reshape(error.shape) for name, images in chosen.items()}}


def shown_place(world: BumpWorld) -> tuple[int, int]:
    """Return the place in the hole whose pictures are kept: off its middle, so that x and y differ.

    Examples
    --------
    >>> shown_place(BumpWorld(28, hole=Hole.square(6, 22)))
    (12, 15)
    """
    low, high = int(world.hole.low), int(world.hole.high) - 1
    third = (high - low + 1) / 3
    return round(low + third), round(high - 1.25 * third)
