"""Adam in one pass on a GPU against the same update written as operations on tensors (which is tested against torch).

Elsewhere ``TRITON_INTERPRET=1`` runs the same kernel in Python, where triton is installed.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
import torch

from recombine.lab.nets.ensemble.optimisers import Adam, AdamW

GPU = torch.cuda.is_available()
INTERPRETED = not GPU and os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None
DEVICE = "cuda" if GPU else "cpu"

pytestmark = pytest.mark.skipif(not GPU and not INTERPRETED, reason="needs a GPU")


@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-6), (torch.float64, 1e-14)])
@pytest.mark.parametrize("optimiser", [Adam(), Adam(weight_decay=0.1), AdamW(betas=(0.8, 0.99))])
def test_one_pass_is_the_same_update(optimiser: Adam, dtype: torch.dtype, near: float) -> None:
    from recombine.lab.nets.ensemble.optimiser_kernels import adam

    generator = torch.Generator().manual_seed(0)
    slow = torch.randn(3, 2500, generator=generator, dtype=dtype)
    fast = slow.clone().to(DEVICE)
    slots, held = optimiser.slots(slow), optimiser.slots(fast)
    # The third network has stopped.
    rate = torch.tensor([[1e-3], [0.1], [0.0]], dtype=dtype)
    for number in range(1, 6):
        gradient = torch.randn(3, 2500, generator=generator, dtype=dtype)
        count = torch.full((3, 1), float(number), dtype=dtype)
        how = (optimiser.betas, optimiser.epsilon, (optimiser.weight_decay, optimiser.decoupled))
        adam(fast, gradient.to(DEVICE), held, rate.to(DEVICE), count.to(DEVICE), *how)
        optimiser.update(slow, gradient.clone(), slots, rate, count)
    torch.testing.assert_close(fast.cpu(), slow, rtol=near, atol=near)
