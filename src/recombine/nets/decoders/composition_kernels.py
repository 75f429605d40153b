"""Two layers composed into an image on a GPU: one pass over their pixels each way."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Pixels of one program.
PIXELS = 1024


@triton.jit  # type: ignore[untyped-decorator]
def _pixel(layer, place, here, pixels, channel: tl.constexpr):  # type: ignore[no-untyped-def]
    return tl.load(layer + channel * pixels + place, mask=here, other=0.0).to(tl.float32)


@triton.jit  # type: ignore[untyped-decorator]
def _opacity(values, RULE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Opacities, and how they change with the values behind them."""
    if RULE == "clamp":
        cover = tl.minimum(tl.maximum(values, 0.0), 1.0)
        change = tl.where((values >= 0.0) & (values <= 1.0), 1.0, 0.0)
    else:
        cover = tl.sigmoid(values)
        change = cover * (1.0 - cover)
    return cover, change


@triton.jit  # type: ignore[untyped-decorator]
def _compose(layers, result, images, pixels, gain, CHANNELS: tl.constexpr, RULE: tl.constexpr, PIXELS: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """One tile of pixels of one image of one network, from its front and back layer."""
    tile, image, network = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    place = tile * PIXELS + tl.arange(0, PIXELS)
    here = place < pixels
    front = layers + (network * 2 * images + image) * CHANNELS * pixels
    back = front + images.to(tl.int64) * CHANNELS * pixels
    result += (network * images + image) * 3 * pixels
    a0, a1, a2 = (
        _pixel(front, place, here, pixels, 0), _pixel(front, place, here, pixels, 1),
        _pixel(front, place, here, pixels, 2),
    )  # fmt: skip
    b0, b1, b2 = (
        _pixel(back, place, here, pixels, 0), _pixel(back, place, here, pixels, 1),
        _pixel(back, place, here, pixels, 2),
    )  # fmt: skip
    if RULE == "soft":
        share = tl.sigmoid(gain * (a0 + a1 + a2))
    else:
        share, _ = _opacity(_pixel(front, place, here, pixels, 3), RULE)
        behind, _ = _opacity(_pixel(back, place, here, pixels, 3), RULE)
        b0, b1, b2 = b0 * behind, b1 * behind, b2 * behind
    tl.store(result + place, b0 + share * (a0 - b0), mask=here)
    tl.store(result + pixels + place, b1 + share * (a1 - b1), mask=here)
    tl.store(result + 2 * pixels + place, b2 + share * (a2 - b2), mask=here)


@triton.jit  # type: ignore[untyped-decorator]
def _slopes(layers, slope, result, images, pixels, gain, CHANNELS: tl.constexpr, RULE: tl.constexpr, PIXELS: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Slopes of both layers at one tile of pixels."""
    tile, image, network = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    place = tile * PIXELS + tl.arange(0, PIXELS)
    here = place < pixels
    at_front = (network * 2 * images + image) * CHANNELS * pixels
    at_back = at_front + images.to(tl.int64) * CHANNELS * pixels
    front, back, above = layers + at_front, layers + at_back, slope + (network * images + image) * 3 * pixels
    a0, a1, a2 = (
        _pixel(front, place, here, pixels, 0), _pixel(front, place, here, pixels, 1),
        _pixel(front, place, here, pixels, 2),
    )  # fmt: skip
    b0, b1, b2 = (
        _pixel(back, place, here, pixels, 0), _pixel(back, place, here, pixels, 1),
        _pixel(back, place, here, pixels, 2),
    )  # fmt: skip
    g0, g1, g2 = (
        _pixel(above, place, here, pixels, 0), _pixel(above, place, here, pixels, 1),
        _pixel(above, place, here, pixels, 2),
    )  # fmt: skip
    short = result.dtype.element_ty
    if RULE == "soft":
        share = tl.sigmoid(gain * (a0 + a1 + a2))
        owed = gain * share * (1.0 - share) * (g0 * (a0 - b0) + g1 * (a1 - b1) + g2 * (a2 - b2))
        behind = 1.0 - share
    else:
        share, change = _opacity(_pixel(front, place, here, pixels, 3), RULE)
        cover, covered = _opacity(_pixel(back, place, here, pixels, 3), RULE)
        by_share = g0 * (a0 - cover * b0) + g1 * (a1 - cover * b1) + g2 * (a2 - cover * b2)
        by_cover = (1.0 - share) * (g0 * b0 + g1 * b1 + g2 * b2)
        owed = tl.zeros_like(share)
        behind = (1.0 - share) * cover
        tl.store(result + at_front + 3 * pixels + place, (by_share * change).to(short), mask=here)
        tl.store(result + at_back + 3 * pixels + place, (by_cover * covered).to(short), mask=here)
    tl.store(result + at_front + place, (share * g0 + owed).to(short), mask=here)
    tl.store(result + at_front + pixels + place, (share * g1 + owed).to(short), mask=here)
    tl.store(result + at_front + 2 * pixels + place, (share * g2 + owed).to(short), mask=here)
    tl.store(result + at_back + place, (behind * g0).to(short), mask=here)
    tl.store(result + at_back + pixels + place, (behind * g1).to(short), mask=here)
    tl.store(result + at_back + 2 * pixels + place, (behind * g2).to(short), mask=here)


class _Composed(torch.autograd.Function):
    """An image in float32 from two layers of any precision."""

    @staticmethod
    def forward(ctx: Any, layers: Tensor, rule: str, gain: float) -> Tensor:
        networks, _, images, channels, height, width = layers.shape
        ctx.save_for_backward(layers)
        ctx.how = {"gain": gain, "CHANNELS": channels, "RULE": rule, "PIXELS": PIXELS}
        result = torch.empty(networks, images, 3, height, width, dtype=torch.float32, device=layers.device)
        grid = (triton.cdiv(height * width, PIXELS), images, networks)
        _compose[grid](layers, result, images, height * width, **ctx.how)
        return result

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        (layers,) = ctx.saved_tensors
        networks, _, images, _, height, width = layers.shape
        result = torch.empty_like(layers)
        grid = (triton.cdiv(height * width, PIXELS), images, networks)
        _slopes[grid](layers, slope.contiguous(), result, images, height * width, **ctx.how)
        return result, None, None


def composed(layers: Tensor, rule: str, gain: float = 1.0) -> Tensor:
    """Return images (c, B, 3, side, side) in float32 of layers (c, 2, B, channels, side, side), the first in front.

    Parameters
    ----------
    layers : Tensor
        On a GPU.
    rule : {"soft", "clamp", "sigmoid"}
        Soft addition, or "over" on black with a fourth channel that is made an opacity so.
    gain : float
        Of soft addition.
    """
    image: Tensor = _Composed.apply(layers.contiguous(), rule, gain)  # type: ignore[no-untyped-call]
    return image
