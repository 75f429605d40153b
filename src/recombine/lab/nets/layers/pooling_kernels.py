"""Normalisation and max-pool of many networks at once on a GPU, in one pass each way.

Images lie channels-last, as convolutions leave them, and leave channels-first, as dense layers want them.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.lab.nets.layers.convolution_kernels import TILE_ROWS


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
    index = (batch[:, None] * OUT + outs[None, :]) * (out_height * out_width) + at[:, None]
    result += network * windows * OUT
    tl.store(result + index, best.to(result.dtype.element_ty), mask=(rows < windows)[:, None])


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
    index = (batch[:, None] * OUT + outs[None, :]) * (out_height * out_width) + (high * out_width + far)[:, None]
    slope += network * samples * out_height * out_width * OUT
    above = tl.load(slope + index, mask=inside[:, None], other=0.0).to(tl.float32)
    sum_index = (network * tl.num_programs(0) + tile) * OUT + outs
    tl.store(by_gain + sum_index, tl.sum(above * raw, 0))
    tl.store(by_shift + sum_index, tl.sum(above, 0))
    for step in tl.static_range(POOL * POOL):
        down, right = step // POOL, step % POOL
        exists = (rows < windows) & (high * POOL + down < height) & (far * POOL + right < width)
        value = tl.where(which == step, above * scale[None, :], 0.0).to(result.dtype.element_ty)
        spot = corner + down * width + right
        tl.store(result + spot[:, None] * OUT + outs[None, :], value, mask=exists[:, None])


class _NormalisedPool(torch.autograd.Function):
    """Max-pool of gain * images + shift."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, gain: Tensor, shift: Tensor, pool: int) -> Tensor:
        networks, batch, height, width, out = images.shape
        tall, wide = height // pool, width // pool
        result = images.new_empty(networks, batch, out, tall, wide)
        windows = batch * tall * wide
        _pool[(triton.cdiv(windows, TILE_ROWS), networks)](
            images, gain, shift, result, windows, height, width, tall, wide, OUT=out, POOL=pool, ROWS=TILE_ROWS
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
        tiles = triton.cdiv(windows, TILE_ROWS)
        result = torch.empty_like(images)
        sums = torch.empty(2, networks, tiles, out, dtype=torch.float32, device=images.device)
        _unpool[(tiles, networks)](
            slope.contiguous(), images, gain, shift, result, sums[0], sums[1], windows, batch, height, width,
            height // pool, width // pool, OUT=out, POOL=pool, ROWS=TILE_ROWS,
        )  # fmt: skip
        return result, sums[0].sum(1), sums[1].sum(1), None


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
