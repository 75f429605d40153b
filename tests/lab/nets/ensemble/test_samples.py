"""Inputs that are gathered when asked for: training says how far each network is, evaluation does not."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.architectures.resnet import ResNet
from recombine.lab.nets.architectures.vit import ViT
from recombine.lab.nets.ensemble.ensemble import Ensemble, Trained

RNG = np.random.default_rng(3)
VALUES = torch.from_numpy(RNG.standard_normal((5, 12, 4)))
TARGETS = RNG.standard_normal((5, 12))


class Drifting:
    """Each network's own inputs, which in training drift with the number of updates it has taken."""

    shape = (4,)

    def __init__(self, places: list[int], drift: float) -> None:
        self.values, self.drift = VALUES[places], drift
        self.asked: list[list[int] | None] = []

    def __len__(self) -> int:
        return self.values.shape[1]

    def take(self, networks: Tensor, rows: Tensor, steps: Tensor | None = None) -> Tensor:
        self.asked.append(None if steps is None else steps.tolist())
        values = self.values[networks.unsqueeze(1), rows]
        return values if steps is None else values + self.drift * steps.view(-1, 1, 1)


def train(places: list[int], drift: float = 0.01, **options: object) -> tuple[Trained, Drifting]:
    inputs = Drifting(places, drift)
    ensemble = Ensemble(MLP(4, (10,)), places, dtype="float64", chunk=len(places))
    settings: dict = {"rate": 0.05, "steps": 40, "batch": 5, **options}
    return ensemble.train(inputs, TARGETS[places], threads=1, **settings), inputs


@pytest.mark.parametrize("batch", [5, None])
def test_a_network_meets_the_same_inputs_alone_and_in_a_batch(batch: int | None) -> None:
    """Networks stop at different steps and the chunk shrinks on the way."""
    together, _ = train([0, 1, 2, 3, 4], batch=batch, stop=0.4)
    assert len(set(together.steps.tolist())) > 2
    still, _ = train([0, 1, 2, 3, 4], drift=0.0, batch=batch, stop=0.4)
    assert (still.loss != together.loss).any()
    for place in range(5):
        alone, _ = train([place], batch=batch, stop=0.4)
        assert alone.steps.item() == together.steps[place].item()
        for name, tensor in alone.parameters.items():
            torch.testing.assert_close(tensor[0], together.parameters[name][place], rtol=0, atol=1e-12)


def test_training_counts_updates_and_evaluation_does_not() -> None:
    trained, inputs = train([0, 1], steps=3)
    assert inputs.asked == [[0, 0], [1, 1], [2, 2]]
    inputs.asked.clear()
    outputs = trained.outputs(inputs)
    assert inputs.asked
    assert all(steps is None for steps in inputs.asked)
    torch.testing.assert_close(outputs, trained.outputs(VALUES[:2]))


IMAGE = (2, 8, 13)
NETWORKS = {
    "MLP": (MLP(4, (5,)), (4,), (5,)),
    "ConvNet": (ConvNet(IMAGE, (3,), 3, (4,), pools=(2,)), IMAGE, (2, 8, 8)),
    "ResNet": (ResNet((2, 8, 8), (4,)), (2, 8, 8), (3, 8, 8)),
    "ViT": (ViT((2, 8, 8), depth=1, width=8, hidden=8), (2, 8, 8), (2, 8, 16)),
}


class Blank:
    """Gathered zeros."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return 6

    def take(self, networks: Tensor, rows: Tensor, steps: Tensor | None = None) -> Tensor:
        return torch.zeros(*rows.shape, *self.shape)


@pytest.mark.parametrize("name", NETWORKS)
def test_inputs_of_another_shape_are_refused(name: str) -> None:
    network, right, wrong = NETWORKS[name]
    ensemble = Ensemble(network, [0, 1])
    start = ensemble.initial()
    for fitting in (np.zeros((6, *right)), torch.zeros(2, 6, *right), Blank(right)):
        assert ensemble.outputs(*start, fitting).shape == (2, 6, 1)
    message = f"{wrong} but the {name} was built for {right}"
    for other in (np.zeros((6, *wrong)), torch.zeros(2, 6, *wrong), Blank(wrong)):
        with pytest.raises(InputError, match=re.escape(message)):
            ensemble.outputs(*start, other)
        with pytest.raises(InputError, match=re.escape(message)):
            ensemble.train(other, np.zeros(6), rate=0.1, steps=1)
        with pytest.raises(InputError, match=re.escape(message)):
            ensemble.train(np.zeros((6, *right)), np.zeros(6), rate=0.1, steps=1, watch=other)


def test_gathered_inputs_of_another_number_of_networks_are_refused() -> None:
    inputs = Blank((4,))
    inputs.networks = 2  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="inputs of 2 networks do not fit an ensemble of 3"):
        Ensemble(MLP(4, (5,)), range(3)).train(inputs, np.zeros(6), rate=0.1, steps=1)
