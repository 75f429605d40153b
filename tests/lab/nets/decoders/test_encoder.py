"""The encoder against torch's convolutions."""

from __future__ import annotations

import torch
from torch import nn

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders.encoder import ImageEncoder


def test_encoder_is_torch_convolutions() -> None:
    network = ImageEncoder(side=9, outputs=4, channels=(3, 5), hidden=6)
    parameters = network.initial(0, 1.0)
    plain = nn.Sequential(
        nn.Conv2d(1, 3, 3, 2, 1), nn.ReLU(), nn.Conv2d(3, 5, 3, 2, 1), nn.ReLU(), nn.Flatten(),
        nn.Linear(45, 6), nn.ReLU(), nn.Linear(6, 4),
    ).double()  # fmt: skip
    with torch.no_grad():
        for parameter, value in zip(plain.parameters(), parameters.values(), strict=True):
            parameter.copy_(value)
    images = torch.rand(7, 81, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = network.forward(stack_networks([parameters]), {}, images[None], False)[0]
    torch.testing.assert_close(found, plain(images.view(7, 1, 9, 9)))
