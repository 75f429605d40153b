"""A plan in words: the cells to collect, why each is worth it, and what it would take to determine everything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from recombine.design.design import Design
from recombine.jobs.listing import level_columns
from recombine.tables.table import Table
from recombine.writing import plural

#: Cells that would lower the mean variance by less than this share are not worth proposing.
SMALLEST_GAIN = 5e-4


@dataclass(frozen=True)
class Pick:
    """One cell to collect: its codes, why, and what it brings.

    ``gain`` counts the other unseen cells that become determined (`connect`) or is the share by which the mean variance
    of the determined unseen cells falls (`sharpen`); either way on top of the picks before it. Given an importance,
    only cells that matter are counted, variances are weighted by it, and ``importance`` is the share of the unseen
    cells' importance that a `connect` settles, its own included.
    """

    cell: tuple[int, ...]
    reason: Literal["connect", "sharpen"]
    gain: float
    cost: float
    importance: float | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Cells to collect, in order. Given an importance, all numbers are those of cells that matter.

    Attributes
    ----------
    picks : tuple of Pick
    needed : int or None
        Smallest number of cells that determines everything that can be; None where it cannot be known exactly.
    beyond : int
        Unseen cells that stay open whatever is collected, because the cells that would tell are forbidden.
    sampled : bool
        Whether gains were estimated on a random sample of a large product.
    blocked : int
        Unseen cells that may not be collected (of those searched).
    unit : float
        Unseen cells each sampled one stands for; 1 when the whole product was searched.
    gain : float or None
        Share by which the best further cells (as many as were asked for) would lower the mean variance of the unseen
        cells; None where that was not worked out.
    enough : bool
        Whether nothing is open and that share is under 1 %: then nothing is proposed.
    departures : int or None
        If gains are those of cells near the commonest one: how many departures from it these have at most.
    outside : str
        What to collect first for cells outside the seen range of a factor, which are not planned for; often empty.
    weighted : bool
        Whether cells were weighted by an importance.
    several : int
        Unseen cells that matter and take several cells that do not, which is not planned for.
    """

    design: Design
    picks: tuple[Pick, ...]
    needed: int | None
    sampled: bool
    blocked: int
    beyond: int = 0
    unit: float = 1.0
    gain: float | None = None
    enough: bool = False
    departures: int | None = None
    outside: str = ""
    weighted: bool = False
    several: int = 0

    def __repr__(self) -> str:
        if self.enough:
            return "Plan(nothing to collect: enough)"
        needed = "" if self.needed is None else f"; {self.needed:,} needed to determine what can be"
        return f"Plan({plural(len(self.picks), 'cell')} to collect{needed})"

    @cached_property
    def table(self) -> Table:
        """One row per pick: its levels, the reason, the gain and the cost."""
        cells = np.array([pick.cell for pick in self.picks], dtype=np.int64).reshape(-1, len(self.design.factors))
        columns: dict[str, Any] = {
            "reason": np.array([pick.reason for pick in self.picks], dtype=object),
            "gain": [pick.gain for pick in self.picks],
            "cost": [pick.cost for pick in self.picks],
        }
        return Table({**level_columns(self.design, cells, columns), **columns})
