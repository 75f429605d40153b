"""Forced rendering, remedies: the low-rank pixel-embedding network, and how many bumps are needed with stripes."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab.papers.forced_rendering.experiments.networks import painting_scores
from recombine.lab.papers.forced_rendering.experiments.training import (
    DEFAULTS,
    Rows,
    arrays_of,
    is_inverted,
    outputs_of,
    train_networks,
    upright,
    world_of,
)
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.bumps import BumpWorld
from recombine.measures.activations.peaks import peak_accuracy
from recombine.measures.activations.superposition import correlations

#: Weights of the released script's penalties.
ENTROPY_WEIGHT, VARIANCE_WEIGHT = 0.1, 0.01
#: What each choice of penalties weighs: entropy, variance.
PENALTIES = {"none": (0.0, 0.0), "entropy": (ENTROPY_WEIGHT, 0.0), "variance": (0.0, VARIANCE_WEIGHT)}
PENALTIES["both"] = ENTROPY_WEIGHT, VARIANCE_WEIGHT
#: The released script of the low-rank network: every seen place once per epoch, a corner hole.
LOW_RANK = {"code": "one-hot", "side": 32, "width": 1.5, "corner": 12, "draws": 0, "epochs": 1000, "decay": 1e-4}


def low_rank(unit: Unit) -> Rows:
    """What low-rank networks paint with and without penalties, one row per network.

    "rank" counts the components of an embedding, exp(entropy) of their squared weights, before and after training; it
    is not the rank of the image, which is one for a stripe of any number of components. "striped" is the share of the
    embeddings' energy that is constant along rows or along columns, whichever is more.

    Examples
    --------
    >>> tiny = {"penalty": "both", "side": 6, "width": 1.0, "corner": 3, "epochs": 1, "seeds": [0, 1]}
    >>> [(row["penalty"], row["seed"]) for row in low_rank(Unit("low-rank", 1, tiny))]
    [('both', 0), ('both', 1)]
    """
    setting, world, network, trained = _trained_low_rank(unit)
    before = network.components(trained.ensemble.initial()[0]).tolist()
    after = network.components(trained.parameters).tolist()
    striped = _striped(network, trained.parameters)
    about = {name: setting[name] for name in ("penalty", "side", "corner", "target")}
    return [
        {**about, "seed": seed, **painting_scores(outputs, upright(world))}
        | {"rank before": before[index], "rank": after[index], "striped": striped[index]}
        for index, (seed, outputs) in enumerate(zip(unit.seeds, outputs_of(trained, world), strict=True))
    ]


def _trained_low_rank(unit: Unit) -> tuple[dict[str, Any], BumpWorld, Any, Any]:
    """Return a unit's full setting, its world, architecture and trained networks."""
    from recombine.lab.nets.decoders.low_rank import LowRankDecoder

    setting = {**DEFAULTS, **LOW_RANK, **unit.setting}
    world = world_of(setting)
    entropy, variance = PENALTIES[setting["penalty"]]
    network = LowRankDecoder(setting["side"], entropy=entropy, variance=variance)
    codes, images = arrays_of(world, setting, [0])
    return setting, world, network, train_networks(network, unit, setting, codes[0], images[0], convolutional=False)


def embedding_pictures(unit: Unit) -> Rows:
    """Pictures of low-rank networks: the images that one x and one y own, and what is painted where they meet.

    One row per pixel. "picture" says which: "x", "y" (embeddings, each divided by its largest size), "output", "truth".

    Examples
    --------
    >>> tiny = {"penalty": "both", "side": 6, "width": 1.0, "corner": 3, "epochs": 1, "seeds": [42]}
    >>> rows = embedding_pictures(Unit("embeddings", 1, tiny))
    >>> len(rows), sorted({row["picture"] for row in rows})
    (144, ['output', 'truth', 'x', 'y'])
    """
    setting, world, network, trained = _trained_low_rank(unit)
    side, corner = world.side, setting["corner"]
    x, y = corner + round((side - corner) / 3), corner + round(2 * (side - corner) / 3)
    about = {name: setting[name] for name in ("penalty", "side", "corner", "target")} | {
        "column of x": x,
        "line of y": y,
    }
    truth = upright(world).images([[x, y]]).reshape(side, side)
    owned = [network.embedding(trained.parameters, name).double().detach().cpu().numpy() for name in ("x", "y")]
    rows: Rows = []
    for index, (seed, outputs) in enumerate(zip(unit.seeds, outputs_of(trained, world), strict=True)):
        pictures = {"x": owned[0][index, x], "y": owned[1][index, y]}
        panels = {name: picture / np.abs(picture).max() for name, picture in pictures.items()}
        panels |= {"output": outputs[x, y], "truth": truth}
        peaks = painting_scores(outputs, upright(world))["unseen peaks"]
        rows += [
            {**about, "seed": seed, "unseen peaks": peaks, "picture": name, "line": line, "column": column}
            | {"value": float(value)}
            for name, picture in panels.items()
            for (line, column), value in np.ndenumerate(np.round(picture.reshape(side, side), 4))
        ]
    return rows


def _striped(network: Any, parameters: Any) -> list[float]:
    """Share of the embeddings' energy (around each image's mean) that varies along one axis only, by network.

    A factor's stripes may run in either direction: the one that holds more of its energy counts, x and y each its own.
    """
    import torch

    along, total = torch.zeros(1), torch.zeros(1)
    with torch.no_grad():
        for factor in ("x", "y"):
            images = network.embedding(parameters, factor).double().cpu()
            images = images.view(*images.shape[:2], network.side, network.side)
            images = images - images.mean((2, 3), keepdim=True)
            energies = [images.mean(axis).square().sum((1, 2)) * network.side for axis in (2, 3)]
            along = along + torch.maximum(*energies)
            total = total + images.square().sum((1, 2, 3))
    shares: list[float] = (along / total).tolist()
    return shares


def efficiency(unit: Unit) -> Rows:
    """How well all unseen places are painted after training on a few bumps, one row per network.

    The setting has "side", "bumps" (a list: how many are trained on), "stripes" (whether all stripes are as well),
    "steps", "hidden", "depth", "batch" and "seeds". Bumps are drawn without replacement, more of them holding fewer.

    Examples
    --------
    >>> tiny = {"side": 8, "bumps": [4, 8], "stripes": 1, "steps": 2, "hidden": 4, "depth": 2, "seeds": [0]}
    >>> [(row["bumps"], row["stripes"]) for row in efficiency(Unit("efficiency", 1, tiny))]
    [(4, 1), (8, 1)]
    """
    from recombine.lab.nets.decoders.bumps import CNNDecoder

    setting = {**DEFAULTS, "batch": 64, **unit.setting}
    world = BumpWorld(setting["side"], encoding="one-hot", inverted=is_inverted(setting["target"]))
    data = world.grid() + world.stripes()
    runs = [(bumps, seed) for bumps in setting["bumps"] for seed in unit.seeds]
    pools = [nested_rows(world, bumps, seed, stripes=bool(setting["stripes"])) for bumps, seed in runs]
    network = CNNDecoder(world.units, world.side, setting["hidden"], setting["depth"])
    each = {**setting, "seeds": [seed for _, seed in runs]}
    trained = train_networks(network, unit, each, data.codes, data.images.reshape(len(data), -1), draw_from=pools)
    about = {"side": world.side, "stripes": setting["stripes"], "target": setting["target"]}
    return [
        {**about, "bumps": bumps, "seed": seed, **_unseen(outputs, upright(world), rows)}
        for (bumps, seed), outputs, rows in zip(runs, outputs_of(trained, world), pools, strict=True)
    ]


def nested_rows(world: BumpWorld, bumps: int, seed: int, *, stripes: bool) -> IntArray:
    """Return the rows of "grid, then stripes" that a network is trained on.

    Examples
    --------
    >>> world = BumpWorld(4)
    >>> few, more = (nested_rows(world, count, seed=1, stripes=False) for count in (2, 5))
    >>> bool(np.isin(few, more).all()), nested_rows(world, 2, seed=1, stripes=True)[2:].tolist()
    (True, [16, 17, 18, 19, 20, 21, 22, 23])
    """
    cells = world.side**2
    chosen = np.random.default_rng(seed).permutation(cells)[:bumps]
    return np.concatenate([chosen, np.arange(cells, cells + 2 * world.side)]) if stripes else chosen


def _unseen(images: FloatArray, world: BumpWorld, rows: IntArray) -> dict[str, float]:
    """Correlation, peaks and error at the places that were not trained on."""
    grid = world.grid()
    unseen = ~np.isin(np.arange(len(grid)), rows)
    painted, truth = (array.reshape(len(grid), -1)[unseen] for array in (images, grid.images))
    return {
        "correlation": float(np.nan_to_num(correlations(painted, truth)).mean()),
        "peaks": peak_accuracy(painted.reshape(-1, world.side, world.side), grid.centres[unseen]),
        "relative error": float(((painted - truth) ** 2).mean()) / world.blank_error,
    }
