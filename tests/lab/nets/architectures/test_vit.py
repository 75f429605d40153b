"""ViT: attention against torch's own, and noise that belongs to the network."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.architectures.vit import Noise, ViT

VIT = ViT(shape=(2, 8, 8), patch=4, depth=2, heads=2, head=4, width=8, hidden=12)


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
