"""Verdicts of all listed cells in one line of text, which documents keep, and what became of each cell between two."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import MAX_ID, Subset, canonical, distinct, mixed_radix
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.audit.audit import Audit
from recombine.jobs.comparison.differences import in_order
from recombine.jobs.limits import LISTING_LIMITS
from recombine.jobs.listing import ListingKind
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.writing import written_count

#: One letter per verdict, in the order of their codes; cells that are not listed are a gap.
LETTERS, GAP = "sdxuqb", "-"
#: By so many bytes a cell is known again.
KEY_BYTES = 6
#: Levels of all factors together that a document names; more are counted only.
MOST_LABELS = 100_000
#: States of a cell on one side: a verdict, or why there is none.
NOT_LISTED, NO_SUCH_LEVEL = len(Verdict), len(Verdict) + 1
#: States in words.
STATES = (*(verdict.word for verdict in Verdict), "not listed", "no such level")

Levels = Mapping[str, Sequence[str]]


@record
class CellMap:
    """Cells (N, C), sorted, and their verdict codes (N,).

    Written as runs of equal verdicts in the order of cells, the last factor fastest: ``3s1d2-1x`` is three seen cells,
    a determined one, two that are not listed and a disconnected one. The letters are those of `LETTERS`.

    Examples
    --------
    >>> print(CellMap(np.array([[0, 0], [0, 1], [1, 0], [2, 1]]), np.array([0, 0, 1, 2])).runs((3, 2)))
    2s1d2-1x
    >>> CellMap.read("2s1d2-1x", (3, 2)).cells.tolist()
    [[0, 0], [0, 1], [1, 0], [2, 1]]
    """

    cells: IntArray = field(repr=False)
    codes: IntArray

    def runs(self, sizes: tuple[int, ...]) -> str:
        """Return the map as text, where factors have ``sizes`` levels."""
        if not len(self.cells):
            return ""
        ids = mixed_radix(self.cells, sizes)
        run_starts = np.flatnonzero((np.diff(ids, prepend=-2) != 1) | (np.diff(self.codes, prepend=-1) != 0))
        stop = np.append(run_starts[1:], len(ids))
        starts, ends = ids[run_starts], ids[stop - 1] + 1
        gaps = starts - np.append(0, ends[:-1])
        letters = [LETTERS[code] for code in self.codes[run_starts].tolist()]
        pieces = zip(gaps.tolist(), (ends - starts).tolist(), letters, strict=True)
        return "".join(f"{f'{gap}{GAP}' if gap else ''}{length}{letter}" for gap, length, letter in pieces)

    @classmethod
    def read(cls, text: str, sizes: tuple[int, ...]) -> CellMap:
        """Return the map that `runs` wrote; what no map of these ``sizes`` can be is refused."""
        if not re.fullmatch(rf"(?:[0-9]{{1,19}}[{LETTERS}{GAP}])*", text):
            raise InputError("the runs of its cells are not numbers and letters such as 3s1d")
        pieces = re.findall(r"([0-9]+)(.)", text)
        lengths = [int(number) for number, _ in pieces]
        listed = sum(length for length, (_, letter) in zip(lengths, pieces, strict=True) if letter != GAP)
        if sum(lengths) > min(product_size(sizes), MAX_ID) or listed > LISTING_LIMITS.max_listed:
            raise InputError(f"the runs of its cells name more than the {written_count(product_size(sizes))} there are")
        spans = np.array(lengths, dtype=np.int64)
        codes = np.array([LETTERS.find(letter) for _, letter in pieces], dtype=np.int64)
        is_listed, starts = codes >= 0, np.cumsum(spans) - spans
        spans, codes, starts = spans[is_listed], codes[is_listed], starts[is_listed]
        ids = np.repeat(starts - (np.cumsum(spans) - spans), spans) + np.arange(int(spans.sum()))
        cells = np.stack(np.unravel_index(ids, sizes), axis=1) if len(ids) else np.zeros((0, len(sizes)), dtype=int)
        return cls(cells.astype(np.int64), np.repeat(codes, spans))


def listed_map(audit: Audit) -> CellMap:
    """Return the verdicts of all cells that an audit lists, seen ones included."""
    cells, codes = audit.decided.listing.cells, audit.decided.codes
    if audit.decided.listing.kind is ListingKind.ALL_UNSEEN:
        seen = audit.design.seen
        cells = np.vstack([cells, seen])
        codes = np.concatenate([codes, np.full(len(seen), int(Verdict.SEEN))])
    order, first_rows = np.unique(mixed_radix(cells, audit.design.sizes), return_index=True)
    return CellMap(cells[first_rows], codes[first_rows]) if len(order) else CellMap(cells, codes)


def named_levels(audit: Audit) -> dict[str, list[str]] | None:
    """Return factor -> its levels as text, in the order of their codes; None where there are too many to name."""
    if sum(audit.design.sizes) > MOST_LABELS:
        return None
    return {factor.name: list(factor.labels) for factor in audit.design.factors}


class Unlisted(Enum):
    """Why a document does not list the verdicts of cells: levels written alike, or too many levels or cells."""

    ALIKE = "alike"
    LEVELS = "levels"
    CELLS = "cells"


def why_unlisted(audit: Audit) -> Unlisted | None:
    """Say why a document of ``audit`` does not list the verdicts of its cells; None if it does."""
    design, listed = audit.design, audit.decided.listing
    if any(len(set(factor.labels)) < len(factor.labels) for factor in design.factors):
        return Unlisted.ALIKE
    if sum(design.sizes) > MOST_LABELS:
        return Unlisted.LEVELS
    many = len(listed.cells) > LISTING_LIMITS.max_listed or product_size(design.sizes) > MAX_ID
    return Unlisted.CELLS if many or listed.kind is ListingKind.SAMPLE else None


def cells_record(audit: Audit, obstacle: str = "") -> dict[str, str]:
    """Return the verdicts of all listed cells for a document, or the ``obstacle`` in words if there is one.

    Examples
    --------
    >>> import recombine as rc
    >>> cells_record(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    {'of': 'all cells', 'runs': '3s1d'}
    """
    if obstacle:
        return {"of": "none", "obstacle": obstacle}
    targets = audit.decided.listing.kind is ListingKind.TARGETS
    return {"of": "targets" if targets else "all cells", "runs": listed_map(audit).runs(audit.design.sizes)}


def cells_digest(design: Design, cells: IntArray) -> str:
    """Return a short text that is the same for the same set of ``cells`` (N, C), whatever the order of levels."""
    recoded, labels = _recoded(design, cells)
    rows = distinct(recoded)[0].astype("<i8")
    digest = hashlib.sha256(json.dumps(labels, sort_keys=True).encode())
    digest.update(np.ascontiguousarray(rows).tobytes())
    return digest.hexdigest()[:32]


def cell_keys(design: Design, cells: IntArray) -> bytes:
    """Return six bytes per cell, in the order of `ordered_cells`, that are the same wherever levels are called so."""
    recoded, labels = _recoded(design, cells)
    names = sorted(labels)
    keys = [
        hashlib.blake2b(
            json.dumps([[name, labels[name][code]] for name, code in zip(names, row, strict=True)]).encode(),
            digest_size=KEY_BYTES,
        ).digest()
        for row in np.unique(recoded, axis=0).tolist()
    ]
    return b"".join(keys)


def ordered_cells(design: Design, cells: IntArray) -> IntArray:
    """Return places (N,) that put ``cells`` (N, C) in an order that no order of levels or factors changes.

    It is the order in which `cells_digest` reads them: fewer than N where two cells are one.
    """
    return np.asarray(np.unique(_recoded(design, cells)[0], axis=0, return_index=True)[1], dtype=np.int64)


def _recoded(design: Design, cells: IntArray) -> tuple[IntArray, dict[str, list[str]]]:
    """Return cells with factors by name and levels by label, symmetric ones sorted, and these labels by factor."""
    order = sorted(range(len(design.names)), key=design.names.__getitem__)
    recoded = np.empty_like(cells)
    used_labels: dict[str, list[str]] = {}
    for group in design.space.groups:
        places, labels = list(group), design.factors[group[0]].labels
        used = sorted(np.unique(cells[:, places]).tolist(), key=labels.__getitem__)
        rank = np.zeros(len(labels), dtype=np.int64)
        rank[used] = np.arange(len(used))
        recoded[:, places] = np.sort(rank[cells[:, places]], axis=1)
        used_labels |= {design.names[position]: [labels[code] for code in used] for position in group}
    return recoded[:, order], used_labels


@dataclass(frozen=True)
class Transition:
    """What became of one cell, given by its level of each factor."""

    cell: dict[str, str]
    before: str
    after: str


@record
class Transitions:
    """The cells that either side lists, with their states before and after: places in `STATES`.

    A state is the verdict, or that the side does not list the cell (it cannot exist there, or was not asked for), or
    lacks one of its levels.

    Examples
    --------
    >>> side = {"colour": ["blue", "red"], "shape": ["ball", "cube"]}
    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> before = CellMap(cells, np.array([0, 2, 2, 0]))
    >>> after = CellMap(cells, np.array([0, 0, 1, 0]))
    >>> transitions = Transitions.between(before, after, side, side)
    >>> transitions.table
    before        after       cells
    disconnected  seen        1
    disconnected  determined  1
    >>> transitions.gained.sum(), transitions.lost.sum()
    (np.int64(2), np.int64(0))
    """

    levels: dict[str, tuple[str, ...]]  #: Factor -> levels that either side has.
    cells: IntArray = field(repr=False)  #: (N, C): codes into ``levels``.
    before: IntArray  #: (N,)
    after: IntArray  #: (N,)

    @classmethod
    def between(
        cls, before: CellMap, after: CellMap, old: Levels, new: Levels, symmetric: Sequence[Subset] = ()
    ) -> Transitions:
        """Match the cells of two maps by the names of their levels; ``symmetric`` are groups of places of factors."""
        joint = {name: tuple(in_order({*old[name], *new[name]})) for name in in_order(old)}
        names = list(old)
        renamed = [tuple(sorted(list(joint).index(names[position]) for position in group)) for group in symmetric]
        recoded = [canonical(_matched(*side, joint), renamed) for side in ((before, old), (after, new))]
        cells, index = distinct(np.vstack(recoded))
        states = [_unlisted(cells, joint, levels) for levels in (old, new)]
        states[0][index[: len(before.cells)]] = before.codes
        states[1][index[len(before.cells) :]] = after.codes
        return cls(joint, cells, *states)

    @cached_property
    def gained(self) -> BoolArray:
        """Cells possible in both tables that became seen or determined, shape (N,)."""
        return np.asarray(_open(self.before) & _known(self.after))

    @cached_property
    def lost(self) -> BoolArray:
        """Cells that were seen or determined and now are neither, though they are still listed, shape (N,)."""
        return np.asarray(_known(self.before) & _open(self.after))

    @cached_property
    def vanished(self) -> BoolArray:
        """Cells that were seen or determined and have a level that is gone, shape (N,)."""
        return np.asarray(_known(self.before) & (self.after == NO_SUCH_LEVEL))

    @property
    def only_before(self) -> BoolArray:
        """Cells that are not listed after, shape (N,): a level is gone, they cannot exist, or were not asked for."""
        return np.asarray(self.after >= NOT_LISTED)

    @property
    def only_after(self) -> BoolArray:
        """Cells that were not listed before, shape (N,)."""
        return np.asarray(self.before >= NOT_LISTED)

    @cached_property
    def changed(self) -> BoolArray:
        """Cells whose state differs, shape (N,)."""
        return np.asarray(self.before != self.after)

    @property
    def table(self) -> Table:
        """One row per pair of states that differ: how many cells went from the one to the other, most first."""
        pairs = self.before[self.changed] * len(STATES) + self.after[self.changed]
        distinct_pairs, counts = np.unique(pairs, return_counts=True)
        order = sorted(zip((-counts).tolist(), distinct_pairs.tolist(), strict=True), key=_both_ways)
        states = [divmod(pair, len(STATES)) for _, pair in order]
        return Table(
            {
                "before": np.array([STATES[old] for old, _ in states], dtype=object),
                "after": np.array([STATES[new] for _, new in states], dtype=object),
                "cells": np.array([-count for count, _ in order], dtype=int),
            }
        )

    def listed(self, which: BoolArray, count: int) -> list[Transition]:
        """Return up to ``count`` cells of ``which`` (N,), each with its states before and after."""
        transitions = []
        for row in np.flatnonzero(which)[:count]:
            cell = {name: every[code] for (name, every), code in zip(self.levels.items(), self.cells[row], strict=True)}
            transitions.append(Transition(cell, STATES[self.before[row]], STATES[self.after[row]]))
        return transitions


def _both_ways(item: tuple[int, int]) -> tuple[int, int, int, int]:
    """Order pairs by count, then by their states whichever came first, so that the mirror image has the same order."""
    states = sorted(divmod(item[1], len(STATES)))
    return item[0], states[0], states[1], item[1]


def _matched(cell_map: CellMap, levels: Levels, joint: Levels) -> IntArray:
    """Return a map's cells with the factors and codes of the joint levels, (N, C)."""
    names = list(levels)
    columns = []
    for name, every in joint.items():
        code_of = {label: code for code, label in enumerate(every)}
        codes = np.array([code_of[label] for label in levels[name]], dtype=np.int64)
        columns.append(codes[cell_map.cells[:, names.index(name)]])
    return np.stack(columns, axis=1)


def _unlisted(cells: IntArray, joint: Levels, levels: Levels) -> IntArray:
    """Say of each cell why a side that does not list it does not, (N,)."""
    has_levels = np.ones(len(cells), dtype=bool)
    for position, (name, every) in enumerate(joint.items()):
        own_levels = set(levels[name])
        has_levels &= np.array([label in own_levels for label in every], dtype=bool)[cells[:, position]]
    return np.where(has_levels, NOT_LISTED, NO_SUCH_LEVEL)


def _known(states: IntArray) -> BoolArray:
    return np.asarray(states <= Verdict.DETERMINED)


def _open(states: IntArray) -> BoolArray:
    return np.asarray((states > Verdict.DETERMINED) & (states < NOT_LISTED))
