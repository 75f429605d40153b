"""ResNet and ViT: stacked passes against one network at a time and against torch's own layers."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from recombine.errors import InputError
from recombine.nets.architecture import Architecture, select_networks, stack_networks
from recombine.nets.architectures.resnet import ResNet
from recombine.nets.architectures.vit import Noise, ViT
from recombine.nets.ensemble.ensemble import Ensemble
from recombine.nets.ensemble.optimisers import Adam

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


def test_resnet_block_is_that_of_torch_s_layers() -> None:
    """Follow the second stage's first block, the one with a shortcut, by hand."""
    network = ResNet(shape=(2, 8, 8), widths=(4, 6), blocks=1, pool=4)
    p = select_networks(stack_networks([network.initial(0, 1.0)]), slice(0, 1))
    still = stack_networks([network.statistics(0)])

    def layer(name: str, images: torch.Tensor, stride: int = 1, padding: int = 1) -> torch.Tensor:
        convolved = functional.conv2d(images, p[f"{name}.weight"][0], None, stride, padding)
        return nn.BatchNorm2d(convolved.shape[1], dtype=torch.float64)(convolved)

    x = torch.relu(layer("stem", IMAGES[0]))
    x = torch.relu(layer("stage0.block0.second", torch.relu(layer("stage0.block0.first", x))) + x)
    inner = layer("stage1.block0.second", torch.relu(layer("stage1.block0.first", x, 2)))
    x = torch.relu(inner + layer("stage1.block0.shortcut", x, 2, 0)).mean((2, 3))
    expected = x @ p["readout.weight"][0].t() + p["readout.bias"][0]
    torch.testing.assert_close(network.forward(p, still, IMAGES[:1], True)[0], expected, rtol=1e-9, atol=1e-9)


def test_vit_attention_is_that_of_torch() -> None:
    p = stack_networks([VIT.initial(0, 1.0)])
    values = torch.randn(1, 3, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    ours = VIT._attention(p, "block0", values, Noise(torch.zeros(1, dtype=torch.int32), 0.0))
    normed = functional.layer_norm(values[0], (8,))
    query, key, value = (normed @ p["block0.attend.weight"][0].t()).chunk(3, dim=-1)
    heads = [part.unflatten(-1, (2, 4)).transpose(1, 2) for part in (query, key, value)]
    mixed = functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
    expected = mixed @ p["block0.mix.weight"][0].t() + p["block0.mix.bias"][0]
    torch.testing.assert_close(ours[0], expected, rtol=1e-9, atol=1e-9)


def test_noise_drops_its_share_and_keeps_the_mean() -> None:
    state = torch.tensor([3, 4], dtype=torch.int32)
    noise = Noise(state, 0.1)
    first, second = noise.drop(torch.ones(2, 200, 100)), noise.drop(torch.ones(2, 200, 100))
    for dropped in (first, second):
        assert float((dropped == 0).double().mean()) == pytest.approx(0.1, abs=0.006)
        assert float(dropped.mean()) == pytest.approx(1.0, abs=0.006)
    pairs = [(first[0], first[1]), (first[0], second[0]), (first[0, :-1], first[0, 1:])]
    noise.advance()
    pairs.append((first[0], Noise(state, 0.1).drop(torch.ones(2, 200, 100))[0]))
    for one, other in pairs:
        both = ((one == 0) & (other == 0)).double().mean()
        assert float(both) == pytest.approx(0.01, abs=0.004)


def test_images_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="too small"):
        ResNet(shape=(3, 8, 8))
    with pytest.raises(InputError, match="patches of 8"):
        ViT(shape=(3, 28, 28))
