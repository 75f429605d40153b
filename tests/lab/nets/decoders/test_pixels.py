"""Decoders with a token per pixel against torch's own layers."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders.pixels import PixelMLP, TransformerDecoder, place_code

CODES = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_transformer_is_torch_encoder_layers() -> None:
    network = TransformerDecoder(16, side=8, width=8, heads=2, hidden=10, depth=1)
    parameters = network.initial(0, 1.0)
    layer = nn.TransformerEncoderLayer(8, 2, 10, dropout=0.0, batch_first=True).double()
    names = {
        "self_attn.in_proj_weight": "attend.weight", "self_attn.in_proj_bias": "attend.bias",
        "self_attn.out_proj.weight": "mix.weight", "self_attn.out_proj.bias": "mix.bias",
        "linear1.weight": "up.weight", "linear1.bias": "up.bias", "linear2.weight": "down.weight",
        "linear2.bias": "down.bias", "norm1.weight": "first.gain", "norm1.bias": "first.shift",
        "norm2.weight": "second.gain", "norm2.bias": "second.shift",
    }  # fmt: skip
    layer.load_state_dict({theirs: parameters[f"layer0.{ours}"] for theirs, ours in names.items()})
    tokens = functional.linear(CODES[0], parameters["context.weight"], parameters["context.bias"])
    attended = layer(tokens.unsqueeze(1) + place_code(8, 8))
    expected = functional.linear(attended, parameters["last.weight"], parameters["last.bias"]).squeeze(-1)
    found = network.forward(stack_networks([parameters]), {}, CODES[:1], False)[0]
    torch.testing.assert_close(found, expected)


def test_pixel_mlp_is_a_function_of_place_and_code() -> None:
    network = PixelMLP(16, side=8, width=12, depth=2)
    parameters = network.initial(3, 1.0)
    context = functional.linear(CODES[0], parameters["context.weight"], parameters["context.bias"])
    values = context.unsqueeze(1) + place_code(8, 12)
    for layer in range(2):
        values = functional.linear(values, parameters[f"layer{layer}.weight"], parameters[f"layer{layer}.bias"])
        values = functional.prelu(values, parameters[f"layer{layer}.slope"])
    expected = functional.linear(values, parameters["last.weight"], parameters["last.bias"]).squeeze(-1)
    torch.testing.assert_close(network.forward(stack_networks([parameters]), {}, CODES[:1], False)[0], expected)


def test_place_codes_tell_all_pixels_apart() -> None:
    code = place_code(28, 128)
    assert torch.unique(code.round(decimals=6), dim=0).shape == (784, 128)
