"""RC401 to RC404: leaks of a split, test rows that training gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity
from recombine.writing import listing, percent, plural, printable

if TYPE_CHECKING:
    from recombine.jobs.split.check import SplitCheck
    from recombine.jobs.split.leaks import CopiedRows, Leak


#: By how much slope and offset differ from those of outcomes in the same unit.
MIN_CHANGE_OF_SCALE = 1e-3


def leak_examples(leak: Leak) -> list[str]:
    """Return the examples of a leak in words: cells, or levels and what they are copies of."""
    examples = leak.examples
    return [printable(item if isinstance(item, str) else _copied_words(item)) for item in examples]


def _copied_words(copy: CopiedRows) -> str:
    chance = "fewer than 0.0001" if copy.chance < 1e-4 else f"{copy.chance:.1g}"
    if copy.compared:
        whose = f"as {copy.original!r}"
        if abs(copy.slope - 1) > MIN_CHANGE_OF_SCALE or abs(copy.offset) > MIN_CHANGE_OF_SCALE:
            sign = "+" if copy.offset >= 0 else "-"
            whose = f"as {copy.slope:.6g} times {copy.original!r} {sign} {abs(copy.offset):.6g}"
        rows = f"{copy.agree:,} of {copy.compared:,}"
        return (
            f"{copy.factor} {copy.level!r} has nearly the same outcomes {whose} in {rows} ({chance} expected by chance)"
        )
    cells = "its one test cell" if copy.cells == 1 else f"all of its {copy.cells:,} test cells"
    return f"{copy.factor} {copy.level!r} has the rows of {copy.original!r} in {cells} ({chance} expected by chance)"


class LeakFinding(FindingKind["SplitCheck"]):
    """A leak, which its kind names by its title."""

    severity = Severity.PROBLEM
    action = "Move these rows to one side of the split, or score them apart."
    of = ResultKind.SPLIT
    #: What the rows are, after their number; how many examples are named, and what comes before them.
    rows_are: ClassVar[str]
    examples_named: ClassVar[int] = 3
    before_examples: ClassVar[str] = "for instance "

    def check(self, split: SplitCheck) -> FindingEvidence | None:
        leaks = (leak for leak in split.leaks if leak.kind == self.title)
        return next((FindingEvidence({"leak": leak, "test rows": len(split.where)}) for leak in leaks), None)

    def message(self, evidence: FindingEvidence) -> str:
        leak = evidence["leak"]
        share = percent(leak.rows, evidence["test rows"])
        return (
            f"{plural(leak.rows, 'test row')} ({share}) in {plural(leak.cells, 'cell')} {self.rows_are}; "
            f"{self.before_examples}{listing(leak_examples(leak), self.examples_named)}"
        )


class SameCell(LeakFinding):
    code = "RC401"
    title = "same cell"
    meaning = "Test rows are in combinations that training has too: they test memory and noise, not new combinations."
    fail_on = ("same",)
    rows_are = "are in combinations that training has too"


class PermutedCell(LeakFinding):
    code = "RC402"
    title = "permuted cell"
    meaning = (
        "Interchangeable factors change places between training and test: the test rows repeat training combinations."
    )
    fail_on = ("permuted",)
    rows_are = "are in combinations that training has too once interchangeable factors change places"


class RespelledLevel(LeakFinding):
    code = "RC403"
    title = "respelled level"
    meaning = "A level is written in another way in the test, so that a combination of training looks new."
    fail_on = ("respelled",)
    rows_are = (
        "are in combinations that training has too but for the way a level is written (case, blanks, punctuation, or "
        "the digits of a number)"
    )


class CopiedLevel(LeakFinding):
    code = "RC404"
    title = "copied level"
    meaning = (
        "Test rows of a level repeat those of another level in training, to the last digit or nearly, half of them or "
        "more, or in another unit: one is a copy under another name."
    )
    hit_rate = "copied level"
    fail_on = ("copied",)
    rows_are = "repeat the outcomes of another level in training"
    examples_named = 5
    before_examples = ""
