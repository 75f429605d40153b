"""Rows of a table or of factor columns into the parts of a split: whole cells, but for rows that repeat a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import Conjunctions, canonical, distinct
from recombine.errors import InputError
from recombine.jobs.split.balance import bin_outcomes, outcome_counts, unlike
from recombine.jobs.split.mix import TRAIN, UNUSED, Mix
from recombine.jobs.split.partition import FoldTask, fold_cells
from recombine.jobs.split.parts import CellTable, ScalesOf, part_verdicts, split_cells
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.writing import plural


@dataclass(frozen=True, eq=False)
class RowSplit:
    """Rows in training and in the parts of a test; make one with `split_rows`."""

    part: IntArray  #: (N,): A verdict, TRAIN (-1), or UNUSED (-2): rows that would link what has to stay apart.
    where: IntArray  #: (N,): number of each row's cell.
    mix: Mix  #: The shares of all rows that were asked for.
    order: int  #: Of the model at which each test row has the verdict that its part is named by.
    bins: IntArray | None = None  #: (N,): of the outcome, where it was to be alike in test and training.

    @property
    def train(self) -> IntArray:
        """Numbers of the training rows."""
        return np.flatnonzero(self.part == TRAIN)

    @property
    def test(self) -> IntArray:
        """Numbers of the test rows."""
        return np.flatnonzero(self.part >= 0)

    @property
    def unused(self) -> int:
        """Rows in neither part."""
        return int((self.part == UNUSED).sum())

    @cached_property
    def shares(self) -> Table:
        """One row per part: the share of the table's rows asked for and got, rows and cells."""
        records = []
        for verdict, share in self.mix.items():
            mine = self.part == verdict
            cells = len(np.unique(self.where[mine]))
            got = float(mine.mean())
            records.append({"part": verdict.word, "asked": share, "got": got, "rows": int(mine.sum()), "cells": cells})
        return Table.from_rows(records)

    @property
    def unlike(self) -> float:
        """Share of test rows that would have to change bins to be distributed as training; NaN if not stratified."""
        if self.bins is None:
            return float("nan")
        width = int(self.bins.max()) + 1
        test, train = (np.bincount(self.bins[rows], minlength=width).astype(float) for rows in (self.test, self.train))
        return unlike(test, train)


def split_rows(
    codes: IntArray,
    mix: Mix,
    features: Conjunctions,
    *,
    outcome: npt.NDArray[Any] | None = None,
    hidden: int | None = None,
    scales: ScalesOf | None = None,
    seed: int = 0,
) -> RowSplit:
    """Split rows, given as cells ``codes`` (N, C), so that each test part is what its name says under ``features``.

    ``outcome`` (N,), if given, shall be alike in test and training as far as verdicts allow; ``hidden`` is the place of
    the factor whose levels a part of unseen levels hides, ``scales`` says of training cells where ordered levels lie.

    Examples
    --------
    >>> codes = np.repeat(np.indices((4, 5)).reshape(2, -1).T, 3, axis=0)
    >>> split_rows(codes, {Verdict.SEEN: 0.1, Verdict.DETERMINED: 0.3}, Conjunctions((4, 5))).shares
    part        asked  got  rows  cells
    seen        0.1    0.1  6     4
    determined  0.3    0.3  18    6
    """
    cells, where = distinct(canonical(codes, features.symmetric))
    bins = None if outcome is None else bin_outcomes(outcome)
    counts = None if bins is None else outcome_counts(bins, where, len(cells))
    assigned = np.full(len(codes), TRAIN)
    of_cells: Mix = {verdict: share for verdict, share in mix.items() if verdict != Verdict.SEEN}
    if of_cells:
        rows = np.bincount(where, minlength=len(cells))
        assigned = split_cells(CellTable(features, cells, rows, counts, hidden, scales), of_cells, seed)[where]
    if Verdict.SEEN in mix:
        _hold_repeats(assigned, where, max(round(mix[Verdict.SEEN] * len(codes)), 1), np.random.default_rng([seed, 1]))
    return RowSplit(assigned, where, mix, features.order, bins)


def _hold_repeats(assigned: IntArray, where: IntArray, aim: int, generator: np.random.Generator) -> None:
    """Mark training rows whose cell keeps another one in training as seen, in place."""
    rows = generator.permutation(np.flatnonzero(assigned == TRAIN))
    first_rows = np.unique(where[rows], return_index=True)[1]
    spare = np.delete(rows, first_rows)
    if len(spare) < aim:
        raise InputError(
            f"test part 'seen' asks for {plural(aim, 'row')} ({aim / len(assigned):.3g} of them), and at most "
            f"{len(spare):,} ({len(spare) / len(assigned):.3g}) can be had: each cell keeps a row in training; "
            "ask for less"
        )
    assigned[spare[:aim]] = Verdict.SEEN


@dataclass(frozen=True, eq=False, repr=False)
class CellFolds:
    """Rows in folds, each tested once; make them with `CellKFold.folds`."""

    fold: IntArray  #: (N,): number of each row's fold, from 0.
    codes: IntArray  #: (N,): the verdict on each row's cell, given the rows of the other folds.
    where: IntArray  #: (N,): number of each row's cell.
    order: int  #: Of the model under which verdicts hold.

    def __repr__(self) -> str:
        count = int(self.fold.max()) + 1
        return f"CellFolds({count} folds of {plural(len(self.fold), 'row')}, {self.determined:.1%} of them determined)"

    @property
    def determined(self) -> float:
        """Share of the rows that are tested while the other folds determine them."""
        return float((self.codes == Verdict.DETERMINED).mean())

    @cached_property
    def shares(self) -> Table:
        """One row per fold and verdict: the rows, their share of the fold, and the cells."""
        records = []
        for number in range(int(self.fold.max()) + 1):
            mine = self.fold == number
            for verdict in map(Verdict, np.unique(self.codes[mine]).tolist()):
                which = mine & (self.codes == verdict)
                rows, cells = int(which.sum()), len(np.unique(self.where[which]))
                share = rows / int(mine.sum())
                records.append({"fold": number, "verdict": verdict.word, "share": share, "rows": rows, "cells": cells})
        return Table.from_rows(records)


def fold_rows(
    codes: IntArray,
    folds: int,
    features: Conjunctions,
    *,
    outcome: npt.NDArray[Any] | None = None,
    group: IntArray | None = None,
    seed: int = 0,
) -> CellFolds:
    """Put rows, given as cells ``codes`` (N, C), into folds of whole cells and of whole groups (N,).

    As many cells as can be are determined by the other folds under ``features``; ``outcome`` (N,), if given, shall be
    alike in all folds.

    Examples
    --------
    >>> codes = np.repeat(np.indices((4, 5)).reshape(2, -1).T, 3, axis=0)
    >>> fold_rows(codes, 2, Conjunctions((4, 5))).shares
    fold  verdict     share  rows  cells
    0     determined  1.0    30    10
    1     determined  1.0    30    10
    """
    cells, where = distinct(canonical(codes, features.symmetric))
    counts = None if outcome is None else outcome_counts(bin_outcomes(outcome), where, len(cells))
    unit = np.arange(len(cells)) if group is None else _units(where, group, len(cells))
    if (units := int(unit.max()) + 1) < folds:
        raise InputError(
            f"{folds} folds are more than the {units} "
            f"{'cells' if group is None else 'sets of cells that share no group'} there are; ask for at most {units}"
        )
    table = CellTable(features, cells, np.bincount(where, minlength=len(cells)), counts)
    fold = fold_cells(FoldTask(table, unit, folds, seed))
    verdicts = np.zeros(len(cells), dtype=np.int64)
    for number in range(folds):
        places = np.flatnonzero(fold == number)
        verdicts[places] = part_verdicts(table, np.where(fold == number, 0, TRAIN), places)
    return CellFolds(fold[where], verdicts[where], where, features.order)


def _units(where: IntArray, group: IntArray, cells: int) -> IntArray:
    """Return which cells (M,) have to stay together, as groups of rows (N,) tie them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = cells + int(group.max()) + 1
    ties = csr_array((np.ones(len(where)), (where, cells + group)), shape=(nodes, nodes))
    labels = connected_components(ties, directed=False)[1][:cells]
    return np.asarray(np.unique(labels, return_inverse=True)[1].reshape(-1), dtype=np.int64)
