"""Convolutional networks: the stacked pass against plain torch modules, batch normalisation included."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.lab.nets.architecture import stack_networks
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.modules import Module
from recombine.lab.nets.ensemble.optimisers import SGD, Adam
from recombine.lab.nets.layers.side_by_side import apart, side_by_side

SMALL = ConvNet(shape=(2, 10, 12), channels=(3, 4), kernel=3, dense=(8, 6), pools=(1, 2))
GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.randn(3, 20, 2, 10, 12, generator=GENERATOR, dtype=torch.float64)
TARGETS = torch.randn(3, 20, generator=GENERATOR, dtype=torch.float64)
SEEDS = [4, 5, 6]

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def plain(network: ConvNet) -> nn.Sequential:
    """Build the same network from torch's own layers."""
    layers: list[nn.Module] = []
    sizes = (network.shape[0], *network.channels)
    for (channels, out), pool in zip(pairwise(sizes), network.pools, strict=True):
        layers += [nn.Conv2d(channels, out, network.kernel), nn.ReLU(), nn.BatchNorm2d(out), nn.MaxPool2d(pool)]
    layers += [nn.Flatten()]
    widths = (network.flat, *network.dense, network.outputs)
    for fan_in, fan_out in pairwise(widths):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).double()


def filled(network: ConvNet, seed: int) -> nn.Sequential:
    module = plain(network)
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), network.initial(seed, 1.0).values(), strict=True):
            parameter.copy_(value)
    return module


def train(stacked: bool | None = True, chunk: int | None = 3, **options):
    ensemble = Ensemble(SMALL, SEEDS, dtype="float64", chunk=chunk, stacked=stacked)
    settings = {"rate": 0.01, "steps": 12, "batch": 5, "optimiser": SGD(momentum=0.9), "record": [0, 6, 11]}
    return ensemble.train(IMAGES, TARGETS, **{**settings, **options})


def test_sizes_of_the_published_network() -> None:
    network = ConvNet(shape=(2, 28, 28))
    outputs = network.forward(
        stack_networks([network.initial(0, 1.0)]),
        stack_networks([network.statistics(0)]),
        torch.zeros(1, 2, 2, 28, 28).double(),
        False,
    )
    assert network.flat == 2304
    assert outputs.shape == (1, 2, 1)
    assert ConvNet(shape=(2, 28, 48)).flat == 64 * 6 * 16


def test_training_is_that_of_plain_torch_modules() -> None:
    trained = train(batch=None, steps=8, record=[])
    for place, seed in enumerate(SEEDS):
        module = filled(SMALL, seed)
        optimiser = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
        for _ in range(8):
            optimiser.zero_grad()
            (module(IMAGES[place])[:, 0] - TARGETS[place]).square().mean().backward()
            optimiser.step()
        for mine, theirs in zip(trained.parameters.values(), module.parameters(), strict=True):
            torch.testing.assert_close(mine[place], theirs.detach(), rtol=1e-9, atol=1e-9)
        running = [buffer for buffer in module.buffers() if buffer.ndim]
        for mine, theirs in zip(trained.statistics.values(), running, strict=True):
            torch.testing.assert_close(mine[place], theirs, rtol=1e-9, atol=1e-9)
        expected = module.eval()(IMAGES[place]).detach()
        torch.testing.assert_close(trained.outputs(IMAGES)[place], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("other", [{"chunk": 1}, {"chunk": None}, {"stacked": False}, {"chunk": 2}])
def test_chunks_and_loops_change_nothing(other: dict) -> None:
    together, apart_ = train(watch=IMAGES), train(watch=IMAGES, **other)
    for mine, theirs in zip(together.parameters.values(), apart_.parameters.values(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-10)
    for mine, theirs in zip(together.statistics.values(), apart_.statistics.values(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-10)
    torch.testing.assert_close(together.watched, apart_.watched, rtol=0, atol=1e-10)
    torch.testing.assert_close(together.history, apart_.history, rtol=0, atol=1e-10)


def test_a_stopped_network_keeps_its_statistics() -> None:
    stop = [0.9, 0.0, 0.0]
    early = train(steps=12, stop=stop, batch=5)
    count = int(early.steps[0])
    assert bool(early.stopped[0])
    assert 0 < count < 12
    short = train(steps=count, record=[], batch=5)
    for name, tensor in short.statistics.items():
        torch.testing.assert_close(early.statistics[name][0], tensor[0], rtol=0, atol=1e-10)
    for name, tensor in short.parameters.items():
        torch.testing.assert_close(early.parameters[name][0], tensor[0], rtol=0, atol=1e-10)


def test_evaluation_does_not_depend_on_the_company_of_a_sample() -> None:
    trained = train()
    whole, part = trained.outputs(IMAGES), trained.outputs(IMAGES[:, :3])
    torch.testing.assert_close(whole[:, :3], part, rtol=0, atol=1e-12)


def test_features_are_rectified_and_unnormalised() -> None:
    parameters, statistics = Ensemble(SMALL, SEEDS, dtype="float64").initial()
    first, last = SMALL.features(parameters, statistics, IMAGES)
    assert last.shape == (3, 20, 4, 6, 8)
    module = filled(SMALL, SEEDS[1]).eval()
    torch.testing.assert_close(first[1], module[:2](IMAGES[1]).detach(), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(last[1], module[:6](IMAGES[1]).detach(), rtol=1e-9, atol=1e-9)


def test_side_by_side_and_back() -> None:
    torch.testing.assert_close(apart(side_by_side(IMAGES), 3), IMAGES)


def test_bfloat16_trains_convolutions() -> None:
    ensemble = Ensemble(SMALL, SEEDS, dtype="bfloat16", chunk=3)
    trained = ensemble.train(IMAGES, TARGETS, rate=0.01, steps=40, optimiser=SGD(momentum=0.9), record=[0])
    assert bool((trained.loss < trained.history[0]).all())
    assert trained.parameters["conv0.weight"].dtype == torch.float32


class Pool:
    """Images put together on demand from a pool: what the image worlds hand to the trainer."""

    shape = (2, 10, 12)

    def __init__(self) -> None:
        self.calls = 0

    def __len__(self) -> int:
        return 20

    def take(self, networks: torch.Tensor, rows: torch.Tensor, steps: torch.Tensor | None = None) -> torch.Tensor:
        self.calls += 1
        return IMAGES[networks.unsqueeze(1), rows]


def test_inputs_may_be_gathered_on_demand() -> None:
    pool = Pool()
    ensemble = Ensemble(SMALL, SEEDS, dtype="float64", chunk=3)
    settings = {"rate": 0.01, "steps": 12, "batch": 5, "optimiser": SGD(momentum=0.9), "record": [0, 6, 11]}
    gathered = ensemble.train(pool, TARGETS, watch=pool, **settings)
    assert pool.calls >= 12
    torch.testing.assert_close(gathered.watched, train(watch=IMAGES).watched, rtol=0, atol=1e-12)


def test_images_that_vanish_are_refused() -> None:
    with pytest.raises(InputError, match="vanish"):
        ConvNet(shape=(2, 8, 8))
    with pytest.raises(InputError, match="give one each"):
        ConvNet(shape=(2, 28, 28), pools=(2,))


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": (28, 28)},
        {"shape": (0, 28, 28)},
        {"pools": (1, 1, 1, 0)},
        {"channels": (), "pools": ()},
        {"channels": (32, 32, 0, 64)},
        {"kernel": 0},
        {"dense": (0,)},
        {"outputs": 0},
    ],
)
def test_networks_without_a_size_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="cannot be built; give channels, height and width"):
        ConvNet(**{"shape": (2, 28, 28), **wrong})


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
@pytest.mark.parametrize("stacked", [True, False])
def test_float64_keeps_its_digits_through_adam(device: str, stacked: bool) -> None:
    """The published network: Adam divides small gradients by themselves, so an intermediate of fewer digits shows."""
    network, count = ConvNet((2, 28, 28), outputs=10), 6
    generator = torch.Generator().manual_seed(1)
    images = torch.randn(count, 2, 28, 28, generator=generator, dtype=torch.float64).to(device)
    labels = torch.randint(10, (count,), generator=generator).to(device)
    ensemble = Ensemble(network, SEEDS[:2], dtype="float64", device=device, chunk=2, stacked=stacked)
    trained = ensemble.train(images, labels, rate=1e-3, steps=3, loss="cross-entropy", optimiser=Adam())
    for place, seed in enumerate(SEEDS[:2]):
        module = filled(network, seed).to(device)
        optimiser = torch.optim.Adam(module.parameters(), lr=1e-3)
        for _ in range(3):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(module(images), labels)
            loss.backward()
            optimiser.step()
        assert trained.loss[place].item() == pytest.approx(loss.item(), rel=1e-12)


def test_convolutions_take_turns_on_a_cpu_unless_asked_to_be_stacked() -> None:
    chosen, turns = train(stacked=None), train(stacked=False)
    assert all(torch.equal(chosen.parameters[name], tensor) for name, tensor in turns.parameters.items())
    assert not Ensemble(SMALL, SEEDS)._batched
    assert Ensemble(SMALL, SEEDS, stacked=True)._batched
    assert Ensemble(SMALL, SEEDS, device="cuda")._batched


def test_pools_may_follow_every_convolution() -> None:
    network = ConvNet(shape=(2, 10, 12), channels=(3, 4), kernel=3, dense=(8,), pools=(2, 1))
    ensemble = Ensemble(network, SEEDS, dtype="float64")
    outputs = ensemble.outputs(*ensemble.initial(), IMAGES)
    expected = filled(network, SEEDS[2]).eval()(IMAGES[2]).detach()
    torch.testing.assert_close(outputs[2], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("chunk", [1, 3])
def test_any_module_trains_through_vmap(chunk: int) -> None:
    """A module with batch normalisation: vmap over three networks, a plain call for one, torch's own loop."""

    def build() -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(240, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))

    ensemble = Ensemble(Module(build, input_axes=3), SEEDS, dtype="float64", chunk=chunk)
    trained = ensemble.train(IMAGES, TARGETS, rate=0.05, steps=10)
    for place, seed in enumerate(SEEDS):
        torch.manual_seed(seed)
        module = build().double()
        optimiser = torch.optim.SGD(module.parameters(), lr=0.05)
        for _ in range(10):
            optimiser.zero_grad()
            (module(IMAGES[place])[:, 0] - TARGETS[place]).square().mean().backward()
            optimiser.step()
        for name, parameter in module.named_parameters():
            torch.testing.assert_close(trained.parameters[name][place], parameter.detach(), rtol=1e-9, atol=1e-9)
        for name, buffer in module.named_buffers():
            torch.testing.assert_close(trained.statistics[name][place], buffer, rtol=1e-9, atol=1e-9)
        outputs = trained.outputs(IMAGES)[place]
        torch.testing.assert_close(outputs, module.eval()(IMAGES[place]).detach(), rtol=1e-9, atol=1e-9)


def test_numpy_images_are_taken_as_well() -> None:
    array = np.asarray(IMAGES[0])
    ensemble = Ensemble(SMALL, SEEDS)
    assert ensemble.train(array, TARGETS[0].numpy(), rate=0.01, steps=1).outputs(array).shape == (3, 20, 1)
