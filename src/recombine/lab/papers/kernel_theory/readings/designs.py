"""Kernel theory: how well theory and leverage order training sets by the errors of trained networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, several
from recombine.tables.table import Table

#: Designs below which an order says little.
MIN_DESIGNS, MIN_SEEDS = 20, 3
#: Draws of designs with replacement, for bounds on correlations.
RESAMPLES = 2000


def _by_design(rows: Table) -> dict[str, FloatArray]:
    """Return theory, leverage and the mean error of networks by design."""
    groups = rows.by("design")
    if len(groups) < MIN_DESIGNS or len(rows.by("seed")) < MIN_SEEDS:
        raise MissingRowsError(
            f"needs {MIN_DESIGNS} designs with {several(MIN_SEEDS, 'seed')} each: run with --scale full"
        )
    return {
        name: np.array([float(group[name].mean()) for group in groups.values()])
        for name in ("theory", "leverage", "error")
    }


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Return Spearman's correlation.

    Examples
    --------
    >>> round(rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 9.0, 100.0])), 6)
    1.0
    """
    from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic)


def _resampled(values: dict[str, FloatArray], names: tuple[str, ...]) -> list[FloatArray]:
    """Return rank correlations with networks' errors when designs are drawn again."""
    rng, count = np.random.default_rng(0), len(values["error"])
    drawn = [rng.integers(count, size=count) for _ in range(RESAMPLES)]
    return [np.array([rank_correlation(values[name][d], values["error"][d]) for d in drawn]) for name in names]


def _bounded(value: float, draws: FloatArray) -> Interval:
    low, high = np.quantile(draws, [0.05, 0.95])
    return Interval(100 * value, 100 * float(low), 100 * float(high))


def order_of_designs(rows: Table) -> Measured:
    """Return how theory and leverage rank designs, in hundredths of a rank correlation with networks' errors."""
    values = _by_design(rows)
    theory, leverage = (rank_correlation(values[name], values["error"]) for name in ("theory", "leverage"))
    of_theory, of_leverage = _resampled(values, ("theory", "leverage"))
    numbers: dict[str, Any] = {
        "theory, hundredths": _bounded(theory, of_theory),
        "leverage, hundredths": _bounded(leverage, of_leverage),
        "theory less leverage, hundredths": _bounded(theory - leverage, of_theory - of_leverage),
        "designs": len(values["error"]),
    }
    return Measured(
        numbers, f"{several(len(rows.by('seed')), 'network')} for each design; bounds by drawing designs again"
    )


def choice_by_theory(rows: Table) -> Measured:
    """Return the error of networks on the five designs that theory and leverage call best, over that of the mean one."""
    values = _by_design(rows)
    mean = float(values["error"].mean())
    numbers: dict[str, Any] = {
        f"best five by {name}": float(values["error"][np.argsort(values[name])[:5]].mean()) / mean
        for name in ("theory", "leverage")
    }
    numbers["best five by networks themselves"] = float(np.sort(values["error"])[:5].mean()) / mean
    spread = f"errors from {values['error'].min():.2f} to {values['error'].max():.2f}, mean {mean:.2f}"
    return Measured(numbers, f"{spread}; training loss {float(np.median(rows['train loss'])):.2g} in the median")
