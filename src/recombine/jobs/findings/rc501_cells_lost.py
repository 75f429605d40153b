"""RC501: cells that were seen or determined before and no longer are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import plural

if TYPE_CHECKING:
    from recombine.jobs.comparison.audits import AuditComparison


class CellsLost(FindingKind["AuditComparison"]):
    """Cells that fell open."""

    code = "RC501"
    title = "cells lost"
    severity = Severity.PROBLEM
    meaning = "Cells that were seen or determined in the audit before are neither now."
    action = "Look which rows went missing between the two tables."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("lost",)

    def obstacle(self, comparison: AuditComparison) -> str:
        """Cells of other factors cannot be compared."""
        return f"{comparison.obstacle}; leave it out" if comparison.transitions is None else ""

    def check(self, comparison: AuditComparison) -> FindingEvidence | None:
        """Count them."""
        return FindingEvidence({"cells": comparison.lost}) if comparison.lost else None

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many."""
        return f"{plural(evidence['cells'], 'cell')} no longer seen or determined"


RC501 = CellsLost()
