"""Adam on a GPU in one pass over the parameters; written as operations on tensors it goes over them fourteen times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Parameters of one program.
ADAM_BLOCK_SIZE = 1024


@triton.jit  # type: ignore[untyped-decorator]
def _adam(block, gradient, first, second, rate, count, size, LOG_BETA1: tl.constexpr, LOG_BETA2: tl.constexpr, SHARE1: tl.constexpr, BETA2: tl.constexpr, SHARE2: tl.constexpr, EPSILON: tl.constexpr, WEIGHT_DECAY: tl.constexpr, DECOUPLED: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def] # fmt: skip # noqa: E501
    """Some parameters of one network."""
    network = tl.program_id(1)
    kind = block.dtype.element_ty
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    valid, index = number < size, network.to(tl.int64) * size + number
    pace, times = tl.load(rate + network), tl.load(count + network).to(tl.float64)
    left1, left2 = 1.0 - tl.exp2(times * LOG_BETA1).to(kind), 1.0 - tl.exp2(times * LOG_BETA2).to(kind)
    value = tl.load(block + index, mask=valid, other=0.0)
    slope = tl.load(gradient + index, mask=valid, other=0.0).to(kind)
    if DECOUPLED:
        value *= 1.0 - pace * WEIGHT_DECAY
    else:
        slope += WEIGHT_DECAY * value
    mean = tl.load(first + index, mask=valid, other=0.0)
    mean += SHARE1 * (slope - mean)
    square = BETA2 * tl.load(second + index, mask=valid, other=0.0) + SHARE2 * slope * slope
    scale = tl.sqrt(square) / tl.sqrt(left2) + EPSILON
    tl.store(first + index, mean, mask=valid)
    tl.store(second + index, square, mask=valid)
    tl.store(block + index, value - mean / scale * (pace / left1), mask=valid)


def adam(
    block: Tensor,
    gradient: Tensor,
    slots: Sequence[Tensor],
    rate: Tensor,
    count: Tensor,
    betas: tuple[float, float],
    epsilon: float,
    decay: tuple[float, bool],
) -> None:
    """Do the update of ``Adam`` on a block (c, P) in place; ``decay`` is of weights, and whether it is decoupled."""
    # The powers are taken of what the betas are in the block's precision, as torch does.
    logs = [math.log2(torch.tensor(beta, dtype=block.dtype).item()) for beta in betas]
    networks, size = block.shape
    _adam[triton.cdiv(size, ADAM_BLOCK_SIZE), networks](
        block, gradient.contiguous(), *slots, rate.contiguous(), count.contiguous(), size, *logs, 1 - betas[0],
        betas[1], 1 - betas[1], epsilon, *decay, BLOCK=ADAM_BLOCK_SIZE,
    )  # fmt: skip
