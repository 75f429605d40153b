"""RC502: factors and levels that are no longer there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.comparison.audits import AuditComparison


class LevelsGone(FindingKind["AuditComparison"]):
    """Names that the later table lacks."""

    code = "RC502"
    title = "levels gone"
    severity = Severity.WARNING
    meaning = "Factors or levels of the audit before do not occur any more, so that nothing is said about them."
    action = "Look whether they were renamed or left out; their combinations are not judged any more."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("gone-levels",)

    def obstacle(self, comparison: AuditComparison) -> str:
        """Very many levels are not written into documents."""
        untold = not comparison.levels and comparison.factors.stay
        return "an audit has too many levels to name them; leave it out" if untold else ""

    def check(self, comparison: AuditComparison) -> FindingEvidence | None:
        """Name them."""
        gone = [f"factor {name}" for name in comparison.factors.gone]
        gone += [f"{name} {label}" for name, labels in comparison.levels.items() for label in labels.gone]
        return FindingEvidence(subjects=tuple(gone)) if gone else None

    def message(self, evidence: FindingEvidence) -> str:
        """List them."""
        return listing(evidence.subjects, 6)


RC502 = LevelsGone()
