"""ResNet against torch's own layers."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from recombine.lab.nets.architecture import select_networks, stack_networks
from recombine.lab.nets.architectures.resnet import ResNet


def test_resnet_block_is_that_of_torch_s_layers() -> None:
    """Follow the second stage's first block, the one with a shortcut, by hand."""
    network = ResNet(shape=(2, 8, 8), widths=(4, 6), blocks=1, pool=4)
    p = select_networks(stack_networks([network.initial(0, 1.0)]), slice(0, 1))
    images = torch.randn(1, 12, 2, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    still = stack_networks([network.statistics(0)])

    def layer(name: str, images: torch.Tensor, stride: int = 1, padding: int = 1) -> torch.Tensor:
        convolved = functional.conv2d(images, p[f"{name}.weight"][0], None, stride, padding)
        return nn.BatchNorm2d(convolved.shape[1], dtype=torch.float64)(convolved)

    x = torch.relu(layer("stem", images[0]))
    x = torch.relu(layer("stage0.block0.second", torch.relu(layer("stage0.block0.first", x))) + x)
    inner = layer("stage1.block0.second", torch.relu(layer("stage1.block0.first", x, 2)))
    x = torch.relu(inner + layer("stage1.block0.shortcut", x, 2, 0)).mean((2, 3))
    expected = x @ p["readout.weight"][0].t() + p["readout.bias"][0]
    torch.testing.assert_close(network.forward(p, still, images, True)[0], expected, rtol=1e-9, atol=1e-9)
