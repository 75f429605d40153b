"""Our own GPU kernels against torch's convolutions, normalisation and pooling, network by network.

On a GPU in short floats and in float32, whose products are rounded to TF32. Elsewhere ``TRITON_INTERPRET=1`` runs the
same kernels in Python, where triton is installed: minutes, but in full float32, so that nothing is left to rounding.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from recombine.lab.nets.architecture import Tensors, stack_networks
from recombine.lab.nets.architectures import convnet, resnet
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.architectures.resnet import ResNet
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import SGD

GPU = torch.cuda.is_available()
INTERPRETED = not GPU and os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None
DEVICE = "cuda" if GPU else "cpu"
DTYPES = [torch.bfloat16, torch.float32] if GPU else [torch.float32]
#: Relative to the largest entry; bfloat16 has eight bits and TF32 eleven.
NEAR = {torch.bfloat16: 0.02, torch.float32: 0.005 if GPU else 1e-5}
#: Largest share of torch's own error in bfloat16 for each tensor, with some room for luck, and for all together.
SHARES = {torch.bfloat16: (1.4, 1.1), torch.float32: (1.0, 0.5)}
#: Draws, and images in each, over which errors are compared: a few may be unlucky.
DRAWS, IMAGES = (12, 32) if GPU else (1, 4)

pytestmark = [
    pytest.mark.skipif(not GPU and not INTERPRETED, reason="needs a GPU"),
    # The interpreter's own.
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim"),
]
needs_gpu = pytest.mark.skipif(not GPU, reason="needs a GPU")


def _random(*shape: int, seed: int = 0) -> Tensor:
    """Numbers that bfloat16 holds exactly, so that only sums are rounded."""
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return drawn.to(DEVICE).bfloat16().float()


@contextmanager
def exact_products() -> Iterator[None]:
    """Keep torch's own convolutions from rounding float32 to TF32."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def _far(ours: Tensor, theirs: Tensor) -> float:
    difference = (ours.float() - theirs).detach().abs().max()
    return float(difference / theirs.detach().abs().max())


def _off(ours: Tensor, theirs: Tensor) -> float:
    return float((ours.float() - theirs).detach().norm() / theirs.detach().norm())


@pytest.mark.parametrize(
    ("channels", "out", "wide"),
    [(2, 32, 11), (2, 32, 12), (3, 16, 11), (32, 32, 11), (32, 32, 12), (32, 64, 14), (64, 64, 12)],
)
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_convolution_its_sums_and_its_slopes(
    channels: int, out: int, wide: int, batch: int, dtype: torch.dtype
) -> None:
    """Odd widths are computed pixel by pixel, even ones by pairs, multiples of four by fours."""
    from recombine.lab.nets.layers.convolution_kernels import rectified_convolution

    # Only the first layer has few channels, and nothing is below it that wants a slope.
    images = _random(2, batch, 9, wide, channels).requires_grad_(channels >= 16)
    weight = _random(2, out, channels, 5, 5, seed=1).requires_grad_()
    bias = _random(2, out, seed=2).requires_grad_()
    ours, sums, squares = rectified_convolution(images.to(dtype), weight, bias)
    with exact_products():
        alone = [functional.conv2d(images[i].permute(0, 3, 1, 2), weight[i], bias[i]) for i in range(2)]
        theirs = torch.relu(torch.stack(alone)).permute(0, 1, 3, 4, 2)
        pull = _random(*theirs.shape, seed=3)
        leaves = [leaf for leaf in (images, weight, bias) if leaf.requires_grad]
        wanted = torch.autograd.grad((theirs * pull).sum() + (theirs + theirs.square() / 40).sum(), leaves)
    near = NEAR[dtype]
    assert _far(ours, theirs) < near
    assert _far(sums, theirs.sum((1, 2, 3))) < near
    assert _far(squares, theirs.square().sum((1, 2, 3))) < near
    # The sums' shares of the slope are of the same size as the slope from above.
    found = torch.autograd.grad((ours.float() * pull).sum() + (sums + squares / 40).sum(), leaves)
    for mine, right in zip(found, wanted, strict=True):
        assert _far(mine, right) < near


@pytest.mark.parametrize("pool", [1, 2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pooling_normalises_and_sends_slopes_to_the_largest(pool: int, dtype: torch.dtype) -> None:
    from recombine.lab.nets.layers.pooling_kernels import normalised_pool

    images = _random(2, 3, 7, 8, 16).requires_grad_()
    gain, shift = _random(2, 16, seed=1).requires_grad_(), _random(2, 16, seed=2).requires_grad_()
    ours = normalised_pool(images.to(dtype), gain, shift, pool)
    values = images * gain[:, None, None, None] + shift[:, None, None, None]
    pooled = functional.max_pool2d(values.flatten(0, 1).permute(0, 3, 1, 2), pool)
    theirs = pooled.unflatten(0, (2, 3))
    assert _far(ours, theirs) < NEAR[dtype]
    pull = _random(*theirs.shape, seed=3)
    found = torch.autograd.grad((ours.float() * pull).sum(), (images, gain, shift))
    wanted = torch.autograd.grad((theirs * pull).sum(), (images, gain, shift))
    for mine, right in zip(found, wanted, strict=True):
        assert _far(mine, right) < NEAR[dtype]


NETWORKS: dict[str, tuple[ConvNet | ResNet, Any]] = {
    "convnet": (ConvNet((2, 13, 14), (16, 32), dense=(64,), outputs=3, pools=(1, 2)), convnet),
    "pool between": (ConvNet((1, 16, 15), (16, 16), kernel=3, dense=(64,), pools=(2, 2)), convnet),
    "resnet": (ResNet((3, 8, 8), widths=(16, 32), blocks=1), resnet),
}


def _passes(network: ConvNet | ResNet, inputs: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensors, list[Tensor]]:
    """Outputs, running statistics and slopes of one training pass."""
    parameters = stack_networks([network.initial(seed, 1.0) for seed in range(2)])
    leaves = {name: tensor.float().to(DEVICE).requires_grad_() for name, tensor in parameters.items()}
    still = {name: tensor.float().to(DEVICE) for name, tensor in stack_networks([network.statistics(0)] * 2).items()}
    short = {name: leaf.to(dtype) for name, leaf in leaves.items()}
    outputs = network.forward(short, still, inputs.to(dtype), True).float()
    pull = _random(*outputs.shape, seed=3)
    return outputs, still, list(torch.autograd.grad((outputs * pull).sum(), list(leaves.values())))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_network_is_the_same_as_with_torch_layers(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against torch's layers in full float32: on the whole we are off no more than torch is in bfloat16.

    A ReLU whose input is rounded across zero passes a slope or does not, so errors of single slopes are a matter of
    luck: with four images torch itself exceeds twice its own error in one draw of eight. Hence many draws together.
    """
    network, module = NETWORKS[name]
    errors: list[list[tuple[float, float]]] = []
    for draw in range(DRAWS):
        inputs = _random(2, IMAGES, *network.shape, seed=10 + draw)
        monkeypatch.setattr(module, "fits_kernels", lambda *_: False)
        with exact_products():
            right = _passes(network, inputs, torch.float32)
        rounded = _passes(network, inputs, torch.bfloat16)
        monkeypatch.setattr(module, "fits_kernels", lambda *_: True)
        ours = _passes(network, inputs, dtype)
        for kind, tensor in right[1].items():
            assert _far(ours[1][kind], tensor) < NEAR[dtype], kind
        pairs = [(ours[0], rounded[0], right[0]), *zip(ours[2], rounded[2], right[2], strict=True)]
        errors.append([(_off(mine, exact), _off(theirs, exact)) for mine, theirs, exact in pairs])
    mine, theirs = torch.tensor(errors).square().mean(0).sqrt().unbind(-1)
    if INTERPRETED:
        assert mine.max() < NEAR[dtype]
        return
    each, together = SHARES[dtype]
    # Some slopes have no error at all in bfloat16.
    assert (mine < 1e-4 + each * theirs).all()
    assert mine.square().mean() < together**2 * theirs.square().mean()


@needs_gpu
def test_a_network_trains_the_same_alone_and_in_a_batch() -> None:
    inputs, targets = _random(64, 2, 28, 28), _random(64, seed=1)
    settings: dict[str, Any] = {"rate": 1e-5, "steps": 6, "batch": 16, "optimiser": SGD(momentum=0.9)}
    network = ConvNet((2, 28, 28))
    many = Ensemble(network, [3, 4, 5], dtype="bfloat16", device="cuda").train(inputs, targets, **settings)
    alone = Ensemble(network, [4], dtype="bfloat16", device="cuda").train(inputs, targets, **settings)
    twice = Ensemble(network, [3, 4, 5], dtype="bfloat16", device="cuda").train(inputs, targets, **settings)
    assert torch.equal(many.loss, twice.loss)
    torch.testing.assert_close(many.loss[1:2], alone.loss, rtol=0.02, atol=0.0)
