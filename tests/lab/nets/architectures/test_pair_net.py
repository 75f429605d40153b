"""The network for image pairs: against torch's own layers, its first weights, and a function that watches it train."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.lab.nets.architecture import Tensors, stack_networks
from recombine.lab.nets.architectures.pair_net import PairNet
from recombine.lab.nets.ensemble.ensemble import Ensemble

NETWORK = PairNet((2, 11, 16), channels=(3, 5, 4), dense=(7, 6), outputs=4, kernel=2)


def reference(one: Tensors) -> nn.Sequential:
    """The same network of torch's modules, which flatten channels first."""
    module = nn.Sequential(
        *(nn.Conv2d(2, 3, 2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(3, 5, 2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(5, 4, 2), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 4)),
    ).double()
    layers = [part for part in module if isinstance(part, nn.Conv2d | nn.Linear)]
    with torch.no_grad():
        for name, layer in zip(("conv0", "conv1", "conv2", "dense0", "dense1", "dense2"), layers, strict=True):
            weight = one[f"{name}.weight"]
            if name == "dense0":
                weight = weight.view(7, 1, 2, 4).permute(0, 3, 1, 2).reshape(7, 8)
            layer.weight.copy_(weight)  # type: ignore[operator, union-attr]
            layer.bias.copy_(one[f"{name}.bias"])  # type: ignore[operator, union-attr]
    return module


def drawn() -> list[Tensors]:
    networks = [NETWORK.initial(seed, 1.5) for seed in range(3)]
    generator = torch.Generator().manual_seed(0)
    for one in networks:
        for name in one:
            if name.endswith("bias"):
                one[name] = torch.randn(one[name].shape, generator=generator, dtype=torch.float64) / 5
    return networks


def test_outputs_and_gradients_are_those_of_torch() -> None:
    assert NETWORK.flat == 8
    networks = drawn()
    images = torch.randn(3, 9, 2, 11, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    leaf = images.clone().requires_grad_()
    parameters = {name: tensor.requires_grad_() for name, tensor in stack_networks(networks).items()}
    found = NETWORK.forward(parameters, {}, leaf, True)
    slopes = torch.autograd.grad(found.square().sum(), [leaf, parameters["conv0.weight"], parameters["conv1.bias"]])
    for place, one in enumerate(networks):
        module, own = reference(one), images[place].clone().requires_grad_()
        expected = module(own)
        torch.testing.assert_close(found[place], expected, rtol=0, atol=1e-12)
        wanted = torch.autograd.grad(expected.square().sum(), [own, module[0].weight, module[3].bias])  # type: ignore[list-item]
        for slope, gradient in zip(slopes, wanted, strict=True):
            torch.testing.assert_close(slope[place], gradient, rtol=0, atol=1e-11)


def test_first_weights_are_glorot_uniform_and_biases_zero() -> None:
    parameters = PairNet((1, 28, 56)).initial(seed=3, scale=2.0)
    fans = {"conv0": (9, 288), "conv1": (288, 576), "dense0": (17600, 64), "dense1": (64, 64), "dense2": (64, 10)}
    for name, (fan_in, fan_out) in fans.items():
        weight, bound = parameters[f"{name}.weight"], 2 * math.sqrt(6 / (fan_in + fan_out))
        assert 0.95 * bound < weight.abs().max() <= bound
        # A standard deviation of bound / sqrt(3), to within five of its own errors.
        spread = bound / math.sqrt(3)
        assert abs(float(weight.std()) / spread - 1) < 5 * math.sqrt(0.2 / weight.numel())
        assert not parameters[f"{name}.bias"].any()


def test_images_that_vanish_are_refused() -> None:
    with pytest.raises(InputError, match="4 x 16 do not last for 2 convolutions of side 3"):
        PairNet((1, 4, 16))


def test_a_watching_function_sees_every_network_at_every_recorded_step() -> None:
    images = torch.randn(12, 1, 8, 16, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(12) % 10
    ensemble = Ensemble(PairNet((1, 8, 16), channels=(3, 4), dense=(6,)), seeds=range(5), chunk=2, dtype="float64")

    def sums(parameters: Tensors, statistics: Tensors, networks: torch.Tensor) -> torch.Tensor:
        return torch.stack([parameters["dense1.bias"].sum(1), networks.double()], dim=1)

    def train(steps: int) -> torch.Tensor:
        settings = {"rate": 0.1, "steps": steps, "record": [0, 2, steps], "threads": 1}
        trained = ensemble.train(images, labels, loss="cross-entropy", watch=sums, **settings)  # type: ignore[arg-type]
        assert trained.watched is not None
        torch.testing.assert_close(trained.watched[-1, :, 0], trained.parameters["dense1.bias"].sum(1))
        return trained.watched

    watched = train(4)
    assert watched.shape == (3, 5, 2)
    torch.testing.assert_close(watched[..., 1], torch.arange(5).double().expand(3, 5))
    assert not watched[0, :, 0].any()
    torch.testing.assert_close(watched[1], train(2)[-1])
