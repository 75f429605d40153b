"""Kernel theory, image networks: the samples of one unit and the untrained networks that will see them.

A network's seed also decides its images: which class shows which level, the pool it trains on, and every pairing. Torch
is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.lab.papers.kernel_theory.experiments.architectures import architecture_of
from recombine.lab.papers.kernel_theory.experiments.image_scores import Answers, Columns
from recombine.lab.papers.kernel_theory.experiments.kernels import Setting
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.lab.worlds.images.sources import load_images
from recombine.measures.activations.salience import measured_salience
from recombine.theory.kernels.given_kernels import kernel_of_values

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.architecture import Tensors
    from recombine.lab.nets.architectures.convnet import ConvNet
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.worlds.images.draws import ImageDraws
    from recombine.lab.worlds.images.pairs import ImagePairs

#: Samples of a cell from which the salience of an untrained network is measured, as in the paper.
SALIENCE_SAMPLES = 11
#: Samples of each cell to evaluate networks on, unless the setting says otherwise.
CELL_SAMPLES = 100


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
        # Rows without this setting have classes of our own draw.
        in_turn = setting.get("classes in turn", False)
        draws = [draw_images(task, images, seed, **counts, classes_in_turn=in_turn) for seed in unit.seeds]
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
        how |= {"compiled": setting.get("compiled", False), "stacked": setting.get("stacked")}
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
        return float(kernel.salience[0]), float(kernel_of_values([*across, distinct]).salience[0])

    def _first_samples(self, index: int) -> tuple[Tensor, int]:
        """The first few images of every cell that one network is tested on, (1, cells * each, ...), and each."""
        import torch

        device, cells = self.ensemble.device, len(self.task.cells)
        per_cell = len(self.pairs["val_2"]) // cells
        each = min(SALIENCE_SAMPLES, per_cell)
        rows = torch.arange(cells * per_cell, device=device).view(cells, per_cell)[:, :each].reshape(1, -1)
        inputs = self.pairs["val_2"].take(torch.tensor([index], device=device), rows)
        return inputs.to(self.ensemble.master), each
