"""RC109: columns that stand for several factors."""

from __future__ import annotations

from recombine.design.notes import NoteKind
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.jobs.findings.note_finding import NoteFinding


class ColumnTakenApart(NoteFinding):
    """Sequences and sets."""

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
        """Say what was noticed while the column was read."""
        return "; ".join(evidence["remarks"])


RC109 = ColumnTakenApart()
