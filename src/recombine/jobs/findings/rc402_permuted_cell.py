"""RC402: combinations on both sides with their factors in another order."""

from __future__ import annotations

from recombine.jobs.findings.leak_finding import LeakFinding


class PermutedCell(LeakFinding):
    """Combinations on both sides with their factors in another order."""

    code = "RC402"
    title = "permuted cell"
    meaning = (
        "Interchangeable factors change places between training and test: the test rows repeat training combinations."
    )
    fail_on = ("permuted",)
    rows_are = "are in combinations that training has too once interchangeable factors change places"


RC402 = PermutedCell()
