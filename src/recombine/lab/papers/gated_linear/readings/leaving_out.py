"""Gated linear networks of one layer: how much larger a bound by leaving one out is than the error it bounds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recombine.lab.papers.measured import Measured, stands_in
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table

#: What tells one shape from another.
SHAPE = ("bits", "thresholds", "samples")


def bounds_over_errors(rows: Table) -> Measured:
    """Return the share of support vectors over the error, by shape, and both by number of hyperplanes."""
    finite = require(rows.where(np.isfinite(rows["error"])))
    shapes = {
        name: (float(shape["support"].mean()), float(shape["error"].mean()))
        for name, shape in sorted(finite.by(*SHAPE).items())
    }
    ratios = {name: support / error for name, (support, error) in shapes.items()}
    bits, thresholds, samples = min(ratios, key=ratios.__getitem__)
    numbers = {
        "shapes": len(shapes),
        "shapes without a margin": len(rows.by(*SHAPE)) - len(shapes),
        "least share over error": min(ratios.values()),
        "median of shapes": f"{np.median([*ratios.values()]):.1f} x",
        "support vectors": _span(share for share, _ in shapes.values()),
        "errors": _span(error for _, error in shapes.values()),
    }
    detail = f"{rows['images'][0]}, least with {bits} hyperplanes, {thresholds} thresholds, {samples} samples"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def _span(shares: Iterable[float]) -> str:
    low, *_, high = sorted(shares)
    return f"{low:.0%} to {high:.0%}"
