"""RC403: combinations on both sides but for a spelling."""

from __future__ import annotations

from recombine.jobs.findings.leak_finding import LeakFinding


class RespelledLevel(LeakFinding):
    """Combinations on both sides but for a spelling."""

    code = "RC403"
    title = "respelled level"
    meaning = "A level is written in another way in the test, so that a combination of training looks new."
    fail_on = ("respelled",)
    rows_are = (
        "are in combinations that training has too but for the way a level is written (case, blanks, punctuation, or "
        "the digits of a number)"
    )


RC403 = RespelledLevel()
