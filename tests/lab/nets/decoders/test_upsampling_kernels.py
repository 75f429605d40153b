"""Our own GPU kernels for upsampled convolutions against torch's layers, network by network.

On a GPU in short floats. Elsewhere ``TRITON_INTERPRET=1`` runs the same kernels in Python, where triton is installed,
in float32, so that nothing is left to rounding.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.decoders.components import Decoder
from recombine.lab.nets.decoders.composed import compositional_decoder, monolithic_decoder, rgba_decoder
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import AdamW
from recombine.lab.worlds.rendered import sprites

GPU = torch.cuda.is_available()
INTERPRETED = not GPU and os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None
DEVICE, DTYPE = ("cuda", torch.bfloat16) if GPU else ("cpu", torch.float32)
#: Relative to the size of all entries; bfloat16 has eight bits.
NEAR = 0.01 if GPU else 1e-6

pytestmark = [
    pytest.mark.skipif(not GPU and not INTERPRETED, reason="needs a GPU"),
    # The interpreter's own.
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim"),
]


def _random(*shape: int, seed: int = 0) -> Tensor:
    """Numbers that bfloat16 holds exactly, so that only sums are rounded."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).bfloat16().double()


def _far(ours: Tensor, theirs: Tensor) -> float:
    return float((ours.detach().cpu().double() - theirs.detach()).norm() / theirs.detach().norm())


def _lying(maps: Tensor, planar: bool) -> Tensor:
    """Maps (g, B, C, H, W) in the order of a kernel, and back."""
    return maps if planar else maps.transpose(2, 3)


def interpolated(decoder: Decoder, parameters: dict[str, Tensor], latents: Tensor) -> Tensor:
    """The layers of a decoder by torch's own upsampling and convolutions, network by network."""
    layers = []
    for network, image in enumerate(decoder.first_map(parameters, latents).permute(0, 1, 4, 2, 3)):
        for number in range(decoder.doublings):
            weight, bias = (parameters[f"conv{number}.{name}"][network] for name in ("weight", "bias"))
            larger = functional.interpolate(functional.elu(image), scale_factor=2, mode="bilinear", align_corners=True)
            image = functional.conv2d(functional.pad(larger, (0, 1, 0, 1)), weight, bias)
        layers.append(image)
    return torch.stack(layers)


@pytest.mark.parametrize(
    ("side", "channels", "out", "batch"),
    [(4, 16, 16, 5), (4, 16, 64, 2), (8, 16, 32, 5), (8, 16, 4, 3), (16, 16, 3, 2), (16, 32, 32, 3), (32, 16, 3, 2)],
)
def test_enlarged_maps_and_their_slopes(side: int, channels: int, out: int, batch: int) -> None:
    from recombine.lab.nets.decoders.upsampling_kernels import enlarged

    planar, planar_result = side == 4, out < 16
    given = _random(2, batch, channels, side, side), _random(2, out, channels, 2, 2, seed=1), _random(2, out, seed=2)
    slope = _random(2, batch, out, 2 * side, 2 * side, seed=3)
    theirs = [tensor.clone().requires_grad_() for tensor in given]
    larger = [
        functional.interpolate(functional.elu(one), scale_factor=2, mode="bilinear", align_corners=True)
        for one in theirs[0]
    ]
    padded = [functional.pad(one, (0, 1, 0, 1)) for one in larger]
    wanted = torch.stack([functional.conv2d(*part) for part in zip(padded, *theirs[1:], strict=True)])
    ours = [tensor.to(DEVICE, DTYPE).requires_grad_() for tensor in given]
    found = _lying(enlarged(_lying(ours[0], planar), *ours[1:], planar, planar_result), planar_result)
    assert _far(found, wanted) < NEAR
    slopes = torch.autograd.grad(found, ours, slope.to(DEVICE, DTYPE))
    for mine, other in zip(slopes, torch.autograd.grad(wanted, theirs, slope), strict=True):
        assert _far(mine, other) < NEAR


def test_every_number_is_written() -> None:
    from recombine.lab.nets.decoders import upsampling_kernels as kernels

    maps, weight, bias = (
        one.to(DEVICE, DTYPE) for one in (_random(1, 3, 16, 16, 16), _random(1, 3, 16, 2, 2), _random(1, 3))
    )
    # What the allocator hands out next held something else.
    poison = torch.full((1, 3, 3, 32, 32), torch.nan, device=DEVICE, dtype=DTYPE)
    del poison
    assert bool(torch.isfinite(kernels.enlarged(maps, weight, bias, True, True)).all())


@pytest.mark.skipif(not GPU, reason="needs a GPU")
@pytest.mark.parametrize("sizes", [{}, {"channels": 4}, {"inputs": 10, "hidden": 320, "features": 64}])
def test_a_decoder_takes_the_kernels_and_stays_what_it_is(sizes: dict[str, int], monkeypatch) -> None:
    from recombine.lab.nets.decoders import upsampling_kernels as kernels

    calls = []
    take = kernels.enlarged
    monkeypatch.setattr(kernels, "enlarged", lambda *given: calls.append(given) or take(*given))
    decoder = Decoder(**sizes)
    parameters = stack_networks([decoder.draw(torch.Generator().manual_seed(seed)) for seed in (0, 1)])
    latents = torch.rand(2, 5, decoder.inputs, generator=torch.Generator().manual_seed(2))
    wanted = interpolated(decoder, parameters, latents.double())
    short = {name: tensor.to(DEVICE, torch.bfloat16) for name, tensor in parameters.items()}
    assert _far(decoder.layer(short, latents.to(DEVICE)), wanted) < 0.03
    assert len(calls) == decoder.doublings


@pytest.mark.skipif(not GPU, reason="needs a GPU")
@pytest.mark.parametrize("model", [compositional_decoder(), monolithic_decoder(), rgba_decoder()])
def test_the_papers_decoders_learn_as_in_long_floats(model) -> None:
    units = np.random.default_rng(0).random((600, 2, 5))
    inputs = sprites.sprite_latents(units).reshape(600, 10)
    images = torch.tensor(sprites.render_sprites(units)).flatten(1).float() / 255

    def losses(dtype: str) -> Tensor:
        # The last batch of an epoch is short.
        how = {"rate": 1e-3, "steps": 40, "batch": 256, "optimiser": AdamW(weight_decay=1e-5), "record": range(40)}
        return Ensemble(model, [2, 3], dtype=dtype, device="cuda").train(inputs, images, **how).history

    short, long = losses("bfloat16"), losses("float32")
    torch.testing.assert_close(short[:3], long[:3], rtol=0.01, atol=0)
    torch.testing.assert_close(short, long, rtol=0.1, atol=0)
