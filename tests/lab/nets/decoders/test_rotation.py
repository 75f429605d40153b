"""The decoder of rotated digits: its published size, and the range it paints in."""

from __future__ import annotations

import torch

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders.rotation import RotationDecoder


def test_rotation_decoder_has_the_published_number_of_parameters_and_paints_between_zero_and_one() -> None:
    assert sum(tensor.numel() for tensor in RotationDecoder(inputs=1).initial(0, 1.0).values()) == 406_913
    network = RotationDecoder(inputs=16, side=8, channels=(4, 6, 5))
    codes = torch.randn(1, 5, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parameters, statistics = stack_networks([network.initial(3, 1.0)]), stack_networks([network.statistics(3)])
    images = network.forward(parameters, statistics, codes, True)
    assert 0 < images.min() < images.max() < 1
