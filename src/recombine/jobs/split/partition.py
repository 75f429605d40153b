"""Cells into folds, so that as many as can be are tested while the other folds determine them.

The cells outside a fold determine all of it if they span: then the fold is independent in the dual of the matroid of
cells. Folds that hold the most cells that way are a matroid partition (Edmonds 1965): they are drawn outside of bases,
then cells are exchanged along shortest augmenting paths. A bridge, which lies on no circuit of cells, follows from
nothing and harms no fold that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.jobs.split.mix import TRAIN
from recombine.jobs.split.parts import CellTable, identify_cells
from recombine.jobs.split.spanning import spanning_cells
from recombine.theory.identification.level_graph import is_graph
from recombine.verdicts import Verdict

#: Steps of arithmetic on all exchanges and trials together, at 0.4 to 1 microseconds each.
MAX_STEPS = 4_000_000
#: Steps that a verdict takes at least, however small the table, and that looking up an earlier one takes.
STEPS_PER_CALL, STEPS_PER_LOOKUP = 2_000, 30
#: Effects up to which bases are looked for and verdicts are exact while folds are made: a second each. With more, folds
#: are made by floating point; what is reported of them is exact all the same.
MAX_EFFECTS_EXACT = 1_200
#: A bridge has leverage one; by how much less floating point may make it.
LEVERAGE_TOLERANCE = 1e-6
#: Restarts of the search for a better fold of each cell, and how many units change folds at random for each.
MAX_RESTARTS, UNITS_PER_RESTART = 30, 3


@dataclass(frozen=True, eq=False)
class FoldTask:
    """Cells that go into folds; those of one unit go into the same."""

    table: CellTable
    unit: IntArray  #: (M,): number of each cell's unit.
    folds: int  #: How many, K; there are at least as many units.
    seed: int = 0
    _judged: dict[bytes, BoolArray] = field(default_factory=dict, repr=False)
    _steps: list[int] = field(default_factory=lambda: [0], repr=False)

    @cached_property
    def units(self) -> CellTable:
        """The units as if they were cells: their rows, and their rows by outcome."""
        rows = np.bincount(self.unit, self.table.rows).astype(np.int64)
        if (counts := self.table.counts) is None:
            return replace(self.table, rows=rows)
        of_units = np.zeros((len(rows), counts.shape[1]))
        np.add.at(of_units, self.unit, counts)
        return replace(self.table, rows=rows, counts=of_units)

    @cached_property
    def loads(self) -> FloatArray:
        """Rows of each unit by outcome, (U, B); B is 1 where outcomes are no matter."""
        return self.units.rows[:, None].astype(float) if self.units.counts is None else self.units.counts

    @cached_property
    def large(self) -> bool:
        """Whether there are too many effects for exact arithmetic at every step."""
        return not self._is_graph and min(len(self.unit), self.table.features.rank) > MAX_EFFECTS_EXACT

    @cached_property
    def _is_graph(self) -> bool:
        return is_graph(self.table.features) and not self.table.features.symmetric

    @cached_property
    def bridge(self) -> BoolArray:
        """Which cells no others determine, (M,)."""
        everything = identify_cells(self.table.features, self.table.cells, "projection" if self.large else None)
        return np.asarray(everything.leverage_of(self.table.cells) > 1 - LEVERAGE_TOLERANCE)

    @cached_property
    def live(self) -> BoolArray:
        """Which units hold a cell that can be determined, (U,)."""
        return np.bincount(self.unit, ~self.bridge) > 0

    @cached_property
    def _steps_per_call(self) -> int:
        model = self.table.features
        # Elimination fills up by as much as there are more cells than effects.
        filled = 0.0 if self._is_graph else min(max(len(self.unit) / model.rank - 1, 0), 1) * model.rank
        return STEPS_PER_CALL + len(self.unit) * len(model.subsets) + int(filled**2)

    @property
    def tired(self) -> bool:
        """Whether the steps for exchanges and trials are used up."""
        return self._steps[0] > MAX_STEPS

    def determined(self, members: BoolArray) -> BoolArray:
        """Return which cells (M,) of a fold of units ``members`` (U,) follow from the cells outside it."""
        key = np.packbits(members).tobytes()
        self._steps[0] += STEPS_PER_LOOKUP + len(self.unit) if key in self._judged else self._steps_per_call
        if key not in self._judged:
            tested = members[self.unit]
            result = np.zeros(len(tested), dtype=bool)
            if tested.any() and not tested.all():
                model, cells = self.table.features, self.table.cells
                others = identify_cells(model, cells[~tested], "projection" if self.large else None)
                result[tested] = others.verdicts_of(cells[tested]) == Verdict.DETERMINED
            self._judged[key] = result
        return self._judged[key]

    def outside(self, key: IntArray, last: int) -> BoolArray:
        """Return which live units (U,) have all cells determined at once by cells that come earlier by ``key`` (U,).

        Where there are too many effects for a basis, only units whose key is ``last`` or more are tried.
        """
        order = np.argsort(key[self.unit], kind="stable")
        basis = None if self.large else spanning_cells(self.table.features, self.table.cells, order, self.seed)
        if basis is None:
            follows = self.determined(key >= last)
        else:
            follows = np.ones(len(self.unit), dtype=bool)
            follows[basis] = False
        return np.asarray(self.live & (np.bincount(self.unit, ~(follows | self.bridge)) == 0))


def fold_cells(task: FoldTask) -> IntArray:
    """Return the fold of each cell (M,).

    Examples
    --------
    >>> from recombine.cells.conjunctions import Conjunctions
    >>> table = CellTable(Conjunctions((4, 5)), np.indices((4, 5)).reshape(2, -1).T, np.full(20, 3))
    >>> np.bincount(fold_cells(FoldTask(table, np.arange(20), 4)))
    array([5, 5, 5, 5])
    """
    generator = np.random.default_rng(task.seed)
    fold = _drawn(task, generator)
    _insert(task, fold, generator)
    if len(task.live) == len(task.unit):
        _exchange(task, fold)
    if len(remaining := np.flatnonzero(task.live & (fold == TRAIN))):
        fold = _improved(task, _placed(task, fold, remaining), generator)
    _balance(task, fold)
    return fold[task.unit]


def _drawn(task: FoldTask, generator: np.random.Generator) -> IntArray:
    """Draw folds (U,) one by one, each outside of a basis to which cells of earlier folds come first."""
    fold, rows = np.full(len(task.live), TRAIN), task.units.rows
    for number in range(task.folds):
        turn = 1 + generator.permutation(len(fold))
        turn[fold != TRAIN] = 0
        waiting = task.live & (fold == TRAIN)
        aim = round(rows[waiting].sum() / (task.folds - number))
        late = np.argsort(-turn, kind="stable")
        late = late[waiting[late]]
        many = min(int(np.searchsorted(np.cumsum(rows[late]), aim)) + 1, len(late) - 1)
        pool = np.flatnonzero(waiting & task.outside(turn, int(turn[late[many - 1]]) if many > 0 else len(fold) + 1))
        if len(pool):
            fold[task.units.draw(pool, max(aim, 1), fold, generator)] = number
    return fold


def _insert(task: FoldTask, fold: IntArray, generator: np.random.Generator) -> None:
    """Add to folds (U,), the smallest first, what they still can hold while all of it is determined; in place."""
    for number in np.argsort(_sums(task, fold).sum(axis=1), kind="stable"):
        waiting = task.live & (fold == TRAIN)
        if waiting.any():
            key = np.where(waiting, 1 + generator.permutation(len(fold)), 0)
            key[fold == number] = len(fold) + 1
            fold[waiting & task.outside(key, 1)] = number


def _exchange(task: FoldTask, fold: IntArray) -> None:
    """Find folds for cells that are in none by shortest augmenting paths, in place; each unit is one cell.

    A cell x takes the place of y in a fold F if the cells outside F, less x, do not determine y.
    """
    closed = np.zeros(len(fold), dtype=bool)
    for start in np.flatnonzero(task.live & (fold == TRAIN)):
        before, queue = {int(start): TRAIN}, [int(start)]
        for entering in queue:
            if task.tired:
                return
            if (number := _reached(task, fold, entering, before, queue, closed)) != TRAIN:
                while entering != TRAIN:
                    fold[entering], number, entering = number, int(fold[entering]), before[entering]
                break
        else:
            # No path that comes to these cells ever leads out, whatever is exchanged elsewhere.
            closed[queue] = True


def _reached(
    task: FoldTask, fold: IntArray, entering: int, before: dict[int, int], queue: list[int], closed: BoolArray
) -> int:
    """Return a fold that can hold the cell, or TRAIN after queueing the cells whose place it could take."""
    for number in range(task.folds):
        if fold[entering] == number:
            continue
        members = fold == number
        members[entering] = True
        stuck = members & ~task.determined(members)
        if not stuck.any():
            return number
        for leaving in np.flatnonzero(stuck & ~closed):
            if int(leaving) not in before:
                before[int(leaving)] = entering
                queue.append(int(leaving))
    return TRAIN


def _placed(task: FoldTask, fold: IntArray, remaining: IntArray) -> IntArray:
    """Return folds (U,) with the remaining units all in one, or each where it harms the fewest, if that is better."""
    options = []
    for number in range(task.folds):
        options.append(fold.copy())
        options[-1][remaining] = number
    single = fold.copy()
    for unit in remaining:
        if task.tired:
            break
        gains = []
        for number in range(task.folds):
            members = single == number
            without = task.determined(members).sum()
            members[unit] = True
            gains.append(int(task.determined(members).sum() - without))
        single[unit] = int(np.argmax(gains))
    else:
        options.append(single)
    return max(options, key=lambda option: _worth(task, option))


def _worth(task: FoldTask, fold: IntArray) -> tuple[int, float]:
    """How many cells are determined, and among equals how alike the folds are."""
    count = sum(int(task.determined(fold == number).sum()) for number in range(task.folds))
    return count, -float((_sums(task, fold) ** 2).sum())


def _improved(task: FoldTask, fold: IntArray, generator: np.random.Generator) -> IntArray:
    """Move single units to other folds (U,) while that determines more, from there and from places nearby."""
    best, movable = fold, np.flatnonzero(task.live)
    for restart in range(MAX_RESTARTS):
        trial = best.copy()
        if restart:
            trial[generator.choice(movable, UNITS_PER_RESTART)] = generator.integers(task.folds, size=UNITS_PER_RESTART)
        while not task.tired and sum(_moved(task, trial, unit) for unit in generator.permutation(movable)):
            pass
        best = max(best, trial, key=lambda option: _worth(task, option))
    return best


def _moved(task: FoldTask, fold: IntArray, unit: int) -> bool:
    """Move a unit, in place, to the fold in which more cells are determined, or as many and folds are more alike."""
    sums, load, home = _sums(task, fold), task.loads[unit], int(fold[unit])
    alone = np.arange(len(fold)) == unit
    leaving = (fold == home) & ~alone
    best, target = (0, 0.0), home
    gained = 0 if task.tired else int(task.determined(leaving).sum()) - int(task.determined(leaving | alone).sum())
    for number in range(task.folds):
        if number == home or task.tired:
            continue
        members = fold == number
        gain = gained + int(task.determined(members | alone).sum()) - int(task.determined(members).sum())
        best, target = max((best, target), ((gain, float((sums[home] - sums[number] - load) @ load)), number))
    fold[unit] = target
    return target != home


def _balance(task: FoldTask, fold: IntArray) -> None:
    """Put units of bridges where rows are fewest, or make outcomes most alike; then fill empty folds, in place."""
    sums = _sums(task, fold)
    bridges = np.flatnonzero(fold == TRAIN)
    for unit in bridges[np.argsort(-task.units.rows[bridges], kind="stable")]:
        fold[unit] = int(np.argmin(sums @ task.loads[unit]))
        sums[fold[unit]] += task.loads[unit]
    # Whoever leaves a fold harms nobody in it, and alone is determined if anything can determine it.
    while len(empty := np.setdiff1d(np.arange(task.folds), fold)):
        fullest = np.flatnonzero(fold == np.bincount(fold).argmax())
        fold[fullest[np.argmin(task.units.rows[fullest])]] = empty[0]


def _sums(task: FoldTask, fold: IntArray) -> FloatArray:
    """Rows by outcome of each fold, (K, B)."""
    sums = np.zeros((task.folds, task.loads.shape[1]))
    np.add.at(sums, fold[fold != TRAIN], task.loads[fold != TRAIN])
    return sums
