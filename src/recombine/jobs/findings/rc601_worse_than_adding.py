"""RC601: models that adding effects beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.score.score import Score


class WorseThanAdding(FindingKind["Score"]):
    """Models whose error on determined cells exceeds that of the values that follow by adding."""

    code = "RC601"
    title = "worse than adding"
    severity = Severity.WARNING
    meaning = "On determined cells the whole 95 % range of the model's gain over adding effects lies below 0."
    action = "Use the sum of effects there, or look which cause of the model's error is largest."
    of = ResultKind.SCORE
    fail_on = ("worse-than-adding",)

    def check(self, score: Score) -> FindingEvidence | None:
        """Name the models whose gain over adding lies below 0 with its whole range."""
        models = [model.name for model in score.models if model.gain is not None and model.gain.high < 0]
        return FindingEvidence(subjects=tuple(models)) if models else None

    def message(self, evidence: FindingEvidence) -> str:
        """Name them."""
        verb = "misses" if len(evidence.subjects) == 1 else "miss"
        return f"{listing(evidence.subjects, 6)} {verb} determined cells by more than adding effects does"


RC601 = WorseThanAdding()
