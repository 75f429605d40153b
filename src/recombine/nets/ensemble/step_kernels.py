"""What a training step does besides its passes, on a GPU: the squared error and its slope, and Adam, in one pass each.

Written as operations on tensors, they go over the outputs eight times and over the parameters fourteen times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Numbers that one program takes at a time.
RUN, BLOCK = 2048, 1024


@triton.jit  # type: ignore[untyped-decorator]
def _squared_error(outputs, targets, networks, rows, costs, slope, samples, width, scale, SHARED: tl.constexpr, RUN: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Mean squared error of one output of one network, and its slope."""
    place, network = tl.program_id(0), tl.program_id(1)
    at = (network * tl.num_programs(0) + place).to(tl.int64)
    row = tl.load(rows + at).to(tl.int64)
    if not SHARED:
        row += tl.load(networks + network).to(tl.int64) * samples
    outputs += at * width
    slope += at * width
    targets += row * width
    total = tl.zeros((RUN,), dtype=tl.float32)
    for start in range(0, width, RUN):
        number = start + tl.arange(0, RUN)
        here = number < width
        off = tl.load(outputs + number, mask=here, other=0.0) - tl.load(targets + number, mask=here, other=0.0)
        total += off * off
        tl.store(slope + number, off * scale, mask=here)
    tl.store(costs + at, tl.sum(total, 0) / width)


def squared_error(outputs: Tensor, targets: Tensor, networks: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean squared error (c,) of a batch and its slope (c, B, K); targets are read where they lie.

    Parameters
    ----------
    outputs : Tensor of float32, shape (c, B, K)
    targets : Tensor of float32, shape (1 or E, N, K)
    networks : Tensor, shape (c,)
    rows : Tensor, shape (c, B)
        Of the targets.
    """
    count, batch, width = outputs.shape
    costs, slope = outputs.new_empty(count, batch), torch.empty_like(outputs)
    _squared_error[batch, count](
        outputs, targets, networks, rows.contiguous(), costs, slope, targets.shape[1], width, 2 / (width * batch),
        SHARED=len(targets) == 1, RUN=RUN,
    )  # fmt: skip
    return costs.mean(1), slope


@triton.jit  # type: ignore[untyped-decorator]
def _adam(block, gradient, first, second, rate, count, size, LOG_BETA1: tl.constexpr, LOG_BETA2: tl.constexpr, SHARE1: tl.constexpr, BETA2: tl.constexpr, SHARE2: tl.constexpr, EPSILON: tl.constexpr, WEIGHT_DECAY: tl.constexpr, DECOUPLED: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Some parameters of one network."""
    network = tl.program_id(1)
    kind = block.dtype.element_ty
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here, place = number < size, network.to(tl.int64) * size + number
    pace, times = tl.load(rate + network), tl.load(count + network).to(tl.float64)
    left1, left2 = 1.0 - tl.exp2(times * LOG_BETA1).to(kind), 1.0 - tl.exp2(times * LOG_BETA2).to(kind)
    value = tl.load(block + place, mask=here, other=0.0)
    slope = tl.load(gradient + place, mask=here, other=0.0).to(kind)
    if DECOUPLED:
        value *= 1.0 - pace * WEIGHT_DECAY
    else:
        slope += WEIGHT_DECAY * value
    mean = tl.load(first + place, mask=here, other=0.0)
    mean += SHARE1 * (slope - mean)
    square = BETA2 * tl.load(second + place, mask=here, other=0.0) + SHARE2 * slope * slope
    scale = tl.sqrt(square) / tl.sqrt(left2) + EPSILON
    tl.store(first + place, mean, mask=here)
    tl.store(second + place, square, mask=here)
    tl.store(block + place, value - mean / scale * (pace / left1), mask=here)


def adam(
    block: Tensor,
    gradient: Tensor,
    slots: Sequence[Tensor],
    rate: Tensor,
    count: Tensor,
    betas: tuple[float, float],
    epsilon: float,
    weight_decay: float,
    decoupled: bool,
) -> None:
    """Do the update of ``Adam`` on a block (c, P) in place."""
    # The powers are taken of what the betas are in the block's precision, as torch does.
    logs = [math.log2(torch.tensor(beta, dtype=block.dtype).item()) for beta in betas]
    networks, size = block.shape
    _adam[triton.cdiv(size, BLOCK), networks](
        block, gradient.contiguous(), *slots, rate.contiguous(), count.contiguous(), size, *logs, 1 - betas[0],
        betas[1], 1 - betas[1], epsilon, weight_decay, decoupled, BLOCK=BLOCK,
    )  # fmt: skip
