"""First principles: which rows a claim about decoders reads, and what it takes from them.

Rows of several scales lie in one table. A claim is judged at the largest scale that has everything it needs, and the
measured value says which: tiny (small networks on blobs), short (3,300 steps), annealed (19,600) or full (392,000).
"""

from __future__ import annotations

from dataclasses import dataclass

from recombine.papers.claims import Outcome
from recombine.papers.first_principles.grids import LENGTHS
from recombine.tables.table import Table

#: From the paper's scale down.
SCALES = ("full", "annealed", "short", "tiny")
#: A model whose R2 on its own support is below this has not trained.
ALIVE = 0.0
#: Support and model, and the targets where they are not the usual ones.
Row = tuple[str, str] | tuple[str, str, str]


def length(scale: str) -> str:
    """Return a scale with what it means, for the measured value: "full" of a grid of units is not the paper's length.

    Examples
    --------
    >>> length("short"), length("tiny")
    ('short: 3,300 steps', 'tiny: on blobs')
    """
    return f"{scale}: {LENGTHS[scale]['steps']:,} steps" if scale in LENGTHS else f"{scale}: on blobs"


@dataclass(frozen=True, eq=False)
class Reading:
    """The rows of one scale.

    Attributes
    ----------
    scale : str
    rows : Table
    """

    scale: str
    rows: Table

    def of(self, support: str, model: str = "compositional", targets: str | None = None) -> Table:
        """Return the rows of one support and model, on hard targets (at tiny scale: on those of the model)."""
        rows = self.rows.only(support=support, model=model)
        if self.scale != "tiny":
            return rows.only(targets=targets or "hard")
        return rows if targets is None else rows.only(targets=targets)

    def living(self, support: str, model: str = "compositional", targets: str | None = None) -> Table:
        """Return the rows of seeds that trained at all."""
        rows = self.of(support, model, targets)
        return rows.where(rows["r2 id"] > ALIVE) if len(rows) else rows

    def mean(self, column: str, support: str, model: str = "compositional", targets: str | None = None) -> float:
        """Return the mean over seeds that trained at all; `words` says how many did not."""
        return float(self.living(support, model, targets)[column].mean())

    def words(self, *needed: Row) -> str:
        """Return the scale and the number of seeds of some rows, and for each row how many of them collapsed."""
        counts = sorted({len(self.of(*row)) for row in needed})
        span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        told = [f"{self.scale} scale, {span} seed{'' if counts[-1] == 1 else 's'}"]
        for row in needed:
            every, left = len(self.of(*row)), len(self.living(*row))
            if left < every:
                told.append(f"{row[0]} ({row[1]}): mean of {left} of {every} seeds, {every - left} collapsed")
        return "; ".join(told)

    def outcome(self, value: str, holds: bool, detail: str) -> Outcome:
        """Return an outcome whose value says how long was trained."""
        return Outcome.of(f"{value} ({length(self.scale)})", holds, detail)


def reading(rows: Table, *needed: Row, scales: tuple[str, ...] = SCALES, dead: bool = False) -> Reading | None:
    """Return the largest of some scales that has all the rows that are needed, or None; also when all of one collapsed.

    Examples
    --------
    >>> about = {"support": ["random"] * 2, "model": ["compositional"] * 2, "targets": ["soft", "hard"]}
    >>> rows = Table({"scale": ["tiny", "short"], "r2 id": [0.9, 0.9], **about})
    >>> reading(rows, ("random", "compositional")).scale
    'short'
    >>> reading(rows, ("random", "monolithic")) is None
    True
    """
    for scale in scales:
        found = Reading(scale, rows.only(scale=scale))
        if all(len(found.of(*row)) for row in needed):
            return found if dead or all(len(found.living(*row)) for row in needed) else None
    return None
