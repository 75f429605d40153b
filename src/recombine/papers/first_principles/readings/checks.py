"""First principles: what is read off checks that need no training, of renderer, targets, decoder and first weights."""

from __future__ import annotations

from recombine.papers.measured import Measured, MissingRowsError
from recombine.papers.seeds import require
from recombine.tables.table import Table


def start_opacities(rows: Table) -> Measured:
    """Return how opaque RGBa models start, and for how many a black start and no gradient do not go together."""
    clamped, soft = (rows.only(opacity=name) for name in ("clamp", "sigmoid"))
    black, silent = clamped["opaque"] == 0, clamped["gradient"] == 0
    numbers = {
        "share opaque by seed": [clamped.only(seed=seed)["opaque"][0] for seed in range(5)],
        "black, but with a gradient": int((black & ~silent).sum()),
        "without gradient, but not black": int((silent & ~black).sum()),
        "smallest gradient with a sigmoid": soft["gradient"].min(),
    }
    detail = f"{len(clamped)} seeds, {black.sum()} start black; the first gradient is exactly 0 for {silent.sum()}"
    return Measured(numbers, detail)


def target_variances(rows: Table) -> Measured:
    """Return the mean variance of images by rule of composition, on all combinations."""
    every, planes = (
        [float(require(rows, support=name, targets=rule)["variance"][0]) for rule in ("hard", "soft")]
        for name in ("random", "orthogonal")
    )
    detail = f"on planes {planes[0]:.4f} and {planes[1]:.4f}; released scores imply 0.0252 and, on planes, 0.0162"
    return Measured({"variance, hard": every[0], "variance, soft": every[1]}, detail)


def renderer_differences(rows: Table) -> Measured:
    """Return how many images differ from Pillow's."""
    faster = float(rows["one by one"].sum() / rows["seconds"].sum())
    detail = f"{rows['images'].sum():,} images; {faster:.0f} x faster than one by one, on one core"
    return Measured({"images that differ": int(rows["differ"].sum())}, detail)


def output_differences(rows: Table) -> Measured:
    """Return the largest difference of any output from torch's layers."""
    detail = f"float32, {len(rows)} sets of weights; outputs reach {rows['largest'].max():.2f}; 2e-07 was expected"
    return Measured({"largest difference": rows["difference"].max()}, detail)


def pass_speeds(rows: Table) -> Measured:
    """Return how much faster a forward and backward pass is on a GPU."""
    fast = rows.only(device="cuda")
    if not len(fast):
        ratio = float(rows["ratio"].mean())
        raise MissingRowsError(f"needs a GPU; on a CPU a forward and backward pass is {ratio:.1f} x faster")
    others = f"{fast['networks'][0]} networks at once are {fast['batched ratio'].mean():.2f} x faster than in turn"
    return Measured({"faster": fast["ratio"].mean()}, f"batch of {fast['batch'][0]}; {others}; 5.6 x was expected")
