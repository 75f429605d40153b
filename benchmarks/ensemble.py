"""Training many networks: the batched trainer beside a loop of PyTorch networks, ``torch.func.vmap`` and JAX.

Same networks, same data, same optimiser, same losses. ``python benchmarks/ensemble.py`` trains E = 256 networks of 20
inputs and one hidden layer on 60 points; ``--hidden 32|1000``, ``--device cpu|cuda``. Each variant runs in a process of
its own, so that its peak memory is its own. Peers are timed on fewer networks and steps (the table says how many) and
scaled up; set-up and first calls are left out of every time. JAX has its rows where it is installed; it is told to
multiply in float32, as PyTorch does. Under the table stands what no program can go below: the step's arithmetic and the
bytes of weights it reads and writes, over the rates of a large product and a large copy on the same device. ConvNets
are in ``benchmarks/convnets.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
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

from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.ensemble.ensemble import Ensemble

#: Networks and steps on which losses are compared.
COMPARED = (4, 20)

VARIANTS = {
    "loop": "(a) loop of nn.Module",
    "vmap": "(b) torch.func.vmap",
    "vmap8": "(b) vmap, chunks of 8",
    "jax": "JAX vmap, scan, jit",
    "jax-map": "JAX lax.map, scan, jit",
    "jax-tf32": "JAX vmap in TF32",
    "by-hand": "ours, not on chip",
    "ours": "ours",
}


class Case:
    """One comparison: architecture, data, loss and optimiser."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.networks, self.device, self.chunk = options.networks, options.device, options.chunk
        generator = torch.Generator().manual_seed(0)
        self.network = MLP(20, (options.hidden,))
        self.inputs = torch.randn(60, 20, generator=generator)
        self.targets, self.rate = torch.randn(60, generator=generator), 1e-3
        # Initial scales over three decades.
        self.scales = torch.logspace(-3, 0, self.networks).tolist()

    def optimiser(self, parameters: Any) -> torch.optim.Optimizer:
        """Return torch's optimiser for the peers."""
        return torch.optim.SGD(parameters, lr=self.rate)

    def module(self, place: int) -> nn.Module:
        """Build one network from torch's own layers, with the weights that the trainer starts from."""
        module = _mlp(self.network).to(self.device, self.inputs.dtype)
        drawn = self.network.initial(place, self.scales[place])
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), drawn.values(), strict=True):
                parameter.copy_(value)
        return module

    def cost(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean loss of one network."""
        return (outputs.squeeze(-1) - targets).square().mean()


def _mlp(network: MLP) -> nn.Module:
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(network.widths):
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


def with_jax(
    case: Case, networks: int, steps: int, mapped: bool = False, precision: str = "float32"
) -> tuple[float, list[float]]:
    """Train by gradient descent in one compiled scan: networks side by side, or in turn, which keeps to the cache."""
    import jax
    from jax import numpy as jnp

    drawn = [case.network.initial(place, case.scales[place]) for place in range(networks)]
    start = {name: jnp.asarray(torch.stack([one[name] for one in drawn]).float().numpy()) for name in drawn[0]}
    # Weights that lie this way round are three to five times as fast for JAX on a GPU.
    start["weight0"] = start["weight0"].swapaxes(1, 2)
    x, y = jnp.asarray(case.inputs.numpy()), jnp.asarray(case.targets.numpy())

    def cost(network: Any) -> Any:
        hidden = jax.nn.relu(x @ network["weight0"] + network["bias0"])
        return jnp.mean((hidden @ network["weight1"][0] + network["bias1"] - y) ** 2)

    def train(network: Any, gradient: Any) -> Any:
        def step(now: Any, _: Any) -> tuple[Any, None]:
            return jax.tree.map(lambda value, slope: value - case.rate * slope, now, gradient(now)), None

        return jax.lax.scan(step, network, None, length=steps)[0]

    def together(networks: Any) -> Any:
        if mapped:
            return jax.lax.map(lambda network: train(network, jax.grad(cost)), networks)
        return train(networks, jax.vmap(jax.grad(cost)))

    with jax.default_matmul_precision(precision):
        run = jax.jit(together)
        jax.block_until_ready(run(start))
        before = time.perf_counter()
        end = jax.block_until_ready(run(start))
        return time.perf_counter() - before, jax.vmap(cost)(end).tolist()


def ours(case: Case, networks: int, steps: int, on_chip: bool | None = None) -> tuple[float, list[float]]:
    scales = case.scales[:networks]
    ensemble = Ensemble(case.network, range(networks), scales, device=case.device, chunk=case.chunk, on_chip=on_chip)
    inputs, targets = case.inputs.to(case.device), case.targets.to(case.device)
    ensemble.train(inputs, targets, steps=5, rate=case.rate)
    # What is left out is the set-up; on a GPU also as many steps again, in which its clock wakes up.
    before = steps if case.device == "cuda" else 0
    start = clock(case.device)
    ensemble.train(inputs, targets, steps=before, rate=case.rate)
    middle = clock(case.device)
    trained = ensemble.train(inputs, targets, steps=before + steps, record=[steps], rate=case.rate)
    return clock(case.device) - middle - (middle - start), trained.history[0].tolist()


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
        "jax": with_jax,
        "jax-map": lambda case, networks, steps: with_jax(case, networks, steps, mapped=True),
        "jax-tf32": lambda case, networks, steps: with_jax(case, networks, steps, precision="tensorfloat32"),
        "by-hand": lambda case, networks, steps: ours(case, networks, steps, on_chip=False),
        "ours": ours,
    }
    case = Case(options)
    networks, steps = size_of(options)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    seconds, _ = routes[options.variant](case, networks, steps)
    if options.device == "cuda":
        memory = torch.cuda.max_memory_allocated() / 1e6
    else:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before
    few = min(COMPARED[0], options.networks)
    _, losses = routes[options.variant](case, few, COMPARED[1])
    per_thousand = seconds / steps * 1000 * options.networks / networks
    return {"networks": networks, "steps": steps, "seconds": per_thousand, "memory": memory, "losses": losses[:few]}


def size_of(options: argparse.Namespace) -> tuple[int, int]:
    """Return how many networks and steps a variant is timed on."""
    quick = 10 if options.quick else 1
    if options.device == "cuda" and options.variant in ("jax", "jax-tf32", "by-hand", "ours"):
        # They are so fast that what differs between two set-ups, and a clock that wakes up, would show.
        return options.networks, max(3, (300 if options.hidden < 200 else 20) * options.steps // quick)
    if options.variant == "ours":
        return options.networks, max(3, options.steps // quick)
    if options.variant == "loop":
        return 8, max(20, options.steps // (5 * quick))
    return options.networks, max(10, options.steps // (20 * quick))


def beside_each_other(options: argparse.Namespace) -> None:
    what = f"20-{options.hidden}-1 on 60 points"
    print(f"{options.networks} networks, {what}, {options.device}, {torch.get_num_threads()} threads\n")
    print(f"{'variant':>24} {'timed on':>12} {'s per 1000 steps':>17}", end="")
    print(f" {'ratio to (a)':>13} {'MB':>6} {'loss difference':>16}")
    first: dict[str, Any] | None = None
    for variant in variants_for(options):
        found = in_its_own_process(variant)
        if found is None:
            print(f"{VARIANTS[variant]:>24}   failed: see the message above")
            continue
        first = first or found
        gap = max(abs(a - b) / max(1, abs(b)) for a, b in zip(found["losses"], first["losses"], strict=True))
        size = f"{found['networks']} x {found['steps']}"
        print(f"{VARIANTS[variant]:>24} {size:>12} {found['seconds']:>17.4g}", end="")
        print(f" {first['seconds'] / found['seconds']:>12.1f}x {found['memory']:>6.0f} {gap:>16.1e}", flush=True)
    print_floor(options)


def variants_for(options: argparse.Namespace) -> list[str]:
    """Return the variants that say something about this case and can run here."""
    gpu = options.device == "cuda"
    wanted = {"jax-map": not gpu, "jax-tf32": gpu, "by-hand": gpu}
    names = [variant for variant in VARIANTS if wanted.get(variant, True)]
    if importlib.util.find_spec("jax") is None:
        print("JAX is not installed, so its rows are left out", flush=True)
        names = [name for name in names if "jax" not in name]
    return names


def print_floor(options: argparse.Namespace) -> None:
    """Print the time below which no program can go, from rates measured here and now."""
    inputs, samples, width = 20, 60, options.hidden
    # Two products with the inputs, forwards and backwards, of two operations per element.
    operations = 4 * samples * (inputs + 1) * width * options.networks
    held = 4 * 2 * ((inputs + 2) * width + 1) * options.networks
    rate, bandwidth = measured_rates(options.device)
    arithmetic, memory = operations / rate, held / bandwidth
    print(
        f"\nfloor per 1000 steps: {1000 * arithmetic:.3g} s of arithmetic ({operations / 1e6:.0f} million float32 "
        f"operations a step at {rate / 1e9:,.0f} billion per second, a large product's) and, for weights that do not "
        f"stay on chip, {1000 * memory:.3g} s of memory ({held / 1e6:.3g} MB a step at {bandwidth / 1e9:,.0f} GB/s, "
        "a large copy's)"
    )


def measured_rates(device: str) -> tuple[float, float]:
    """Return float32 operations per second of a large product, and bytes per second of a large copy."""
    size = 8192 if device == "cuda" else 1536
    one = torch.randn(size, size, device=device)
    many = torch.randn(2**28 if device == "cuda" else 2**25, device=device)
    place = torch.empty_like(many)
    product = min(timed(lambda: torch.mm(one, one), 3, device) / 3 for _ in range(3))
    copy = min(timed(lambda: place.copy_(many), 3, device) / 3 for _ in range(3))
    return 2 * size**3 / product, 2 * 4 * many.numel() / copy


def in_its_own_process(variant: str) -> dict[str, Any] | None:
    command = [sys.executable, __file__, *sys.argv[1:], "--variant", variant]
    platform = {"JAX_PLATFORMS": "cuda" if "cuda" in sys.argv else "cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=os.environ | platform)
    if done.returncode:
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--networks", type=int, default=256)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--chunk", type=int, help="networks in one of our chunks")
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    parser.add_argument("--variant", choices=list(VARIANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.variant:
        print(json.dumps(run_variant(options)))
    else:
        beside_each_other(options)


if __name__ == "__main__":
    main()
