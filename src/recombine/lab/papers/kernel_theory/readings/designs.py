"""Kernel theory: how well theory and leverage order training sets by the errors of trained networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.kernel_theory.experiments.designs import drawn_task
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, rank_correlation, rank_correlations, several
from recombine.tables.table import Table

#: Designs below which an order says little.
MIN_DESIGNS, MIN_SEEDS = 20, 3
#: Designs that are chosen, and the ridge penalty of effects of items.
BEST_DESIGNS, RIDGE_OF_ITEMS = 5, 1.0
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


def _resampled(values: dict[str, FloatArray], names: tuple[str, ...]) -> list[FloatArray]:
    """Return rank correlations with networks' errors when designs are drawn again."""
    rng, count = np.random.default_rng(0), len(values["error"])
    drawn = rng.integers(count, size=(RESAMPLES, count))
    return [rank_correlations(values[name][drawn], values["error"][drawn]) for name in names]


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
    return Measured(numbers, _said(rows))


def _said(rows: Table) -> str:
    return f"{several(len(rows.by('seed')), 'network')} for each design; bounds by drawing designs again"


def simple_orders(rows: Table) -> Measured:
    """Return how ridge regression of effects that add, and the error of the seen mean, rank designs, beside theory."""
    values = _by_design(rows)
    values |= _simple_errors([int(number) for number in rows.by("design")])
    names = ("ridge", "mean", "theory")
    plain = {name: rank_correlation(values[name], values["error"]) for name in names}
    draws = dict(zip(names, _resampled(values, names), strict=True))
    numbers: dict[str, Any] = {
        "ridge, hundredths": _bounded(plain["ridge"], draws["ridge"]),
        "error of the seen mean, hundredths": _bounded(plain["mean"], draws["mean"]),
        "theory less ridge, hundredths": _bounded(plain["theory"] - plain["ridge"], draws["theory"] - draws["ridge"]),
    }
    for name in ("ridge", "mean"):
        best = values["error"][np.argsort(values[name])[:BEST_DESIGNS]]
        numbers[f"best five by {name}"] = float(best.mean() / values["error"].mean())
    return Measured(numbers, _said(rows))


def _simple_errors(designs: list[int]) -> dict[str, FloatArray]:
    """Return errors on unseen cells of ridge regression with a column per item, and of the mean of the seen ones."""
    errors: dict[str, list[float]] = {"ridge": [], "mean": []}
    for number in designs:
        task = drawn_task(number)
        columns = np.hstack([np.eye(size)[task.cells[:, slot]] for slot, size in enumerate(task.sizes)])
        seen, y = columns[task.train], task.target
        effects = np.linalg.solve(seen.T @ seen + RIDGE_OF_ITEMS * np.eye(seen.shape[1]), seen.T @ y[task.train])
        for name, answer in (("ridge", columns @ effects), ("mean", np.full(len(y), y[task.train].mean()))):
            errors[name].append(float(np.mean((answer - y)[task.test] ** 2)))
    return {name: np.array(listed) for name, listed in errors.items()}


def choice_by_theory(rows: Table) -> Measured:
    """Return networks' error on the five designs that theory and leverage call best, over that on the mean one."""
    values = _by_design(rows)
    mean = float(values["error"].mean())
    numbers: dict[str, Any] = {
        f"best five by {name}": float(values["error"][np.argsort(values[name])[:BEST_DESIGNS]].mean()) / mean
        for name in ("theory", "leverage")
    }
    numbers["best five by networks themselves"] = float(np.sort(values["error"])[:BEST_DESIGNS].mean()) / mean
    spread = f"errors from {values['error'].min():.2f} to {values['error'].max():.2f}, mean {mean:.2f}"
    return Measured(numbers, f"{spread}; training loss {float(np.median(rows['train loss'])):.2g} in the median")
