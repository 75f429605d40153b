"""First principles, small: a wrong rule, a world without derivatives, and slots that share a component.

All are trained on blobs of 12 pixels. The theorem asks for the true rule and for derivatives, and says nothing of how a
component is built; here each of these is changed alone, beside a decoder of which it is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.experiments.decoders import ALL_SEED, Condition, Rows, score_rows
from recombine.lab.papers.first_principles.experiments.supports import support
from recombine.lab.papers.first_principles.experiments.worlds import WORLDS, SlotWorld
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.blobs import BLOB_SIDE, LATENTS, WIDTHS
from recombine.measures.outputs.images import pixel_errors

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.decoders.composed import ComposedDecoder
    from recombine.lab.nets.ensemble.ensemble import Trained

#: Bins along either latent of a map of errors.
ERROR_MAP_BINS = 5
#: Before the names of a map's two latents, in rows.
MAP_OF = "worst over mean: "


def stepped(units: FloatArray) -> FloatArray:
    """Return blobs (N, 2, 3) whose places move in whole pixels, so that nothing has a derivative in x or y.

    Examples
    --------
    >>> stepped(np.array([[[0.0, 0.5, 0.3], [0.06, 0.52, 1.0]]]))[0].round(3).tolist()
    [[0.0, 0.476, 0.3], [0.119, 0.476, 1.0]]
    """
    steps = BLOB_SIDE * WIDTHS[:2]
    places = np.minimum(np.round(units[..., :2] * steps) / steps, 1.0)
    return np.concatenate([places, units[..., 2:]], axis=-1)


def _world(setting: dict[str, Any]) -> SlotWorld:
    """The world of blobs, with a renderer in steps or a model whose slots share a component where a setting says so."""
    blobs = WORLDS["blobs"]

    def images(units: FloatArray, targets: str, device: str) -> Tensor:
        return blobs.images(stepped(units) if setting["renderer"] == "in steps" else units, targets, device)

    def model(name: str) -> ComposedDecoder:
        return replace(blobs.model("compositional"), shared=True) if name == "shared" else blobs.model(name)

    return replace(blobs, images=images, model=model)


def assumptions(unit: Unit) -> Rows:
    """Train the unit's models and return what each gets wrong, and where, and in maps of errors: one row per seed."""
    setting = dict(unit.setting)
    world = _world(setting)
    condition = Condition(world, support(setting["support"], world.latents), setting, unit.device)
    trained = condition.train(unit.seeds)
    scores = score_rows(condition, trained, unit.seeds)
    maps = _maps(condition, trained)
    return [{"renderer": setting["renderer"], **row, **panels} for row, panels in zip(scores, maps, strict=True)]


def _maps(condition: Condition, trained: Trained) -> Iterator[dict[str, float]]:
    """Yield for each network the mean error of the worst of 25 bins over the mean, for every pair of latents."""
    units, target = condition.draw(ALL_SEED)
    names = [f"{slot} {latent}" for slot in ("front", "back") for latent in LATENTS]
    bins = np.minimum((units.reshape(len(units), -1) * ERROR_MAP_BINS).astype(int), ERROR_MAP_BINS - 1)
    for images in condition.predict(trained, units):
        errors = pixel_errors(images, target).mean((1, 2)).double().cpu().numpy()
        panels = {}
        for across, down in combinations(range(len(names)), 2):
            cell = ERROR_MAP_BINS * bins[:, across] + bins[:, down]
            worst = (np.bincount(cell, errors) / np.bincount(cell)).max()
            panels[f"{MAP_OF}{names[across]}, {names[down]}"] = float(worst / errors.mean())
        yield panels
