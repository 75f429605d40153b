"""How checks and figures of multi-task learning and pretraining read rows: those they need, or a word that none are.

A check that lacks rows is ``not run``. Numbers that are not finite satisfy no comparison, so they never make a claim
hold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import Check, Claim, Outcome
from recombine.papers.seeds import MissingRowsError, judged, several
from recombine.tables.table import Table

#: Method -> words, in the order of the colour cycle.
METHODS = {"pt+ft": "PT+FT", "stl": "single task", "mtl": "MTL", "pt+ft probe": "linear probe"}
#: Seeds below which a mean over them decides nothing.
FEWEST_SEEDS = 3


def claim(number: str, statement: str, source: str, expected: str, tolerance: str, name: str, check: Check) -> Claim:
    """Return a claim of this paper, ``not run`` where the rows that its check needs are missing.

    Examples
    --------
    >>> one = claim("1", "losses are small", "ours", "< 1", "none", "runs", lambda rows: Outcome.of("0", True))
    >>> one.id, one.read(Table({})).verdict
    ('multitask/1', <Standing.NOT_RUN: 'not run'>)
    """

    @judged
    def guarded(rows: Table) -> Outcome:
        if not len(rows):
            raise MissingRowsError(f"the results of {name!r} have no rows")
        return check(rows)

    return Claim(f"multitask/{number}", statement, source, expected, tolerance, name, guarded)


def needed(rows: Table, least: int = 1, **values: Any) -> Table:
    """Return the rows of a condition; where there are fewer than ``least``, the claim is not run.

    Examples
    --------
    >>> len(needed(Table({"n": [16, 16, 32]}), n=16))
    2
    >>> needed(Table({"n": [16, 16, 32]}), least=2, n=32)
    Traceback (most recent call last):
        ...
    recombine.papers.seeds.MissingRowsError: needs 2 rows with n = 32; there are 1
    """
    chosen = rows.only(**values)
    if len(chosen) < least:
        words = ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in values.items())
        about = f" with {words}" if words else ""
        raise MissingRowsError(f"needs {several(least, 'row')}{about}; there are {len(chosen)}")
    return chosen


def mean_of(rows: Table, column: str, least: int = 1, **values: Any) -> float:
    """Mean of a column over the rows of a condition, of which there must be ``least``.

    Examples
    --------
    >>> mean_of(Table({"n": [16, 16, 32], "loss": [1.0, 2.0, 5.0]}), "loss", n=16)
    1.5
    """
    return float(needed(rows, least, **values)[column].mean())


def paired(first: Table, second: Table, column: str, least: int = FEWEST_SEEDS) -> FloatArray:
    """Return first minus second (s,) for the seeds that both have, of which there must be ``least``.

    Examples
    --------
    >>> one, two = Table({"seed": [0, 1, 2], "loss": [3.0, 4.0, 5.0]}), Table({"seed": [2, 0], "loss": [1.0, 1.0]})
    >>> paired(one, two, "loss", least=2).tolist()
    [2.0, 4.0]
    """
    both = sorted(set(first["seed"].tolist()) & set(second["seed"].tolist()))
    if len(both) < least:
        raise MissingRowsError(f"needs {several(least, 'seed')} of both kinds; there are {len(both)}")
    one, two = (np.array([rows.only(seed=seed)[column].mean() for seed in both]) for rows in (first, second))
    return np.asarray(one - two)


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


def one_a_network(rows: Table) -> Table:
    """Return one row a network of images: those whose layers were looked at have several.

    Results from before multi-task stop rules were told apart are those of rule "both".

    Examples
    --------
    >>> about = {"images": ["digits"] * 2, "network": ["small resnet"] * 2, "method": ["mtl"] * 2, "n": [20, 20]}
    >>> rows = Table({**about, "factor": [1.0, 1.0], "seed": [0, 0], "layer": ["stem", "stage1"]})
    >>> one_a_network(rows)["stop rule"].tolist()
    ['both']
    """
    columns = {name: rows[name] for name in rows.columns}
    rows = Table({"stop rule": np.where(rows["method"] == "mtl", "both", ""), **columns})
    names = ("images", "network", "method", "stop rule", "n", "factor", "seed")
    first: dict[tuple[Any, ...], int] = {}
    for place, row in enumerate(rows.rows()):
        first.setdefault(tuple(row[name] for name in names), place)
    return rows.where(np.isin(np.arange(len(rows)), list(first.values())))
