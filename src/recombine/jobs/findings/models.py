"""RC601, RC602, RC603, RC604, RC701: what trained models do, by their scores and probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity, SubjectsFinding
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.probe.probe import Probe
    from recombine.jobs.score.score import Score


class WorseThanAdding(SubjectsFinding["Score"]):
    code = "RC601"
    title = "worse than adding"
    severity = Severity.WARNING
    meaning = "On determined cells the whole 95 % range of the model's gain over adding effects lies below 0."
    action = "Use the sum of effects there, or look which cause of the model's error is largest."
    of = ResultKind.SCORE
    hit_rate = "worse than adding"
    fail_on = ("worse-than-adding",)
    says = "{names} {misses} determined cells by more than adding effects does"

    def subjects(self, score: Score) -> list[str]:
        return [model.name for model in score.models if model.gain is not None and model.gain.high < 0]


class ModelCause(SubjectsFinding["Score"]):
    code = "RC602"
    title = "error of the model's own"
    severity = Severity.WARNING
    meaning = (
        "A twentieth or more of a model's squared error on determined cells has a named cause in the model, such as a "
        "leak or a shortcut, and the whole 95 % range of its amount lies above 0."
    )
    action = "Do what the page of causes says about the cause that is named."
    of = ResultKind.SCORE
    hit_rate = "error of the model's own"
    fail_on = ("model-cause",)
    says = "95 % range of the amount above 0: {names}"

    def subjects(self, score: Score) -> list[str]:
        from recombine.jobs.limits import SCORE_LIMITS
        from recombine.jobs.score.causes import CAUSES

        return [
            f"{model.name}: {name}"
            for model in score.models
            if model.attribution is not None and model.below_noise is None
            for name, amount in model.causes.items()
            if CAUSES[name].of == "model" and CAUSES[name].is_named and amount.low > 0
            if amount.value >= SCORE_LIMITS.share_told * model.attribution.error.value
        ]


class LessErrorThanNoise(SubjectsFinding["Score"]):
    code = "RC603"
    title = "less error than noise"
    severity = Severity.PROBLEM
    meaning = (
        "The model's squared error on unseen cells whose rows repeat is below the noise of these measurements, by more "
        "than chance allows in 1 of 1,000 models that have not seen them."
    )
    action = "Check whether these rows were in training, under any name, and whether rows of one cell are independent."
    of = ResultKind.SCORE
    hit_rate = "less error than noise"
    fail_on = ("below-noise",)
    says = "{names} {misses} measurements by less than their own noise"

    def subjects(self, score: Score) -> list[str]:
        return [model.name for model in score.models if model.below_noise is not None]


class SlicedError(SubjectsFinding["Score"]):
    code = "RC604"
    title = "error concentrated in a slice"
    severity = Severity.WARNING
    meaning = (
        "On the determined cells of one level, or of one pair of levels, the model's squared error is 1.5 times that "
        "of the other cells or more, beyond what noise explains, and beyond chance after all of them were looked at."
    )
    action = "Look at these cells' rows first; collect more of that level or pair, or leave it out of what is promised."
    of = ResultKind.SCORE
    hit_rate = "error concentrated in a slice"
    fail_on = ("slice",)
    says = "beyond chance after all looks: {names}"

    def subjects(self, score: Score) -> list[str]:
        return [f"{model.name}: {worst.name}" for model in score.models for worst in model.slices]


class Dependence(FindingKind["Probe"]):
    code = "RC701"
    title = "dependence on what should not matter"
    severity = Severity.PROBLEM
    meaning = "Predictions differ between levels of a factor beyond what the outcome or the given factors explain."
    action = "Train on rows in which that factor varies independently of the outcome, or take it out of the inputs."
    of = ResultKind.PROBE
    fail_on = ("dependence",)

    def check(self, probe: Probe) -> FindingEvidence | None:
        numbers = {"prediction": probe.prediction, "given": " and ".join(probe.given)}
        return FindingEvidence(numbers, probe.depends) if probe.depends else None

    def message(self, evidence: FindingEvidence) -> str:
        return f"{evidence['prediction']} depends on {listing(evidence.subjects, 6)} beyond {evidence['given']}"
