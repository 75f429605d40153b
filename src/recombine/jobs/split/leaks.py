"""Where a split leaks: a cell on both sides, as it is, permuted or spelled another way, and levels that are copies."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import Subset, canonical, contains, distinct
from recombine.jobs.limits import SPLIT_LIMITS
from recombine.measures.dependence.copies import LikelyCopy, SideRows, likely_copies
from recombine.tables.numbers import is_number

#: Punctuation that means nothing; a plus, a star or a dash at an end may mean something (A+, A-).
_IDLE = frozenset("_.,;:'\"`´’‘“”/\\|()[]{}!?¿¡·•")
_DASHES = frozenset("-‐‑‒–—−")

LeakKind = Literal["same cell", "permuted cell", "respelled level", "copied level"]


@dataclass(frozen=True)
class CopiedRows:
    """A level whose test rows, in so many ``cells``, are those of an ``original``; ``chance``: such pairs expected.

    Where ``compared`` is no 0, so many rows (or, in another unit, cells) were compared, and ``agree`` nearly: outcomes
    are ``slope`` times those of the original, and ``offset`` more.
    """

    factor: str
    level: str
    original: str
    cells: int
    chance: float
    agree: int = 0
    compared: int = 0
    slope: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Leak:
    """One way in which training rows give test rows away."""

    kind: LeakKind
    cells: int  #: Test cells that it gives away,
    rows: int  #: and test rows.
    examples: tuple[str, ...] | tuple[CopiedRows, ...] = ()  #: Some of these cells, or the levels that are copies.


@dataclass(frozen=True, eq=False)
class SidedRows:
    """Rows of a table with their side of a split."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: IntArray  #: (N, C): levels as they were written; symmetric factors have one list of levels.
    train: BoolArray  #: (N,): which rows are training.
    symmetric: tuple[Subset, ...] = ()
    outcome: IntArray | None = None  #: (N,): numbers of the outcomes, equal ones alike.
    values: FloatArray | None = None  #: (N,): the outcomes, where all are numbers.

    def text(self, cell: IntArray) -> str:
        """Return one cell as text."""
        return " · ".join(labels[int(code)] for labels, code in zip(self.labels, cell, strict=True))


def find_leaks(rows: SidedRows) -> tuple[Leak, ...]:
    """Return every leak of a split; each test cell counts for the first kind that gives it away.

    Examples
    --------
    >>> codes = np.array([[0, 0], [1, 1], [0, 0], [2, 1]])
    >>> labels = (("red", "blue", "Blue"), ("cube", "ball"))
    >>> sides = SidedRows(("colour", "shape"), labels, codes, np.array([True, True, False, False]))
    >>> [(leak.kind, leak.cells) for leak in find_leaks(sides)]
    [('same cell', 1), ('respelled level', 1)]
    """
    leaks: list[Leak] = []
    test, where = distinct(rows.codes[~rows.train])
    count = np.bincount(where, minlength=len(test))
    train = distinct(rows.codes[rows.train])[0]
    open_cells = np.ones(len(test), dtype=bool)
    views: list[tuple[LeakKind, IntArray, IntArray]] = [("same cell", train, test)]
    if rows.symmetric:
        views.append(("permuted cell", canonical(train, rows.symmetric), canonical(test, rows.symmetric)))
    respelled = _respelled(rows)
    views.append(("respelled level", respelled(train), respelled(test)))
    for kind, train_view, test_view in views:
        hit = open_cells & contains(train_view, test_view)
        if hit.any():
            words = tuple(rows.text(cell) for cell in test[hit][:3])
            leaks.append(Leak(kind, int(hit.sum()), int(count[hit].sum()), words))
            open_cells &= ~hit
    return (*leaks, *_copied_levels(rows))


def alike_levels(rows: SidedRows) -> list[tuple[str, str, str]]:
    """Return (factor, level of test, level of training) where only the way they are written differs.

    Levels of the test that training has as they are written are left out.
    """
    alike = []
    for factor, (name, labels) in enumerate(zip(rows.names, rows.labels, strict=True)):
        train = set(rows.codes[rows.train, factor].tolist())
        by_spelling = {spelling(labels[code]): labels[code] for code in sorted(train, reverse=True)}
        for code in sorted(set(rows.codes[~rows.train, factor].tolist()) - train):
            if (twin := by_spelling.get(spelling(labels[code]))) is not None:
                alike.append((name, labels[code], twin))
    return alike


def spelling(label: str) -> object:
    """Return what is left of a label without case, blanks and idle punctuation; of a number its value.

    Examples
    --------
    >>> spelling("St. Louis") == spelling("st-louis"), spelling("1.50") == spelling("1.5")
    (True, True)
    >>> spelling("A+") == spelling("A-"), spelling("1-2") == spelling("12")
    (False, False)
    """
    if is_number(label):
        return float(label)
    text = unicodedata.normalize("NFKC", label).strip()
    signs = []
    for position, sign in enumerate(text):
        before, after = text[position - 1 : position], text[position + 1 : position + 2]
        between_digits = before.isdigit() and after.isdigit()
        idle = sign.isspace() or unicodedata.category(sign) == "Cf" or (sign in _IDLE and not between_digits)
        if sign in _DASHES:
            idle = before.isalnum() and after.isalnum() and not between_digits
        if not idle:
            signs.append(sign)
    letters = "".join(signs)
    return (letters.casefold() if len(letters) >= SPLIT_LIMITS.min_letters_folded else letters) or label


def _respelled(rows: SidedRows) -> Callable[[IntArray], IntArray]:
    """Return what writes cells (M, C) with the first level of each factor that is spelled like theirs."""
    maps = []
    for labels in rows.labels:
        first_code: dict[object, int] = {}
        maps.append(np.array([first_code.setdefault(spelling(label), code) for code, label in enumerate(labels)]))
    return lambda cells: canonical(
        np.stack([level_map[cells[:, factor]] for factor, level_map in enumerate(maps)], axis=1), rows.symmetric
    )


def _copied_levels(rows: SidedRows) -> list[Leak]:
    """Levels of the test whose rows repeat those of another level in training, to the last digit or nearly."""
    if rows.outcome is None:
        return []
    test, train = _Profile.of(rows, ~rows.train), _Profile.of(rows, rows.train)
    cells, copies = np.zeros(len(test.cells), dtype=bool), []
    for factor, (name, labels) in enumerate(zip(rows.names, rows.labels, strict=True)):
        for level, original, mine, chance in _copies(test, train, factor):
            cells |= mine
            copies.append(CopiedRows(name, labels[level], labels[original], int(mine.sum()), chance))
        exact = {copy.level for copy in copies if copy.factor == name}
        for copy, mine in _near_copies(rows, factor, test.cells):
            if labels[copy.level] not in exact:
                cells |= mine
                numbers = (copy.chance, copy.agree, copy.compared, copy.slope, copy.offset)
                copies.append(CopiedRows(name, labels[copy.level], labels[copy.original], int(mine.sum()), *numbers))
    return [Leak("copied level", int(cells.sum()), int(test.rows[cells].sum()), tuple(copies))] if copies else []


def _near_copies(rows: SidedRows, factor: int, cells: IntArray) -> Iterator[tuple[LikelyCopy, BoolArray]]:
    """Yield levels that repeat another nearly, in part or in another unit, and their test cells, as a mask (M,)."""
    if rows.values is None or not np.isfinite(rows.values).all():
        return
    test, train = (SideRows(rows.codes[side], rows.values[side]) for side in (~rows.train, rows.train))
    for copy in likely_copies(test, train, factor):
        yield copy, contains(test.cells[copy.rows], cells)


@dataclass(frozen=True, eq=False)
class _Profile:
    """Distinct cells (M, C) of one side, how many rows each has, and the outcomes of these as one number (M,)."""

    cells: IntArray
    rows: IntArray
    outcomes: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, rows: SidedRows, side: BoolArray) -> _Profile:
        """Take the rows of one side. Sums of mixed numbers tell multisets apart, but for one chance in 2**64."""
        assert rows.outcome is not None
        cells, where = distinct(rows.codes[side])
        total = np.zeros(len(cells), dtype=np.uint64)
        np.add.at(total, where, _mixed(rows.outcome[side].astype(np.uint64)))
        return cls(cells, np.bincount(where, minlength=len(cells)), total)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    state = (values + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(state ^ (state >> np.uint64(31)))


def _copies(test: _Profile, train: _Profile, factor: int) -> list[tuple[int, int, BoolArray, float]]:
    """Return (test level, training level, its test cells (M,), number of such pairs expected by chance).

    By chance means: each outcome of the test level is drawn anew, and agrees as often as further levels agree with it
    in the same contexts, or as often as its outcome occurs in the table, whichever makes the coincidence likelier. A
    context without further levels tells nothing.
    """
    both = np.vstack([np.delete(profile.cells, factor, axis=1) for profile in (test, train)])
    context = distinct(both)[1]
    here, there = context[: len(test.cells)], context[len(test.cells) :]
    outcome = np.unique(np.concatenate([test.outcomes, train.outcomes]), return_inverse=True)[1].reshape(-1)
    mine, theirs = outcome[: len(test.cells)], outcome[len(test.cells) :]
    width = int(outcome.max()) + 1
    key_here, key_there = here * width + mine, there * width + theirs
    levels, level_there = test.cells[:, factor], train.cells[:, factor]
    overall = np.bincount(theirs, minlength=width) / max(len(theirs), 1)
    in_context = np.bincount(there, minlength=int(context.max()) + 1)
    keys, key_count = np.unique(key_there, return_counts=True)
    met = _counted(keys, key_count, key_here)
    order = np.argsort(key_there, kind="stable")
    size = int(max(levels.max(initial=0), level_there.max(initial=0))) + 1
    pairs_there = np.unique(key_there * size + level_there)
    tries = len(np.unique(levels)) * len(np.unique(level_there))
    copies = []
    for level in np.unique(levels):
        cells = np.flatnonzero(levels == level)
        if len(cells) < SPLIT_LIMITS.min_cells_copied or not met[cells].all():
            continue
        rare = key_here[cells[np.argmin(met[cells])]]
        low, high = np.searchsorted(key_there[order], [rare, rare + 1])
        for original in np.unique(level_there[order[low:high]])[: SPLIT_LIMITS.max_levels_compared]:
            if original == level or not np.isin(key_here[cells] * size + original, pairs_there).all():
                continue
            # The pair's own cells are no evidence of what others have.
            has_pair = np.isin(key_here[cells] * size + level, pairs_there)
            inside = np.isin(here[cells], there[level_there == level])
            others = in_context[here[cells]] - 1 - inside
            same = met[cells] - 1 - has_pair
            # The mean rate to the power of the contexts is no less than the product of their rates.
            rate = (same.sum() + 1) / (others.sum() + 1)
            chance = np.where(others > 0, np.maximum(rate, overall[mine[cells]]), 1.0)
            likely = np.log(chance).sum() + math.log(tries)
            if likely <= math.log(SPLIT_LIMITS.max_copies_by_chance):
                copies.append((int(level), int(original), levels == level, math.exp(max(likely, -700.0))))
    return copies


def _counted(keys: IntArray, counts: IntArray, wanted: IntArray) -> IntArray:
    """Return how often each of ``wanted`` (N,) was counted, by ascending ``keys``."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(np.where(keys[position] == wanted, counts[position], 0), dtype=np.int64)
