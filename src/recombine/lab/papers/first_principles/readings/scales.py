"""First principles: at which scale decoders are judged, and means over the seeds that trained.

Rows of several scales lie in one table. A claim is judged at the largest scale that has everything it needs, and a note
behind the numbers says which: tiny (small networks on blobs), short (3,300 steps), annealed (19,600) or full (392,000).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.grids import LENGTHS
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Estimate, estimate, require, several
from recombine.tables.table import Table

#: From the paper's scale down; all but the last are on sprites.
SCALES = ("full", "annealed", "short", "tiny")
SPRITES = SCALES[:-1]
#: A model whose R2 on its own support is not above this has not trained.
MIN_ALIVE_R2 = 0.0
#: A support and a model.
Case = tuple[str, str]


def scale_in_words(scale: str) -> str:
    """Return a scale with what it means: "full" of a grid of units is not the paper's length.

    Examples
    --------
    >>> scale_in_words("short"), scale_in_words("tiny")
    ('short: 3,300 steps', 'tiny: on blobs')
    """
    return f"{scale}: {LENGTHS[scale]['steps']:,} steps" if scale in LENGTHS else f"{scale}: on blobs"


def rows_at(rows: Table, scale: str) -> Table:
    """Return the rows of a scale, of sprites those with hard targets; blobs have targets that fit the model."""
    chosen = rows.only(scale=scale)
    return chosen if scale == "tiny" else chosen.only(targets="hard")


def living_rows(rows: Table) -> Table:
    """Return the rows of seeds that trained at all."""
    return rows.where(rows["r2 id"] > MIN_ALIVE_R2)


@dataclass(frozen=True, eq=False)
class DecoderRows:
    """The rows of one scale, and the cases that are read off them.

    Examples
    --------
    >>> about = {"support": ["random"] * 2, "model": ["compositional"] * 2, "targets": ["soft", "hard"]}
    >>> rows = Table({"scale": ["tiny", "short"], "r2 id": [0.9, 0.8], **about})
    >>> found = DecoderRows.largest(rows, ("random", "compositional"))
    >>> found.scale, found.means("r2 id")[0].mean
    ('short', 0.8)
    """

    scale: str
    rows: Table
    cases: tuple[Case, ...]

    @classmethod
    def largest(cls, rows: Table, *cases: Case, scales: Sequence[str] = SCALES, why: str = "") -> DecoderRows:
        """Return the largest of some scales that has all cases; ``why`` says why other scales do not count."""
        for scale in scales:
            decoders = cls(scale, rows_at(rows, scale), cases)
            if all(len(decoders.of(case)) for case in cases):
                return decoders
        needs = f"needs {', '.join(map(_named, cases))} at {' or '.join(scales)} scale"
        raise MissingRowsError(f"{needs}: {why}" if why else needs)

    def of(self, case: Case, at_least: int = 0) -> Table:
        """Return the rows of one case, at ``at_least`` so many."""
        return require(self.rows, at_least, support=case[0], model=case[1])

    @property
    def counted(self) -> str:
        """How many networks the cases have, in words."""
        counts = [len(self.of(case)) for case in self.cases]
        return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"

    def means(self, column: str) -> list[Estimate]:
        """Return the mean of each case over seeds that trained at all; not a number if one of those has none."""
        return [self._mean(living_rows(self.of(case))[column], case) for case in self.cases]

    def growth(self, case: Case) -> Estimate:
        """Return the mean ratio of the error on all combinations to that on the support, over seeds that trained."""
        rows = living_rows(self.of(case))
        return self._mean(rows["mse all"] / rows["mse id"], case)

    def _mean(self, values: FloatArray, case: Case) -> Estimate:
        if not np.isfinite(values).all():
            return Estimate(np.nan, np.nan, len(values))
        return estimate(values, f"{_named(case)}, all collapsed")

    def measure(self, numbers: Mapping[str, Any], detail: str) -> Measured:
        """Return numbers with the scale, the number of seeds, and how many collapsed."""
        counts = {case: len(self.of(case)) for case in self.cases}
        low, high = min(counts.values()), max(counts.values())
        words = [several(high, "seed") if low == high else f"{low} to {high} seeds"]
        for case, count in counts.items():
            if gone := count - len(living_rows(self.of(case))):
                words.append(f"{_named(case)}: {gone} of {count} seeds collapsed, means leave them out")
        return Measured(
            {**numbers, "networks": self.counted},
            "; ".join([*words[1:], detail]),
            scale=self.scale,
            note=f"{scale_in_words(self.scale)}, {words[0]}",
        )


def _named(case: Case) -> str:
    return f"{case[0]} ({case[1]})"
