"""What architectures of images keep to: a network learns the same alone and in a batch, and has its published size."""

from __future__ import annotations

import pytest
import torch

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, stack_networks
from recombine.lab.nets.architectures.resnet import ResNet
from recombine.lab.nets.architectures.vit import ViT
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import Adam

RESNET = ResNet(shape=(2, 8, 8), widths=(4, 6), blocks=2, pool=4)

VIT = ViT(shape=(2, 8, 8), patch=4, depth=2, heads=2, head=4, width=8, hidden=12)

IMAGES = torch.randn(3, 12, 2, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

TARGETS = torch.randn(3, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

SEEDS = [4, 5, 6]


@pytest.mark.parametrize("network", [RESNET, VIT], ids=["resnet", "vit"])
def test_a_network_learns_the_same_alone_and_in_a_batch(network: Architecture) -> None:
    settings = {"rate": 1e-3, "steps": 8, "batch": 5, "optimiser": Adam(), "record": [0, 7]}
    together = Ensemble(network, SEEDS, dtype="float64", chunk=3).train(IMAGES, TARGETS, **settings)
    assert bool((together.history[0] != together.history[1]).all())
    for place, seed in enumerate(SEEDS):
        ensemble = Ensemble(network, [seed], dtype="float64")
        alone = ensemble.train(IMAGES[place], TARGETS[place], **settings)
        for name, tensor in alone.parameters.items():
            torch.testing.assert_close(together.parameters[name][[place]], tensor, rtol=0, atol=1e-9)
        outputs = together.outputs(IMAGES)[place]
        torch.testing.assert_close(outputs, alone.outputs(IMAGES[place])[0], rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("network", [RESNET, VIT], ids=["resnet", "vit"])
def test_training_lowers_the_loss(network: Architecture) -> None:
    ensemble = Ensemble(network, SEEDS, chunk=3)
    trained = ensemble.train(IMAGES, TARGETS, rate=3e-3, steps=60, optimiser=Adam(), record=[0])
    assert bool((trained.loss < trained.history[0] / 2).all())


def test_published_sizes() -> None:
    for network in (ResNet(shape=(6, 32, 32)), ViT(shape=(6, 32, 32))):
        parameters = stack_networks([network.initial(seed, 1.0) for seed in (0, 1)])
        statistics = stack_networks([network.statistics(seed) for seed in (0, 1)])
        images = torch.zeros(2, 1, 6, 32, 32, dtype=torch.float64)
        assert network.forward(parameters, statistics, images, False).shape == (2, 1, 1)


def test_images_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="too small"):
        ResNet(shape=(3, 8, 8))
    with pytest.raises(InputError, match="patches of 8"):
        ViT(shape=(3, 28, 28))
