"""RC101: unseen cells of known levels that no sum of seen cells reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.cells_finding import CellsFinding, count_in_words
from recombine.jobs.findings.finding import FindingEvidence, Severity
from recombine.jobs.listing import ListingKind
from recombine.verdicts import Verdict
from recombine.writing import plural

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.decided import Decided


class CellsNotDetermined(CellsFinding):
    """Cells of known levels that the data leave open."""

    code = "RC101"
    title = "cells not determined"
    severity = Severity.PROBLEM
    meaning = (
        "Some unseen combinations of known levels cannot be reached by any sum of seen ones. A model will still print "
        "a number for them; the data do not support it."
    )
    action = "Collect the combinations that the audit suggests; no model can replace them."
    verdict = Verdict.DISCONNECTED

    def check(self, decided: Decided) -> FindingEvidence | None:
        """Count the cells, among the targets where there are any."""
        count = self.listed(decided) if decided.listing.kind is ListingKind.TARGETS else decided.counts[self.verdict]
        numbers = self.counted(decided, count)
        if numbers is None:
            return None
        needed, departures = decided.identification.deficit, decided.departures
        return FindingEvidence({**numbers, "order": decided.choice.order, "needed": needed, "departures": departures})

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many, and how few cells would settle them."""
        which = "target" if evidence["targets"] else "unseen"
        needed, departures = "", evidence["departures"]
        if evidence["needed"]:
            whom = "every cell of known levels" if evidence["targets"] else "them all"
            needed = f"; {plural(evidence['needed'], 'well-chosen cell')} would determine {whom}"
        return (
            f"{count_in_words(evidence)} {which} cell{'s' if evidence['cells'] != 1 else ''} cannot be told from the "
            f"data at order {evidence['order']}{evidence['concerned']}{needed}{departures and f'. {departures}'}"
        )


RC101 = CellsNotDetermined()
