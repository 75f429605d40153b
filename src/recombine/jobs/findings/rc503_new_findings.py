"""RC503: findings that the audit before did not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from recombine.jobs.comparison.audits import AuditComparison


class NewFindings(FindingKind["AuditComparison"]):
    """Findings above a note that are new."""

    code = "RC503"
    title = "new findings"
    severity = Severity.WARNING
    meaning = "The later audit raises a warning or a problem that the one before did not have."
    action = "Read the new findings; each says what to do."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("new-findings",)

    def check(self, comparison: AuditComparison) -> FindingEvidence | None:
        """Count them; notes come with progress too, for a cell that becomes determined may be shaky."""
        codes = [item.code for item in comparison.findings.new if item.severity != Severity.NOTE.word]
        return FindingEvidence({"findings": len(codes)}, tuple(dict.fromkeys(codes))) if codes else None

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many, and their codes."""
        return f"{plural(evidence['findings'], 'new finding')} ({listing(evidence.subjects, 6)})"


RC503 = NewFindings()
