"""RC401: combinations on both sides."""

from __future__ import annotations

from recombine.jobs.findings.leak_finding import LeakFinding


class SameCell(LeakFinding):
    """Combinations on both sides."""

    code = "RC401"
    title = "same cell"
    meaning = "Test rows are in combinations that training has too: they test memory and noise, not new combinations."
    fail_on = ("same",)
    rows_are = "are in combinations that training has too"


RC401 = SameCell()
