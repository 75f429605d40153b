"""Sprites and their decoders: drawing; training steps beside torch's upsampling; seeds batched beside one by one.

Same weights, same images, same optimiser. ``python benchmarks/decoder.py`` runs a small case on a CPU;
``--device cuda`` the paper's batch of 512 in bfloat16, with steps replayed from CUDA graphs for all variants. The
first steps (recording, choosing algorithms) are left out: two lengths are timed and their difference counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import torch

from recombine.nets.architecture import stack_networks
from recombine.nets.decoders.components import Decoder, InterpolatedDecoder
from recombine.nets.decoders.composed import ComposedDecoder, compositional_decoder
from recombine.nets.ensemble.ensemble import Ensemble
from recombine.nets.ensemble.optimisers import AdamW
from recombine.worlds.rendered import sprites


def difference(device: str) -> float:
    """Return the largest difference between the outputs of both decoders in float32."""
    inputs = torch.rand(1, 16, 10, generator=torch.Generator().manual_seed(0)).to(device)
    parameters = stack_networks([compositional_decoder().initial(0, 1.0)])
    placed = {name: tensor.float().to(device) for name, tensor in parameters.items()}
    # Convolutions of a GPU round to ten bits unless told otherwise, which would be all the difference there is.
    with torch.no_grad(), torch.backends.cudnn.flags(allow_tf32=False):
        ours, theirs = (
            compositional_decoder(kind()).forward(placed, {}, inputs, False) for kind in (Decoder, InterpolatedDecoder)
        )
    return float((ours - theirs).abs().max())


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
    few, many = (timed(steps) for steps in (options.steps, 3 * options.steps))
    return (many - few) / (2 * options.steps)


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
    options.steps = options.steps or (100 if large else 2)
    seeds = range(options.seeds)
    print(f"100,000 images of two sprites: {rendering(options.device):.2f} s")
    print(f"outputs differ by {difference(options.device):.1e}")
    ours = seconds(compositional_decoder(Decoder()), seeds[:1], options, 1)
    theirs = seconds(compositional_decoder(InterpolatedDecoder()), seeds[:1], options, 1)
    batched = seconds(compositional_decoder(Decoder()), seeds, options, len(seeds))
    alone = seconds(compositional_decoder(Decoder()), seeds, options, 1)
    print(f"step of {options.batch}, one network: ours {1e3 * ours:.2f} ms, built-in upsampling {1e3 * theirs:.2f} ms")
    print(f"ratio {theirs / ours:.2f}")
    print(f"{len(seeds)} networks: batched {1e3 * batched:.2f} ms, one by one {1e3 * alone:.2f} ms")
    print(f"ratio {alone / batched:.2f}")


if __name__ == "__main__":
    main()
