"""Sprites and their decoders: drawing; training steps; seeds batched beside one by one.

Same images, same optimiser. ``python benchmarks/decoder.py`` runs a small case on a CPU;
``--device cuda`` the paper's batch of 512 in bfloat16, with steps replayed from CUDA graphs for all variants. The
first steps (recording, choosing algorithms) are left out: two lengths are timed and their difference counts.

Beside a step's time stands its floor: the arithmetic it cannot do without over the rate of this device's matrix
product, and the bytes it cannot do without over the rate of its copies, both measured here. The larger of the two is
the least a step can take that hands maps from layer to layer through memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch

from recombine.lab.nets.decoders.components import Decoder
from recombine.lab.nets.decoders.composed import (
    ComposedDecoder,
    compositional_decoder,
    monolithic_decoder,
    rgba_decoder,
)
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.optimisers import AdamW
from recombine.lab.worlds.rendered import sprites


def seconds(model: ComposedDecoder, seeds: Sequence[int], options: argparse.Namespace, chunk: int) -> float:
    """Return the seconds of one step of all seeds, ``chunk`` of them at a time."""
    units = np.random.default_rng(0).random((4 * options.batch, 2, 5))
    inputs = sprites.sprite_latents(units).reshape(len(units), -1)
    images = torch.tensor(sprites.render_sprites(units), device=options.device).flatten(1).float() / 255
    dtype = "bfloat16" if options.device.startswith("cuda") else "float32"
    ensemble = Ensemble(model, list(seeds), dtype=dtype, device=options.device, chunk=chunk)

    def timed(steps: int) -> float:
        start = time.perf_counter()
        ensemble.train(inputs, images, rate=1e-3, steps=steps, batch=options.batch, optimiser=AdamW(weight_decay=1e-5))
        if options.device.startswith("cuda"):
            torch.cuda.synchronize()
        return time.perf_counter() - start

    timed(2)
    # The better of two rounds: recording a graph takes a while that varies.
    few, many = (min(timed(steps) for _ in range(2)) for steps in (options.steps, 3 * options.steps))
    return float(many - few) / (2 * options.steps)


def operations(model: ComposedDecoder, batch: int) -> float:
    """Return the floating-point operations of one step of one network: products forward once and backward twice.

    Channels are mixed before upsampling, which costs a quarter of mixing them after; spreading a mixture takes four
    multiplications per number along either axis, and as many backward.
    """
    part = model.component
    assert isinstance(part, Decoder)
    products = sum(before * after for before, after in pairwise(part.widths))
    spread = 0
    for number, (before, after) in enumerate(pairwise(part.maps)):
        pixels = (part.start << number) ** 2
        products += 4 * before * after * pixels
        spread += 4 * (4 * pixels + 4 * pixels) * after
    return 2.0 * batch * model.slots * (3 * products + 2 * spread)


def traffic(model: ComposedDecoder, batch: int, item: int) -> float:
    """Return the bytes of one step of one network with numbers of ``item`` bytes between layers.

    A map is written and read forward, and read again backward, where its slope is written and read. A layer is
    written and read with the target, its slope written and read. Adam reads gradient, two means and parameters, and
    writes the last three and what passes see.
    """
    part = model.component
    assert isinstance(part, Decoder)
    maps = sum(part.widths) + sum(
        channels * (part.start << number) ** 2 for number, channels in enumerate(part.maps[:-1]) if number
    )
    layer = part.channels * part.side**2
    return batch * (model.slots * item * (5 * maps + 4 * layer) + 4 * model.outputs) + model.size * (7 * 4 + 2 * item)


def rates(device: str, dtype: torch.dtype) -> tuple[float, float]:
    """Return this device's operations per second in a large product, and bytes per second in a large copy."""
    size, long = (8192, 2**30) if device.startswith("cuda") else (1024, 2**26)
    matrix = torch.randn(size, size, device=device).to(dtype)
    numbers = torch.rand(long // 4, device=device)
    there = torch.empty_like(numbers)
    product, copy = (_best(call, device) for call in (lambda: matrix @ matrix, lambda: there.copy_(numbers)))
    return 2 * size**3 / product, 2 * long / copy


def _best(call: Callable[[], object], device: str) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def print_floor(name: str, model: ComposedDecoder, networks: int, took: float, options: argparse.Namespace) -> None:
    """Print what a step that took so long cannot do without."""
    speed, width = options.rates
    arithmetic = networks * operations(model, options.batch) / speed
    memory = networks * traffic(model, options.batch, 2 if options.device.startswith("cuda") else 4) / width
    floor = max(arithmetic, memory)
    print(
        f"{name}: {1e3 * took:.2f} ms; floor {1e3 * floor:.3f} ms (arithmetic {1e3 * arithmetic:.3f}, memory "
        f"{1e3 * memory:.3f}), factor {took / floor:.1f}; 392,000 steps {392_000 * took / 60:.1f} min"
    )


def rendering(device: str, images: int = 100_000) -> float:
    """Return the seconds it takes to draw images of two sprites: the second of two rounds."""
    units = np.random.default_rng(0).random((images, 2, 5))
    placed = torch.tensor(units, device=device) if device.startswith("cuda") else units
    elapsed = 0.0
    for _ in range(2 if device.startswith("cuda") else 1):
        start = time.perf_counter()
        sprites.render_sprites(placed)
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        elapsed = time.perf_counter() - start
    return elapsed


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    large = options.device.startswith("cuda")
    options.batch = options.batch or (512 if large else 16)
    options.steps = options.steps or (500 if large else 2)
    seeds = range(options.seeds)
    print(f"100,000 images of two sprites: {rendering(options.device):.2f} s")
    options.rates = rates(options.device, torch.bfloat16 if large else torch.float32)
    print(f"this device: {options.rates[0] / 1e12:.3g} TFLOP/s, {options.rates[1] / 1e9:.3g} GB/s")
    single = seconds(compositional_decoder(Decoder()), seeds[:1], options, 1)
    batched = seconds(compositional_decoder(Decoder()), seeds, options, len(seeds))
    print(f"step of {options.batch}, one network: {1e3 * single:.2f} ms")
    print(f"{len(seeds)} networks: batched {1e3 * batched:.2f} ms, one by one {1e3 * len(seeds) * single:.2f} ms")
    print(f"ratio {len(seeds) * single / batched:.2f}")
    print_floor("compositional", compositional_decoder(), 1, single, options)
    print_floor(f"compositional, {len(seeds)} networks", compositional_decoder(), len(seeds), batched, options)
    for name, model in (("monolithic", monolithic_decoder()), ("rgba", rgba_decoder())):
        print_floor(name, model, 1, seconds(model, seeds[:1], options, 1), options)


if __name__ == "__main__":
    main()
