"""Every kernel of ours computes for three networks at once what it computes for each of them alone.

What a program computes of one network alone is the same to the last bit; only sums that are shared out among programs
depend on how many networks there are. On a GPU; elsewhere ``TRITON_INTERPRET=1`` runs the same kernels in Python, where
triton is installed.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor

from recombine.lab.nets.ensemble.optimisers import Adam, AdamW

GPU = torch.cuda.is_available()
INTERPRETED = not GPU and os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None
DEVICE, SHORT = ("cuda", torch.bfloat16) if GPU else ("cpu", torch.float32)
#: Relative to the size of all entries: a sum in another order, rounded to eight bits or to twenty-four.
NEAR = 0.004 if GPU else 1e-6
#: Images of a batch: on a GPU enough that programs take several turns.
IMAGES = 512 if GPU else 5

pytestmark = [
    pytest.mark.skipif(not GPU and not INTERPRETED, reason="needs a GPU"),
    # The interpreter's own.
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim"),
]


def _random(*shape: int, seed: int = 0, scale: float = 1.0) -> Tensor:
    return (scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).to(DEVICE)


def _alone(place: int, *tensors: Tensor) -> list[Tensor]:
    """One network's part, copied so that it lies as a tensor of its own would."""
    return [tensor.detach()[place : place + 1].clone() for tensor in tensors]


def _far(mine: Tensor, other: Tensor) -> float:
    return float((mine - other).double().norm() / other.double().norm())


@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("rule", ["soft", "clamp", "sigmoid", "single"])
def test_composition(rule: str, scale: float, sets: int) -> None:
    """Large values shut the gate or open it all the way."""
    from recombine.lab.nets.decoders.composition_kernels import composed_error

    channels, slots = 4 if rule in ("clamp", "sigmoid") else 3, 1 if rule == "single" else 2
    layers = _random(3, slots, IMAGES, channels, 16, 16, scale=scale).to(SHORT)
    targets, networks = _random(sets, 70, 3 * 16 * 16, seed=1), torch.arange(3, device=DEVICE)
    rows = torch.randint(70, (3, IMAGES), generator=torch.Generator().manual_seed(2)).to(DEVICE)
    error, slopes = composed_error(layers, targets, networks, rows, rule)
    assert bool(slopes.isfinite().all())
    for place in range(3):
        part, whose, listed = _alone(place, layers, networks, rows)
        its_error, its_slopes = composed_error(part, targets, whose, listed, rule)
        torch.testing.assert_close(error[[place]], its_error, rtol=1e-6, atol=0)
        assert torch.equal(slopes[[place]], its_slopes)


@pytest.mark.parametrize(
    ("side", "channels", "out"), [(4, 16, 64), (4, 32, 32), (8, 32, 32), (16, 32, 32), (32, 16, 3), (32, 32, 4)]
)
def test_upsampled_convolutions(side: int, channels: int, out: int) -> None:
    from recombine.lab.nets.decoders.upsampling_kernels import enlarged

    ends = (side == 4, out < 16)
    maps = _random(3, IMAGES, *((channels, side) if ends[0] else (side, channels)), side).to(SHORT)
    weight, bias = _random(3, out, channels, 2, 2, seed=1).to(SHORT), _random(3, out, seed=2).to(SHORT)
    pull = _random(3, IMAGES, *((out, 2 * side) if ends[1] else (2 * side, out)), 2 * side, seed=3).to(SHORT)

    def passed(maps: Tensor, weight: Tensor, bias: Tensor, pull: Tensor) -> tuple[Tensor, ...]:
        leaves = [tensor.detach().requires_grad_() for tensor in (maps, weight, bias)]
        large = enlarged(*leaves, *ends)
        return large.detach(), *torch.autograd.grad(large, leaves, pull)

    together = passed(maps, weight, bias, pull)
    for place in range(3):
        alone = passed(*_alone(place, maps, weight, bias, pull))
        for number, (mine, other) in enumerate(zip(together, alone, strict=True)):
            assert torch.equal(mine[[place]], other) if number < 2 else _far(mine[[place]], other) < NEAR


@pytest.mark.parametrize("optimiser", [Adam(), AdamW(weight_decay=0.1)])
def test_adam(optimiser: Adam) -> None:
    from recombine.lab.nets.ensemble.optimiser_kernels import adam

    block, gradient = _random(3, 2501), _random(3, 2501, seed=1)
    slots = [_random(3, 2501, seed=2), _random(3, 2501, seed=3).square()]
    rate = torch.tensor([[1e-3], [0.1], [0.0]], device=DEVICE)
    count = torch.tensor([[1.0], [7.0], [4000.0]], device=DEVICE)
    how = (optimiser.betas, optimiser.epsilon, (optimiser.weight_decay, optimiser.decoupled))
    for place in range(3):
        parts = [part.clone() for part in (block, gradient, *slots)]
        adam(parts[0], parts[1], parts[2:], rate, count, *how)
        own = _alone(place, block, gradient, *slots)
        adam(own[0], own[1], own[2:], *_alone(place, rate, count), *how)
        for mine, other in zip(parts, own, strict=True):
            assert torch.equal(mine[[place]], other)


def _convolution(*given: Tensor) -> tuple[Tensor, ...]:
    from recombine.lab.nets.layers.convolution_kernels import rectified_convolution

    return rectified_convolution(*given)


def _pool(*given: Tensor) -> tuple[Tensor, ...]:
    from recombine.lab.nets.layers.pooling_kernels import normalised_pool

    return (normalised_pool(*given, 2),)


def _residual(*given: Tensor) -> tuple[Tensor, ...]:
    from recombine.lab.nets.layers.residual_kernels import normalised_convolution

    return normalised_convolution(*given)[:1]


#: A function, the shapes of one network's tensors, and how many of the results are the same to the last bit.
LAYERS: dict[str, tuple[Any, list[tuple[int, ...]], int]] = {
    "convolution": (_convolution, [(9, 12, 32), (64, 32, 5, 5), (64,)], 1),
    "pool": (_pool, [(9, 12, 32), (32,), (32,)], 1),
    "residual": (_residual, [(10, 10, 32), (32, 32, 3, 3), (32,), (32,), (10, 10, 32)], 0),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_convnets_and_resnets(name: str) -> None:
    layer, shapes, exact = LAYERS[name]
    batch = IMAGES // 8 + 3
    sizes = [(3, batch, *shape) if len(shape) == 3 else (3, *shape) for shape in shapes]
    given = [_random(*size, seed=number).to(SHORT) for number, size in enumerate(sizes)]
    if name == "residual":
        for framed in (given[0], given[4]):
            for edge in (framed[:, :, 0], framed[:, :, -1], framed[:, :, :, 0], framed[:, :, :, -1]):
                edge.zero_()
    pull = _random(*layer(*given)[0].shape, seed=9)

    def passed(pull: Tensor, *given: Tensor) -> list[Tensor]:
        leaves = [tensor.detach().requires_grad_() for tensor in given]
        results = layer(*leaves)
        slopes = torch.autograd.grad((results[0].float() * pull).sum(), leaves)
        return [*(result.detach() for result in results), *slopes]

    together = passed(pull, *given)
    for place in range(3):
        for number, (mine, other) in enumerate(zip(together, passed(*_alone(place, pull, *given)), strict=True)):
            assert torch.equal(mine[[place]], other) if number < exact else _far(mine[[place]], other) < 3 * NEAR
