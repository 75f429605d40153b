"""RC104: the factor columns were guessed."""

from __future__ import annotations

from recombine.design.notes import NoteKind
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.jobs.findings.note_finding import NoteFinding
from recombine.tables.guesses import MAX_GUESSED_FACTORS
from recombine.writing import listing


class FactorsGuessed(NoteFinding):
    """Columns that were taken as factors unasked."""

    code = "RC104"
    title = "factors were guessed"
    severity = Severity.WARNING
    meaning = "No factor columns were named. The guess goes by the number of distinct values."
    action = "Name the columns with --factors to be sure."
    note = NoteKind.FACTORS_GUESSED

    def message(self, evidence: FindingEvidence) -> str:
        """Say which columns and why, and what others look like."""
        taken = ", ".join(f"{column} ({reason})" for column, reason in evidence["reasons"].items())
        likely = "".join(
            f"; {column!r} looks like the {role} (--{role} {column})" for column, role in evidence["roles"].items()
        )
        passed = ""
        if evidence["passed over"]:
            columns = listing(evidence["passed over"], 6)
            passed = f"; passed over, because at most {MAX_GUESSED_FACTORS} are guessed: {columns}"
        return f"taken as factors: {taken}; name them with --factors to be sure{passed}{likely}"


RC104 = FactorsGuessed()
