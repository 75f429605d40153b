"""What the rows of a table say of each distinct cell: levels become codes, and repeated cells one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.design import naming
from recombine.design.factors import code_levels, place_of
from recombine.design.parts import TakenApart
from recombine.design.space import FactorSpace
from recombine.errors import InputError
from recombine.tables.frames import Source
from recombine.tables.grouping import Columns, Groups, RowsAre, group, joined
from recombine.writing import listing


@dataclass(frozen=True, eq=False)
class Observed:
    """The distinct cells of a table, how often each was measured and with which outcome."""

    cells: IntArray  #: (M, C): distinct cells; a cell that occurs both in training and held out has two rows.
    train: BoolArray  #: Shape (M,).
    rows: IntArray  #: (M,): table rows behind each; in a table of counts, a row of n stands for n.
    #: (M,): their total weight (their number without a weight column): how many measurements each mean outcome is
    #: worth.
    precision: FloatArray
    outcome: FloatArray | None = None  #: (M,): weighted mean outcome.
    #: (M,): sum of squares and degrees of freedom of the outcome within the cell: the replicates' noise.
    spread: FloatArray | None = None
    freedom: FloatArray | None = None
    #: What a row was read as: one measurement, n equal ones, or the mean of n.
    rows_are: RowsAre = RowsAre.MEASUREMENTS

    @property
    def within_rows(self) -> bool:
        """Whether rows that are means say how much their measurements differ (a column of standard deviations)."""
        if self.rows_are is not RowsAre.MEANS or self.freedom is None:
            return False
        return bool(np.any(self.freedom > self.rows - 1))

    @property
    def measured(self) -> FloatArray:
        """The outcome (M,) of a table that has one."""
        assert self.outcome is not None
        return self.outcome

    @cached_property
    def seen_outcome(self) -> FloatArray:
        """The same of the seen cells alone, shape (N,)."""
        return self.measured[self.train]

    @property
    def replicates(self) -> tuple[FloatArray, FloatArray]:
        """Spread and freedom (M,) as they are, or 0 everywhere if no row repeats a cell."""
        none = np.zeros(len(self.cells))
        return none if self.spread is None else self.spread, none if self.freedom is None else self.freedom

    @property
    def typical_precision(self) -> float:
        """The median of the seen cells' precision: how often a further cell may be expected to be measured."""
        return float(np.quantile(self.precision[self.train], 0.5, method="lower"))

    @property
    def copied_rows(self) -> int:
        """Rows of cells whose measurements are all equal to the last digit, but one a cell; 0 where that is chance.

        Of whole numbers and of outcomes that other cells share it may be chance.
        """
        if self.outcome is None or self.spread is None or self.rows_are is not RowsAre.MEASUREMENTS:
            return 0
        equal = (self.rows > 1) & (self.spread <= 1e-12 * self.rows * self.outcome**2)
        copied, apart = self.outcome[equal], len(np.unique(self.outcome)) > 0.9 * len(self.cells)
        fine = apart and 2 * np.count_nonzero(copied % 1) > len(copied)
        return int((self.rows[equal] - 1).sum()) if fine else 0

    def merged(self) -> Observed:
        """Merge rows of the same cell and split (repeated measurements, or (a, b) and (b, a) of symmetric factors)."""
        rows, inverse = distinct(np.column_stack([self.cells, self.train.astype(np.int64)]))
        count = len(self.cells)
        if len(rows) == count and np.array_equal(inverse, np.arange(count)):
            return self

        def total(values: npt.NDArray[Any]) -> FloatArray:
            return np.bincount(inverse, weights=values, minlength=len(rows)).astype(np.float64)

        precision = total(self.precision)
        mean = spread = freedom = None
        if self.outcome is not None:
            mean = total(self.precision * self.outcome) / precision
            within, degrees = self.replicates
            spread = total(within) + total(self.precision * (self.outcome - mean[inverse]) ** 2)
            freedom = total(degrees) + np.bincount(inverse, minlength=len(rows)) - 1.0
        cells, train, measured = rows[:, :-1], rows[:, -1].astype(bool), total(self.rows).astype(np.int64)
        return Observed(cells, train, measured, precision, mean, spread, freedom, self.rows_are)


@dataclass(frozen=True)
class OutcomeColumn:
    """The column that outcomes were read from.

    ``two_values`` are the lower and the higher value of an outcome whose measurements take two values only; ``labels``
    is what those of a text outcome are called.
    """

    name: str | None = None
    labels: tuple[str, str] | None = None
    two_values: tuple[float, float] | None = None

    def bounded(self, values: FloatArray) -> FloatArray:
        """Return predicted ``values`` of a two-valued outcome moved between its two values; any other as they are."""
        return values if self.two_values is None else np.clip(values, *self.two_values)


def coded_groups(
    groups: Groups,
    names: Sequence[str],
    train: BoolArray,
    symmetric: Sequence[str],
    source: str,
    apart: Sequence[TakenApart],
    merge_alike: bool = False,
) -> tuple[FactorSpace, Observed]:
    """Return the factors ``names`` and those that columns were taken ``apart`` into, and the cells of grouped rows."""
    members = tuple(place_of(names, name) for name in symmetric)
    if members and len(set(members)) < max(2, len(members)):
        raise InputError(f"symmetric factors {listing(symmetric)}: name two or more, each once")
    plain = groups.levels[: len(names)]
    merge = groups.rows if merge_alike else None
    coded = [code_levels(names, plain, members, source, merge)] if plain else []
    coded += [(column.factors, column.codes) for column in apart]
    factors = tuple(factor for some, _ in coded for factor in some)
    codes = np.hstack([some for _, some in coded]) if len(coded) > 1 else coded[0][1]
    naming.refuse_alike([factor.name for factor in factors], source)
    if not train.any():
        raise InputError(f"no row of {source} is training; check the split column")
    space = FactorSpace(factors, (members,) if members else (), tuple(column.parts for column in apart))
    observed = Observed(canonical(codes, space.symmetric), train, groups.rows, groups.weight, rows_are=groups.rows_are)
    if groups.mean is not None:
        observed = replace(observed, outcome=groups.mean, spread=groups.spread, freedom=groups.freedom)
    return space, observed.merged()


def with_held_out(groups: Groups, source: Source, held_out: Source, columns: Columns) -> tuple[Groups, BoolArray]:
    """Return the groups of a table and of another one whose rows are held out, and which of them are training."""
    if columns.split is not None:
        raise InputError(
            f"{held_out.name} holds the rows that are held out, so that a split column ({columns.split!r}) would say "
            "so twice; leave one out"
        )
    for name in columns.all:
        held_out.require(name, "outcome" if name == columns.outcome else "column")
    for name in columns.factors:
        kinds = [{"integer": "number"}.get(kind, kind) for kind in (source.kind(name), held_out.kind(name))]
        if source.reader.typed and held_out.reader.typed and kinds[0] != kinds[1]:
            raise InputError(
                f"factor {name!r} is {kinds[0]} in {source.name} and {kinds[1]} in {held_out.name}; "
                "write its levels alike"
            )
    counts = None if columns.weight is None else groups.rows_are is RowsAre.COUNTS
    more = group(held_out, columns, counts, groups.labels)
    train = np.arange(len(groups.rows) + len(more.rows)) < len(groups.rows)
    return joined(groups, more), train
