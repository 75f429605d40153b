"""What findings about the reading of a table share: each turns one kind of note into a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from recombine.jobs.findings.finding import FindingEvidence, FindingKind

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.design.notes import NoteKind


class NoteFinding(FindingKind["Design"]):
    """A finding that rests on a note of kind ``note`` which reading left behind."""

    part = "design"
    note: ClassVar[NoteKind]

    def check(self, design: Design) -> FindingEvidence | None:
        """Look for the note."""
        notes = (note for note in design.notes if note.kind is self.note)
        return next((FindingEvidence(note.numbers, note.subjects) for note in notes), None)
