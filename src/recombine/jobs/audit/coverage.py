"""What the training data cover: cells, t-way combinations, rows per cell, and the levels that carry a gap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import MAX_TABLED_COLUMNS, Conjunctions, Subset
from recombine.cells.departures import departures
from recombine.cells.scales import FactorScale
from recombine.design.design import Design
from recombine.jobs.listing import holds_first
from recombine.tables.table import Table
from recombine.writing import plural, printable, written_count

#: Levels looked up at most, one for each seen cell and subset of factors: a second or two.
MAX_LEVELS_LOOKED_UP = 100_000_000
#: Levels of all factors up to which pairs of them are counted in one table.
MAX_LEVELS_PAIRED = 4_000


@dataclass(frozen=True, eq=False)
class Coverage:
    """Coverage of the combinations of levels that can exist by the training rows."""

    product: int  #: Cells that can exist.
    seen: int  #: Distinct cells seen in training.
    rows: int  #: Training rows.
    measurements: float  #: Their total weight: the rows themselves, or the sum of the weight column.
    per_cell: tuple[float, float, float]  #: Fewest, median and most measurements of a seen cell.
    #: Columns ``t``, ``factors``, ``seen``, ``possible``, ``share``; one row per subset of t factors, one for all.
    ways: Table
    levels: Table  #: One row per level: ``factor``, ``level``, ``rows``, ``cells``; sparsest first.
    uncounted: tuple[int, ...] = ()  #: The t that would have taken too long.

    def __repr__(self) -> str:
        return f"Coverage({self.seen:,} of {written_count(self.product)} cells seen; {plural(self.rows, 'row')})"

    def share(self, t: int) -> float:
        """Return the overall t-way coverage, from 0 to 1."""
        chosen = (self.ways["t"] == t) & (self.ways["factors"] == "all")
        return float(self.ways["share"][chosen][0])


def cover(design: Design, strongest: int = 3) -> Coverage:
    """Measure the coverage of ``design`` by its training cells.

    Examples
    --------
    >>> from recombine.design import Design
    >>> coverage = cover(Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> coverage
    Coverage(3 of 4 cells seen; 3 rows)
    >>> coverage.share(1), coverage.share(2)
    (1.0, 0.75)
    """
    rows, weight = design.observed.rows[design.train], design.precision[design.train]
    strengths = range(1, min(strongest, len(design.factors)) + 1)
    counted = [t for t in strengths if t <= 1 or _affordable(design, t)]
    return Coverage(
        design.possible.count,
        len(design.seen),
        int(rows.sum()),
        float(weight.sum()),
        (float(weight.min()), float(np.median(weight)), float(weight.max())),
        Table.from_rows(row for t in counted for row in _ways(design, t)),
        _levels(design),
        tuple(t for t in strengths if t not in counted),
    )


def _affordable(design: Design, t: int) -> bool:
    if t == 2 and _by_pairs(design):
        return True
    looked_up = math.comb(len(design.sizes), t) * len(design.seen)
    if not MAX_LEVELS_LOOKED_UP // 20 < looked_up <= MAX_LEVELS_LOOKED_UP:
        return looked_up <= MAX_LEVELS_LOOKED_UP
    # What fits no table must be sorted.
    return Conjunctions(design.sizes, t, design.symmetric).columns <= MAX_TABLED_COLUMNS


def _by_pairs(design: Design) -> bool:
    """Whether pairs of levels are counted in one table, which looks at departures from the commonest levels alone."""
    many = math.comb(len(design.sizes), 2) * len(design.seen) > MAX_LEVELS_LOOKED_UP // 10
    return many and not design.symmetric and sum(design.sizes) <= MAX_LEVELS_PAIRED


def _seen_pairs(design: Design) -> dict[Subset, int]:
    """Return how many pairs of levels of every two factors were seen."""
    features = Conjunctions(design.sizes)
    held = (departures(features.ids_by_block(design.seen), features.columns).pair_counts() > 0).astype(np.int64)
    starts = [block.start for block in features.blocks.values()]
    seen = np.add.reduceat(np.add.reduceat(held, starts, axis=0), starts, axis=1)
    return {pair: int(seen[pair]) for pair in itertools.combinations(range(len(seen)), 2)}


def _ways(design: Design, t: int) -> Iterator[dict[str, Any]]:
    """One row per subset of ``t`` factors (symmetric twins once) and one over all of them."""
    by_subset = _seen_pairs(design) if t == 2 and _by_pairs(design) else _seen_ways(design, t)
    names = [printable(" × ".join(design.names[factor] for factor in subset)) for subset in by_subset]
    seen, possible = list(by_subset.values()), [design.possible.ways(subset) for subset in by_subset]
    for name, some, every in zip([*names, "all"], [*seen, sum(seen)], [*possible, sum(possible)], strict=True):
        yield {"t": t, "factors": name, "seen": some, "possible": every, "share": some / every}


def _seen_ways(design: Design, t: int) -> dict[Subset, int]:
    """Return how many combinations of levels of every ``t`` factors (symmetric twins once) were seen."""
    features = Conjunctions(design.sizes, t, design.symmetric)
    present = features.occurring(design.seen)
    return {
        subset: int(np.searchsorted(present, block.stop) - np.searchsorted(present, block.start))
        for subset, block in features.blocks.items()
    }


def _levels(design: Design) -> Table:
    rows = []
    for group in design.space.groups:
        factor, name = design.factors[group[0]], " / ".join(design.names[member] for member in group)
        cells = _per_level(design, group, np.ones(len(design.seen)))
        counts = _per_level(design, group, design.observed.rows[design.train])
        # Of an ordered factor those that were seen count; values of a curve seldom come twice.
        counted = {FactorScale.ORDERED: cells > 0, FactorScale.LABELS: cells >= 0, FactorScale.NUMERIC: cells < 0}
        for code in np.flatnonzero(counted[factor.scale]).tolist():
            rows.append((name, factor.labels[code], int(counts[code]), int(cells[code])))
    rows.sort(key=lambda row: row[3])
    columns = zip(*rows, strict=True) if rows else ((),) * 4
    return Table(dict(zip(("factor", "level", "rows", "cells"), map(list, columns), strict=True)))


def _per_level(design: Design, group: Subset, amounts: npt.NDArray[Any]) -> IntArray:
    """Sum ``amounts`` (N,) over the seen cells that hold each level, a cell once even if it holds the level twice."""
    total = np.zeros(design.sizes[group[0]])
    for member in group:
        cells = holds_first(design.seen, group, member)
        total += np.bincount(design.seen[cells, member], weights=amounts[cells], minlength=len(total))
    return total.astype(np.int64)
