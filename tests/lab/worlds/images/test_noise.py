"""Noise from a hash: equal to the same hash in whole numbers, even, and different wherever a key differs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from recombine.lab.worlds.images.noise import noise_bits


def plain_hash(*keys: int) -> int:
    """The same mixing in Python's unbounded integers, cut to 32 bits."""
    state = 0
    for key in keys:
        state = ((state ^ (key % 2**32)) + 0x9E3779B9) % 2**32
        state = (state ^ (state >> 16)) * 0x7FEB352D % 2**32
        state = (state ^ (state >> 15)) * 0x846CA68B % 2**32
        state ^= state >> 16
    return state


@pytest.mark.parametrize("keys", [(0,), (1, 2), (0, 0, 0, 0), (2**31 - 1, 5, 123456, 1), (7, -3)])
def test_32_bit_tensors_wrap_as_whole_numbers_do(keys: tuple[int, ...]) -> None:
    bits = noise_bits(*(torch.tensor(key) for key in keys))
    assert int(bits) % 2**32 == plain_hash(*keys)


def test_bits_are_even_and_independent_of_those_of_other_keys() -> None:
    seeds, steps, rows = torch.arange(3).view(-1, 1, 1), torch.arange(40).view(-1, 1), torch.arange(500)
    bits = noise_bits(seeds, steps, rows).numpy()
    assert len(np.unique(bits)) > 0.9999 * bits.size
    signs = np.stack([(bits >> place & 1) * 2.0 - 1 for place in range(32)])  # (32, 3, 40, 500)
    limit = 5 / np.sqrt(bits.size)
    assert np.abs(signs.mean((1, 2, 3))).max() < limit
    for shifted in (np.roll(signs, 1, 1), np.roll(signs, 1, 2), np.roll(signs, 1, 3), np.roll(signs, 1, 0)):
        assert np.abs((signs * shifted).mean((1, 2, 3))).max() < limit
