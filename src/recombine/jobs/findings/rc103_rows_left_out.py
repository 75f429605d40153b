"""RC103: rows that could not be used."""

from __future__ import annotations

from recombine.design.notes import NoteKind
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.jobs.findings.note_finding import NoteFinding
from recombine.writing import plural


class RowsLeftOut(NoteFinding):
    """Rows with a gap."""

    code = "RC103"
    title = "rows left out"
    severity = Severity.WARNING
    meaning = "Rows with a missing factor, outcome or weight were not used, so their combinations do not count as seen."
    action = "Fill the gaps, or leave the rows out if they were meant to be left out."
    note = NoteKind.ROWS_LEFT_OUT

    def message(self, evidence: FindingEvidence) -> str:
        """Count rows by what they lack."""
        return "; ".join(f"{plural(evidence[reason], 'row')} with {reason}" for reason in evidence.subjects)


RC103 = RowsLeftOut()
