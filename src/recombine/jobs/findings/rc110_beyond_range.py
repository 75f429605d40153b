"""RC110: cells outside what was seen, of an ordered or numeric factor or under a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.design.scaling import outside_words
from recombine.jobs.findings.cells_finding import CellsFinding, count_in_words
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.verdicts import Verdict
from recombine.writing import plural

if TYPE_CHECKING:
    from recombine.cells.arrays import IntArray
    from recombine.design.design import Design
    from recombine.jobs.audit.parts.decided import Decided


class BeyondRange(CellsFinding):
    """Cells at which no trend says how it goes on."""

    code = "RC110"
    title = "beyond the seen range"
    severity = Severity.PROBLEM
    meaning = (
        "Combinations hold a value of an ordered or numeric factor outside the range seen in training, or lie further "
        "out on a curved scale than all seen ones. A trend is followed between seen values only; a model will still "
        "print a number."
    )
    action = Verdict.BEYOND.text.action
    verdict = Verdict.BEYOND

    def check(self, decided: Decided) -> FindingEvidence | None:
        """Count the cells under a curve; on scales count the listed ones and say which ranges they leave."""
        if not decided.choice.structure.is_sum:
            numbers = self.counted(decided, max(decided.counts[self.verdict], self.listed(decided)))
            return None if numbers is None else FindingEvidence({**numbers, "curve": decided.choice.assumption})
        numbers = self.counted(decided, self.listed(decided)) if decided.design.scales else None
        if numbers is None:
            return None
        ranges = ranges_left(decided.design, decided.listing.cells[decided.codes == self.verdict])
        words = dict.fromkeys(word for found in ranges.values() for word in found)
        return FindingEvidence({**numbers, "curve": "", "ranges": tuple(words)}, tuple(ranges))

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many, and what lies how far outside."""
        if not evidence["curve"]:
            told = f"{plural(evidence['cells'], 'cell')} listed cannot be told: {'; '.join(evidence['ranges'])}"
            return f"{told}{evidence['concerned']}"
        which = "unseen cell lies" if evidence["cells"] == 1 else "unseen cells lie"
        text = f"if {evidence['curve']}, {count_in_words(evidence)} {which} beyond every seen one"
        return f"{text}; no value is given there{evidence['concerned']}"


def ranges_left(design: Design, cells: IntArray) -> dict[str, list[str]]:
    """Say of each factor on a scale whose seen range ``cells`` (N, C) leave how its furthest levels do so."""
    found = {}
    for column, scale in enumerate(design.scales):
        if scale is None:
            continue
        levels = np.unique(cells[:, column])
        outside = sorted(levels[scale.beyond[levels]].tolist(), key=scale.places.__getitem__)
        if not outside:
            continue
        words: list[str] = []
        for level in {outside[0], outside[-1]}:
            cell = design.seen[0].copy()
            cell[column] = level
            words += outside_words(design, cell)
        found[design.factors[column].name] = words
    return found


RC110 = BeyondRange()
