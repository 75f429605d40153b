"""What was noticed while a table was read: kinds of notes with their numbers, which findings put into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from recombine.design.parts import Parts
from recombine.design.space import FactorSpace
from recombine.tables.frames import Source
from recombine.tables.guesses import Proposal
from recombine.tables.numbers import level_text, look_alikes, measured_span

if TYPE_CHECKING:
    from recombine.tables.level_features import LevelFeatures


class NoteKind(Enum):
    """What a note is about."""

    ROWS_LEFT_OUT = auto()
    FACTORS_GUESSED = auto()
    COLUMN_TAKEN_APART = auto()
    LEVELS_IN_DOUBT = auto()
    LEVELS_DESCRIBED = auto()


@dataclass(frozen=True)
class TableNote:
    """One note: its kind, its numbers by name, and the columns or reasons that it is about."""

    kind: NoteKind
    numbers: Mapping[str, Any]
    subjects: tuple[str, ...]


def reading_notes(
    left_out: Mapping[str, int], proposals: Sequence[Proposal], parts: Sequence[Parts], outcome: str | None = None
) -> Iterator[TableNote]:
    """Yield notes on rows left out, by reason, on factors and ``outcome`` guessed and on columns taken apart."""
    lacking = {reason: count for reason, count in left_out.items() if count}
    if lacking:
        yield TableNote(NoteKind.ROWS_LEFT_OUT, lacking, tuple(lacking))
    if proposals:
        reasons = {item.column: item.reason for item in proposals if item.taken}
        likely = {item.column: item.role for item in proposals if item.reason.startswith("looks like the")}
        numbers = {
            "reasons": reasons,
            "outcome": outcome if outcome in likely else None,
            "candidates": [item.column for item in proposals if item.candidate],
            "roles": {column: role for column, role in likely.items() if column != outcome},
            "passed over": [item.column for item in proposals if "but it comes after" in item.reason],
        }
        yield TableNote(NoteKind.FACTORS_GUESSED, numbers, tuple(reasons))
    if parts:
        remarks = [remark for column in parts for remark in column.remarks]
        yield TableNote(NoteKind.COLUMN_TAKEN_APART, {"remarks": remarks}, tuple(column.column for column in parts))


def level_doubts(source: Source, space: FactorSpace) -> Iterator[TableNote]:
    """Yield a note on levels that look alike, measurements taken as labels, and an encoding that had to be assumed."""
    leaders = [space.factors[group[0]] for group in space.groups]
    apart = space.taken_apart
    plain = {item.name: item.labels for item in leaders if item.name not in apart and not item.on_scale}
    alike = {name: groups for name, labels in plain.items() if (groups := look_alikes(labels))}
    measured = {name: span for name, labels in plain.items() if (span := measured_span(labels))}
    encoding = source.reader.note
    subjects = [*(["the encoding"] if encoding else []), *(name for name in plain if name in alike or name in measured)]
    if subjects:
        numbers = {"encoding": encoding, "alike": alike, "measured": measured}
        yield TableNote(NoteKind.LEVELS_IN_DOUBT, numbers, tuple(subjects))


def levels_alike(notes: Iterable[TableNote]) -> Mapping[str, list[tuple[str, ...]]]:
    """Return the levels that look like spellings of one level, by factor; the first stands for interchangeable ones."""
    return next((note.numbers["alike"] for note in notes if note.kind is NoteKind.LEVELS_IN_DOUBT), {})


def feature_notes(features: Mapping[str, LevelFeatures], space: FactorSpace) -> Iterator[TableNote]:
    """Yield a note on descriptors: levels without any, levels that only they name, numbers and columns missing."""
    numbers = {}
    for name, table in features.items():
        levels = space.factors[space.names.index(name)].levels
        numbers[name] = {
            "descriptors": table.names,
            "without": [level_text(level) for level in table.without(levels)],
            "new": [level_text(level) for level in table.beyond(levels)],
            "imputed": dict(table.imputed),
            "left out": dict(table.left_out),
        }
    if numbers:
        yield TableNote(NoteKind.LEVELS_DESCRIBED, numbers, tuple(numbers))
