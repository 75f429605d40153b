"""How far images composed of layers are from their targets, and how that changes with the layers, on a GPU.

One pass over the pixels: neither the images nor the targets of a batch are ever written down.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Pixels of one tile.
PIXELS = 1024


@triton.jit
def _colours(image, index, valid, pixels):  # type: ignore[no-untyped-def]
    """Load three channels of an image or a layer."""
    first = tl.load(image + index, mask=valid, other=0.0).to(tl.float32)
    second = tl.load(image + pixels + index, mask=valid, other=0.0).to(tl.float32)
    third = tl.load(image + 2 * pixels + index, mask=valid, other=0.0).to(tl.float32)
    return first, second, third


@triton.jit
def _store_colours(layer, index, valid, pixels, first, second, third):  # type: ignore[no-untyped-def]
    short = layer.dtype.element_ty
    tl.store(layer + index, first.to(short), mask=valid)
    tl.store(layer + pixels + index, second.to(short), mask=valid)
    tl.store(layer + 2 * pixels + index, third.to(short), mask=valid)


@triton.jit  # type: ignore[untyped-decorator]
def _opacity(layer, index, valid, pixels, RULE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Opacities, and how they change with the values behind them."""
    values = tl.load(layer + 3 * pixels + index, mask=valid, other=0.0).to(tl.float32)
    if RULE == "clamp":
        cover = tl.minimum(tl.maximum(values, 0.0), 1.0)
        change = tl.where((values >= 0.0) & (values <= 1.0), 1.0, 0.0)
    else:
        cover = 1.0 / (1.0 + tl.exp(-values))
        change = cover * (1.0 - cover)
    return cover, change


@triton.jit  # type: ignore[untyped-decorator]
def _tile(layers, targets, slopes, at, behind, index, valid, pixels, gain, scale, RULE: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip
    """Store the slopes of one tile of pixels; return their squared errors."""
    t0, t1, t2 = _colours(targets, index, valid, pixels)
    a0, a1, a2 = _colours(layers + at, index, valid, pixels)
    if RULE == "single":
        g0, g1, g2 = a0 - t0, a1 - t1, a2 - t2
        total = g0 * g0 + g1 * g1 + g2 * g2
        _store_colours(slopes + at, index, valid, pixels, scale * g0, scale * g1, scale * g2)
    else:
        b0, b1, b2 = _colours(layers + behind, index, valid, pixels)
        if RULE == "soft":
            share = 1.0 / (1.0 + tl.exp(-gain * (a0 + a1 + a2)))
            change, cover, uncovered = gain * share * (1.0 - share), 1.0, 0.0
        else:
            share, change = _opacity(layers + at, index, valid, pixels, RULE)
            cover, uncovered = _opacity(layers + behind, index, valid, pixels, RULE)
        d0, d1, d2 = a0 - cover * b0, a1 - cover * b1, a2 - cover * b2
        g0 = cover * b0 + share * d0 - t0
        g1 = cover * b1 + share * d1 - t1
        g2 = cover * b2 + share * d2 - t2
        total = g0 * g0 + g1 * g1 + g2 * g2
        g0, g1, g2 = scale * g0, scale * g1, scale * g2
        by_share = change * (g0 * d0 + g1 * d1 + g2 * d2)
        below = (1.0 - share) * cover
        _store_colours(slopes + behind, index, valid, pixels, below * g0, below * g1, below * g2)
        if RULE == "soft":
            # What is in front is also what decides how much of it is seen.
            front0, front1, front2 = share * g0 + by_share, share * g1 + by_share, share * g2 + by_share
            _store_colours(slopes + at, index, valid, pixels, front0, front1, front2)
        else:
            by_cover = uncovered * (1.0 - share) * (g0 * b0 + g1 * b1 + g2 * b2)
            _store_colours(slopes + at, index, valid, pixels, share * g0, share * g1, share * g2)
            short = slopes.dtype.element_ty
            tl.store(slopes + at + 3 * pixels + index, by_share.to(short), mask=valid)
            tl.store(slopes + behind + 3 * pixels + index, by_cover.to(short), mask=valid)
    return tl.where(valid, total, 0.0)


@triton.jit  # type: ignore[untyped-decorator]
def _compare(  # type: ignore[no-untyped-def]
    layers, targets, networks, rows, costs, slopes, images, samples, pixels, gain, scale,
    CHANNELS: tl.constexpr, RULE: tl.constexpr, SHARED: tl.constexpr, PIXELS: tl.constexpr,
):  # fmt: skip
    """One image of one network, tile by tile."""
    image, network = tl.program_id(0), tl.program_id(1)
    row = tl.load(rows + network * images + image).to(tl.int64)
    if not SHARED:
        row += tl.load(networks + network).to(tl.int64) * samples
    targets += row * 3 * pixels
    slots: tl.constexpr = 1 if RULE == "single" else 2
    at = (network.to(tl.int64) * slots * images + image) * CHANNELS * pixels
    behind = at + images.to(tl.int64) * CHANNELS * pixels
    cost = tl.zeros((PIXELS,), dtype=tl.float32)
    for start in range(0, pixels, PIXELS):
        index = start + tl.arange(0, PIXELS)
        valid = index < pixels
        cost += _tile(layers, targets, slopes, at, behind, index, valid, pixels, gain, scale, RULE)
    tl.store(costs + network * images + image, tl.sum(cost, 0))


def composed_error(
    layers: Tensor, targets: Tensor, networks: Tensor, rows: Tensor, rule: str, gain: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Return the mean squared error (c,) of a batch of composed images, and its slope with respect to the layers.

    Parameters
    ----------
    layers : Tensor, shape (c, slots, B, channels, side, side)
        On a GPU; the first slot is in front.
    targets : Tensor of float32, shape (1 or E, N, 3 * side * side)
        Read where they lie.
    networks : Tensor, shape (c,)
    rows : Tensor, shape (c, B)
        Of the targets.
    rule : {"single", "soft", "clamp", "sigmoid"}
        One layer is the image; soft addition; or "over" on black with a fourth channel that is made an opacity so.
    gain : float
        Of soft addition.
    """
    count, _, batch, channels, height, width = layers.shape
    layers, pixels = layers.contiguous(), height * width
    costs = torch.empty(count, batch, dtype=torch.float32, device=layers.device)
    slopes = torch.empty_like(layers)
    _compare[batch, count](
        layers, targets, networks, rows.contiguous(), costs, slopes, batch, targets.shape[1], pixels, gain,
        2 / (3 * pixels * batch), CHANNELS=channels, RULE=rule, SHARED=len(targets) == 1, PIXELS=PIXELS,
    )  # fmt: skip
    return costs.mean(1) / (3 * pixels), slopes
