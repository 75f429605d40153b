"""Which rows the training rows determine under a structure, and what to collect where they do not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.jobs.estimators.factor_columns import FactorColumns
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.structures.structure import Structure
from recombine.verdicts import Verdict

#: Levels of a column that are tried in place of one that is not joined to the others.
MOST_TRIED = 1_000


@dataclass(frozen=True, eq=False)
class Membership:
    """The cells of the training rows, and which others follow from them.

    Attributes
    ----------
    table : FactorColumns
    seen : int array of shape (N, C)
        Cells of the training rows.
    structure : Structure

    Examples
    --------
    >>> from recombine.theory.structures import sum_of
    >>> table = FactorColumns(("colour", "shape"), (["blue", "red"], ["ball", "cube"]))
    >>> member = Membership(table, np.array([[0, 0], [0, 1], [1, 0]]), sum_of(1))
    >>> [Verdict(code).word for code in member.identification.verdicts_of([[1, 1], [1, 0], [2, 0]])]
    ['determined', 'seen', 'unseen level']
    """

    table: FactorColumns
    seen: IntArray
    structure: Structure

    @cached_property
    def identification(self) -> Identification:
        """What the training cells determine."""
        return identify(self.seen, order=self.structure.order, sizes=self.table.sizes)

    def advice(self, cell: IntArray, values: Sequence[object], row: int, others: int) -> str:
        """Say why a row is not determined and what to collect; ``values`` (C,) are its levels as they were given."""
        text = self.table.text(cell, values)
        more = f" ({others:,} further row{'s' if others > 1 else ''} alike)" if others else ""
        unseen = [factor for factor, code in enumerate(cell) if code >= len(self.table.levels[factor])]
        if unseen:
            levels = " and ".join(self.table.level(factor, int(cell[factor]), values) for factor in unseen)
            return (
                f"row {row} of X ({text}) has a level that no training row has: {levels}; collect rows with it, or "
                f"pass undetermined='mean' or 'nan'{more}"
            )
        return (
            f"row {row} of X ({text}) is not determined by the training rows if {self.structure.assumption}: "
            f"{self._gap(cell)}, or pass undetermined='mean' or 'nan'{more}"
        )

    def _gap(self, cell: IntArray) -> str:
        """Say what is missing: a conjunction that was never seen, or a comparison between two levels of a column."""
        order = self.structure.order
        for factors in itertools.combinations(range(len(cell)), order) if order > 1 else ():
            if not (self.seen[:, list(factors)] == cell[list(factors)]).all(axis=1).any():
                together = " with ".join(self.table.level(factor, int(cell[factor])) for factor in factors)
                return f"no training row has {together}; collect this combination, or others that have both"
        for factor in range(len(cell)):
            joined = self._joined(cell, factor)
            if joined is not None:
                here, there = self.table.level(factor, int(cell[factor])), self.table.level(factor, joined)
                alike = f", or another row with {here} whose like with {there} is known"
                return (
                    f"no chain of training rows compares {here} with {there}, for which the same combination is known; "
                    f"collect this combination{alike if order == 1 else ''}"
                )
        columns = ", ".join(repr(name) for name in self.table.names)
        return f"no sum of training rows over {columns} gives it; collect this combination"

    def _joined(self, cell: IntArray, factor: int) -> int | None:
        """Return a level of a column with which the cell would be determined."""
        levels = np.arange(min(len(self.table.levels[factor]), MOST_TRIED))
        tried = np.repeat(cell[None, :], len(levels), axis=0)
        tried[:, factor] = levels
        good = np.flatnonzero(self.identification.verdicts_of(tried) <= Verdict.DETERMINED)
        return int(levels[good[0]]) if len(good) else None


def check_columns(structure: Structure, cells: IntArray) -> None:
    """Refuse cells (N, C) with fewer columns than the structure has factors in a conjunction."""
    if structure.order > cells.shape[1]:
        needs = f"structure {structure.name!r} needs {structure.order} columns"
        raise InputError(f"{needs}; X has {cells.shape[1]} feature(s): use 'add'")
