"""Upsampling by two and the 2x2 convolution after it, as one.

Both are linear, so they are done at once: channels are mixed at the low resolution, one mixture for each tap of the
filter, and two small matrix products spread the mixtures over the larger image. The large image with all its channels,
which costs most of the time, is never made.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

#: Images whose slopes are added up in one product, where that many divide a batch.
IMAGES = 8
#: Fewer output channels than this are spread line by line.
MIN_WIDE_CHANNELS = 8


def upsampled_convolution(maps: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Upsample by two (bilinear, corners aligned), then convolve with 2x2 filters padded at the right and bottom.

    Parameters
    ----------
    maps : Tensor, shape (g, B, H, W, C)
        Channels last.
    weight : Tensor, shape (g, O, C, 2, 2)
    bias : Tensor, shape (g, O)

    Returns
    -------
    Tensor, shape (g, B, 2H, 2W, O)

    Examples
    --------
    >>> flat = torch.ones(1, 1, 4, 4, 2)
    >>> spread = upsampled_convolution(flat, torch.ones(1, 3, 2, 2, 2), torch.zeros(1, 3))
    >>> spread.shape, spread[0, 0, 0, 0, 0].item(), spread[0, 0, 7, 7, 0].item()
    (torch.Size([1, 1, 8, 8, 3]), 8.0, 2.0)
    """
    groups, batch, height, width, channels = maps.shape
    filters = weight.shape[1]
    # Rows of four numbers or more are what matrix units read; an idle channel is cheaper than crooked rows.
    idle = -filters % 4
    weight, bias = functional.pad(weight, (0, 0, 0, 0, 0, 0, 0, idle)), functional.pad(bias, (0, idle))
    out = filters + idle
    down, across = _spread(height, maps.dtype, maps.device), _spread(width, maps.dtype, maps.device)
    # Rows of the upsampling matrix add up to 1, so the bias may join the first tap at the low resolution.
    first = functional.pad(bias, (0, out))
    rows: Tensor | None = None
    for tap, start in enumerate((first, None)):
        # (g, C, 2 O): how the channels are mixed, for each column tap and output channel.
        mixing = weight[:, :, :, tap].permute(0, 2, 3, 1).reshape(groups, channels, 2 * out)
        mixed: Tensor = _Mixed.apply(maps, mixing, start)  # type: ignore[no-untyped-call]
        matrix = down[tap].expand(groups * batch, -1, -1)
        mixed = mixed.view(groups * batch, height, width * 2 * out)
        rows = torch.bmm(matrix, mixed) if rows is None else torch.baddbmm(rows, matrix, mixed)
    assert rows is not None
    taps = rows.view(groups * batch * 2 * height, 2 * width, out)
    if out < MIN_WIDE_CHANNELS:
        lines = taps.transpose(1, 2).reshape(-1, 2 * width) @ across[2].t()
        spread = lines.view(groups, batch, 2 * height, out, 2 * width).transpose(3, 4)
    else:
        spread = torch.bmm(across[2].expand(len(taps), -1, -1), taps)
        spread = spread.view(groups, batch, 2 * height, 2 * width, out)
    return spread[..., :filters]


class _Mixed(torch.autograd.Function):
    """Mix channels: (g, B, H, W, C) by (g, C, O) and a first value (g, O).

    The slope of the mixture adds up over all pixels of all images; in one product it would keep as many processors
    busy as there are networks, so it is done in pieces of a few images.
    """

    @staticmethod
    def forward(ctx: Any, maps: Tensor, mixing: Tensor, first: Tensor | None) -> Tensor:
        ctx.save_for_backward(maps, mixing)
        ctx.biased = first is not None
        flat = maps.reshape(len(maps), -1, maps.shape[-1])
        mixed = torch.bmm(flat, mixing) if first is None else torch.baddbmm(first.unsqueeze(1), flat, mixing)
        return mixed.view(*maps.shape[:-1], mixing.shape[-1])

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        maps, mixing = ctx.saved_tensors
        groups, channels, out = mixing.shape
        flat = slope.reshape(groups, -1, out)
        onward = torch.bmm(flat, mixing.transpose(1, 2)).view(maps.shape)
        pieces = groups * maps.shape[1] // math.gcd(maps.shape[1], IMAGES)
        products = maps.reshape(pieces, -1, channels).transpose(1, 2) @ flat.reshape(pieces, -1, out)
        total = products.view(groups, -1, channels, out).sum(1)
        return onward, total, flat.sum(1) if ctx.biased else None


@lru_cache(maxsize=64)
def _spread(side: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the upsampling matrix (2 side, side), the same one row on (with padding at the end), and both as one.

    In the last, (2 side, 2 side), tap t of place w is column 2 w + t. They are kept, since a CUDA graph can be recorded
    only when no numbers come from the host.
    """
    matrix = upsampling_matrix(side)
    shifted = torch.cat([matrix[1:], torch.zeros_like(matrix[:1])])
    both = torch.stack([matrix, shifted], 2).flatten(1)
    return matrix.to(device, dtype), shifted.to(device, dtype), both.to(device, dtype)


def upsampling_matrix(side: int) -> Tensor:
    """Return the matrix (2 side, side) of bilinear upsampling by two along one axis, corners aligned.

    Examples
    --------
    >>> upsampling_matrix(2)[:, 0].round(decimals=4)
    tensor([1.0000, 0.6667, 0.3333, 0.0000], dtype=torch.float64)
    """
    positions = torch.linspace(0, side - 1, 2 * side, dtype=torch.float64)
    return (1 - (positions.unsqueeze(1) - torch.arange(side)).abs()).clamp_min(0)
