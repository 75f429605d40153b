"""RC102: levels that are asked about and never occur in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.scales import FactorScale
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.verdicts import Verdict
from recombine.writing import listing

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.decided import Decided


class LevelNeverSeen(FindingKind["Decided"]):
    """Levels of held-out rows or targets that training lacks."""

    code = "RC102"
    title = "level never seen"
    severity = Severity.PROBLEM
    meaning = (
        "A level that the targets or the held-out rows use never occurs in training, so every combination with it is "
        "open."
    )
    action = "Collect at least one combination with that level, or leave it out of what is asked."

    part = "decided"

    def check(self, decided: Decided) -> FindingEvidence | None:
        """Name the levels of factors that are labels; where importance is known, those of cells that matter."""
        design, matters = decided.design, decided.matters
        missing = []
        for group in design.groups:
            factor = design.factors[group[0]]
            if factor.scale is not FactorScale.LABELS:
                continue
            counts = sum(np.bincount(design.seen[:, column], minlength=len(factor.levels)) for column in group)
            absent = np.flatnonzero(counts == 0)
            if matters is not None and matters.exact:
                absent = absent[np.isin(absent, matters.cells[:, list(group)])]
            missing += [f"{factor.name} {factor.labels[code]!r}" for code in absent]
        if not missing:
            return None
        concerned = "" if matters is None else matters.concerned(Verdict.UNSEEN_LEVEL, "with an unseen level")
        return FindingEvidence({"concerned": concerned and f"; {concerned}"}, tuple(missing))

    def message(self, evidence: FindingEvidence) -> str:
        """Name them."""
        verb = "occurs" if len(evidence.subjects) == 1 else "occur"
        return f"{listing(evidence.subjects, 6)} never {verb} in training{evidence.numbers.get('concerned', '')}"


RC102 = LevelNeverSeen()
