"""Training many networks: the batched trainer beside a loop of single PyTorch networks and ``torch.func.vmap``.

Same networks, same data, same optimiser, same losses. ``python benchmarks/ensemble.py`` trains E = 256 networks of 20
inputs and one hidden layer on 60 points; ``--hidden 32|1000``, ``--conv small|paper``, ``--device cpu|cuda``. Each
variant runs in a process of its own, so that its peak memory is its own. Peers are timed on fewer networks and steps
(the table says how many) and scaled up; set-up and first calls are left out of every time. Losses are compared in
float32, those of ConvNets in float64 after three steps of Adam.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional

from recombine.nets.architecture import Architecture
from recombine.nets.architectures.convnet import ConvNet
from recombine.nets.architectures.mlp import MLP
from recombine.nets.ensemble.ensemble import Ensemble
from recombine.nets.ensemble.optimisers import SGD, Adam

#: Networks and steps on which losses are compared.
COMPARED = (4, 20)

VARIANTS = {
    "loop": "(a) loop of nn.Module",
    "vmap": "(b) torch.func.vmap",
    "vmap8": "(b) vmap, chunks of 8",
    "ours": "ours",
    "ours-loop": "ours, networks in turn",
}


class Case:
    """One comparison: architecture, data, loss and optimiser."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.networks, self.device, self.chunk = options.networks, options.device, options.chunk
        generator = torch.Generator().manual_seed(0)
        if options.conv is None:
            self.network: Architecture = MLP(20, (options.hidden,))
            self.inputs = torch.randn(60, 20, generator=generator)
            self.targets, self.loss, self.rate = torch.randn(60, generator=generator), "mse", 1e-3
        else:
            self.network = (
                ConvNet((1, 28, 56), (32, 64), kernel=3, dense=(64,), outputs=10, pools=(2, 2))
                if options.conv == "small"
                else ConvNet((2, 28, 28), outputs=10)
            )
            count = 64 if options.conv == "small" else 128
            self.inputs = torch.randn(count, *self.network.shape, generator=generator)
            self.targets, self.loss, self.rate = torch.randint(10, (count,), generator=generator), "cross-entropy", 1e-3
        self.adam = options.conv is not None
        # Initial scales over three decades.
        self.scales = torch.logspace(-3, 0, self.networks).tolist() if options.conv is None else [1.0] * self.networks

    def optimiser(self, parameters: Any) -> torch.optim.Optimizer:
        """Return torch's optimiser for the peers."""
        kind = torch.optim.Adam if self.adam else torch.optim.SGD
        return kind(parameters, lr=self.rate)

    def module(self, place: int) -> nn.Module:
        """Build one network from torch's own layers, with the weights that the trainer starts from."""
        module = _mlp(self.network) if isinstance(self.network, MLP) else _convnet(self.network)
        drawn = self.network.initial(place, self.scales[place])
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), drawn.values(), strict=True):
                parameter.copy_(value)
        return module.to(self.device, self.inputs.dtype)

    def cost(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean loss of one network."""
        if self.loss == "mse":
            return (outputs.squeeze(-1) - targets).square().mean()
        return functional.cross_entropy(outputs, targets)


def _mlp(network: MLP) -> nn.Module:
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(network.widths):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _convnet(network: ConvNet) -> nn.Module:
    layers: list[nn.Module] = []
    for (channels, out), pool in zip(pairwise((network.shape[0], *network.channels)), network.pools, strict=True):
        # vmap needs normalisation without running statistics; the loop gets the same.
        norm = nn.BatchNorm2d(out, track_running_stats=False)
        layers += [nn.Conv2d(channels, out, network.kernel), nn.ReLU(), norm, nn.MaxPool2d(pool)]
    layers.append(nn.Flatten())
    for fan_in, fan_out in pairwise((network.flat, *network.dense, network.outputs)):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def loop(case: Case, networks: int, steps: int) -> tuple[float, list[float]]:
    x, y = case.inputs.to(case.device), case.targets.to(case.device)
    seconds, losses = 0.0, []
    for place in range(networks):
        module = case.module(place)
        optimiser = case.optimiser(module.parameters())

        def step(module: nn.Module = module, optimiser: torch.optim.Optimizer = optimiser) -> None:
            optimiser.zero_grad()
            case.cost(module(x), y).backward()
            optimiser.step()

        seconds += timed(step, steps, case.device)
        losses.append(case.cost(module(x), y).item())
    return seconds, losses


def vmapped(case: Case, networks: int, steps: int) -> tuple[float, list[float]]:
    x, y = case.inputs.to(case.device), case.targets.to(case.device)
    modules = [case.module(place) for place in range(networks)]
    template = modules[0]
    parameters, buffers = stack_module_state(modules)

    def cost(values: Any, held: Any) -> Tensor:
        return case.cost(functional_call(template, (values, held), (x,)), y)

    gradients = vmap(grad(cost))
    optimiser = case.optimiser(parameters.values())

    def step() -> None:
        found = gradients(parameters, buffers)
        for name, parameter in parameters.items():
            parameter.grad = found[name].detach()
        optimiser.step()

    seconds = timed(step, steps, case.device)
    with torch.no_grad():
        return seconds, vmap(cost)(parameters, buffers).tolist()


def vmapped_in_chunks(case: Case, networks: int, steps: int) -> tuple[float, list[float]]:
    """Time chunks of 8: each takes all its steps while its activations are in the cache."""
    size = min(8, networks)
    seconds, losses = vmapped(case, size, steps)
    return seconds * networks / size, losses


def ours(case: Case, networks: int, steps: int, stacked: bool = True) -> tuple[float, list[float]]:
    scales = case.scales[:networks]
    dtype = str(case.inputs.dtype).removeprefix("torch.")
    ensemble = Ensemble(
        case.network, range(networks), scales, dtype=dtype, device=case.device, chunk=case.chunk, stacked=stacked
    )
    settings: dict[str, Any] = {
        "rate": case.rate,
        "loss": case.loss,
        "optimiser": Adam() if case.adam else SGD(),
    }
    inputs, targets = case.inputs.to(case.device), case.targets.to(case.device)
    ensemble.train(inputs, targets, steps=5, **settings)
    start = clock(case.device)
    ensemble.train(inputs, targets, steps=0, **settings)
    middle = clock(case.device)
    # The last recorded loss of networks with batch normalisation is that of the step before, so one more is asked for.
    trained = ensemble.train(inputs, targets, steps=steps + case.adam, record=[steps], **settings)
    seconds = clock(case.device) - middle - (middle - start)
    return seconds * steps / (steps + case.adam), trained.history[0].tolist()


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


def run_variant(options: argparse.Namespace) -> dict[str, Any]:
    """Time one variant at its own size, then compute losses of few networks after few steps, to compare."""
    routes: dict[str, Callable[[Case, int, int], tuple[float, list[float]]]] = {
        "loop": loop,
        "vmap": vmapped,
        "vmap8": vmapped_in_chunks,
        "ours": ours,
        "ours-loop": lambda case, networks, steps: ours(case, networks, steps, stacked=False),
    }
    case = Case(options)
    networks, steps = size_of(options)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    seconds, _ = routes[options.variant](case, networks, steps)
    if options.device == "cuda":
        memory = torch.cuda.max_memory_allocated() / 1e6
    else:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before
    if case.adam:
        # Adam divides small gradients by themselves, so rounding shows; in float64 it does not.
        case.inputs = case.inputs.double()
    few, count = min(COMPARED[0], options.networks), 3 if case.adam else COMPARED[1]
    _, losses = routes[options.variant](case, few, count)
    per_thousand = seconds / steps * 1000 * options.networks / networks
    return {"networks": networks, "steps": steps, "seconds": per_thousand, "memory": memory, "losses": losses[:few]}


def size_of(options: argparse.Namespace) -> tuple[int, int]:
    """Return how many networks and steps a variant is timed on."""
    quick = 10 if options.quick else 1
    if options.variant.startswith("ours"):
        return options.networks, max(3, options.steps // quick)
    if options.conv is not None:
        return (min(8, options.networks) if options.variant == "loop" else options.networks), max(3, options.steps // 2)
    if options.variant == "loop":
        return 8, max(20, options.steps // (5 * quick))
    return options.networks, max(10, options.steps // (20 * quick))


def beside_each_other(options: argparse.Namespace) -> None:
    what = f"20-{options.hidden}-1 on 60 points" if options.conv is None else f"{options.conv} ConvNets"
    print(f"{options.networks} networks, {what}, {options.device}, {torch.get_num_threads()} threads\n")
    print(f"{'variant':>24} {'timed on':>12} {'s per 1000 steps':>17}", end="")
    print(f" {'ratio to (a)':>13} {'MB':>6} {'loss difference':>16}")
    first: dict[str, Any] | None = None
    for variant in VARIANTS:
        if (variant == "vmap8" and options.conv) or (variant == "ours-loop" and not options.conv):
            continue
        found = in_its_own_process(variant)
        if found is None:
            print(f"{VARIANTS[variant]:>24}   failed: see the message above")
            continue
        first = first or found
        gap = max(abs(a - b) / max(1, abs(b)) for a, b in zip(found["losses"], first["losses"], strict=True))
        size = f"{found['networks']} x {found['steps']}"
        print(f"{VARIANTS[variant]:>24} {size:>12} {found['seconds']:>17.2f}", end="")
        print(f" {first['seconds'] / found['seconds']:>12.1f}x {found['memory']:>6.0f} {gap:>16.1e}", flush=True)


def in_its_own_process(variant: str) -> dict[str, Any] | None:
    command = [sys.executable, __file__, *sys.argv[1:], "--variant", variant]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--conv", choices=["small", "paper"])
    parser.add_argument("--networks", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--chunk", type=int, help="networks in one of our chunks")
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    parser.add_argument("--variant", choices=list(VARIANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    gpu = options.device == "cuda"
    options.networks = options.networks or (256 if options.conv is None else 64 if gpu else 4)
    options.steps = options.steps or (1000 if options.conv is None else 50 if gpu else 6)
    if options.variant:
        print(json.dumps(run_variant(options)))
    else:
        beside_each_other(options)


if __name__ == "__main__":
    main()
