"""Compositional generalization from first principles: how well open directions tell where decoders err."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, rank_correlation, rank_correlations, several
from recombine.tables.table import Table

#: Supports below which an order says little, and unseen cells of a support below which its map does.
MIN_SUPPORTS, MIN_CELLS = 20, 20
#: Draws of supports with replacement, for bounds.
RESAMPLES = 2000


def _supports(rows: Table) -> list[Table]:
    groups = [*rows.by("support").values()]
    if len(groups) < MIN_SUPPORTS:
        raise MissingRowsError(
            f"needs {several(MIN_SUPPORTS, 'support')}; there are {len(groups)}: run with --scale full"
        )
    return groups


def _bounded(draws: FloatArray, value: float) -> Interval:
    low, high = np.quantile(draws, [0.05, 0.95])
    return Interval(100 * value, 100 * float(low), 100 * float(high))


def errors_by_support(rows: Table) -> Measured:
    """Return how theory and the way to seen cells rank supports, in hundredths of a rank correlation with errors."""
    groups = _supports(rows)
    means = {name: np.array([float(group[name].mean()) for group in groups]) for name in ("theory", "way", "error")}
    means["unseen cells"] = np.array([float(len(group)) for group in groups])
    rng, numbers = np.random.default_rng(0), dict[str, Any]()
    drawn = rng.integers(len(groups), size=(RESAMPLES, len(groups)))
    for name, words in (("theory", "open directions"), ("way", "way to a seen cell"), ("unseen cells", "unseen cells")):
        value = rank_correlation(means[name], means["error"])
        draws = rank_correlations(means[name][drawn], means["error"][drawn])
        numbers[f"{words}, hundredths"] = _bounded(draws, value)
    numbers["supports"] = len(groups)
    fitted = float(np.median(rows["error on support"]))
    return Measured(
        numbers, f"errors from {means['error'].min():.2g} to {means['error'].max():.2g}; on supports {fitted:.2g}"
    )


def maps_within_supports(rows: Table) -> Measured:
    """Return how theory and the way to seen cells rank the unseen cells of a support, as means over supports."""
    groups = [group for group in _supports(rows) if len(group) >= MIN_CELLS]
    maps = {
        name: np.array([rank_correlation(group[name], group["error"]) for group in groups])
        for name in ("theory", "way")
    }
    finite = np.isfinite(maps["theory"]) & np.isfinite(maps["way"])
    theory, way = maps["theory"][finite], maps["way"][finite]
    numbers = {
        "open directions, hundredths": Interval.of(100 * theory),
        "way to a seen cell, hundredths": Interval.of(100 * way),
        "open directions less way, hundredths": Interval.of(100 * (theory - way)),
        "supports": int(finite.sum()),
    }
    return Measured(numbers, f"supports with at least {MIN_CELLS} unseen cells")
