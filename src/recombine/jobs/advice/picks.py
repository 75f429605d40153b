"""A plan in words: the cells to collect, why each is worth it, and what it would take to determine everything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from recombine.design.design import Design
from recombine.jobs.listing import level_columns
from recombine.tables.table import Table
from recombine.writing import plural, round_estimate

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
        """One row per pick: its levels, the reason, the gain in words and the cost."""
        cells = np.array([pick.cell for pick in self.picks], dtype=np.int64).reshape(-1, len(self.design.factors))
        columns: dict[str, Any] = {
            "reason": np.array([pick.reason for pick in self.picks], dtype=object),
            "gain": np.array([self.gain_text(pick) for pick in self.picks], dtype=object),
            "cost": [pick.cost for pick in self.picks],
        }
        return Table({**level_columns(self.design, cells, columns), **columns})

    def gain_text(self, pick: Pick) -> str:
        """Return what ``pick`` brings in words."""
        if pick.reason == "sharpen":
            times = self.design.typical_precision
            often = "" if times == 1 else f" (measured {times:g} times)"
            by = ", weighted by importance," if self.weighted else ""
            return f"mean variance of unseen cells{self._near}{by} -{pick.gain:.1%}{often}"
        if self.weighted:
            return self._settled(pick)
        if self.sampled and pick.gain < self.unit:
            return "too few other unseen cells become determined to show in a sample"
        if not pick.gain:
            return "determines itself only"
        noun, verb = ("cell", "becomes") if pick.gain == 1 else ("cells", "become")
        number = f"about {round_estimate(pick.gain):,}" if self.sampled else f"{pick.gain:,.0f}"
        return f"{number} other unseen {noun}{self._near} {verb} determined"

    def _settled(self, pick: Pick) -> str:
        """Return what ``pick`` brings of what matters in words."""
        if not pick.importance:
            return "determines nothing that matters yet"
        from recombine.jobs.importance import part_of_what_matters

        about = "about " if self.sampled else ""
        settled = f"{about}{part_of_what_matters(pick.importance)} is settled"
        if self.sampled or not pick.gain:
            return f"{settled}{self._near}{'' if self.sampled else ', itself only'}"
        noun, verb = ("cell that matters", "becomes") if pick.gain == 1 else ("cells that matter", "become")
        return f"{settled}; {pick.gain:,.0f} other unseen {noun} {verb} determined"

    @property
    def _near(self) -> str:
        return "" if self.departures is None else f" with at most {self.departures} departures"

    @property
    def statement(self) -> str:
        """What it takes to determine everything, in a sentence; empty where that is not known."""
        inside = self._inside
        return f"{inside} {self.outside}".strip() if self.outside else inside

    @property
    def _inside(self) -> str:
        """What it takes to determine everything inside the seen ranges."""
        if self.enough:
            return f"You have enough{self._enough()}."
        if self.needed is None:
            take = "that matters takes" if self.several == 1 else "that matter take"
            text = f"{plural(self.several, 'unseen cell')} {take} several cells together, which is not planned for."
            return text if self.several else ""
        cells, matters = plural(self.needed, "well-chosen cell"), " that matters" if self.weighted else ""
        if self.beyond:
            stay = "stays" if self.beyond == 1 else "stay"
            which = f" that matter{'s' if self.beyond == 1 else ''}" if self.weighted else ""
            open_cells = f"{plural(self.beyond, 'unseen cell')}{which} {stay} open whatever is collected"
            because = "because the cells that would tell are forbidden"
            if self.design.symmetric:
                because += " or pair a level with itself (--self-pairs)"
            what = "what matters and can be determined" if self.weighted else "all that can be"
            lead = f"{cells} would determine {what}; " if self.needed else ""
            return f"{lead}{open_cells}, {because}."
        inside = " inside the seen range" if self.outside else ""
        if self.needed:
            return f"{cells} would determine everything{matters}{inside}."
        return f"Every unseen cell{matters}{inside} is determined already."

    def _enough(self) -> str:
        if len(self.design.seen) == self.design.product:
            return f" combinations: every one{'' if self.design.possible.whole else ' that can exist'} was seen"
        if self.weighted and self.gain is None:
            return ": every cell that matters was seen"
        gained = f"{self.gain:.1%}" if self.gain and self.gain >= SMALLEST_GAIN else "less than 0.1%"
        return (
            f": every unseen cell{' that matters' if self.weighted else ''}"
            f"{' inside the seen range' if self.outside else ''} is determined, and the next measurements would lower "
            f"the mean variance of their values{', weighted by importance,' if self.weighted else ''} by {gained} only"
        )
