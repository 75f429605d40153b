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

#: Rows of a matrix product that one program computes, forwards and in each step of a reduction.
ROWS, DEEP_ROWS = 128, 64
#: Programs that keep a GPU busy while it reduces over the pixels of a batch.
PROGRAMS = 4096


@triton.jit  # type: ignore[untyped-decorator]
def _convolve(  # type: ignore[no-untyped-def]
    images, weight, bias, result, sums, squares, pixels, height, width, out_height, out_width,
    CHANNELS: tl.constexpr, OUT: tl.constexpr, SIDE: tl.constexpr, STRIDE: tl.constexpr, ORIGIN: tl.constexpr,
    RECTIFY: tl.constexpr, SUM: tl.constexpr, ROWS: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """One tile of output pixels (ROWS, OUT) of one network."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    known = rows < pixels
    batch, at = rows // (out_height * out_width), rows % (out_height * out_width)
    high, far = at // out_width * STRIDE + ORIGIN, at % out_width * STRIDE + ORIGIN
    corner = ((batch * height + high) * width + far) * CHANNELS
    images += network * (pixels // (out_height * out_width)) * height * width * CHANNELS
    weight += network * (SIDE * SIDE * CHANNELS * OUT)
    row_of_filter: tl.constexpr = SIDE * CHANNELS
    runs: tl.constexpr = (row_of_filter + RUN - 1) // RUN
    total = tl.zeros((ROWS, OUT), dtype=tl.float32)
    for turn in range(SIDE * runs):
        row, run = turn // runs, (turn % runs) * RUN + tl.arange(0, RUN)
        inside = run < row_of_filter
        offset = corner[:, None] + row * width * CHANNELS + run[None, :]
        pixel = tl.load(images + offset, mask=known[:, None] & inside[None, :], other=0.0)
        place = (row * row_of_filter + run[:, None]) * OUT + outs[None, :]
        filters = tl.load(weight + place, mask=inside[:, None], other=0.0)
        total = tl.dot(pixel, filters, total)
    if RECTIFY:
        total = tl.maximum(total + tl.load(bias + network * OUT + outs)[None, :], 0.0)
        total = tl.where(known[:, None], total, 0.0)
    if SUM:
        where = (network * tl.num_programs(0) + tile) * OUT + outs
        tl.store(sums + where, tl.sum(total, 0))
        tl.store(squares + where, tl.sum(total * total, 0))
    spot = (network * pixels + rows[:, None]) * OUT + outs[None, :]
    tl.store(result + spot, total.to(result.dtype.element_ty), mask=known[:, None])


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
    place = spot[:, None] * OUT + outs[None, :]
    value = tl.load(rectified + place, mask=inside[:, None], other=0.0).to(tl.float32)
    above = tl.load(slope + place, mask=inside[:, None], other=0.0).to(tl.float32)
    owed, owed_twice = tl.load(by_sum + network * OUT + outs), tl.load(by_square + network * OUT + outs)
    above += owed[None, :] + value * owed_twice[None, :]
    above = tl.where(value > 0.0, above, 0.0)
    tl.store(sums + (network * tl.num_programs(0) + tile) * OUT + outs, tl.sum(above, 0))
    result += (network * spots + rows[:, None]) * OUT + outs[None, :]
    tl.store(result, above.to(result.dtype.element_ty), mask=(rows < spots)[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _correlate(  # type: ignore[no-untyped-def]
    images, slope, result, pixels, height, width, out_height, out_width, share,
    CHANNELS: tl.constexpr, OUT: tl.constexpr, SIDE: tl.constexpr, STRIDE: tl.constexpr, ORIGIN: tl.constexpr,
    ROWS: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """Slope of one run of the filters (RUN, OUT) of one network, over one share of the pixels."""
    split, part, network = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    row_of_filter: tl.constexpr = SIDE * CHANNELS
    run, outs = part * RUN + tl.arange(0, RUN), tl.arange(0, OUT)
    inside = run < SIDE * row_of_filter
    offset = (run // row_of_filter) * (width * CHANNELS) + run % row_of_filter
    samples = pixels // (out_height * out_width)
    tall, wide = height + SIDE - 1, width + SIDE - 1
    images += network * samples * height * width * CHANNELS
    slope += network * samples * tall * wide * OUT
    total = tl.zeros((RUN, OUT), dtype=tl.float32)
    for start in range(0, share, ROWS):
        rows = split * share + start + tl.arange(0, ROWS)
        known = rows < pixels
        batch, at = rows // (out_height * out_width), rows % (out_height * out_width)
        high, far = at // out_width * STRIDE + ORIGIN, at % out_width * STRIDE + ORIGIN
        corner = ((batch * height + high) * width + far) * CHANNELS
        spot = ((batch * tall + high + SIDE - 1) * wide + far + SIDE - 1) * OUT
        pixel = tl.load(images + corner[None, :] + offset[:, None], mask=inside[:, None] & known[None, :], other=0.0)
        above = tl.load(slope + spot[:, None] + outs[None, :], mask=known[:, None], other=0.0)
        total = tl.dot(pixel, above, total)
    place = (network * tl.num_programs(0) + split) * (SIDE * row_of_filter) + run[:, None]
    tl.store(result + place * OUT + outs[None, :], total, mask=inside[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _best_of_window(images, corner, inside, gain, shift, width, OUT: tl.constexpr, POOL: tl.constexpr):  # type: ignore[no-untyped-def]
    """Largest normalised value of each window, the raw value behind it, and which of the window's pixels it is."""
    outs = tl.arange(0, OUT)
    best = tl.full((corner.shape[0], OUT), float("-inf"), dtype=tl.float32)
    raw, which = tl.zeros_like(best), tl.zeros_like(best).to(tl.int32)
    for step in tl.static_range(POOL * POOL):
        spot = corner + (step // POOL) * width + step % POOL
        value = tl.load(images + spot[:, None] * OUT + outs[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
        normal = value * gain[None, :] + shift[None, :]
        better = normal > best
        best, raw = tl.where(better, normal, best), tl.where(better, value, raw)
        which = tl.where(better, step, which)
    return best, raw, which


@triton.jit  # type: ignore[untyped-decorator]
def _pool(  # type: ignore[no-untyped-def]
    images, gain, shift, result, windows, height, width, out_height, out_width,
    OUT: tl.constexpr, POOL: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Normalise and max-pool one tile of windows; the result lies channels-first."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    batch, at = rows // (out_height * out_width), rows % (out_height * out_width)
    corner = (batch * height + at // out_width * POOL) * width + at % out_width * POOL
    images += network * (windows // (out_height * out_width)) * height * width * OUT
    scale, move = tl.load(gain + network * OUT + outs), tl.load(shift + network * OUT + outs)
    best, _, _ = _best_of_window(images, corner, rows < windows, scale, move, width, OUT, POOL)
    place = (batch[:, None] * OUT + outs[None, :]) * (out_height * out_width) + at[:, None]
    result += network * windows * OUT
    tl.store(result + place, best.to(result.dtype.element_ty), mask=(rows < windows)[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _unpool(  # type: ignore[no-untyped-def]
    slope, images, gain, shift, result, by_gain, by_shift, windows, samples, height, width, out_height, out_width,
    OUT: tl.constexpr, POOL: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Slope of what was pooled; windows cut off by the border are visited too, to write their zeros."""
    tile, network = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, outs = tile * ROWS + tl.arange(0, ROWS), tl.arange(0, OUT)
    tall, wide = (height + POOL - 1) // POOL, (width + POOL - 1) // POOL
    batch, at = rows // (tall * wide), rows % (tall * wide)
    high, far = at // wide, at % wide
    inside = (rows < windows) & (high < out_height) & (far < out_width)
    corner = (batch * height + high * POOL) * width + far * POOL
    images += network * samples * height * width * OUT
    result += network * samples * height * width * OUT
    scale, move = tl.load(gain + network * OUT + outs), tl.load(shift + network * OUT + outs)
    _, raw, which = _best_of_window(images, corner, inside, scale, move, width, OUT, POOL)
    place = (batch[:, None] * OUT + outs[None, :]) * (out_height * out_width) + (high * out_width + far)[:, None]
    slope += network * samples * out_height * out_width * OUT
    above = tl.load(slope + place, mask=inside[:, None], other=0.0).to(tl.float32)
    where = (network * tl.num_programs(0) + tile) * OUT + outs
    tl.store(by_gain + where, tl.sum(above * raw, 0))
    tl.store(by_shift + where, tl.sum(above, 0))
    for step in tl.static_range(POOL * POOL):
        down, right = step // POOL, step % POOL
        exists = (rows < windows) & (high * POOL + down < height) & (far * POOL + right < width)
        value = tl.where(which == step, above * scale[None, :], 0.0).to(result.dtype.element_ty)
        spot = corner + down * width + right
        tl.store(result + spot[:, None] * OUT + outs[None, :], value, mask=exists[:, None])


def _run(numbers: int) -> int:
    """Return how many of a filter's numbers enter one matrix product."""
    return min(64, max(16, int(triton.next_power_of_2(numbers))))


def convolve_and_sum(
    images: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int = 1, origin: int = 0, summed: bool = True
) -> tuple[Tensor, Tensor]:
    """Convolve (c, B, H, W, channels) with (c, side, side, channels, out), from pixel ``origin`` on; a bias rectifies.

    Returns the result (c, B, tall, wide, out) and, if ``summed``, sums and sums of squares over its pixels (2, c, out).
    """
    networks, batch, height, width, channels = images.shape
    side, out = weight.shape[1], weight.shape[-1]
    tall, wide = ((length - 2 * origin - side) // stride + 1 for length in (height, width))
    pixels = batch * tall * wide
    tiles = triton.cdiv(pixels, ROWS)
    result = images.new_empty(networks, batch, tall, wide, out)
    sums = torch.empty(2, networks, tiles, out, dtype=torch.float32, device=images.device)
    # All channels of a pixel at a time; few channels: all pixels under a row of the filter.
    run = _run(channels if channels >= 32 else side * channels)
    _convolve[(tiles, networks)](
        images, weight, weight if bias is None else bias, result, sums[0], sums[1], pixels, height, width, tall, wide,
        CHANNELS=channels, OUT=out, SIDE=side, STRIDE=stride, ORIGIN=origin, RECTIFY=bias is not None, SUM=summed,
        ROWS=ROWS, RUN=run, num_warps=4, num_stages=4,
    )  # fmt: skip
    return result, sums.sum(2) if summed else sums


def slopes_of(
    images: Tensor, weight: Tensor, above: Tensor, tall: int, wide: int, stride: int, origin: int, below: bool
) -> tuple[Tensor | None, Tensor]:
    """Return the slopes of images (if wanted) and weight of a convolution.

    ``above`` (c, B, H + side - 1, W + side - 1, out) holds the slope of output pixel (i, j) at row ``i * stride +
    origin + side - 1``, column alike, and zeros elsewhere: the slope of the images is then a convolution of it.
    """
    networks, batch, height, width, channels = images.shape
    side, out = weight.shape[1], weight.shape[-1]
    run, pixels = _run(side * side * channels), batch * tall * wide
    parts = triton.cdiv(side * side * channels, run)
    splits = max(1, min(64, PROGRAMS // (parts * networks)))
    share = triton.cdiv(triton.cdiv(pixels, splits), DEEP_ROWS) * DEEP_ROWS
    slopes = torch.empty(networks, splits, side, side, channels, out, dtype=torch.float32, device=images.device)
    _correlate[(splits, parts, networks)](
        images, above, slopes, pixels, height, width, tall, wide, share, CHANNELS=channels, OUT=out, SIDE=side,
        STRIDE=stride, ORIGIN=origin, ROWS=DEEP_ROWS, RUN=run, num_warps=4, num_stages=3,
    )  # fmt: skip
    flipped = weight.flip(1, 2).transpose(3, 4).contiguous() if below else None
    under = None if flipped is None else convolve_and_sum(above, flipped, summed=False)[0]
    return under, slopes.sum(1).to(weight.dtype)


def channels_last(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn filters (c, out, channels, side, side) into (c, side, side, channels, out) of short floats."""
    return weight.permute(0, 3, 4, 2, 1).to(dtype).contiguous()


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
        margin = weight.shape[1] - 1
        above = images.new_empty(networks, batch, height + margin, width + margin, out)
        spots = above[0, ..., 0].numel()
        tiles = triton.cdiv(spots, ROWS)
        sums = torch.empty(networks, tiles, out, dtype=torch.float32, device=images.device)
        _through_rectifier[(tiles, networks)](
            slope.contiguous(), rectified, by_sum.contiguous(), 2 * by_square, above, sums, spots, tall, wide,
            OUT=out, MARGIN=margin, ROWS=ROWS,
        )  # fmt: skip
        below, filters = slopes_of(images, weight, above, tall, wide, 1, 0, ctx.needs_input_grad[0])
        return below, filters, sums.sum(1)


class _NormalisedPool(torch.autograd.Function):
    """Max-pool of gain * images + shift."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, gain: Tensor, shift: Tensor, pool: int) -> Tensor:
        networks, batch, height, width, out = images.shape
        tall, wide = height // pool, width // pool
        result = images.new_empty(networks, batch, out, tall, wide)
        windows = batch * tall * wide
        _pool[(triton.cdiv(windows, ROWS), networks)](
            images, gain, shift, result, windows, height, width, tall, wide, OUT=out, POOL=pool, ROWS=ROWS
        )
        ctx.save_for_backward(images, gain, shift)
        ctx.pool = pool
        return result

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        images, gain, shift = ctx.saved_tensors
        networks, batch, height, width, out = images.shape
        pool = ctx.pool
        windows = batch * triton.cdiv(height, pool) * triton.cdiv(width, pool)
        tiles = triton.cdiv(windows, ROWS)
        result = torch.empty_like(images)
        sums = torch.empty(2, networks, tiles, out, dtype=torch.float32, device=images.device)
        _unpool[(tiles, networks)](
            slope.contiguous(), images, gain, shift, result, sums[0], sums[1], windows, batch, height, width,
            height // pool, width // pool, OUT=out, POOL=pool, ROWS=ROWS,
        )  # fmt: skip
        return result, sums[0].sum(1), sums[1].sum(1), None


def rectified_convolution(images: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return ReLU(convolution + bias) of stacked networks, and its sums and sums of squares by channel.

    Parameters
    ----------
    images : Tensor, shape (c, B, H, W, channels)
        On a GPU, bfloat16 or float16.
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


def normalised_pool(images: Tensor, gain: Tensor, shift: Tensor, pool: int) -> Tensor:
    """Return the max-pool (c, B, channels, H // pool, W // pool) of ``gain * images + shift``.

    Parameters
    ----------
    images : Tensor, shape (c, B, H, W, channels)
    gain, shift : Tensor, shape (c, channels)
    pool : int
        Side of the windows; 1 only normalises.
    """
    apply: Any = _NormalisedPool.apply
    pooled: Tensor = apply(images, gain.float().contiguous(), shift.float().contiguous(), pool)
    return pooled
