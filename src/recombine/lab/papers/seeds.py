"""Means over seeds: with two standard errors, with a t-interval, and as one row per condition; ranks beside ranks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import MissingRowsError
from recombine.tables.table import Table


class Estimate(NamedTuple):
    """Mean over networks, two standard errors of it (NaN for one network), and how many there are.

    Examples
    --------
    >>> print(Estimate(0.5, 0.01, 5), Estimate(0.5, float("nan"), 1))
    0.500 ± 0.010 0.500
    """

    mean: float
    error: float
    networks: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + (f" ± {self.error:.3f}" if self.networks > 1 else "")


class Interval(NamedTuple):
    """A mean over seeds between two bounds, each exceeded with 5% chance by Student's t.

    Examples
    --------
    >>> print(Interval.of(np.array([4.0, 5.0, 6.0])))
    +5.0 (+3.3 to +6.7)
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: FloatArray) -> Interval:
        """Bound the mean of two values or more."""
        from scipy.special import stdtrit

        half = stdtrit(len(values) - 1, 0.95) * np.std(values, ddof=1) / len(values) ** 0.5
        mean = float(np.mean(values))
        return cls(mean, mean - float(half), mean + float(half))

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ({self.low:+.1f} to {self.high:+.1f})"


class Ratio(Interval):
    """A geometric mean of ratios over seeds between two bounds, those of `Interval` for their logarithms; no signs.

    Examples
    --------
    >>> print(Ratio.of(np.array([2.0, 4.0, 8.0])))
    4 (1.24 to 12.9)
    """

    @classmethod
    def of(cls, values: FloatArray) -> Ratio:
        """Bound the geometric mean of two ratios or more."""
        return cls(*(float(np.exp(value)) for value in Interval.of(np.log(values))))

    def __str__(self) -> str:
        return f"{self.mean:.3g} ({self.low:.3g} to {self.high:.3g})"


def estimate(values: Iterable[float], what: str = "") -> Estimate:
    """Return the mean of values over networks; networks that diverged (NaN) do not count.

    Examples
    --------
    >>> print(estimate([0.6, 0.8, float("nan")]))
    0.700 ± 0.200
    """
    finite = np.asarray([*values], dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        raise MissingRowsError(f"no network of the condition{f': {what}' if what else ''}")
    error = 2 * float(np.std(finite, ddof=1)) / len(finite) ** 0.5 if len(finite) > 1 else float("nan")
    return Estimate(float(finite.mean()), error, len(finite))


def mean_over_seeds(rows: Table, column: str, **condition: Any) -> Estimate:
    """Return the mean of a column over the networks of a condition.

    Examples
    --------
    >>> rows = Table({"depth": [1, 1, 2], "slope": [0.6, 0.8, 0.5]})
    >>> print(mean_over_seeds(rows, "slope", depth=1))
    0.700 ± 0.200
    """
    words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in condition.items())
    return estimate(rows.only(**condition)[column], words)


def require(rows: Table, at_least: int = 1, **condition: Any) -> Table:
    """Return the rows of a condition; where there are fewer than ``at_least``, nothing can be said.

    Examples
    --------
    >>> len(require(Table({"n": [16, 16, 32]}), n=16))
    2
    >>> require(Table({"n": [16, 16, 32]}), at_least=2, n=32)
    Traceback (most recent call last):
        ...
    recombine.lab.papers.measured.MissingRowsError: needs 2 rows with n = 32; there are 1
    """
    chosen = rows.only(**condition)
    if len(chosen) < at_least:
        words = ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in condition.items())
        about = f" with {words}" if words else ""
        raise MissingRowsError(f"needs {several(at_least, 'row')}{about}; there are {len(chosen)}")
    return chosen


def several(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> several(1, "network"), several(5, "pixel MLP")
    ('1 network', '5 pixel MLPs')
    """
    return f"{count} {noun}{'s' if count != 1 else ''}"


def networks_behind(estimates: Iterable[Estimate]) -> str:
    """Say how many networks stand behind some means.

    Examples
    --------
    >>> networks_behind([Estimate(0.5, 0.1, 3), Estimate(0.4, 0.1, 5)])
    '3 to 5 networks per condition'
    """
    counts = [mean.networks for mean in estimates]
    number = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"{number} network{'s' if max(counts) > 1 else ''} per condition"


def over_seeds(rows: Table, keys: tuple[str, ...], values: tuple[str, ...]) -> Table:
    """Return one row per combination of ``keys``: mean and two standard errors of ``values``, and n.

    Examples
    --------
    >>> rows = Table({"depth": [1, 1, 2], "slope": [0.6, 0.8, 0.5]})
    >>> over_seeds(rows, ("depth",), ("slope",))
    depth  slope  slope 2se  n
    1      0.7    0.2        2
    2      0.5    nan        1
    """
    listed = []
    for members in rows.by(*keys).values():
        line: dict[str, Any] = {key: members[key][0] for key in keys}
        for name in values:
            numbers = members[name]
            line[name] = round(float(numbers.mean()), 12)
            spread = numbers.std(ddof=1) / len(numbers) ** 0.5 if len(numbers) > 1 else np.nan
            line[f"{name} 2se"] = round(float(2 * spread), 12)
        listed.append({**line, "n": len(members)})
    return Table.from_rows(listed)


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Return Spearman's correlation; NaN where one of them is constant.

    Examples
    --------
    >>> round(rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 9.0, 100.0])), 6)
    1.0
    """
    return float(rank_correlations(first, second))


def rank_correlations(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return Spearman's correlation of each row of one array with that of another: ties share their mean rank.

    Examples
    --------
    >>> rank_correlations(np.array([[1.0, 2, 3], [3, 2, 1], [1, 1, 1]]), np.array([[1.0, 9, 100]] * 3)).round(6)
    array([ 1., -1., nan])
    """
    from scipy.stats import rankdata

    ranks = [rankdata(values, axis=-1) for values in (first, second)]
    a, b = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
    with np.errstate(invalid="ignore"):
        both: FloatArray = (a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    return both
