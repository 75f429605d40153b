"""Convolutions of many networks at once on a GPU: one launch for all, with bias, ReLU and channel sums in one pass.

Images lie channels-last, (c, B, H, W, channels), so the pixels under one row of a filter are one contiguous run, and a
convolution is a matrix product whose left side is gathered on the fly. Libraries run such stacks network by network or
slowly in groups. Every sum is taken in a fixed order, so the same seeds give the same networks.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Rows of a tile where a pass only reads and writes.
TILE_ROWS = 128
#: Outputs of a matrix product below which neighbouring pixels are computed together; see `_together`.
BROAD_OUTPUTS = 128
#: Programs that keep a GPU busy while it reduces over the pixels of a batch.
PROGRAMS = 4096


@triton.jit  # type: ignore[untyped-decorator]
def _convolve(  # type: ignore[no-untyped-def]
    images, weight, bias, result, sums, squares, pixels, height, width, out_height, out_width,
    CHANNELS: tl.constexpr, OUT: tl.constexpr, HIGH: tl.constexpr, WIDE: tl.constexpr, STRIDE: tl.constexpr,
    ORIGIN: tl.constexpr, RECTIFY: tl.constexpr, SUM: tl.constexpr, ROWS: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """One tile of output pixels (ROWS, OUT) of one network."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    valid = rows < pixels
    batch, at = rows // (out_height * out_width), rows % (out_height * out_width)
    high, far = at // out_width * STRIDE + ORIGIN, at % out_width * STRIDE + ORIGIN
    corner = ((batch * height + high) * width + far) * CHANNELS
    images += network * (pixels // (out_height * out_width)) * height * width * CHANNELS
    row_of_filter: tl.constexpr = WIDE * CHANNELS
    weight += network * (HIGH * row_of_filter * OUT)
    runs: tl.constexpr = (row_of_filter + RUN - 1) // RUN
    total = tl.zeros((ROWS, OUT), dtype=tl.float32)
    for turn in range(HIGH * runs):
        row, run = turn // runs, (turn % runs) * RUN + tl.arange(0, RUN)
        inside = run < row_of_filter
        offset = corner[:, None] + row * width * CHANNELS + run[None, :]
        index = outs[:, None] * (HIGH * row_of_filter) + row * row_of_filter + run[None, :]
        if row_of_filter % RUN == 0:
            pixel = tl.load(images + offset, mask=valid[:, None], other=0.0)
            filters = tl.load(weight + index)
        else:
            pixel = tl.load(images + offset, mask=valid[:, None] & inside[None, :], other=0.0)
            filters = tl.load(weight + index, mask=inside[None, :], other=0.0)
        total = tl.dot(pixel, tl.trans(filters), total)
    if RECTIFY:
        total = tl.maximum(total + tl.load(bias + network * OUT + outs)[None, :], 0.0)
        total = tl.where(valid[:, None], total, 0.0)
    if SUM:
        sum_index = (network * tl.num_programs(0) + tile) * OUT + outs
        tl.store(sums + sum_index, tl.sum(total, 0))
        tl.store(squares + sum_index, tl.sum(total * total, 0))
    spot = (network * pixels + rows[:, None]) * OUT + outs[None, :]
    tl.store(result + spot, total.to(result.dtype.element_ty), mask=valid[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _through_rectifier(  # type: ignore[no-untyped-def]
    slope, rectified, by_sum, by_square, result, sums, spots, out_height, out_width,
    OUT: tl.constexpr, MARGIN: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Slope before the ReLU in a margin of zeros: what comes from above plus what the sums owe to each value."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    tall, wide = out_height + 2 * MARGIN, out_width + 2 * MARGIN
    batch, at = rows // (tall * wide), rows % (tall * wide)
    high, far = at // wide - MARGIN, at % wide - MARGIN
    inside = (rows < spots) & (high >= 0) & (high < out_height) & (far >= 0) & (far < out_width)
    pixels = (spots // (tall * wide)) * out_height * out_width
    spot = network * pixels + (batch * out_height + high) * out_width + far
    index = spot[:, None] * OUT + outs[None, :]
    value = tl.load(rectified + index, mask=inside[:, None], other=0.0).to(tl.float32)
    above = tl.load(slope + index, mask=inside[:, None], other=0.0).to(tl.float32)
    owed, owed_twice = tl.load(by_sum + network * OUT + outs), tl.load(by_square + network * OUT + outs)
    above += owed[None, :] + value * owed_twice[None, :]
    above = tl.where(value > 0.0, above, 0.0)
    tl.store(sums + (network * tl.num_programs(0) + tile) * OUT + outs, tl.sum(above, 0))
    result += (network * spots + rows[:, None]) * OUT + outs[None, :]
    tl.store(result, above.to(result.dtype.element_ty), mask=(rows < spots)[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _correlate(  # type: ignore[no-untyped-def]
    images, slope, result, pixels, height, width, out_height, out_width, share,
    CHANNELS: tl.constexpr, OUT: tl.constexpr, HIGH: tl.constexpr, WIDE: tl.constexpr, STRIDE: tl.constexpr,
    ORIGIN: tl.constexpr, ROWS: tl.constexpr, RUN: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    """Slope of one run of the filters (RUN, OUT) of one network, over one share of the pixels.

    Tensor cores take float32 in one orientation only, and turning it around costs more than the products. Short floats
    they take either way: so each float32 is the sum of two of those, and only the product of the lesser ones is lost.
    """
    split, block, network = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    row_of_filter: tl.constexpr = WIDE * CHANNELS
    run, outs = block * RUN + tl.arange(0, RUN), tl.arange(0, OUT)
    inside = run < HIGH * row_of_filter
    offset = (run // row_of_filter) * (width * CHANNELS) + run % row_of_filter
    samples = pixels // (out_height * out_width)
    tall, wide = height + HIGH - 1, width + WIDE - 1
    images += network * samples * height * width * CHANNELS
    slope += network * samples * tall * wide * OUT
    total = tl.zeros((RUN, OUT), dtype=tl.float32)
    for start in range(0, share, ROWS):
        rows = split * share + start + tl.arange(0, ROWS)
        valid = rows < pixels
        batch, at = rows // (out_height * out_width), rows % (out_height * out_width)
        high, far = at // out_width * STRIDE + ORIGIN, at % out_width * STRIDE + ORIGIN
        corner = ((batch * height + high) * width + far) * CHANNELS
        spot = ((batch * tall + high + HIGH - 1) * wide + far + WIDE - 1) * OUT
        pixel = tl.load(images + corner[:, None] + offset[None, :], mask=inside[None, :] & valid[:, None], other=0.0)
        above = tl.load(slope + spot[:, None] + outs[None, :], mask=valid[:, None], other=0.0)
        if HALVES:
            coarse, above_coarse = pixel.to(tl.bfloat16), above.to(tl.bfloat16)
            fine = (pixel - coarse.to(tl.float32)).to(tl.bfloat16)
            above_fine = (above - above_coarse.to(tl.float32)).to(tl.bfloat16)
            total = tl.dot(tl.trans(fine), above_coarse, total)
            total = tl.dot(tl.trans(coarse), above_fine, total)
            total = tl.dot(tl.trans(coarse), above_coarse, total)
        else:
            total = tl.dot(tl.trans(pixel), above, total)
    index = (network * tl.num_programs(0) + split) * (HIGH * row_of_filter) + run[:, None]
    tl.store(result + index * OUT + outs[None, :], total, mask=inside[:, None])


def _together(out: int, side: int, *widths: int, stride: int = 1, origin: int = 0) -> int:
    """Return how many neighbouring pixels of a row to compute together.

    A matrix product with few outputs waits for its inputs. The pixels of a row lie one after the other in memory, so a
    pair of them is one pixel of twice the channels, at no cost; its filter is one pixel wider and has twice the
    outputs, each with zeros at one end. A fifth of the products are then by zero, and a third fewer numbers are read.
    """
    together = 1
    while (
        stride == 1
        and origin == 0
        and 2 * together * out <= BROAD_OUTPUTS
        and 2 * together < side
        and (side - 1) % (2 * together) == 0
        and all(width % (2 * together) == 0 for width in widths)
    ):
        together *= 2
    return together


def _widened(weight: Tensor, together: int) -> Tensor:
    """Filters (c, out, side, side, channels) for pixels taken together: (c, together * out, side, more, channels)."""
    if together == 1:
        return weight.contiguous()
    networks, out, side, _, channels = weight.shape
    wider = weight.new_zeros(networks, together, out, side, side + together - 1, channels)
    for shift in range(together):
        wider[:, shift, :, :, shift : shift + side] = weight
    return wider


def _run(row: int, short: bool) -> int:
    """Return how many numbers of a filter's row enter one matrix product: 128 bytes, or fewer that fit."""
    widest = 64 if short else 32
    fits = [run for run in (64, 32, 16) if run <= widest and row % run == 0]
    return fits[0] if fits else min(widest, max(16, int(triton.next_power_of_2(row))))


def convolve_and_sum(
    images: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int = 1, origin: int = 0, summed: bool = True
) -> tuple[Tensor, Tensor]:
    """Convolve (c, B, H, W, channels) with (c, out, side, side, channels), from pixel ``origin`` on; a bias rectifies.

    Returns the result (c, B, tall, wide, out) and, if ``summed``, sums and sums of squares over its pixels (2, c, out).
    """
    networks, batch, height, width, channels = images.shape
    out, side = weight.shape[1:3]
    tall, wide = ((length - 2 * origin - side) // stride + 1 for length in (height, width))
    result = images.new_empty(networks, batch, tall, wide, out)
    together = _together(out, side, width, wide, stride=stride, origin=origin)
    outs, more = together * out, (side + together - 1) // together
    pixels = batch * tall * wide // together
    tiles = triton.cdiv(pixels, TILE_ROWS)
    sums = torch.empty(2, networks, tiles, together, out, dtype=torch.float32, device=images.device)
    filters = _widened(weight, together)
    shift = filters if bias is None else bias.repeat(1, together)
    warps, stages = (8, 3) if outs >= BROAD_OUTPUTS else (4, 4)
    _convolve[(tiles, networks)](
        images, filters, shift, result, sums[0], sums[1], pixels, height, width // together, tall, wide // together,
        CHANNELS=together * channels, OUT=outs, HIGH=side, WIDE=more, STRIDE=stride, ORIGIN=origin,
        RECTIFY=bias is not None, SUM=summed, ROWS=TILE_ROWS, RUN=_run(more * together * channels, images.itemsize < 4),
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return result, sums.sum((2, 3)) if summed else sums


def slopes_of(
    images: Tensor, weight: Tensor, above: Tensor, tall: int, wide: int, stride: int, origin: int, below: bool
) -> tuple[Tensor | None, Tensor]:
    """Return the slopes of images (if wanted) and weight of a convolution.

    ``above`` (c, B, H + side - 1, W + side - 1, out) holds the slope of output pixel (i, j) at row ``i * stride +
    origin + side - 1``, column alike, and zeros elsewhere: the slope of the images is then a convolution of it.
    """
    slopes = _filter_slopes(images, above, weight.shape[2], tall, wide, stride, origin).to(weight.dtype)
    flipped = weight.flip(2, 3).transpose(1, 4) if below else None
    return None if flipped is None else convolve_and_sum(above, flipped, summed=False)[0], slopes


def _filter_slopes(images: Tensor, above: Tensor, side: int, tall: int, wide: int, stride: int, origin: int) -> Tensor:
    """Return the slopes (c, out, side, side, channels) of filters."""
    networks, batch, height, width, channels = images.shape
    out = above.shape[-1]
    together = _together(out, side, width, wide, stride=stride, origin=origin)
    outs, more = together * out, (side + together - 1) // together
    pixels, numbers = batch * tall * wide // together, side * (side + together - 1) * channels
    rows, run, warps, stages = _reduction(numbers, outs, images.itemsize < 4)
    blocks = triton.cdiv(numbers, run)
    splits = max(1, min(64, PROGRAMS // (blocks * networks)))
    share = triton.cdiv(triton.cdiv(pixels, splits), rows) * rows
    shape = (networks, splits, side, side + together - 1, channels, together, out)
    slopes = torch.empty(shape, dtype=torch.float32, device=images.device)
    _correlate[(splits, blocks, networks)](
        images, above, slopes, pixels, height, width // together, tall, wide // together, share,
        CHANNELS=together * channels, OUT=outs, HIGH=side, WIDE=more, STRIDE=stride, ORIGIN=origin,
        ROWS=rows, RUN=run, HALVES=images.is_cuda and images.itemsize == 4, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    joined = slopes.sum(1)
    each = [joined[:, :, shift : shift + side, :, shift] for shift in range(together)]
    return torch.stack(each).sum(0).permute(0, 4, 1, 2, 3)


def _reduction(numbers: int, outs: int, short: bool) -> tuple[int, int, int, int]:
    """Return pixels and filter numbers of one product in a reduction over pixels, warps and stages."""
    run = 128 if numbers > 64 and outs <= BROAD_OUTPUTS else 64
    warps = 8 if run * outs >= 128 * (128 if short else 64) else 4
    # Float32 is split in registers, so copies to shared memory that run ahead would only be in the way.
    return 64, run, warps, 3 if short else 1


def channels_last(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn filters (c, out, channels, side, side) into (c, out, side, side, channels) of the images' floats."""
    return weight.permute(0, 1, 3, 4, 2).to(dtype)


class _RectifiedConvolution(torch.autograd.Function):
    """ReLU of a convolution, and the sums of its values and their squares over each network's channels."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        result, sums = convolve_and_sum(images, weight, bias)
        ctx.save_for_backward(images, weight, result)
        return result, sums[0], sums[1]

    @staticmethod
    def backward(ctx: Any, slope: Tensor, by_sum: Tensor, by_square: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        images, weight, rectified = ctx.saved_tensors
        networks, batch, height, width, _ = images.shape
        tall, wide, out = rectified.shape[2:]
        margin = weight.shape[2] - 1
        above = images.new_empty(networks, batch, height + margin, width + margin, out)
        spots = above[0, ..., 0].numel()
        tiles = triton.cdiv(spots, TILE_ROWS)
        sums = torch.empty(networks, tiles, out, dtype=torch.float32, device=images.device)
        _through_rectifier[(tiles, networks)](
            slope.contiguous(), rectified, by_sum.contiguous(), 2 * by_square, above, sums, spots, tall, wide,
            OUT=out, MARGIN=margin, ROWS=TILE_ROWS,
        )  # fmt: skip
        below, filters = slopes_of(images, weight, above, tall, wide, 1, 0, ctx.needs_input_grad[0])
        return below, filters, sums.sum(1)


def rectified_convolution(images: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return ReLU(convolution + bias) of stacked networks, and its sums and sums of squares by channel.

    Parameters
    ----------
    images : Tensor, shape (c, B, H, W, channels)
        On a GPU; products of float32 are rounded to TF32, as torch's are.
    weight : Tensor, shape (c, out, channels, side, side)
        ``out`` a power of two from 16 up.
    bias : Tensor, shape (c, out)

    Returns
    -------
    rectified : Tensor, shape (c, B, H - side + 1, W - side + 1, out)
    sums, squares : Tensor of float32, shape (c, out)
        What batch normalisation needs, without another pass over the images.
    """
    last = channels_last(weight, images.dtype)
    apply: Any = _RectifiedConvolution.apply
    rectified, sums, squares = apply(images.contiguous(), last, bias.float())
    return rectified, sums, squares
