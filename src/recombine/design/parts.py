"""Columns that stand for several factors: a sequence has one per position, a set one per member.

Both are read as the texts they hold, grouped like any other column, and taken apart afterwards, each text once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray, affordable
from recombine.design.factors import Factor
from recombine.errors import InputError, near_miss
from recombine.tables.frames import Source
from recombine.writing import listing, option_text, plural, whole_percent

#: What may stand between the members of a set, if nothing else is said.
SEPARATORS = ("+", ";", ",", "|")
#: Words for no member, in lower case: a control that fills the place of a member.
CONTROLS = ("ctrl", "control", "none", "wt", "nt", "non-targeting", "nontargeting", "neg", "dmso", "vehicle")
#: Levels of a member of a set.
ABSENT, PRESENT = "absent", "present"


@dataclass(frozen=True)
class Parts:
    """A column and the factors it was taken apart into.

    Examples
    --------
    >>> sequence = Parts("x", "sequence", (0, 1), ("x1", "x3"), ("A", "C", "G"), (0, 2))
    >>> sequence.text(["T", "G"])
    'TCG'
    >>> Parts("genes", "set", (0, 1), ("IRF1", "KLF1")).text([PRESENT, PRESENT])
    'IRF1+KLF1'
    """

    column: str
    kind: Literal["sequence", "set"]
    #: Where its factors stand among those of the design, and their names.
    places: tuple[int, ...]
    names: tuple[str, ...]
    #: Of a sequence, one character per position, as in the first row. Of a set, the members that every row has.
    whole: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()  #: Of a sequence, the positions (from 0) that vary.
    #: Of a set: what stands between members, and the word for none.
    separator: str = "+"
    control: str = "none"
    remarks: tuple[str, ...] = ()  #: What was noticed while reading.

    @property
    def title(self) -> str:
        """The column with its number of factors: ``"x (55 positions)"``."""
        return f"{self.column} ({plural(len(self.places), 'position' if self.kind == 'sequence' else 'member')})"

    def text(self, labels: Sequence[str]) -> str:
        """Return what the column holds where its factors have these levels, one for each of its factors."""
        if self.kind == "sequence":
            characters = list(self.whole)
            for position, label in zip(self.positions, labels, strict=True):
                characters[position] = label
            return "".join(characters)
        members = [name for name, label in zip(self.names, labels, strict=True) if label == PRESENT]
        return self.separator.join(sorted([*self.whole, *members])) or self.control

    def levels(self, texts: Sequence[object], owner: str) -> dict[str, npt.NDArray[Any]]:
        """Return the levels of each of its factors in ``texts`` (N,), by name; ``owner`` says whose texts they are."""
        values = [_one_text(text, number, self.column, owner) for number, text in enumerate(texts, 1)]
        if self.kind == "sequence":
            return dict(zip(self.names, self._characters(values, owner), strict=True))
        members = [_members(text, self.separator, self._controls) for text in values]
        listed = {*self.names, *self.whole}
        for text, present in zip(values, members, strict=True):
            for name in sorted(present - listed):
                raise InputError(
                    f"{owner}: {name!r} in {text!r} is not a member of any {self.column!r};"
                    f"{near_miss(name, listed, f'Members: {listing(sorted(listed))}')}"
                )
        lacks = [text for text, present in zip(values, members, strict=True) if not present.issuperset(self.whole)]
        if lacks:
            raise InputError(f"{owner}: {lacks[0]!r} lacks {listing(self.whole)}, which every row of the table has")
        return {
            name: np.array([PRESENT if name in present else ABSENT for present in members], dtype=object)
            for name in self.names
        }

    @property
    def _controls(self) -> frozenset[str]:
        return frozenset({*CONTROLS, self.control.casefold()} - {name.casefold() for name in self.names})

    def _characters(self, texts: list[str], owner: str) -> list[npt.NDArray[Any]]:
        fixed = [position for position in range(len(self.whole)) if position not in self.positions]
        for number, text in enumerate(texts, 1):
            if len(text) != len(self.whole):
                raise InputError(
                    f"{owner}: row {number:,} of {self.column!r} has length {len(text):,}, and the sequences of the "
                    f"table have {len(self.whole):,}; give sequences of that length"
                )
            for position in fixed:
                if text[position] != self.whole[position]:
                    raise InputError(
                        f"{owner}: row {number:,} has {text[position]!r} at position {position + 1} of "
                        f"{self.column!r}, where every row of the table has {self.whole[position]!r}; nothing is known "
                        "of another one"
                    )
        return [np.array([text[position] for text in texts], dtype=object) for position in self.positions]


def _one_text(text: object, row: int, column: str, owner: str) -> str:
    if isinstance(text, str) and text.strip():
        return text
    raise InputError(f"{owner}: row {row:,} of {column!r} is {text!r}; give a text in every row")


@dataclass(frozen=True, eq=False)
class TakenApart:
    """Factors and codes (M, C) of one column, and how they came about."""

    parts: Parts
    factors: tuple[Factor, ...]
    codes: IntArray


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The distinct texts of one column of a table, shape (M,), and the table to look up rows for messages."""

    source: Source
    column: str
    texts: npt.NDArray[Any]

    @property
    def where(self) -> str:
        """The column as messages name it."""
        return f"{self.column!r} of {self.source.name}"

    def row_of(self, wrong: Iterable[str]) -> int:
        """Return the number of the first row (from 1, without the header) that holds one of these texts."""
        wanted_texts = set(wrong)
        values = self.source.read([self.column])[self.column].tolist()
        return next(number for number, value in enumerate(values, 1) if value in wanted_texts)

    @cached_property
    def checked(self) -> list[str]:
        """The texts, none of them empty."""
        values: list[Any] = self.texts.tolist()
        kind = self.source.kind(self.column)
        if self.source.reader.typed and kind != "text":
            raise InputError(f"{self.where} is of kind {kind}, not text; store sequences and sets as text")
        empty = {text for text in set(values) if not text.strip()}
        if empty:
            raise InputError(
                f"row {self.row_of(empty):,} of {self.where} is empty; leave the row out, or write what it holds "
                f"(of a set without members: {CONTROLS[0]!r})"
            )
        return values


def read_sequence(column: TextColumn, first: int) -> TakenApart:
    """Take sequences of equal length apart: one factor per position that varies, the first at place ``first``."""
    texts = column.checked
    length = _one_length(column, texts)
    affordable(f"the levels of {column.where}", len(texts), length)
    points = np.asfortranarray(np.array(texts, dtype=f"U{length}").view(np.uint32).reshape(len(texts), length))
    present = [np.bincount(points[:, position]) > 0 for position in range(length)]
    positions = [position for position, levels in enumerate(present) if levels.sum() > 1]
    if not positions:
        raise InputError(f"{column.where} holds the same sequence in every row; nothing can be recombined along it")
    factors = []
    codes = np.empty((len(texts), len(positions)), dtype=np.int64, order="F")
    for index, position in enumerate(positions):
        levels = tuple(chr(point) for point in np.flatnonzero(present[position]))
        factors.append(Factor(f"{column.column}{position + 1}", levels))
        codes[:, index] = (np.cumsum(present[position]) - 1)[points[:, position]]
    remarks = [f"{column.column} is a sequence of {length:,} positions, each a factor"]
    if same := [str(position + 1) for position in range(length) if position not in set(positions)]:
        noun = "position" if len(same) == 1 else "positions"
        remarks.append(f"left out as the same in every row: {noun} {listing(same)}")
    places, names = tuple(range(first, first + len(factors))), tuple(factor.name for factor in factors)
    taken = Parts(column.column, "sequence", places, names, tuple(texts[0]), tuple(positions), remarks=tuple(remarks))
    return TakenApart(taken, tuple(factors), codes)


def _one_length(column: TextColumn, texts: list[str]) -> int:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    usual = int(np.bincount(lengths).argmax())
    if (lengths != usual).any():
        row = column.row_of(text for text in texts if len(text) != usual)
        length = len(column.source.read([column.column])[column.column][row - 1])
        raise InputError(
            f"row {row:,} of {column.where} has length {length:,}, and "
            f"{whole_percent(float(np.mean(lengths == usual)))} of its sequences have {usual:,}; "
            "align the sequences, or leave the others out"
        )
    return usual


def read_set(column: TextColumn, first: int, separator: str | None, control: Sequence[str] | None) -> TakenApart:
    """Take sets such as ``"A+B+ctrl"`` apart: one factor per member, absent or present, from place ``first`` on."""
    texts = column.checked
    between = _separator(column, texts) if separator is None else separator
    if not between or between.isalnum():
        raise InputError(f"separator {separator!r} is a letter, a digit or nothing; give a sign such as + or |")
    controls = frozenset(word.casefold() for word in (CONTROLS if control is None else control))
    pieces = _pieces(column, texts, between)
    named = [[piece for piece in row if piece.casefold() not in controls] for row in pieces]
    names = sorted({name for row in named for name in row})
    affordable(f"the members of {column.where}", len(texts), len(names))
    column_of = {name: number for number, name in enumerate(names)}
    codes = np.zeros((len(texts), len(names)), dtype=np.int64)
    codes[
        np.repeat(np.arange(len(texts)), list(map(len, named))), [column_of[name] for row in named for name in row]
    ] = 1
    everywhere = np.asarray(codes.all(axis=0))
    if everywhere.all():
        raise InputError(f"{column.where} holds the same members in every row; nothing can be recombined along it")
    used = sorted({piece for row in pieces for piece in row if piece.casefold() in controls})
    varying = tuple(name for name, always in zip(names, everywhere.tolist(), strict=True) if not always)
    constant = tuple(name for name in names if name not in varying)
    twice = [text for text, row in zip(texts, named, strict=True) if len(set(row)) < len(row)]
    taken = Parts(
        column.column,
        "set",
        tuple(range(first, first + len(varying))),
        varying,
        constant,
        separator=between,
        control=used[0] if used else "none",
        remarks=tuple(_set_remarks(column.column, between, names, used, constant, twice)),
    )
    return TakenApart(taken, tuple(Factor(name, (ABSENT, PRESENT)) for name in varying), codes[:, ~everywhere])


def _pieces(column: TextColumn, texts: list[str], between: str) -> list[list[str]]:
    """Return what stands between separators in each text, nothing of it empty."""
    pieces = [[piece.strip() for piece in text.split(between)] for text in texts]
    blank = [text for text, row in zip(texts, pieces, strict=True) if not all(row)]
    if blank:
        raise InputError(
            f"row {column.row_of(blank[:1]):,} of {column.where}, {blank[0]!r}, has an empty part; "
            f"name what stands beside each {between!r}"
        )
    if not any(len(row) > 1 for row in pieces):
        raise InputError(
            f"no row of {column.where} has two parts with {between!r} between them; name what separates them with "
            f"--separator, or take the column as one factor with {option_text('--factors', column.column)}"
        )
    return pieces


def _set_remarks(
    column: str, separator: str, names: list[str], used: list[str], constant: tuple[str, ...], twice: list[str]
) -> Iterable[str]:
    yield f"{column} is a set of {plural(len(names), 'member')} separated by {separator!r}, each a factor"
    if used:
        yield f"read as no member: {listing(used)}"
    if constant:
        yield f"left out as present in every row: {listing(constant)}"
    if twice:
        yield f"a member that is named twice counts once ({plural(len(twice), 'cell')}, such as {twice[0]!r})"


def _separator(column: TextColumn, texts: list[str]) -> str:
    signs = [sign for sign in SEPARATORS if any(sign in text for text in texts)]
    if len(signs) > 1:
        raise InputError(
            f"{column.where} holds {' and '.join(map(repr, signs))}, as in "
            f"{next(text for text in texts if signs[1] in text)!r}; say which one separates members: --separator "
            f"'{signs[0]}'"
        )
    return signs[0] if signs else SEPARATORS[0]


def _members(text: str, separator: str, controls: frozenset[str]) -> frozenset[str]:
    pieces = (piece.strip() for piece in text.split(separator))
    return frozenset(piece for piece in pieces if piece and piece.casefold() not in controls)


def take_apart(
    source: Source,
    kinds: Mapping[str, str],
    texts: Sequence[npt.NDArray[Any]],
    first: int,
    separator: str | None,
    control: Sequence[str] | None,
) -> list[TakenApart]:
    """Take columns apart, of which ``kinds`` says what they are and ``texts`` (M,) hold the values in each group.

    ``first`` is the place of the first factor; ``separator`` and ``control`` are those of sets, None to recognise them.
    """
    columns_taken: list[TakenApart] = []
    for (name, kind), values in zip(kinds.items(), texts, strict=True):
        column = TextColumn(source, name, values)
        if kind == "sequence":
            columns_taken.append(read_sequence(column, first))
        else:
            columns_taken.append(read_set(column, first, separator, control))
        first += len(columns_taken[-1].factors)
    if first < 2:
        what = "position" if columns_taken[0].parts.kind == "sequence" else "member"
        raise InputError(
            f"rows of {column.where} differ in one {what} only, {columns_taken[0].factors[0].name}, which is too "
            "little to recombine; name another factor"
        )
    return columns_taken
