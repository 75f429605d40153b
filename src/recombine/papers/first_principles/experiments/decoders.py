"""First principles: decoders trained on one support and tested on all combinations.

A unit is one support and model with a batch of seeds, trained together. A seed decides a model's first weights (as
torch would draw them) and the order of its samples; the images are the same for all seeds of a unit. Torch is imported
when a unit runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.measures.outputs.images import (
    errors_by_region,
    mean_squared_error,
    mean_variance,
    pixel_errors,
    strict_r2,
    variance_weighted_r2,
)
from recombine.papers.first_principles.experiments.supports import GAP, support
from recombine.papers.first_principles.experiments.worlds import WORLDS, SlotWorld
from recombine.runs.experiment import Unit
from recombine.theory.supports import Support

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.nets.decoders.composed import ComposedDecoder
    from recombine.nets.ensemble.ensemble import Trained

Setting = Mapping[str, Any]
Rows = list[dict[str, Any]]

#: Seeds of the three sets of images, the same for all models of a support.
TRAIN, ID, ALL = 1, 2, 3
#: Thirds of the other sprite's x, over which the error inside the gap is compared.
THIRDS = 3
#: Images on which the front layer and an untrained model are looked at.
FEW = 500


@dataclass(frozen=True, eq=False)
class ImageSample:
    """Latents (N, 2, D) of some images, and the images (N, 3, side, side) on the device."""

    units: FloatArray
    images: Tensor


@dataclass(frozen=True, eq=False)
class Condition:
    """One support, one way to compose the targets, and the sets of images drawn for them."""

    world: SlotWorld
    support: Support
    setting: Setting
    device: str

    @classmethod
    def of(cls, unit: Unit) -> Condition:
        """Return what a unit's setting names."""
        world = WORLDS[unit.setting["world"]]
        return cls(world, support(unit.setting["support"], world.latents), unit.setting, unit.device)

    def draw(self, which: int) -> ImageSample:
        """Draw training images, fresh ones from the support ("ID"), or any combination ("all")."""
        count = self.setting["samples" if which == TRAIN else "tests"]
        source = support("random", self.world.latents) if which == ALL else self.support
        units = source.sample(count, which)
        return ImageSample(units, self.world.images(units, self.setting["targets"], self.device))

    def train(self, seeds: tuple[int, ...]) -> Trained:
        """Train one model for each seed."""
        from recombine.nets.ensemble.ensemble import Ensemble
        from recombine.nets.ensemble.optimisers import AdamW
        from recombine.nets.ensemble.schedules import Cosine

        setting = self.setting
        sample = self.draw(TRAIN)
        # Short floats are for GPUs; on a CPU they would be slower.
        dtype = setting["dtype"] if self.device.startswith("cuda") else "float32"
        model = self.world.model(setting["model"])
        ensemble = Ensemble(model, seeds, dtype=dtype, device=self.device, chunk=len(seeds))
        return ensemble.train(
            self.world.inputs(sample.units),
            sample.images.flatten(1),
            rate=setting["rate"],
            steps=setting["steps"],
            batch=setting["batch"],
            optimiser=AdamW(weight_decay=setting["weight decay"]),
            decay=Cosine(setting["periods"], setting["every"], setting["floor"]),
        )

    def predict(self, trained: Trained, units: FloatArray) -> Tensor:
        """Return images (E, N, 3, side, side) of all models."""
        outputs = trained.outputs(self.world.inputs(units))
        return outputs.view(*outputs.shape[:2], 3, self.world.side, self.world.side)


def decoder_scores(unit: Unit) -> Rows:
    """Train the unit's models and return what each gets wrong, and where: one row per seed."""
    condition = Condition.of(unit)
    setting = unit.setting
    trained = condition.train(unit.seeds)
    scores = [_scores(condition, trained, which) for which in (ID, ALL)]
    starts = _opaque(condition, trained, unit.seeds)
    about = {name: setting[name] for name in ("scale", "support", "model", "targets", "steps")}
    return [
        {**about, "seed": seed, **scores[0][place], **scores[1][place], "opaque at start": starts[place]}
        | {"train loss": float(trained.loss[place]), "front sum": _front_sum(condition, trained, place)}
        for place, seed in enumerate(unit.seeds)
    ]


def _scores(condition: Condition, trained: Trained, which: int) -> Rows:
    sample = condition.draw(which)
    predicted = condition.predict(trained, sample.units)
    word = "id" if which == ID else "all"
    more = _places(condition, sample) if which == ALL else None
    rows = []
    for images in predicted:
        row = {
            f"mse {word}": mean_squared_error(images, sample.images),
            f"r2 {word}": variance_weighted_r2(images, sample.images),
            f"strict r2 {word}": strict_r2(images, sample.images),
            f"variance {word}": mean_variance(sample.images),
        }
        rows.append(row if more is None else row | more.row(images, sample.images))
    return rows


@dataclass(frozen=True, eq=False)
class Places:
    """Where to look for errors on all combinations."""

    regions: Mapping[str, Tensor]
    anchors: Mapping[str, Tensor]
    outside: BoolArray
    gap: BoolArray
    third: BoolArray

    def row(self, images: Tensor, target: Tensor) -> dict[str, float]:
        """Return errors by region, on the anchors' pixels, off the support, and in and out of the gap."""
        errors = pixel_errors(images, target)
        row: dict[str, float] = {}
        for name, found in errors_by_region(errors, self.regions).items():
            row |= {f"mse {name}": found.mse, f"share {name}": found.share}
        for name, found in errors_by_region(errors, self.anchors).items():
            row |= {f"mse on {name}": found.mse, f"share on {name}": found.share}
        each = errors.mean((1, 2)).double().cpu().numpy()
        row |= {"mse ood": _mean(each[self.outside]), "share ood": float(self.outside.mean())}
        row |= {"mse in gap": _mean(each[self.gap]), "mse out of gap": _mean(each[~self.gap])}
        thirds = [_mean(each[self.gap & one]) for one in self.third]
        return row | {f"mse in gap, other {place}": value for place, value in enumerate(thirds)}


def _places(condition: Condition, sample: ImageSample) -> Places:
    import torch

    world, units = condition.world, sample.units
    device = condition.device
    kinds = {name: torch.tensor(mask, device=device) for name, mask in world.regions(units).items() if name != "hidden"}
    held = {"B": 1.0, "O": 0.0}
    anchors = {name: torch.tensor(world.anchor_pixels(value), device=device) for name, value in held.items()}
    front, other = units[:, 0, 0], units[:, 1, 0]
    inside = (front >= GAP[0]) & (front <= GAP[1])
    third = np.stack([np.minimum((THIRDS * other).astype(int), THIRDS - 1) == part for part in range(THIRDS)])
    return Places(kinds, anchors, ~condition.support.contains(units), inside, third)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _opaque(condition: Condition, trained: Trained, seeds: tuple[int, ...]) -> list[float]:
    """Share of opacities above 0 before training, for models that have opacities."""
    from recombine.nets.decoders.composed import opaque_at_start

    model = _model(trained)
    if model.rule != "rgba":
        return [float("nan")] * len(seeds)
    inputs = condition.world.inputs(condition.support.sample(min(FEW, condition.setting["samples"]), TRAIN))
    return [opaque_at_start(model, seed, inputs) for seed in seeds]


def _front_sum(condition: Condition, trained: Trained, place: int) -> float:
    """Mean channel sum of the front layer where there is nothing in front; soft addition drives it below 0."""
    import torch

    from recombine.nets.architecture import select_networks

    model = _model(trained)
    if model.rule != "soft" or model.slots < 2:
        return float("nan")
    units = support("random", condition.world.latents).sample(min(FEW, condition.setting["tests"]), ALL)
    inputs = torch.tensor(condition.world.inputs(units), dtype=torch.float32, device=condition.device)
    with torch.no_grad():
        one = select_networks(trained.parameters, slice(place, place + 1))
        front = model.layers(one, inputs.unsqueeze(0))[0, 0].sum(1)
    clear = ~torch.tensor(condition.world.regions(units)["front"], device=condition.device)
    return float(front[clear].mean())


def _model(trained: Trained) -> ComposedDecoder:
    from recombine.nets.decoders.composed import ComposedDecoder

    model = trained.ensemble.architecture
    assert isinstance(model, ComposedDecoder)
    return model


def additive(unit: Unit) -> Rows:
    """Train additive models on sums and measure how errors off the support follow from errors on it: one row per seed.

    For an additive model of an additive truth e(z1, z2) = e(z1, b) + e(a, z2) - e(a, b), whatever it has learned.
    """
    condition = Condition.of(unit)
    trained = condition.train(unit.seeds)
    scores = [_scores(condition, trained, which) for which in (ID, ALL)]
    residuals = _law(condition, trained)
    about = {name: unit.setting[name] for name in ("scale", "support", "model", "targets", "steps")}
    return [
        {**about, "seed": seed, **{name: part[place][name] for part, name in zip(scores, KEPT, strict=True)}}
        | {"ratio": scores[1][place]["mse all"] / scores[0][place]["mse id"], "law residual": residuals[place]}
        for place, seed in enumerate(unit.seeds)
    ]


#: What `additive` keeps of the scores on either set.
KEPT = ("mse id", "mse all")


def _law(condition: Condition, trained: Trained) -> list[float]:
    """Return the largest difference between both sides of the law, over random points and all pixels."""
    units = support("random", condition.world.latents).sample(FEW, ALL)
    front, back = (np.full(len(condition.world.latents), value) for value in (0.0, 1.0))
    corners = []
    for first, second in ((False, False), (False, True), (True, False), (True, True)):
        points = units.copy()
        if first:
            points[:, 0] = front
        if second:
            points[:, 1] = back
        target = condition.world.images(points, condition.setting["targets"], condition.device)
        corners.append((condition.predict(trained, points) - target).double())
    left = corners[0] - (corners[1] + corners[2] - corners[3])
    return [float(one.abs().max()) for one in left]
