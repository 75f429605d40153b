"""RC301: replicates show that effects do not add at the asked order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.findings.additivity_finding import AdditivityFinding
from recombine.jobs.findings.finding import FindingEvidence, Severity

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.assumed import AssumedStructure


class AdditivityFails(AdditivityFinding):
    """Effects that interact; not asked of another structure than adding."""

    code = "RC301"
    title = "additivity does not hold"
    severity = Severity.PROBLEM
    meaning = (
        "Repeated rows show that effects interact, and held-out combinations are not predicted well by adding effects: "
        "at this order the values that follow are off by more than noise."
    )
    action = "Allow interactions with --order 2, or let --structure auto look for a scale on which effects add."
    state = AdditivityState.FAILS

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        """Look at the check of additivity, if it is adding that is assumed."""
        return super().check(structure) if structure.choice.structure.is_sum else None


RC301 = AdditivityFails()
