"""Our own GPU kernels against torch's convolutions, normalisation and pooling, network by network."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from recombine.nets.architecture import stack
from recombine.nets.convnet import ConvNet
from recombine.nets.ensemble import Ensemble
from recombine.nets.optimisers import SGD
from recombine.nets.resnet import ResNet

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def _random(*shape: int, seed: int = 0) -> Tensor:
    """Numbers that bfloat16 holds exactly, so that only sums are rounded."""
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return drawn.cuda().bfloat16().float()


def _far(ours: Tensor, theirs: Tensor) -> float:
    return float((ours.float() - theirs).abs().max() / theirs.abs().max())


@pytest.mark.parametrize(("channels", "out"), [(2, 32), (3, 16), (32, 32), (32, 64), (64, 64)])
@pytest.mark.parametrize("batch", [1, 7])
def test_convolution_its_sums_and_its_slopes(channels: int, out: int, batch: int) -> None:
    from recombine.nets.convolution_kernels import rectified_convolution

    images = _random(3, batch, 12, 17, channels).requires_grad_()
    weight = _random(3, out, channels, 5, 5, seed=1).requires_grad_()
    bias = _random(3, out, seed=2).requires_grad_()
    ours, sums, squares = rectified_convolution(images.bfloat16(), weight, bias)
    alone = [functional.conv2d(images[i].permute(0, 3, 1, 2), weight[i], bias[i]) for i in range(3)]
    theirs = torch.relu(torch.stack(alone)).permute(0, 1, 3, 4, 2)
    assert _far(ours, theirs) < 0.01
    assert _far(sums, theirs.sum((1, 2, 3))) < 0.005
    assert _far(squares, theirs.square().sum((1, 2, 3))) < 0.005
    pull = _random(*theirs.shape, seed=3)
    # The sums' shares of the slope are of the same size as the slope from above.
    leaves = (images, weight, bias)
    found = torch.autograd.grad((ours.float() * pull).sum() + (sums + squares / 40).sum(), leaves)
    wanted = torch.autograd.grad((theirs * pull).sum() + (theirs + theirs.square() / 40).sum(), leaves)
    for mine, right in zip(found, wanted, strict=True):
        assert _far(mine, right) < 0.02


@pytest.mark.parametrize("pool", [1, 2, 3])
def test_pooling_normalises_and_sends_slopes_to_the_largest(pool: int) -> None:
    from recombine.nets.convolution_kernels import normalised_pool

    images = _random(2, 5, 11, 14, 16).requires_grad_()
    gain, shift = _random(2, 16, seed=1).requires_grad_(), _random(2, 16, seed=2).requires_grad_()
    ours = normalised_pool(images.bfloat16(), gain, shift, pool)
    values = images * gain[:, None, None, None] + shift[:, None, None, None]
    pooled = functional.max_pool2d(values.flatten(0, 1).permute(0, 3, 1, 2), pool)
    theirs = pooled.unflatten(0, (2, 5))
    assert _far(ours, theirs) < 0.01
    pull = _random(*theirs.shape, seed=3)
    found = torch.autograd.grad((ours.float() * pull).sum(), (images, gain, shift))
    wanted = torch.autograd.grad((theirs * pull).sum(), (images, gain, shift))
    for mine, right in zip(found, wanted, strict=True):
        assert _far(mine, right) < 0.01


@pytest.mark.parametrize(
    "network",
    [
        ConvNet((2, 28, 33), outputs=3),
        ConvNet((1, 28, 28), (32, 64), kernel=3, dense=(64,), pools=(2, 2)),
        ResNet((6, 32, 32)),
    ],
    ids=["paper", "small", "resnet"],
)
def test_a_network_is_the_same_as_with_torch_layers(network: ConvNet | ResNet) -> None:
    """Ours in bfloat16 against torch's own layers in float32: outputs, slopes and running statistics."""
    parameters = stack([network.initial(seed, 1.0) for seed in range(2)])
    leaves = {name: tensor.float().cuda().requires_grad_() for name, tensor in parameters.items()}
    still = {name: tensor.float().cuda() for name, tensor in stack([network.statistics(0)] * 2).items()}
    again = {name: tensor.clone() for name, tensor in still.items()}
    inputs = _random(2, 64, *network.shape)
    short = {name: leaf.bfloat16() for name, leaf in leaves.items()}
    ours = network.forward(short, still, inputs.bfloat16(), True)
    theirs = network.forward(leaves, again, inputs, True)
    assert _far(ours, theirs) < 0.05
    for name, tensor in again.items():
        assert _far(still[name], tensor) < 0.02, name
    pull = _random(*theirs.shape, seed=3)
    found = torch.autograd.grad((ours.float() * pull).sum(), list(leaves.values()))
    wanted = torch.autograd.grad((theirs * pull).sum(), list(leaves.values()))
    for name, mine, right in zip(leaves, found, wanted, strict=True):
        angle = functional.cosine_similarity(mine.flatten(), right.flatten(), dim=0)
        assert angle > 0.98, (name, angle)
    evaluated = network.forward(short, still, inputs.bfloat16(), False)
    assert _far(evaluated, network.forward(leaves, again, inputs, False)) < 0.05


def test_a_network_trains_the_same_alone_and_in_a_batch() -> None:
    inputs, targets = _random(64, 2, 28, 28), _random(64, seed=1)
    settings = {"rate": 1e-3, "steps": 6, "batch": 16, "optimiser": SGD(momentum=0.9)}
    network = ConvNet((2, 28, 28))
    many = Ensemble(network, [3, 4, 5], dtype="bfloat16", device="cuda").train(inputs, targets, **settings)
    alone = Ensemble(network, [4], dtype="bfloat16", device="cuda").train(inputs, targets, **settings)
    twice = Ensemble(network, [3, 4, 5], dtype="bfloat16", device="cuda").train(inputs, targets, **settings)
    assert torch.equal(many.loss, twice.loss)
    torch.testing.assert_close(many.loss[1:2], alone.loss, rtol=0.02, atol=0.0)
