"""RC504: models whose error grew beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing, plural

if TYPE_CHECKING:
    from recombine.jobs.comparison.scores import ScoreComparison


class ModelsWorse(FindingKind["ScoreComparison"]):
    """Models that miss by more than before."""

    code = "RC504"
    title = "models worse"
    severity = Severity.PROBLEM
    meaning = "The error of a model on the same cells grew by more than chance explains."
    action = "Look which cause grew: the comparison lists them."
    of = ResultKind.SCORE_CHANGES
    fail_on = ("worse",)

    def obstacle(self, comparison: ScoreComparison) -> str:
        """Scores of other cells, and models that were not scored before, cannot be compared."""
        if comparison.obstacle:
            return f"{comparison.obstacle}; leave it out"
        models = comparison.models
        if not models.new:
            return ""
        before = listing(map(repr, (*models.stay, *models.gone)), 6) or "no model"
        new, verb = listing(map(repr, models.new), 6), "is" if len(models.new) == 1 else "are"
        return (
            f"{new} {verb} not in the score before, which has {before}; name models as they are named there, or write "
            "that score anew with them"
        )

    def check(self, comparison: ScoreComparison) -> FindingEvidence | None:
        """Name them."""
        return FindingEvidence(subjects=tuple(comparison.worse)) if comparison.worse else None

    def message(self, evidence: FindingEvidence) -> str:
        """Count and list them."""
        return f"{plural(len(evidence.subjects), 'model')} worse ({listing(evidence.subjects, 6)})"


RC504 = ModelsWorse()
