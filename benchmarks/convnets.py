"""Training many ConvNets: the batched trainer beside a loop of single PyTorch networks and ``torch.func.vmap``.

Same networks, data, optimiser and losses, all in one process. ``python benchmarks/convnets.py`` trains small
ConvNets; ``--network small|paper|resnet``, ``--dtype float32|bfloat16``, ``--device cpu|cuda``. The peer is timed on
few networks and scaled up; set-up and first calls are left out of every time. Losses are compared in float64 after
three steps of Adam, which divides small gradients by themselves, so that a rounding shows. ``--kernels`` puts each of
our own GPU kernels beside torch's layers, forward and backward.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional

from recombine.lab.nets.architectures import convnet, resnet
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.architectures.resnet import ResNet
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import Adam
from recombine.lab.nets.layers.side_by_side import convolve
from recombine.lab.nets.replay import ReplayedStep

NETWORKS = {
    "small": (ConvNet((1, 28, 56), (32, 64), kernel=3, dense=(64,), outputs=10, pools=(2, 2)), 64),
    "paper": (ConvNet((2, 28, 28), outputs=10), 128),
    "resnet": (ResNet((6, 32, 32), outputs=10), 128),
}
RATE = 1e-3
#: What an H200 was measured to do: products and sums per second in short floats and in TF32, bytes per second.
ARITHMETIC, MEMORY = {"bfloat16": 790e12, "float32": 395e12}, 4.3e12

Timed = tuple[float, list[float]]


@dataclass
class Case:
    """Networks, what they are trained on, and how long."""

    network: ConvNet | ResNet
    inputs: Tensor
    targets: Tensor
    networks: int
    steps: int
    device: str

    @property
    def dtype(self) -> str:
        """Name of the floats of a pass."""
        return str(self.inputs.dtype).removeprefix("torch.")

    def module(self, place: int) -> nn.Module:
        """Build one network from torch's own layers, with the weights that the trainer starts from.

        It gets its dtype first: weights that pass through float32 differ in the eighth digit, and after three steps of
        Adam in the fourth.
        """
        if not isinstance(self.network, ConvNet):
            raise SystemExit("the loop and vmap are written for ConvNets alone")
        module = layers_of(self.network).to(self.device, self.inputs.dtype)
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), self.network.initial(place, 1.0).values(), strict=True):
                parameter.copy_(value)
        return module


def layers_of(network: ConvNet) -> nn.Module:
    layers: list[nn.Module] = []
    for (channels, out), pool in zip(pairwise((network.shape[0], *network.channels)), network.pools, strict=True):
        # vmap needs normalisation without running statistics; the loop gets the same.
        norm = nn.BatchNorm2d(out, track_running_stats=False)
        layers += [nn.Conv2d(channels, out, network.kernel), nn.ReLU(), norm, nn.MaxPool2d(pool)]
    layers.append(nn.Flatten())
    for fan_in, fan_out in pairwise((network.flat, *network.dense, network.outputs)):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def loop(case: Case) -> Timed:
    seconds, losses, some = 0.0, [], min(4, case.networks)
    for place in range(some):
        module = case.module(place)
        optimiser = torch.optim.Adam(module.parameters(), lr=RATE)

        def step(module: nn.Module = module, optimiser: torch.optim.Optimizer = optimiser) -> None:
            optimiser.zero_grad()
            functional.cross_entropy(module(case.inputs), case.targets).backward()
            optimiser.step()

        seconds += timed(step, case.steps, case.device)
        losses.append(functional.cross_entropy(module(case.inputs), case.targets).item())
    return seconds * case.networks / some, losses


def vmapped(case: Case) -> Timed:
    modules = [case.module(place) for place in range(case.networks)]
    template = modules[0]
    parameters, buffers = stack_module_state(modules)

    def cost(values: Any, held: Any) -> Tensor:
        return functional.cross_entropy(functional_call(template, (values, held), (case.inputs,)), case.targets)

    gradients = vmap(grad(cost))
    optimiser = torch.optim.Adam(parameters.values(), lr=RATE)

    def step() -> None:
        found = gradients(parameters, buffers)
        for name, parameter in parameters.items():
            parameter.grad = found[name].detach()
        optimiser.step()

    seconds = timed(step, case.steps, case.device)
    with torch.no_grad():
        return seconds, vmap(cost)(parameters, buffers).tolist()


def ours(case: Case, **how: Any) -> Timed:
    ensemble = Ensemble(case.network, range(case.networks), dtype=case.dtype, device=case.device, **how)
    stamps: list[float] = []

    def stamp(parameters: Any, statistics: Any, places: Tensor) -> Tensor:
        stamps.append(clock(case.device))
        return places.unsqueeze(1).double()

    # The last loss of networks with batch normalisation is that of the step before, so one more is asked for.
    train = partial(ensemble.train, case.inputs, case.targets, rate=RATE, loss="cross-entropy", optimiser=Adam())
    if case.device == "cuda":
        # One chunk: it tells itself when set-up is over and when it is done.
        trained = train(steps=case.steps + 1, record=[1, case.steps], watch=stamp)
        return (stamps[1] - stamps[0]) * case.steps / (case.steps - 1), trained.history[-1].tolist()
    train(steps=1)
    start = clock(case.device)
    trained = train(steps=case.steps + 1, record=[case.steps])
    return (clock(case.device) - start) * case.steps / (case.steps + 1), trained.history[-1].tolist()


@contextmanager
def torch_layers() -> Iterator[None]:
    """Keep the trainer from using our own kernels."""
    before = convnet.fits_kernels
    try:
        convnet.fits_kernels = resnet.fits_kernels = lambda *_: False
        yield
    finally:
        convnet.fits_kernels = resnet.fits_kernels = before


def without_kernels(case: Case, **how: Any) -> Timed:
    with torch_layers():
        return ours(case, **how)


def timed(step: Callable[[], None], steps: int, device: str) -> float:
    """Time ``steps`` calls; the first, which sets things up, counts as an average one."""
    step()
    start = clock(device)
    for _ in range(steps - 1):
        step()
    return (clock(device) - start) * steps / max(1, steps - 1)


def clock(device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def floor(case: Case) -> str:
    """Count the arithmetic of a step, and the bytes it cannot do without: what it must take at the very least."""
    network, batch = case.network, len(case.inputs)
    if not isinstance(network, ConvNet):
        return ""
    sides = [
        (high[0], wide[0]) for high, wide in zip(*(network._sides(side) for side in network.shape[1:]), strict=True)
    ]
    products = [
        high * wide * out * channels * network.kernel**2
        for (high, wide), (channels, out) in zip(sides, pairwise((network.shape[0], *network.channels)), strict=True)
    ]
    dense = sum(a * b for a, b in pairwise((network.flat, *network.dense, network.outputs)))
    operations = 2 * batch * case.networks * (3 * (sum(products) + dense) - products[0])
    item = case.inputs.itemsize
    numbers = batch * sum(out * high * wide for out, (high, wide) in zip(network.channels, sides, strict=True))
    # Written and read forwards and read again backwards; slopes written and read.
    activations = 5 * item * numbers
    # Gradients written and read; parameters and two running means of Adam read and written in float32.
    parameters = (2 * item + 24) * sum(tensor.numel() for tensor in network.initial(0, 1.0).values())
    moved = case.networks * (activations + parameters)
    times = operations / ARITHMETIC[case.dtype], moved / MEMORY
    return (
        f"floor of a step on an H200: {operations / 1e12:.2f} T operations, {1e3 * times[0]:.1f} ms; "
        f"{moved / 1e9:.1f} GB, {1e3 * times[1]:.1f} ms"
    )


def networks(options: argparse.Namespace) -> None:
    """Print one row per way to train."""
    case = case_of(options)
    print(
        f"{case.networks} {options.network} networks, {case.dtype}, {options.device}, {torch.get_num_threads()} threads"
    )
    print(floor(case))
    ways: dict[str, Callable[[Case], Timed]] = {"loop of nn.Module": loop, "torch.func.vmap": vmapped}
    if not isinstance(case.network, ConvNet):
        ways = {}
    ways["ours"] = ours
    if options.device == "cuda":
        ways["ours, torch's layers"] = without_kernels
        ways["the same, in turn"] = lambda case: without_kernels(case, stacked=False)
    else:
        chunk = case.networks
        ways["ours, stacked"] = lambda case: ours(case, stacked=True, chunk=chunk)
        ways["ours, in turn"] = lambda case: ours(case, stacked=False, chunk=chunk)
    print(f"{'':>22} {'ms per step':>12} {'ratio':>7} {'loss difference':>16}")
    first: tuple[float, list[float]] | None = None
    exact = replace(case, inputs=case.inputs.double(), networks=min(4, case.networks), steps=3)
    for name, way in ways.items():
        if name in options.skip:
            continue
        seconds, _ = way(case)
        losses = way(exact)[1]
        first = first or (seconds, losses)
        gap = max(abs(a - b) / max(1, abs(b)) for a, b in zip(losses, first[1], strict=True))
        print(f"{name:>22} {1e3 * seconds / case.steps:>12.2f} {first[0] / seconds:>6.1f}x {gap:>16.1e}", flush=True)


def case_of(options: argparse.Namespace) -> Case:
    generator = torch.Generator().manual_seed(0)
    network, batch = NETWORKS[options.network]
    inputs = torch.randn(batch, *network.shape, generator=generator).to(options.device, getattr(torch, options.dtype))
    targets = torch.randint(10, (batch,), generator=generator).to(options.device)
    return Case(network, inputs, targets, options.networks, options.steps, options.device)


def kernels(options: argparse.Namespace) -> None:
    """Print one row per kernel and shape: a layer of all networks forward and backward, ours and torch's."""
    count, dtype = options.networks, getattr(torch, options.dtype)
    print(f"{count} networks, {options.dtype}; ms forward and backward")
    print(f"{'':>44} {'torch':>8} {'ours':>8} {'ratio':>7}")
    for name, ours_of, theirs_of in layer_pairs(count, dtype):
        theirs, mine = (replayed(way) for way in (theirs_of, ours_of))
        print(f"{name:>44} {theirs:>8.2f} {mine:>8.2f} {theirs / mine:>6.1f}x", flush=True)


Pass = Callable[[], object]


def layer_pairs(count: int, dtype: torch.dtype) -> Iterator[tuple[str, Pass, Pass]]:
    """Yield the name of a layer, and our pass and torch's through it."""
    from recombine.lab.nets.layers.convolution_kernels import rectified_convolution
    from recombine.lab.nets.layers.pooling_kernels import normalised_pool
    from recombine.lab.nets.layers.residual_kernels import add_frame, normalised_convolution

    def drawn(*shape: int, wanted: bool = True) -> Tensor:
        return torch.randn(shape, device="cuda").to(dtype).requires_grad_(wanted)

    def slopes(results: Tensor | tuple[Tensor, ...], leaves: list[Tensor]) -> object:
        some = [result for result in (results if isinstance(results, tuple) else (results,)) if result.requires_grad]
        return torch.autograd.grad(some, [leaf for leaf in leaves if leaf.requires_grad], [one * 0.5 for one in some])

    def normalised(images: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
        return functional.batch_norm(images, None, None, gain.flatten(), shift.flatten(), training=True)

    for (channels, out), (high, wide), side, batch in (
        ((2, 32), (28, 28), 5, 128),
        ((32, 32), (24, 24), 5, 128),
        ((32, 64), (20, 20), 5, 128),
        ((64, 64), (16, 16), 5, 128),
        ((1, 32), (28, 56), 3, 64),
        ((32, 64), (13, 27), 3, 64),
    ):
        weight, bias = drawn(count, out, channels, side, side), drawn(count, out)
        gain, shift = (drawn(count, out).detach().float().requires_grad_() for _ in range(2))
        last = drawn(count, batch, high, wide, channels, wanted=channels > 2)
        beside = last.detach().permute(1, 0, 4, 2, 3).flatten(1, 2).contiguous().requires_grad_(channels > 2)

        def mine(last: Tensor = last, weight: Tensor = weight, bias: Tensor = bias) -> object:
            return slopes(rectified_convolution(last, weight.float(), bias), [last, weight, bias])

        def theirs(
            beside: Tensor = beside,
            weight: Tensor = weight,
            bias: Tensor = bias,
            gain: Tensor = gain,
            shift: Tensor = shift,
        ) -> object:
            images = normalised(torch.relu(convolve(beside, weight, bias)), gain, shift)
            return slopes(images, [beside, weight, bias, gain, shift])

        yield f"convolve, ReLU, normalise {channels}->{out} {high}x{wide} k{side}", mine, theirs
    for out, high, wide, batch in ((64, 12, 12, 128), (32, 26, 54, 64)):
        last, gain, shift = drawn(count, batch, high, wide, out), drawn(count, out), drawn(count, out)
        beside = last.detach().permute(1, 0, 4, 2, 3).flatten(1, 2).contiguous().requires_grad_()

        def pool(last: Tensor = last, gain: Tensor = gain, shift: Tensor = shift) -> object:
            return slopes(normalised_pool(last, gain, shift, 2), [last, gain, shift])

        def their_pool(beside: Tensor = beside, gain: Tensor = gain, shift: Tensor = shift) -> object:
            scaled = torch.addcmul(shift.view(1, -1, 1, 1), beside, gain.view(1, -1, 1, 1))
            return slopes(functional.max_pool2d(scaled, 2), [beside, gain, shift])

        yield f"scale, pool {out} {high}x{wide}", pool, their_pool
    for channels, out, wide, stride in (
        (16, 16, 32, 1),
        (16, 32, 32, 2),
        (32, 32, 16, 1),
        (64, 64, 8, 1),
        (128, 128, 4, 1),
    ):
        weight, images = drawn(count, out, channels, 3, 3), drawn(count, 128, channels, wide, wide, wanted=False)
        gain, shift = (drawn(count, out).detach().float().requires_grad_() for _ in range(2))
        framed = add_frame(images).contiguous().requires_grad_()
        beside = images.transpose(0, 1).flatten(1, 2).contiguous().requires_grad_()

        def block(
            framed: Tensor = framed,
            weight: Tensor = weight,
            gain: Tensor = gain,
            shift: Tensor = shift,
            stride: int = stride,
        ) -> object:
            result, *_ = normalised_convolution(framed, weight, gain, shift, stride=stride)
            return slopes(result, [framed, weight, gain, shift])

        def their_block(
            beside: Tensor = beside,
            weight: Tensor = weight,
            gain: Tensor = gain,
            shift: Tensor = shift,
            stride: int = stride,
        ) -> object:
            result = torch.relu(normalised(convolve(beside, weight, None, stride, 1), gain, shift))
            return slopes(result, [beside, weight, gain, shift])

        yield f"convolve, normalise, ReLU {channels}->{out} {wide}x{wide} k3 /{stride}", block, their_block


def replayed(way: Pass) -> float:
    """Return the milliseconds of one call, replayed from a CUDA graph."""

    def step(_: Tensor | None) -> None:
        way()

    run = ReplayedStep(step, lambda: [])
    run()
    start = clock("cuda")
    for _ in range(10):
        run()
    return (clock("cuda") - start) * 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--network", choices=list(NETWORKS), default="small")
    parser.add_argument("--dtype", choices=list(ARITHMETIC), default="float32")
    parser.add_argument("--networks", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--skip", nargs="*", default=[], help="rows to leave out, by name")
    parser.add_argument("--kernels", action="store_true", help="each of our kernels beside torch's layers (a GPU)")
    options = parser.parse_args()
    options.networks = options.networks or (64 if options.device == "cuda" else 4)
    options.steps = options.steps or (20 if options.device == "cuda" else 4)
    (kernels if options.kernels else networks)(options)


if __name__ == "__main__":
    main()
