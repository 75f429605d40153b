"""What the two findings of a failed check of additivity share: the numbers and the sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.findings.finding import FindingEvidence, FindingKind
from recombine.writing import few_digits

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.assumed import AssumedStructure


class AdditivityFinding(FindingKind["AssumedStructure"]):
    """A finding where the check of additivity at the asked order came out as ``state``."""

    part = "structure"
    state: ClassVar[AdditivityState]

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        """Take the errors on held-out cells and the test against the replicates."""
        additivity, order = structure.additivity, structure.choice.order
        check = None if additivity is None else additivity.at(order)
        if additivity is None or check is None or additivity.state_at(order) is not self.state:
            return None
        return FindingEvidence({"order": order, "check": check})

    def message(self, evidence: FindingEvidence) -> str:
        """Say how far adding is off, and what the replicates show; alone, where too few cells could be held out."""
        check, lead = evidence["check"], f"at order {evidence['order']}"
        test = check.lack_of_fit
        if check.tested < AUDIT_LIMITS.min_cells_tested and test is not None:
            verb = "show" if test.p_value <= AUDIT_LIMITS.p_value_shown else "hint at"
            return f"{lead} the replicates {verb} interaction (lack of fit: {test.text})"
        return (
            f"{lead} held-out cells are off by {few_digits(check.error)} against {few_digits(check.baseline)} for the "
            f"plain mean ({max(check.share, 0):.0%} of the explainable variance)"
            f"{self.untested if test is None else f'; lack of fit: {test.text}'}"
        )

    #: What to add where no rows repeat.
    untested: ClassVar[str] = ""
