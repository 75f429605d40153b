"""RC302: the assumption behind the verdicts was not checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


class AdditivityUnchecked(FindingKind["Audit"]):
    """Verdicts that rest on an assumption alone."""

    code = "RC302"
    title = "additivity not checked"
    severity = Severity.NOTE
    meaning = "Verdicts hold if effects add. That was not checked: no outcome, or too few cells to hold some out."
    action = "Name an outcome with --outcome; if there is one, measure more cells that others determine, or more rows."

    def check(self, audit: Audit) -> FindingEvidence | None:
        """Say why nothing could be checked; another structure than adding was checked when it was chosen."""
        if not audit.choice.structure.is_sum:
            return None
        if audit.additivity is None:
            return FindingEvidence({"obstacle": ""})
        unchecked = audit.additivity.state_at(audit.order) is AdditivityState.UNCHECKED
        obstacle = audit.additivity.obstacle(audit.order)
        return FindingEvidence({"order": audit.order, "obstacle": obstacle}) if unchecked else None

    def message(self, evidence: FindingEvidence) -> str:
        """Say why."""
        if not evidence["obstacle"]:
            return "no outcome column was named, so verdicts rest on additivity unchecked"
        return f"at order {evidence['order']} {evidence['obstacle']}"


RC302 = AdditivityUnchecked()
