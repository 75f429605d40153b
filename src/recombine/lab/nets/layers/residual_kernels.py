"""Convolution, batch normalisation, residual and ReLU of stacked networks on a GPU, as one differentiable layer.

Images are framed: (c, B, H + 2, W + 2, channels) with a border of zeros, which is the padding of a 3 x 3 convolution.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.lab.nets.layers.convolution_kernels import TILE_ROWS, channels_last, convolve_and_sum, slopes_of
from recombine.lab.nets.layers.side_by_side import EPSILON


@triton.jit  # type: ignore[untyped-decorator]
def _activate(  # type: ignore[no-untyped-def]
    raw, gain, shift, residual, result, spots, height, width,
    OUT: tl.constexpr, ADD: tl.constexpr, RECTIFY: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """One tile of the framed result: gain * raw + shift, plus the residual, rectified; zeros in the frame."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    tall, wide = height + 2, width + 2
    batch, at = rows // (tall * wide), rows % (tall * wide)
    high, far = at // wide - 1, at % wide - 1
    inside = (rows < spots) & (high >= 0) & (high < height) & (far >= 0) & (far < width)
    pixels = (spots // (tall * wide)) * height * width
    spot = network * pixels + (batch * height + high) * width + far
    value = tl.load(raw + spot[:, None] * OUT + outs[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    value = value * tl.load(gain + network * OUT + outs)[None, :] + tl.load(shift + network * OUT + outs)[None, :]
    index = (network * spots + rows[:, None]) * OUT + outs[None, :]
    if ADD:
        value += tl.load(residual + index, mask=inside[:, None], other=0.0).to(tl.float32)
    if RECTIFY:
        value = tl.maximum(value, 0.0)
    value = tl.where(inside[:, None], value, 0.0)
    tl.store(result + index, value.to(result.dtype.element_ty), mask=(rows < spots)[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _slope_through_relu(slope, result, frame, valid, OUT: tl.constexpr, RECTIFY: tl.constexpr):  # type: ignore[no-untyped-def]
    """Slope before the ReLU at places of the frame; zero where not known."""
    index = frame[:, None] * OUT + tl.arange(0, OUT)[None, :]
    above = tl.load(slope + index, mask=valid[:, None], other=0.0).to(tl.float32)
    if RECTIFY:
        value = tl.load(result + index, mask=valid[:, None], other=0.0)
        above = tl.where(value > 0.0, above, 0.0)
    return above


@triton.jit  # type: ignore[untyped-decorator]
def _sums(  # type: ignore[no-untyped-def]
    slope, result, raw, by_shift, by_gain, pixels, height, width,
    OUT: tl.constexpr, RECTIFY: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Sums over one tile of pixels of the slope, and of the slope times the raw value."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    valid = rows < pixels
    batch, at = rows // (height * width), rows % (height * width)
    samples = pixels // (height * width)
    frame = ((network * samples + batch) * (height + 2) + at // width + 1) * (width + 2) + at % width + 1
    above = _slope_through_relu(slope, result, frame, valid, OUT, RECTIFY)
    index = (network * pixels + rows[:, None]) * OUT + outs[None, :]
    value = tl.load(raw + index, mask=valid[:, None], other=0.0).to(tl.float32)
    sum_index = (network * tl.num_programs(0) + tile) * OUT + outs
    tl.store(by_shift + sum_index, tl.sum(above, 0))
    tl.store(by_gain + sum_index, tl.sum(above * value, 0))


@triton.jit  # type: ignore[untyped-decorator]
def _spread(  # type: ignore[no-untyped-def]
    slope, result, raw, gain, constant, linear, below, spots, tall, wide, height, width,
    OUT: tl.constexpr, RECTIFY: tl.constexpr, STRIDE: tl.constexpr, OFFSET: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Slope of the raw values, laid out with zeros between and around as the convolution's slopes want it."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    batch, at = rows // (tall * wide), rows % (tall * wide)
    down, right = at // wide - OFFSET, at % wide - OFFSET
    high, far = down // STRIDE, right // STRIDE
    inside = (rows < spots) & (down >= 0) & (right >= 0) & (high < height) & (far < width)
    inside = inside & (down % STRIDE == 0) & (right % STRIDE == 0)
    samples = spots // (tall * wide)
    frame = ((network * samples + batch) * (height + 2) + high + 1) * (width + 2) + far + 1
    above = _slope_through_relu(slope, result, frame, inside, OUT, RECTIFY)
    spot = (network * samples + batch) * height * width + high * width + far
    value = tl.load(raw + spot[:, None] * OUT + outs[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    channels = network * OUT + outs
    above = above * tl.load(gain + channels)[None, :] + tl.load(constant + channels)[None, :]
    above = tl.where(inside[:, None], above + value * tl.load(linear + channels)[None, :], 0.0)
    index = (network * spots + rows[:, None]) * OUT + outs[None, :]
    tl.store(below + index, above.to(below.dtype.element_ty), mask=(rows < spots)[:, None])


def _framed(raw: Tensor, gain: Tensor, shift: Tensor, residual: Tensor | None, rectify: bool) -> Tensor:
    networks, batch, height, width, out = raw.shape
    result = raw.new_empty(networks, batch, height + 2, width + 2, out)
    spots = result[0, ..., 0].numel()
    _activate[(triton.cdiv(spots, TILE_ROWS), networks)](
        raw, gain, shift, raw if residual is None else residual, result, spots, height, width,
        OUT=out, ADD=residual is not None, RECTIFY=rectify, ROWS=TILE_ROWS,
    )  # fmt: skip
    return result


class _NormalisedConvolution(torch.autograd.Function):
    """The layer with the statistics of its batch."""

    @staticmethod
    def forward(
        ctx: Any, images: Tensor, weight: Tensor, gain: Tensor, shift: Tensor, residual: Tensor | None, *how: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        stride, origin, rectify = how
        raw, sums = convolve_and_sum(images, weight, stride=stride, origin=origin)
        count = raw[0, ..., 0].numel()
        mean, second = sums / count
        variance = (second - mean.square()).clamp_min(0)
        spread = torch.rsqrt(variance + EPSILON)
        scale = gain * spread
        result = _framed(raw, scale, shift - mean * scale, residual, rectify)
        ctx.save_for_backward(images, weight, raw, result, mean, spread, scale)
        ctx.how = how
        ctx.mark_non_differentiable(mean, variance)
        return result, mean, variance

    @staticmethod
    def backward(ctx: Any, slope: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        images, weight, raw, result, mean, spread, scale = ctx.saved_tensors
        stride, origin, rectify = ctx.how
        slope = slope.contiguous()
        networks, batch, height, width, out = raw.shape
        pixels = batch * height * width
        tiles = triton.cdiv(pixels, TILE_ROWS)
        sums = torch.empty(2, networks, tiles, out, dtype=torch.float32, device=raw.device)
        _sums[(tiles, networks)](
            slope, result, raw, sums[0], sums[1], pixels, height, width, OUT=out, RECTIFY=rectify, ROWS=TILE_ROWS
        )
        by_shift, by_raw = sums.sum(2).unbind()
        by_gain = (by_raw - mean * by_shift) * spread
        # Batch normalisation takes the mean, and what goes along with the values, out of the slope.
        linear = -scale * spread * by_gain / pixels
        constant = -scale * by_shift / pixels - linear * mean
        margin = weight.shape[2] - 1
        above = images.new_empty(*images.shape[:2], images.shape[2] + margin, images.shape[3] + margin, out)
        spots = above[0, ..., 0].numel()
        _spread[(triton.cdiv(spots, TILE_ROWS), networks)](
            slope, result, raw, scale, constant, linear, above, spots, *above.shape[2:4], height, width,
            OUT=out, RECTIFY=rectify, STRIDE=stride, OFFSET=origin + margin, ROWS=TILE_ROWS,
        )  # fmt: skip
        below, filters = slopes_of(images, weight, above, height, width, stride, origin, ctx.needs_input_grad[0])
        beside = slope * (result > 0) if ctx.needs_input_grad[4] else None
        return below, filters, by_gain, by_shift, beside, None, None, None


def add_frame(images: Tensor) -> Tensor:
    """Put images (c, B, channels, H, W) channels-last into a frame of zeros: (c, B, H + 2, W + 2, channels)."""
    return torch.nn.functional.pad(images.permute(0, 1, 3, 4, 2), (0, 0, 1, 1, 1, 1))


def normalised_convolution(
    images: Tensor,
    weight: Tensor,
    gain: Tensor,
    shift: Tensor,
    residual: Tensor | None = None,
    *,
    stride: int = 1,
    rectify: bool = True,
    running: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return [ReLU of] the batch-normalised convolution of framed images plus a residual, framed again.

    Parameters
    ----------
    images : Tensor, shape (c, B, H + 2, W + 2, channels)
        On a GPU, with a border of zeros.
    weight : Tensor, shape (c, out, channels, side, side)
        ``side`` is 3 (padded by the frame) or 1; ``out`` a power of two from 16 up.
    gain, shift : Tensor, shape (c, out)
    residual : Tensor, optional
        Shaped like the result; only with ``rectify``.
    running : tuple of Tensor, optional
        Mean and variance (c, out) to normalise with, instead of the batch's own (no slopes then).

    Returns
    -------
    result : Tensor, shape (c, B, H / stride + 2, W / stride + 2, out)
    mean, variance : Tensor of float32, shape (c, out)
        Of the batch, or as given.
    """
    last, origin = channels_last(weight, images.dtype), 1 - weight.shape[-1] // 2
    gain, shift = gain.float(), shift.float()
    if running is not None:
        raw, _ = convolve_and_sum(images, last, stride=stride, origin=origin, summed=False)
        scale = gain * torch.rsqrt(running[1] + EPSILON)
        return _framed(raw, scale, shift - running[0] * scale, residual, rectify), *running
    apply: Any = _NormalisedConvolution.apply
    result, mean, variance = apply(images, last, gain, shift, residual, stride, origin, rectify)
    return result, mean, variance
