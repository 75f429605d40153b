"""The map of a table, seen through windows: two factors along the sides, the others held at a level each."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.errors import InputError
from recombine.jobs.audit.pairs import level_order
from recombine.report.audit.embedded_cells import IMPOSSIBLE
from recombine.tables.numbers import is_number
from recombine.verdicts import Verdict
from recombine.writing import printable

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Rows, columns and cells of a window at most.
MAX_WINDOW_SIDE, MAX_WINDOW_CELLS = 400, 40_000
#: Bins along a side at most, levels per side that are looked at for them, and pictures in bins that are kept.
MAX_BINS_PER_SIDE, MAX_LEVELS_BINNED, MAX_SLICES_CACHED = 100, 500, 64
#: Cells looked at to find the slice with most unseen ones, where slices differ in how many can exist.
MAX_CELLS_COUNTED = 400_000
_DIGITS = re.compile(r"[0-9]+")


def by_name(labels: Sequence[str]) -> IntArray:
    """Return the places of names (n,) in their order: numbers by size, also those inside names.

    Examples
    --------
    >>> names = ["site 0", "site 1", "site 10", "site 2"]
    >>> [names[place] for place in by_name(names)]
    ['site 0', 'site 1', 'site 2', 'site 10']
    >>> by_name(["0.25", "-1", "0.5"]).tolist()
    [1, 0, 2]
    """
    keys: list[float] | list[str]
    keys = list(map(float, labels)) if all(map(is_number, labels)) else [_sortable(name) for name in labels]
    return np.array(sorted(range(len(labels)), key=keys.__getitem__), dtype=np.int64)


def _sortable(name: str) -> str:
    """Return a text that sorts as a name with numbers does: the longer of two runs of digits is the larger number."""

    def sized(run: re.Match[str]) -> str:
        digits = run[0].lstrip("0")
        return f"0{chr(min(len(digits), sys.maxunicode))}{digits}"

    return _DIGITS.sub(sized, name.lower())


class MapView:
    """Windows and bins of a map. Levels stand by name, or those that are connected together.

    Parameters
    ----------
    audit : Audit

    Examples
    --------
    >>> import recombine as rc
    >>> view = MapView(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    >>> view.window((0, 1), np.array([0, 0]), (0, 0), (2, 2), "name")["codes"]
    '0001'
    """

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self._slice = lru_cache(MAX_SLICES_CACHED)(self._gathered)

    @cached_property
    def orders(self) -> dict[str, list[IntArray]]:
        """Level numbers of each factor as they stand along a side, by name of the order; on a line as there."""
        named = [by_name(factor.labels) for factor in self.audit.design.factors]
        for index, scale in enumerate(self.audit.design.scales):
            if scale is not None:
                named[index] = scale.in_order
        return {"name": named, "connected": level_order(self.audit.decided)}

    @cached_property
    def _places(self) -> dict[str, list[IntArray]]:
        """Where each level stands in those orders."""
        return {by: [np.argsort(order) for order in orders] for by, orders in self.orders.items()}

    @cached_property
    def start(self) -> dict[str, Any]:
        """The two factors with the most levels; of the others levels seen together: those with most unseen cells."""
        design = self.audit.design
        row, column = sorted(np.argsort([-size for size in design.sizes], kind="stable")[:2].tolist())
        fixed = [factor for factor in range(len(design.sizes)) if factor not in (row, column)]
        at = np.array([order[0] for order in self.orders["connected"]])
        if fixed:
            slices, inverse = distinct(design.seen[:, fixed])
            unseen = -np.bincount(inverse)
            sides = [np.arange(design.sizes[side]) for side in (row, column)]
            even = design.possible.whole and not design.symmetric  # all slices have as many cells
            if not even and len(slices) * len(sides[0]) * len(sides[1]) <= MAX_CELLS_COUNTED:
                for index, levels in enumerate(slices):
                    at[fixed] = levels
                    codes = self.codes((row, column), at, *sides)
                    unseen[index] = np.count_nonzero((codes != Verdict.SEEN) & (codes != IMPOSSIBLE))
            at[fixed] = slices[int(np.argmax(unseen))]
        return {"sides": [row, column], "at": at.tolist()}

    def beside(self, factor: int, level: int, step: int, by: str) -> int:
        """Return the level that stands so many steps after a level of a factor; after the last comes the first."""
        orders, positions = self._ordered(by)
        return int(orders[factor][(positions[factor][level] + step) % len(orders[factor])])

    def codes(self, sides: tuple[int, int], at: IntArray, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the verdict codes of the levels ``rows`` by ``columns`` in the slice through ``at``, as a grid."""
        cells = np.broadcast_to(at, (len(rows), len(columns), len(at))).copy()
        cells[:, :, sides[0]] = rows[:, None]
        cells[:, :, sides[1]] = columns[None, :]
        design = self.audit.design
        flat = canonical(cells.reshape(-1, len(at)), design.symmetric)
        codes, exists = np.full(len(flat), IMPOSSIBLE), design.possible.holds(flat)
        if exists.any():
            codes[exists] = self.audit.decided.verdicts_of(flat[exists])
        return codes.reshape(len(rows), len(columns))

    def window(
        self, sides: tuple[int, int], at: IntArray, first: tuple[int, int] | None, shape: tuple[int, int], by: str
    ) -> dict[str, Any]:
        """Return verdicts and level names of ``shape`` rows and columns from ``first`` on.

        Without ``first`` the cell ``at`` is in the middle as far as that can be.
        """
        orders, positions = self._ordered(by)
        if min(shape) < 1 or max(shape) > MAX_WINDOW_SIDE or shape[0] * shape[1] > MAX_WINDOW_CELLS:
            raise InputError(
                f"a window has 1 to {MAX_WINDOW_SIDE} rows and columns and {MAX_WINDOW_CELLS:,} cells at most"
            )
        starts, levels, labels = [], [], []
        for axis, (side, long) in enumerate(zip(sides, shape, strict=True)):
            start = int(positions[side][at[side]]) - long // 2 if first is None else first[axis]
            starts.append(min(max(start, 0), max(len(orders[side]) - long, 0)))
            levels.append(orders[side][starts[axis] : starts[axis] + long])
            names = self.audit.design.factors[side].labels
            labels.append([printable(names[level]) for level in levels[axis].tolist()])
        return {
            "first": starts,
            "levels": [some_levels.tolist() for some_levels in levels],
            "labels": labels,
            "codes": "".join(map(str, self.codes(sides, at, *levels).reshape(-1).tolist())),
        }

    def bins(self, sides: tuple[int, int], at: IntArray, by: str) -> dict[str, Any]:
        """Return the whole slice in bins: the commonest verdict among unseen cells, and tenths of cells seen.

        Of long sides some levels, evenly spread, stand for all.
        """
        fixed = tuple(0 if factor in sides else int(level) for factor, level in enumerate(at))
        return self._slice(sides, fixed, by)

    def _gathered(self, sides: tuple[int, int], at: tuple[int, ...], by: str) -> dict[str, Any]:
        orders = [self._ordered(by)[0][side] for side in sides]
        looked = [np.unique(np.linspace(0, len(order) - 1, MAX_LEVELS_BINNED).astype(int)) for order in orders]
        shape = [min(len(order), MAX_BINS_PER_SIDE) for order in orders]
        into = [positions * count // len(order) for positions, count, order in zip(looked, shape, orders, strict=True)]
        codes = self.codes(
            sides, np.array(at), *(order[positions] for order, positions in zip(orders, looked, strict=True))
        )
        tally = np.zeros((*shape, IMPOSSIBLE + 1), dtype=np.int64)
        np.add.at(tally, (into[0][:, None], into[1][None, :], codes), 1)
        seen, unseen = tally[:, :, Verdict.SEEN], tally[:, :, 1:]
        leading = np.where(unseen.any(axis=2), unseen.argmax(axis=2) + 1, 0)
        # Tenths upwards, so that a bin with one seen cell shows it; nine of them where not all were seen.
        tenths = np.minimum(-(-9 * seen // np.maximum(tally.sum(axis=2), 1)), 9)
        return {
            "shape": shape,
            "leading": "".join(map(str, leading.reshape(-1).tolist())),
            "seen": "".join(map(str, tenths.reshape(-1).tolist())),
        }

    def _ordered(self, by: str) -> tuple[list[IntArray], list[IntArray]]:
        if by not in self.orders:
            raise InputError(f"levels stand by {' or '.join(self.orders)}, not by {by[:20]!r}")
        return self.orders[by], self._places[by]
