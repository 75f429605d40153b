"""The verdicts of all listed cells in one line of text, short enough for a document that is kept to be compared."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field

import numpy as np

from recombine.cells.arrays import IntArray, product_size
from recombine.cells.brief import brief_repr
from recombine.cells.conjunctions import MAX_ID, distinct, mixed_radix
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.audit.audit import Audit
from recombine.jobs.listing import MAX_LISTED_WHOLE, ListingKind
from recombine.verdicts import Verdict
from recombine.writing import written_count

#: One letter per verdict, in the order of their codes; cells that are not listed are a gap.
LETTERS, GAP = "sdxuqb", "-"
#: Levels of all factors together that a document names; more are counted only.
MOST_LABELS = 100_000


@dataclass(frozen=True, eq=False)
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

    __repr__ = brief_repr

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
        if sum(lengths) > min(product_size(sizes), MAX_ID) or listed > MAX_LISTED_WHOLE:
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


def cells_record(audit: Audit) -> dict[str, str]:
    """Return the verdicts of all listed cells for a document, or why they are not in it.

    Examples
    --------
    >>> import recombine as rc
    >>> cells_record(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    {'of': 'all cells', 'runs': '3s1d'}
    """
    design, listed = audit.design, audit.decided.listing
    if obstacle := _obstacle(audit):
        return {"of": "none", "obstacle": obstacle}
    return {
        "of": "targets" if listed.kind is ListingKind.TARGETS else "all cells",
        "runs": listed_map(audit).runs(design.sizes),
    }


def _obstacle(audit: Audit) -> str:
    design, listed = audit.design, audit.decided.listing
    doubled = [factor.name for factor in design.factors if len(set(factor.labels)) < len(factor.labels)]
    if doubled:
        return f"two levels of factor {doubled[0]!r} are written alike"
    if sum(design.sizes) > MOST_LABELS:
        return f"there are more than {MOST_LABELS:,} levels"
    if listed.kind is ListingKind.SAMPLE or len(listed.cells) > MAX_LISTED_WHOLE or product_size(design.sizes) > MAX_ID:
        return f"{written_count(design.possible.count)} cells are too many to list"
    return ""


def cells_digest(design: Design, cells: IntArray) -> str:
    """Return a short text that is the same for the same set of ``cells`` (N, C), whatever the order of levels.

    Examples
    --------
    >>> one = Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])
    >>> cells_digest(one, one.seen) == cells_digest(one, one.seen[::-1]) != cells_digest(one, one.seen[:2])
    True
    """
    recoded, labels = _recoded(design, cells)
    rows = distinct(recoded)[0].astype("<i8")
    digest = hashlib.sha256(json.dumps(labels, sort_keys=True).encode())
    digest.update(np.ascontiguousarray(rows).tobytes())
    return digest.hexdigest()[:32]


def ordered_cells(design: Design, cells: IntArray) -> IntArray:
    """Return places (N,) that put ``cells`` (N, C) in an order that no order of levels or factors changes.

    It is the order in which `cells_digest` reads them: fewer than N where two cells are one.

    Examples
    --------
    >>> one = Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["shape", "colour"])
    >>> ordered_cells(one, one.seen).tolist()
    [0, 2, 1]
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
