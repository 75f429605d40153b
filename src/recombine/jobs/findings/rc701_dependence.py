"""RC701: predictions that depend on a factor they should ignore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.probe.probe import Probe


class Dependence(FindingKind["Probe"]):
    """A dependence beyond what was given."""

    code = "RC701"
    title = "dependence on what should not matter"
    severity = Severity.PROBLEM
    meaning = "Predictions differ between levels of a factor beyond what the outcome or the given factors explain."
    action = "Train on rows in which that factor varies independently of the outcome, or take it out of the inputs."
    of = ResultKind.PROBE
    fail_on = ("dependence",)

    def check(self, probe: Probe) -> FindingEvidence | None:
        """Name the factors."""
        numbers = {"prediction": probe.prediction, "given": " and ".join(probe.given)}
        return FindingEvidence(numbers, probe.depends) if probe.depends else None

    def message(self, evidence: FindingEvidence) -> str:
        """Say what depends on what."""
        return f"{evidence['prediction']} depends on {listing(evidence.subjects, 6)} beyond {evidence['given']}"


RC701 = Dependence()
