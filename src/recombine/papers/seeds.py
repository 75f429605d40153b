"""Means over seeds: how claims read them, and how figures show them with two standard errors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine.papers.claims import Check, Outcome
from recombine.papers.results import as_table, matching
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MissingNetworksError(Exception):
    """No network of a condition that a check needs."""


class Sample(NamedTuple):
    """Mean over networks, two standard errors of it (NaN for one network), and how many there are.

    Examples
    --------
    >>> print(Sample(0.5, 0.01, 5), Sample(0.5, float("nan"), 1))
    0.500 ± 0.010 0.500
    """

    mean: float
    error: float
    networks: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + (f" ± {self.error:.3f}" if self.networks > 1 else "")


def judged(check: Check) -> Check:
    """Turn a missing condition into ``not run``."""

    @wraps(check)
    def judged(rows: Table) -> Outcome:
        try:
            return check(rows)
        except MissingNetworksError as error:
            return Outcome.not_run(str(error))

    return judged


def sample(rows: Table, column: str, **condition: Any) -> Sample:
    """Return the mean of a column over the networks of a condition; networks that diverged (NaN) do not count.

    Examples
    --------
    >>> rows = Table({"depth": [1, 1, 2], "slope": [0.6, 0.8, 0.5]})
    >>> print(sample(rows, "slope", depth=1))
    0.700 ± 0.200
    """
    values = matching(rows, **condition)[column]
    values = values[np.isfinite(values)]
    if not len(values):
        words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in condition.items())
        raise MissingNetworksError(f"no network of the condition: {words}")
    error = 2 * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return Sample(float(values.mean()), error, len(values))


def counted(samples: Iterable[Sample]) -> str:
    """Say how many networks stand behind some means.

    Examples
    --------
    >>> counted([Sample(0.5, 0.1, 3), Sample(0.4, 0.1, 5)])
    '3 to 5 networks a condition'
    """
    counts = [sample.networks for sample in samples]
    number = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"{number} network{'s' if max(counts) > 1 else ''} a condition"


def several(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> several(1, "network"), several(5, "pixel MLP")
    ('1 network', '5 pixel MLPs')
    """
    return f"{count} {noun}{'s' if count != 1 else ''}"


def over_seeds(rows: Table, keys: tuple[str, ...], values: tuple[str, ...]) -> Table:
    """Return one row for each combination of ``keys``: mean and two standard errors of ``values``, and n.

    Examples
    --------
    >>> rows = Table({"depth": [1, 1, 2], "slope": [0.6, 0.8, 0.5]})
    >>> over_seeds(rows, ("depth",), ("slope",))
    depth  slope  slope 2se  n
    1      0.7    0.2        2
    2      0.5    nan        1
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows.rows():
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    listed = []
    for group, members in groups.items():
        line: dict[str, Any] = dict(zip(keys, group, strict=True))
        for name in values:
            numbers = np.array([member[name] for member in members])
            line[name] = round(float(numbers.mean()), 12)
            spread = numbers.std(ddof=1) / len(numbers) ** 0.5 if len(numbers) > 1 else np.nan
            line[f"{name} 2se"] = round(float(2 * spread), 12)
        listed.append({**line, "n": len(members)})
    return as_table(listed)


def band(axes: Axes, line: Table, across: str, name: str, label: str) -> None:
    """Draw the mean ``name`` over ``across`` with a band of two standard errors."""
    order = np.argsort(line[across])
    middle, half = line[name][order], np.nan_to_num(line[f"{name} 2se"][order])
    every = 0.12 if len(line) > 12 else 1
    (drawn,) = axes.plot(line[across][order], middle, label=label, markevery=every)
    axes.fill_between(line[across][order], middle - half, middle + half, color=drawn.get_color(), alpha=0.15, lw=0)
