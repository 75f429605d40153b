"""RC404: levels whose rows are those of another one."""

from __future__ import annotations

from recombine.jobs.findings.leak_finding import LeakFinding


class CopiedLevel(LeakFinding):
    """Levels whose rows are those of another one."""

    code = "RC404"
    title = "copied level"
    meaning = "All test rows of a level equal those of another level in training: one is a copy under another name."
    fail_on = ("copied",)
    rows_are = "have a level whose test rows all equal those of another level in training, outcome for outcome"
    examples_named = 5
    before_examples = ""


RC404 = CopiedLevel()
