"""What findings about leaks of a split share: the leak's counts, and their sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing, percent, plural

if TYPE_CHECKING:
    from recombine.jobs.split.check import SplitCheck


class LeakFinding(FindingKind["SplitCheck"]):
    """A leak, which its kind names by its title: test rows that training gives away."""

    severity = Severity.PROBLEM
    action = "Move these rows to one side of the split, or score them apart."
    of = ResultKind.SPLIT
    #: What the rows are, after their number; how many examples are named, and what comes before them.
    rows_are: ClassVar[str]
    examples_named: ClassVar[int] = 3
    before_examples: ClassVar[str] = "for instance "

    def check(self, split: SplitCheck) -> FindingEvidence | None:
        """Look for the leak."""
        leaks = (leak for leak in split.leaks if leak.kind == self.title)
        return next((FindingEvidence({"leak": leak, "test rows": len(split.where)}) for leak in leaks), None)

    def message(self, evidence: FindingEvidence) -> str:
        """Count rows and cells, and name some."""
        leak = evidence["leak"]
        share = percent(leak.rows, evidence["test rows"])
        return (
            f"{plural(leak.rows, 'test row')} ({share}) in {plural(leak.cells, 'cell')} {self.rows_are}; "
            f"{self.before_examples}{listing(leak.examples, self.examples_named)}"
        )
