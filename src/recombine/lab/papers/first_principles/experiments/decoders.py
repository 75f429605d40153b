"""First principles: decoders trained on one support and tested on all combinations.

A unit is one support and model with a batch of seeds, trained together. A seed decides a model's first weights (as
torch would draw them) and the order of its samples; the images are the same for all seeds of a unit. Torch is imported
when a unit runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.experiments.supports import GAP_X, support
from recombine.lab.papers.first_principles.experiments.worlds import WORLDS, SlotWorld
from recombine.lab.runs.experiment import Unit
from recombine.measures.outputs.images import (
    errors_by_region,
    mean_squared_error,
    mean_variance,
    pixel_errors,
    strict_r2,
    variance_weighted_r2,
)
from recombine.theory.supports import Support

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.decoders.composed import ComposedDecoder
    from recombine.lab.nets.ensemble.ensemble import Trained

Row = dict[str, Any]
Rows = list[Row]

#: Seeds of the three sets of images, the same for all models of a support.
TRAIN_SEED, ID_SEED, ALL_SEED = 1, 2, 3
#: Thirds of the other sprite's x, over which the error inside the gap is compared.
THIRDS = 3
#: Images on which the front layer and an untrained model are looked at.
FEW_IMAGES = 500


@dataclass(frozen=True, eq=False)
class Condition:
    """One support, one way to compose the targets, and the sets of images drawn for them."""

    world: SlotWorld
    support: Support
    setting: Mapping[str, Any]
    device: str

    @classmethod
    def of(cls, unit: Unit) -> Condition:
        """Return what a unit's setting names."""
        world = WORLDS[unit.setting["world"]]
        return cls(world, support(unit.setting["support"], world.latents), unit.setting, unit.device)

    @property
    def model(self) -> ComposedDecoder:
        """The model that is trained."""
        return self.world.model(self.setting["model"])

    @property
    def about(self) -> dict[str, Any]:
        """What every row says of the setting."""
        return {name: self.setting[name] for name in ("scale", "support", "model", "targets", "steps")}

    def draw(self, which: int, count: int = 0) -> tuple[FloatArray, Tensor]:
        """Draw training images, fresh ones from the support ("ID"), or any combination ("all"), and their latents."""
        source = support("random", self.world.latents) if which == ALL_SEED else self.support
        units = source.sample(count or self.setting["samples" if which == TRAIN_SEED else "tests"], which)
        return units, self.world.images(units, self.setting["targets"], self.device)

    def train(self, seeds: tuple[int, ...], scale: float = 1.0, **options: Any) -> Trained:
        """Train one model for each seed, from first weights times ``scale``; more options are the ensemble's."""
        from recombine.lab.nets.ensemble.ensemble import Ensemble
        from recombine.lab.nets.ensemble.optimisers import AdamW
        from recombine.lab.nets.ensemble.schedules import Cosine

        setting, (units, images) = self.setting, self.draw(TRAIN_SEED)
        # Short floats are for GPUs; on a CPU they would be slower.
        short = setting["dtype"] == "bfloat16" and not self.device.startswith("cuda")
        dtype = "float32" if short else setting["dtype"]
        ensemble = Ensemble(self.model, seeds, scale, dtype, self.device, chunk=len(seeds))
        return ensemble.train(
            self.world.inputs(units),
            images.flatten(1),
            rate=setting["rate"],
            steps=setting["steps"],
            batch=setting["batch"],
            optimiser=AdamW(weight_decay=setting["weight decay"]),
            decay=Cosine(setting["periods"], setting["every"], setting["floor"]),
            **options,
        )

    def predict(self, trained: Trained, units: FloatArray) -> Tensor:
        """Return images (E, N, 3, side, side) of all models."""
        outputs = trained.outputs(self.world.inputs(units))
        return outputs.view(*outputs.shape[:2], 3, self.world.side, self.world.side)


def decoder_scores(unit: Unit) -> Rows:
    """Train the unit's models and return what each gets wrong, and where: one row per seed."""
    condition = Condition.of(unit)
    return score_rows(condition, condition.train(unit.seeds), unit.seeds)


def score_rows(condition: Condition, trained: Trained, seeds: tuple[int, ...]) -> Rows:
    """Return what trained models get wrong, and where: one row per seed."""
    return [
        {**condition.about, "seed": seed, **seen, **everything, "opaque at start": _opaque(condition, seed)}
        | {"train loss": float(trained.loss[index]), "front sum": _front_sum(condition, trained, index)}
        for index, (seed, seen, everything) in enumerate(_scores(condition, trained, seeds))
    ]


def _scores(condition: Condition, trained: Trained, seeds: tuple[int, ...]) -> Iterator[tuple[int, Row, Row]]:
    """Every seed with its scores on the support and on all combinations."""
    on = []
    for which, word in ((ID_SEED, "id"), (ALL_SEED, "all")):
        units, target = condition.draw(which)
        by_region = _errors_where(condition, units, target) if which == ALL_SEED else lambda images: {}
        on.append(
            [
                {f"mse {word}": mean_squared_error(images, target), f"r2 {word}": variance_weighted_r2(images, target)}
                | {f"strict r2 {word}": strict_r2(images, target), f"variance {word}": mean_variance(target)}
                | by_region(images)
                for images in condition.predict(trained, units)
            ]
        )
    return zip(seeds, *on, strict=True)


def _errors_where(condition: Condition, units: FloatArray, target: Tensor) -> Callable[[Tensor], Row]:
    """Return what splits the errors of images by region, on the anchors, off the support, in and out of the gap."""
    import torch

    world, outside = condition.world, ~condition.support.contains(units)
    masks = {name: mask for name, mask in world.regions(units).items() if name != "hidden"}
    masks |= {f"on {name}": world.anchor_pixels(value) for name, value in (("B", 1.0), ("O", 0.0))}
    regions = {name: torch.tensor(mask, device=condition.device) for name, mask in masks.items()}
    front, back = units[:, 0, 0], units[:, 1, 0]
    gap = (front >= GAP_X[0]) & (front <= GAP_X[1])
    third = np.minimum((THIRDS * back).astype(int), THIRDS - 1)

    def split(images: Tensor) -> Row:
        errors, row = pixel_errors(images, target), dict[str, Any]()
        for name, region_error in errors_by_region(errors, regions).items():
            row |= {f"mse {name}": region_error.mse, f"share {name}": region_error.share}
        each = errors.mean((1, 2)).double().cpu().numpy()
        row |= {"mse ood": _mean(each[outside]), "share ood": float(outside.mean())}
        row |= {"mse in gap": _mean(each[gap]), "mse out of gap": _mean(each[~gap])}
        return row | {f"mse in gap, other {number}": _mean(each[gap & (third == number)]) for number in range(THIRDS)}

    return split


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _opaque(condition: Condition, seed: int) -> float:
    """Share of opacities above 0 before training, for models that have opacities."""
    from recombine.lab.nets.decoders.composed import opaque_at_start

    if condition.model.rule != "rgba":
        return float("nan")
    units = condition.support.sample(min(FEW_IMAGES, condition.setting["samples"]), TRAIN_SEED)
    return opaque_at_start(condition.model, seed, condition.world.inputs(units))


def _front_sum(condition: Condition, trained: Trained, index: int) -> float:
    """Mean channel sum of the front layer where there is nothing in front; soft addition drives it below 0."""
    import torch

    from recombine.lab.nets.architecture import select_networks

    model = condition.model
    if model.rule != "soft" or model.slots < 2:
        return float("nan")
    units = support("random", condition.world.latents).sample(min(FEW_IMAGES, condition.setting["tests"]), ALL_SEED)
    inputs = torch.tensor(condition.world.inputs(units), dtype=torch.float32, device=condition.device)
    with torch.no_grad():
        network = select_networks(trained.parameters, slice(index, index + 1))
        front = model.layers(network, inputs.unsqueeze(0))[0, 0].sum(1)
    clear = ~torch.tensor(condition.world.regions(units)["front"], device=condition.device)
    return float(front[clear].mean())


def additive(unit: Unit) -> Rows:
    """Train additive models on sums and measure how errors off the support follow from errors on it: one row per seed.

    For an additive model of an additive truth e(z1, z2) = e(z1, b) + e(a, z2) - e(a, b), whatever it has learned.
    """
    condition = Condition.of(unit)
    trained = condition.train(unit.seeds)
    residuals = _law(condition, trained)
    return [
        {**condition.about, "seed": seed, "mse id": seen["mse id"], "mse all": everything["mse all"]}
        | {"ratio": everything["mse all"] / seen["mse id"], "law residual": residuals[index]}
        for index, (seed, seen, everything) in enumerate(_scores(condition, trained, unit.seeds))
    ]


def _law(condition: Condition, trained: Trained) -> list[float]:
    """Return the largest difference between both sides of the law, over random points and all pixels."""
    units = support("random", condition.world.latents).sample(FEW_IMAGES, ALL_SEED)

    def errors(**fixed: float) -> Tensor:
        points = units.copy()
        for slot, value in fixed.items():
            points[:, ("front", "back").index(slot)] = value
        target = condition.world.images(points, condition.setting["targets"], condition.device)
        return (condition.predict(trained, points) - target).double()

    residuals = errors() - (errors(back=1.0) + errors(front=0.0) - errors(front=0.0, back=1.0))
    return [float(residual.abs().max()) for residual in residuals]
