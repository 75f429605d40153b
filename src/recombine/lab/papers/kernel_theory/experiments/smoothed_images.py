"""Kernel theory, context dependence with smoothed labels: ConvNets on images, followed while they train."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows
from recombine.lab.papers.kernel_theory.experiments.trained_images import ImageSetup
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import load_images
from recombine.measures.outputs.scores import margin, sign_accuracy

if TYPE_CHECKING:
    from recombine.lab.worlds.images.pairs import ImagePairs

#: With smoothing e the answer of a seen cell is right with probability 1 - e/2: targets of size 1 - e.
LOSSES = {"logistic": "soft-logistic", "mse": "mse"}


def smoothing_images(unit: Unit) -> Rows:
    """Unseen cells of CD-k over training for ConvNets on smoothed labels, a row per network and recorded step."""
    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    world = ImageSetup.of(task, unit)
    shown, new = (world.draws[split].cells[0] for split in ("train", "val_2"))
    trained = _train_smoothed(world, unit)
    about = {name: setting[name] for name in ("images", "architecture", "loss", "smoothing", "distance")}
    rows = []
    watched = trained.watched[..., 0].double().cpu().numpy()
    for step, losses, outputs in zip(trained.recorded, trained.history.tolist(), watched, strict=True):
        training, later = np.split(outputs, [len(shown)], axis=1)
        unseen, seen = task.test[new], task.train[new]
        target = task.target[new]
        columns = {
            "train loss": losses,
            "train accuracy": sign_accuracy(task.target[shown], training),
            "train margin": margin(task.target[shown], training),
            "accuracy": sign_accuracy(target[unseen], later[:, unseen]),
            "in-distribution accuracy": sign_accuracy(target[seen], later[:, seen]),
            "margin": margin(target[unseen], later[:, unseen]),
        }
        rows += [
            {**about, "task": task.name, "seed": seed, "step": step}
            | {name: float(values[index]) for name, values in columns.items()}
            for index, seed in enumerate(unit.seeds)
        ]
    return rows


def _train_smoothed(world: ImageSetup, unit: Unit) -> Any:
    """Train as the setting says, and record outputs on the training samples, then on new images of every cell."""
    from recombine.lab.nets.ensemble.optimisers import SGD

    setting = unit.setting
    return world.ensemble.train(
        world.pairs["train"],
        world.task.target[world.draws["train"].cells[0]] * (1 - setting["smoothing"]),
        rate=setting["rate"],
        steps=setting["record"][-1],
        batch=setting["batch"],
        loss=LOSSES[setting["loss"]],
        optimiser=SGD(momentum=setting["momentum"]),
        record=tuple(setting["record"]),
        watch=_watched(world, unit),
    )


def _watched(world: ImageSetup, unit: Unit) -> ImagePairs:
    """The training samples, then new images of every cell."""
    from recombine.lab.worlds.images.pairs import ImagePairs

    setting = unit.setting
    index = np.concatenate([world.draws[split].index for split in ("train", "val_2")], axis=1)
    return ImagePairs(load_images(setting["images"]), index, distance=setting["distance"], device=unit.device)
