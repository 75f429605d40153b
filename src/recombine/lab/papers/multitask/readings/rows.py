"""What readings of multi-task learning and pretraining share: networks of the same seed, and how many it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.papers.seeds import Interval, Ratio, several
from recombine.tables.table import Column, Table

#: Seeds below which a mean over them decides nothing.
MIN_SEEDS = 3


def of_enough_seeds(rows: Table, kind: str, **condition: Any) -> Table:
    """Return the rows of a condition, of which there must be seeds enough; ``kind`` says what to run otherwise."""
    chosen = rows.only(**condition)
    if len(chosen.by("seed")) < MIN_SEEDS:
        words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in condition.items())
        needs = f"needs at least {MIN_SEEDS} seeds of {kind} with {words}"
        raise MissingRowsError(f"{needs}: run with --scale full --device cuda")
    return chosen


def paired_by_seed(table: Table, counterpart: Table, column: str, min_seeds: int = MIN_SEEDS) -> tuple[Column, Column]:
    """Return a column of both tables in the order of the seeds that both have, of which there must be ``min_seeds``.

    Examples
    --------
    >>> joint, tuned = Table({"seed": [2, 0, 1], "loss": [5.0, 3.0, 4.0]}), Table({"seed": [2, 0], "loss": [1.0, 2.0]})
    >>> paired_by_seed(joint, tuned, "loss", min_seeds=2)
    (array([3., 5.]), array([2., 1.]))
    """
    a, b = table.where(np.argsort(table["seed"])).paired(counterpart, column)
    if len(a) < min_seeds:
        raise MissingRowsError(f"needs {several(min_seeds, 'seed')} of both kinds; there are {len(a)}")
    return a, b


def geometric(smaller: Column, larger: Column) -> str:
    """Return a geometric mean of ratios with its bounds, as text.

    Examples
    --------
    >>> geometric(np.array([1.0, 1.0, 2.0]), np.array([2.0, 4.0, 16.0]))
    '4 (1.24 to 12.9)'
    """
    return str(Ratio.of(larger / smaller))


def ahead(better: Column, worse: Column) -> dict[str, Any]:
    """Return how far losses are below others of the same seeds: times, in powers of ten, by seed.

    An interval over seeds decides: a geometric mean alone says nothing where it may as well be below one.

    Examples
    --------
    >>> ahead(np.array([1.0, 1.0, 2.0]), np.array([2.0, 4.0, 16.0]))["seeds ahead"]
    3
    """
    return {
        "times less loss": geometric(better, worse),
        "lead, powers of ten": Interval.of(np.log10(worse / better)),
        "seeds ahead": int((better < worse).sum()),
        "times less loss, best seed": float((worse / better).max()),
    }
