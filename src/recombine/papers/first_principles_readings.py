"""First principles: which rows a claim about decoders reads, and what it takes from them.

Rows of several scales lie in one table. A claim is judged at the largest scale that has everything it needs, and its
detail says which: tiny (small networks on blobs), short (3,300 steps), annealed (19,600) or full (392,000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.papers.results import matching
from recombine.tables import Table

#: From the paper's scale down.
SCALES = ("full", "annealed", "short", "tiny")
#: A model whose R2 on its own support is below this has not trained.
ALIVE = 0.0
#: Support and model, and the targets where they are not the usual ones.
Row = tuple[str, str] | tuple[str, str, str]


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
        rows = matching(self.rows, support=support, model=model)
        if self.scale != "tiny":
            return matching(rows, targets=targets or "hard")
        return rows if targets is None else matching(rows, targets=targets)

    def mean(self, column: str, support: str, model: str = "compositional", targets: str | None = None) -> float:
        """Return the mean over seeds that trained at all; NaN when there are none."""
        rows = self.of(support, model, targets)
        alive = rows[column][rows["r2 id"] > ALIVE] if len(rows) else np.array([])
        return float(alive.mean()) if len(alive) else float("nan")

    def words(self, *needed: Row) -> str:
        """Return the scale and the number of seeds of some rows."""
        counts = sorted({len(self.of(*row)) for row in needed})
        span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        return f"{self.scale} scale, {span} seed{'' if counts[-1] == 1 else 's'}"


def reading(rows: Table, *needed: Row, scales: tuple[str, ...] = SCALES) -> Reading | None:
    """Return the largest of some scales that has all the rows that are needed, or None.

    Examples
    --------
    >>> about = {"support": ["random"] * 2, "model": ["compositional"] * 2, "targets": ["soft", "hard"]}
    >>> rows = Table({"scale": ["tiny", "short"], **about})
    >>> reading(rows, ("random", "compositional")).scale
    'short'
    >>> reading(rows, ("random", "monolithic")) is None
    True
    """
    for scale in scales:
        found = Reading(scale, matching(rows, scale=scale))
        if all(len(found.of(*row)) for row in needed):
            return found
    return None
