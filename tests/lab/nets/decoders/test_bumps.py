"""Decoders of bumps: each stacked pass against plain torch modules, first weights against torch's layers."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders.bumps import CNNDecoder, MLPDecoder

CODES = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_cnn_is_a_sequence_of_transposed_convolutions() -> None:
    network = CNNDecoder(16, side=8, hidden=6, depth=3)
    parameters = stack_networks([network.initial(seed, 1.0) for seed in (3, 4)])
    for place in range(2):
        plain = nn.Sequential(
            nn.ConvTranspose2d(16, 6, 2), nn.ReLU(), nn.ConvTranspose2d(6, 6, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(6, 6, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(6, 6, 3, 1, 1), nn.ReLU(),
            nn.ConvTranspose2d(6, 1, 3, 1, 1),
        ).double()  # fmt: skip
        with torch.no_grad():
            for parameter, value in zip(plain.parameters(), parameters.values(), strict=True):
                parameter.copy_(value[place])
        expected = plain(CODES[place].reshape(5, 16, 1, 1)).flatten(1)
        torch.testing.assert_close(network.forward(parameters, {}, CODES, False)[place], expected)


def test_first_weights_have_the_spread_of_torch_layers() -> None:
    ours = CNNDecoder(56).initial(seed=0, scale=1.0)
    for name, layer in {
        "first": nn.ConvTranspose2d(56, 64, 7),
        "block0": nn.ConvTranspose2d(64, 64, 4),
        "last": nn.ConvTranspose2d(64, 1, 3),
    }.items():
        assert ours[f"{name}.weight"].abs().max().item() == pytest.approx(layer.weight.abs().max().item(), rel=0.02)


def test_activation_counts_are_the_right_order() -> None:
    assert CNNDecoder(56).activations((56,)) > 64 * 28 * 28 * 3
    assert math.isclose(MLPDecoder(56, (256,), 784).side, 28)
