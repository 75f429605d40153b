"""Upsampling by two and the 2x2 convolution after it, of many networks at once on a GPU: one launch each way.

An image's channels are mixed once for each tap of the filter at the low resolution; two products with a small matrix
spread the mixtures along columns and rows. All of it stays on the chip: a map is read once and written once. Maps lie
row by row, channels inside a row, so that what a product leaves behind is stored as it lies. Every sum is taken in a
fixed order, so the same seeds give the same networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.lab.nets.decoders.upsampling import upsampling_matrix

#: Columns and rows of shares of slopes that are added up at once.
SUM_TILE_COLUMNS, SUM_TILE_ROWS = 64, 32
#: Output channels that are mixed at once, where there are more.
MIXED_CHANNELS = 16
#: Fewest columns of which one program finds the slopes.
COLUMNS = 8


@triton.jit  # type: ignore[untyped-decorator]
def _smaller(start, images, slice, SIDE: tl.constexpr, WIDE: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr, DOWN: tl.constexpr, DEEP: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Where WIDE columns of GROUP maps lie, by image, row, channel and column, and which of these exist."""
    image = tl.arange(0, GROUP)[:, None, None, None]
    high, far = tl.arange(0, SIDE)[None, :, None, None], slice * WIDE + tl.arange(0, WIDE)[None, None, None, :]
    channel = tl.arange(0, CHANNELS)[None, None, :, None]
    indices = image * (CHANNELS * SIDE * SIDE) + high * DOWN + channel * DEEP + far
    return indices, (image < images - start) & (high >= 0) & (channel >= 0) & (far >= 0)


@triton.jit  # type: ignore[untyped-decorator]
def _bent(maps, indices, valid, PIXELS: tl.constexpr, CHANNELS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Maps as they lie, and their ELU, pixel by pixel: (PIXELS, CHANNELS)."""
    values = tl.load(maps + indices, mask=valid, other=0.0)
    long = values.to(tl.float32)
    bent = tl.where(long > 0.0, long, tl.exp(long) - 1.0).to(values.dtype)
    return values, bent.permute(0, 1, 3, 2).reshape(PIXELS, CHANNELS)


@triton.jit  # type: ignore[untyped-decorator]
def _mixing(weight, chunk, CHANNELS: tl.constexpr, OUT: tl.constexpr, PART: tl.constexpr):  # type: ignore[no-untyped-def]
    """Load filters (OUT, CHANNELS, 2, 2) as what mixes channels for each tap: (CHANNELS, 4 PART)."""
    channel, column = tl.arange(0, CHANNELS)[:, None], tl.arange(0, 4 * PART)[None, :]
    out = chunk * PART + column % PART
    indices = weight + (out * CHANNELS + channel) * 4 + column // PART
    return tl.load(indices, mask=(out < OUT) & (channel >= 0), other=0.0)


@triton.jit  # type: ignore[untyped-decorator]
def _columns(matrix, start, SIZE: tl.constexpr, WIDE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Load WIDE columns of a square matrix."""
    return tl.load(matrix + tl.arange(0, SIZE)[:, None] * SIZE + start + tl.arange(0, WIDE)[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _larger(start, images, chunk, SIDE: tl.constexpr, GROUP: tl.constexpr, OUT: tl.constexpr, PART: tl.constexpr, DOWN: tl.constexpr, DEEP: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Where GROUP maps of twice the side lie, by image, row, channel and column, and which of these exist."""
    image = tl.arange(0, GROUP)[:, None, None, None]
    high, far = tl.arange(0, 2 * SIDE)[None, :, None, None], tl.arange(0, 2 * SIDE)[None, None, None, :]
    out = chunk * PART + tl.arange(0, PART)[None, None, :, None]
    indices = image * (OUT * 4 * SIDE * SIDE) + high * DOWN + out * DEEP + far
    return indices, (image < images - start) & (out < OUT) & (high >= 0) & (far >= 0)


@triton.jit  # type: ignore[untyped-decorator]
def _enlarge(  # type: ignore[no-untyped-def]
    maps, weight, bias, spread, result, images,
    SIDE: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr, OUT: tl.constexpr, PART: tl.constexpr,
    DOWN: tl.constexpr, DEEP: tl.constexpr, TO_DOWN: tl.constexpr, TO_DEEP: tl.constexpr, PRECISION: tl.constexpr,
    AHEAD: tl.constexpr,
):  # fmt: skip
    """Maps of twice the side, PART channels of GROUP images at a time."""
    first, chunk, group = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    maps += group * images * (CHANNELS * SIDE * SIDE)
    result += group * images * (OUT * 4 * SIDE * SIDE)
    mixing = _mixing(weight + group * (OUT * CHANNELS * 4), chunk, CHANNELS, OUT, PART)
    out = chunk * PART + tl.arange(0, PART)
    shift = tl.load(bias + group * OUT + out, mask=out < OUT, other=0.0).to(tl.float32)[None, None, :, None]
    if SIDE < 8:
        matrix = _columns(spread, 0, 4 * SIDE * SIDE, 4 * SIDE * SIDE)
    else:
        matrix = _columns(spread, 0, 2 * SIDE, 2 * SIDE)
    for start in tl.range(first * GROUP, images, tl.num_programs(0) * GROUP, num_stages=AHEAD):
        indices, valid = _smaller(start, images, 0, SIDE, SIDE, GROUP, CHANNELS, DOWN, DEEP)
        ahead = tl.cast(start, tl.int64) * (SIDE * SIDE)
        _, bent = _bent(maps + ahead * CHANNELS, indices, valid, GROUP * SIDE * SIDE, CHANNELS)
        mixed = tl.dot(bent, mixing, input_precision=PRECISION)
        if SIDE < 8:
            # So small that both axes are spread by one matrix.
            taps = mixed.reshape(GROUP, SIDE * SIDE, 4, PART).permute(0, 3, 1, 2)
            taps = taps.reshape(GROUP * PART, 4 * SIDE * SIDE).to(bent.dtype)
            large = tl.dot(taps, matrix, input_precision=PRECISION)
            large = large.reshape(GROUP, PART, 2 * SIDE, 2 * SIDE).permute(0, 2, 1, 3)
        else:
            taps = mixed.reshape(GROUP, SIDE, SIDE, 2, 2, PART).permute(0, 2, 4, 5, 1, 3)
            taps = taps.reshape(GROUP * 2 * SIDE * PART, 2 * SIDE).to(bent.dtype)
            rows = tl.dot(taps, matrix, input_precision=PRECISION)
            rows = rows.reshape(GROUP, 2 * SIDE, PART, 2 * SIDE).permute(0, 3, 2, 1)
            rows = rows.reshape(GROUP * 2 * SIDE * PART, 2 * SIDE).to(bent.dtype)
            large = tl.dot(rows, matrix, input_precision=PRECISION)
            large = large.reshape(GROUP, 2 * SIDE, PART, 2 * SIDE)
        indices, valid = _larger(start, images, chunk, SIDE, GROUP, OUT, PART, TO_DOWN, TO_DEEP)
        tl.store(result + ahead * (4 * OUT) + indices, (large + shift).to(result.dtype.element_ty), mask=valid)


@triton.jit  # type: ignore[untyped-decorator]
def _taps(  # type: ignore[no-untyped-def]
    slope, across, down, SIDE: tl.constexpr, WIDE: tl.constexpr, GROUP: tl.constexpr, PART: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Gather a slope by image, row, channel and column as slopes of the mixtures: (pixels, 4 PART)."""
    if SIDE < 8:
        lines = slope.permute(0, 2, 1, 3).reshape(GROUP * PART, 4 * SIDE * SIDE)
        taps = tl.dot(lines, across, input_precision=PRECISION)
        taps = taps.reshape(GROUP, PART, SIDE * SIDE, 4).permute(0, 2, 3, 1)
    else:
        lines = slope.reshape(GROUP * 2 * SIDE * PART, 2 * SIDE)
        rows = tl.dot(lines, across, input_precision=PRECISION)
        rows = rows.reshape(GROUP, 2 * SIDE, PART, 2 * WIDE).permute(0, 3, 2, 1)
        rows = rows.reshape(GROUP * 2 * WIDE * PART, 2 * SIDE).to(slope.dtype)
        taps = tl.dot(rows, down, input_precision=PRECISION)
        taps = taps.reshape(GROUP, WIDE, 2, PART, SIDE, 2).permute(0, 4, 1, 5, 2, 3)
    return taps.reshape(GROUP * SIDE * WIDE, 4 * PART).to(slope.dtype)


@triton.jit  # type: ignore[untyped-decorator]
def _part_of_slopes(  # type: ignore[no-untyped-def]
    chunk, above, weight, across, down, bent, start, images, onward, filters, shifts,
    SIDE: tl.constexpr, WIDE: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr, OUT: tl.constexpr,
    PART: tl.constexpr, TO_DOWN: tl.constexpr, TO_DEEP: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Add what PART of the output channels say: to the slope of the pixels, of the filters and of the biases."""
    indices, valid = _larger(start, images, chunk, SIDE, GROUP, OUT, PART, TO_DOWN, TO_DEEP)
    slope = tl.load(above + indices, mask=valid, other=0.0)
    taps = _taps(slope.to(bent.dtype), across, down, SIDE, WIDE, GROUP, PART, PRECISION)
    mixing = _mixing(weight, chunk, CHANNELS, OUT, PART)
    onward = tl.dot(taps, mixing.trans(), onward, input_precision=PRECISION)
    if PART < 16:
        # Too few rows for all warps: each adds up its own share of the pixels.
        pixels: tl.constexpr = GROUP * SIDE * WIDE // 8
        lines = taps.reshape(8, pixels, 4 * PART).permute(0, 2, 1)
        filters = tl.dot(lines, bent.reshape(8, pixels, CHANNELS), filters, input_precision=PRECISION)
        shifts = tl.dot(lines, tl.full((8, pixels, 16), 1.0, bent.dtype), shifts, input_precision=PRECISION)
    else:
        filters = tl.dot(taps.trans(), bent, filters, input_precision=PRECISION)
        ones = tl.full((GROUP * SIDE * WIDE, 16), 1.0, bent.dtype)
        shifts = tl.dot(taps.trans(), ones, shifts, input_precision=PRECISION)
    return onward, filters, shifts


@triton.jit  # type: ignore[untyped-decorator]
def _store_sums(sums, filters, shifts, chunk, CHANNELS: tl.constexpr, OUT: tl.constexpr, PART: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip
    """Store (4 PART, CHANNELS) where filters (OUT, CHANNELS, 2, 2) have them, and behind them the biases' slopes.

    What upsampling spreads of one pixel adds up to 1, so a bias may be seen as one on the first tap of every pixel.
    """
    if PART < 16:
        filters, shifts = tl.sum(filters, 0), tl.sum(shifts, 0)
    row, channel = tl.arange(0, 4 * PART)[:, None], tl.arange(0, CHANNELS)[None, :]
    out = chunk * PART + row % PART
    tl.store(sums + (out * CHANNELS + channel) * 4 + row // PART, filters, mask=(out < OUT) & (channel >= 0))
    behind, column = sums + OUT * CHANNELS * 4 + out, tl.arange(0, 16)[None, :]
    tl.store(behind + column, shifts, mask=(out < OUT) & (row < PART) & (column == 0))


@triton.jit  # type: ignore[untyped-decorator]
def _store_all(sums, filters0, filters1, filters2, filters3, shifts0, shifts1, shifts2, shifts3, CHANNELS: tl.constexpr, OUT: tl.constexpr, PART: tl.constexpr, PARTS: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Store the sums of as many parts of the output channels as there are."""
    _store_sums(sums, filters0, shifts0, 0, CHANNELS, OUT, PART)
    if PARTS > 1:
        _store_sums(sums, filters1, shifts1, 1, CHANNELS, OUT, PART)
    if PARTS > 2:
        _store_sums(sums, filters2, shifts2, 2, CHANNELS, OUT, PART)
    if PARTS > 3:
        _store_sums(sums, filters3, shifts3, 3, CHANNELS, OUT, PART)


@triton.jit  # type: ignore[untyped-decorator]
def _gathering(spread, slice, SIDE: tl.constexpr, WIDE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Load what gathers slopes along columns and along rows; for small sides one matrix does both."""
    if SIDE < 8:
        across = _columns(spread, 0, 4 * SIDE * SIDE, 4 * SIDE * SIDE)
        down = across
    else:
        across = _columns(spread, slice * 2 * WIDE, 2 * SIDE, 2 * WIDE)
        down = _columns(spread, 0, 2 * SIDE, 2 * SIDE)
    return across, down


@triton.jit  # type: ignore[untyped-decorator]
def _empty_sums(CHANNELS: tl.constexpr, PART: tl.constexpr):  # type: ignore[no-untyped-def]
    """Sums of slopes of filters and of biases before the first image."""
    if PART < 16:
        filters = tl.zeros((8, 4 * PART, CHANNELS), dtype=tl.float32)
        shifts = tl.zeros((8, 4 * PART, 16), dtype=tl.float32)
    else:
        filters = tl.zeros((4 * PART, CHANNELS), dtype=tl.float32)
        shifts = tl.zeros((4 * PART, 16), dtype=tl.float32)
    return filters, shifts


@triton.jit  # type: ignore[untyped-decorator]
def _slopes(  # type: ignore[no-untyped-def]
    maps, weight, spread, above, below, sums, images,
    SIDE: tl.constexpr, WIDE: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr, OUT: tl.constexpr,
    PART: tl.constexpr, PARTS: tl.constexpr, DOWN: tl.constexpr, DEEP: tl.constexpr, TO_DOWN: tl.constexpr,
    TO_DEEP: tl.constexpr, PRECISION: tl.constexpr, AHEAD: tl.constexpr,
):  # fmt: skip
    """Slopes of WIDE columns of the maps, and this program's share of the slopes of filters and biases."""
    first, slice, group = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    maps += group * images * (CHANNELS * SIDE * SIDE)
    below += group * images * (CHANNELS * SIDE * SIDE)
    above += group * images * (OUT * 4 * SIDE * SIDE)
    weight += group * (OUT * CHANNELS * 4)
    across, down = _gathering(spread, slice, SIDE, WIDE)
    filters0, shifts0 = _empty_sums(CHANNELS, PART)
    filters1, filters2, filters3, shifts1, shifts2, shifts3 = filters0, filters0, filters0, shifts0, shifts0, shifts0
    for start in tl.range(first * GROUP, images, tl.num_programs(0) * GROUP, num_stages=AHEAD):
        indices, valid = _smaller(start, images, slice, SIDE, WIDE, GROUP, CHANNELS, DOWN, DEEP)
        ahead = tl.cast(start, tl.int64) * (SIDE * SIDE)
        values, bent = _bent(maps + ahead * CHANNELS, indices, valid, GROUP * SIDE * WIDE, CHANNELS)
        onward = tl.zeros((GROUP * SIDE * WIDE, CHANNELS), dtype=tl.float32)
        onward, filters0, shifts0 = _part_of_slopes(
            0, above + ahead * (4 * OUT), weight, across, down, bent, start, images, onward, filters0, shifts0,
            SIDE, WIDE, GROUP, CHANNELS, OUT, PART, TO_DOWN, TO_DEEP, PRECISION,
        )  # fmt: skip
        if PARTS > 1:
            onward, filters1, shifts1 = _part_of_slopes(
                1, above + ahead * (4 * OUT), weight, across, down, bent, start, images, onward, filters1, shifts1,
                SIDE, WIDE, GROUP, CHANNELS, OUT, PART, TO_DOWN, TO_DEEP, PRECISION,
            )  # fmt: skip
        if PARTS > 2:
            onward, filters2, shifts2 = _part_of_slopes(
                2, above + ahead * (4 * OUT), weight, across, down, bent, start, images, onward, filters2, shifts2,
                SIDE, WIDE, GROUP, CHANNELS, OUT, PART, TO_DOWN, TO_DEEP, PRECISION,
            )  # fmt: skip
        if PARTS > 3:
            onward, filters3, shifts3 = _part_of_slopes(
                3, above + ahead * (4 * OUT), weight, across, down, bent, start, images, onward, filters3, shifts3,
                SIDE, WIDE, GROUP, CHANNELS, OUT, PART, TO_DOWN, TO_DEEP, PRECISION,
            )  # fmt: skip
        long = values.to(tl.float32)
        lying = onward.reshape(GROUP, SIDE, WIDE, CHANNELS).permute(0, 1, 3, 2)
        lying = lying * tl.where(long > 0.0, 1.0, tl.exp(long))
        tl.store(below + ahead * CHANNELS + indices, lying.to(below.dtype.element_ty), mask=valid)
    sums += ((group * tl.num_programs(0) + first) * tl.num_programs(1) + slice) * (OUT * CHANNELS * 4 + OUT)
    _store_all(
        sums, filters0, filters1, filters2, filters3, shifts0, shifts1, shifts2, shifts3, CHANNELS, OUT, PART, PARTS
    )


@triton.jit  # type: ignore[untyped-decorator]
def _add_up(sums, filters, shifts, programs, size, out, RUN: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Add up the programs' shares of the slopes of filters and biases."""
    column, group = tl.program_id(0) * RUN + tl.arange(0, RUN), tl.program_id(1)
    sums += group.to(tl.int64) * programs * (size + out)
    total = tl.zeros((ROWS, RUN), dtype=tl.float32)
    for start in range(0, programs, ROWS):
        row = start + tl.arange(0, ROWS)[:, None]
        valid = (row < programs) & (column < size + out)[None, :]
        total += tl.load(sums + row * (size + out) + column[None, :], mask=valid, other=0.0)
    added = tl.sum(total, 0).to(filters.dtype.element_ty)
    tl.store(filters + group * size + column, added, mask=column < size)
    tl.store(shifts + group * out + column - size, added, mask=(column >= size) & (column < size + out))


@dataclass(frozen=True)
class _Plan:
    """How one enlargement is shared out: what was fastest on an H200 with 32 channels."""

    numbers: int = 8192  #: of the smaller maps that a program holds: some images, or of slopes some columns of one
    warps: int = 8
    ahead: int = 1  #: turns for which maps are loaded at once, the present one included
    together: int = 2  #: programs that one multiprocessor holds
    registers: int | None = None  #: most of one thread, so that two programs find place


@dataclass(frozen=True)
class _Shapes:
    """Sizes of one enlargement and how its maps lie: planar (channels, H, W), or in lines (H, channels, W)."""

    side: int
    channels: int
    out: int
    planar: bool
    planar_result: bool

    @property
    def forward_plan(self) -> _Plan:
        return _Plan(registers=128)

    @property
    def backward_plan(self) -> _Plan:
        if self.side < 16:
            return _Plan(numbers=4096, warps=4)
        return _Plan(ahead=2, together=1) if self.side == 16 else _Plan(numbers=16384)

    @property
    def part(self) -> int:
        return min(MIXED_CHANNELS, max(4, 1 << (self.out - 1).bit_length()))

    @property
    def parts(self) -> int:
        return -(-self.out // self.part)

    def group(self, plan: _Plan) -> int:
        """Return the images of one program."""
        return max(1, plan.numbers // (max(self.channels, 2 * MIXED_CHANNELS) * self.side**2))

    def slices(self, plan: _Plan) -> int:
        """Return the pieces in which columns are taken."""
        return min(max(1, self.channels * self.side**2 // plan.numbers), max(1, self.side // COLUMNS))

    def constants(self, plan: _Plan) -> dict[str, Any]:
        down, deep = _strides(self.side, self.channels, self.planar)
        to_down, to_deep = _strides(2 * self.side, self.out, self.planar_result)
        sizes = {"SIDE": self.side, "CHANNELS": self.channels, "OUT": self.out, "PART": self.part}
        strides = {"DOWN": down, "DEEP": deep, "TO_DOWN": to_down, "TO_DEEP": to_deep}
        how = {"GROUP": self.group(plan), "AHEAD": plan.ahead, "PRECISION": "tf32"}
        return {**sizes, **strides, **how, "num_warps": plan.warps, "maxnreg": plan.registers}


def _strides(side: int, channels: int, planar: bool) -> tuple[int, int]:
    """Return how far apart rows and channels lie."""
    return (side, side**2) if planar else (channels * side, side)


@lru_cache(maxsize=64)
def _spreads(side: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return what spreads taps, (taps, places), and its transpose; for small sides along both axes at once."""
    matrix = upsampling_matrix(side)
    shifted = torch.cat([matrix[1:], torch.zeros_like(matrix[:1])])
    both = torch.stack([matrix, shifted], 2)
    if side < 8:
        both = torch.einsum("yht,xws->yxhwts", both, both).reshape(4 * side**2, 4 * side**2)
    both = both.flatten(1)
    return both.t().contiguous().to(device, dtype), both.contiguous().to(device, dtype)


def _programs(turns: int, images: int, together: int, device: torch.device) -> int:
    """Return how many programs share so many images where ``turns`` are taken at all of them, none with many more."""
    processors = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 2
    each = -(-turns * images // (together * processors))
    return -(-images // each)


class _Enlarged(torch.autograd.Function):
    """2x2 convolution of upsampled ELU of maps."""

    @staticmethod
    def forward(ctx: Any, maps: Tensor, weight: Tensor, bias: Tensor, shapes: _Shapes) -> Tensor:
        groups, images = maps.shape[:2]
        ctx.save_for_backward(maps, weight)
        ctx.shapes = shapes
        plan, side, out = shapes.forward_plan, 2 * shapes.side, shapes.out
        result = maps.new_empty(groups, images, *((out, side, side) if shapes.planar_result else (side, out, side)))
        spread, _ = _spreads(shapes.side, maps.dtype, maps.device)
        batches = -(-images // shapes.group(plan))
        programs = _programs(groups * shapes.parts, batches, plan.together, maps.device)
        grid = (programs, shapes.parts, groups)
        _enlarge[grid](maps, weight, bias, spread, result, images, **shapes.constants(plan))
        return result

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        maps, weight = ctx.saved_tensors
        shapes, (groups, images) = ctx.shapes, maps.shape[:2]
        plan, size = shapes.backward_plan, weight[0].numel()
        slices, batches = shapes.slices(plan), -(-images // shapes.group(plan))
        programs = _programs(groups * slices, batches, plan.together, maps.device)
        below, (_, spread) = torch.empty_like(maps), _spreads(shapes.side, maps.dtype, maps.device)
        sums = torch.empty(groups, programs * slices, size + shapes.out, dtype=torch.float32, device=maps.device)
        _slopes[programs, slices, groups](
            maps, weight, spread, slope.contiguous(), below, sums, images, **shapes.constants(plan),
            WIDE=shapes.side // slices, PARTS=shapes.parts,
        )  # fmt: skip
        filters, shifts = torch.empty_like(weight), weight.new_empty(groups, shapes.out)
        _add_up[triton.cdiv(size + shapes.out, SUM_TILE_COLUMNS), groups](
            sums, filters, shifts, programs * slices, size, shapes.out, RUN=SUM_TILE_COLUMNS, ROWS=SUM_TILE_ROWS
        )
        return below, filters, shifts, None


def enlarged(maps: Tensor, weight: Tensor, bias: Tensor, planar: bool = False, planar_result: bool = False) -> Tensor:
    """Apply ELU, upsample by two (bilinear, corners aligned), convolve with 2x2 filters padded at right and bottom.

    Parameters
    ----------
    maps : Tensor, shape (g, B, H, C, W), or (g, B, C, H, W) if ``planar``
        Square, with a power of two as side, on a GPU.
    weight : Tensor, shape (g, O, C, 2, 2)
    bias : Tensor, shape (g, O)

    Returns
    -------
    Tensor, shape (g, B, 2H, O, 2W), or (g, B, O, 2H, 2W) if ``planar_result``
    """
    channels = maps.shape[2] if planar else maps.shape[3]
    shapes = _Shapes(maps.shape[-1], channels, weight.shape[1], planar, planar_result)
    large: Tensor = _Enlarged.apply(maps.contiguous(), weight.contiguous(), bias.contiguous(), shapes)  # type: ignore[no-untyped-call]
    return large
