"""First principles: what is read off checks that need no training, of targets and first weights."""

from __future__ import annotations

from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require
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
