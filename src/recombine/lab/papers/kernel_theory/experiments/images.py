"""Kernel theory, image networks: ConvNet, ResNet and ViT on cells whose components are shown by images.

A unit is one condition with a batch of seeds, trained together on the unit's device. A network's seed also decides its
images: which class shows which level, the pool it trains on, and every pairing. Torch is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError, near_miss
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.image_scores import Answers, Columns, choices, kinds, sums
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows, Setting
from recombine.lab.papers.kernel_theory.experiments.onehot import ADDITION_SETS
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.lab.worlds.images.sources import load_images
from recombine.measures.activations.salience import measured_salience
from recombine.measures.outputs.scores import fitted_line
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.writing import listing

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Architecture, Tensors
    from recombine.lab.nets.architectures.convnet import ConvNet
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.worlds.images.draws import ImageDraws
    from recombine.lab.worlds.images.pairs import ImagePairs

#: Sizes of each architecture that a setting may change; the paper's are the defaults.
SIZES = {
    "convnet": ("channels", "kernel", "dense", "pools"),
    "resnet": ("widths", "blocks", "pool size"),
    "vit": ("patch", "depth", "heads", "head", "width", "hidden", "dropout"),
}
#: Samples of a cell from which the salience of an untrained network is measured, as in the paper.
SALIENCE_SAMPLES = 11
#: Samples of each cell to evaluate networks on, unless the setting says otherwise.
CELL_SAMPLES = 100


def addition_task(name: str) -> Task:
    """Return the addition task of a set: one of the anchor sets, or "dispersed" and the seed of its shuffle.

    Examples
    --------
    >>> addition_task("interpolation"), addition_task("dispersed 2").name
    (Task('symbolic addition': first x second of sizes 9 x 9, 32 seen, 49 unseen), 'dispersed addition')
    """
    word, _, seed = name.partition(" ")
    if word == "dispersed" and seed.isdecimal():
        return tasks.dispersed_addition(seed=int(seed))
    if name not in ADDITION_SETS:
        names = (*ADDITION_SETS, "dispersed 0")
        raise InputError(f"set {name!r} is unknown;{near_miss(name, names)} Sets: {listing(names)}, ...")
    return tasks.symbolic_addition(anchors=ADDITION_SETS[name])


def architecture_of(setting: Setting, shape: tuple[int, ...]) -> Architecture:
    """Return the setting's architecture for images of ``shape``, with the paper's sizes where none are given."""
    from recombine.lab.nets.architectures.convnet import ConvNet
    from recombine.lab.nets.architectures.resnet import ResNet
    from recombine.lab.nets.architectures.vit import ViT

    name = setting["architecture"]
    kinds_of: dict[str, Any] = {"convnet": ConvNet, "resnet": ResNet, "vit": ViT}
    if name not in kinds_of:
        raise InputError(f"architecture {name!r} is unknown;{near_miss(name, kinds_of)} Known: {listing(kinds_of)}")
    settings_given = {size: setting[size] for size in SIZES[name] if size in setting}
    sizes = {
        size.removesuffix(" size"): tuple(value) if isinstance(value, list) else value
        for size, value in settings_given.items()
    }
    architecture: Architecture = kinds_of[name](shape=shape, **sizes)
    return architecture


@dataclass(frozen=True, eq=False)
class ImageSetup:
    """Samples of one unit's networks in every split, and the untrained networks that will see them."""

    task: Task
    draws: Mapping[str, ImageDraws]
    pairs: Mapping[str, ImagePairs]
    ensemble: Ensemble

    @classmethod
    def of(cls, task: Task, unit: Unit) -> ImageSetup:
        """Draw the unit's samples and put its images on the device."""
        from recombine.lab.nets.ensemble.ensemble import Ensemble
        from recombine.lab.worlds.images.draws import draw_images, stack_draws
        from recombine.lab.worlds.images.pairs import ImagePairs

        setting = unit.setting
        images = load_images(setting["images"])
        counts = {"pool": setting["pool"], "total": setting["total"], "per_cell": setting.get("per cell", CELL_SAMPLES)}
        draws = [draw_images(task, images, seed, **counts) for seed in unit.seeds]
        splits = {split: stack_draws([draw[split] for draw in draws]) for split in draws[0]}
        noise = unit.seeds if setting.get("augment", False) else None
        pairs = {
            split: ImagePairs(
                images,
                samples.index,
                distance=setting["distance"],
                augment=noise if split == "train" else None,
                device=unit.device,
            )
            for split, samples in splits.items()
        }
        architecture = architecture_of(setting, pairs["train"].shape)
        how = {"dtype": setting["dtype"], "chunk": setting.get("chunk"), "device": unit.device}
        how["compiled"] = setting.get("compiled", False)
        return cls(task, splits, pairs, Ensemble(architecture, unit.seeds, **how))

    def trained(self, setting: Setting) -> Answers:
        """Train all networks as the setting says, and return their outputs on every split."""
        from recombine.lab.nets.ensemble.optimisers import SGD, Adam

        # Every network shows the same cells in the same order, by other images.
        cells = {split: samples.cells[0] for split, samples in self.draws.items()}
        trained = self.ensemble.train(
            self.pairs["train"],
            self.task.target[cells["train"]],
            rate=setting["rate"],
            steps=setting["epochs"] * -(-len(cells["train"]) // setting["batch"]),
            batch=setting["batch"],
            loss=setting["loss"],
            optimiser=Adam() if setting["optimiser"] == "adam" else SGD(momentum=setting.get("momentum", 0.0)),
        )
        outputs = {split: trained.outputs(pairs)[..., 0].double().cpu().numpy() for split, pairs in self.pairs.items()}
        return Answers(self.task, cells, outputs)

    def salience(self) -> Columns:
        """Return S(1;2) of the last convolution of each untrained ConvNet; other networks have none (NaN).

        The paper pairs a sample with itself too, which adds to the similarity of a cell with itself: "salience" does,
        "salience of distinct samples" does not.
        """
        from recombine.lab.nets.architecture import select_networks
        from recombine.lab.nets.architectures.convnet import ConvNet

        architecture = self.ensemble.architecture
        if isinstance(architecture, ConvNet):
            parameters, statistics = self.ensemble.initial()
            slices = [slice(index, index + 1) for index in range(len(self.ensemble))]
            networks = [(select_networks(parameters, index), select_networks(statistics, index)) for index in slices]
            values = np.array(
                [self._salience_of(index, architecture, *weights) for index, weights in enumerate(networks)]
            ).T
        else:
            values = np.full((2, len(self.ensemble)), np.nan)
        return {"salience": values[0], "salience of distinct samples": values[1]}

    def _salience_of(
        self, index: int, architecture: ConvNet, parameters: Tensors, statistics: Tensors
    ) -> tuple[float, float]:
        import torch

        inputs, each = self._first_samples(index)
        with torch.no_grad():
            features = architecture.features(parameters, statistics, inputs)[-1].double()
        features = features.reshape(len(self.task.cells), each, -1)
        kernel = measured_salience(features.mean(1).cpu().numpy(), self.task.cells, itself=True)
        *across, identical = kernel.values
        # Of each * each pairs of samples in a cell, each are a sample with itself.
        squares = float(features.square().sum()) / len(features)
        distinct = (each**2 * identical - squares) / (each * (each - 1))
        return float(kernel.salience[0]), float(OverlapKernel.from_values([*across, distinct]).salience[0])

    def _first_samples(self, index: int) -> tuple[Tensor, int]:
        """The first few images of every cell that one network is tested on, (1, cells * each, ...), and each."""
        import torch

        device, cells = self.ensemble.device, len(self.task.cells)
        per_cell = len(self.pairs["val_2"]) // cells
        each = min(SALIENCE_SAMPLES, per_cell)
        rows = torch.arange(cells * per_cell, device=device).view(cells, per_cell)[:, :each].reshape(1, -1)
        inputs = self.pairs["val_2"].take(torch.tensor([index], device=device), rows)
        return inputs.to(self.ensemble.master), each


def image_addition(unit: Unit) -> Rows:
    """Slope, errors, additivity and item values on unseen sums, and the untrained network's salience: a row each."""
    task = addition_task(unit.setting["set"])
    world = ImageSetup.of(task, unit)
    return _rows(unit, {"set": unit.setting["set"]}, {**sums(world.trained(unit.setting)), **world.salience()})


def image_context(unit: Unit) -> Rows:
    """Accuracy and margin on unseen cells of CD-k, and what each kind of conjunction contributes: a row per network."""
    task = tasks.context_dependence(unit.setting["left out"])
    answers = ImageSetup.of(task, unit).trained(unit.setting)
    columns = {**choices(answers, unit.setting["loss"]), **answers.additivities(), **kinds(answers)}
    return _rows(unit, {"task": task.name}, columns)


def image_equivalence(unit: Unit) -> Rows:
    """Accuracy and margin on unseen pairs of transitive equivalence: a row per network."""
    anchors = unit.setting["anchors"]
    task = tasks.transitive_equivalence(unit.setting["classes"], anchors)
    answers = ImageSetup.of(task, unit).trained(unit.setting)
    return _rows(unit, {"anchors": anchors[0]}, choices(answers, unit.setting["loss"]))


def image_splits(unit: Unit) -> Rows:
    """Slope on unseen sums by the images that show them: new ones, those of training in new pairs, or both pooled."""
    task = addition_task(unit.setting["set"])
    answers = ImageSetup.of(task, unit).trained(unit.setting)
    seen, new = (answers.by_cell(split)[:, task.test] for split in ("val_1", "val_2"))
    by_split = {"training images": seen, "new images": new, "pooled": (seen + new) / 2}
    columns = {f"slope, {name}": fitted_line(task.target[task.test], outputs)[0] for name, outputs in by_split.items()}
    return _rows(unit, {"set": unit.setting["set"]}, dict(columns))


def _rows(unit: Unit, condition: Mapping[str, Any], columns: Columns) -> Rows:
    """One row per network: what it is, its seed, and its entry (E,) of each column."""
    about = {name: unit.setting[name] for name in ("images", "architecture", "loss", "distance")}
    listed = {name: values.tolist() for name, values in columns.items()}
    return [
        {**about, **condition, "seed": seed, **{name: values[index] for name, values in listed.items()}}
        for index, seed in enumerate(unit.seeds)
    ]
