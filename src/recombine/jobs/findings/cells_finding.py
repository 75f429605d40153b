"""What findings that count cells of one verdict share: the count, and how much of what matters they concern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from recombine.jobs.findings.finding import FindingEvidence, FindingKind
from recombine.jobs.listing import ListingKind
from recombine.verdicts import Verdict
from recombine.writing import round_estimate, written_count

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.decided import Decided


class CellsFinding(FindingKind["Decided"]):
    """A finding about the cells that carry ``verdict``; none is raised where it is known that none of them matters."""

    part = "decided"
    verdict: ClassVar[Verdict]

    def counted(self, decided: Decided, count: int) -> dict[str, Any] | None:
        """Return the numbers of ``count`` cells; None where there are none, or none that matters."""
        matters = decided.matters
        if not count or (matters is not None and matters.exact and not matters.count(self.verdict)):
            return None
        targets = decided.listing.kind is ListingKind.TARGETS
        concerned = "" if matters is None else f"; {matters.concerned(self.verdict)}"
        return {
            "cells": count,
            "exact": decided.counts.exact or targets,
            "targets": targets,
            "concerned": concerned,
        }

    def listed(self, decided: Decided) -> int:
        """Return how many listed cells carry the verdict."""
        return int((decided.codes == self.verdict).sum())


def count_in_words(evidence: FindingEvidence) -> str:
    """Write the number of cells; an estimate with two digits, because more would look like a count."""
    count = evidence["cells"]
    return written_count(count) if evidence["exact"] else f"about {written_count(round_estimate(count))}"
