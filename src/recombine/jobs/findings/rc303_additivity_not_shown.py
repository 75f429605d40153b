"""RC303: held-out cells are not predicted by adding effects, and whether that is noise is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.findings.additivity_finding import AdditivityFinding
from recombine.jobs.findings.finding import FindingEvidence, Severity

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.assumed import AssumedStructure


class AdditivityNotShown(AdditivityFinding):
    """Predictions that miss, with too few repeats to say why."""

    code = "RC303"
    title = "additivity not shown to hold"
    severity = Severity.WARNING
    meaning = (
        "Held-out combinations are not predicted well by adding effects, but that may be noise: too few rows repeat to "
        "tell. On published tables adding still beat the plain mean in 81 of 100 such trials, and a network or a "
        "forest beat adding in 81."
    )
    action = "Repeat some measurements: rows that repeat tell noise from interaction."
    state = AdditivityState.NOT_SHOWN
    untested = "; no rows repeat, so this may be noise rather than interaction"

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        """Look at the check of additivity; on another scale at the share of variance that it explains."""
        ladder = structure.choice.ladder
        if structure.choice.structure.is_sum or ladder is None:
            return super().check(structure)
        enough = AUDIT_LIMITS.share_holds_roughly * (1.0 if ladder.ceiling is None else ladder.ceiling)
        return None if ladder.chosen.r2 >= enough else FindingEvidence({"ladder": ladder})

    def message(self, evidence: FindingEvidence) -> str:
        """Say how far off predictions are."""
        if "ladder" in evidence.numbers:
            return f"even the best structure says little: {evidence['ladder']}"
        return super().message(evidence)


RC303 = AdditivityNotShown()
