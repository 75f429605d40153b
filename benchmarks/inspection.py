"""How long a full inspection of one model takes, next to a straightforward loop over cells for the same numbers.

Usage: python benchmarks/inspection.py [--side 28] [--channels 64] [--skip-loop]

The model is a decoder of a 28 x 28 picture: a code, layers of 64 channels on 7 x 7, 14 x 14 and (three times) 28 x 28
pixels, and the picture. The loop computes the metric tensor, analysis of variance and pasting of ONE such layer.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt

import recombine
from recombine.lab.worlds.rendered.bumps import BumpWorld, Hole

Array = npt.NDArray[np.floating]


def layers(world: BumpWorld, channels: int) -> dict[str, Array]:
    """Activations of a made-up decoder: random maps of the code, then the true images."""
    rng = np.random.default_rng(0)
    side, grid = world.side, world.grid()
    codes = grid.codes.reshape(side, side, -1).astype(np.float32)
    made: dict[str, Array] = {"code": codes}
    for place, pixels in enumerate((side // 4, side // 2, side, side, side), start=1):
        weights = rng.standard_normal((codes.shape[-1], channels * pixels**2)).astype(np.float32)
        made[f"layer {place}"] = np.maximum(codes @ weights, 0)
    made["output"] = grid.images.reshape(side, side, -1).astype(np.float32)
    return made


def by_loop(values: Array, seen: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    """Volume ratio, additive share and pasting of one layer, cell by cell."""
    side = len(values)
    volume = np.zeros((side, side))
    total, main, pasted = 0.0, 0.0, []
    mean = values.mean(axis=(0, 1), dtype=np.float64)
    for x in range(side):
        for y in range(side):
            slopes = []
            for dx, dy in ((1, 0), (0, 1)):
                high = min(x + dx, side - 1), min(y + dy, side - 1)
                low = max(x - dx, 0), max(y - dy, 0)
                slopes.append((values[high] - values[low]).astype(np.float64) / (sum(high) - sum(low)))
            metric = np.array([[one @ other for other in slopes] for one in slopes])
            volume[x, y] = np.sqrt(max(np.linalg.det(metric), 0))
            here = values[x, y].astype(np.float64)
            column, row = values[x].mean(axis=0, dtype=np.float64), values[:, y].mean(axis=0, dtype=np.float64)
            total += ((here - mean) ** 2).sum()
            main += ((column + row - 2 * mean) ** 2).sum()
            if not seen[x, y]:
                mixture = values[x, seen[x]].mean(axis=0, dtype=np.float64) + values[seen[:, y], y].mean(axis=0)
                pasted.append(np.corrcoef(here, mixture)[0, 1])
    return float(volume[~seen].mean() / volume[seen].mean()), main / total, float(np.mean(pasted))


def main() -> None:
    """Time both and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=28)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--skip-loop", action="store_true")
    options = parser.parse_args()
    low = options.side * 6 // 28
    world = BumpWorld(side=options.side, hole=Hole.square(low, options.side - low))
    made = layers(world, options.channels)
    recombine.inspect({"code": made["code"][:2, :2]}, ["x", "y"])  # loads what is loaded once
    start, busy = time.perf_counter(), time.process_time()
    found = recombine.inspect(made, ["x", "y"], seen=world.seen())
    took, spent = time.perf_counter() - start, time.process_time() - busy
    widest = max(values.shape[-1] for values in made.values())
    print(f"all measures of {len(made)} layers ({options.side**2} cells, up to {widest:,} features):")
    print(f"  {took:.2f} s, {spent:.2f} s of processor time (goal: 10 s on two cores)")
    if options.skip_loop:
        return
    start = time.perf_counter()
    ratio, share, pasted = by_loop(made["layer 5"], world.seen())
    print(f"three measures of one such layer by a loop over cells: {time.perf_counter() - start:.2f} s")
    layer = next(layer for layer in found.layers if layer.name == "layer 5")
    print(
        f"  additive share {share:.4f} (inspection {layer.additive:.4f}); volume ratio {ratio:.3f}, pasted {pasted:.3f}"
    )


if __name__ == "__main__":
    main()
