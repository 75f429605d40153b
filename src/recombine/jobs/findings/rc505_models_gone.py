"""RC505: models that are no longer scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from recombine.jobs.comparison.scores import ScoreComparison


class ModelsGone(FindingKind["ScoreComparison"]):
    """Models that the later score lacks."""

    code = "RC505"
    title = "models gone"
    severity = Severity.WARNING
    meaning = "A model of the score before is not in the later one, so that it is not compared."
    action = "Score it again, or write the score before anew without it."
    of = ResultKind.SCORE_CHANGES
    fail_on = ("gone-models",)

    def check(self, comparison: ScoreComparison) -> FindingEvidence | None:
        """Name them."""
        return FindingEvidence(subjects=tuple(comparison.models.gone)) if comparison.models.gone else None

    def message(self, evidence: FindingEvidence) -> str:
        """Count and list them."""
        return f"{plural(len(evidence.subjects), 'model')} gone ({listing(evidence.subjects, 6)})"


RC505 = ModelsGone()
