"""Forced rendering, the released superposition test: what a decoder paints for x alone and y alone, and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.forced_rendering.experiments.networks import painting_scores, trained_unit
from recombine.lab.papers.forced_rendering.experiments.training import DEFAULTS, Rows, outputs_of, samples_of, upright
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.bumps import BumpWorld
from recombine.measures.activations.superposition import correlations


def single_factor_sums(unit: Unit) -> Rows:
    """How much a decoder's images look like what it paints for x alone plus what it paints for y alone.

    One row per network. "x alone" is the code of x beside the mean code of y over the training set. "summed" is the
    mean correlation of images in the hole with the sum of both paintings, "summed seen" the same on the donut.

    Examples
    --------
    >>> tiny = {"model": "mlp", "side": 8, "hole": [2, 5], "draws": 0, "hidden": 8, "epochs": 1, "seeds": [0]}
    >>> row = single_factor_sums(Unit("sums", 1, {**tiny, "code": "one-hot"}))[0]
    >>> -1 <= row["summed"] <= 1, row["code"]
    (True, 'one-hot')
    """
    about, world, trained = trained_unit(unit)
    setting = {**DEFAULTS, **unit.setting}
    means = [samples_of(world, setting, seed).codes.mean(axis=0) for seed in unit.seeds]
    codes = np.stack([single_codes(world, mean) for mean in means])
    painted: FloatArray = trained.outputs(codes).double().cpu().numpy()
    singles = 1 - painted if world.inverted else painted
    networks = zip(unit.seeds, outputs_of(trained, world), singles, strict=True)
    return [
        {**about, "seed": seed, **_scores(outputs, upright(world)), **_sums(outputs, single, world)}
        for seed, outputs, single in networks
    ]


def single_codes(world: BumpWorld, mean: FloatArray) -> FloatArray:
    """Return the codes (2 * side, units) of each x alone, then of each y alone, the other half as on average.

    Examples
    --------
    >>> single_codes(BumpWorld(2, encoding="one-hot"), np.full(4, 0.5)).tolist()
    [[1.0, 0.0, 0.5, 0.5], [0.0, 1.0, 0.5, 0.5], [0.5, 0.5, 1.0, 0.0], [0.5, 0.5, 0.0, 1.0]]
    """
    levels = np.arange(world.side, dtype=float)
    codes = world.codes(np.stack([levels, levels], axis=1))
    half = world.units // 2
    x_codes, y_codes = np.tile(mean, (2, world.side, 1))
    x_codes[:, :half], y_codes[:, half:] = codes[:, :half], codes[:, half:]
    return np.concatenate([x_codes, y_codes])


def _scores(outputs: FloatArray, world: BumpWorld) -> dict[str, Any]:
    names = ("seen peaks", "unseen peaks", "correlation", "relative error")
    scores = painting_scores(outputs, world)
    return {name: scores[name] for name in names}


def _sums(outputs: FloatArray, singles: FloatArray, world: BumpWorld) -> dict[str, float]:
    across, down = singles[: world.side], singles[world.side :]
    close = np.nan_to_num(correlations(outputs, across[:, None] + down[None]))
    seen = world.seen()
    return {"summed": float(close[~seen].mean()), "summed seen": float(close[seen].mean())}
