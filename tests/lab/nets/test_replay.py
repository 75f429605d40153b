"""Replayed steps: on a GPU the real thing; everywhere the bookkeeping around it, with a stand-in for the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from recombine.lab.nets.architecture import Architecture
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.architectures.resnet import ResNet
from recombine.lab.nets.architectures.vit import ViT
from recombine.lab.nets.ensemble.ensemble import Ensemble, Trained
from recombine.lab.nets.ensemble.modules import Module
from recombine.lab.nets.ensemble.optimisers import SGD, Adam, Optimiser

RNG = np.random.default_rng(0)
VECTORS, IMAGES = RNG.standard_normal((13, 6)), RNG.standard_normal((13, 1, 8, 8))
Y = RNG.standard_normal(13)

CASES: dict[str, tuple[Architecture, int | None, Optimiser]] = {
    "hand-written": (MLP(6, (20,)), None, SGD()),
    "hand-written adam": (MLP(6, (20,)), None, Adam()),
    "deep": (MLP(6, (20, 10)), None, Adam()),
    "mini-batches": (MLP(6, (20,)), 5, SGD(momentum=0.9)),
    "convolutions": (ConvNet((1, 8, 8), (3, 4), kernel=3, dense=(8,), pools=(1, 2)), 5, SGD(momentum=0.9)),
    "resnet": (ResNet((1, 8, 8), widths=(4, 6), pool=4), 5, Adam()),
    "vit": (ViT((1, 8, 8), patch=4, depth=1, heads=2, head=4, width=8, hidden=8), 5, Adam()),
}


def train(case: str, device: str, replay: bool, **options: Any) -> Trained:
    network, batch, optimiser = CASES[case]
    inputs = VECTORS if network.input_axes == 1 else IMAGES
    ensemble = Ensemble(network, range(4), dtype="float64", device=device, chunk=4, replay=replay)
    stop = [0.0, 0.7, 0.8, 0.9]
    settings: dict[str, Any] = {"rate": 0.01, "steps": 40, "stop": stop, "record": [0, 9, 30]}
    return ensemble.train(inputs, Y, batch=batch, optimiser=optimiser, **{**settings, **options})


def agree(one: Trained, other: Trained, tolerance: float) -> None:
    assert one.steps.tolist() == other.steps.tolist()
    for mine, theirs in ((one.parameters, other.parameters), (one.statistics, other.statistics)):
        for name, tensor in mine.items():
            torch.testing.assert_close(tensor.cpu(), theirs[name].cpu(), rtol=0, atol=tolerance)
    torch.testing.assert_close(one.history.cpu(), other.history.cpu(), rtol=0, atol=tolerance)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("case", CASES)
def test_recording_leaves_no_trace(case: str) -> None:
    agree(train(case, "cpu", replay=True), train(case, "cpu", replay=False), 1e-12)


@pytest.mark.usefixtures("stand_in")
def test_recording_draws_no_dropout() -> None:
    """A training that goes on records anew; its dropout must go on where it was."""
    draw = lambda: nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 1))  # noqa: E731
    found = []
    for replay in (False, True):
        torch.manual_seed(5)
        ensemble = Ensemble(Module(draw), range(2), dtype="float64", chunk=2, replay=replay)
        found.append(ensemble.train(VECTORS, Y, rate=0.01, steps=12, batch=5))
    agree(*found, 1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("case", CASES)
def test_a_gpu_replays_what_a_cpu_computes(case: str) -> None:
    agree(train(case, "cuda", replay=True), train(case, "cuda", replay=False), 1e-9)
    agree(train(case, "cuda", replay=True), train(case, "cpu", replay=False), 1e-7)
