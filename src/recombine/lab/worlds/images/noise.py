"""Random bits without a state: a hash of what the bits are for, the same on every device and in every batch."""

from __future__ import annotations

import torch
from torch import Tensor

#: 2^32 divided by the golden ratio, as a signed number; it keeps keys of zero from giving bits of zero.
GOLDEN = -0x61C88647


def noise_bits(*keys: Tensor) -> Tensor:
    """Return 32 random bits, as int32, for each combination of integer keys (which broadcast).

    Examples
    --------
    >>> bits = noise_bits(torch.tensor([[7], [8]]), torch.arange(1000))
    >>> bits.shape, bits.dtype
    (torch.Size([2, 1000]), torch.int32)
    >>> bool(((bits < 0).float().mean(1) - 0.5).abs().max() < 0.05)
    True
    >>> torch.equal(noise_bits(torch.tensor(8), torch.arange(5)), bits[1, :5])
    True
    """
    state = torch.zeros((), dtype=torch.int32, device=keys[0].device)
    for key in keys:
        state = scramble((state ^ key.to(torch.int32)) + GOLDEN)
    return state


def scramble(values: Tensor) -> Tensor:
    """Mix 32-bit integers one to one: shifts, and odd multipliers that wrap around.

    Examples
    --------
    >>> len(scramble(torch.arange(1000, dtype=torch.int32)).unique())
    1000
    """
    values = (values ^ ((values >> 16) & 0xFFFF)) * 0x7FEB352D
    values = (values ^ ((values >> 15) & 0x1FFFF)) * -0x7B935975
    return values ^ ((values >> 16) & 0xFFFF)
