"""RC602: error with a cause in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.score.score import Score


class ModelCause(FindingKind["Score"]):
    """Causes of the model's own whose amount has its whole 95 % range above 0."""

    code = "RC602"
    title = "error of the model's own"
    severity = Severity.WARNING
    meaning = (
        "Part of a model's error on determined cells has a named cause in the model, such as a leak or a shortcut: the "
        "whole 95 % range of its amount lies above 0. Of many models and causes some will do so by chance; how often "
        "is not measured."
    )
    action = "Do what the page of causes says about the cause that is named."
    of = ResultKind.SCORE
    fail_on = ("model-cause",)

    def check(self, score: Score) -> FindingEvidence | None:
        """Name model and cause where the whole range of the amount lies above 0."""
        from recombine.jobs.score.causes import CAUSES

        causes = [
            f"{model.name}: {name}"
            for model in score.models
            for name, amount in model.causes.items()
            if CAUSES[name].of == "model" and CAUSES[name].is_named and amount.low > 0
        ]
        return FindingEvidence(subjects=tuple(causes)) if causes else None

    def message(self, evidence: FindingEvidence) -> str:
        """Name them."""
        return f"95 % range of the amount above 0: {listing(evidence.subjects, 6)}"


RC602 = ModelCause()
