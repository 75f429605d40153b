"""RC103, RC104, RC107, RC108, RC109, RC111: how the table was read, as far as somebody should look at it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any, ClassVar

from recombine.cells.arrays import product_size
from recombine.design.design import Design
from recombine.design.nesting import nesting_phrase
from recombine.design.notes import NoteKind
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.tables.guesses import MAX_GUESSED_FACTORS
from recombine.writing import listing, option_text, plural

#: Groups of levels that look alike which are named, of each factor.
MAX_GROUPS_NAMED = 3


class NoteFinding(FindingKind["Design"]):
    """A finding that rests on a note of kind ``note`` which reading left behind."""

    reads = "design"
    severity = Severity.WARNING
    note: ClassVar[NoteKind]

    def check(self, design: Design) -> FindingEvidence | None:
        notes = (note for note in design.reading.notes if note.kind is self.note)
        return next((FindingEvidence(note.numbers, note.subjects) for note in notes), None)


class RowsLeftOut(NoteFinding):
    code = "RC103"
    title = "rows left out"
    meaning = "Rows with a missing factor, outcome or weight were not used, so their combinations do not count as seen."
    action = "Fill the gaps, or leave the rows out if they were meant to be left out."
    note = NoteKind.ROWS_LEFT_OUT

    def message(self, evidence: FindingEvidence) -> str:
        return "; ".join(f"{plural(evidence[reason], 'row')} with {reason}" for reason in evidence.subjects)


class FactorsGuessed(NoteFinding):
    code = "RC104"
    title = "factors were guessed"
    meaning = "No factor columns were named. The guess goes by the number of distinct values."
    action = "Name the columns with --factors to be sure."
    note = NoteKind.FACTORS_GUESSED

    def message(self, evidence: FindingEvidence) -> str:
        taken = ", ".join(f"{column} ({reason})" for column, reason in evidence["reasons"].items())
        likely = "".join(
            f"; {column!r} looks like the {role} ({shlex.join([f'--{role}', column])})"
            for column, role in evidence["roles"].items()
        )
        passed = ""
        if evidence["passed over"]:
            columns = listing(evidence["passed over"], 6)
            passed = f"; passed over, because at most {MAX_GUESSED_FACTORS} are guessed: {columns}"
        outcome = f"; taken as the outcome: {evidence['outcome']}" if evidence["outcome"] else ""
        return f"taken as factors: {taken}; name them with --factors to be sure{passed}{outcome}{likely}"


class LevelsInDoubt(NoteFinding):
    code = "RC107"
    title = "levels read in doubt"
    meaning = (
        "Levels are the values as they were written. Some of them look like two spellings of one level, or a column of "
        "measurements was taken as unordered labels, or the file's encoding had to be assumed. In 23 of 24 columns of "
        "real tables where levels looked alike, they were one."
    )
    action = (
        "Take spellings for one level with --merge-alike, or clean the table; name measured columns with --numeric."
    )
    note = NoteKind.LEVELS_IN_DOUBT

    def message(self, evidence: FindingEvidence) -> str:
        return "; ".join(self._doubts(evidence))

    def _doubts(self, evidence: FindingEvidence) -> Iterator[str]:
        if evidence["encoding"]:
            yield evidence["encoding"]
        for factor in evidence.subjects:
            if groups := evidence["alike"].get(factor):
                shown = "; ".join(" and ".join(map(repr, group[:3])) for group in groups[:MAX_GROUPS_NAMED])
                further = len(groups) - MAX_GROUPS_NAMED
                more = f" (and {further:,} more)" if further > 0 else ""
                yield f"{factor!r}: {shown}{more} look like one level{'' if len(groups) == 1 else ' each'}"
            if span := evidence["measured"].get(factor):
                count, low, high = span
                yield (
                    f"{factor!r}: {count:,} numbers taken as unordered labels ({low:g} to {high:g}): what lies between "
                    "them is no level; if measured, say --numeric"
                )


class FactorInside(FindingKind["Design"]):
    code = "RC108"
    title = "a factor lies inside another"
    severity = Severity.WARNING
    meaning = (
        "Each level of a factor goes with one level of another only, as plants go with treatments, and chance does not "
        "explain it. Combinations that would take a level elsewhere are taken to be impossible: they are not counted, "
        "mapped or proposed. Only you know whether that is so."
    )
    action = "Confirm it with --nested, or say --crossed if such combinations can exist."
    reads = "design"

    def check(self, design: Design) -> FindingEvidence | None:
        inferred = [item for item in design.space.nesting if item.inferred]
        if not inferred:
            return None
        every = product_size(design.sizes)
        numbers = {"nesting": inferred, "impossible": every - design.possible.span, "every": every}
        return FindingEvidence(numbers, tuple(f"{item.child}/{item.parent}" for item in inferred))

    def message(self, evidence: FindingEvidence) -> str:
        pairs = " ".join(option_text("--nested", pair) for pair in evidence.subjects)
        return (
            f"{nesting_phrase(evidence['nesting'])}; {evidence['impossible']:,} of the {evidence['every']:,} "
            "combinations of levels would take a level out of the one it lies in and are taken to be impossible. To "
            f"confirm: {pairs}; if they can exist: --crossed"
        )


class ColumnTakenApart(NoteFinding):
    code = "RC109"
    title = "a column taken apart"
    severity = Severity.NOTE
    meaning = (
        "A sequence stands for one factor per position, a set for one factor per member. Positions and members that "
        "are the same in every row are left out, for nothing can be said about changing them."
    )
    action = "Look whether the positions or members are those that you meant."
    note = NoteKind.COLUMN_TAKEN_APART

    def message(self, evidence: FindingEvidence) -> str:
        return "; ".join(evidence["remarks"])


class LevelsDescribed(NoteFinding):
    code = "RC111"
    title = "levels with descriptors"
    severity = Severity.NOTE
    meaning = (
        "Levels of a factor have descriptors, so that values of a level that no training row has rest on what they did "
        "for other levels. The verdict stays: no sum of seen rows gives such a cell."
    )
    action = "Describe the levels that lack descriptors, and look whether missing numbers should be filled in."
    note = NoteKind.LEVELS_DESCRIBED

    def message(self, evidence: FindingEvidence) -> str:
        return "; ".join(self._of(name, evidence[name]) for name in evidence.subjects)

    def _of(self, name: str, numbers: dict[str, Any]) -> str:
        remarks = [f"{name!r} has {plural(len(numbers['descriptors']), 'descriptor')}"]
        if numbers["new"]:
            count, names = plural(len(numbers["new"]), "level"), listing(numbers["new"], 5)
            remarks.append(f"{count} that no row has ({names}) can be asked about")
        if numbers["without"]:
            remarks.append(f"without descriptors, known by their rows alone: {listing(numbers['without'], 5)}")
        if numbers["imputed"]:
            texts = [f"{column} ({count:,})" for column, count in numbers["imputed"].items()]
            remarks.append(f"missing numbers are medians: {listing(texts, 5)}")
        if numbers["left out"]:
            texts = [f"{column} {reason}" for column, reason in numbers["left out"].items()]
            remarks.append(f"columns left out: {listing(texts, 5)}")
        return "; ".join(remarks)
