"""RC105: cells that floating-point arithmetic could not decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.cells_finding import CellsFinding, count_in_words
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.decided import Decided


class CellsUndecided(CellsFinding):
    """Cells without a verdict."""

    code = "RC105"
    title = "cells undecided"
    severity = Severity.WARNING
    meaning = (
        "Arithmetic could not tell whether some cells are determined. They are listed as undecided, never guessed."
    )
    action = Verdict.UNDECIDED.text.action
    verdict = Verdict.UNDECIDED

    def check(self, decided: Decided) -> FindingEvidence | None:
        """Count them in the product and among the listed cells."""
        numbers = self.counted(decided, max(decided.counts[self.verdict], self.listed(decided)))
        return None if numbers is None else FindingEvidence(numbers)

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many, and what to do."""
        return f"{count_in_words(evidence)} cells could not be decided{evidence['concerned']}; {self.action}"


RC105 = CellsUndecided()
